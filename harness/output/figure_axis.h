/* SPDX-License-Identifier: MIT */
/* Ranges, units and ticks of one axis; a part of figure_finish(). */
#ifndef HARNESS_OUTPUT_FIGURE_AXIS_H
#define HARNESS_OUTPUT_FIGURE_AXIS_H

#include "output/figure.h"

/* Which of a panel's two axes is meant. */
enum side { SIDE_X, SIDE_Y };

/* Finds range and unit and scales the data. False if the axis has no finite data. */
bool axis_fit(struct panel *p, enum side side);
/* Widens the range so that texts anchored at data stay inside `length` pixels. */
void axis_make_room(struct panel *p, enum side side, double length);
/* Fills ticks where there are none; at most about `most` with text. */
void axis_ticks(struct axis *axis, int most);
/* Position along the axis, 0 at its low end and 1 at its high end, and back. */
double axis_share(const struct axis *axis, double value);
double axis_value(const struct axis *axis, double share);

#endif
