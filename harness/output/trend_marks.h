/* SPDX-License-Identifier: MIT */
/* What the search for change points found, drawn into a panel of the trend figure. */
#ifndef HARNESS_OUTPUT_TREND_MARKS_H
#define HARNESS_OUTPUT_TREND_MARKS_H

#include "analysis/trend.h"
#include "output/figure.h"

/* A vertical line at each step with its size and its note, the levels on both sides, and the line
 * of a drift, about the level where it is. `position` has the place of each run on the x axis;
 * texts stand above `top` and above the rows that trend_notes_add() has used. */
void trend_marks_add(struct panel *p, const struct trend *trend, const int *position, double top,
                     int rows);

#endif
