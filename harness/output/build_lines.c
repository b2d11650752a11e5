/* SPDX-License-Identifier: MIT */
/* A metric over one dim (batch, seq, ...): one line for each family of benchmarks that differ in
 * that dim alone. */
#include "output/chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LIMIT = 8, VALUES_MAX = 24 };

struct lines {
    const struct chart *chart;
    struct chart_items items;
    struct chart_families families;
    struct chart_metric metric;
    const char *dim;
    struct figure *f;
    double least, most;
    size_t drawn, eligible;
};

static bool is_line(const struct lines *l, const struct chart_family *family)
{
    int64_t values[VALUES_MAX];
    const struct chart_item *first = &l->items.items[family->members[0]];

    return chart_dim_values(&l->items, family, l->dim, values, VALUES_MAX) > 1 &&
           isfinite(chart_value_of(&l->metric, first, &l->items.context).value);
}

static const struct chart_item *item_at(const struct lines *l, const struct chart_family *family,
                                        int64_t value)
{
    for (size_t i = 0; i < family->nr; i++) {
        const struct chart_item *item = &l->items.items[family->members[i]];
        if (benchmark_name_dim(item->bench, l->dim, -1) == value)
            return item;
    }
    return NULL;
}

static void add_line(struct lines *l, struct panel *p, const struct chart_family *family,
                     const char *label)
{
    int64_t values[VALUES_MAX];
    size_t nr = chart_dim_values(&l->items, family, l->dim, values, VALUES_MAX);
    struct layer *spread = panel_layer(p, MARK_INTERVALS, NULL);
    struct layer *line = panel_layer(p, MARK_LINE, label);
    struct layer *points = panel_layer(p, MARK_POINTS, label);

    style_nth(&line->style, l->drawn);
    style_nth(&points->style, l->drawn);
    spread->style = line->style;
    spread->style.width = 1;
    spread->style.dash = DASH_SOLID;
    for (size_t i = 0; i < nr; i++) {
        const struct chart_item *item = item_at(l, family, values[i]);
        struct chart_value v = chart_value_of(&l->metric, item, &l->items.context);
        layer_add(line, (double)values[i], v.value);
        layer_add(points, (double)values[i], v.value);
        layer_add_interval(spread, (double)values[i], v.low, v.high);
        l->least = fmin(l->least, v.value);
        l->most = fmax(l->most, v.value);
    }
    l->drawn++;
}

/* Ticks stand at the sizes that were measured. */
static void add_size_ticks(struct lines *l, struct panel *p)
{
    struct chart_family all = { .nr = l->items.nr };
    int64_t values[VALUES_MAX];
    size_t *members = memory_zeroed(l->items.nr, sizeof(*members));

    for (size_t i = 0; i < l->items.nr; i++)
        members[i] = i;
    all.members = members;
    size_t nr = chart_dim_values(&l->items, &all, l->dim, values, VALUES_MAX);
    free(members);
    bool log = nr > 1 && values[0] > 0 && values[nr - 1] >= 8 * values[0];
    axis_set(&p->x, l->chart->preset->x_label ? l->chart->preset->x_label : l->dim, QUANTITY_PLAIN,
             "", log ? AXIS_LOG : AXIS_LINEAR);
    for (size_t i = 0; i < nr; i++) {
        char text[24];
        snprintf(text, sizeof(text), "%lld", (long long)values[i]);
        if (values[i] > 0 || !log)
            ticks_add(&p->x.ticks, (double)values[i], text, false);
    }
}

static void add_words(struct lines *l)
{
    char low[QUANTITY_TEXT_SIZE], high[QUANTITY_TEXT_SIZE], how[400], more[120] = "";

    quantity_text(l->metric.quantity, l->metric.base, l->least, low);
    quantity_text(l->metric.quantity, l->metric.base, l->most, high);
    if (l->eligible > l->drawn)
        snprintf(more, sizeof(more),
                 " Showing %zu of %zu lines: of each kernel the one with most sizes, or the best.",
                 l->drawn, l->eligible);
    snprintf(how, sizeof(how), "Points: %s%s; bars p5 to p95.%s", l->metric.metric->label,
             l->metric.metric->kind == METRIC_RATE ? " at the median time" : "", more);
    chart_caption(l->f, &l->items, how, "");
    figure_set(&l->f->alt, "Lines of %s over %s for %zu benchmark%s, from %s to %s.",
               l->metric.metric->label, l->dim, l->drawn, l->drawn == 1 ? "" : "s", low, high);
}

static bool is_chosen(const struct lines *l, size_t nth, bool crowded)
{
    return is_line(l, &l->families.items[nth]) &&
           (!crowded || chart_family_leads(&l->families, &l->items, nth, &l->metric));
}

static void draw(struct lines *l, size_t limit)
{
    const struct preset *preset = l->chart->preset;
    struct panel *p = figure_panel(l->f);

    l->least = INFINITY;
    for (size_t i = 0; i < l->families.nr; i++)
        l->eligible += is_line(l, &l->families.items[i]);
    for (size_t i = 0; i < l->families.nr && l->drawn < limit; i++)
        if (is_chosen(l, i, l->eligible > limit))
            add_line(l, p, &l->families.items[i], l->families.labels[i]);
    if (!l->drawn) {
        chart_absent(l->f, "no benchmark was measured at two or more values of %s, with %s", l->dim,
                     l->metric.metric->label);
        return;
    }
    add_size_ticks(l, p);
    axis_set(&p->y, preset->y_label ? preset->y_label : l->metric.metric->label, l->metric.quantity,
             l->metric.base, chart_scale(preset, l->least, l->most));
    chart_subtitle(l->f, l->chart, &l->items);
    add_words(l);
    figure_finish(l->f);
}

struct figure *build_lines(const struct chart *chart)
{
    struct lines l = { .chart = chart, .f = chart_figure(chart), .dim = "batch" };
    const struct metric *metric = metric_find(chart->preset->y, &(struct error) { 0 });

    if (chart->preset->x)
        l.dim = chart->preset->x;
    if (!metric)
        return chart_absent(l.f, "there is no metric \"%s\"", chart->preset->y);
    l.metric = chart_metric_of(metric);
    chart_items_init(&l.items, chart);
    chart_families_init(&l.families, &l.items, l.dim, NULL);
    if (l.items.nr)
        draw(&l, chart_limit(chart->preset, LIMIT));
    else
        chart_absent_items(l.f, chart, &l.items);
    chart_families_release(&l.families);
    chart_items_release(&l.items);
    return l.f;
}
