/* SPDX-License-Identifier: MIT */
/*
 * How many times as fast: points on a logarithmic axis, a line from 1× to each, so that twice as
 * fast and half as fast are as far. Above 1 is better, whatever the metric. Head against base, each
 * with its verdict; or with "group" the benchmarks of a run that are alike but for that field,
 * against the vendor's.
 */
#include "base/memory.h"
#include "chart/base/chart_base.h"
#include "chart/base/chart_grid.h"
#include "chart/base/compare_rows.h"
#include "chart/types/chart_types.h"
#include "reporters/compare_words.h"
#include "text/shorten.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPEEDUP_LIMIT = 28 };

struct ratio {
    const char *label, *key, *uuid; /* uuid: of its run; NULL: of several */
    double value, low, high;        /* the interval; NaN where there is none */
    size_t kind;                    /* verdict or series */
    const char *word, *base; /* base: what the row is held against, NULL where all have one */
};

struct speedup {
    const struct chart *chart;
    struct ratio *items;
    size_t nr, capacity;
    double reach[2]; /* low and high end of the axis */
    struct figure *f;
    struct panel *p;
};

enum { ROW_HEIGHT = 27, TICKS_MOST = 9 };

/* The axis holds 1 and `least` to both sides, all ratios and most intervals: a wild one does not
 * squeeze the rest. */
static void speedup_find_reach(struct speedup *s, double least)
{
    double ends[2] = { -log(least), log(least) }, wild[2] = { 0, 0 };

    for (size_t i = 0; i < s->nr; i++) {
        const struct ratio *r = &s->items[i];
        ends[0] = fmin(ends[0], log(r->value));
        ends[1] = fmax(ends[1], log(r->value));
        if (r->low > 0 && isfinite(r->high)) {
            wild[0] = fmin(wild[0], log(r->low));
            wild[1] = fmax(wild[1], log(r->high));
        }
    }
    double room = 0.25 * (ends[1] - ends[0]), pad = 0.04 * (ends[1] - ends[0]);
    s->reach[0] = exp(fmin(ends[0], fmax(wild[0], ends[0] - room)) - pad);
    s->reach[1] = exp(fmax(ends[1], fmin(wild[1], ends[1] + room)) + pad);
}

static double speedup_clamp(const struct speedup *s, double x)
{
    return fmax(s->reach[0], fmin(s->reach[1], x));
}

static void speedup_add_panel(struct speedup *s, const char *base)
{
    const char **names = memory_zeroed(s->nr + 1, sizeof(*names));
    char label[128];

    for (size_t i = 0; i < s->nr; i++)
        names[i] = s->items[i].label;
    s->p = figure_rows(s->f, names, s->nr, ROW_HEIGHT, 12);
    for (size_t i = 0; i < s->nr; i++)
        panel_row_is_about(s->p, i, s->items[i].key, s->items[i].uuid);
    free(names);
    axis_set(&s->p->x, "speed-up, times as fast", QUANTITY_PLAIN, "", AXIS_LOG);
    s->p->x.low = s->reach[0];
    s->p->x.high = s->reach[1];
    ticks_ratio(&s->p->x.ticks, s->reach[0], s->reach[1], TICKS_MOST);
    snprintf(label, sizeof(label), "1×: as fast as %s", base);
    struct layer *one = panel_stroke(s->p, MARK_RULES, label, INK_DARK, DASH_SOLID, 1.4);
    layer_add(one, 1, NAN);
}

/* A line from 1x to each point, in the ink of its points. */
static struct layer *speedup_stems(const struct speedup *s, enum ink ink)
{
    struct layer *stems = panel_stroke(s->p, MARK_SEGMENTS, NULL, ink, DASH_SOLID, 2.6);

    stems->across = true;
    return stems;
}

static void speedup_add_stem(const struct speedup *s, struct layer *stems, size_t i)
{
    double value = speedup_clamp(s, s->items[i].value);

    layer_add_interval(stems, (double)i, fmin(1, value), fmax(1, value));
}

