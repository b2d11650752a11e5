/* SPDX-License-Identifier: MIT */
/*
 * Measurements that wait to be made again, because they were disturbed (launch/disturbed.h): those
 * of one side, for as long as its session lasts. What is made again replaces the most disturbed one
 * that waits of its benchmark, under the launch of that one, if it is less disturbed.
 *
 * What waits is handed up last; a sink gets it with the launch that it belongs to. A killed session
 * loses it, one that is interrupted or ends with an error does not.
 */
#ifndef HARNESS_LAUNCH_REMEASURE_H
#define HARNESS_LAUNCH_REMEASURE_H

#include "base/error.h"
#include "launch/disturbed.h"

struct remeasure_waiting {
    size_t which; /* benchmark */
    int seq;      /* of its launch */
    struct disturbed_case tries;
};

struct remeasure {
    struct disturbed_watch *watch; /* of the session; both sides have the same. Borrowed */
    int *spare;                    /* of each benchmark: tries left; each measurement adds one */
    ARRAY(struct remeasure_waiting) waiting;
};

/* Where what stands goes. */
struct remeasure_sink {
    void *context;
    /* As the sinks of sweeps and A/B comparisons: it may take what `m` owns. */
    int (*stands)(void *context, const struct launch *l, struct measurement *m, struct error *err);
};

void remeasure_init(struct remeasure *r, struct disturbed_watch *watch, size_t benchmarks);
void remeasure_release(struct remeasure *r);

/* A measurement of launch `seq`. True: it was taken, and waits; false: it stands, hand it up. */
bool remeasure_take(struct remeasure *r, size_t which, int seq, struct measurement *m);
/* The same, made again; taken. */
void remeasure_take_again(struct remeasure *r, size_t which, struct measurement *m);
/* Hands up what stands by what is known now. */
int remeasure_settle(struct remeasure *r, const struct remeasure_sink *sink, struct error *err);
/* The benchmarks of which something is to be made again now, each once; returns how many. */
size_t remeasure_wanted(const struct remeasure *r, size_t *which);
/* Hands up all that waits: there is no more time. `rc`: how it went so far; where that is an error,
 * it comes back, and stays in `err`, whatever else fails. */
int remeasure_end(struct remeasure *r, int rc, const struct remeasure_sink *sink,
                  struct error *err);

#endif
