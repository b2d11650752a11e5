/* SPDX-License-Identifier: MIT */
/*
 * From records to figures: what all types of figures share. A type draws into a figure that
 * chart_build() (chart/chart.h) has begun and will end. chart_items.c finds the benchmarks,
 * chart_metric.c their values, chart_family.c those that differ in a dim alone.
 */
#ifndef HARNESS_CHART_BASE_CHART_BASE_H
#define HARNESS_CHART_BASE_CHART_BASE_H

#include "base/options.h"
#include "base/strbuf.h"
#include "chart/base/profile_data.h"
#include "core/record.h"
#include "figure/figure.h"
#include "metrics/metric.h"
#include "metrics/run_rows.h"
#include "metrics/summary.h"
#include "trend/trend.h"
#include "verdict/compare.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a figure shall show and how, as its preset says it (chart/preset.h reads those). */
enum plot_mode {
    PLOT_SINGLE = 1 << 0,
    PLOT_MULTI = 1 << 1, /* several runs beside each other */
    PLOT_COMPARE = 1 << 2,
    PLOT_TREND = 1 << 3,
    PLOT_PROFILE = 1 << 4, /* a profile, or the difference of two */
};
enum { PLOT_MODE_NR = 5 };

enum scale_choice { SCALE_AUTO, SCALE_LINEAR, SCALE_LOG };

struct plot_type;

struct preset {
    char *name, *title, *description, *how;
    char *family;  /* the preset that was split into this figure and others; NULL: it was not */
    char *section; /* one of preset_sections; never NULL */
    char *chapter; /* one of chapter_names; NULL: see chapter_of() */
    char *from;    /* the file it is from; NULL: built in */
    const struct plot_type *type;
    unsigned modes;                  /* bits of enum plot_mode */
    char *x, *y, *size, *colour;     /* see chart_metric_init(); may be NULL */
    char *group, *x_label, *y_label; /* may be NULL */
    struct string_list panels;       /* see chart_metric_init() */
    enum scale_choice x_scale, y_scale;
    struct string_list filter;
    const struct string_list *only; /* sorted keys, of what is in a range: these alone, beside the
                                     * filter. Borrowed, of no file; NULL: all */
    struct string_list formerly;    /* names it had, and of figures that became part of it */
    int order;                      /* within the section */
    int limit;                      /* 0: the type's own */
    int rolling_window;
    bool highlight_pareto, show_legend;
    bool answers; /* one of the dozen drawn when none is named */
};

/* Do the preset's filter and its keys take this one? The last glob that matches decides; without a
 * positive glob everything is in. */
bool preset_takes(const struct preset *preset, const char *key);

/* What a model is built like; the table comes from models/ through the caller. */
enum { PLOT_MODEL_KERNELS = 4 };
struct plot_model {
    const char *name;
    int64_t layers, heads, width, block;
    double parameters, flops_per_token;
    const char *kernels[PLOT_MODEL_KERNELS]; /* names of its forward passes; the rest are NULL */
};

/* Is the benchmark one of its forward passes, or an operation of one? */
bool plot_model_has(const struct plot_model *model, const struct benchmark_name *bench);

/* What a figure is made from. `run` is the newest run with records: figures of one run show it
 * alone. Figures of several runs ("mode": "multi") show `runs`, and name them. */
struct chart {
    const struct preset *preset;
    const struct records *records;
    const struct comparison *comparison; /* NULL without a base */
    const struct records *compared_head; /* all runs of its head; NULL without a base */
    const char *base_label;              /* what the base is called: "main"; may be NULL */
    const struct acceptance *accepted;   /* steps that are meant to be; nr_accepted, may be 0 */
    size_t nr_accepted;
    const struct trend_annotation
        *annotations; /* on runs of the records; nr_annotations, may be 0 */
    size_t nr_annotations;
    const struct series_list
        *series;                    /* of the records, and what was found in them, where that is */
    const struct trends *trends;    /* known already: then they need no measurements. Else NULL */
    const struct string_list *only; /* sorted keys: of the series these alone. NULL: all */
    const struct trends *past;  /* of the machine's history, whatever the records are; NULL: none */
    const struct run *base_run; /* newest of the base; NULL: not known */
    const struct plot_model *models; /* NULL or `nr_models` of them */
    size_t nr_models;
    int run;
    const int
        *runs; /* indices into records->runs, in the order of the request; NULL: `run` alone */
    size_t nr_runs;
    size_t runs_left_out; /* by chart_build(), before these: the type cannot show so many */
    const char *const
        *run_names;         /* short and unique, one each (metrics/run_label.h); may be NULL */
    const char *peaks_from; /* where given peaks (roof.spec) come from: "harness.json"; NULL:
                             * from data sheets alone */
    const struct profile_data *profile;      /* what figures of a profile show; NULL: none */
    const struct profile_data *profile_base; /* before it, for their difference; NULL: none */
};

