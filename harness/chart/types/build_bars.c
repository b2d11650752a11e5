/* SPDX-License-Identifier: MIT */
/* One horizontal bar a benchmark: a metric of the median, whiskers over p5 to p95 and, for times,
 * p99. Rows, because names are long and values are read from the left. */
#include "chart/base/chart_scale.h"
#include "chart/types/chart_types.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LIMIT = 24, ROW_HEIGHT = 27, GROUPS_MAX = 4 };

struct bars {
    const struct chart *chart;
    struct chart_items *items;
    struct chart_metric metric;
    const char *group; /* what bars are told apart by */
    char groups[GROUPS_MAX + 1][GROUP_SIZE];
    size_t nr_groups; /* above GROUPS_MAX: too many to tell apart by colour */
    struct figure *f;
    struct panel *p;
    struct range range;       /* of values and whiskers */
    size_t smallest, largest; /* items */
    bool spread;              /* some item has a whisker */
};

static struct chart_value bars_value(const struct bars *b, size_t i)
{
    return chart_value_of(&b->metric, &b->items->items[i], &b->items->context);
}

/* Runs of one benchmark stand together. */
static void gather_runs(struct bars *b)
{
    struct chart_item *items = b->items->items;

    for (size_t i = 0; i < b->items->nr; i++) {
        size_t end = i + 1;
        for (size_t k = end; k < b->items->nr; k++) {
            if (strcmp(items[k].bench->key, items[i].bench->key) != 0)
                continue;
            struct chart_item item = items[k];
            memmove(&items[end + 1], &items[end], (k - end) * sizeof(*items));
            items[end++] = item;
        }
        i = end - 1;
    }
}

static enum metric_kind bars_kind_of(const struct bars *b)
{
    return b->metric.metric ? b->metric.metric->kind : METRIC_FACT;
}

static size_t bars_group_of(struct bars *b, size_t item)
{
    char text[GROUP_SIZE];
    size_t k = 0;

    chart_group_of(&b->items->items[item], b->chart, b->group, text);
    while (k < b->nr_groups && strcmp(b->groups[k], text) != 0)
        k++;
    if (k == b->nr_groups && k <= GROUPS_MAX)
        memcpy(b->groups[b->nr_groups++], text, sizeof(text));
    return k;
}

/* p99 of times, where there are samples enough to carry it; else NaN. */
static double bars_tail_of(const struct bars *b, size_t i)
{
    const struct metric *p99 = metric_find("p99", NULL);

    if (bars_kind_of(b) != METRIC_LATENCY || !p99)
        return NAN;
    struct metric_value v =
        metric_value(p99, b->items->items[i].summary, b->items->items[i].context);
    return v.few ? NAN : v.value;
}

/* One layer a group where there are few, so that they can be told apart. */
static void bars_add_bars(struct bars *b)
{
    struct layer *bars[GROUPS_MAX];
    bool apart = b->nr_groups > 1 && b->nr_groups <= GROUPS_MAX;

    for (size_t k = 0; k < (apart ? b->nr_groups : 1); k++) {
        bars[k] = panel_amounts(b->p, apart ? b->groups[k] : b->metric.label,
                                (enum ink)chart_items_style(b->items, b->group, b->groups[k], k));
    }
    for (size_t i = 0; i < b->items->nr; i++)
        layer_add(bars[apart ? bars_group_of(b, i) : 0], bars_value(b, i).value, (double)i);
}

static void bars_add_whiskers(struct bars *b)
{
    struct layer *whiskers = panel_whiskers(b->p, "p5 to p95", 1.4);

    for (size_t i = 0; i < b->items->nr; i++) {
        struct chart_value v = bars_value(b, i);
        if (isfinite(v.low) && isfinite(v.high))
            layer_add_interval(whiskers, (double)i, v.low, v.high);
    }
    b->spread = whiskers->nr > 0;
}

static bool bars_add_tails(struct bars *b)
{
    struct layer *tails = panel_points(b->p, "p99", INK_DARK, SHAPE_CROSS, 7);

    for (size_t i = 0; i < b->items->nr; i++)
        if (isfinite(bars_tail_of(b, i)))
            layer_add(tails, bars_tail_of(b, i), (double)i);
    return tails->nr > 0;
}

