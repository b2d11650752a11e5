/* SPDX-License-Identifier: MIT */
#include "text/escape.h"

#include "base/clean.h"
#include "base/utf8.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* What stands for the first character of `s`, an ASCII one; NULL: itself. `first`: only spaces are
 * before it. */
typedef const char *replace_fn(const char *s, bool first);

/* Two steps, so that a dropped mark cannot part what belongs together. */
static void escape_with(struct strbuf *out, const char *text, replace_fn *replace)
{
    struct strbuf cleaned;
    bool first = true;

    strbuf_init(&cleaned);
    clean_text(&cleaned, text);
    for (const char *s = cleaned.data; *s; s++) {
        const char *other = replace ? replace(s, first) : NULL;
        first = first && *s == ' ';
        if (other)
            strbuf_adds(out, other);
        else
            strbuf_addc(out, *s);
    }
    strbuf_release(&cleaned);
}

static bool escape_is_runner_command(const char *s, bool first)
{
    return first && s[0] == ':' && s[1] == ':';
}

static const char *escape_plain_sign(const char *s, bool first)
{
    if (escape_is_runner_command(s, first))
        return ": ";
    return s[0] == '#' && s[1] == '#' ? "# " : NULL;
}

void escape_plain(struct strbuf *out, const char *text)
{
    escape_with(out, text, escape_plain_sign);
}

/* A doubled quote is one, except where gnuplot 5.4 takes the first of them for the end: at the
 * start, and behind another. There it is a typographic one. */
static const char *escape_quote(const char *s, bool first)
{
    if (strncmp(s, "]]>", 3) == 0) /* gnuplot's SVG would not be XML */
        return "] ";
    if (*s != '\'')
        return NULL;
    return first || s[-1] == '\'' ? "’" : "''";
}

static const char *quote_tick(const char *s, bool first)
{
    return *s == '%' ? "%%" : escape_quote(s, first);
}

static void quote_with(struct strbuf *out, const char *text, replace_fn *replace)
{
    strbuf_addc(out, '\'');
    escape_with(out, text, replace);
    strbuf_addc(out, '\'');
}

void escape_gnuplot(struct strbuf *out, const char *text)
{
    quote_with(out, text, escape_quote);
}

void escape_gnuplot_tick(struct strbuf *out, const char *text)
{
    quote_with(out, text, quote_tick);
}

/* ":tada:" */
static bool escape_is_emoji(const char *s)
{
    size_t length =
        strspn(s + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-_");

    return length > 0 && s[1 + length] == ':';
}

#define UNSEEN "&#8203;"

/* What is looked for in the text when it is no Markdown any more. */
static const char *escape_part(const char *s, bool first)
{
    switch (*s) {
    case '@':
        return "@" UNSEEN;
    case '#':
        return "#" UNSEEN;
    case ':':
        return escape_is_runner_command(s, first) || strncmp(s + 1, "//", 2) == 0 ||
                       escape_is_emoji(s)
                   ? ":" UNSEEN
                   : NULL;
    case 'w':
        return strncasecmp(s, "www.", 4) == 0 ? "w" UNSEEN : NULL;
    case 'W':
        return strncasecmp(s, "www.", 4) == 0 ? "W" UNSEEN : NULL;
    case 'g':
        return strncasecmp(s, "gh-", 3) == 0 ? "g" UNSEEN : NULL;
    case 'G':
        return strncasecmp(s, "gh-", 3) == 0 ? "G" UNSEEN : NULL;
    default:
        return NULL;
    }
}

/* Entities, not backslashes: they hold inside table cells and in every renderer. */
static const char *markdown_part(const char *s, bool first)
{
    static const char *const entities[128] = {
        ['|'] = "&#124;", ['`'] = "&#96;",  ['<'] = "&lt;",   ['>'] = "&gt;",
        ['&'] = "&amp;",  ['*'] = "&#42;",  ['_'] = "\\_",    ['['] = "&#91;",
        [']'] = "&#93;",  ['\\'] = "&#92;", ['~'] = "&#126;", ['$'] = "&#36;",
    };
    unsigned char c = (unsigned char)*s;
    const char *entity = c < sizeof(entities) / sizeof(entities[0]) ? entities[c] : NULL;

    return entity ? entity : escape_part(s, first);
}

void escape_markdown(struct strbuf *out, const char *text)
{
    escape_with(out, text, markdown_part);
}

static const char *escape_mermaid_sign(const char *s, bool first)
{
    (void)first;
    return *s == '"' ? "”" : *s == '`' ? "’" : NULL;
}

void escape_mermaid(struct strbuf *out, const char *text)
{
    escape_with(out, text, escape_mermaid_sign);
}

static const char *xml_part(const char *s, bool first)
{
    if (escape_is_runner_command(s, first))
        return "&#58;";
    switch (*s) {
    case '#':
        return s[1] == '#' ? "&#35;" : NULL;
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
    escape_with(out, text, xml_part);
}

static const char *double_quote(const char *s, bool first)
{
    (void)first;
    if (s[0] == '#' && s[1] == '#')
        return "# ";
    return *s == '"' ? "\"\"" : NULL;
}

static bool escape_is_obeyed(const char *text)
{
    text += strspn(text, " ");
    return *text && (strchr("=+-@", *text) || escape_is_runner_command(text, true));
}

void escape_csv(struct strbuf *out, const char *text)
{
    struct strbuf cleaned;

    strbuf_init(&cleaned);
    clean_text(&cleaned, text);
    bool obeyed = escape_is_obeyed(cleaned.data);
    if (obeyed || strpbrk(cleaned.data, ",\"")) {
        strbuf_adds(out, obeyed ? "\"'" : "\"");
        escape_with(out, cleaned.data, double_quote);
        strbuf_addc(out, '"');
    } else {
        escape_with(out, cleaned.data, double_quote);
    }
    strbuf_release(&cleaned);
}

static bool needs_no_quotes(const char *text)
{
    size_t nr = 0;

    while (isalnum((unsigned char)text[nr]) || (text[nr] && strchr("%+,-./:=@_", text[nr])))
        nr++;
    return nr > 0 && !text[nr];
}

static const char *shell_part(const char *s, bool first)
{
    (void)first;
    return *s == '\'' ? "'\\''" : NULL;
}

void escape_shell(struct strbuf *out, const char *text)
{
    if (needs_no_quotes(text))
        strbuf_adds(out, text);
    else
        quote_with(out, text, shell_part);
}

void escape_openmetrics(struct strbuf *out, const char *text)
{
    strbuf_addc(out, '"');
    while (*text) {
        uint32_t code = (unsigned char)*text;
        size_t length = utf8_decode(text, &code);
        if (length == 0)
            strbuf_addf(out, "\\\\x%02x", (unsigned)(unsigned char)*text);
        else if (!clean_is_shown(code) || strncmp(text, "##[", 3) == 0)
            strbuf_addf(out, code < 0x80 ? "\\\\x%02x" : "\\\\u%04x", (unsigned)code);
        else if (*text == '"' || *text == '\\')
            strbuf_addf(out, "\\%c", *text);
        else
            strbuf_add(out, text, length);
        text += length ? length : 1;
    }
    strbuf_addc(out, '"');
}

void escape_shell_option(struct strbuf *out, const char *name, const char *value)
{
    strbuf_addf(out, " %s ", name);
    escape_shell(out, value);
}
