/* SPDX-License-Identifier: MIT */
/*
 * Hardware counters of a profiled case, in a pass of its own behind the timed iterations: CUPTI
 * replays each kernel until all counters are read, which leaves counts right and times useless.
 *
 * What comes out is a file, {"counters": {...}} of gputrace/kernel_totals.h, or {"reason": "..."}
 * where there are none to be had (another device, no CUPTI, a machine that keeps them to its
 * administrator): that is no failure of the case.
 */
#ifndef HARNESS_MEASURE_PROFILING_COUNTERS_H
#define HARNESS_MEASURE_PROFILING_COUNTERS_H

#include "gputrace/kernel_sequence.h"
#include "measure/profiling.h"

/* Where p->counters asks for it: runs a prepared call some times more, on its stream even where it
 * is replayed as a graph, and caches as they are. Nothing else may use CUPTI meanwhile. `kernels`
 * are those of one iteration; empty where they are not known. The file is
 * profiling_counters_file() in p->folder; -1 where it cannot be written. */
int profiling_count(const struct profiling *p, const struct profiled_call *what,
                    const struct kernel_sequence *kernels, struct error *err);

#endif
