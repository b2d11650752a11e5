/* SPDX-License-Identifier: MIT */
/*
 * Measurements that wait to be made again, because they were disturbed (launch/disturbed.h): those
 * of one side, for as long as its session lasts. What is made again replaces the most disturbed one
 * that waits of its benchmark, under the launch of that one, if it is less disturbed.
 *
 * What waits is handed up last; a sink gets it with the launch that it belongs to. A killed session
 * loses it, one that is interrupted does not.
 */
#ifndef HARNESS_LAUNCH_REPEATS_H
#define HARNESS_LAUNCH_REPEATS_H

#include "base/error.h"
#include "launch/disturbed.h"

struct repeats_waiting {
    size_t which; /* benchmark */
    int seq;      /* of its launch */
    struct disturbed_case tries;
};

struct repeats {
    struct disturbed_watch *watch; /* of the session; both sides have the same. Borrowed */
    int *spare;                    /* of each benchmark: tries left; each measurement adds one */
    ARRAY(struct repeats_waiting) waiting;
};

/* Where what stands goes. */
struct repeats_sink {
    void *context;
    /* As the sinks of sweeps and A/B comparisons: it may take what `m` owns. */
    int (*stands)(void *context, const struct launch *l, struct measurement *m, struct error *err);
};

void repeats_init(struct repeats *r, struct disturbed_watch *watch, size_t benchmarks);
void repeats_release(struct repeats *r);

/* A measurement of launch `seq`. True: it was taken, and waits; false: it stands, hand it up. */
bool repeats_take(struct repeats *r, size_t which, int seq, struct measurement *m);
/* The same, made again; taken. */
void repeats_take_again(struct repeats *r, size_t which, struct measurement *m);
/* Hands up what stands by what is known now. */
int repeats_settle(struct repeats *r, const struct repeats_sink *sink, struct error *err);
/* The benchmarks of which something is to be made again now, each once; returns how many. */
size_t repeats_wanted(const struct repeats *r, size_t *which);
/* Hands up all that waits: there is no more time. */
int repeats_end(struct repeats *r, const struct repeats_sink *sink, struct error *err);

#endif
