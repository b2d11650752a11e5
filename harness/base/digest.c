/* SPDX-License-Identifier: MIT */
#include "base/digest.h"

#include <stdio.h>
#include <string.h>

/* ---- FNV-1a ---- */

void digest_init(struct digest *d)
{
    *d = (struct digest) { 0x6c62272e07bb0142U, 0x62b821756295c58dU };
}

void digest_add(struct digest *d, const void *bytes, size_t length)
{
    const unsigned char *b = bytes;
    __extension__ unsigned __int128 h = (unsigned __int128)d->high << 64 | d->low;

    for (size_t i = 0; i < length; i++) {
        h ^= b[i];
        h = (h << 88) + h * 0x13b; /* times FNV's prime, 2^88 + 0x13b */
    }
    d->high = (uint64_t)(h >> 64);
    d->low = (uint64_t)h;
}

void digest_add_text(struct digest *d, const char *text)
{
    digest_add(d, text ? text : "", text ? strlen(text) + 1 : 1);
}

void digest_text(const struct digest *d, char text[DIGEST_TEXT_SIZE])
{
    snprintf(text, DIGEST_TEXT_SIZE, "%016llx%016llx", (unsigned long long)d->high,
             (unsigned long long)d->low);
}

void digest_uuid(const struct digest *d, char text[37])
{
    unsigned version = ((unsigned)d->high & 0x0fffU) | 0x8000U;
    unsigned variant = ((unsigned)(d->low >> 48) & 0x3fffU) | 0x8000U;

    snprintf(text, 37, "%08x-%04x-%04x-%04x-%012llx", (unsigned)(d->high >> 32),
             (unsigned)(d->high >> 16) & 0xffff, version, variant,
             (unsigned long long)(d->low & 0xffffffffffffU));
}

/* ---- XXH64 ---- */

/* The specification's primes. */
static const uint64_t P1 = 0x9E3779B185EBCA87U, P2 = 0xC2B2AE3D27D4EB4FU, P3 = 0x165667B19E3779F9U,
                      P4 = 0x85EBCA77C2B2AE63U, P5 = 0x27D4EB2F165667C5U;

enum { STRIPE = 32, LANES = 4 };

static uint64_t read_le64(const unsigned char *p)
{
    uint64_t value;

    memcpy(&value, p, sizeof(value));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    return value;
}

static uint64_t read_le32(const unsigned char *p)
{
    return p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24;
}

static uint64_t rotate_left(uint64_t value, int bits)
{
    return value << bits | value >> (64 - bits);
}

static uint64_t mix_lane(uint64_t lane, uint64_t input)
{
    return rotate_left(lane + input * P2, 31) * P1;
}

static uint64_t add_stripes(const unsigned char **p, const unsigned char *end, uint64_t seed)
{
    uint64_t lanes[LANES] = { seed + P1 + P2, seed + P2, seed, seed - P1 };

    for (; end - *p >= STRIPE; *p += STRIPE)
        for (int i = 0; i < LANES; i++)
            lanes[i] = mix_lane(lanes[i], read_le64(*p + (size_t)8 * (size_t)i));
    uint64_t sum = rotate_left(lanes[0], 1) + rotate_left(lanes[1], 7) + rotate_left(lanes[2], 12) +
                   rotate_left(lanes[3], 18);
    for (int i = 0; i < LANES; i++)
        sum = (sum ^ mix_lane(0, lanes[i])) * P1 + P4;
    return sum;
}

static uint64_t add_rest(uint64_t sum, const unsigned char *p, const unsigned char *end)
{
    for (; end - p >= 8; p += 8)
        sum = rotate_left(sum ^ mix_lane(0, read_le64(p)), 27) * P1 + P4;
    if (end - p >= 4) {
        sum = rotate_left(sum ^ read_le32(p) * P1, 23) * P2 + P3;
        p += 4;
    }
    for (; p < end; p++)
        sum = rotate_left(sum ^ *p * P5, 11) * P1;
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
