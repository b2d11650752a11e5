/* SPDX-License-Identifier: MIT */
/*
 * Which samples stand for a long series of them, by rank. Kept of n sorted samples, with ranks from
 * 0:
 *
 *     the first 4 and the last 16
 *     16, 24, 32, 48, 64, 96 ... and as many from the last one
 *     floor(k (n - 1) / 100) for k = 0 .. 100, and the next one for k = 1, 5, 10, 15 ... 95, 99
 *
 * So least, largest and the percentiles 1, 5, 10 ... 95, 99 (Hyndman and Fan's type 7, which
 * stats_quantile() is) come out to the last digit. Series of up to 101 samples are kept whole.
 */
#ifndef HARNESS_STATS_THIN_SAMPLES_H
#define HARNESS_STATS_THIN_SAMPLES_H

#include <stddef.h>

enum { THIN_SAMPLES_MAX = 320 };

struct thin_samples {
    size_t ranks[THIN_SAMPLES_MAX]; /* ascending, each once */
    size_t nr;
};

/* Of n samples, which are at least one. */
struct thin_samples thin_samples_of(size_t n);

#endif
