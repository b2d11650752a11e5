/* SPDX-License-Identifier: MIT */
/*
 * A supervised set: cases measured by one program, in one fresh process if all goes well. A process
 * that dies or hangs costs the case in hand, which is FAILED (signal and last lines of its stderr);
 * the rest of the set goes on in another. What sweeps and A/B comparisons are made of.
 */
#ifndef HARNESS_LAUNCH_SUPERVISOR_H
#define HARNESS_LAUNCH_SUPERVISOR_H

#include "launch/launch.h"

struct supervised {
    struct measured_set what;    /* whose budget and `once` are not its own affair */
    const struct device *device; /* to name things by; the processes open their own */
    const double *plant;         /* of each benchmark, see struct job; NULL: none */
    const size_t *order;         /* the cases: nr indices in benchmarks */
    size_t nr;
};

/* Every case ends once, in order, unless interrupted. 0, also where it was interrupted. -1 where a
 * process could not be started or ended before its first case, or the sink failed; what was
 * finished has been handed up before. */
int supervisor_run(const struct supervised *set, const struct case_sink *sink, bool *interrupted,
                   struct error *err);

/* The last lines of what a process wrote before it ended; never NULL. */
const char *supervisor_last_words(const struct launch_result *r);

#endif
