/* SPDX-License-Identifier: MIT */
/*
 * What figures of raw samples share (box, violin, ecdf, quantiles, iterations): as what a sample is
 * drawn, and which benchmarks are.
 *
 * A preset's "y" is what a sample says: any latency (the default), or a rate of the work model at
 * that sample's time ("tokens", "gflops", "gbs"). Where medians of several benchmarks span far,
 * values are divided by the benchmark's own median, so that all shapes are seen on one axis; a
 * preset that asks for a "linear" or "log" axis keeps them as they are.
 */
#ifndef HARNESS_CHART_BASE_CHART_SAMPLES_H
#define HARNESS_CHART_BASE_CHART_SAMPLES_H

#include "chart/base/chart_base.h"

enum { SAMPLES_STRIP = 30 }; /* below so many samples the points themselves are drawn */
enum { SAMPLES_LEAST = 5 };  /* fewer have no quartiles: they are no distribution */
enum { SAMPLES_GROUPS_MAX = PALETTE_HUES };

struct chart_samples {
    const struct chart *chart;
    struct chart_items *items;  /* with a median above 0; those of one benchmark stand together */
    size_t zeros;               /* benchmarks that are not there for a median of 0 */
    size_t few;                 /* or for want of samples */
    struct chart_metric metric; /* of the values: a latency, or a rate */
    bool rate, relative;
    struct figure *f;
    char groups[SAMPLES_GROUPS_MAX][GROUP_SIZE]; /* what inks tell apart; 0 or 1: nothing */
    size_t nr_groups;
};

/* The reason where no benchmark has as many. */
void chart_absent_samples(struct figure *f);

/* A check() for these types: "y" absent, a latency or a rate. */
int chart_samples_check(const struct preset *preset, struct error *err);

/* Needs no release. False where the figure got a reason. `scale` is the preset's choice for the
 * axis of the values: on SCALE_AUTO values become relative where medians span far. */
bool chart_samples_init(struct chart_samples *s, const struct chart *chart,
                        struct chart_items *items, struct figure *f, enum scale_choice scale);
/* Keeps the `limit` benchmarks of most weight (chart_items_limit()), then names the groups. */
void chart_samples_limit(struct chart_samples *s, size_t limit,
                         double (*weight)(const struct chart_item *item));

/* p5 to p95 of the times as a part of the median: a weight. */
double chart_samples_spread(const struct chart_item *item);
/* The item of the largest. */
const struct chart_item *chart_samples_widest(const struct chart_samples *s);
/* Says behind the title which of several is widest. */
void chart_samples_conclude(const struct chart_samples *s);

/* How a time of one benchmark becomes a value in base units of the metric: at_one is that of 1 ns.
 */
struct sample_unit {
    double at_one;
    bool rate;
};
struct sample_unit chart_samples_unit(const struct chart_samples *s, const struct chart_item *item);
double sample_value(struct sample_unit unit, double ns); /* NaN for the rate of 0 ns */
/* The p-th quantile of the values; of rates that is the value of the (1 - p)-th of the times. */
double chart_samples_quantile(const struct chart_samples *s, const struct chart_item *item,
                              double p);
/* The median in words of the metric, whether values are drawn as they are or as multiples of it. */
char *chart_samples_median_text(const struct chart_samples *s, const struct chart_item *item,
                                char text[QUANTITY_TEXT_SIZE]);
/* All values in ascending order, *nr of them; free(). */
double *chart_samples_sorted(const struct chart_samples *s, const struct chart_item *item,
                             size_t *nr);
/* The ink of a group; the first where inks tell nothing apart. */
enum ink chart_samples_ink(const struct chart_samples *s, size_t group);
/* Which of the groups; 0 where inks tell nothing apart. */
size_t chart_samples_group(const struct chart_samples *s, const struct chart_item *item);

/* The part of the values that an axis shows: the bodies of all benchmarks and the tails of most, up
 * to four times as far above the median as p95 is for three of four benchmarks. One wild benchmark
 * does not squeeze the rest; what lies beyond must be said. */
void chart_samples_frame(const struct chart_samples *s, double *low, double *high);

/* Are there samples enough for this quantile? */
bool chart_samples_carries(const struct chart_item *item, double p);

/* Sets an axis of values that reach from low to high, with some room at both ends; log where the
 * preset says so, or where it says nothing and they span more than 10 times. */
void chart_samples_axis(const struct chart_samples *s, struct axis *axis, const char *label,
                        enum scale_choice scale, double low, double high);
/* "Values are multiples of each benchmark's own median, because ...", and what was left out: adds a
 * sentence each where there is something to say. */
void chart_samples_explain(const struct chart_samples *s, struct strbuf *sb);

#endif
