/* SPDX-License-Identifier: MIT */
#include "chart/base/chart_samples.h"

#include "base/memory.h"
#include "chart/base/chart_scale.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Medians further apart than this share no axis. */
#define FAR 4.0
/* A frame reaches this many times as far as most p5 and p95, which are taken as no nearer than so.
 */
#define TAILS       4.0
#define LEAST_REACH 0.01
/* Values that span more than this are easier to compare on a logarithmic axis. */

int chart_samples_check(const struct preset *preset, struct error *err)
{
    const struct metric *metric = metric_find(preset->y ? preset->y : "p50", err);

    if (!metric)
        return -1;
    if (metric->kind == METRIC_FACT)
        return error_set(err,
                         "\"y\": %s is no matter of single samples; this type draws latency "
                         "(p50) or a rate (tokens, gflops, gbs)",
                         metric->id);
    return 0;
}

static int samples_by_benchmark_and_run(const void *x, const void *y)
{
    const struct chart_item *a = x, *b = y;
    int order = (a->own_at > b->own_at) - (a->own_at < b->own_at);

    return order ? order : (a->run > b->run) - (a->run < b->run);
}

/* Do the medians lie so far apart that one axis would squeeze them? */
static bool spans_far(const struct chart_samples *s)
{
    struct range medians = { INFINITY, 0 };

    for (size_t i = 0; i < s->items->nr; i++)
        range_include(&medians, chart_samples_quantile(s, &s->items->items[i], 0.5));
    return medians.high > FAR * medians.low;
}

void chart_absent_samples(struct figure *f)
{
    chart_absent(f, "no benchmark has %d samples or more: there is no distribution to draw",
                 SAMPLES_LEAST);
}

static bool explain_absence(struct chart_samples *s, size_t timed)
{
    if (s->few)
        chart_absent_samples(s->f);
    else if (s->zeros == timed)
        chart_absent(s->f,
                     "%zu benchmark%s with a median of 0 ns: too short for this clock, there is no "
                     "distribution to draw",
                     timed, timed == 1 ? "" : "s");
    else
        chart_absent(s->f, "%s (%s) does not apply to any of the %zu benchmarks with a time",
                     s->metric.metric->id, s->metric.label, timed);
    return false;
}

bool chart_samples_init(struct chart_samples *s, const struct chart *chart,
                        struct chart_items *items, struct figure *f, enum scale_choice scale)
{
    const struct metric *metric =
        metric_find(chart->preset->y ? chart->preset->y : "p50", &(struct error) { 0 });

    *s = (struct chart_samples) { .chart = chart, .items = items, .f = f };
    if (!metric || metric->kind == METRIC_FACT) {
        chart_absent(s->f, "\"%s\" is neither a latency nor a rate of samples", chart->preset->y);
        return false;
    }
    s->rate = metric->kind == METRIC_RATE;
    s->metric = chart_metric_of(metric);
    size_t timed = items->nr;
    /* Those that the rate does not apply to, or that took no time at all, have nothing to draw. */
    size_t kept = 0;
    for (size_t i = 0; i < s->items->nr; i++) {
        const struct chart_item *item = &s->items->items[i];
        if (!(chart_item_median(item) > 0))
            s->zeros++;
        else if (item->summary->n < SAMPLES_LEAST)
            s->few++;
        else if (isfinite(chart_samples_quantile(s, item, 0.5)))
            s->items->items[kept++] = *item;
    }
    s->items->nr = kept;
    if (!s->items->nr)
        return explain_absence(s, timed);
    /* Of several runs: one benchmark's rows beside each other. */
    qsort(s->items->items, s->items->nr, sizeof(*s->items->items), samples_by_benchmark_and_run);
    s->relative = scale == SCALE_AUTO && spans_far(s);
    return true;
}

static const char *group_field(const struct chart_samples *s)
{
    if (s->chart->preset->group)
        return s->chart->preset->group;
    return chart_nr_runs(s->chart) > 1 ? "run" : "variant";
}

static char *group_text(const struct chart_samples *s, const struct chart_item *item,
                        char text[GROUP_SIZE])
{
    return chart_group_of(item, s->chart, group_field(s), text);
}

