/* SPDX-License-Identifier: MIT */
#include "cli/terminal.h"

#include "base/file.h"
#include "base/json.h"

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

int output_check_format(const char *format, struct error *err)
{
    static const char *const formats[] = { "text", "markdown", "json", NULL };

    for (const char *const *f = formats; *f; f++)
        if (!format || strcmp(format, *f) == 0)
            return 0;
    return error_set(err, "unknown format \"%s\"; there are text, markdown, json", format);
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
    char *printed = cJSON_Print(json);
    struct strbuf text;

    strbuf_init(&text);
    strbuf_addf(&text, "%s\n", printed);
    int rc = output_text(&text, path, err);
    strbuf_release(&text);
    cJSON_free(printed);
    cJSON_Delete(json);
    return rc;
}
