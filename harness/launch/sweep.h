/* SPDX-License-Identifier: MIT */
/*
 * A sweep: a list of benchmarks, measured in a number of launches, in a fresh random order in
 * each. Results go up through a sink (launch/sink.h); launch/ knows no database.
 *
 * A child that dies or hangs: its case is FAILED (signal and last lines of its stderr), and the
 * rest of that launch goes on in a new process, which is a launch of its own. A case that FAILED
 * or is UNSUPPORTED is not tried again in later launches. Of several devices each has processes,
 * and so launches, of its own: in each round one after the other, in a fresh random order, too, so
 * that what drifts with time does not stand between them. What was disturbed is made again behind
 * all launches (launch/remeasure.h), and handed up then.
 */
#ifndef HARNESS_LAUNCH_SWEEP_H
#define HARNESS_LAUNCH_SWEEP_H

#include "launch/launch.h"
#include "launch/sink.h"

struct sweep_progress {
    size_t done, total;   /* cases over all launches */
    int launch, launches; /* 1-based */
    double elapsed, left; /* s; left is an estimate, NaN at first */
    const char *key;      /* the case that starts now */
};

struct sweep {
    struct measured_set what;
    const int *device_of; /* of each benchmark, which of the devices; NULL: all have the first */
    int launches;
    bool in_order;       /* as listed, where the order has no say in the results */
    const double *plant; /* of each benchmark, see struct job; NULL: none */

    void *context; /* of the three below, each of which may be NULL */
    void (*progress)(void *context, const struct sweep_progress *p);
    /* For who decides from round to round what is to be measured. Behind each round of launches,
     * when all of it is handed up ... */
    int (*round_end)(void *context, struct error *err);
    /* ... and before each, of every benchmark, by its index. A sweep ends where none is wanted. */
    bool (*wants)(void *context, size_t which);
};

enum sweep_end { SWEEP_DONE, SWEEP_BUDGET, SWEEP_INTERRUPTED };

/* -1 where a process could not be started or the sink failed; what was finished has been handed
 * up before. */
int sweep_run(const struct sweep *sweep, const struct measurement_sink *sink, enum sweep_end *end,
              struct error *err);

/* Measures the roofs of the device, ROOFS_MAX at most, in a fresh process. Returns their number or
 * -1. */
int sweep_roofs(const char *device_spec, struct roof *out, const volatile sig_atomic_t *interrupted,
                struct error *err);

#endif