static void bars_words(struct bars *b, bool tails)
{
    char low[QUANTITY_TEXT_SIZE], high[QUANTITY_TEXT_SIZE];
    enum metric_kind kind = bars_kind_of(b);

    chart_caption(b->f, b->items, "of each kernel the largest", "%s and numbers: %.100s%s.%s%s%s",
                  b->p->x.scale == AXIS_LOG ? "Dots" : "Bars", b->metric.label,
                  kind == METRIC_RATE ? ", computed from the median time" : "",
                  b->spread ? " Whiskers: p5 to p95 of the samples." : "",
                  tails ? " Cross: p99." : "",
                  b->p->x.scale == AXIS_LOG
                      ? " The axis is logarithmic, because values span more than 50 times."
                      : "");
    figure_set(&b->f->alt, "%s of %s for %zu benchmark%s, from %s (%s) to %s (%s).",
               b->p->x.scale == AXIS_LOG ? "Dots" : "Bars", b->metric.label, b->items->nr,
               b->items->nr == 1 ? "" : "s",
               chart_text(&b->metric, bars_value(b, b->smallest).value, low),
               b->items->items[b->smallest].label,
               chart_text(&b->metric, bars_value(b, b->largest).value, high),
               b->items->items[b->largest].label);
}

static void bars_draw(struct bars *b)
{
    const struct preset *preset = b->chart->preset;

    /* Of all that is drawn: a far cross on a linear axis would leave the bars no room. */
    b->range = RANGE_NONE;
    for (size_t i = 0; i < b->items->nr; i++) {
        struct chart_value v = bars_value(b, i);
        range_include(&b->range, v.value);
        range_include(&b->range, v.low);
        range_include(&b->range, v.high);
        range_include(&b->range, bars_tail_of(b, i)); /* NaN is no tail */
        if (v.value < bars_value(b, b->smallest).value)
            b->smallest = i;
        if (v.value > bars_value(b, b->largest).value)
            b->largest = i;
        bars_group_of(b, i);
    }
    b->p = chart_items_rows(b->items, b->f, ROW_HEIGHT, 12);
    chart_axis(&b->p->x, &b->metric, preset->y_label,
               chart_scale(preset, b->range.low, b->range.high));
    bool spread = bars_kind_of(b) != METRIC_FACT;
    bool dots = b->p->x.scale == AXIS_LOG; /* that lie on short whiskers, and bars under them */
    if (spread && dots)
        bars_add_whiskers(b);
    bars_add_bars(b);
    if (spread && !dots)
        bars_add_whiskers(b);
    bool tails = bars_kind_of(b) == METRIC_LATENCY && bars_add_tails(b);
    /* Values in a column of their own: beside a whisker or a p99 cross they would be taken for its.
     */
    struct layer *texts = panel_outside(b->p);
    char text[QUANTITY_TEXT_SIZE], name[CHART_NAME_SIZE];
    for (size_t i = 0; i < b->items->nr; i++)
        layer_add_outside(texts, i, chart_text(&b->metric, bars_value(b, i).value, text));
    bars_words(b, tails);
    const struct benchmark_name *most = b->items->items[b->largest].bench;
    if (bars_kind_of(b) != METRIC_FACT && b->items->nr > 1)
        chart_conclude(b->f, b->chart,
                       bars_kind_of(b) == METRIC_RATE ? "%s reaches %s" : "%s takes longest, %s",
                       chart_name_of(most, name),
                       chart_text(&b->metric, bars_value(b, b->largest).value, text));
}

void build_bars(const struct chart *chart, struct chart_items *items, struct figure *f)
{
    const char *group = chart->preset->group;
    struct bars b = { .chart = chart,
                      .items = items,
                      .metric = chart_metric_chosen(chart->preset->y, "p50"),
                      .group = group                      ? group
                               : chart_nr_runs(chart) > 1 ? "run"
                                                          : "variant",
                      .f = f };
    size_t timed = items->nr;

    chart_items_require(items, &b.metric);
    chart_items_limit(items, chart_limit(chart->preset, LIMIT), chart_item_work);
    gather_runs(&b);
    if (items->nr)
        bars_draw(&b);
    else
        chart_absent(f, "%s (%s) does not apply to any of the %zu benchmarks with a time",
                     b.metric.name, b.metric.label, timed);
    chart_metric_release(&b.metric);
}
