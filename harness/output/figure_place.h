/* SPDX-License-Identifier: MIT */
/* Free places for the labels of points; a part of figure_finish(). */
#ifndef HARNESS_OUTPUT_FIGURE_PLACE_H
#define HARNESS_OUTPUT_FIGURE_PLACE_H

#include "output/figure.h"

/* Moves the texts of every layer with `place` set: each goes to the cheapest of 160 places
 * around its point, in four rounds, where covering another label costs most, then a point, then a
 * line, then distance. A label that had to go far gets a thin leader line. */
void place_labels(struct panel *p);

#endif
