/* SPDX-License-Identifier: MIT */
/*
 * The comparisons of a self-test: this program against itself, with nothing planted or with a
 * slow-down of known size in some of the benchmarks. Notes tell how far it is.
 */
#ifndef HARNESS_SESSION_MEASURE_SELFTEST_TRIALS_H
#define HARNESS_SESSION_MEASURE_SELFTEST_TRIALS_H

#include "base/strbuf.h"
#include "session/measure/floors.h"
#include "session/measure/selftest_trials.h"
#include "session/measure/workload.h"
#include "store/store.h"
#include "verdict/placement_noise.h"
#include "verdict/selftest.h"
#include "verdict/selftest_cost.h"

struct trials {
    const struct workload *workload;
    struct store *store; /* STORE_WRITE: for the runs */
    struct compare_settings compare;
    bool interleaved;                 /* by the A/B engine, block by block; else run after run */
    double sizes[SELFTEST_SIZES_MAX]; /* to plant, nr_sizes of them, all different */
    size_t nr_sizes;
    struct measuring measuring; /* its budget is that of an interleaved comparison */
    uint64_t seed;              /* of what is planted where, and in which order; not 0 */
};

/* Fresh runs of the same, each compared with the one before it. */
int trials_aa(const struct trials *t, int comparisons, struct selftest *out, struct error *err);
/* Each size in a tenth of the benchmarks, at least one, chosen anew each time. `repeats`
 * comparisons of each size, in random order, each with an unplanted run just before it. */
int trials_power(const struct trials *t, int repeats, struct selftest *out, struct error *err);

/* Sets the sizes: 1, 2, 5, 10 % and, if that is more, twice the gate. */
void trials_usual_sizes(struct trials *t);
/* Launches a side, at most. */
int trials_launches(const struct trials *t);
/* A rough guess at the seconds that so many runs take; sides of a comparison count alike. */
double trials_seconds(const struct trials *t, int runs);
/* "12:05", minutes and seconds; the returned string is `text`. */
enum { TRIALS_TIME_SIZE = 24 };
char *trials_time(double seconds, char text[TRIALS_TIME_SIZE]);

enum { COSTS_BLOCKS = 40, COSTS_TRIALS = 200 };
#define COSTS_BUDGET 60 /* s, of one comparison where --budget says nothing */

/* `t` as for trials_power(), with its sizes; all goes to its store. `out` has room for one of each
 * benchmark of the workload. */
int costs_measure(const struct trials *t, struct selftest_cost *out, struct error *err);
/* Whether each size of each benchmark is called within COST_BLOCKS_MAX, with no more alarms than
 * there may be. */
bool costs_fine(const struct selftest_cost *costs, size_t nr);

enum { PLACEMENTS_BLOCKS = 20 };
#define PLACEMENTS_KIND "placement"

/* Blocks of this program with everything where it always is against the same with everything placed
 * anew; t->budget 0: all of them. `parts` has room for one of each benchmark of the workload; those
 * that could not be measured are left out. */
int placements_measure(const struct trials *t, struct placement_part *parts, size_t *nr,
                       struct error *err);
#endif
