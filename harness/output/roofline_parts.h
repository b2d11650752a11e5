/* SPDX-License-Identifier: MIT */
/* What the files of the roofline figure share. */
#ifndef HARNESS_OUTPUT_ROOFLINE_PARTS_H
#define HARNESS_OUTPUT_ROOFLINE_PARTS_H

#include "output/chart.h"
#include "output/roofline_roofs.h"

struct roofline {
    const struct chart *chart;
    struct chart_items items; /* those that take longest first, so that the others lie on top */
    const struct comparison *comparison; /* NULL: not drawn as one */
    struct roofs roofs;
    const char *device; /* the label most points have */
    double longest;     /* median, ns */
    size_t above, latency, others;
    bool all_named;
    struct figure *f;
    struct panel *p;
};

struct roofline_point {
    double intensity, rate, low, high; /* FLOP/byte and FLOP/s */
};

struct roofline_point roofline_point(const struct chart_item *item);
/* Points of one run or several, with their p5 to p95 bars. */
void roofline_add_points(struct roofline *r);
/* From where it was to where it is; what did not move is its new place alone. */
void roofline_add_moves(struct roofline *r);
/* A name goes to the longest of each kernel and variant, one a place, while there is room. */
void roofline_add_names(struct roofline *r);

#endif
