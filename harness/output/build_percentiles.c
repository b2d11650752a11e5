/* SPDX-License-Identifier: MIT */
/* The whole distribution of each benchmark, min to max, as one line over the statistics. Times are
 * divided by the benchmark's own median, so that a nano and a large model show their tails on one
 * scale; the median itself stands in the legend. */
#include "output/chart.h"

#include <math.h>
#include <stdio.h>

enum { LIMIT = 8 };

static const struct {
    const char *name;
    double p;
} steps[] = {
    { "min", 0 },    { "p5", 0.05 },  { "p25", 0.25 }, { "p50", 0.5 }, { "p75", 0.75 },
    { "p90", 0.90 }, { "p95", 0.95 }, { "p99", 0.99 }, { "max", 1 },
};

enum { STEPS = sizeof(steps) / sizeof(steps[0]) };

/* Widest relative spread first: those lines have something to say. */
static double spread_of(const struct chart_item *item)
{
    const struct summary *s = item->summary;
    double p5 = stats_quantile(s->sorted, s->n, 0.05), p95 = stats_quantile(s->sorted, s->n, 0.95);

    return p95 / p5;
}

/* A percentile beyond what n samples carry is left out rather than invented. */
static bool carried(const struct summary *s, double p)
{
    return p == 0 || p == 1 || p == 0.5 || s->n >= stats_quantile_needs(p, 0.95);
}

static void add_line(struct panel *p, const struct chart_item *item, size_t nth)
{
    const struct summary *s = item->summary;
    double median = chart_item_median(item);
    char label[320], text[QUANTITY_TEXT_SIZE];

    quantity_text(QUANTITY_TIME, "", median, text);
    snprintf(label, sizeof(label), "%s  (p50 %s, n %zu)", item->label, text, s->n);
    struct layer *line = panel_layer(p, MARK_LINE, label);
    struct layer *points = panel_layer(p, MARK_POINTS, label);
    style_nth(&line->style, nth);
    style_nth(&points->style, nth);
    for (size_t i = 0; i < STEPS; i++) {
        if (!carried(s, steps[i].p))
            continue;
        double ratio = stats_quantile(s->sorted, s->n, steps[i].p) / median;
        layer_add(line, (double)i, ratio);
        layer_add(points, (double)i, ratio);
    }
}

static void draw(struct figure *f, const struct chart *chart, const struct chart_items *items)
{
    struct panel *p = figure_panel(f);
    const char *names[STEPS];
    size_t widest = 0;
    double least = INFINITY, most = 0;

    for (size_t i = 0; i < STEPS; i++)
        names[i] = steps[i].name;
    for (size_t i = 0; i < items->nr; i++) {
        const struct summary *s = items->items[i].summary;
        double median = chart_item_median(&items->items[i]);
        least = fmin(least, s->sorted[0] / median);
        most = fmax(most, s->sorted[s->n - 1] / median);
        if (spread_of(&items->items[i]) > spread_of(&items->items[widest]))
            widest = i;
    }
    axis_names(&p->x, names, STEPS, false);
    axis_set(&p->y, "latency / own median", QUANTITY_PLAIN, "",
             chart->preset->y_scale == SCALE_AUTO ? (most > 10 * least ? AXIS_LOG : AXIS_LINEAR)
                                                  : chart_scale(chart->preset, least, most));
    if (p->y.scale == AXIS_LINEAR) { /* ratios: 1 is the reference, not 0 */
        p->y.low = least - 0.06 * (most - least) - 0.005;
        p->y.high = most + 0.06 * (most - least) + 0.005;
    }
    for (size_t i = 0; i < items->nr; i++)
        add_line(p, &items->items[i], i);
    chart_subtitle(f, chart, items);
    chart_caption(f, items,
                  "One line a benchmark: its percentiles as multiples of its own median. A steep "
                  "right end is a long tail. Percentiles that the number of samples cannot carry "
                  "are left out.",
                  "of each kernel those with the widest p5 to p95");
    figure_set(&f->alt,
               "Percentiles of %zu benchmark%s relative to the median, from %.2f at the least to "
               "%.2f at most; the widest p5 to p95 is that of %s.",
               items->nr, items->nr == 1 ? "" : "s", least, most, items->items[widest].label);
    figure_finish(f);
}

struct figure *build_percentiles(const struct chart *chart)
{
    struct figure *f = chart_figure(chart);
    struct chart_items items;

    chart_items_init(&items, chart);
    chart_items_limit(&items, chart_limit(chart->preset, LIMIT), spread_of);
    if (items.nr)
        draw(f, chart, &items);
    else
        chart_absent_items(f, chart, &items);
    chart_items_release(&items);
    return f;
}
