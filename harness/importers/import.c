/* SPDX-License-Identifier: MIT */
/* The entry: which format a text is of, and who reads it. */
#include "importers/import.h"

#include "base/file.h"
#include "importers/base/import_form.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define IMPORT_ROW(upper, lower, title, reads)   [IMPORT_##upper] = &import_##lower,
#define IMPORT_NAME(upper, lower, title, reads)  [IMPORT_##upper] = #lower,
#define IMPORT_TITLE(upper, lower, title, reads) [IMPORT_##upper] = (title),
#define IMPORT_READS(upper, lower, title, reads) [IMPORT_##upper] = (reads),
static const struct import_format_row *const formats[IMPORT_FORMAT_NR] = { IMPORT_FORMATS(
    IMPORT_ROW) };
static const char *const format_names[IMPORT_FORMAT_NR] = { IMPORT_FORMATS(IMPORT_NAME) };
static const char *const format_titles[IMPORT_FORMAT_NR] = { IMPORT_FORMATS(IMPORT_TITLE) };
static const char *const format_reads[IMPORT_FORMAT_NR] = { IMPORT_FORMATS(IMPORT_READS) };

const char *import_format_name(enum import_format format)
{
    return format_names[format];
}

const char *import_format_title(enum import_format format)
{
    return format_titles[format];
}

const char *import_format_reads(enum import_format format)
{
    return format_reads[format];
}

static void import_list_formats(struct strbuf *out)
{
    for (int i = 1; i < IMPORT_FORMAT_NR; i++)
        strbuf_addf(out, "%s%s", i > 1 ? ", " : "", format_names[i]);
}

int import_format_find(const char *name, enum import_format *format, struct error *err)
{
    struct strbuf list;

    for (int i = 1; i < IMPORT_FORMAT_NR; i++) {
        if (strcmp(format_names[i], name) == 0) {
            *format = (enum import_format)i;
            return 0;
        }
    }
    strbuf_init(&list);
    import_list_formats(&list);
    error_set(err, "--format: \"%.60s\" is none that can be imported; there are %s", name,
              list.data);
    strbuf_release(&list);
    return -1;
}

/* ---- which one it is ---- */

/* How many names of a path are there, up to the step that is not. */
static int import_steps(const cJSON *root, const char *path)
{
    size_t whole = strcspn(path, " ");
    char part[64];
    int nr = 0;

    for (size_t begin = 0, last = 0, end = strcspn(path, ". "); end <= whole; begin = last) {
        snprintf(part, sizeof(part), "%.*s", (int)end, path);
        if (!import_at(root, part))
            break;
        begin += path[begin] == '.';
        nr += path[begin] != '*' && path[begin] != '[';
        last = end;
        end += 1 + (end < whole ? strcspn(path + end + 1, ". ") : 0);
    }
    return nr;
}

/* The format that a JSON text has most in common with, and the path that is missing there
 * ("results[].command"); NULL: none. */
static const char *import_nearest(const cJSON *root, enum import_format *format)
{
    const char *missing = NULL;
    int most = 0;

    for (int i = 1; i < IMPORT_FORMAT_NR; i++)
        for (const char *const *sign = formats[i]->signs; *sign; sign++) {
            const char *gone = NULL;
            int nr = 0;
            for (const char *p = *sign; *p; p += strcspn(p, " "), p += *p == ' ') {
                bool there = import_at(root, p) != NULL;
                nr += import_steps(root, p);
                gone = there || gone ? gone : p;
            }
            if (nr > most) {
                most = nr;
                missing = gone;
                *format = (enum import_format)i;
            }
        }
    return missing;
}

/* Length of a path as people write it: without the mark of a list that may be empty. */
static size_t import_shown(const char *path)
{
    size_t length = strcspn(path, " ");

    return length - (path[length - 1] == '[');
}

/* What a text that is JSON has at its top: "a, b, c". */
static void import_list_members(const cJSON *root, struct strbuf *out)
{
    const cJSON *item;
    int nr = 0;

    if (cJSON_IsArray(root))
        root = root->child;
    cJSON_ArrayForEach(item, root)
    {
        if (item->string && nr++ < 6)
            strbuf_addf(out, "%s\"%.40s\"", nr > 1 ? ", " : "", item->string);
    }
    if (nr > 6)
        strbuf_addf(out, " ...");
}

