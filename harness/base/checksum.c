/* SPDX-License-Identifier: MIT */
#include "base/checksum.h"

#include <string.h>

/* The specification's primes. */
static const uint64_t P1 = 0x9E3779B185EBCA87U, P2 = 0xC2B2AE3D27D4EB4FU, P3 = 0x165667B19E3779F9U,
                      P4 = 0x85EBCA77C2B2AE63U, P5 = 0x27D4EB2F165667C5U;

enum { STRIPE = 32, LANES = 4 };

static uint64_t read64(const unsigned char *p)
{
    uint64_t value;

    memcpy(&value, p, sizeof(value));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    return value;
}

static uint64_t read32(const unsigned char *p)
{
    return p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24;
}

static uint64_t turn(uint64_t value, int bits)
{
    return value << bits | value >> (64 - bits);
}

static uint64_t mix(uint64_t lane, uint64_t input)
{
    return turn(lane + input * P2, 31) * P1;
}

static uint64_t add_stripes(const unsigned char **p, const unsigned char *end, uint64_t seed)
{
    uint64_t lanes[LANES] = { seed + P1 + P2, seed + P2, seed, seed - P1 };

    for (; end - *p >= STRIPE; *p += STRIPE)
        for (int i = 0; i < LANES; i++)
            lanes[i] = mix(lanes[i], read64(*p + (size_t)8 * (size_t)i));
    uint64_t sum = turn(lanes[0], 1) + turn(lanes[1], 7) + turn(lanes[2], 12) + turn(lanes[3], 18);
    for (int i = 0; i < LANES; i++)
        sum = (sum ^ mix(0, lanes[i])) * P1 + P4;
    return sum;
}

static uint64_t add_rest(uint64_t sum, const unsigned char *p, const unsigned char *end)
{
    for (; end - p >= 8; p += 8)
        sum = turn(sum ^ mix(0, read64(p)), 27) * P1 + P4;
    if (end - p >= 4) {
        sum = turn(sum ^ read32(p) * P1, 23) * P2 + P3;
        p += 4;
    }
    for (; p < end; p++)
        sum = turn(sum ^ *p * P5, 11) * P1;
    return sum;
}

uint64_t checksum_xxh64(const void *bytes, size_t length, uint64_t seed)
{
    const unsigned char *p = bytes, *end = p + length;
    uint64_t sum = length >= STRIPE ? add_stripes(&p, end, seed) : seed + P5;

    sum = add_rest(sum + length, p, end);
    sum = (sum ^ sum >> 33) * P2;
    sum = (sum ^ sum >> 29) * P3;
    return sum ^ sum >> 32;
}
