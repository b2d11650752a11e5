/* SPDX-License-Identifier: MIT */
#include "output/chart_grid.h"
#include "output/speedup_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct pairs {
    struct chart_items items;
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

static void add_ratio(struct speedup *s, struct pairs *g, const struct chart_item *item,
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
    *array_push(s) = (struct ratio) { item->label, ratio, low, high, series, word, NULL };
}

/* What a row of the grid is held against. */
static const char *base_of(const struct pairs *g, size_t row)
{
    return g->grid.series[chart_grid_base(&g->grid.items[row])];
}

static void find_base(struct pairs *g)
{
    g->base = base_of(g, 0);
    for (size_t i = 1; i < g->grid.nr && g->base; i++)
        if (strcmp(g->base, base_of(g, i)) != 0)
            g->base = NULL;
}

static const char *base_words(const struct pairs *g)
{
    return g->base ? g->base : "the one named beside it";
}

static void collect_pairs(struct speedup *s, struct pairs *g)
{
    find_base(g);
    for (size_t i = 0; i < g->grid.nr; i++) {
        const struct chart_grid_row *row = &g->grid.items[i];
        size_t base = chart_grid_base(row), before = s->nr;
        for (size_t k = 0; k < g->grid.nr_series; k++)
            if (row->items[k] && k != base)
                add_ratio(s, g, row->items[k], row->items[base], k);
        for (; !g->base && before < s->nr; before++)
            s->items[before].base = base_of(g, i);
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
        speedup_add_bar(s, bars[k], i);
    }
    if (g->intervals)
        speedup_add_intervals(s, "95 % interval");
}

static void add_pair_words(struct speedup *s, const struct pairs *g)
{
    char how[560], left[GRID_WORDS_SIZE];

    chart_grid_left_out(&g->grid, left, sizeof(left));
    snprintf(how, sizeof(how),
             "How many times as fast as %s, by %s, all else equal: right of 1× is faster.%s%s",
             base_words(g), g->metric.label,
             g->intervals ? " Intervals are from the launches of both." : "", left);
    chart_caption(s->f, &g->items, how, "");
    chart_subtitle(s->f, s->chart, &g->items);
    speedup_add_alt(s, base_words(g));
}

static void draw_pairs(struct speedup *s, struct pairs *g)
{
    chart_grid_limit(&g->grid, chart_limit(s->chart->preset, SPEEDUP_LIMIT));
    collect_pairs(s, g);
    if (!s->nr) {
        chart_absent(s->f, "%s does not apply to these benchmarks", g->metric.label);
        return;
    }
    speedup_find_reach(s, 1.05);
    speedup_add_panel(s, base_words(g));
    add_series(s, g);
    speedup_add_texts(s);
    add_pair_words(s, g);
    figure_finish(s->f);
}

void speedup_build_pairs(struct speedup *s)
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
