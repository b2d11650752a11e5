/* SPDX-License-Identifier: MIT */
/* The same benchmarks in several panels side by side, a metric each ("panels"): what they demand
 * and what they reach. Rows are in the order of the first metric, so that the others show what goes
 * with it. */
#include "base/memory.h"
#include "output/chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 24, ROW_HEIGHT = 25, PANELS_MAX = 4, GROUPS_MAX = 4 };

struct split {
    const struct chart *chart;
    struct chart_items items;
    struct chart_metric metrics[PANELS_MAX];
    size_t nr_metrics;
    struct chart_names groups;
    struct figure *f;
};

static double value_of(const struct split *s, size_t metric, size_t item)
{
    return chart_value_of(&s->metrics[metric], &s->items.items[item], &s->items.context).value;
}

/* Items that none of the metrics applies to make no row. */
static void drop_without_values(struct split *s)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->items.nr; i++) {
        bool any = false;
        for (size_t k = 0; k < s->nr_metrics; k++)
            any |= isfinite(value_of(s, k, i));
        if (any)
            s->items.items[kept++] = s->items.items[i];
    }
    s->items.nr = kept;
}

/* By the first metric, the largest on top; what has none is last. */
static void sort_items(struct split *s)
{
    struct chart_item *items = s->items.items;

    for (size_t i = 1; i < s->items.nr; i++) {
        struct chart_item item = items[i];
        double value = value_of(s, 0, i);
        size_t at = i;
        for (; at > 0; at--) {
            double before = value_of(s, 0, at - 1);
            if (!(value > before) && !(isnan(before) && !isnan(value)))
                break;
            items[at] = items[at - 1];
        }
        items[at] = item;
    }
}

static void find_groups(struct split *s)
{
    for (size_t i = 0; i < s->items.nr; i++)
        chart_names_index(&s->groups, s->items.items[i].bench->variant);
}

static enum axis_scale scale_of(const struct split *s, size_t metric)
{
    double least = INFINITY, most = -INFINITY;

    for (size_t i = 0; i < s->items.nr; i++) {
        least = fmin(least, value_of(s, metric, i));
        most = fmax(most, value_of(s, metric, i));
    }
    return chart_scale(s->chart->preset, least, most);
}

static void add_bars(struct split *s, struct panel *p, size_t metric)
{
    bool several = s->groups.nr > 1 && s->groups.nr <= GROUPS_MAX;
    struct layer *bars[GROUPS_MAX];
    const struct chart_metric *m = &s->metrics[metric];
    struct layer *texts;
    char value_text[QUANTITY_TEXT_SIZE], text[2 * QUANTITY_TEXT_SIZE];

    for (size_t k = 0; k < (several ? s->groups.nr : 1); k++) {
        bars[k] = panel_layer(p, MARK_BARS, several ? s->groups.names[k] : NULL);
        bars[k]->across = true;
        style_nth(&bars[k]->style,
                  several ? chart_items_style(&s->items, "variant", s->groups.names[k], k) : 0);
    }
    texts = panel_layer(p, MARK_TEXT, NULL);
    texts->outside = true;
    for (size_t i = 0; i < s->items.nr; i++) {
        const char *variant = s->items.items[i].bench->variant;
        size_t k = several ? chart_names_index(&s->groups, variant) : 0;
        double value = value_of(s, metric, i);
        if (isfinite(value))
            layer_add(bars[k], value, (double)i);
        quantity_text(m->quantity, m->base, value, value_text);
        bool bare = m->quantity == QUANTITY_PLAIN && m->base[0] && isfinite(value);
        snprintf(text, sizeof(text), "%s%s%s", value_text, bare ? " " : "", bare ? m->base : "");
        layer_add_text(texts, 0, (double)i, ANCHOR_LEFT, text);
    }
}

static void add_panel(struct split *s, size_t metric)
{
    struct panel *p = figure_panel(s->f);
    const struct chart_metric *m = &s->metrics[metric];

    chart_items_axis(&s->items, &p->y);
    p->y.bare = true;
    p->joined = metric > 0;
    figure_set(&p->title, "%s", m->label);
    axis_set(&p->x, m->label, m->quantity, m->base, scale_of(s, metric));
    p->plot_height = ROW_HEIGHT * (double)s->items.nr + 12;
    add_bars(s, p, metric);
}

static void add_words(struct split *s)
{
    struct strbuf what;
    char how[400];
    size_t last = s->items.nr - 1;

    strbuf_init(&what);
    for (size_t k = 0; k < s->nr_metrics; k++)
        strbuf_addf(&what, "%s%s", k ? (k + 1 < s->nr_metrics ? ", " : " and ") : "",
                    s->metrics[k].label);
    snprintf(
        how, sizeof(how),
        "The same rows in all panels, sorted by %s. Rates are at the median time. Where an axis "
        "is logarithmic, ends compare and lengths do not.",
        s->metrics[0].label);
    chart_caption(s->f, &s->items, how, "of each kernel those that take longest");
    figure_set(&s->f->alt, "Bars of %s for %zu benchmark%s, from %s to %s by %s.", what.data,
               s->items.nr, s->items.nr == 1 ? "" : "s", s->items.items[0].label,
               s->items.items[last].label, s->metrics[0].label);
    strbuf_release(&what);
}

static void draw(struct split *s)
{
    sort_items(s);
    find_groups(s);
    s->f->columns = (int)s->nr_metrics;
    for (size_t k = 0; k < s->nr_metrics; k++)
        add_panel(s, k);
    chart_subtitle(s->f, s->chart, &s->items);
    add_words(s);
    figure_finish(s->f);
}

int check_split(const struct preset *preset, struct error *err)
{
    if (preset->panels.nr < 2 || preset->panels.nr > PANELS_MAX)
        return error_set(err, "\"panels\" must name two to %d metrics", PANELS_MAX);
    return 0;
}

struct figure *build_split(const struct chart *chart)
{
    struct split s = { .chart = chart, .f = chart_figure(chart) };

    for (; s.nr_metrics < chart->preset->panels.nr && s.nr_metrics < PANELS_MAX; s.nr_metrics++)
        s.metrics[s.nr_metrics] =
            chart_metric_chosen(chart->preset->panels.items[s.nr_metrics], "p50");
    chart_items_init(&s.items, chart);
    size_t timed = s.items.nr;
    drop_without_values(&s);
    chart_items_limit(&s.items, chart_limit(chart->preset, LIMIT), chart_item_median);
    if (!timed)
        chart_absent_items(s.f, chart, &s.items);
    else if (!s.items.nr)
        chart_absent(s.f, "none of the metrics applies to any of the %zu benchmarks with a time",
                     timed);
    else
        draw(&s);
    chart_items_release(&s.items);
    for (size_t k = 0; k < s.nr_metrics; k++)
        chart_metric_release(&s.metrics[k]);
    return s.f;
}
