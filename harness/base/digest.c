/* SPDX-License-Identifier: MIT */
#include "base/digest.h"

#include <stdio.h>
#include <string.h>

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
