/* SPDX-License-Identifier: MIT */
/*
 * One benchmark measured again on both sides with scopes on: pairs of fresh processes, one of each
 * side, in an order that is tossed for each pair. Nothing of it goes into the history.
 */
#ifndef HARNESS_SESSION_EXPLAIN_SCOPED_LAUNCHES_H
#define HARNESS_SESSION_EXPLAIN_SCOPED_LAUNCHES_H

#include "explain/explain.h"
#include "session/measure/measuring.h"
#include "session/measure/workload.h"

/* Who measures, and, for tests, an operation that is made slower (measure/plant.h). */
struct scoped_side {
    const char *program;         /* NULL: this program */
    const struct guests *guests; /* in place of the workload's; or NULL */
    const char *plant;           /* NULL: none */
    double plant_share;
};

struct scoped_launches {
    const struct workload *workload;
    const struct benchmark *bench;
    struct scoped_side side[EXPLAIN_SIDES];
    const struct measuring *measuring;
    double iteration_ns; /* about what one takes: that many fit a launch */
    double budget;       /* s; no pair begins that would end beyond it, by what the last one took */
};

enum { SCOPED_PAIRS_LEAST = 3, SCOPED_PAIRS_MOST = 9 };

/* Adds EXPLAIN_SCOPED and the operations to the case; *pairs is how many there are. What keeps a
 * side from being profiled (another device, an old program, a failure) is no error: `why` says it,
 * and is empty else. -1 where no process or folder can be made, or it was interrupted. */
int scoped_launches_run(const struct scoped_launches *s, struct explain_case *c, size_t *pairs,
                        struct error *why, struct error *err);

#endif
