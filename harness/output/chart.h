/* SPDX-License-Identifier: MIT */
/*
 * From records to figures: what all figure types share. A type is one file build_<type>.c and one
 * row in chart.c.
 */
#ifndef HARNESS_OUTPUT_CHART_H
#define HARNESS_OUTPUT_CHART_H

#include "analysis/compare.h"
#include "analysis/metric.h"
#include "analysis/summary.h"
#include "analysis/trend.h"
#include "base/strbuf.h"
#include "core/record.h"
#include "output/figure.h"
#include "output/preset.h"
#include "output/run_rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a model is built like; the table comes from models/ through the caller. */
struct plot_model {
    const char *name;
    int64_t layers, heads, width, block;
    double parameters, flops_per_token;
};

/* What a figure is made from. `run` is the newest run with records: figures of one run show it
 * alone. */
struct chart {
    const struct preset *preset;
    const struct records *records;
    const struct comparison *comparison;     /* NULL without a base */
    const char *base_label;                  /* what the base is called: "main"; may be NULL */
    const struct trend_acceptance *accepted; /* steps that are meant to be; nr_accepted, may be 0 */
    size_t nr_accepted;
    const struct plot_model *models; /* NULL or `nr_models` of them */
    size_t nr_models;
    int run;
};

struct plot_type {
    const char *name, *summary;
    /* Always a finished figure; one that cannot be drawn has a reason. Free with figure_free(). */
    struct figure *(*build)(const struct chart *chart);
    /* Refuses presets that lack something or name an unknown metric. May be NULL. */
    int (*check)(const struct preset *preset, struct error *err);
};

/* The i-th type; NULL past the end. */
const struct plot_type *plot_type_at(size_t i);
const struct plot_type *plot_type_find(const char *name, struct error *err);

/* Builds the preset's figure, legend choice and title included. */
struct figure *chart_build(const struct chart *chart);
/* One benchmark of the chart's run. */
struct chart_item {
    const struct benchmark_name *bench;
    const struct summary *summary; /* in chart_items.rows */
    const char *label;             /* short, unique among the items; owned by chart_items.labels */
};

struct chart_items {
    struct chart_item *items; /* those with a time, in reading order */
    size_t nr, capacity;
    size_t outcomes[OUTCOME_NR]; /* benchmarks that the filter takes, by outcome */
    size_t left_out;             /* by chart_items_limit() */
    struct metric_context context;
    struct run_rows rows;
    char **labels;
    size_t nr_labels;
};

/* The preset's limit, or the type's own; never above LIMIT_ROWS_MAX. */
enum { LIMIT_ROWS_MAX = 64 };
size_t chart_limit(const struct preset *preset, size_t otherwise);

void chart_items_init(struct chart_items *items, const struct chart *chart);
void chart_items_release(struct chart_items *items);
/* Keeps `limit` items in their order: the lightest go first, from the kernel that has most left, so
 * that every kernel is still seen. */
void chart_items_limit(struct chart_items *items, size_t limit,
                       double (*weight)(const struct chart_item *item));
/* A weight: the median latency. */
double chart_item_median(const struct chart_item *item);

/* How a metric is drawn: a value times `factor` is in the quantity's base unit. */
struct chart_metric {
    const struct metric *metric;
    enum quantity quantity;
    const char *base;
    double factor;
};

struct chart_metric chart_metric_of(const struct metric *metric);
/* The metric of an item in base units, and its p5 to p95 range; NaN where it has none. */
struct chart_value {
    double value, low, high;
    bool few; /* too few samples to carry it */
};
struct chart_value chart_value_of(const struct chart_metric *metric, const struct chart_item *item,
                                  const struct metric_context *context);

/* Log where the preset says so or, on "auto", where the values span more than 50 times. */
enum axis_scale chart_scale(const struct preset *preset, double low, double high);

/* Title, subtitle (what all items share, machine, commit, time) and the outcomes in words. */
struct figure *chart_figure(const struct chart *chart);
void chart_subtitle(struct figure *f, const struct chart *chart, const struct chart_items *items);
/* Adds "Showing 24 of 60: the ...", and what was not OK. `of` may be NULL. */
void chart_caption(struct figure *f, const struct chart_items *items, const char *how,
                   const char *which);
/* Gives the figure a reason why there is nothing, and ends it. Returns f. */
struct figure *chart_absent(struct figure *f, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The reason for an empty set of items: no match, or nothing OK. Returns f. */
struct figure *chart_absent_items(struct figure *f, const struct chart *chart,
                                  const struct chart_items *items);

/* Distinct variants of the items in order of first use; returns the index of one. */
struct chart_names {
    const char *names[64];
    size_t nr;
};
size_t chart_names_index(struct chart_names *names, const char *name);

/* The name without one dim, key included: what a line over that dim, or a map, has in common. */
void chart_name_without(const struct benchmark_name *name, const char *dim,
                        struct benchmark_name *without);

/* Items that differ in one or two dims alone, put together. */
struct chart_family {
    struct benchmark_name name; /* without those dims */
    size_t *members;            /* indices of items; owned */
    size_t nr, capacity;
};
struct chart_families {
    struct chart_family *items;
    size_t nr, capacity;
    char **labels; /* one each; owned */
};
/* `second` may be NULL. Items that lack a dim are in no family. */
void chart_families_init(struct chart_families *families, const struct chart_items *items,
                         const char *dim, const char *second);
void chart_families_release(struct chart_families *families);

/* Where there are too many families, one a kernel is shown: that with most members, then the
 * largest other dims, then the best values of the metric. True for that one. */
bool chart_family_leads(const struct chart_families *families, const struct chart_items *items,
                        size_t nth, const struct chart_metric *metric);

/* Sorted distinct values of a dim over some items. */
size_t chart_dim_values(const struct chart_items *items, const struct chart_family *family,
                        const char *dim, int64_t *values, size_t most);

/* A check() for types whose y is a metric. */
int chart_check_metric(const struct preset *preset, struct error *err);

typedef struct figure *build_fn(const struct chart *chart);
build_fn build_bars, build_percentiles, build_roofline, build_heatmap, build_dumbbell, build_trend,
    build_architecture, build_lines, build_scatter;

#endif
