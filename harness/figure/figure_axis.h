/* SPDX-License-Identifier: MIT */
/* Ranges, units and ticks of one axis; a part of figure_finish(). */
#ifndef HARNESS_FIGURE_FIGURE_AXIS_H
#define HARNESS_FIGURE_FIGURE_AXIS_H

#include "figure/figure.h"

/* Which of a panel's two axes is meant. */
enum side { SIDE_X, SIDE_Y };

bool axis_has_data(const struct panel *p, enum side side);
/* Finds range and unit and scales the data. False if the axis has neither finite data nor a range
 * that was given. */
bool axis_fit(struct panel *p, enum side side);
/* Gives the axis a unit that fits values from low to high, in its label and as its factor, by which
 * its own range is divided. Returns it. On a log axis of times each tick says its own unit instead.
 */
struct unit axis_unit(struct axis *axis, double low, double high);
/* Widens the range so that texts anchored at data stay inside `length` pixels. */
void axis_make_room(struct panel *p, enum side side, double length);
/* Fills ticks where there are none; at most about `most` with text. */
void axis_ticks(struct axis *axis, int most);
/* Position along the axis, 0 at its low end and 1 at its high end, and back. */
double axis_share(const struct axis *axis, double value);
double axis_value(const struct axis *axis, double share);

#endif
