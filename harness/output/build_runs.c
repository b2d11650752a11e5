/* SPDX-License-Identifier: MIT */
/* A metric from run to run: a panel a benchmark, a row a run, in the order in which they were asked
 * for. Rows, because names of runs are long; many runs stand side by side, and some are named. In a
 * crowd the benchmarks that differ most between the
 * runs are shown, of each kernel and variant one before a second. */
#include "base/memory.h"
#include "output/chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 6, ROW_HEIGHT = 30, ROWS_MAX = 14, NAMED = 3, HEIGHT = 200 };

/* One benchmark, with its items by run; NULL where a run lacks it. */
struct run_series {
    const char *label;
    const struct benchmark_name *bench;
    const struct chart_item **items;
    size_t nr;         /* runs that have it */
    double spread;     /* largest value over smallest */
    bool shown, known; /* known: one of its kernel and variant is shown */
};

struct runs {
    const struct chart *chart;
    struct chart_items items;
    struct chart_metric metric;
    struct run_series *series; /* in reading order; owned */
    size_t nr, drawn;
    size_t widest; /* of those shown */
    double least, most;
    struct figure *f;
};

static struct chart_value value_of(const struct runs *r, const struct chart_item *item)
{
    return chart_value_of(&r->metric, item, &r->items.context);
}

/* `places` has for each own label its series and 1, or 0. */
static struct run_series *series_of(struct runs *r, const struct chart_item *item, size_t *places)
{
    size_t *place = &places[item->own_at];

    if (*place == 0) {
        *place = ++r->nr;
        r->series[r->nr - 1] = (struct run_series) {
            .label = item->own,
            .bench = item->bench,
            .items = memory_zeroed(chart_nr_runs(r->chart), sizeof(const struct chart_item *)),
        };
    }
    return &r->series[*place - 1];
}

static void find_spread(struct runs *r, struct run_series *s)
{
    double least = INFINITY, most = -INFINITY;

    for (size_t i = 0; i < chart_nr_runs(r->chart); i++) {
        double value = s->items[i] ? value_of(r, s->items[i]).value : NAN;
        least = fmin(least, value);
        most = fmax(most, value);
    }
    s->spread = s->nr < 2 ? -1 : least > 0 ? most / least : most - least;
}

static void find_series(struct runs *r)
{
    size_t *places = memory_zeroed(r->items.nr_own + 1, sizeof(*places));

    r->series = memory_zeroed(r->items.nr + 1, sizeof(*r->series));
    for (size_t i = 0; i < r->items.nr; i++) {
        const struct chart_item *item = &r->items.items[i];
        if (!isfinite(value_of(r, item).value))
            continue;
        struct run_series *s = series_of(r, item, places);
        s->items[item->run] = item;
        s->nr++;
    }
    for (size_t i = 0; i < r->nr; i++)
        find_spread(r, &r->series[i]);
    free(places);
}

static void show(struct runs *r, struct run_series *shown)
{
    shown->shown = true;
    for (size_t i = 0; i < r->nr; i++)
        if (strcmp(r->series[i].bench->kernel, shown->bench->kernel) == 0 &&
            strcmp(r->series[i].bench->variant, shown->bench->variant) == 0)
            r->series[i].known = true;
}

/* The widest of those left; NULL if there is none. */
static struct run_series *next_series(struct runs *r, bool fresh)
{
    struct run_series *best = NULL;

    for (size_t i = 0; i < r->nr; i++) {
        struct run_series *s = &r->series[i];
        if (!s->shown && s->nr > 1 && (!best || s->spread > best->spread) && !(fresh && s->known))
            best = s;
    }
    return best;
}

static void choose(struct runs *r, size_t limit)
{
    for (; r->drawn < limit; r->drawn++) {
        struct run_series *next = next_series(r, true);
        if (!next)
            next = next_series(r, false);
        if (!next)
            return;
        show(r, next);
        if (r->drawn == 0)
            r->widest = (size_t)(next - r->series);
    }
}

static bool has_rows(const struct runs *r)
{
    return chart_nr_runs(r->chart) <= ROWS_MAX;
}

/* Three of them, evenly: names of all would lie over each other, at the ends over the next panel.
 */
static void name_some(const struct runs *r, struct axis *axis)
{
    size_t nr = chart_nr_runs(r->chart);

    axis_set(axis, NULL, QUANTITY_PLAIN, "", AXIS_LINEAR);
    for (size_t k = 0; k < NAMED; k++) {
        size_t run = (2 * k + 1) * nr / (2 * NAMED);
        ticks_add(&axis->ticks, (double)run, r->chart->run_names[run], false);
    }
    axis->low = -0.5;
    axis->high = (double)nr - 0.5;
}

