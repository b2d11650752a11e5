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
    const struct device *device; /* to name things by; the processes open their own */
    struct launch_limits limits;
    struct case_settings settings;
    const struct benchmark *benchmarks;
    const double *plant; /* of each benchmark, see struct job; NULL: none */
    const size_t *order; /* the cases: nr indices in benchmarks */
    size_t nr;
};

struct supervisor_sink {
    void *context;
    /* Around each process; the first may be NULL. `r` tells how it ended. */
    int (*process_begin)(void *context, struct error *err);
    int (*process_end)(void *context, const struct launch_result *r, struct error *err);
    /* A case, by the key of its benchmark, starts. */
    void (*begin)(void *context, const char *key);
    /* Every case once, in order, unless interrupted; `which` is an index in benchmarks. The sink
     * may take what `m` owns. */
    int (*end)(void *context, size_t which, struct measurement *m, struct error *err);
    /* Each operation of a profiled case, behind its measurement; may be NULL. */
    int (*operation)(void *context, size_t which, struct measurement *m, struct error *err);
};

/* 0, also where it was interrupted. -1 where a process could not be started or ended before its
 * first case, or the sink failed; what was finished has been handed up before. */
int supervisor_run(const struct supervised *set, const struct supervisor_sink *sink,
                   bool *interrupted, struct error *err);

/* How a process ended, as history keeps it: the first that went wrong stays. */
void supervisor_note_end(struct launch *l, const struct launch_result *r);
/* The last lines of what a process wrote before it ended; never NULL. */
const char *supervisor_last_words(const struct launch_result *r);

#endif
