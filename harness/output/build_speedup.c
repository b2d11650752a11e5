/* SPDX-License-Identifier: MIT */
/*
 * How many times as fast: bars from 1× on a logarithmic axis, so that twice as fast and half as
 * fast are as long. Above 1 is better, whatever the metric. Head against base, each with its
 * verdict; or with "group" the benchmarks of a run that are alike but for that field, against the
 * vendor's.
 */
#include "base/memory.h"
#include "output/chart_grid.h"
#include "output/compare_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 28, ROW_HEIGHT = 27, TICKS_MOST = 9 };

struct ratio {
    const char *label;
    double value, low, high; /* the interval; NaN where there is none */
    size_t kind;             /* verdict or series */
    const char *word;
};

struct speedup {
    const struct chart *chart;
    struct ratio *items;
    size_t nr, capacity;
    double reach[2]; /* low and high end of the axis */
    struct figure *f;
    struct panel *p;
};

/* The axis holds 1, all ratios and most intervals: a wild one does not squeeze the rest. */
static void find_reach(struct speedup *s, double least)
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
    double room = 0.5 * (ends[1] - ends[0]), pad = 0.04 * (ends[1] - ends[0]);
    s->reach[0] = exp(fmin(ends[0], fmax(wild[0], ends[0] - room)) - pad);
    s->reach[1] = exp(fmax(ends[1], fmin(wild[1], ends[1] + room)) + pad);
}

static double clamp(const struct speedup *s, double x)
{
    return fmax(s->reach[0], fmin(s->reach[1], x));
}

static void add_panel(struct speedup *s, const char *base)
{
    const char **names = memory_zeroed(s->nr + 1, sizeof(*names));
    char label[128];

    s->p = figure_panel(s->f);
    for (size_t i = 0; i < s->nr; i++)
        names[i] = s->items[i].label;
    axis_names(&s->p->y, names, s->nr, true);
    free(names);
    s->p->y.bare = true;
    s->p->plot_height = ROW_HEIGHT * (double)s->nr + 12;
    axis_set(&s->p->x, "speed-up, times as fast", QUANTITY_PLAIN, "", AXIS_LOG);
    s->p->x.low = s->reach[0];
    s->p->x.high = s->reach[1];
    ticks_ratio(&s->p->x.ticks, s->reach[0], s->reach[1], TICKS_MOST);
    snprintf(label, sizeof(label), "1×: as fast as %s", base);
    struct layer *one = panel_layer(s->p, MARK_RULES, label);
    one->style = (struct style) { .ink = INK_DARK, .width = 1.4, .opacity = 1 };
    layer_add(one, 1, NAN);
}

static void add_bar(const struct speedup *s, struct layer *bars, size_t i)
{
    layer_add(bars, clamp(s, s->items[i].value), (double)i)->low = 1;
}

static void add_intervals(struct speedup *s, const char *label)
{
    struct layer *intervals = panel_layer(s->p, MARK_INTERVALS, label);

    intervals->across = true;
    intervals->style.width = 1.4;
    for (size_t i = 0; i < s->nr; i++) {
        const struct ratio *r = &s->items[i];
        if (!isnan(r->low) && !isnan(r->high))
            layer_add_interval(intervals, (double)i, clamp(s, r->low), clamp(s, r->high));
    }
}

/* Colour, mark and word say the same. */
static void add_texts(struct speedup *s)
{
    struct layer *texts = panel_layer(s->p, MARK_TEXT, NULL);

    texts->outside = true;
    for (size_t i = 0; i < s->nr; i++) {
        const struct ratio *r = &s->items[i];
        char text[96];
        int decimals = r->value < 0.1 ? 3 : r->value < 10 ? 2 : 1;
        snprintf(text, sizeof(text), "%.*f×  %s", decimals, r->value, r->word);
        layer_add_text(texts, 0, (double)i, ANCHOR_LEFT, text);
    }
}

static void add_alt(struct speedup *s, const char *base)
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

/* Head against base. */

