/* SPDX-License-Identifier: MIT */
/*
 * What becomes of the measurements of one side, for as long as its session lasts: they go up to its
 * sink, under the launch in hand, or wait to be made again, because they were disturbed
 * (launch/disturbed.h). What is made again replaces the most disturbed one that waits of its
 * benchmark, under the launch of that one, if it is less disturbed.
 *
 * What waits is handed up last; a sink gets it with the launch that it belongs to. A killed session
 * loses it, one that is interrupted or ends with an error does not.
 */
#ifndef HARNESS_LAUNCH_REMEASURE_H
#define HARNESS_LAUNCH_REMEASURE_H

#include "base/error.h"
#include "launch/disturbed.h"
#include "launch/launch.h"
#include "launch/sink.h"

struct remeasure_waiting {
    size_t which; /* benchmark */
    int seq;      /* of its launch */
    struct disturbed_case tries;
};

struct remeasure {
    struct disturbed_watch *watch;       /* of the session; both sides have the same. Borrowed */
    const struct measurement_sink *sink; /* where what stands goes. Borrowed */
    bool once;                           /* nothing waits: all stands as it comes */
    struct launch launch;                /* in hand; its number is -1 before the first */
    bool again; /* what is measured now is made again, and belongs to no launch of its own */
    bool *lost; /* of each benchmark: it FAILED or is UNSUPPORTED, and is not to be tried again */
    int *spare; /* of each benchmark: tries left; each measurement adds one */
    ARRAY(struct remeasure_waiting) waiting;
};

void remeasure_init(struct remeasure *r, struct disturbed_watch *watch,
                    const struct measurement_sink *sink, size_t benchmarks);
void remeasure_release(struct remeasure *r);

/* The launch in hand, with that number, and its end, of which the sink is told; processes that make
 * something `again` have none, and nothing is told of these. */
int remeasure_launch_begin(struct remeasure *r, int seq, struct error *err);
int remeasure_launch_end(struct remeasure *r, struct error *err);
/* How a process of it ended, as history keeps it: the first that went wrong stays. */
void remeasure_process_end(struct remeasure *r, const struct launch_result *result);
/* A measurement of that launch, which is handed up or taken to wait, or one that was made again,
 * which is taken. */
int remeasure_measured(struct remeasure *r, size_t which, struct measurement *m, struct error *err);
/* Hands up what stands by what is known now. */
int remeasure_settle(struct remeasure *r, struct error *err);
/* The benchmarks of which something is to be made again now, each once; returns how many. */
size_t remeasure_wanted(const struct remeasure *r, size_t *which);
/* Hands up all that waits: there is no more time. `rc`: how it went so far; where that is an error,
 * it comes back, and stays in `err`, whatever else fails. */
int remeasure_end(struct remeasure *r, int rc, struct error *err);

#endif
