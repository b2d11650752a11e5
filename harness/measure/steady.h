/* SPDX-License-Identifier: MIT */
/*
 * Samples of one clock (`--clock steady`). The clock is looked at from window to window; the
 * samples of one whose clock lies beyond 1 % of what it was at the end of warm-up are forgotten,
 * and others are taken, until too much time was spent on those.
 *
 * It holds no clock, and says nothing of what a clock did between two looks.
 */
#ifndef HARNESS_MEASURE_STEADY_H
#define HARNESS_MEASURE_STEADY_H

#include "core/record.h"
#include "machine/clock_eye.h"

#include <stdbool.h>
#include <stddef.h>

struct steady {
    bool on; /* off: every clock is right */
    struct clock_eye eye;
    double wanted; /* MHz */
    double most_lost_ns, lost_ns;
    size_t from;    /* the first sample of the window in hand ... */
    double from_ns; /* ... and the time that was measured before it */
    double low, high, sum;
    unsigned kept, again; /* windows */
    double last;
};

/* `mhz` as it was last, NaN: as it is now; at most `lost` s may be measured in vain. -1 where it
 * cannot be seen, as where `eye` is NULL. */
int steady_begin(struct steady *s, const struct clock_eye *eye, double mhz, double lost,
                 struct error *err);
/* After a sample, and with `now` at the end of a round, too: takes what does not count from the
 * samples and the time measured. */
void steady_look(struct steady *s, bool now, size_t *nr, double *elapsed_ns);
/* Whether more would be in vain. */
bool steady_is_lost(const struct steady *s);
/* Adds the clock, how far it strayed, and how many windows were measured again; -1 where it was
 * lost. */
int steady_end(const struct steady *s, struct measurement *m, struct error *err);

#endif