/* head / base of a metric as times as fast. */
static double as_speed(const struct metric *metric, double ratio)
{
    if (metric->direction == LOWER_IS_BETTER)
        return ratio > 0 ? 1 / ratio : INFINITY;
    return ratio;
}

static void collect_changes(struct speedup *s, const struct compare_rows *rows)
{
    for (size_t i = 0; i < rows->nr; i++) {
        const struct compare_row *row = rows->items[i];
        double one = as_speed(rows->metric, 1 + row->interval.low);
        double other = as_speed(rows->metric, 1 + row->interval.high);
        bool known = isfinite(row->interval.low);
        *array_push(s) = (struct ratio) {
            .label = rows->labels[i],
            .value = as_speed(rows->metric, 1 + row->change),
            .low = known ? fmin(one, other) : NAN,
            .high = known ? fmax(one, other) : NAN,
            .kind = (size_t)row->verdict,
            .word = verdict_name(row->verdict),
        };
    }
}

static void add_verdicts(struct speedup *s)
{
    struct layer *bars[INK_NR] = { NULL };
    struct verdict_points points;

    for (size_t i = 0; i < s->nr; i++) {
        enum ink ink = verdict_ink((enum verdict)s->items[i].kind);
        if (!bars[ink]) {
            bars[ink] = panel_layer(s->p, MARK_BARS, NULL);
            bars[ink]->across = true;
            bars[ink]->style.ink = ink;
            bars[ink]->style.opacity = 0.45;
        }
        add_bar(s, bars[ink], i);
    }
    add_intervals(s, "90 % interval");
    verdict_points_init(&points, s->p);
    for (size_t i = 0; i < s->nr; i++)
        layer_add(verdict_points_of(&points, (enum verdict)s->items[i].kind),
                  clamp(s, s->items[i].value), (double)i);
}

static void draw_changes(struct speedup *s, const struct compare_rows *rows)
{
    static const char base[] = "the base";
    struct strbuf sb;

    collect_changes(s, rows);
    find_reach(s, 1 + 2 * rows->comparison->settings.delta);
    add_panel(s, base);
    add_verdicts(s);
    add_texts(s);
    compare_rows_subtitle(rows, s->f, s->chart);
    compare_rows_banner(rows, s->f);
    strbuf_init(&sb);
    strbuf_addf(&sb,
                "How many times as fast the head is, by %s: right of 1× is faster. Triangle up: "
                "decided to be worse; down: decided to be better. Ends of bars compare by "
                "ratio. An interval that reaches the frame goes on.",
                rows->metric->label);
    compare_rows_caption(rows, false, &sb);
    figure_set(&s->f->caption, "%s", sb.data);
    strbuf_release(&sb);
    add_alt(s, base);
    figure_finish(s->f);
}

static void build_changes(struct speedup *s)
{
    struct compare_rows rows;

    compare_rows_init(&rows, s->chart, chart_limit(s->chart->preset, LIMIT), false);
    if (compare_rows_any(&rows, s->f))
        draw_changes(s, &rows);
    compare_rows_release(&rows);
}

/* Within a run. */

struct pairs {
    struct chart_items items;
    struct chart_grid grid;
    struct chart_metric metric;
    const char *base; /* the series that all rows are held against, or "the first of each" */
    bool intervals;
};

/* Half the interval of the metric's log, from the launches; NaN where they are too few, because the
 * samples of a process share its luck. Launches of both sides are apart, so squares add up. */
static double half_log(const struct metric_value *v, const struct chart_item *item)
{
    bool known = item->summary->nr_launches >= SUMMARY_LAUNCHES_MIN && v->interval.low > 0;

    return known ? log(v->interval.high / v->interval.low) / 2 : NAN;
}

