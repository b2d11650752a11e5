/* SPDX-License-Identifier: MIT */
/* Cells of a map: colours on one logarithmic scale, the value inside. */
#ifndef HARNESS_OUTPUT_MAP_CELLS_H
#define HARNESS_OUTPUT_MAP_CELLS_H

#include "output/chart.h"

struct map_scale {
    const struct chart_metric *metric;
    double least, most; /* positive values seen, base units */
};

/* Start with { .metric = m, .least = INFINITY }. */
void map_scale_include(struct map_scale *scale, double value);
/* The unit that the numbers in the cells are in; it must be said once, beside them. */
struct unit map_scale_unit(const struct map_scale *scale);
void map_scale_add_bar(const struct map_scale *scale, struct figure *f);
/* NaN is a grey cell that says "n/a". */
void map_cell_add(struct layer *cells, const struct map_scale *scale, size_t column, size_t row,
                  double value);

#endif