/* The group of an item, or nr_groups where there is none yet. */
static size_t samples_find_group(const struct chart_samples *s, const char *text)
{
    size_t k = 0;

    while (k < s->nr_groups && strcmp(s->groups[k], text) != 0)
        k++;
    return k;
}

/* More groups than inks tell nothing apart. */
static void samples_name_groups(struct chart_samples *s)
{
    for (size_t i = 0; i < s->items->nr; i++) {
        char text[GROUP_SIZE];
        group_text(s, &s->items->items[i], text);
        if (samples_find_group(s, text) < s->nr_groups)
            continue;
        if (s->nr_groups == SAMPLES_GROUPS_MAX) {
            s->nr_groups = 0;
            return;
        }
        memcpy(s->groups[s->nr_groups++], text, sizeof(text));
    }
}

void chart_samples_limit(struct chart_samples *s, size_t limit,
                         double (*weight)(const struct chart_item *item))
{
    chart_items_limit(s->items, limit, weight);
    samples_name_groups(s);
}

enum ink chart_samples_ink(const struct chart_samples *s, size_t group)
{
    if (s->nr_groups < 2)
        return INK_BLUE;
    return (enum ink)chart_items_style(s->items, group_field(s), s->groups[group], group);
}

size_t chart_samples_group(const struct chart_samples *s, const struct chart_item *item)
{
    char text[GROUP_SIZE];
    size_t k = samples_find_group(s, group_text(s, item, text));

    return k < s->nr_groups ? k : 0;
}

double chart_samples_spread(const struct chart_item *item)
{
    const struct summary *s = item->summary;
    double p5 = stats_quantile(s->sorted, s->n, 0.05), p95 = stats_quantile(s->sorted, s->n, 0.95);

    return (p95 - p5) / chart_item_median(item);
}

const struct chart_item *chart_samples_widest(const struct chart_samples *s)
{
    const struct chart_item *widest = s->items->items;

    for (size_t i = 1; i < s->items->nr; i++)
        if (chart_samples_spread(&s->items->items[i]) > chart_samples_spread(widest))
            widest = &s->items->items[i];
    return widest;
}

void chart_samples_conclude(const struct chart_samples *s)
{
    const struct chart_item *widest = chart_samples_widest(s);
    char spread[TEXT_UNIT_SIZE], name[CHART_NAME_SIZE];

    if (s->items->nr > 1)
        chart_conclude(s->f, s->chart, "widest %s, p5 to p95 %s of its median",
                       chart_name_of(widest->bench, name),
                       text_share(chart_samples_spread(widest), spread));
}

/* Several runs of a benchmark are measured by the first of them, or their change would be gone. */
static double samples_reference_of(const struct chart_samples *s, const struct chart_item *item)
{
    const struct chart_item *first = item; /* those of one benchmark stand together */

    while (first > s->items->items && strcmp(first[-1].bench->key, item->bench->key) == 0)
        first--;
    return chart_item_median(first);
}

struct sample_unit chart_samples_unit(const struct chart_samples *s, const struct chart_item *item)
{
    if (s->relative && s->rate)
        return (struct sample_unit) { samples_reference_of(s, item), true };
    if (s->relative)
        return (struct sample_unit) { 1 / samples_reference_of(s, item), false };
    if (!s->rate)
        return (struct sample_unit) { 1, false };
    double rate = metric_value(s->metric.metric, item->summary, item->context).value;
    return (struct sample_unit) { rate * s->metric.factor * chart_item_median(item), true };
}

double sample_value(struct sample_unit unit, double ns)
{
    if (!unit.rate)
        return unit.at_one * ns;
    return ns > 0 ? unit.at_one / ns : (double)NAN;
}

double chart_samples_quantile(const struct chart_samples *s, const struct chart_item *item,
                              double p)
{
    const struct summary *summary = item->summary;

    return sample_value(chart_samples_unit(s, item),
                        stats_quantile(summary->sorted, summary->n, s->rate ? 1 - p : p));
}

