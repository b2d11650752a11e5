/* SPDX-License-Identifier: MIT */
/* Throughput set against what a model is: per layer, and per work of a token, because layers differ
 * in work. Points over the number of parameters, larger for wider models, coloured by throughput.
 */
#include "base/memory.h"
#include "output/chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMED_MAX = 8, SMALLEST = 9, LARGEST = 30, PLOT_HEIGHT = 380 };

static const struct {
    const char *metric, *label, *base;
} panels[] = {
    { "tokens / layers", "throughput per layer", " tokens/s" },
    { "tokens * 1e9 / flops_per_token", "throughput per GFLOP of a token", " tokens/s" },
    { "gflops", "compute rate", "FLOP/s" },
};

enum { PANELS = sizeof(panels) / sizeof(panels[0]) };

struct efficiency {
    const struct chart *chart;
    struct chart_items items;
    struct chart_metric x, y[PANELS], size, colour;
    double low[2], high[2]; /* of size and colour */
    bool log;               /* the colours' scale */
    bool *chosen;           /* of each item; owned */
    struct figure *f;
};

static double value_of(const struct efficiency *e, const struct chart_metric *m, size_t item)
{
    return chart_value_of(m, &e->items.items[item], &e->items.context).value;
}

/* A point needs a model and a throughput; then it has all the rest. */
static void keep_models(struct efficiency *e)
{
    size_t kept = 0;

    for (size_t i = 0; i < e->items.nr; i++)
        if (value_of(e, &e->x, i) > 0 && value_of(e, &e->y[0], i) > 0 &&
            value_of(e, &e->y[1], i) > 0 && value_of(e, &e->y[2], i) > 0)
            e->items.items[kept++] = e->items.items[i];
    e->items.nr = kept;
}

/* Where there are too many points to name, of each kernel the fastest. */
static void keep_fastest(struct efficiency *e)
{
    size_t kept = 0, all = e->items.nr;

    for (size_t i = 0; all > NAMED_MAX && i < all; i++) {
        bool fastest = true;
        for (size_t k = 0; k < all; k++) {
            double ahead = value_of(e, &e->colour, k) - value_of(e, &e->colour, i);
            if (strcmp(e->items.items[k].bench->kernel, e->items.items[i].bench->kernel) == 0 &&
                (ahead > 0 || (ahead == 0 && k < i)))
                fastest = false;
        }
        e->chosen[i] = fastest;
    }
    for (size_t i = 0; i < all; i++)
        if (all <= NAMED_MAX || e->chosen[i])
            e->items.items[kept++] = e->items.items[i];
    e->items.nr = kept;
    e->items.left_out = all - kept;
}

static void find_range(const struct efficiency *e, const struct chart_metric *m, double *low,
                       double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t i = 0; i < e->items.nr; i++) {
        *low = fmin(*low, value_of(e, m, i));
        *high = fmax(*high, value_of(e, m, i));
    }
}

/* Where a value lies between the ends, 0 to 1; in the middle where they are one. */
static double share_of(double value, double low, double high, bool log_scale)
{
    if (!(high > low))
        return 0.5;
    return log_scale ? log(value / low) / log(high / low) : (value - low) / (high - low);
}

/* Of each kernel one: its model says enough, unless two kernels are of one model. */
static const char *label_of(const struct efficiency *e, size_t item)
{
    const struct chart_item *items = e->items.items;

    for (size_t i = 0; i < e->items.nr; i++)
        if (!e->items.left_out || (i != item && items[i].model == items[item].model))
            return items[item].label;
    return items[item].model->name;
}

static void add_points(const struct efficiency *e, struct panel *p, size_t panel)
{
    struct layer *points = panel_layer(p, MARK_POINTS, NULL);
    struct layer *names = panel_layer(p, MARK_TEXT, NULL);

    names->place = true;
    for (size_t i = 0; i < e->items.nr; i++) {
        double x = value_of(e, &e->x, i), y = value_of(e, &e->y[panel], i);
        struct datum *d = layer_add(points, x, y);
        double width = share_of(value_of(e, &e->size, i), e->low[0], e->high[0], false);
        d->size = SMALLEST + (LARGEST - SMALLEST) * (isfinite(width) ? width : 0);
        d->share = share_of(value_of(e, &e->colour, i), e->low[1], e->high[1], e->log);
        if (e->items.nr <= NAMED_MAX)
            layer_add_text(names, x, y, ANCHOR_LEFT, label_of(e, i));
    }
}

