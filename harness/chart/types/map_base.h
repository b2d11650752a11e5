/* SPDX-License-Identifier: MIT */
/*
 * What heatmap and matrix share: cells that have their value in them and its colour, on one
 * logarithmic scale over all maps of a figure; what was not measured is grey and says so.
 */
#ifndef HARNESS_CHART_TYPES_MAP_BASE_H
#define HARNESS_CHART_TYPES_MAP_BASE_H

#include "chart/types/chart_types.h"

/* Below this share of measured cells there is no map. */
#define MAP_FULL 0.6

struct map {
    const struct chart *chart;
    struct chart_items *items;
    struct chart_families families;
    struct chart_metric metric;
    struct range values;              /* positive ones seen */
    bool holes;                       /* cells without a value are drawn */
    const struct chart_item *largest; /* of the cells */
    double seen;                      /* its value */
    struct figure *f;
};

/* Without families; `metric` where the preset names none. The metric wants its release. */
struct map map_of(const struct chart *chart, struct chart_items *items, struct figure *f,
                  const char *metric);
/* Of items: its index; items->nr where there is none. */
double map_value(const struct map *m, size_t item);
void map_add_cell(struct map *m, struct layer *cells, size_t column, size_t row, size_t item);
/* A value that will be drawn; after the last one the range of colours is made wide enough. */
void map_include(struct map *m, double value);
void map_widen(struct map *m);
/* The unit that the numbers in the cells are in; it is said once, beside them. */
struct unit map_unit(const struct map *m);
void map_add_scale(const struct map *m);
/* Once all cells are there: who reaches most, into the title of rates. */
void map_conclude(const struct map *m);
/* For the caption, then, too; "" without holes. */
const char *map_hole_text(const struct map *m);

#endif
