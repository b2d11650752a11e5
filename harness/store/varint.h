/* SPDX-License-Identifier: MIT */
/* Inside store/ only: whole numbers of any size in few bytes, 7 bits a byte, lowest first, bit 7
 * set on all but the last byte (LEB128). */
#ifndef HARNESS_STORE_VARINT_H
#define HARNESS_STORE_VARINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VARINT_MAX = 10 }; /* bytes of the longest */

/* Gives how many bytes were written. */
static inline size_t varint_write(unsigned char *to, uint64_t value)
{
    size_t nr = 0;

    for (; value >= 0x80; value >>= 7)
        to[nr++] = (unsigned char)(value | 0x80);
    to[nr++] = (unsigned char)value;
    return nr;
}

/* Advances *from; false if the bytes end early, exceed 64 bits or are longer than needed. */
static inline bool varint_read(const unsigned char **from, const unsigned char *end,
                               uint64_t *value)
{
    const unsigned char *p = *from;

    *value = 0;
    for (unsigned shift = 0; p < end && shift < 64; shift += 7) {
        unsigned char byte = *p++;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte & 0x80)
            continue;
        *from = p;
        return (shift < 63 || byte <= 1) && (shift == 0 || byte != 0);
    }
    return false;
}

#endif