/* Members of strangers stand in a message: no control characters. */
static void import_refuse_unknown(const struct import_build *b, const cJSON *root,
                                  struct error *err)
{
    enum import_format nearest = IMPORT_ANY;
    const char *missing = root ? import_nearest(root, &nearest) : NULL;
    struct strbuf message;
    char shown[600];

    strbuf_init(&message);
    strbuf_addf(&message, "this is %s, but of none of the programs that are known",
                root ? "JSON" : "text");
    if (missing)
        strbuf_addf(&message, "; it looks most like %s, but \"%.*s\" is missing",
                    format_titles[nearest], (int)import_shown(missing), missing);
    else if (root && root->child) {
        strbuf_addf(&message, "; at its top there is ");
        import_list_members(root, &message);
    }
    import_copy(shown, sizeof(shown), message.data);
    strbuf_clear(&message);
    import_list_formats(&message);
    error_set(err, "%s: %s; --format NAME forces one of %s", b->what, shown, message.data);
    strbuf_release(&message);
}

static enum import_format import_recognise_json(const struct import_build *b, bool stream)
{
    for (int i = 1; i < IMPORT_FORMAT_NR; i++)
        for (const char *const *sign = formats[i]->signs; *sign; sign++)
            if ((!stream || formats[i]->stream) && import_has(b->source.root, *sign))
                return (enum import_format)i;
    return IMPORT_ANY;
}

/* Of a stream of JSON texts the first line is one. */
static enum import_format import_recognise_stream(struct import_build *b)
{
    const char *end = memchr(b->text, '\n', b->length);
    struct error ignored;

    if (!end || import_read(b, b->text, (size_t)(end - b->text), &ignored))
        return IMPORT_ANY;
    return import_recognise_json(b, true);
}

/* A JSON text that is more than a word begins so. */
static bool import_is_json(const char *text, size_t length)
{
    size_t i = 0;

    while (i < length && strchr(" \t\r\n", text[i]) && text[i])
        i++;
    return i < length && (text[i] == '{' || text[i] == '[');
}

static enum import_format import_recognise(struct import_build *b)
{
    bool json = import_is_json(b->text, b->length);

    for (int i = 1; !json && i < IMPORT_FORMAT_NR; i++)
        if (formats[i]->fits_text && formats[i]->fits_text(b->text, b->length))
            return (enum import_format)i;
    if (!json) {
        import_refuse_unknown(b, NULL, b->err);
        return IMPORT_ANY;
    }
    enum import_format found = import_recognise_stream(b);
    if (found != IMPORT_ANY || import_read(b, b->text, b->length, b->err))
        return found;
    found = import_recognise_json(b, false);
    if (found == IMPORT_ANY)
        import_refuse_unknown(b, b->source.root, b->err);
    return found;
}

static int import_text_as(struct import_build *b)
{
    enum import_format format = b->options->format;

    if (format == IMPORT_ANY)
        format = import_recognise(b);
    if (format == IMPORT_ANY)
        return -1;
    const struct import_format_row *row = formats[format];
    if (!b->source.root && !row->stream && !row->fits_text &&
        import_read(b, b->text, b->length, b->err))
        return -1;
    b->out->format = format;
    if (row->own)
        return row->parse(b);
    b->run = records_add_run(&b->out->records);
    b->run->kind = RUN_IMPORTED;
    b->facts = cJSON_CreateObject();
    if (row->form ? import_read_form(b, row->form) : row->parse(b))
        return -1;
    return import_end(b, format_titles[format]);
}

static int import_run(struct import_build *b, const char *text, size_t length)
{
    static const char mark[] = "\xef\xbb\xbf"; /* of the order of bytes: there is one in UTF-8 */
    size_t marked = length >= 3 && memcmp(text, mark, 3) == 0 ? 3 : 0;

    *b->out = (struct imported) { .format = IMPORT_ANY };
    b->text = text + marked;
    b->length = length - marked;
    int rc = import_text_as(b);
    import_build_release(b);
    return rc;
}

