/* SPDX-License-Identifier: MIT */
#include "guest/output_check.h"

#include "base/strbuf.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { SHOWN = 60 };

static int read_all(int fd, struct strbuf *text, struct error *err)
{
    char block[65536];
    off_t at = 0;
    ssize_t nr;

    while ((nr = pread(fd, block, sizeof(block), at)) != 0) {
        if (nr < 0 && errno == EINTR)
            continue;
        if (nr < 0)
            return error_set(err, "cannot read what the program said: %s", strerror(errno));
        strbuf_add(text, block, (size_t)nr);
        at += nr;
    }
    return 0;
}

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

static void explain(const struct strbuf *said, const char *expected, size_t length,
                    const char *name, struct error *why)
{
    size_t at = first_difference(said->data, said->length, expected, length), line = 1, from = 0;
    struct strbuf text;

    for (size_t i = 0; i < at; i++)
        if (expected[i] == '\n') {
            line++;
            from = i + 1;
        }
    strbuf_init(&text);
    strbuf_addf(&text, "standard output differs from %s in line %zu: it is ", name, line);
    add_line(&text, said->data, said->length, from);
    strbuf_adds(&text, ", expected ");
    add_line(&text, expected, length, from);
    error_set(why, "%s", text.data);
    strbuf_release(&text);
}

int output_check(int fd, const char *expected, size_t length, const char *name, struct error *why,
                 struct error *err)
{
    struct strbuf said;

    strbuf_init(&said);
    int right = read_all(fd, &said, err);
    if (right == 0) {
        right = said.length == length && memcmp(said.data, expected, length) == 0;
        if (!right)
            explain(&said, expected, length, name, why);
    }
    strbuf_release(&said);
    return right;
}
