/* SPDX-License-Identifier: MIT */
/*
 * The types of figures: a type is one file build_<type>.c and one row in chart.c. What they share
 * is chart_base.h.
 */
#ifndef HARNESS_CHART_CHART_H
#define HARNESS_CHART_CHART_H

#include "chart/base/chart_base.h"

/* A type draws one of four things; one that has both `items` and `comparison` draws items where the
 * preset has a "group". */
struct plot_type {
    const char *name, *summary;
    chart_items_fn *items;     /* benchmarks of the chart's runs that have a time */
    chart_draw_fn *comparison; /* which must be there */
    chart_draw_fn *profile;    /* likewise */
    chart_draw_fn *history;    /* all else that is known of chart->run, which must be there */
    chart_check_fn *check;     /* refuses presets that lack something; may be NULL */
    const char *draws; /* the one metric of its comparison or history, and "y" may say no other;
                        * NULL: "y" says it, or it has none */
    size_t runs_max;   /* that a reader can tell apart in it; of more the last are shown. 0: any */
    size_t runs_min;   /* that must be there */
    bool rows; /* of a few marks each: a figure of all benchmarks is higher, and little more */
};

/* The i-th type; NULL past the end. */
const struct plot_type *plot_type_at(size_t i);
const struct plot_type *plot_type_find(const char *name, struct error *err);
/* -1 and the reason where the preset's type cannot draw what it asks for. */
int plot_type_check(const struct preset *preset, struct error *err);

/* Builds the preset's figure, legend choice and title included: always a finished figure; one that
 * cannot be drawn has a reason. Of more runs than its type can show the last ones; the caption says
 * so. Free with figure_free(). */
struct figure *chart_build(const struct chart *chart);

#endif
