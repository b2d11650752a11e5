/* SPDX-License-Identifier: MIT */
/*
 * How long to measure. Sampling ends when the median is known well enough, or when time or count
 * run out; which of these it was is kept with the samples.
 *
 * Precision rule: half the width of the 95 % order-statistic interval of the median, relative to
 * the median (stats/stats.h). It bounds the error of the median, not the spread of the samples: a
 * wide but stable distribution may end early, a drifting one does not end sooner for it. The
 * interval speaks for this process only; comparisons use whole launches (verdict/compare.h).
 */
#ifndef HARNESS_MEASURE_SAMPLING_H
#define HARNESS_MEASURE_SAMPLING_H

#include "base/error.h"
#include "core/record.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sampling {
    double min_time, max_time; /* s of measured time (and of flushing caches), without warm-up */
    double warmup;             /* s, at least; goes on until settled, see measure/warmup.h ... */
    double warmup_limit;       /* ... at most this long; 0: the usual */
    bool steady;               /* samples of one clock alone, see measure/steady.h */
    double precision;          /* wanted relative half-width, 0.01 = 1 % */
    int64_t min_samples, max_samples;
    int64_t iterations; /* exactly so many samples, if > 0; the rest is ignored then */
    /* For programs that take turns with others: every run is a fresh process that is checked for
     * itself, so the first counts, too, and one may be enough. */
    bool unwarmed;
};

extern const struct sampling sampling_default;

/* Overwrites what the object has; unknown keys, other types and values that make no sense are
 * errors. Times are seconds or texts like "20ms", the precision may be "1%". */
int sampling_from_json(const cJSON *json, struct sampling *s, struct error *err);
cJSON *sampling_to_json(const struct sampling *s);

/* The rule that ends sampling now, or STOP_NONE. `elapsed` is measured time in s. */
enum stop_rule sampling_decide(const struct sampling *s, const uint64_t *samples, size_t nr,
                               double elapsed);

/* How many launches make a sample: 200 clock steps or more, a power of two. */
unsigned sampling_batch(double launch_ns, double clock_step_ns);

#endif