/* Runs of the figure, 1 where there is `run` alone; the name of one, "" where it has none. */
size_t chart_nr_runs(const struct chart *chart);
const char *chart_run_name(const struct chart *chart, size_t nth);
/* The record run of the nth. */
const struct run *chart_run(const struct chart *chart, size_t nth);

/* One benchmark of one of the chart's runs. */
struct chart_item {
    const struct benchmark_name *bench;
    const struct summary *summary; /* in chart_items.rows */
    const char *label;             /* short, unique among the items (with the run's name where there
                                    * are several runs); owned by chart_items.labels */
    size_t run;                    /* index into chart->runs; 0 where there is one */
    size_t row;                    /* index into chart_items.rows[run], and into its groups */
    const char *own;               /* the label without the run; equal for equal benchmarks */
    size_t own_at;                 /* its index in chart_items.own */
    const struct run *of;          /* the run itself */
    const struct metric_context *context; /* of that run */
    const struct plot_model *model;       /* of a forward pass; NULL: it is none */
};

enum { VARIANTS_MAX = PALETTE_HUES };
struct chart_items {
    struct chart_item *items; /* those with a time, in reading order */
    size_t nr, capacity;
    size_t outcomes[OUTCOME_NR];   /* benchmarks that the filter takes, by outcome */
    size_t left_out;               /* by chart_items_limit() */
    struct metric_context context; /* of chart->run */
    const struct chart *chart;
    struct run_rows *rows; /* one for each run of the chart; owned */
    size_t nr_rows;
    const char *variants[VARIANTS_MAX]; /* of all rows of the runs, sorted */
    size_t nr_variants;                 /* 0: more than there are hues */
    char **labels, **own; /* owned; one each where there are several runs, one a benchmark */
    size_t nr_labels, nr_own;
};

/* The preset's limit, or the type's own; never above LIMIT_ROWS_MAX. */
enum { LIMIT_ROWS_MAX = 64 };
size_t chart_limit(const struct preset *preset, size_t otherwise);

void chart_items_init(struct chart_items *items, const struct chart *chart);
void chart_items_release(struct chart_items *items);
/* Keeps `limit` items in their order: the lightest go first, from the kernel that has most left, so
 * that every kernel is still seen. A benchmark goes with all its runs; the last one stays, with the
 * last LIMIT_ROWS_MAX of its runs at most. */
void chart_items_limit(struct chart_items *items, size_t limit,
                       double (*weight)(const struct chart_item *item));
/* Keeps those marked, one flag an item, by a choice of the type's own. */
void chart_items_keep(struct chart_items *items, const bool *keep);
/* What is sorted by weight, and then by its place. */
struct chart_rank {
    double weight;
    size_t at;
};
int chart_rank_order(const void *a, const void *b); /* for qsort(): the lightest first */
/* Marks the `limit` of most weight among `nr`; of equal ones the first go first. Never over pairs:
 * histories have tens of thousands of benchmarks. */
void chart_mark_heaviest(const double *weights, size_t nr, size_t limit, bool *keep);
/* Moves those to the front of an array of items of `size` bytes, in their order; returns how many.
 */
size_t chart_keep_heaviest(void *items, size_t size, size_t nr, const double *weights,
                           size_t limit);
/* A weight: the median latency. */
double chart_item_median(const struct chart_item *item);
/* Another: its FLOPs, else bytes, else the median. All variants of the largest size come before
 * a slow one of each size. */
double chart_item_work(const struct chart_item *item);
/* Which style (style_nth(), or ink) a value of a group has that is the figure's nth: variants have
 * theirs from the whole run, so that one looks alike in all figures; of others it is `nth`. */
size_t chart_items_style(const struct chart_items *items, const char *group, const char *value,
                         size_t nth);
/* A panel with a row an item, by their labels; see figure_rows(). */
struct panel *chart_items_rows(const struct chart_items *items, struct figure *f, double row,
                               double room);

