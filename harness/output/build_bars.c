/* SPDX-License-Identifier: MIT */
/* One horizontal bar a benchmark: a metric of the median, whiskers over p5 to p95 and, for times,
 * p99. Rows, because names are long and values are read from the left. */
#include "output/chart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LIMIT = 24, ROW_HEIGHT = 27, GROUPS_MAX = 4 };

struct bars {
    const struct chart *chart;
    struct chart_items items;
    struct chart_metric metric;
    const char *group; /* what bars are told apart by */
    char groups[GROUPS_MAX + 1][GROUP_SIZE];
    size_t nr_groups; /* above GROUPS_MAX: too many to tell apart by colour */
    struct figure *f;
    struct panel *p;
    double least, most;       /* over values and whiskers */
    size_t smallest, largest; /* items */
};

static struct chart_value value_of(const struct bars *b, size_t i)
{
    return chart_value_of(&b->metric, &b->items.items[i], &b->items.context);
}

/* Items that the metric does not apply to make no row. */
static void drop_without_value(struct bars *b)
{
    size_t kept = 0;

    for (size_t i = 0; i < b->items.nr; i++) {
        if (isfinite(value_of(b, i).value))
            b->items.items[kept++] = b->items.items[i];
    }
    b->items.nr = kept;
}

/* Runs of one benchmark stand together. */
static void gather_runs(struct bars *b)
{
    struct chart_item *items = b->items.items;

    for (size_t i = 0; i < b->items.nr; i++) {
        size_t end = i + 1;
        for (size_t k = end; k < b->items.nr; k++) {
            if (strcmp(items[k].bench->key, items[i].bench->key) != 0)
                continue;
            struct chart_item item = items[k];
            memmove(&items[end + 1], &items[end], (k - end) * sizeof(*items));
            items[end++] = item;
        }
        i = end - 1;
    }
}

static enum metric_kind kind_of(const struct bars *b)
{
    return b->metric.metric ? b->metric.metric->kind : METRIC_FACT;
}

static size_t group_of(struct bars *b, size_t item)
{
    char text[GROUP_SIZE];
    size_t k = 0;

    chart_group_of(&b->items.items[item], b->chart, b->group, text);
    while (k < b->nr_groups && strcmp(b->groups[k], text) != 0)
        k++;
    if (k == b->nr_groups && k <= GROUPS_MAX)
        memcpy(b->groups[b->nr_groups++], text, sizeof(text));
    return k;
}

/* p99 of times, where there are samples enough to carry it; else NaN. */
static double tail_of(const struct bars *b, size_t i)
{
    const struct metric *p99 = metric_find("p99", NULL);

    if (kind_of(b) != METRIC_LATENCY || !p99)
        return NAN;
    struct metric_value v = metric_value(p99, b->items.items[i].summary, b->items.items[i].context);
    return v.few ? NAN : v.value;
}

/* Of all that is drawn: a far cross on a linear axis would leave the bars no room. */
static void find_range(struct bars *b)
{
    b->least = INFINITY;
    b->most = -INFINITY;
    for (size_t i = 0; i < b->items.nr; i++) {
        struct chart_value v = value_of(b, i);
        b->least = fmin(b->least, fmin(v.value, isfinite(v.low) ? v.low : v.value));
        b->most = fmax(b->most, fmax(v.value, isfinite(v.high) ? v.high : v.value));
        b->most = fmax(b->most, tail_of(b, i)); /* NaN is no tail */
        if (v.value < value_of(b, b->smallest).value)
            b->smallest = i;
        if (v.value > value_of(b, b->largest).value)
            b->largest = i;
        group_of(b, i);
    }
}

/* One layer a group where there are few, so that they can be told apart. */
static void add_bars(struct bars *b)
{
    struct layer *bars[GROUPS_MAX];
    bool apart = b->nr_groups > 1 && b->nr_groups <= GROUPS_MAX;

    for (size_t k = 0; k < (apart ? b->nr_groups : 1); k++) {
        bars[k] = panel_layer(b->p, MARK_BARS, apart ? b->groups[k] : b->metric.label);
        bars[k]->across = true;
        bars[k]->style.ink = (enum ink)chart_items_style(&b->items, b->group, b->groups[k], k);
    }
    for (size_t i = 0; i < b->items.nr; i++)
        layer_add(bars[apart ? group_of(b, i) : 0], value_of(b, i).value, (double)i);
}

