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