/*
 * What can stand on an axis:
 *   - a metric: "p50", "gflops";
 *   - a parameter: a dim ("batch", "width"), of the model ("layers", "heads", "width", "block",
 *     "parameters", "flops_per_token"), of the work ("flops", "bytes", "footprint"), of the run
 *     ("threads", "launches", "min_time"); "dim_" and a name is any dim: "dim_n", since "n" is the
 *     number of samples;
 *   - an expression of these: "p99 / p50", "tokens / joules" (metrics/expression.h), each in the
 *     unit of `harness list metrics`;
 *   - on an x axis, a word of chart_group_of(): "variant", "math".
 * A value times `factor` is in the quantity's base unit.
 */
struct chart_parameter;
struct chart_metric {
    const struct metric *metric;   /* NULL for a parameter or expression */
    struct expression *expression; /* NULL for a metric or parameter; owned */
    char name[64];                 /* as the preset says it */
    const char *label;             /* for people; `name` where there is no better one */
    enum direction direction;      /* NO_DIRECTION unless it is a metric */
    enum quantity quantity;
    const char *base;
    double factor;
    const struct chart_parameter *parameter; /* NULL for a metric or expression */
    bool category; /* a word: chart_value_of() gives NaN, chart_group_of() the text */
    char *text;    /* what `label` points to where it is not static; owned */
};

/* An unknown word is an error that names the nearest metric or dim. Dims are any that a kernel may
 * have: whether the items have them is seen when they are drawn. */
int chart_metric_init(struct chart_metric *m, const char *text, struct error *err);
void chart_metric_release(struct chart_metric *m);
struct chart_metric chart_metric_of(const struct metric *metric); /* needs no release */
/* chart_metric_init() for a word of a preset, which has been checked; `otherwise` where the preset
 * does not say it. */
struct chart_metric chart_metric_chosen(const char *text, const char *otherwise);
/* A value of it with its unit, see quantity_unit_text(). */
char *chart_text(const struct chart_metric *m, double value, char text[QUANTITY_TEXT_SIZE]);
/* Gives the axis the metric's quantity and unit; `label` NULL: its label, too. */
void chart_axis(struct axis *axis, const struct chart_metric *m, const char *label,
                enum axis_scale scale);
/* Is it the same for all benchmarks of a run? */
bool chart_metric_is_of_run(const struct chart_metric *m);

/* The text by which a preset's "group" tells items apart: kernel, variant, math, device, cache,
 * fill, model, run, or a dim ("batch=4"). */
enum { GROUP_SIZE = 96 };
char *chart_group_of(const struct chart_item *item, const struct chart *chart, const char *group,
                     char text[GROUP_SIZE]);
/* -1 and the nearest word where chart_group_of() does not know it. */
int chart_group_check(const char *group, struct error *err);

/* The metric of an item in base units, and its p5 to p95 range; NaN where it has none. `context`
 * is that of items without one of their own. */
struct chart_value {
    double value, low, high;
    bool few; /* too few samples to carry it */
};
struct chart_value chart_value_of(const struct chart_metric *metric, const struct chart_item *item,
                                  const struct metric_context *context);

/* The value alone, of one item. */
double chart_value_at(const struct chart_items *items, const struct chart_metric *metric,
                      size_t item);
/* Keeps the items that have a value. */
void chart_items_require(struct chart_items *items, const struct chart_metric *metric);

/* From the least to the largest value. */
struct range {
    double low, high;
};
#define RANGE_NONE ((struct range) { INFINITY, -INFINITY })
void range_include(struct range *range, double value); /* NaN is no value */
struct range chart_range(const struct chart_items *items, const struct chart_metric *metric);

/* What all items share, machine, commit, time. chart_build() does it where a type has not. */
void chart_subtitle(struct figure *f, const struct chart *chart, const struct chart_items *items);
/* `how` to read it; then "Showing 24 of 60: `which`.", and outcomes that were not OK. */
void chart_caption(struct figure *f, const struct chart_items *items, const char *which,
                   const char *how, ...) __attribute__((format(printf, 4, 5)));
/* The conclusion behind the title of a figure of the program's: "Roofline: gemm/nn simd reaches 98
 * % of its roof". Titles that somebody gave stay as they are. */
