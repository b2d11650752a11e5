/* SPDX-License-Identifier: MIT */
#include "command/output_check.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/strbuf.h"

#include <string.h>
#include <sys/stat.h>

enum { SHOWN = 60 };

static size_t first_difference(const char *a, size_t nr_a, const char *b, size_t nr_b)
{
    size_t nr = nr_a < nr_b ? nr_a : nr_b, i = 0;

    while (i < nr && a[i] == b[i])
        i++;
    return i;
}

/* The line that begins at `from`, as a reader can bear it. */
static void add_line(struct strbuf *out, const char *text, size_t length, size_t from)
{
    size_t i = from;

    if (from >= length) {
        strbuf_adds(out, "nothing more");
        return;
    }
    strbuf_addc(out, '"');
    for (; i < length && text[i] != '\n' && i - from < SHOWN; i++)
        strbuf_addc(out, (unsigned char)text[i] < ' ' ? '?' : text[i]);
    strbuf_adds(out, i < length && text[i] != '\n' ? "...\"" : "\"");
}

static void describe_difference(const char *said, size_t nr, const char *expected, size_t length,
                                const char *name, struct error *why)
{
    size_t at = first_difference(said, nr, expected, length), line = 1, from = 0;
    struct strbuf text;

    for (size_t i = 0; i < at; i++)
        if (expected[i] == '\n') {
            line++;
            from = i + 1;
        }
    strbuf_init(&text);
    strbuf_addf(&text, "standard output differs from %s in line %zu: it is ", name, line);
    add_line(&text, said, nr, from);
    strbuf_adds(&text, ", expected ");
    add_line(&text, expected, length, from);
    error_set(why, "%s", text.data);
    strbuf_release(&text);
}

char *output_expected(const char *path, size_t *length, struct error *err)
{
    struct stat st;

    *length = 0;
    if (strcmp(path, "/dev/null") == 0)
        return memory_string("");
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        error_set(err, "%s: each launch reads it again, so it must be a file; /dev/null is nothing",
                  path);
        return NULL;
    }
    return file_read(path, FILE_RECORDS_MOST, length, err);
}

bool output_check(const char *said, size_t nr, const char *expected, size_t length,
                  const char *name, struct error *why)
{
    bool right = nr == length && memcmp(said, expected, length) == 0;

    if (!right)
        describe_difference(said, nr, expected, length, name, why);
    return right;
}
