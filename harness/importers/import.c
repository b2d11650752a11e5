/* SPDX-License-Identifier: MIT */
/* The entry: which format a text is of, and who reads it. */
#include "importers/import.h"

#include "base/file.h"
#include "importers/import_base.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define IMPORT_ROW(upper, lower) [IMPORT_##upper] = &import_##lower,
static const struct import_format_row *const formats[IMPORT_FORMAT_NR] = { IMPORT_FORMATS(
    IMPORT_ROW) };

static void import_list_formats(struct strbuf *out)
{
    for (int i = 1; i < IMPORT_FORMAT_NR; i++)
        strbuf_addf(out, "%s%s", i > 1 ? ", " : "", formats[i]->name);
}

int import_format_find(const char *name, enum import_format *format, struct error *err)
{
    struct strbuf list;

    for (int i = 1; i < IMPORT_FORMAT_NR; i++) {
        if (strcmp(formats[i]->name, name) == 0) {
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

const char *import_format_title(enum import_format format)
{
    return formats[format]->title;
}

static void import_refuse_unknown(const struct import_build *b, struct error *err)
{
    struct strbuf list;

    strbuf_init(&list);
    import_list_formats(&list);
    error_set(err,
              "%s: this is JSON, but of none of the programs that are known; --format NAME forces "
              "one of %s",
              b->what, list.data);
    strbuf_release(&list);
}

/* Of a stream of JSON texts the first line is one. */
static enum import_format import_recognise_stream(struct import_build *b, const char *text,
                                                  size_t length)
{
    const char *end = memchr(text, '\n', length);
    struct error ignored;

    if (!end || import_read(b, text, (size_t)(end - text), &ignored))
        return IMPORT_ANY;
    for (int i = 1; i < IMPORT_FORMAT_NR; i++)
        if (formats[i]->stream && formats[i]->fits(b->source.root))
            return (enum import_format)i;
    return IMPORT_ANY;
}

static enum import_format import_recognise(struct import_build *b, const char *text, size_t length,
                                           struct error *err)
{
    enum import_format stream = import_recognise_stream(b, text, length);

    if (stream != IMPORT_ANY || import_read(b, text, length, err))
        return stream;
    for (int i = 1; i < IMPORT_FORMAT_NR; i++)
        if (formats[i]->fits(b->source.root))
            return (enum import_format)i;
    import_refuse_unknown(b, err);
    return IMPORT_ANY;
}

static int import_text_as(struct import_build *b, const char *text, size_t length,
                          struct error *err)
{
    enum import_format format = b->options->format;

    if (format == IMPORT_ANY)
        format = import_recognise(b, text, length, err);
    else if (!formats[format]->stream && import_read(b, text, length, err))
        return -1;
    if (format == IMPORT_ANY)
        return -1;
    b->out->format = format;
    if (formats[format]->own)
        return formats[format]->parse(b);
    b->run = records_add_run(&b->out->records);
    b->run->kind = RUN_IMPORTED;
    b->facts = cJSON_CreateObject();
    b->text = text;
    b->length = length;
    return formats[format]->parse(b) ? -1 : import_end(b, formats[format]->title);
}

static int import_run(struct import_build *b, const char *text, size_t length)
{
    *b->out = (struct imported) { .format = IMPORT_ANY };
    int rc = import_text_as(b, text, length, b->err);
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

int import_launches(const struct records *records, int run)
{
    int last = -1;

    for (size_t i = 0; i < records->nr; i++)
        if (records->items[i].run == run && records->items[i].launch_seq > last)
            last = records->items[i].launch_seq;
    return last + 1;
}

void import_machine_class(struct machine *m, const char *class_name)
{
    import_copy(m->class_name, sizeof(m->class_name), class_name);
    import_machine_name(m);
}

/* ---- files ---- */

/* Of a folder that a program writes, or of one of its files, the text that it comes to; 1: it is
 * neither. */
static int import_read_folder(const char *path, bool folder, struct strbuf *text, struct error *err)
{
    const char *slash = strrchr(path, '/');
    struct strbuf parent;

    for (int i = 1; i < IMPORT_FORMAT_NR; i++) {
        if (folder && formats[i]->read_folder)
            return formats[i]->read_folder(path, text, err);
        for (const char *const *f = formats[i]->folder_files; f && *f; f++) {
            if (strcmp(slash ? slash + 1 : path, *f) != 0)
                continue;
            strbuf_init(&parent);
            strbuf_addf(&parent, "%.*s", slash && slash > path ? (int)(slash - path) : 1,
                        slash ? path : ".");
            int rc = formats[i]->read_folder(parent.data, text, err);
            strbuf_release(&parent);
            return rc;
        }
    }
    return 1;
}

static int import_read_file(const char *path, const struct stat *status, struct strbuf *text,
                            struct error *err)
{
    int rc = import_read_folder(path, S_ISDIR(status->st_mode), text, err);
    size_t length;

    if (rc <= 0)
        return rc;
    char *bytes = file_read(path, FILE_IMPORT_MOST, &length, err);
    if (!bytes)
        return -1;
    strbuf_add(text, bytes, length);
    free(bytes);
    return 0;
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

    *out = (struct imported) { .format = IMPORT_ANY };
    if (stat(file, &status))
        return error_set(err, "%s: %s", path, strerror(errno));
    strbuf_init(&text);
    int rc = import_read_file(file, &status, &text, err);
    if (rc == 0)
        rc = import_run(&b, text.data, text.length);
    digest_init(&out->digest);
    digest_add(&out->digest, text.data, text.length);
    if (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))
        out->written_ms = (int64_t)status.st_mtim.tv_sec * 1000 + status.st_mtim.tv_nsec / 1000000;
    strbuf_release(&text);
    return rc;
}
