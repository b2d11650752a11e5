/* SPDX-License-Identifier: MIT */
#include "base/clean.h"

#include "base/utf8.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static bool is_control(uint32_t code)
{
    static const struct code_range ranges[] = { { 0, 0x1f }, { 0x7f, 0x9f }, { 0x2028, 0x2029 } };

    return CODE_IS_IN(code, ranges);
}

/* Marks of direction; what has no width; deprecated and interlinear marks; fillers; tags. */
static bool is_unseen(uint32_t code)
{
    static const struct code_range ranges[] = {
        { 0xad, 0xad },     { 0x034f, 0x034f },   { 0x061c, 0x061c },   { 0x115f, 0x1160 },
        { 0x17b4, 0x17b5 }, { 0x180b, 0x180f },   { 0x200b, 0x200f },   { 0x202a, 0x202e },
        { 0x2060, 0x206f }, { 0x3164, 0x3164 },   { 0xfeff, 0xfeff },   { 0xffa0, 0xffa0 },
        { 0xfff0, 0xfffb }, { 0xe0000, 0xe0fff }, { 0x1d173, 0x1d17a },
    };

    return CODE_IS_IN(code, ranges);
}

/* XML refuses some of these, and no text has any. */
static bool is_noncharacter(uint32_t code)
{
    return (code & 0xfffe) == 0xfffe || (code >= 0xfdd0 && code <= 0xfdef);
}

bool clean_is_shown(uint32_t code)
{
    return !is_control(code) && !is_unseen(code) && !is_noncharacter(code);
}

/* One character, cleaned: its `length` bytes stand for `taken` of the text. */
struct glyph {
    char bytes[5];
    size_t length, taken;
    int columns;
};

/* Of a text that may end behind `most` bytes without a NUL. */
static struct glyph next_character(const char *text, size_t most)
{
    struct glyph g = { .length = 1, .taken = 1, .columns = 1 };
    uint32_t code = 0;

    for (size_t i = 0; i < 4 && i < most && text[i]; i++)
        g.bytes[i] = text[i];
    size_t length = utf8_decode(g.bytes, &code);
    if (length)
        g.taken = length;
    if (!length || !clean_is_shown(code)) {
        g.bytes[0] = length && is_control(code) ? ' ' : '?';
    } else {
        g.length = length;
        g.columns = columns_of(code);
    }
    return g;
}

void clean_text(struct strbuf *out, const char *text)
{
    struct glyph g;

    for (; *text; text += g.taken) {
        g = next_character(text, SIZE_MAX);
        strbuf_add(out, g.bytes, g.length);
    }
}

bool clean_is(const char *text)
{
    struct glyph g;

    for (; *text; text += g.taken) {
        g = next_character(text, SIZE_MAX);
        if (memcmp(text, g.bytes, g.length) != 0)
            return false;
    }
    return true;
}

int clean_check(const char *text, const char *what, struct error *err)
{
    if (clean_is(text))
        return 0;
    return error_set(
        err,
        "%s: \"%.200s\" holds a control character (a newline, ESC ...), a mark that "
        "nobody sees, or bytes that are no UTF-8: it is shown in tables, so one line of "
        "plain text is what it may be",
        what, text);
}

size_t clean_columns(const char *text)
{
    size_t columns = 0;
    struct glyph g;

    for (; *text; text += g.taken) {
        g = next_character(text, SIZE_MAX);
        columns += (size_t)g.columns;
    }
    return columns;
}

size_t clean_fitting(const char *text, size_t columns)
{
    size_t at = 0;
    struct glyph g;

    for (; text[at]; at += g.taken) {
        g = next_character(text + at, SIZE_MAX);
        if ((size_t)g.columns > columns)
            break;
        columns -= (size_t)g.columns;
    }
    return at;
}

/* Where characters go while there is room; `length` is what all of them need. */
struct room {
    char *out;
    size_t size, used, length;
    bool lines; /* newlines of texts are kept */
};

static void put_char(struct room *r, const char *bytes, size_t nr)
{
    if (r->used == r->length && r->used + nr < r->size) {
        memcpy(r->out + r->used, bytes, nr);
        r->used += nr;
    }
    r->length += nr;
}

static void put_spaces(struct room *r, int nr)
{
    for (; nr > 0; nr--)
        put_char(r, " ", 1);
}

/* A conversion as it stands in the format, with numbers in the place of asterisks. */
struct conversion {
    char spec[64];
    size_t length;
    int width, precision; /* -1: none */
    bool left;
    char size; /* of the argument: 'H' is hh, 'q' is ll, 0 is none */
};

static void add_spec(struct conversion *c, char sign)
{
    if (c->length + 1 < sizeof(c->spec))
        c->spec[c->length++] = sign;
}

static void add_conversion_number(struct conversion *c, int number)
{
    char digits[16];

    snprintf(digits, sizeof(digits), "%d", number);
    for (const char *d = digits; *d; d++)
        add_spec(c, *d);
}

/* Digits at *at. */
static int number_at(const char **at)
{
    int number = 0;

    for (; isdigit((unsigned char)**at); (*at)++)
        number = number < 100000 ? number * 10 + (**at - '0') : number;
    return number;
}

