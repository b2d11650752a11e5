/* SPDX-License-Identifier: MIT */
/* What the files behind figure_finish() share: sizes in pixels and texts outside the plot areas;
 * and the parts that figure_layout.c, its entry, puts together. */
#ifndef HARNESS_FIGURE_FIGURE_BASE_H
#define HARNESS_FIGURE_FIGURE_BASE_H

#include "figure/figure.h"

/* Pixels. */
enum {
    PAD = 24, /* around the figure */
    GAP = 36, /* between panels side by side */
    TITLE_SIZE = 20,
    PANEL_SIZE = 14,
    LABEL_SIZE = 13,
    SMALL_SIZE = 12, /* ticks, legend, caption, data */
};

/* A text whose first line's middle is at y; `length` bytes of it. */
struct placed_text *figure_text(struct figure *f, enum text_role role, double x, double y,
                                double size, const char *text, size_t length);
/* The same, its middle cut out where it is wider than `room`. */
struct placed_text *figure_text_elided(struct figure *f, enum text_role role, double x, double y,
                                       double size, bool bold, double room, const char *text);

/* The widest tick text of an axis or scale. */
double figure_widest_tick(const struct ticks *ticks);

/* Legend entries from left to right, wrapped; returns the height. */
double figure_legend(struct figure *f, double top);

/* Unit and ticks of the colour scale; returns the width that it takes at the right, 0 without
 * one. */
double figure_bar_fit(struct figure *f);
/* Its place: beside the first row of panels. */
void figure_bar_place(struct figure *f, double width);

/* Free places for the labels of points: moves the texts of every layer with `place` set. Each goes
 * to the cheapest of 160 places around its point, in four rounds, where covering another label
 * costs most, then a point, then a line, then distance. A label that had to go far gets a thin
 * leader line. */
void figure_place_labels(struct panel *p);

#endif
