/* SPDX-License-Identifier: MIT */
#include "figure/fonts.h"

#include "base/array.h"
#include "base/clean.h"
#include "base/utf8.h"
#include "process/process.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FONTS_TIMEOUT_S = 60, CHARACTER_MAX = 4 };

struct fonts_ranges {
    struct code_range *items;
    size_t nr, capacity;
};

/* What DejaVu Sans has without a gap: nearly all figures have these alone, and nobody need be
 * asked. */
static bool fonts_is_usual(uint32_t code)
{
    static const struct code_range usual[] = { { 0, 0x2e9 },       { 0x38e, 0x3a1 },
                                               { 0x3a3, 0x525 },   { 0x2000, 0x2064 },
                                               { 0x2190, 0x2311 }, { 0x2500, 0x269c } };

    return CODE_IS_IN(code, usual);
}

/* The character at `text`, NUL-ended, and its code; returns its bytes, 1 where it is none. */
static size_t fonts_next(const char *text, char character[CHARACTER_MAX + 1], uint32_t *code)
{
    size_t length = utf8_decode(text, code);

    if (length == 0) {
        *code = 0;
        length = 1;
    }
    memcpy(character, text, length);
    character[length] = '\0';
    return length;
}

/* "20-7e a0 3a3-525 ...", as fontconfig writes what a font has. */
static void fonts_read_ranges(const char *text, struct fonts_ranges *ranges)
{
    char *end;

    for (;; text = end) {
        struct code_range range = { .first = (uint32_t)strtoul(text, &end, 16) };
        if (end == text)
            return;
        range.last = *end == '-' ? (uint32_t)strtoul(end + 1, &end, 16) : range.first;
        *array_push(ranges) = range;
    }
}

/* All that the fonts of this machine have; nothing where nobody says it. Bitmap fonts do not count:
 * pango draws none. */
static void fonts_ask(struct fonts_ranges *ranges)
{
    const char *argv[] = { "fc-list", "-f", "%{charset}\n", ":scalable=true", NULL };
    const struct process p = { .argv = argv, .timeout = FONTS_TIMEOUT_S };
    struct process_result result;
    struct strbuf said, errors;
    struct error err;

    strbuf_init(&said);
    strbuf_init(&errors);
    if (process_run(&p, &said, &errors, &result, &err) == 0 && result.end == PROCESS_EXITED &&
        result.status == 0)
        fonts_read_ranges(said.data, ranges);
    strbuf_release(&said);
    strbuf_release(&errors);
}

static bool fonts_have(const struct fonts_ranges *ranges, const char *character, uint32_t code)
{
    if (ranges->nr)
        return code_is_in(code, ranges->items, ranges->nr);
    return code <= 0xffff && clean_columns(character) < 2;
}

/* Each character that is not usual, once. */
static void fonts_add_unusual(const char *text, struct strbuf *unusual)
{
    char character[CHARACTER_MAX + 1];
    uint32_t code;

    while (*text) {
        text += fonts_next(text, character, &code);
        if (!fonts_is_usual(code) && !strstr(unusual->data, character))
            strbuf_adds(unusual, character);
    }
}

void fonts_lack(const char *text, struct strbuf *lacking)
{
    struct fonts_ranges ranges = { 0 };
    char character[CHARACTER_MAX + 1];
    struct strbuf unusual;
    uint32_t code;

    strbuf_init(&unusual);
    fonts_add_unusual(text, &unusual);
    if (unusual.length)
        fonts_ask(&ranges);
    for (const char *at = unusual.data; *at;) {
        at += fonts_next(at, character, &code);
        if (!fonts_have(&ranges, character, code))
            strbuf_adds(lacking, character);
    }
    array_release(&ranges);
    strbuf_release(&unusual);
}

void fonts_box(const char *text, const char *lacking, struct strbuf *out)
{
    char character[CHARACTER_MAX + 1];
    uint32_t code;

    while (*text) {
        text += fonts_next(text, character, &code);
        strbuf_adds(out, code > 0x7f && strstr(lacking, character) ? FONTS_BOX : character);
    }
}
