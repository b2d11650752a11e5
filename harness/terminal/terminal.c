/* SPDX-License-Identifier: MIT */
#include "terminal/terminal.h"

#include "base/clean.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "text/wrap.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool obeys_escapes(int fd)
{
    const char *term = getenv("TERM");

    return isatty(fd) == 1 && term && *term && strcmp(term, "dumb") != 0;
}

bool terminal_colour(void)
{
    const char *no_color = getenv("NO_COLOR");

    return obeys_escapes(STDOUT_FILENO) && !(no_color && *no_color);
}

bool terminal_rewrites(void)
{
    return obeys_escapes(STDERR_FILENO);
}

/* What the environment says of the width, for terminals that do not. */
static size_t columns_variable(void)
{
    enum { MOST = 10000 };
    const char *text = getenv("COLUMNS");
    char *end;
    long columns = text ? strtol(text, &end, 10) : 0;

    return text && end != text && !*end && columns > 0 && columns <= MOST ? (size_t)columns : 0;
}

static size_t width_of(int fd)
{
    struct winsize size;

    if (isatty(fd) != 1)
        return 0;
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return columns_variable();
}

size_t terminal_width(void)
{
    return width_of(STDOUT_FILENO);
}

size_t terminal_note_width(void)
{
    return width_of(STDERR_FILENO);
}

/* Logs of CI systems are read for commands: "::" at the start of a line, "##[" anywhere. No format
 * of ours has them, so a name that is shown does: a space parts the signs. */
static void add_guarded(struct strbuf *out, const char *text)
{
    bool start = true;

    for (; *text; text++) {
        bool command = (start && strncmp(text, "::", 2) == 0) || strncmp(text, "##[", 3) == 0;
        strbuf_addc(out, *text);
        if (command)
            strbuf_addc(out, ' ');
        start = *text == '\n' || *text == '\r' || (start && *text == ' ');
    }
}

/* Pieces of lines go out as they are: who makes them minds the width. */
static void print_lines(FILE *stream, const char *text)
{
    size_t length = strlen(text);
    bool lines = length > 0 && text[length - 1] == '\n';
    struct strbuf out;

    strbuf_init(&out);
    wrap_text(text, lines ? width_of(fileno(stream)) : 0, &out);
    fputs(out.data, stream);
    strbuf_release(&out);
}

static void add_clean(struct strbuf *out, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

static void add_clean(struct strbuf *out, const char *format, va_list args)
{
    size_t size = clean_print(NULL, 0, format, args) + 1;
    char *text = memory_zeroed(size, 1);

    clean_print(text, size, format, args);
    add_guarded(out, text);
    free(text);
}

void terminal_add(struct strbuf *out, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add_clean(out, format, args);
    va_end(args);
}

void terminal_print(const char *format, ...)
{
    struct strbuf text;
    va_list args;

    strbuf_init(&text);
    va_start(args, format);
    add_clean(&text, format, args);
    va_end(args);
    print_lines(stdout, text.data);
    strbuf_release(&text);
}

void terminal_note(const char *format, ...)
{
    struct strbuf text;
    va_list args;

    strbuf_init(&text);
    va_start(args, format);
    add_clean(&text, format, args);
    va_end(args);
    print_lines(stderr, text.data);
    strbuf_release(&text);
}

void terminal_ready_note(const char *text)
{
    struct strbuf guarded;

    strbuf_init(&guarded);
    add_guarded(&guarded, text);
    print_lines(stderr, guarded.data);
    strbuf_release(&guarded);
}

void terminal_error(const struct error *err)
{
    struct strbuf text;

    strbuf_init(&text);
    strbuf_adds(&text, "harness: ");
    add_guarded(&text, err->message); /* cleaned when it was made */
    strbuf_addc(&text, '\n');
    print_lines(stderr, text.data);
    strbuf_release(&text);
}

void terminal_add_name(struct strbuf *out, const char *name)
{
    enum { NAME_MOST = 512 };
    struct strbuf shown;

    strbuf_init(&shown);
    add_guarded(&shown, name);
    if (*name && strlen(name) <= NAME_MOST && clean_is(name) && strcmp(shown.data, name) == 0)
        strbuf_addf(out, "%s\n", name);
    strbuf_release(&shown);
}

void terminal_name(const char *name)
{
    struct strbuf line;

    strbuf_init(&line);
    terminal_add_name(&line, name);
    fputs(line.data, stdout);
    strbuf_release(&line);
}

int output_choose_format(const char *format, const char *const *formats, struct error *err)
{
    struct strbuf list;

    strbuf_init(&list);
    for (int i = 0; formats[i]; i++) {
        if (!format || strcmp(format, formats[i]) == 0) {
            strbuf_release(&list);
            return i;
        }
        strbuf_addf(&list, "%s%s", i ? ", " : "", formats[i]);
    }
    error_set(err, "unknown format \"%s\"; there are %s", format, list.data);
    strbuf_release(&list);
    return -1;
}

int output_short_format(const char **format, bool given, const char *option, const char *form,
                        struct error *err)
{
    if (!given)
        return 0;
    if (*format && strcmp(*format, form) != 0)
        return error_set(err, "%s and --format %s: one of the two", option, *format);
    *format = form;
    return 0;
}

int output_check_format(const char *format, struct error *err)
{
    static const char *const formats[] = { "text", "markdown", "json", NULL };

    return output_choose_format(format, formats, err) < 0 ? -1 : 0;
}

bool output_is_standard(const char *path)
{
    static const char *const names[] = { "-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1" };
    bool standard = !path;

    for (size_t i = 0; !standard && i < sizeof(names) / sizeof(names[0]); i++)
        standard = strcmp(path, names[i]) == 0;
    return standard;
}

const char *output_file(const char *path)
{
    return output_is_standard(path) ? "/dev/stdout" : path;
}

size_t output_width(const char *path)
{
    return output_is_standard(path) ? terminal_width() : 0;
}

bool output_colour(const char *path)
{
    return output_is_standard(path) && terminal_colour();
}

int output_text(const struct strbuf *text, const char *path, struct error *err)
{
    if (output_is_standard(path)) {
        fwrite(text->data, 1, text->length, stdout);
        return 0;
    }
    return file_make_parent(path, err) ? -1 : file_write(path, text->data, text->length, err);
}

int output_page(const struct strbuf *text, const char *path, struct error *err)
{
    struct strbuf page;

    if (!output_is_standard(path))
        return output_text(text, path, err);
    strbuf_init(&page);
    wrap_text(text->data, terminal_width(), &page);
    int rc = output_text(&page, NULL, err);
    strbuf_release(&page);
    return rc;
}

int output_json(cJSON *json, const char *path, struct error *err)
{
    struct strbuf text;

    strbuf_init(&text);
    int rc = json_text(json, true, &text, err);
    strbuf_addc(&text, '\n');
    if (rc == 0)
        rc = output_text(&text, path, err);
    strbuf_release(&text);
    cJSON_Delete(json);
    return rc;
}