/* As far as the frame goes; what is cut off is said in words. */
static void speedup_add_interval(const struct speedup *s, struct layer *intervals, size_t i)
{
    const struct ratio *r = &s->items[i];
    double low = speedup_clamp(s, r->low), high = speedup_clamp(s, r->high);
    char from[QUANTITY_TEXT_SIZE], to[QUANTITY_TEXT_SIZE];

    struct datum *d = layer_add_interval(intervals, (double)i, low, high);
    if (low != r->low || high != r->high)
        figure_set(&d->text, "%s to %s", ratio_text(r->low, from), ratio_text(r->high, to));
}

static void speedup_add_intervals(struct speedup *s, const char *label)
{
    struct layer *intervals = panel_whiskers(s->p, label, 1.4);

    for (size_t i = 0; i < s->nr; i++) {
        const struct ratio *r = &s->items[i];
        if (!isnan(r->low) && !isnan(r->high))
            speedup_add_interval(s, intervals, i);
    }
}

/* Colour, mark and word say the same. */
static void speedup_add_texts(struct speedup *s)
{
    struct layer *texts = panel_outside(s->p);

    for (size_t i = 0; i < s->nr; i++) {
        const struct ratio *r = &s->items[i];
        char times[QUANTITY_TEXT_SIZE], *base = shorten_text(r->base ? r->base : "", 40);
        struct strbuf text;
        strbuf_init(&text);
        strbuf_addf(&text, "%s%s%s  %s", ratio_text(r->value, times), *base ? " " : "", base,
                    r->word);
        layer_add_outside(texts, i, text.data);
        strbuf_release(&text);
        free(base);
    }
}

static void speedup_add_alt(struct speedup *s, const char *base)
{
    struct ratio least = { .label = "", .value = INFINITY }, most = { .label = "" };

    for (size_t i = 0; i < s->nr; i++) {
        least = s->items[i].value < least.value ? s->items[i] : least;
        most = s->items[i].value > most.value ? s->items[i] : most;
    }
    figure_set(&s->f->alt, "Speed-up of %zu benchmark%s against %s, from %.3g× (%s) to %.3g× (%s).",
               s->nr, s->nr == 1 ? "" : "s", base, least.value, least.label, most.value,
               most.label);
}

/* head / base of a metric as times as fast. */
static double speedup_ratio(const struct metric *metric, double ratio)
{
    if (metric->direction == LOWER_IS_BETTER)
        return ratio > 0 ? 1 / ratio : INFINITY;
    return ratio;
}

static void speedup_add_verdicts(struct speedup *s)
{
    struct layer *stems[INK_NR] = { NULL };
    struct verdict_points points;

    for (size_t i = 0; i < s->nr; i++) {
        enum ink ink = verdict_ink((enum verdict)s->items[i].kind);
        if (!stems[ink])
            stems[ink] = speedup_stems(s, ink);
        speedup_add_stem(s, stems[ink], i);
    }
    speedup_add_intervals(s, "90 % interval");
    verdict_points_init(&points, s->p);
    for (size_t i = 0; i < s->nr; i++)
        layer_add(verdict_points_of(&points, (enum verdict)s->items[i].kind),
                  speedup_clamp(s, s->items[i].value), (double)i);
}

