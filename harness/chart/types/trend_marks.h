/* SPDX-License-Identifier: MIT */
/*
 * What stands in a trend figure beside the points of a benchmark: the x axis (runs of one machine
 * class in order, and which of them are not of the branch that the history is of); notes about runs
 * (the environment changed: letters; what somebody wrote: numbers; the caption explains both);
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
/* Days below the axis; where all are one day times, and where runs are few their commits, too.
 * Places have what tells each run from the next. */
void trend_runs_ticks(const struct trend_runs *runs, struct axis *axis);

/* Lines reach from the panel's p->y.low to `top`, texts stand above that; returns how many rows
 * they take. */
int trend_notes_add(const struct trend_runs *runs, const struct chart *chart, struct panel *p,
                    double top);
/* Sentences for the caption, each with a space in front. */
void trend_notes_explain(const struct trend_runs *runs, const struct chart *chart,
                         struct strbuf *out);

/* A vertical line at each step with its size, its commits and its day, the levels on both sides,
 * and the line of a drift, about the level where it is. Orange is for the worse, blue for the
 * better, grey is settled. Texts stand above `top` and above the rows that trend_notes_add() has
 * used. */
void trend_marks_add(struct panel *p, const struct trends *t, const struct trend *trend,
                     const struct trend_runs *runs, double top, int rows, double width);

#endif
