/* SPDX-License-Identifier: MIT */
#include "figure/paint_gnuplot.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "figure/fonts.h"
#include "process/process.h"
#include "text/escape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TIMEOUT_S = 60 };

static const char *const names[PICTURE_FORMAT_NR + 1] = {
    [PICTURE_PNG] = "png",
    [PICTURE_SVG] = "svg",
    [PICTURE_PDF] = "pdf",
};

const char *picture_format_name(enum picture_format format)
{
    return names[format];
}

int picture_format_find(const char *name, struct error *err)
{
    for (int i = 0; i < PICTURE_FORMAT_NR; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    return error_set(err, "unknown picture format \"%s\"; there are png, svg and pdf", name);
}

/* Runs gnuplot and collects what it says. */
static int paint_run(const char *folder, const char *const *argv, struct strbuf *said,
                     struct error *err)
{
    /* In the C locale gnuplot cannot even convert its own degree sign. */
    static const char *const changes[] = { "LC_ALL=C.UTF-8", NULL };
    struct process p = { .argv = argv,
                         .folder = folder,
                         .changes = changes,
                         .packages = "gnuplot-nox fonts-dejavu-core",
                         .timeout = TIMEOUT_S };
    struct process_result result;

    if (process_run(&p, said, NULL, &result, err))
        return -1;
    strbuf_trim_end(said);
    if (result.end == PROCESS_TIMED_OUT)
        return error_set(err, "gnuplot took longer than %d s and was stopped", TIMEOUT_S);
    if (result.end != PROCESS_EXITED || result.status != 0)
        return error_set(err, "gnuplot failed: %.800s", said->data);
    return 0;
}

int paint_gnuplot_version(char *version, size_t size, struct error *err)
{
    const char *argv[] = { "gnuplot", "--version", NULL };
    struct strbuf said;

    strbuf_init(&said);
    int rc = paint_run("/", argv, &said, err);
    if (rc == 0)
        snprintf(version, size, "%s", said.data);
    strbuf_release(&said);
    return rc;
}

static bool ids_are_plain(const char *id)
{
    return *id &&
           id[strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")] ==
               '\0';
}

/* Puts `to` for the first `from` in the text. */
static void paint_replace(struct strbuf *text, const char *from, const char *to)
{
    const char *at = strstr(text->data, from);
    struct strbuf result;

    if (!at)
        return;
    strbuf_init(&result);
    strbuf_add(&result, text->data, (size_t)(at - text->data));
    strbuf_adds(&result, to);
    strbuf_adds(&result, at + strlen(from));
    strbuf_release(text);
    *text = result;
}

/* Replaces what lies between two marks, or does nothing. */
static void replace_between(struct strbuf *text, const char *open, const char *close,
                            const char *content)
{
    char *from = strstr(text->data, open), *to = from ? strstr(from, close) : NULL;
    struct strbuf old, with;

    if (!to)
        return;
    strbuf_init(&old);
    strbuf_init(&with);
    strbuf_add(&old, from, (size_t)(to - from) + strlen(close));
    strbuf_adds(&with, open);
    escape_xml(&with, content);
    strbuf_adds(&with, close);
    paint_replace(text, old.data, with.data);
    strbuf_release(&old);
    strbuf_release(&with);
}

/* What gnuplot's SVG lacks: a title and description for screen readers, real bold, and fonts to
 * fall back on. */
static int finish_svg(const struct figure *f, const char *path, struct error *err)
{
    struct strbuf text;
    char *svg = file_read(path, FILE_RECORDS_MOST, NULL, err);

    if (!svg)
        return -1;
    strbuf_init(&text);
    for (const char *at = svg; *at;) {
        static const char plain[] = "font-family=\"DejaVu Sans\"";
        static const char bold[] = "font-family=\"DejaVu Sans:Bold\"";
        bool is_plain = strncmp(at, plain, sizeof(plain) - 1) == 0;
        bool is_bold = strncmp(at, bold, sizeof(bold) - 1) == 0;
        if (is_plain || is_bold) {
            strbuf_adds(&text, "font-family=\"DejaVu Sans, Verdana, sans-serif\"");
            strbuf_adds(&text, is_bold ? " font-weight=\"bold\"" : "");
            at += is_bold ? sizeof(bold) - 1 : sizeof(plain) - 1;
        } else {
            strbuf_addc(&text, *at++);
        }
    }
    replace_between(&text, "<title>", "</title>", f->title);
    replace_between(&text, "<desc>", "</desc>", f->alt ? f->alt : f->title);
    paint_replace(&text, "<svg", "<svg role=\"img\"");
    int rc = file_write(path, text.data, text.length, err);
    strbuf_release(&text);
    free(svg);
    return rc;
}

/* Has gnuplot draw <folder>/<id>.<format> from <id>.gp. */
static int paint_draw(const char *id, const char *folder, enum picture_format format,
                      struct error *err)
{
    char set_format[32], script[128], name[160];
    const char *argv[] = { "gnuplot", "-d", "-e", set_format, script, NULL };
    struct strbuf said, path;
    struct stat info;

    snprintf(set_format, sizeof(set_format), "format='%s'", names[format]);
    snprintf(script, sizeof(script), "%s.gp", id);
    snprintf(name, sizeof(name), "%s.%s", id, names[format]);
    strbuf_init(&said);
    strbuf_init(&path);
    strbuf_addf(&path, "%s/%s", folder, name);
    unlink(path.data);
    int rc = paint_run(folder, argv, &said, err);
    /* gnuplot goes on after a warning; a warning about the script is an error all the same. */
    if (rc == 0 && strstr(said.data, script))
        rc = error_set(err, "gnuplot did not like the script: %.800s", said.data);
    if (rc == 0 && (stat(path.data, &info) || info.st_size == 0))
        rc = error_set(err, "gnuplot wrote no picture: %.800s", said.data);
    if (rc)
        error_prefix(err, "%s", path.data);
    strbuf_release(&said);
    strbuf_release(&path);
    return rc;
}

static int paint_draw_figure(const struct figure *f, const char *folder, enum picture_format format,
                             struct error *err)
{
    struct strbuf path;
    int rc = paint_draw(f->id, folder, format, err);

    if (rc || format != PICTURE_SVG)
        return rc;
    strbuf_init(&path);
    strbuf_addf(&path, "%s/%s.svg", folder, f->id);
    rc = finish_svg(f, path.data, err);
    if (rc)
        error_prefix(err, "%s", path.data);
    strbuf_release(&path);
    return rc;
}

static int paint_check_name(const char *id, struct error *err)
{
    if (ids_are_plain(id) && strlen(id) <= 100)
        return 0;
    return error_set(err, "\"%.100s\" cannot be a file name: use letters, digits, '-' and '_'", id);
}

static int paint_write_script(const char *folder, const char *id, const struct strbuf *script,
                              struct error *err)
{
    struct strbuf path;

    if (file_make_directory(folder, err))
        return -1;
    strbuf_init(&path);
    strbuf_addf(&path, "%s/%s.gp", folder, id);
    int rc = file_write(path.data, script->data, script->length, err);
    strbuf_release(&path);
    return rc;
}

/* The script has all texts, so it says itself whether it is to be written with boxes. */
static void paint_make_script(struct figure *f, struct strbuf *script)
{
    struct strbuf lacking;

    free(f->boxes);
    f->boxes = NULL;
    strbuf_init(&lacking);
    paint_gnuplot_script(f, script);
    fonts_lack(script->data, &lacking);
    if (lacking.length) {
        figure_set(&f->boxes, "%s", lacking.data);
        strbuf_clear(script);
        paint_gnuplot_script(f, script);
    }
    strbuf_release(&lacking);
}

int paint_gnuplot(struct figure *f, const char *folder, unsigned formats, struct error *err)
{
    struct strbuf script;

    if (f->reason)
        return error_set(err, "%s: %s", f->id, f->reason);
    if (paint_check_name(f->id, err))
        return -1;
    strbuf_init(&script);
    paint_make_script(f, &script);
    int rc = paint_write_script(folder, f->id, &script, err);
    for (int format = 0; rc == 0 && format < PICTURE_FORMAT_NR; format++)
        if (formats & 1u << format)
            rc = paint_draw_figure(f, folder, (enum picture_format)format, err);
    strbuf_release(&script);
    return rc;
}

int paint_gnuplot_booklet(const struct figure *const *figures, size_t nr, const char *folder,
                          const char *name, struct error *err)
{
    struct strbuf script;
    size_t pages = 0;

    for (size_t i = 0; i < nr; i++)
        pages += !figures[i]->reason;
    if (!pages)
        return error_set(err, "%s: there is no figure to put into a booklet", name);
    if (paint_check_name(name, err))
        return -1;
    strbuf_init(&script);
    paint_gnuplot_booklet_script(figures, nr, name, &script);
    int rc = paint_write_script(folder, name, &script, err);
    if (rc == 0)
        rc = paint_draw(name, folder, PICTURE_PDF, err);
    strbuf_release(&script);
    return rc;
}
