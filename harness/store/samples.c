/* SPDX-License-Identifier: MIT */
#include "store/samples.h"

#include "base/memory.h"
#include "store/samples_thin.h"
#include "store/varint.h"

#include <stdlib.h>

enum { SAMPLES_VERSION = 1 };

static uint64_t zigzag(uint64_t delta)
{
    return (delta << 1) ^ (delta >> 63 ? UINT64_MAX : 0);
}

static uint64_t unzigzag(uint64_t z)
{
    return (z >> 1) ^ (z & 1 ? UINT64_MAX : 0);
}

unsigned char *samples_encode(const uint64_t *samples, size_t nr, size_t *length)
{
    unsigned char *blob = memory_zeroed(nr + 2, VARINT_MAX);
    unsigned char *p = blob;
    uint64_t last = 0;

    *p++ = SAMPLES_VERSION;
    p += varint_write(p, nr);
    for (size_t i = 0; i < nr; i++) {
        p += varint_write(p, zigzag(samples[i] - last));
        last = samples[i];
    }
    *length = (size_t)(p - blob);
    return blob;
}

int samples_decode(const unsigned char *blob, size_t length, uint64_t **samples, size_t *nr,
                   struct error *err)
{
    const unsigned char *p = blob, *end = blob + length;
    uint64_t count, z, last = 0;

    *samples = NULL;
    *nr = 0;
    if (samples_are_thin(blob, length))
        return samples_thin_decode(blob, length, samples, nr, err);
    if (length == 0 || *p++ != SAMPLES_VERSION)
        return error_set(err, "samples are in an unknown format");
    /* Each sample takes at least a byte, so a count that lies cannot ask for much memory. */
    if (!varint_read(&p, end, &count) || count > (uint64_t)(end - p))
        return error_set(err, "samples are damaged: bad count");
    uint64_t *series = count ? memory_zeroed((size_t)count, sizeof(*series)) : NULL;
    for (uint64_t i = 0; i < count; i++) {
        if (!varint_read(&p, end, &z)) {
            free(series);
            return error_set(err, "samples are damaged at number %llu", (unsigned long long)i);
        }
        series[i] = last += unzigzag(z); /* analyzer: there is one where there are samples */
    }
    if (p != end) {
        free(series);
        return error_set(err, "samples are damaged: %zu bytes too many", (size_t)(end - p));
    }
    *samples = series;
    *nr = (size_t)count;
    return 0;
}
