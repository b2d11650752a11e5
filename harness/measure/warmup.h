/* SPDX-License-Identifier: MIT */
/*
 * When warm-up ends: launches before the first sample, until they have settled, for at least the
 * time that was asked for and at most a limit.
 *
 * They are looked at in windows, each at least a third as long as all before it. Settled: in the
 * last three windows the medians of the launches' times lie within 2 % of each other, and so do the
 * clock (2 %) and the power (5 %) at their ends, where these can be seen.
 */
#ifndef HARNESS_MEASURE_WARMUP_H
#define HARNESS_MEASURE_WARMUP_H

#include "core/record.h"
#include "machine/clock_eye.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WARMUP_WINDOWS = 3 };

struct warmup_rule {
    double least, most, window;  /* s of measured time */
    const struct clock_eye *eye; /* NULL: neither clock nor power can be seen */
};

/* That of a case: `least` at least; `most` 0 stands for four times that, and for a second where
 * the GPU's clock and power are seen, which need longer. */
struct warmup_rule warmup_rule(double least, double most, const struct clock_eye *eye);

struct warmup {
    struct warmup_rule rule;
    size_t from;    /* the first sample of the window in hand ... */
    double from_ns; /* ... and the time that was measured before it */
    int nr;         /* windows so far; the last of them: */
    double median[WARMUP_WINDOWS];
    struct clock_seen seen[WARMUP_WINDOWS];
    double elapsed_ns;
};

void warmup_begin(struct warmup *w, const struct warmup_rule *rule);
/* After each launch: may it end? `samples`: the times of all so far, ns, in their order. */
bool warmup_over(struct warmup *w, const uint64_t *samples, size_t nr, double elapsed_ns);
bool warmup_settled(const struct warmup *w);
/* The clock in MHz as it was at the end; NaN where it cannot be seen. */
double warmup_mhz(const struct warmup *w);
/* Adds how long it took and whether it settled, which of fewer windows nobody knows: where launches
 * are as long as the limit. */
void warmup_tell(const struct warmup *w, struct measurement *m);
/* Of the newer half, ns: the older may still be cold. At least one sample. */
double warmup_median(const uint64_t *samples, size_t nr);

#endif
