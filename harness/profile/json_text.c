/* SPDX-License-Identifier: MIT */
#include "profile/json_text.h"

#include <inttypes.h>
#include <math.h>

static int is_more(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

/* Length of the UTF-8 sequence at the start of a text; 0: none that is valid (RFC 3629). */
static size_t utf8_length(const char *text)
{
    const unsigned char *t = (const unsigned char *)text;

    if (t[0] < 0x80)
        return 1;
    if (t[0] < 0xc2 || t[0] > 0xf4 || !is_more(t[1]))
        return 0;
    if (t[0] < 0xe0)
        return 2;
    if ((t[0] == 0xe0 && t[1] < 0xa0) || (t[0] == 0xed && t[1] > 0x9f) || !is_more(t[2]))
        return 0; /* overlong, or half of a UTF-16 pair */
    if (t[0] < 0xf0)
        return 3;
    if ((t[0] == 0xf0 && t[1] < 0x90) || (t[0] == 0xf4 && t[1] > 0x8f) || !is_more(t[3]))
        return 0;
    return 4;
}

const char *prof_folded_character(const char **name, size_t *nr)
{
    const char *at = *name;
    size_t length = utf8_length(at);

    *name += length ? length : 1;
    *nr = length ? length : 1;
    return length == 0 ? "?" : *at == ';' || (unsigned char)*at <= ' ' ? "_" : at;
}

/* How much at the start of a text is written as it is. */
static size_t unescaped_length(const char *text)
{
    const char *at = text;

    while ((unsigned char)*at >= 0x20 && *at != '"' && *at != '\\') {
        size_t length = utf8_length(at);
        if (!length)
            break;
        at += length;
    }
    return (size_t)(at - text);
}

void prof_json_text(FILE *file, const char *text)
{
    fputc('"', file);
    for (;;) {
        size_t plain = unescaped_length(text);
        fwrite(text, 1, plain, file);
        text += plain;
        unsigned char c = (unsigned char)*text++;
        if (!c)
            break;
        if (c == '"' || c == '\\')
            fprintf(file, "\\%c", c);
        else if (c < 0x20)
            fprintf(file, "\\u%04x", c);
        else
            fputc('?', file);
    }
    fputc('"', file);
}

void prof_json_number(FILE *file, double value)
{
    if (isfinite(value))
        fprintf(file, "%.12g", value);
    else
        fputs("null", file);
}

void prof_json_us(FILE *file, int64_t ns)
{
    uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

    fprintf(file, "%s%" PRIu64 ".%03u", ns < 0 ? "-" : "", size / 1000, (unsigned)(size % 1000));
}
