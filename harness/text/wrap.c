/* SPDX-License-Identifier: MIT */
#include "text/wrap.h"

#include "base/clean.h"

#include <string.h>

/* The last space in [from, to] of the text, 0 if there is none; `outside` of backticks alone. */
static size_t last_space(const char *text, size_t from, size_t to, bool outside)
{
    bool inside = false;
    size_t last = 0;

    for (size_t i = 0; i <= to && text[i]; i++) {
        inside ^= text[i] == '`';
        if (i > from && text[i] == ' ' && !(outside && inside))
            last = i;
    }
    return last;
}

/* Of a word that is longer than its line: all of it, or of choices ("[list|show]") those that have
 * room. */
static size_t word_length(const char *word, size_t room)
{
    size_t length = strcspn(word, " ");

    for (size_t i = room; i > 0; i--)
        if (word[i - 1] == '|')
            return i;
    return length;
}

size_t wrap_line(const char *text, size_t width, bool whole)
{
    size_t fitting = clean_fitting(text, width), from = strspn(text, " ");

    if (!text[fitting])
        return fitting;
    size_t space = last_space(text, from, fitting, true);
    if (!space)
        space = last_space(text, from, fitting, false);
    if (space)
        return space;
    if (whole)
        return from + word_length(text + from, fitting > from ? fitting - from : 0);
    return fitting ? fitting : clean_fitting(text, 2); /* a wide character */
}

/* In characters, where a long line goes on. */
static size_t wrap_indent(const char *line, size_t width)
{
    size_t start = strspn(line, " ");
    const char *gap = strstr(line + start, "  ");

    if (gap && gap[strspn(gap, " ")]) {
        size_t text = (size_t)(gap - line) + strspn(gap, " ");
        size_t behind = clean_columns(line) - clean_columns(line + text);
        if (3 * behind <= 2 * width)
            return behind;
    }
    return 2 * start <= width && start > 0 ? start + 2 : 0;
}

/* What is left of the width behind the indent, which is less where the next word would not fit. */
static size_t begin_line(const char *rest, size_t indent, size_t width, struct strbuf *out)
{
    enum { SMALL = 4 };
    size_t word = clean_columns(rest) - clean_columns(rest + strcspn(rest, " "));

    if (indent > SMALL && indent + word > width)
        indent = SMALL;
    strbuf_addc(out, '\n');
    strbuf_pad(out, out->length + indent, ' ');
    return width > indent ? width - indent : 1;
}

static void wrap_long(const char *line, size_t width, struct strbuf *out)
{
    size_t indent = wrap_indent(line, width), room = width;

    for (;;) {
        size_t length = wrap_line(line, room, true), shown = length;
        while (shown > 0 && line[shown - 1] == ' ')
            shown--;
        strbuf_add(out, line, shown);
        line += length + strspn(line + length, " ");
        if (!*line)
            return;
        room = begin_line(line, indent, width, out);
    }
}

void wrap_text(const char *text, size_t width, struct strbuf *out)
{
    struct strbuf line;

    strbuf_init(&line);
    while (*text) {
        size_t length = strcspn(text, "\n");
        strbuf_clear(&line);
        strbuf_add(&line, text, length);
        if (width && !strchr(line.data, '\033') && clean_columns(line.data) > width)
            wrap_long(line.data, width, out);
        else
            strbuf_add(out, line.data, length);
        if (text[length])
            strbuf_addc(out, text[length++]);
        text += length;
    }
    strbuf_release(&line);
}

void wrap_join(const char *text, struct strbuf *out)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        bool prose = length > 0 && *text != ' ';
        strbuf_add(out, text, length);
        text += length;
        if (*text++ == '\0')
            return;
        strbuf_addc(out, prose && *text && *text != ' ' && *text != '\n' ? ' ' : '\n');
    }
}
