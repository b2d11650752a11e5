/* SPDX-License-Identifier: MIT */
/*
 * One case: a benchmark measured once in this process. Allocate, fill, check, warm up, sample,
 * check again. Whatever happens to the case becomes its outcome; -1 is for the tool's own
 * failures only.
 */
#ifndef HARNESS_MEASURE_CASE_H
#define HARNESS_MEASURE_CASE_H

#include "machine/clock_eye.h"
#include "machine/nvml.h"
#include "measure/problem.h"
#include "measure/profiling.h"
#include "measure/sampling.h"
#include "plugin/guests.h"
#include "process/counters.h"

#include <stdbool.h>

struct case_settings {
    struct sampling sampling;
    uint64_t seed;
    int64_t memory_limit;        /* bytes that a measuring process, with what it starts, may hold;
                                  * 0: what host/host_memory.h says when it starts */
    bool verify_only;            /* no timing; every output row is compared */
    struct problem *problem;     /* of the case before: taken where this one asks the same, and
                                  * left for the next. With verify_only; NULL: its own */
    double plant;                /* slow-down to plant, as a share; 0: none. See measure/plant.h */
    bool fixed_placement;        /* everything where it always is; else anew in each launch, see
                                  * device/memory_placement.h. For the launch alone */
    const struct nvml *gpu;      /* the device's, for telemetry; NULL: none */
    const struct clock_eye *eye; /* on its clock, in place of the usual one; for tests */
    struct counters *counters;   /* of this process's threads; NULL: nothing can be counted */
    const struct guests *guests; /* that benchmarks may be of; NULL: none. For the job alone */
    /* Told before each run of a program, so that its time limit is one of its own; may be NULL. */
    void (*alive)(void *context);
    void *alive_context;
    /* Where the time goes instead of how long it takes: the measurement is `<kernel>:all`, and
     * `profiled`, which the caller releases, gets the operations. NULL: ordinary. */
    const struct profiling *profiling;
    struct profiled *profiled;
};

/* Fills all of `m`; release it with measurement_release(). */
void case_measure(const struct benchmark *bench, struct device *device,
                  const struct case_settings *settings, struct measurement *m);

/* What `m` says before anything ran: name, work, footprint. */
void case_describe(const struct benchmark *bench, const struct device *device,
                   struct measurement *m);
/* The name alone: no code of the kernel runs. */
void case_name(const struct benchmark *bench, const struct device *device, struct measurement *m);

#endif
