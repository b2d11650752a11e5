/* SPDX-License-Identifier: MIT */
/* The same benchmarks in several panels side by side, a metric each ("panels"): what they demand
 * and what they reach. Rows are in the order of the first metric, so that the others show what goes
 * with it. */
#include "base/memory.h"
#include "chart/base/chart_scale.h"
#include "chart/types/chart_types.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 24, ROW_HEIGHT = 25, PANELS_MAX = 4, GROUPS_MAX = 4 };

struct split {
    const struct chart *chart;
    struct chart_items *items;
    struct chart_metric metrics[PANELS_MAX];
    size_t nr_metrics;
    struct chart_names groups;
    struct figure *f;
};

static double split_value_of(const struct split *s, size_t metric, size_t item)
{
    return chart_value_at(s->items, &s->metrics[metric], item);
}

static void split_find_groups(struct split *s)
{
    for (size_t i = 0; i < s->items->nr; i++)
        chart_names_index(&s->groups, s->items->items[i].bench->variant);
}

static void split_add_bars(struct split *s, struct panel *p, size_t metric)
{
    bool several = s->groups.nr > 1 && s->groups.nr <= GROUPS_MAX;
    struct layer *bars[GROUPS_MAX];
    const struct chart_metric *m = &s->metrics[metric];
    char text[QUANTITY_TEXT_SIZE];

    for (size_t k = 0; k < (several ? s->groups.nr : 1); k++) {
        bars[k] = panel_amounts(p, several ? s->groups.names[k] : NULL, INK_BLUE);
        style_nth(&bars[k]->style,
                  several ? chart_items_style(s->items, "variant", s->groups.names[k], k) : 0);
    }
    struct layer *texts = panel_outside(p);
    for (size_t i = 0; i < s->items->nr; i++) {
        const char *variant = s->items->items[i].bench->variant;
        size_t k = several ? chart_names_index(&s->groups, variant) : 0;
        double value = split_value_of(s, metric, i);
        if (isfinite(value))
            layer_add(bars[k], value, (double)i);
        layer_add_outside(texts, i, chart_text(m, value, text));
    }
}

static void split_add_panel(struct split *s, size_t metric)
{
    struct panel *p = chart_items_rows(s->items, s->f, ROW_HEIGHT, 12);
    const struct chart_metric *m = &s->metrics[metric];
    struct range range = chart_range(s->items, m);

    p->joined = metric > 0;
    figure_set(&p->title, "%s", m->label);
    chart_axis(&p->x, m, NULL, chart_scale(s->chart->preset, range.low, range.high));
    split_add_bars(s, p, metric);
}

/* "simd reaches 78 GFLOP/s": of the last panel, where that is a rate. */
static void split_conclude(struct split *s)
{
    size_t last = s->nr_metrics - 1, best = 0;
    const struct metric *metric = s->metrics[last].metric;
    char most[QUANTITY_TEXT_SIZE], name[CHART_NAME_SIZE];

    for (size_t i = 1; i < s->items->nr; i++)
        if (!(split_value_of(s, last, i) <= split_value_of(s, last, best)))
            best = isfinite(split_value_of(s, last, i)) ? i : best;
    if (metric && metric->kind == METRIC_RATE && isfinite(split_value_of(s, last, best)))
        chart_conclude(s->f, s->chart, "%s reaches %s",
                       chart_name_of(s->items->items[best].bench, name),
                       chart_text(&s->metrics[last], split_value_of(s, last, best), most));
}

static void split_words(struct split *s)
{
    const struct chart_item *items = s->items->items;
    size_t nr = s->items->nr;
    struct strbuf what;
    bool log = false;

    strbuf_init(&what);
    for (size_t k = 0; k < s->f->nr_panels; k++)
        log |= s->f->panels[k]->x.scale == AXIS_LOG;
    for (size_t k = 0; k < s->nr_metrics; k++)
        strbuf_addf(&what, "%s%s", k ? (k + 1 < s->nr_metrics ? ", " : " and ") : "",
                    s->metrics[k].label);
    chart_caption(s->f, s->items, "of each kernel the largest",
                  "The same rows in all panels, sorted by %s. Rates are at the median time.%s",
                  s->metrics[0].label, log ? " Dots: the axis is logarithmic." : "");
    figure_set(&s->f->alt, "%s for %zu benchmark%s, from %s to %s by %s.", what.data, nr,
               nr == 1 ? "" : "s", items[0].label, items[nr - 1].label, s->metrics[0].label);
    split_conclude(s);
    strbuf_release(&what);
}

static void split_draw(struct split *s)
{
    /* By the first metric, the largest on top; what has none is last. */
    struct chart_item *items = s->items->items;
    for (size_t i = 1; i < s->items->nr; i++) {
        struct chart_item item = items[i];
        double value = split_value_of(s, 0, i);
        size_t at = i;
        for (; at > 0; at--) {
            double before = split_value_of(s, 0, at - 1);
            if (!(value > before) && !(isnan(before) && !isnan(value)))
                break;
            items[at] = items[at - 1];
        }
        items[at] = item;
    }
    split_find_groups(s);
    s->f->columns = (int)s->nr_metrics;
    for (size_t k = 0; k < s->nr_metrics; k++)
        split_add_panel(s, k);
    split_words(s);
}

int check_split(const struct preset *preset, struct error *err)
{
    if (preset->panels.nr < 2 || preset->panels.nr > PANELS_MAX)
        return error_set(err, "\"panels\" must name two to %d metrics", PANELS_MAX);
    return 0;
}

void build_split(const struct chart *chart, struct chart_items *items, struct figure *f)
{
    const struct string_list *panels = &chart->preset->panels;
    struct split s = { .chart = chart, .items = items, .f = f };
    size_t timed = items->nr;

    for (; s.nr_metrics < panels->nr && s.nr_metrics < PANELS_MAX; s.nr_metrics++)
        s.metrics[s.nr_metrics] = chart_metric_chosen(panels->items[s.nr_metrics], "p50");
    /* Items that none of the metrics applies to make no row. */
    size_t kept = 0;
    for (size_t i = 0; i < s.items->nr; i++) {
        bool any = false;
        for (size_t k = 0; k < s.nr_metrics; k++)
            any |= isfinite(split_value_of(&s, k, i));
        if (any)
            s.items->items[kept++] = s.items->items[i];
    }
    s.items->nr = kept;
    chart_items_limit(items, chart_limit(chart->preset, LIMIT), chart_item_work);
    if (items->nr)
        split_draw(&s);
    else
        chart_absent(f, "none of the metrics applies to any of the %zu benchmarks with a time",
                     timed);
    for (size_t k = 0; k < s.nr_metrics; k++)
        chart_metric_release(&s.metrics[k]);
}
