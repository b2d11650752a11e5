/* SPDX-License-Identifier: MIT */
#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

static size_t length_of(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if ((first & 0xe0) == 0xc0)
        return 2;
    if ((first & 0xf0) == 0xe0)
        return 3;
    return (first & 0xf8) == 0xf0 ? 4 : 0;
}

size_t utf8_decode(const char *text, uint32_t *code)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const unsigned char *s = (const unsigned char *)text;
    size_t length = length_of(s[0]);

    if (length == 0)
        return 0;
    *code = length == 1 ? s[0] : s[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80) /* the NUL at the end is no continuation either */
            return 0;
        *code = *code << 6 | (s[i] & 0x3fu);
    }
    bool surrogate = *code >= 0xd800 && *code <= 0xdfff;
    return *code < least[length] || *code > 0x10ffff || surrogate ? 0 : length;
}

void utf8_copy(char *to, size_t size, const char *text)
{
    size_t end = strnlen(text, size - 1);

    /* Behind the last byte that begins a character. */
    while (text[end] && end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80)
        end--;
    memcpy(to, text, end);
    to[end] = '\0';
}

void utf8_mend(char *text)
{
    while (*text) {
        uint32_t code;
        size_t length = utf8_decode(text, &code);
        if (length == 0)
            *text = '?';
        text += length ? length : 1;
    }
}

/* ---- columns ---- */

bool code_is_in(uint32_t code, const struct code_range *ranges, size_t nr)
{
    for (size_t i = 0; i < nr; i++)
        if (code >= ranges[i].first && code <= ranges[i].last)
            return true;
    return false;
}

/*
 * From the Unicode Character Database 15.0. Of no width are marks of the categories Mn and Me, of
 * all scripts in general and of those that many write, and the vowels and final consonants of
 * Hangul that is taken apart, which join the syllable before. Wide is what EastAsianWidth.txt has
 * as W or F, which are emoji that are shown as pictures, too. A flag is two letters of one column
 * each.
 */
static const struct code_range marks[] = {
    { 0x0300, 0x036f },   { 0x0483, 0x0489 }, { 0x0591, 0x05bd }, { 0x05bf, 0x05bf },
    { 0x05c1, 0x05c2 },   { 0x05c4, 0x05c5 }, { 0x05c7, 0x05c7 }, { 0x0610, 0x061a },
    { 0x064b, 0x065f },   { 0x0670, 0x0670 }, { 0x06d6, 0x06dc }, { 0x06df, 0x06e4 },
    { 0x06e7, 0x06e8 },   { 0x06ea, 0x06ed }, { 0x0900, 0x0902 }, { 0x093a, 0x093a },
    { 0x093c, 0x093c },   { 0x0941, 0x0948 }, { 0x094d, 0x094d }, { 0x0951, 0x0957 },
    { 0x0962, 0x0963 },   { 0x0e31, 0x0e31 }, { 0x0e34, 0x0e3a }, { 0x0e47, 0x0e4e },
    { 0x1161, 0x11ff },   { 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff }, { 0x20d0, 0x20ff },
    { 0x302a, 0x302d },   { 0x3099, 0x309a }, { 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f },
    { 0xe0100, 0xe01ef },
};

static const struct code_range wide[] = {
    { 0x1100, 0x115f },   { 0x231a, 0x231b },   { 0x2329, 0x232a },   { 0x23e9, 0x23ec },
    { 0x23f0, 0x23f0 },   { 0x23f3, 0x23f3 },   { 0x25fd, 0x25fe },   { 0x2614, 0x2615 },
    { 0x2648, 0x2653 },   { 0x267f, 0x267f },   { 0x2693, 0x2693 },   { 0x26a1, 0x26a1 },
    { 0x26aa, 0x26ab },   { 0x26bd, 0x26be },   { 0x26c4, 0x26c5 },   { 0x26ce, 0x26ce },
    { 0x26d4, 0x26d4 },   { 0x26ea, 0x26ea },   { 0x26f2, 0x26f3 },   { 0x26f5, 0x26f5 },
    { 0x26fa, 0x26fa },   { 0x26fd, 0x26fd },   { 0x2705, 0x2705 },   { 0x270a, 0x270b },
    { 0x2728, 0x2728 },   { 0x274c, 0x274c },   { 0x274e, 0x274e },   { 0x2753, 0x2755 },
    { 0x2757, 0x2757 },   { 0x2795, 0x2797 },   { 0x27b0, 0x27b0 },   { 0x27bf, 0x27bf },
    { 0x2b1b, 0x2b1c },   { 0x2b50, 0x2b50 },   { 0x2b55, 0x2b55 },   { 0x2e80, 0x303e },
    { 0x3041, 0x3247 },   { 0x3250, 0x4dbf },   { 0x4e00, 0xa4cf },   { 0xa960, 0xa97c },
    { 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },   { 0xfe10, 0xfe19 },   { 0xfe30, 0xfe6f },
    { 0xff01, 0xff60 },   { 0xffe0, 0xffe6 },   { 0x16fe0, 0x1b2ff }, { 0x1f004, 0x1f004 },
    { 0x1f0cf, 0x1f0cf }, { 0x1f18e, 0x1f18e }, { 0x1f191, 0x1f19a }, { 0x1f200, 0x1f320 },
    { 0x1f32d, 0x1f335 }, { 0x1f337, 0x1f37c }, { 0x1f37e, 0x1f393 }, { 0x1f3a0, 0x1f3ca },
    { 0x1f3cf, 0x1f3d3 }, { 0x1f3e0, 0x1f3f0 }, { 0x1f3f4, 0x1f3f4 }, { 0x1f3f8, 0x1f43e },
    { 0x1f440, 0x1f440 }, { 0x1f442, 0x1f4fc }, { 0x1f4ff, 0x1f53d }, { 0x1f54b, 0x1f54e },
    { 0x1f550, 0x1f567 }, { 0x1f57a, 0x1f57a }, { 0x1f595, 0x1f596 }, { 0x1f5a4, 0x1f5a4 },
    { 0x1f5fb, 0x1f64f }, { 0x1f680, 0x1f6c5 }, { 0x1f6cc, 0x1f6cc }, { 0x1f6d0, 0x1f6d2 },
    { 0x1f6d5, 0x1f6df }, { 0x1f6eb, 0x1f6ef }, { 0x1f6f4, 0x1f6ff }, { 0x1f7e0, 0x1f7eb },
    { 0x1f7f0, 0x1f7f0 }, { 0x1f90c, 0x1f93a }, { 0x1f93c, 0x1f945 }, { 0x1f947, 0x1f9ff },
    { 0x1fa70, 0x1faff }, { 0x20000, 0x3fffd },
};

int columns_of(uint32_t code)
{
    if (code < marks[0].first) /* nearly all text */
        return 1;
    if (CODE_IS_IN(code, marks))
        return 0;
    return CODE_IS_IN(code, wide) ? 2 : 1;
}
