/* SPDX-License-Identifier: MIT */
/* One metric over another, a point a benchmark. With highlight_pareto, a line joins those that no
 * other beats in both. */
#include "base/memory.h"
#include "output/chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NAMED_MAX = 14, FAMILIES_MAX = 8 };

struct scatter {
    const struct chart *chart;
    struct chart_items items;
    struct chart_metric x, y;
    struct figure *f;
    struct panel *p;
    bool *front; /* of each item; owned */
    size_t nr_front;
};

static double x_of(const struct scatter *s, size_t i)
{
    return chart_value_of(&s->x, &s->items.items[i], &s->items.context).value;
}

static double y_of(const struct scatter *s, size_t i)
{
    return chart_value_of(&s->y, &s->items.items[i], &s->items.context).value;
}

static void drop_without_values(struct scatter *s)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->items.nr; i++) {
        if (isfinite(x_of(s, i) + y_of(s, i)))
            s->items.items[kept++] = s->items.items[i];
    }
    s->items.nr = kept;
}

/* Positive where a is better than b. */
static double better(const struct metric *metric, double a, double b)
{
    return metric->direction == LOWER_IS_BETTER ? b - a : a - b;
}

static void find_front(struct scatter *s)
{
    for (size_t i = 0; i < s->items.nr; i++) {
        s->front[i] = true;
        for (size_t k = 0; k < s->items.nr && s->front[i]; k++) {
            double dx = better(s->x.metric, x_of(s, k), x_of(s, i));
            double dy = better(s->y.metric, y_of(s, k), y_of(s, i));
            if (dx >= 0 && dy >= 0 && dx + dy > 0)
                s->front[i] = false;
        }
        s->nr_front += s->front[i];
    }
}

/* The next point of the front to the right of `x`, or items.nr. */
static size_t next_front(const struct scatter *s, double x)
{
    size_t next = s->items.nr;

    for (size_t i = 0; i < s->items.nr; i++)
        if (s->front[i] && x_of(s, i) > x && (next == s->items.nr || x_of(s, i) < x_of(s, next)))
            next = i;
    return next;
}

static void add_front(struct scatter *s)
{
    struct layer *line = panel_layer(s->p, MARK_LINE, "nothing is better in both");

    line->style.dash = DASH_SHORT;
    line->style.width = 1.4;
    for (size_t i = next_front(s, -INFINITY); i < s->items.nr; i = next_front(s, x_of(s, i)))
        layer_add(line, x_of(s, i), y_of(s, i));
}

/* Points are told apart by kernel where there are few, else by variant. */
static bool by_kernel(const struct scatter *s)
{
    struct chart_names kernels = { 0 };

    for (size_t i = 0; i < s->items.nr; i++)
        chart_names_index(&kernels, s->items.items[i].bench->kernel);
    return kernels.nr > 1 && kernels.nr <= FAMILIES_MAX;
}

static void add_points(struct scatter *s)
{
    struct chart_names families = { 0 };
    bool kernel = by_kernel(s);
    struct layer *points[64] = { NULL };
    struct layer *names = NULL;

    for (size_t i = 0; i < s->items.nr; i++) {
        const struct benchmark_name *bench = s->items.items[i].bench;
        size_t k = chart_names_index(&families, kernel ? bench->kernel : bench->variant);
        if (!points[k]) {
            points[k] = panel_layer(s->p, MARK_POINTS, families.names[k]);
            style_nth(&points[k]->style, k);
            points[k]->style.size = 10;
        }
        layer_add(points[k], x_of(s, i), y_of(s, i));
    }
    names = panel_layer(s->p, MARK_TEXT, NULL);
    names->place = true;
    for (size_t i = 0; i < s->items.nr; i++)
        if (s->items.nr <= NAMED_MAX || s->front[i])
            layer_add_text(names, x_of(s, i), y_of(s, i), ANCHOR_LEFT, s->items.items[i].label);
}

static enum axis_scale scale_of(const struct scatter *s,
                                double (*of)(const struct scatter *, size_t))
{
    double least = INFINITY, most = -INFINITY;

    for (size_t i = 0; i < s->items.nr; i++) {
        least = fmin(least, of(s, i));
        most = fmax(most, of(s, i));
    }
    return chart_scale(s->chart->preset, least, most);
}

static void draw(struct scatter *s)
{
    const struct preset *preset = s->chart->preset;
    char how[200];

    s->p = figure_panel(s->f);
    s->p->plot_height = 500;
    axis_set(&s->p->x, preset->x_label ? preset->x_label : s->x.metric->label, s->x.quantity,
             s->x.base, scale_of(s, x_of));
    axis_set(&s->p->y, preset->y_label ? preset->y_label : s->y.metric->label, s->y.quantity,
             s->y.base, scale_of(s, y_of));
    find_front(s);
    if (preset->highlight_pareto)
        add_front(s);
    add_points(s);
    chart_subtitle(s->f, s->chart, &s->items);
    snprintf(how, sizeof(how), "One point a benchmark.%s%s",
             preset->highlight_pareto ? " Dashed: those that no other beats in both metrics." : "",
             s->items.nr > NAMED_MAX ? " Named: those alone." : "");
    chart_caption(s->f, &s->items, how, "those that take longest");
    figure_set(&s->f->alt,
               "Points of %s over %s for %zu benchmarks; %zu are beaten by none in both.",
               s->y.metric->label, s->x.metric->label, s->items.nr, s->nr_front);
    figure_finish(s->f);
}

struct figure *build_scatter(const struct chart *chart)
{
    struct scatter s = { .chart = chart, .f = chart_figure(chart) };
    const struct metric *y = metric_find(chart->preset->y, &(struct error) { 0 });
    const struct metric *x =
        metric_find(chart->preset->x ? chart->preset->x : "p50", &(struct error) { 0 });

    if (!x || !y)
        return chart_absent(s.f, "x or y is not a metric");
    s.x = chart_metric_of(x);
    s.y = chart_metric_of(y);
    chart_items_init(&s.items, chart);
    bool any = s.items.nr > 0;
    drop_without_values(&s);
    s.front = memory_zeroed(s.items.nr + 1, sizeof(*s.front));
    if (!any)
        chart_absent_items(s.f, chart, &s.items);
    else if (s.items.nr < 2)
        chart_absent(s.f, "fewer than two benchmarks have both %s and %s", x->label, y->label);
    else
        draw(&s);
    free(s.front);
    chart_items_release(&s.items);
    return s.f;
}
