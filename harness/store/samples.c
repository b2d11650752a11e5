/* SPDX-License-Identifier: MIT */
#include "store/samples.h"

#include "base/memory.h"

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

/* ---- a summary ---- */

enum { THIN_VERSION = 2, FIRST = 4, LAST = 16, PERCENTILES = 100, RANKS_MAX = 320 };

struct ranks {
    size_t items[RANKS_MAX]; /* ascending */
    size_t nr;
};

static int order_sizes(const void *x, const void *y)
{
    size_t a = *(const size_t *)x, b = *(const size_t *)y;

    return (a > b) - (a < b);
}

static int order_samples(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

    return (a > b) - (a < b);
}

/* Those percentiles whose upper neighbour is kept too, so that they are exact. */
static bool is_exact(size_t k)
{
    return k % 5 == 0 || k == 1 || k == PERCENTILES - 1;
}

static void add_rank(struct ranks *ranks, size_t rank, size_t n)
{
    if (rank < n)
        ranks->items[ranks->nr++] = rank;
}

static struct ranks ranks_of(size_t n)
{
    struct ranks ranks = { .nr = 0 };
    size_t distinct = 0;

    for (size_t i = 0; i < FIRST; i++)
        add_rank(&ranks, i, n);
    for (size_t i = 1; i <= LAST && i <= n; i++)
        add_rank(&ranks, n - i, n);
    for (size_t k = 0; k <= PERCENTILES; k++) {
        size_t rank = k * (n - 1) / PERCENTILES;
        add_rank(&ranks, rank, n);
        if (is_exact(k))
            add_rank(&ranks, rank + 1, n);
    }
    for (size_t step = LAST; step < n; step *= 2) { /* closer together towards both ends */
        add_rank(&ranks, step, n);
        add_rank(&ranks, step + step / 2, n);
        add_rank(&ranks, n - 1 - step, n);
        add_rank(&ranks, n - 1 - step - step / 2, n); /* below 0: beyond n, as unsigned */
    }
    qsort(ranks.items, ranks.nr, sizeof(*ranks.items), order_sizes);
    for (size_t i = 0; i < ranks.nr; i++)
        if (i == 0 || ranks.items[i] != ranks.items[distinct - 1])
            ranks.items[distinct++] = ranks.items[i];
    ranks.nr = distinct;
    return ranks;
}

bool samples_are_thin(const unsigned char *blob, size_t length)
{
    return length > 0 && blob[0] == THIN_VERSION;
}

unsigned char *samples_thin(uint64_t *samples, size_t nr, size_t *length)
{
    if (nr == 0 || nr > SAMPLES_THIN_MAX)
        return NULL;
    struct ranks ranks = ranks_of(nr);
    unsigned char *blob = memory_zeroed(ranks.nr + 2, VARINT_MAX);
    unsigned char *p = blob;
    uint64_t last = 0;

    qsort(samples, nr, sizeof(*samples), order_samples);
    *p++ = THIN_VERSION;
    p += varint_write(p, nr);
    for (size_t i = 0; i < ranks.nr; i++) {
        p += varint_write(p, samples[ranks.items[i]] - last);
        last = samples[ranks.items[i]];
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

int samples_thin_decode(const unsigned char *blob, size_t length, uint64_t **samples, size_t *nr,
                        struct error *err)
{
    const unsigned char *p = blob + 1, *end = blob + length;
    uint64_t count, distance, last = 0;

    *samples = NULL;
    *nr = 0;
    if (!varint_read(&p, end, &count) || count == 0 || count > SAMPLES_THIN_MAX)
        return error_set(err, "the summary of samples is damaged: bad count");
    struct ranks ranks = ranks_of((size_t)count);
    uint64_t *series = memory_zeroed((size_t)count, sizeof(*series));
    for (size_t i = 0; i < ranks.nr; i++) {
        if (!varint_read(&p, end, &distance) || distance > UINT64_MAX - last) {
            free(series);
            return error_set(err, "the summary of samples is damaged at number %zu", i);
        }
        series[ranks.items[i]] = last += distance;
        if (i > 0)
            draw_line(series, ranks.items[i - 1], ranks.items[i]);
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
