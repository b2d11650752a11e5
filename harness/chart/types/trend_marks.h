/* SPDX-License-Identifier: MIT */
/*
 * What stands in a trend figure beside the points of a benchmark: the x axis (runs of one machine
 * class in order, and which of them are not of the branch that the history is of); notes about runs
 * (the surroundings changed: letters; what somebody wrote: numbers; the caption explains both);
 * what the search for change points found.
 */
#ifndef HARNESS_CHART_TYPES_TREND_MARKS_H
#define HARNESS_CHART_TYPES_TREND_MARKS_H

#include "base/strbuf.h"
#include "chart/base/chart_base.h"
#include "core/record.h"
#include "figure/figure.h"
#include "trend/trend.h"

struct trend_runs {
    const struct records *records;
    int *order;    /* runs by time; a head that is not merged is last */
    int *position; /* of each run on the x axis; -1: another machine */
    int *merged;   /* how many runs of the history's branch came before each run */
    int nr;
    const char *branch; /* see trend/mainline.h; NULL: there is none */
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

/* Texts stand above `top`; returns how many rows they take. */
int trend_notes_add(const struct trend_runs *runs, const struct chart *chart, struct panel *p,
                    double top);
/* Sentences for the caption, each with a space in front. */
void trend_notes_explain(const struct trend_runs *runs, const struct chart *chart,
                         struct strbuf *out);

/* A vertical line at each step with its size and its note, the levels on both sides, and the line
 * of a drift, about the level where it is. `position` has the place of each run on the x axis;
 * texts stand above `top` and above the rows that trend_notes_add() has used. */
void trend_marks_add(struct panel *p, const struct trend *trend, const int *position, double top,
                     int rows);

#endif