void chart_conclude(struct figure *f, const struct chart *chart, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Hands the text over to a string of the figure. */
void chart_take(char **member, struct strbuf *text);
/* Gives the figure a reason why there is nothing. */
void chart_absent(struct figure *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The reason for an empty set of items: no match, or nothing OK. */
void chart_absent_items(struct figure *f, const struct chart *chart,
                        const struct chart_items *items);
/* The reason for want of a comparison. */
void chart_absent_base(struct figure *f);

/* A line with its points, and the spread of each as a bar; looks as the nth of the figure. */
struct chart_line {
    struct layer *spread, *line, *points;
};
struct chart_line chart_line(struct panel *p, const char *label, size_t nth);
void chart_line_add(const struct chart_line *line, double x, struct chart_value v);
/* Sets the bars of a panel's lines beside each other where some lie on others; after the last line.
 */
void chart_lines_apart(struct panel *p);

/* Data added from here on are about this item (figure_about()); NULL: about none. */
void chart_about(struct figure *f, const struct chart_item *item);

/* Distinct variants of the items in order of first use; returns the index of one. */
struct chart_names {
    const char *names[64];
    size_t nr;
};
size_t chart_names_index(struct chart_names *names, const char *name);

/* "" where it has none, as in imports. */
const char *chart_variant_of(const struct benchmark_name *name);
/* What a sentence calls a benchmark: "gemm/nn simd", each at most as long as a title has room for;
 * the kernel alone where there is no variant. */
enum { CHART_NAME_SIZE = 2 * NAME_SIZE + 8 };
char *chart_name_of(const struct benchmark_name *name, char text[CHART_NAME_SIZE]);
/* The name without one dim, key included: what a line over that dim, or a map, has in common. */
void chart_name_without(const struct benchmark_name *name, const char *dim,
                        struct benchmark_name *without);

/* Where in an array the one of a key and a run is, by hashing: histories have tens of thousands. */
typedef bool chart_place_fn(const void *owner, size_t at, const char *key, size_t run);
struct chart_places {
    const void *owner;  /* of the array, borrowed */
    chart_place_fn *is; /* is the one at that index of that key and run? */
    size_t *slots, nr;  /* 0, or index + 1 */
};
/* Of an array that will have at most so many. */
void chart_places_init(struct chart_places *places, const void *owner, chart_place_fn *is,
                       size_t most);
/* Its index + 1; where that is 0 there is none, and whoever adds it writes its own there. */
size_t *chart_place(struct chart_places *places, const char *key, size_t run);
void chart_places_release(struct chart_places *places);

/* Items of one run that differ in one or two dims alone, put together. */
struct chart_family {
    struct benchmark_name name; /* without those dims */
    size_t run;                 /* index into chart->runs */
    size_t *members;            /* indices of items; owned */
    size_t nr, capacity;
};
struct chart_families {
    struct chart_family *items;
    size_t nr, capacity;
    char **labels; /* one each, with the run's name where there are several; owned */
    char **own;    /* the same without the run; owned */
    bool with_run;
};
/* `second` may be NULL. Items that lack a dim are in no family. */
void chart_families_init(struct chart_families *families, const struct chart_items *items,
                         const char *dim, const char *second);
/* All shapes of what is alike in the rest: a kernel, variant, math, device and cache state. */
void chart_families_of_code(struct chart_families *families, const struct chart_items *items);
/* The same over whatever is varied: a dim; a parameter of the run, over which one benchmark is
 * joined through all runs; threads; or another number, over which all of the preset's group are. */
void chart_families_over(struct chart_families *families, const struct chart_items *items,
                         const struct chart_metric *x);
/* Names those of `shown`, one flag a family, anew: by what tells them apart. NULL: all. */
void chart_families_name(struct chart_families *families, const struct chart_items *items,
                         const bool *shown);
void chart_families_release(struct chart_families *families);

/* Where there are too many families, one a kernel is shown: that with most members, then the
 * largest other dims, then the best values of the metric. True for that one. */
bool chart_family_leads(const struct chart_families *families, const struct chart_items *items,
                        size_t nth, const struct chart_metric *metric);

/* Sorted distinct values of a dim over some items: the `most` largest, as *all says how many there
 * are. Returns how many those are. */
size_t chart_dim_values(const struct chart_items *items, const struct chart_family *family,
                        const char *dim, int64_t *values, size_t most, size_t *all);

/* A check() for types whose y is a metric. */
int chart_check_metric(const struct preset *preset, struct error *err);

/* A type draws the benchmarks that have a time, of which there is one at least, or anything else of
 * the chart; what cannot be drawn gets a reason. It may refuse presets that lack something. */
typedef void chart_items_fn(const struct chart *chart, struct chart_items *items, struct figure *f);
typedef void chart_draw_fn(const struct chart *chart, struct figure *f);
typedef int chart_check_fn(const struct preset *preset, struct error *err);

#endif
