/* SPDX-License-Identifier: MIT */
/*
 * When warm-up ends: launches before the first sample, until their times are stable, for at least
 * the time that was asked for and at most four times as long.
 */
#ifndef HARNESS_MEASURE_WARMUP_H
#define HARNESS_MEASURE_WARMUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct warmup {
    double wanted_ns, look_at_ns; /* of measured time; when the times are looked at next */
};

void warmup_begin(struct warmup *w, double seconds);
/* After each launch: may it end? `samples`: the times of all so far, ns, in their order. */
bool warmup_over(struct warmup *w, const uint64_t *samples, size_t nr, double elapsed_ns);
/* The median of the newer half lies within 2 % of that of the older. */
bool warmup_is_stable(const uint64_t *samples, size_t nr);
/* Of the newer half, ns: the older may still be cold. At least one sample. */
double warmup_median(const uint64_t *samples, size_t nr);

#endif
