/* SPDX-License-Identifier: MIT */
#include "cli/terminal.h"

#include "base/file.h"
#include "base/json.h"
#include "base/utf8.h"

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
    char *printed = cJSON_Print(json);
    struct strbuf text;

    utf8_mend(printed); /* names from files are whatever these hold; JSON is UTF-8 */
    strbuf_init(&text);
    strbuf_addf(&text, "%s\n", printed);
    int rc = output_text(&text, path, err);
    strbuf_release(&text);
    cJSON_free(printed);
    cJSON_Delete(json);
    return rc;
}