void build_speedup_sides(const struct chart *chart, struct figure *f)
{
    static const char base[] = "the base";
    struct speedup s = { .chart = chart, .f = f };
    struct compare_rows rows;

    if (compare_rows_init(&rows, chart, f, chart_limit(chart->preset, SPEEDUP_LIMIT), false)) {
        for (size_t i = 0; i < rows.nr; i++) {
            const struct compare_row *row = rows.items[i];
            double one = speedup_ratio(rows.metric, 1 + row->interval.low);
            double other = speedup_ratio(rows.metric, 1 + row->interval.high);
            bool known = isfinite(row->interval.low);
            *array_push(&s) = (struct ratio) {
                .label = rows.labels[i],
                .key = row->item->bench->key,
                .value = speedup_ratio(rows.metric, 1 + row->change),
                .low = known ? fmin(one, other) : NAN,
                .high = known ? fmax(one, other) : NAN,
                .kind = (size_t)row->verdict,
                .word = verdict_word(row->verdict, row->item->metric),
            };
        }
        speedup_find_reach(&s, 1 + 2 * rows.comparison->settings.delta);
        speedup_add_panel(&s, base);
        speedup_add_verdicts(&s);
        speedup_add_texts(&s);
        compare_rows_words(&rows, chart, f,
                           "How many times as fast the head is, by %s: right of 1× is faster. "
                           "Distances compare by "
                           "ratio.%s",
                           rows.metric->label,
                           rows.comparison->family
                               ? " Triangle up: decided to be worse; down: decided to be "
                                 "better. An interval that reaches the frame goes on."
                               : "");
        speedup_add_alt(&s, base);
    }
    compare_rows_release(&rows);
    array_release(&s);
}

/* ---- the benchmarks of a run that are alike but for the preset's group, against the vendor's ----
 */

struct pairs {
    const struct chart_items *items;
    struct chart_grid grid;
    struct chart_metric metric;
    const char *base; /* the series that all rows are held against; NULL: each has its own */
    bool intervals;
};

/* Half the interval of the metric's log, from the launches; NaN where they are too few, because the
 * samples of a process share its luck. Launches of both sides are apart, so squares add up. */
static double half_log(const struct metric_value *v, const struct chart_item *item)
{
    bool known = item->summary->nr_launches >= SUMMARY_LAUNCHES_MIN && v->interval.low > 0;

    return known ? log(v->interval.high / v->interval.low) / 2 : NAN;
}

static void speedup_add_ratio(struct speedup *s, struct pairs *g, const struct chart_item *item,
                              const struct chart_item *base, size_t series)
{
    struct metric_value v = metric_value(g->metric.metric, item->summary, item->context);
    struct metric_value b = metric_value(g->metric.metric, base->summary, base->context);
    double ratio = speedup_ratio(g->metric.metric, v.value / b.value);
    double half = sqrt(pow(half_log(&v, item), 2) + pow(half_log(&b, base), 2));
    double low = ratio * exp(-half), high = ratio * exp(half);
    const char *word = isnan(half) ? "" : low > 1 ? "faster" : high < 1 ? "slower" : "unclear";

    if (!(ratio > 0) || !isfinite(ratio))
        return;
    g->intervals |= !isnan(half);
    *array_push(s) = (struct ratio) { item->label, item->bench->key, item->of->uuid, ratio, low,
                                      high,        series,           word,           NULL };
}

/* What a row of the grid is held against. */
static const char *speedup_base_of(const struct pairs *g, size_t row)
{
    return g->grid.series[chart_grid_base(&g->grid.items[row])];
}

static const char *speedup_base_words(const struct pairs *g)
{
    return g->base ? g->base : "the one named beside it";
}

static void speedup_add_series(struct speedup *s, const struct pairs *g)
{
    struct layer *stems[GRID_SERIES_MAX] = { NULL }, *points[GRID_SERIES_MAX] = { NULL };

    for (size_t i = 0; i < s->nr; i++) {
        size_t k = s->items[i].kind;
        struct style style = { .size = 0 };
        style_nth(&style, chart_items_style(g->items, g->grid.field, g->grid.series[k], k));
        if (!points[k]) {
            stems[k] = speedup_stems(s, style.ink);
            points[k] = panel_points(s->p, g->grid.series[k], style.ink, style.shape, 11);
            points[k]->style.hollow = style.hollow;
        }
        speedup_add_stem(s, stems[k], i);
        layer_add(points[k], speedup_clamp(s, s->items[i].value), (double)i);
    }
    if (g->intervals)
        speedup_add_intervals(s, "95 % interval");
}

