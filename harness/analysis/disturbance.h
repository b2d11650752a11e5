/* SPDX-License-Identifier: MIT */
/*
 * Measurements of a run beside which the machine itself was slower: the probe, the same work in as
 * many threads, took longer there than in the quiet tenth of the run. On a virtual machine two
 * processors may be one core for a minute, at all of their processor time; nothing else tells.
 */
#ifndef HARNESS_ANALYSIS_DISTURBANCE_H
#define HARNESS_ANALYSIS_DISTURBANCE_H

#include "core/record.h"

#include <stddef.h>

/* So many times the quiet time of the probe: between the 10 % by which it differs of itself and the
 * factor of two of a shared core. */
#define DISTURBANCE_LIMIT 1.25

struct disturbance {
    size_t probed, disturbed; /* measurements that have a probe; those above the limit */
    double worst;             /* the slowest probe, in quiet times; NaN if none was probed */
};

/* Of run `run`, an index into records->runs. */
void disturbance_find(const struct records *records, int run, struct disturbance *d);

#endif