char *chart_samples_median_text(const struct chart_samples *s, const struct chart_item *item,
                                char text[QUANTITY_TEXT_SIZE])
{
    if (!s->rate)
        return quantity_text(QUANTITY_TIME, "", chart_item_median(item), text);
    return chart_text(&s->metric, chart_value_of(&s->metric, item, item->context).value, text);
}

double *chart_samples_sorted(const struct chart_samples *s, const struct chart_item *item,
                             size_t *nr)
{
    const struct summary *summary = item->summary;
    double *values = memory_zeroed(summary->n + 1, sizeof(*values));
    struct sample_unit unit = chart_samples_unit(s, item);

    *nr = 0;
    for (size_t i = 0; i < summary->n; i++) {
        double value = sample_value(unit, summary->sorted[s->rate ? summary->n - 1 - i : i]);
        if (isfinite(value))
            values[(*nr)++] = value;
    }
    return values;
}

/* How far above the median p95 lies for three of four benchmarks, relative to it. */
static double usual_reach(const struct chart_samples *s)
{
    double *reaches = memory_zeroed(s->items->nr, sizeof(*reaches));

    for (size_t i = 0; i < s->items->nr; i++) {
        const struct chart_item *item = &s->items->items[i];
        double reach =
            chart_samples_quantile(s, item, 0.95) / chart_samples_quantile(s, item, 0.5) - 1;
        reaches[i] = isfinite(reach) ? reach : 0;
    }
    double usual = stats_select_quantile(reaches, s->items->nr, 0.75);
    free(reaches);
    return TAILS * fmax(usual, LEAST_REACH);
}

void chart_samples_frame(const struct chart_samples *s, double *low, double *high)
{
    double above = usual_reach(s);

    *low = INFINITY;
    *high = -INFINITY;
    for (size_t i = 0; i < s->items->nr; i++) {
        const struct chart_item *item = &s->items->items[i];
        double median = chart_samples_quantile(s, item, 0.5);
        double tail = item->summary->n < SAMPLES_STRIP ? 0 : 0.01;
        *low = fmin(*low, chart_samples_quantile(s, item, s->rate ? tail : 0));
        *high = fmax(*high, fmin(chart_samples_quantile(s, item, s->rate ? 1 : 1 - tail),
                                 median * (1 + above)));
    }
}

bool chart_samples_carries(const struct chart_item *item, double p)
{
    return p == 0.5 || item->summary->n >= stats_quantile_needs(p, 0.95);
}

/* "latency", "latency / median", "token rate" */
static const char *samples_label(const struct chart_samples *s)
{
    if (s->rate)
        return s->relative ? "rate / median" : s->metric.label;
    return s->relative ? "latency / median" : "latency";
}

void chart_samples_axis(const struct chart_samples *s, struct axis *axis, const char *label,
                        enum scale_choice scale, double low, double high)
{
    axis_set(axis, label ? label : samples_label(s),
             s->relative ? QUANTITY_PLAIN : s->metric.quantity, s->relative ? "" : s->metric.base,
             chart_scale_beyond(scale, SCALE_WIDE_SAMPLES, low, high));
    if (axis->scale == AXIS_LOG) {
        double room = pow(high / low, 0.04) * 1.01;
        axis->low = low / room;
        axis->high = high * room;
        return;
    }
    double room = high > low ? 0.04 * (high - low) : fmax(0.02 * fabs(high), 1e-9);
    axis->low = low >= 0 ? fmax(low - room, 0) : low - room;
    axis->high = high + room;
}

void chart_samples_explain(const struct chart_samples *s, struct strbuf *sb)
{
    if (s->relative)
        strbuf_addf(sb,
                    " Values are multiples of each benchmark's own median%s, because the medians "
                    "lie more than %g times apart.",
                    chart_nr_runs(s->chart) > 1 ? " in its first run here" : "", FAR);
    if (s->zeros)
        strbuf_addf(sb, " %zu benchmark%s with a median of 0 ns %s not shown.", s->zeros,
                    s->zeros == 1 ? "" : "s", s->zeros == 1 ? "is" : "are");
    if (s->few)
        strbuf_addf(sb, " %zu with fewer than %d samples %s not shown.", s->few, SAMPLES_LEAST,
                    s->few == 1 ? "is" : "are");
}