/* The series that is fastest all in all: the geometric mean of its ratios, and their range. */
static void speedup_conclude(struct speedup *s, const struct pairs *g)
{
    double sums[GRID_SERIES_MAX] = { 0 };
    size_t nr[GRID_SERIES_MAX] = { 0 }, best = 0;
    struct range range = RANGE_NONE;
    char mean[QUANTITY_TEXT_SIZE], low[QUANTITY_TEXT_SIZE], high[QUANTITY_TEXT_SIZE];

    for (size_t i = 0; i < s->nr; i++) {
        sums[s->items[i].kind] += log(s->items[i].value);
        nr[s->items[i].kind]++;
    }
    for (size_t k = 0; k < g->grid.nr_series; k++)
        if (nr[k] && (!nr[best] || sums[k] / (double)nr[k] > sums[best] / (double)nr[best]))
            best = k;
    for (size_t i = 0; i < s->nr; i++)
        if (s->items[i].kind == best)
            range_include(&range, s->items[i].value);
    ratio_text(exp(sums[best] / (double)nr[best]), mean);
    if (g->base && nr[best] > 1)
        chart_conclude(s->f, s->chart, "%s is %s as fast as %s (%s to %s)", g->grid.series[best],
                       mean, g->base, ratio_text(range.low, low), ratio_text(range.high, high));
    else if (g->base)
        chart_conclude(s->f, s->chart, "%s is %s as fast as %s", g->grid.series[best], mean,
                       g->base);
}

static void pairs_draw(struct speedup *s, struct pairs *g)
{
    chart_grid_limit(&g->grid, chart_limit(s->chart->preset, SPEEDUP_LIMIT));
    g->base = speedup_base_of(g, 0);
    for (size_t i = 1; i < g->grid.nr && g->base; i++)
        if (strcmp(g->base, speedup_base_of(g, i)) != 0)
            g->base = NULL;
    for (size_t i = 0; i < g->grid.nr; i++) {
        const struct chart_grid_row *row = &g->grid.items[i];
        size_t base = chart_grid_base(row), before = s->nr;
        for (size_t k = 0; k < g->grid.nr_series; k++)
            if (row->items[k] && k != base)
                speedup_add_ratio(s, g, row->items[k], row->items[base], k);
        for (; !g->base && before < s->nr; before++)
            s->items[before].base = speedup_base_of(g, i);
    }
    if (!s->nr) {
        chart_absent(s->f, "%s does not apply to these benchmarks", g->metric.label);
        return;
    }
    speedup_find_reach(s, 1.05);
    speedup_add_panel(s, speedup_base_words(g));
    speedup_add_series(s, g);
    speedup_add_texts(s);
    char left[GRID_WORDS_SIZE];
    chart_grid_left_out(&g->grid, left, sizeof(left));
    chart_caption(s->f, g->items, "",
                  "How many times as fast as %s, by %s, all else equal: right of 1× is faster.%s%s",
                  speedup_base_words(g), g->metric.label,
                  g->intervals ? " Intervals are from the launches of both." : "", left);
    speedup_add_alt(s, speedup_base_words(g));
    speedup_conclude(s, g);
}

void build_speedup_groups(const struct chart *chart, struct chart_items *items, struct figure *f)
{
    struct speedup s = { .chart = chart, .f = f };
    struct pairs g = { .items = items, .metric = chart_metric_chosen(chart->preset->y, "p50") };

    if (chart_grid_init_pairs(&g.grid, items, f))
        pairs_draw(&s, &g);
    chart_grid_release(&g.grid);
    chart_metric_release(&g.metric);
    array_release(&s);
}

int check_speedup(const struct preset *preset, struct error *err)
{
    const struct metric *metric;

    if (!preset->group)
        return 0;
    if (chart_grid_check(preset->group, err))
        return -1;
    metric = metric_find(preset->y ? preset->y : "p50", err);
    if (metric && metric->direction == NO_DIRECTION)
        return error_set(err, "\"y\": %s is neither better high nor better low", metric->id);
    return metric ? 0 : -1;
}