static void set_axes(const struct runs *r, struct panel *p, double least, double most)
{
    const struct preset *preset = r->chart->preset;

    if (has_rows(r))
        axis_names(&p->y, r->chart->run_names, chart_nr_runs(r->chart), true);
    else
        name_some(r, &p->x);
    axis_set(has_rows(r) ? &p->x : &p->y, preset->y_label ? preset->y_label : r->metric.label,
             r->metric.quantity, r->metric.base, chart_scale(preset, least, most));
    p->plot_height = has_rows(r) ? ROW_HEIGHT * (double)chart_nr_runs(r->chart) + 16 : HEIGHT;
}

static void add_value(struct layer *layer, bool rows, size_t run, double value)
{
    layer_add(layer, rows ? value : (double)run, rows ? (double)run : value);
}

static void add_panel(struct runs *r, const struct run_series *s)
{
    struct panel *p = figure_panel(r->f);
    struct layer *spread = panel_layer(p, MARK_INTERVALS, NULL);
    struct layer *line = panel_layer(p, MARK_LINE, NULL);
    struct layer *points = panel_layer(p, MARK_POINTS, NULL);
    double least = INFINITY, most = -INFINITY;

    figure_set(&p->title, "%s", s->label);
    line->style.ink = spread->style.ink = INK_GREY;
    line->style.width = 1;
    points->style.ink = INK_BLUE;
    points->style.size = has_rows(r) ? 10 : 7;
    spread->across = has_rows(r);
    spread->style.width = 1.4;
    for (size_t i = 0; i < chart_nr_runs(r->chart); i++) {
        struct chart_value v = { NAN, NAN, NAN, false };
        if (s->items[i])
            v = value_of(r, s->items[i]);
        add_value(line, has_rows(r), i, v.value);
        if (isfinite(v.value))
            add_value(points, has_rows(r), i, v.value);
        if (isfinite(v.low) && isfinite(v.high))
            layer_add_interval(spread, (double)i, v.low, v.high);
        least = fmin(least, fmin(v.value, v.low));
        most = fmax(most, fmax(v.value, v.high));
    }
    r->least = fmin(r->least, least);
    r->most = fmax(r->most, most);
    set_axes(r, p, least, most);
}

static size_t comparable(const struct runs *r)
{
    size_t nr = 0;

    for (size_t i = 0; i < r->nr; i++)
        nr += r->series[i].nr > 1;
    return nr;
}

static void add_words(struct runs *r)
{
    const struct run_series *widest = &r->series[r->widest];
    char how[400], low[QUANTITY_TEXT_SIZE], high[QUANTITY_TEXT_SIZE], more[120] = "";

    if (comparable(r) > r->drawn)
        snprintf(more, sizeof(more),
                 " Showing %zu of %zu benchmarks: those that differ most, of each kernel and "
                 "variant first one.",
                 r->drawn, comparable(r));
    snprintf(how, sizeof(how), "Points: %.120s of each run%s. A gap: the run lacks it.%s",
             r->metric.label,
             r->metric.metric && r->metric.metric->kind != METRIC_FACT ? "; bars p5 to p95" : "",
             more);
    chart_caption(r->f, &r->items, how, "");
    quantity_text(r->metric.quantity, r->metric.base, r->least, low);
    quantity_text(r->metric.quantity, r->metric.base, r->most, high);
    figure_set(&r->f->alt,
               "%s of %zu benchmark%s in %zu runs, from %s to %s; %s differs most between runs.",
               r->metric.label, r->drawn, r->drawn == 1 ? "" : "s", chart_nr_runs(r->chart), low,
               high, widest->label);
}

static void draw(struct runs *r)
{
    r->least = INFINITY;
    r->most = -INFINITY;
    choose(r, chart_limit(r->chart->preset, LIMIT));
    if (!r->drawn) {
        chart_absent(r->f, "no benchmark has %s in two or more of the runs", r->metric.label);
        return;
    }
    for (size_t i = 0; i < r->nr; i++)
        if (r->series[i].shown)
            add_panel(r, &r->series[i]);
    r->f->columns = r->drawn > 1 ? 2 : 1;
    chart_subtitle(r->f, r->chart, &r->items);
    add_words(r);
    figure_finish(r->f);
}

struct figure *build_runs(const struct chart *chart)
{
    struct runs r = {
        .chart = chart,
        .f = chart_figure(chart),
        .metric = chart_metric_chosen(chart->preset->y, "p50"),
    };

    chart_items_init(&r.items, chart);
    find_series(&r);
    if (chart_nr_runs(chart) < 2 || !chart->run_names)
        chart_absent(r.f, "there is one run, and this needs two or more");
    else if (!r.items.nr)
        chart_absent_items(r.f, chart, &r.items);
    else
        draw(&r);
    for (size_t i = 0; i < r.nr; i++)
        free(r.series[i].items);
    free(r.series);
    chart_items_release(&r.items);
    chart_metric_release(&r.metric);
    return r.f;
}