static void add_panel(struct efficiency *e, size_t panel)
{
    const struct preset *preset = e->chart->preset;
    struct panel *p = figure_panel(e->f);
    double low, high;

    find_range(e, &e->x, &low, &high);
    axis_set(&p->x, preset->x_label ? preset->x_label : e->x.label, e->x.quantity, e->x.base,
             high > 2 * low ? AXIS_LOG : AXIS_LINEAR);
    find_range(e, &e->y[panel], &low, &high);
    axis_set(&p->y, panels[panel].label, QUANTITY_RATE, panels[panel].base,
             chart_scale(preset, low, high));
    p->plot_height = PLOT_HEIGHT;
    add_points(e, p, panel);
}

static void add_words(struct efficiency *e)
{
    char how[400], low[QUANTITY_TEXT_SIZE], high[QUANTITY_TEXT_SIZE];
    size_t best = 0;

    snprintf(
        how, sizeof(how),
        "One point a benchmark: its size says %.60s, its colour %.60s. Per layer and per work of "
        "a token small models look best; the compute rate alone compares models of different "
        "size.%s",
        e->size.label, e->colour.label, e->items.nr > NAMED_MAX ? " Too many points to name." : "");
    chart_caption(e->f, &e->items, how, "the fastest of each kernel");
    for (size_t i = 1; i < e->items.nr; i++)
        if (value_of(e, &e->y[2], i) > value_of(e, &e->y[2], best))
            best = i;
    quantity_text(e->colour.quantity, e->colour.base, e->low[1], low);
    quantity_text(e->colour.quantity, e->colour.base, e->high[1], high);
    figure_set(&e->f->alt,
               "Throughput per layer, throughput per GFLOP of a token and compute rate for %zu "
               "benchmark%s; throughput runs from %s to %s, and %s has the highest compute rate.",
               e->items.nr, e->items.nr == 1 ? "" : "s", low, high, e->items.items[best].label);
}

static void draw(struct efficiency *e)
{
    find_range(e, &e->size, &e->low[0], &e->high[0]);
    find_range(e, &e->colour, &e->low[1], &e->high[1]);
    e->log = e->low[1] > 0 && e->high[1] > 20 * e->low[1];
    e->f->columns = PANELS;
    for (size_t k = 0; k < PANELS; k++)
        add_panel(e, k);
    if (isfinite(e->low[1]))
        figure_scale_bar(e->f, e->colour.label, e->colour.quantity, e->colour.base, e->low[1],
                         e->high[1], e->log);
    chart_subtitle(e->f, e->chart, &e->items);
    add_words(e);
    figure_finish(e->f);
}

struct figure *build_efficiency(const struct chart *chart)
{
    const struct preset *preset = chart->preset;
    struct efficiency e = { .chart = chart,
                            .x = chart_metric_chosen(preset->x, "parameters"),
                            .size = chart_metric_chosen(preset->size, "width"),
                            .colour = chart_metric_chosen(preset->colour, "tokens"),
                            .f = chart_figure(chart) };

    for (size_t k = 0; k < PANELS; k++)
        e.y[k] = chart_metric_chosen(panels[k].metric, NULL);
    chart_items_init(&e.items, chart);
    size_t timed = e.items.nr;
    keep_models(&e);
    e.chosen = memory_zeroed(e.items.nr + 1, sizeof(*e.chosen));
    keep_fastest(&e);
    if (!timed)
        chart_absent_items(e.f, chart, &e.items);
    else if (!e.items.nr)
        chart_absent(
            e.f, "none of the %zu benchmarks with a time is a model with tokens per second", timed);
    else
        draw(&e);
    free(e.chosen);
    chart_items_release(&e.items);
    for (size_t k = 0; k < PANELS; k++)
        chart_metric_release(&e.y[k]);
    chart_metric_release(&e.x);
    chart_metric_release(&e.size);
    chart_metric_release(&e.colour);
    return e.f;
}
