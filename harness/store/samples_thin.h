/* SPDX-License-Identifier: MIT */
/*
 * A summary of a long series of samples: some of them, by rank, and how many there were. The
 * order in which they were measured is gone. Kept of n sorted samples, with ranks from 0:
 *
 *     the first 4 and the last 16
 *     16, 24, 32, 48, 64, 96 ... and as many from the last one
 *     floor(k (n - 1) / 100) for k = 0 .. 100, and the next one for k = 1, 5, 10, 15 ... 95, 99
 *
 * So least, largest and the percentiles 1, 5, 10 ... 95, 99 (Hyndman and Fan's type 7, which
 * stats_quantile() is) come out to the last digit; any other sample is put on the straight line
 * between its kept neighbours. Series of up to 101 samples are kept whole, in order of size.
 *
 *     byte 0    2, the version of this form (of store/samples.h)
 *     varint    number of samples n, at most SAMPLES_THIN_MAX
 *     varints   the kept samples in ascending order, each as its distance from the one before,
 *               the first from 0
 *
 * Which ranks are kept follows from n, so they are not written down.
 */
#ifndef HARNESS_STORE_SAMPLES_THIN_H
#define HARNESS_STORE_SAMPLES_THIN_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SAMPLES_THIN_MAX = 1 << 20 };

bool samples_are_thin(const unsigned char *blob, size_t length);
/* The blob, to be freed; *length gets its size. Sorts `samples`. NULL for more than
 * SAMPLES_THIN_MAX samples, or none. */
unsigned char *samples_thin(uint64_t *samples, size_t nr, size_t *length);
/* As samples_decode(): as many samples as there were, ascending. */
int samples_thin_decode(const unsigned char *blob, size_t length, uint64_t **samples, size_t *nr,
                        struct error *err);

#endif
