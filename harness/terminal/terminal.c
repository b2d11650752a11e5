/* SPDX-License-Identifier: MIT */
#include "terminal/terminal.h"

#include "base/clean.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool terminal_colour(void)
{
    const char *no_color = getenv("NO_COLOR");

    return isatty(STDOUT_FILENO) == 1 && !(no_color && *no_color);
}

size_t terminal_width(void)
{
    struct winsize size;

    if (isatty(STDOUT_FILENO) != 1 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
        return 0;
    return size.ws_col;
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

static void print_guarded(FILE *stream, const char *text)
{
    struct strbuf out;

    strbuf_init(&out);
    add_guarded(&out, text);
    fputs(out.data, stream);
    strbuf_release(&out);
}

static void print_clean(FILE *stream, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

static void print_clean(FILE *stream, const char *format, va_list args)
{
    size_t size = clean_print(NULL, 0, format, args) + 1;
    char *text = memory_zeroed(size, 1);

    clean_print(text, size, format, args);
    print_guarded(stream, text);
    free(text);
}

void terminal_print(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    print_clean(stdout, format, args);
    va_end(args);
}

void terminal_note(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    print_clean(stderr, format, args);
    va_end(args);
}

void terminal_ready_note(const char *text)
{
    print_guarded(stderr, text);
}

void terminal_error(const struct error *err)
{
    fputs("harness: ", stderr);
    print_guarded(stderr, err->message); /* cleaned when it was made */
    fputc('\n', stderr);
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

int output_check_format(const char *format, struct error *err)
{
    static const char *const formats[] = { "text", "markdown", "json", NULL };

    return output_choose_format(format, formats, err) < 0 ? -1 : 0;
}

int output_text(const struct strbuf *text, const char *path, struct error *err)
{
    if (!path || strcmp(path, "-") == 0) {
        fwrite(text->data, 1, text->length, stdout);
        return 0;
    }
    return file_make_parent(path, err) ? -1 : file_write(path, text->data, text->length, err);
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
