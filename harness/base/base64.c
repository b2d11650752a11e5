/* SPDX-License-Identifier: MIT */
#include "base/base64.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

size_t base64_length(size_t length)
{
    return (length + 2) / 3 * 4;
}

/* Up to three bytes as four letters. */
static void add_group(struct strbuf *out, const unsigned char *bytes, size_t nr)
{
    uint32_t bits = (uint32_t)bytes[0] << 16;
    char group[4];

    if (nr > 1)
        bits |= (uint32_t)bytes[1] << 8;
    if (nr > 2)
        bits |= bytes[2];
    for (size_t i = 0; i < 4; i++)
        group[i] = i <= nr ? letters[bits >> (18 - 6 * i) & 63] : '=';
    strbuf_add(out, group, sizeof(group));
}

void base64_add(struct strbuf *out, const void *bytes, size_t length)
{
    const unsigned char *from = bytes;

    for (; length >= 3; from += 3, length -= 3)
        add_group(out, from, 3);
    if (length > 0)
        add_group(out, from, length);
}

static int value_of(char c)
{
    const char *at = c ? strchr(letters, c) : NULL;

    return at ? (int)(at - letters) : -1;
}

/* Four letters, of which the last `padding` are '='. False where they are no such group, or have
 * bits that no byte has put there. */
static bool undo_group(struct strbuf *out, const char *group, size_t padding)
{
    uint32_t bits = 0;

    for (size_t i = 0; i < 4; i++) {
        int value = i < 4 - padding ? value_of(group[i]) : group[i] == '=' ? 0 : -1;
        if (value < 0)
            return false;
        bits = bits << 6 | (uint32_t)value;
    }
    if (bits & ((1u << 8 * padding) - 1))
        return false;
    for (size_t i = 0; i < 3 - padding; i++)
        strbuf_addc(out, (char)(bits >> (16 - 8 * i) & 0xff));
    return true;
}

int base64_undo(struct strbuf *out, const char *text, size_t length, struct error *err)
{
    if (length % 4 != 0)
        return error_set(err, "not base64: its length is no multiple of four");
    for (size_t i = 0; i < length; i += 4) {
        bool last = i + 4 == length;
        size_t padding = !last || text[i + 3] != '=' ? 0 : text[i + 2] != '=' ? 1 : 2;
        if (!undo_group(out, text + i, padding))
            return error_set(err, "not base64: at character %zu", i + 1);
    }
    return 0;
}