static void add_ratio(struct speedup *s, struct pairs *g, const struct chart_item *item,
                      const struct chart_item *base, size_t series)
{
    struct metric_value v = metric_value(g->metric.metric, item->summary, item->context);
    struct metric_value b = metric_value(g->metric.metric, base->summary, base->context);
    double ratio = as_speed(g->metric.metric, v.value / b.value);
    double half = sqrt(pow(half_log(&v, item), 2) + pow(half_log(&b, base), 2));
    double low = ratio * exp(-half), high = ratio * exp(half);
    const char *word = isnan(half) ? "" : low > 1 ? "faster" : high < 1 ? "slower" : "unclear";

    if (!(ratio > 0) || !isfinite(ratio))
        return;
    g->intervals |= !isnan(half);
    *array_push(s) = (struct ratio) { item->label, ratio, low, high, series, word };
}

static void collect_pairs(struct speedup *s, struct pairs *g)
{
    for (size_t i = 0; i < g->grid.nr; i++) {
        const struct chart_grid_row *row = &g->grid.items[i];
        size_t base = chart_grid_base(row);
        const char *name = g->grid.series[base];
        g->base = !g->base || strcmp(g->base, name) == 0 ? name : "the first of each";
        for (size_t k = 0; k < g->grid.nr_series; k++)
            if (row->items[k] && k != base)
                add_ratio(s, g, row->items[k], row->items[base], k);
    }
}

static void add_series(struct speedup *s, const struct pairs *g)
{
    struct layer *bars[GRID_SERIES_MAX] = { NULL };

    for (size_t i = 0; i < s->nr; i++) {
        size_t k = s->items[i].kind;
        if (!bars[k]) {
            bars[k] = panel_layer(s->p, MARK_BARS, g->grid.series[k]);
            bars[k]->across = true;
            style_nth(&bars[k]->style,
                      chart_items_style(&g->items, g->grid.field, g->grid.series[k], k));
        }
        add_bar(s, bars[k], i);
    }
    if (g->intervals)
        add_intervals(s, "95 % interval");
}

static void add_pair_words(struct speedup *s, const struct pairs *g)
{
    char how[560], left[GRID_WORDS_SIZE];

    chart_grid_left_out(&g->grid, left, sizeof(left));
    snprintf(how, sizeof(how),
             "How many times as fast as %s, by %s, all else equal: right of 1× is faster.%s%s",
             g->base, g->metric.label,
             g->intervals ? " Intervals are from the launches of both." : "", left);
    chart_caption(s->f, &g->items, how, "");
    chart_subtitle(s->f, s->chart, &g->items);
    add_alt(s, g->base);
}

static void draw_pairs(struct speedup *s, struct pairs *g)
{
    chart_grid_limit(&g->grid, chart_limit(s->chart->preset, LIMIT));
    collect_pairs(s, g);
    if (!s->nr) {
        chart_absent(s->f, "%s does not apply to these benchmarks", g->metric.label);
        return;
    }
    find_reach(s, 1.05);
    add_panel(s, g->base);
    add_series(s, g);
    add_texts(s);
    add_pair_words(s, g);
    figure_finish(s->f);
}

static void build_pairs(struct speedup *s)
{
    const char *field = s->chart->preset->group;
    struct pairs g = { .metric = chart_metric_chosen(s->chart->preset->y, "p50") };

    chart_items_init(&g.items, s->chart);
    chart_grid_init(&g.grid, &g.items, field);
    chart_grid_pairs(&g.grid);
    if (!g.items.nr)
        chart_absent_items(s->f, s->chart, &g.items);
    else if (!g.grid.nr)
        chart_absent(s->f, "no two benchmarks are alike but for their %s", field);
    else
        draw_pairs(s, &g);
    chart_grid_release(&g.grid);
    chart_items_release(&g.items);
    chart_metric_release(&g.metric);
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

struct figure *build_speedup(const struct chart *chart)
{
    struct speedup s = { .chart = chart, .f = chart_figure(chart) };

    if (chart->preset->group)
        build_pairs(&s);
    else if (!chart->comparison || chart->run < 0)
        chart_absent(s.f, "there is no base to compare with; name one, or save a baseline");
    else
        build_changes(&s);
    array_release(&s);
    return s.f;
}
