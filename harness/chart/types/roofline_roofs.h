/* SPDX-License-Identifier: MIT */
/* The roofs of a roofline figure: bandwidths of the memory levels, rates of the math modes,
 * measured and given, with their labels. */
#ifndef HARNESS_CHART_TYPES_ROOFLINE_ROOFS_H
#define HARNESS_CHART_TYPES_ROOFLINE_ROOFS_H

#include "figure/figure.h"
#include "metrics/roofline.h"

enum { ROOF_MATHS_MAX = 4 };

/* A point that will be drawn: FLOP/byte and FLOP/s. */
struct roof_mark {
    double intensity, rate;
};

struct roofs {
    const struct roof *levels[LEVEL_NR];      /* NULL: neither measured nor given */
    const struct roof *maths[ROOF_MATHS_MAX]; /* the highest first */
    size_t nr_maths;
    const char *given;             /* what values from a data sheet or a configuration are called */
    double low, high;              /* of the arithmetic intensity drawn, FLOP/byte */
    const struct roof_mark *marks; /* that labels of flat roofs keep away from; may be NULL */
    size_t nr_marks;
};

/* Roofs of a device for these math modes. */
void roofs_init(struct roofs *roofs, const struct metric_context *context, const char *device,
                const char *const *maths, size_t nr_maths);
/* The measured value, or where there is none the given one. */
double roof_value(const struct roof *c);
/* Sets low and high so that intensities from `low` to `high` and all ridges are inside. */
void roofs_fit(struct roofs *roofs, double low, double high);
/* Draws into the panel, whose y.low must be set. */
void roofs_add(const struct roofs *roofs, struct panel *p);

#endif
