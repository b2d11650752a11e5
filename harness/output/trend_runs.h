/* SPDX-License-Identifier: MIT */
/* The x axis of a trend: runs of one machine class in order, and which of them are not of the
 * branch that the history is of. */
#ifndef HARNESS_OUTPUT_TREND_RUNS_H
#define HARNESS_OUTPUT_TREND_RUNS_H

#include "output/figure.h"

#include "core/record.h"

struct trend_runs {
    const struct records *records;
    int *order;    /* runs by time; a head that is not merged is last */
    int *position; /* of each run on the x axis; -1: another machine */
    int *merged;   /* how many runs of the history's branch came before each run */
    int nr;
    const char *branch; /* see analysis/mainline.h; NULL: there is none */
};

/* Runs of the head's machine class that series take. */
void trend_runs_init(struct trend_runs *runs, const struct records *records, int head);
void trend_runs_release(struct trend_runs *runs);
/* The nth from the left. */
const struct run *trend_run_at(const struct trend_runs *runs, int nth);
/* Measured from another branch than the history is of. */
bool trend_run_unmerged(const struct trend_runs *runs, int run);
/* Commits below the axis; where all are one commit days, and where all are one day times. */
void trend_runs_ticks(const struct trend_runs *runs, struct ticks *ticks);

#endif
