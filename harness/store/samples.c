/* SPDX-License-Identifier: MIT */
#include "store/samples.h"

#include "base/memory.h"
#include "stats/thin_samples.h"

#include <stdlib.h>

/* ---- whole numbers ---- */

/* Whole numbers of any size in few bytes, 7 bits a byte, lowest first, bit 7 set on all but the
 * last byte (LEB128). */
enum { VARINT_MAX = 10 }; /* bytes of the longest */

/* Gives how many bytes were written. */
static size_t varint_write(unsigned char *to, uint64_t value)
{
    size_t nr = 0;

    for (; value >= 0x80; value >>= 7)
        to[nr++] = (unsigned char)(value | 0x80);
    to[nr++] = (unsigned char)value;
    return nr;
}

/* Advances *from; false if the bytes end early, exceed 64 bits or are longer than needed. */
static bool varint_read(const unsigned char **from, const unsigned char *end, uint64_t *value)
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

/* ---- all of them ---- */

enum { SAMPLES_VERSION = 1 };

static uint64_t zigzag_encode(uint64_t delta)
{
    return (delta << 1) ^ (delta >> 63 ? UINT64_MAX : 0);
}

static uint64_t zigzag_decode(uint64_t z)
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
        p += varint_write(p, zigzag_encode(samples[i] - last));
        last = samples[i];
    }
    *length = (size_t)(p - blob);
    return blob;
}

/* ---- a summary ---- */

enum { THIN_VERSION = 2 };

static int order_samples(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

    return (a > b) - (a < b);
}

bool samples_are_thin(const unsigned char *blob, size_t length)
{
    return length > 0 && blob[0] == THIN_VERSION;
}

unsigned char *samples_thin(uint64_t *samples, size_t nr, size_t *length)
{
    if (nr == 0 || nr > SAMPLES_THIN_MAX)
        return NULL;
    struct thin_samples kept = thin_samples_of(nr);
    unsigned char *blob = memory_zeroed(kept.nr + 2, VARINT_MAX);
    unsigned char *p = blob;
    uint64_t last = 0;

    qsort(samples, nr, sizeof(*samples), order_samples);
    *p++ = THIN_VERSION;
    p += varint_write(p, nr);
    for (size_t i = 0; i < kept.nr; i++) {
        p += varint_write(p, samples[kept.ranks[i]] - last);
        last = samples[kept.ranks[i]];
    }
    *length = (size_t)(p - blob);
    return blob;
}

/* Fills in what lies between two kept samples. */
static void draw_line(uint64_t *series, size_t from, size_t to)
{
    double rise = (double)(series[to] - series[from]) / (double)(to - from);

    for (size_t i = from + 1; i < to; i++)
        series[i] = series[from] + (uint64_t)(rise * (double)(i - from) + 0.5);
}

/* As samples_decode(): as many samples as there were, ascending. */
static int samples_thin_decode(const unsigned char *blob, size_t length, uint64_t **samples,
                               size_t *nr, struct error *err)
{
    const unsigned char *p = blob + 1, *end = blob + length;
    uint64_t count, distance, last = 0;

    *samples = NULL;
    *nr = 0;
    if (!varint_read(&p, end, &count) || count == 0 || count > SAMPLES_THIN_MAX)
        return error_set(err, "the summary of samples is damaged: bad count");
    struct thin_samples kept = thin_samples_of((size_t)count);
    uint64_t *series = memory_zeroed((size_t)count, sizeof(*series));
    for (size_t i = 0; i < kept.nr; i++) {
        if (!varint_read(&p, end, &distance) || distance > UINT64_MAX - last) {
            free(series);
            return error_set(err, "the summary of samples is damaged at number %zu", i);
        }
        series[kept.ranks[i]] = last += distance;
        if (i > 0)
            draw_line(series, kept.ranks[i - 1], kept.ranks[i]);
    }
    if (p != end) {
        free(series);
        return error_set(err, "the summary of samples is damaged: %zu bytes too many",
                         (size_t)(end - p));
    }
    *samples = series;
    *nr = (size_t)count;
    return 0;
}

/* ---- either ---- */

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
        series[i] = last += zigzag_decode(z); /* analyzer: there is one where there are samples */
    }
    if (p != end) {
        free(series);
        return error_set(err, "samples are damaged: %zu bytes too many", (size_t)(end - p));
    }
    *samples = series;
    *nr = (size_t)count;
    return 0;
}
