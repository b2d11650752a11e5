/* SPDX-License-Identifier: MIT */
#include "output/escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Decodes one code point; returns its length, or 0 if it is not valid UTF-8 (RFC 3629). */
static size_t decode(const unsigned char *s, uint32_t *code)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t length = s[0] < 0x80             ? 1
                    : (s[0] & 0xe0) == 0xc0 ? 2
                    : (s[0] & 0xf0) == 0xe0 ? 3
                    : (s[0] & 0xf8) == 0xf0 ? 4
                                            : 0;

    if (length == 0)
        return 0;
    *code = length == 1 ? s[0] : s[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (s[i] & 0x3fu);
    }
    bool surrogate = *code >= 0xd800 && *code <= 0xdfff;
    return *code < least[length] || *code > 0x10ffff || surrogate ? 0 : length;
}

static bool turns_direction(uint32_t code)
{
    return code == 0x200e || code == 0x200f || code == 0x061c ||
           (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

static bool is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029;
}

/* What stands for one ASCII character in the target language; NULL: itself. */
typedef const char *replace_fn(char c);

static void escape(struct strbuf *out, const char *text, replace_fn *replace)
{
    const unsigned char *s = (const unsigned char *)text;

    while (*s) {
        uint32_t code = 0;
        size_t length = decode(s, &code);
        const char *other = length == 1 && replace ? replace((char)*s) : NULL;
        if (length == 0)
            strbuf_addc(out, '?');
        else if (is_control(code))
            strbuf_addc(out, ' ');
        else if (other)
            strbuf_adds(out, other);
        else if (!turns_direction(code))
            strbuf_add(out, s, length);
        s += length ? length : 1;
    }
}

void escape_plain(struct strbuf *out, const char *text)
{
    escape(out, text, NULL);
}

static const char *quote(char c)
{
    return c == '\'' ? "''" : NULL;
}

static const char *quote_tick(char c)
{
    return c == '%' ? "%%" : quote(c);
}

static void quoted(struct strbuf *out, const char *text, replace_fn *replace)
{
    strbuf_addc(out, '\'');
    escape(out, text, replace);
    strbuf_addc(out, '\'');
}

void escape_gnuplot(struct strbuf *out, const char *text)
{
    quoted(out, text, quote);
}

void escape_gnuplot_tick(struct strbuf *out, const char *text)
{
    quoted(out, text, quote_tick);
}

/* Entities, not backslashes: they hold inside table cells and in every renderer. */
static const char *markdown(char c)
{
    switch (c) {
    case '|':
        return "&#124;";
    case '`':
        return "&#96;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '*':
        return "&#42;";
    case '_':
        return "\\_";
    case '[':
        return "&#91;";
    case ']':
        return "&#93;";
    case '\\':
        return "&#92;";
    case '#':
        return "&#35;";
    case '~':
        return "&#126;";
    case '@':
        return "&#64;";
    default:
        return NULL;
    }
}

void escape_markdown(struct strbuf *out, const char *text)
{
    escape(out, text, markdown);
}

static const char *xml(char c)
{
    switch (c) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void escape_xml(struct strbuf *out, const char *text)
{
    escape(out, text, xml);
}

static const char *double_quote(char c)
{
    return c == '"' ? "\"\"" : NULL;
}

void escape_csv(struct strbuf *out, const char *text)
{
    bool formula = *text && strchr("=+-@", *text);

    if (!formula && !strpbrk(text, ",\"\n\r")) {
        escape(out, text, NULL);
        return;
    }
    strbuf_addc(out, '"');
    if (formula)
        strbuf_addc(out, '\'');
    escape(out, text, double_quote);
    strbuf_addc(out, '"');
}

size_t escape_columns(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t columns = 0;

    while (*s) {
        uint32_t code = 0;
        size_t length = decode(s, &code);
        bool wide =
            length && ((code >= 0x1100 && code <= 0x115f) || (code >= 0x2e80 && code <= 0xa4cf) ||
                       (code >= 0xac00 && code <= 0xd7a3) || (code >= 0xf900 && code <= 0xfaff) ||
                       (code >= 0xff00 && code <= 0xff60) || code >= 0x1f300);
        columns += wide ? 2 : 1;
        s += length ? length : 1;
    }
    return columns;
}