static void add_whiskers(struct bars *b)
{
    struct layer *whiskers = panel_layer(b->p, MARK_INTERVALS, "p5 to p95");

    whiskers->across = true;
    whiskers->style.width = 1.4;
    for (size_t i = 0; i < b->items.nr; i++) {
        struct chart_value v = value_of(b, i);
        if (isfinite(v.low) && isfinite(v.high))
            layer_add_interval(whiskers, (double)i, v.low, v.high);
    }
}

static bool add_tails(struct bars *b)
{
    struct layer *tails = panel_layer(b->p, MARK_POINTS, "p99");

    tails->style.shape = SHAPE_CROSS;
    tails->style.size = 7;
    for (size_t i = 0; i < b->items.nr; i++)
        if (isfinite(tail_of(b, i)))
            layer_add(tails, tail_of(b, i), (double)i);
    return tails->nr > 0;
}

/* Values in a column of their own: beside a whisker or a p99 cross they would be taken for its. */
static void add_texts(struct bars *b)
{
    struct layer *texts = panel_layer(b->p, MARK_TEXT, NULL);
    char text[QUANTITY_TEXT_SIZE];

    texts->outside = true;
    for (size_t i = 0; i < b->items.nr; i++) {
        quantity_text(b->metric.quantity, b->metric.base, value_of(b, i).value, text);
        layer_add_text(texts, 0, (double)i, ANCHOR_LEFT, text);
    }
}

static void add_words(struct bars *b, bool tails)
{
    char low[QUANTITY_TEXT_SIZE], high[QUANTITY_TEXT_SIZE], how[400];
    enum metric_kind kind = kind_of(b);

    snprintf(how, sizeof(how), "Bars and numbers: %.100s%s.%s%s%s", b->metric.label,
             kind == METRIC_RATE ? ", computed from the median time" : "",
             kind == METRIC_FACT ? "" : " Whiskers: p5 to p95 of the samples.",
             tails ? " Cross: p99." : "",
             b->p->x.scale == AXIS_LOG ? " The axis is logarithmic, because values span more than "
                                         "50 times; lengths do not compare."
                                       : "");
    chart_caption(b->f, &b->items, how, "of each kernel those that take longest");
    quantity_text(b->metric.quantity, b->metric.base, value_of(b, b->smallest).value, low);
    quantity_text(b->metric.quantity, b->metric.base, value_of(b, b->largest).value, high);
    figure_set(&b->f->alt, "Bars of %s for %zu benchmark%s, from %s (%s) to %s (%s).",
               b->metric.label, b->items.nr, b->items.nr == 1 ? "" : "s", low,
               b->items.items[b->smallest].label, high, b->items.items[b->largest].label);
}

static void draw(struct bars *b)
{
    const struct preset *preset = b->chart->preset;

    find_range(b);
    b->p = figure_panel(b->f);
    chart_items_axis(&b->items, &b->p->y);
    b->p->y.bare = true;
    axis_set(&b->p->x, preset->y_label ? preset->y_label : b->metric.label, b->metric.quantity,
             b->metric.base, chart_scale(preset, b->least, b->most));
    b->p->plot_height = ROW_HEIGHT * (double)b->items.nr + 12;
    add_bars(b);
    bool tails = false;
    if (kind_of(b) != METRIC_FACT)
        add_whiskers(b);
    if (kind_of(b) == METRIC_LATENCY)
        tails = add_tails(b);
    add_texts(b);
    add_words(b, tails);
    chart_subtitle(b->f, b->chart, &b->items);
    figure_finish(b->f);
}

struct figure *build_bars(const struct chart *chart)
{
    const char *group = chart->preset->group;
    struct bars b = { .chart = chart,
                      .metric = chart_metric_chosen(chart->preset->y, "p50"),
                      .group = group                      ? group
                               : chart_nr_runs(chart) > 1 ? "run"
                                                          : "variant",
                      .f = chart_figure(chart) };

    chart_items_init(&b.items, chart);
    size_t timed = b.items.nr;
    drop_without_value(&b);
    chart_items_limit(&b.items, chart_limit(chart->preset, LIMIT), chart_item_median);
    gather_runs(&b);
    if (!timed)
        chart_absent_items(b.f, chart, &b.items);
    else if (!b.items.nr)
        chart_absent(b.f, "%s (%s) does not apply to any of the %zu benchmarks with a time",
                     b.metric.name, b.metric.label, timed);
    else
        draw(&b);
    chart_items_release(&b.items);
    chart_metric_release(&b.metric);
    return b.f;
}