static const char *size_at(const char *at, struct conversion *c)
{
    static const char *const names[] = { "hh", "h", "ll", "l", "z", "j", "t", "L" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        size_t length = strlen(names[i]);
        if (strncmp(at, names[i], length) != 0)
            continue;
        for (const char *n = names[i]; *n; n++)
            add_spec(c, *n);
        c->size = length == 1 ? *at : *at == 'h' ? 'H' : 'q';
        return at + length;
    }
    return at;
}

/* A text with its width, of which `precision` bytes are looked at. */
static void put_text(struct room *r, const struct conversion *c, const char *text)
{
    size_t left = c->precision < 0 ? SIZE_MAX : (size_t)c->precision, columns = 0;
    struct glyph g;

    if (!text)
        text = "(null)";
    for (size_t rest = left, i = 0; rest > 0 && text[i]; rest -= g.taken, i += g.taken) {
        g = next_character(text + i, rest);
        columns += (size_t)g.columns;
    }
    int pad = c->width > 0 && (size_t)c->width > columns ? c->width - (int)columns : 0;
    put_spaces(r, c->left ? 0 : pad);
    for (; left > 0 && *text; left -= g.taken, text += g.taken) {
        g = next_character(text, left);
        put_char(r, r->lines && *text == '\n' ? "\n" : g.bytes, g.length);
    }
    put_spaces(r, c->left ? pad : 0);
}

/* va_list may be an array, whose address a parameter does not have. */
struct arguments {
    va_list list;
};

static void put_int(struct room *r, const struct conversion *c, struct arguments *a)
{
    char out[512];
    int length;

    switch (c->size) {
    case 'l':
        length = snprintf(out, sizeof(out), c->spec, va_arg(a->list, long));
        break;
    case 'q':
        length = snprintf(out, sizeof(out), c->spec, va_arg(a->list, long long));
        break;
    case 'j':
        length = snprintf(out, sizeof(out), c->spec, va_arg(a->list, intmax_t));
        break;
    case 'z':
    case 't':
        length = snprintf(out, sizeof(out), c->spec, va_arg(a->list, size_t));
        break;
    default:
        length = snprintf(out, sizeof(out), c->spec, va_arg(a->list, int));
    }
    put_char(r, out, length < (int)sizeof(out) ? (size_t)length : sizeof(out) - 1);
}

static void put_double(struct room *r, const struct conversion *c, struct arguments *a)
{
    char out[512]; /* %f of 1e308 has 309 digits */
    int length = c->size == 'L' ? snprintf(out, sizeof(out), c->spec, va_arg(a->list, long double))
                                : snprintf(out, sizeof(out), c->spec, va_arg(a->list, double));

    put_char(r, out, length < (int)sizeof(out) ? (size_t)length : sizeof(out) - 1);
}

static void put_argument(struct room *r, const struct conversion *c, char kind, struct arguments *a)
{
    char out[32];

    if (kind == 's') {
        put_text(r, c, va_arg(a->list, const char *));
    } else if (kind == 'c') {
        put_text(r, c, (char[2]) { (char)va_arg(a->list, int), '\0' });
    } else if (kind == 'p') {
        put_char(r, out, (size_t)snprintf(out, sizeof(out), "%p", va_arg(a->list, void *)));
    } else if (strchr("aAeEfFgG", kind)) {
        put_double(r, c, a);
    } else {
        put_int(r, c, a);
    }
}

/* A width or precision at *at: digits or an asterisk. */
static int take_number(struct conversion *c, const char **at, struct arguments *a)
{
    int number;

    if (**at == '*') {
        number = va_arg(a->list, int);
        (*at)++;
    } else {
        number = number_at(at);
    }
    add_conversion_number(c, number);
    return number;
}

/* What stands behind a '%'; returns the end of it. */
static const char *convert_argument(struct room *r, const char *at, struct arguments *a)
{
    struct conversion c = { .spec = "%", .length = 1, .width = -1, .precision = -1 };

    for (; *at && strchr("-+ #0", *at); at++) {
        c.left |= *at == '-';
        add_spec(&c, *at);
    }
    if (*at == '*' || isdigit((unsigned char)*at))
        c.width = take_number(&c, &at, a);
    if (*at == '.') {
        at++;
        add_spec(&c, '.');
        c.precision = take_number(&c, &at, a);
    }
    if (c.width < 0 && c.width != -1) { /* as an argument it may ask for the left side */
        c.left = true;
        c.width = -c.width;
    }
    at = size_at(at, &c);
    if (!*at)
        return at;
    add_spec(&c, *at);
    if (*at == '%')
        put_char(r, "%", 1);
    else
        put_argument(r, &c, *at, a);
    return at + 1;
}

static size_t print_cleaned(struct room r, const char *format, va_list args)
{
    struct arguments a;

    va_copy(a.list, args);
    while (*format) {
        if (*format == '%') {
            format = convert_argument(&r, format + 1, &a);
            continue;
        }
        struct glyph g = next_character(format, SIZE_MAX);
        put_char(&r, format, g.taken);
        format += g.taken;
    }
    va_end(a.list);
    if (r.size > 0)
        r.out[r.used] = '\0';
    return r.length;
}

size_t clean_print(char *out, size_t size, const char *format, va_list args)
{
    return print_cleaned((struct room) { .out = out, .size = size }, format, args);
}

size_t clean_print_lines(char *out, size_t size, const char *format, va_list args)
{
    return print_cleaned((struct room) { .out = out, .size = size, .lines = true }, format, args);
}