int import_parse(const char *text, size_t length, const char *what,
                 const struct import_options *options, struct imported *out, struct error *err)
{
    struct import_build b = { .options = options, .what = what, .out = out, .err = err };

    return import_run(&b, text, length);
}

void imported_release(struct imported *imported)
{
    records_release(&imported->records);
    string_list_release(&imported->notes);
}

bool import_is_ours(enum import_format format)
{
    return format != IMPORT_ANY && formats[format]->own;
}

int import_launches(const struct records *records, int run)
{
    int last = -1;

    for (size_t i = 0; i < records->nr; i++)
        if (records->items[i].run == run && records->items[i].launch_seq > last)
            last = records->items[i].launch_seq;
    return last + 1;
}

/* ---- files ---- */

static int import_read_folder(const char *path, struct strbuf *text, int64_t *written_ms,
                              struct error *err)
{
    for (int i = 1; i < IMPORT_FORMAT_NR; i++)
        if (formats[i]->read_folder)
            return formats[i]->read_folder(path, text, written_ms, err);
    return error_set(err, "%s: no program that is known writes a folder", path);
}

static bool import_has_sign(const struct import_folder_file *f, const char *text, size_t length)
{
    struct error ignored;
    cJSON *root = json_parse(text, length, f->name, &ignored);
    bool has = root && import_has(root, f->sign);

    cJSON_Delete(root);
    return has;
}

/* The program of whose folder the file is a part, unless --format says another; NULL: none. */
static const struct import_format_row *import_find_folder(const char *name,
                                                          const struct strbuf *text,
                                                          enum import_format asked)
{
    for (int i = 1; i < IMPORT_FORMAT_NR; i++) {
        const struct import_folder_file *f = formats[i]->folder_files;
        for (; f && f->name && (asked == IMPORT_ANY || asked == (enum import_format)i); f++)
            if (strcmp(f->name, name) == 0 && import_has_sign(f, text->data, text->length))
                return formats[i];
    }
    return NULL;
}

/* The text of a file, or what the folder comes to for which the file stands. */
static int import_read_file(const char *path, enum import_format asked, struct strbuf *text,
                            int64_t *written_ms, struct error *err)
{
    const char *slash = strrchr(path, '/');
    struct strbuf parent;
    size_t length;
    char *bytes = file_read(path, FILE_IMPORT_MOST, &length, err);

    if (!bytes)
        return -1;
    strbuf_add(text, bytes, length);
    free(bytes);
    const struct import_format_row *row = import_find_folder(slash ? slash + 1 : path, text, asked);
    if (!row)
        return 0;
    strbuf_clear(text);
    strbuf_init(&parent);
    strbuf_addf(&parent, "%.*s", slash && slash > path ? (int)(slash - path) : 1,
                slash ? path : ".");
    int rc = row->read_folder(parent.data, text, written_ms, err);
    strbuf_release(&parent);
    return rc;
}

int import_file(const char *path, const struct import_options *options, struct imported *out,
                struct error *err)
{
    bool piped = strcmp(path, "-") == 0;
    const char *file = piped ? "/dev/stdin" : path;
    struct import_build b = { .options = options,
                              .what = piped ? "standard input" : path,
                              .path = file,
                              .out = out,
                              .err = err };
    struct strbuf text;
    struct stat status;
    int64_t written_ms = 0;

    *out = (struct imported) { .format = IMPORT_ANY };
    if (stat(file, &status))
        return error_set(err, "%s: %s", path, strerror(errno));
    strbuf_init(&text);
    if (S_ISREG(status.st_mode))
        written_ms = import_written_ms(&status);
    int rc = S_ISDIR(status.st_mode)
                 ? import_read_folder(file, &text, &written_ms, err)
                 : import_read_file(file, options->format, &text, &written_ms, err);
    if (rc == 0)
        rc = import_run(&b, text.data, text.length);
    digest_init(&out->digest);
    digest_add(&out->digest, text.data, text.length);
    out->written_ms = written_ms;
    out->device = status.st_dev;
    out->inode = status.st_ino;
    strbuf_release(&text);
    return rc;
}
