/* SPDX-License-Identifier: MIT */
/*
 * Benchmarks that are alike but for one field, side by side: a row for each of what they have in
 * common, a column for each value of the field ("our variants against the library's").
 */
#ifndef HARNESS_CHART_BASE_CHART_GRID_H
#define HARNESS_CHART_BASE_CHART_GRID_H

#include "chart/base/chart_base.h"

enum { GRID_SERIES_MAX = 12 };

struct chart_grid_row {
    struct benchmark_name name; /* without the field */
    size_t run;                 /* index into chart->runs; 0 where the field is the run */
    const struct chart_item *items[GRID_SERIES_MAX]; /* by series; NULL: not measured */
};

struct chart_grid {
    const char *field;
    char series[GRID_SERIES_MAX][GROUP_SIZE]; /* values of the field, in order of first use */
    size_t nr_series;
    struct chart_grid_row *items; /* in reading order */
    size_t nr, capacity;
    size_t all;     /* rows before chart_grid_limit() */
    size_t crowded; /* items left out because there are too many series */
    char **labels;  /* one a row; owned */
    size_t nr_labels;
};

/* -1 where the field is none of variant, math, device, cache, fill, run. */
int chart_grid_check(const char *field, struct error *err);
/* Rows of at least two items that are alike but for the preset's group, which must be known;
 * borrows from the items. False where the figure got a reason: there are none. Release in any case.
 */
bool chart_grid_init_pairs(struct chart_grid *grid, const struct chart_items *items,
                           struct figure *f);
void chart_grid_release(struct chart_grid *grid);
/* Keeps the rows that take longest until at most `limit` items are left. */
void chart_grid_limit(struct chart_grid *grid, size_t limit);
/* What is not shown, as sentences after a blank; "" where all is. */
enum { GRID_WORDS_SIZE = 200 };
void chart_grid_left_out(const struct chart_grid *grid, char *words, size_t size);
/* The series that a row's others are held against: the vendor's, else the first. */
size_t chart_grid_base(const struct chart_grid_row *row);

#endif
