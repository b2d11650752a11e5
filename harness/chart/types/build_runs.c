/* SPDX-License-Identifier: MIT */
/* A metric from run to run: a panel a benchmark, a row a run, in the order in which they were asked
 * for. Rows, because names of runs are long; many runs stand side by side, and some are named. In a
 * crowd the benchmarks that differ most between the
 * runs are shown, of each kernel and variant one before a second. */
#include "base/memory.h"
#include "chart/base/chart_scale.h"
#include "chart/types/chart_types.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Runs that differ by less do not differ, and an axis shows no less. */
#define ALIKE      1.02
#define LEAST_SPAN 0.2

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
    struct chart_items *items;
    struct chart_metric metric;
    struct run_series *series; /* in reading order; owned */
    size_t nr, drawn;
    size_t widest; /* of those shown */
    struct range range;
    struct figure *f;
};

static struct chart_value runs_value_of(const struct runs *r, const struct chart_item *item)
{
    return chart_value_of(&r->metric, item, &r->items->context);
}

/* `places` has for each own label its series and 1, or 0. */
static struct run_series *runs_series_of(struct runs *r, const struct chart_item *item,
                                         size_t *places)
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

static void runs_find_spread(struct runs *r, struct run_series *s)
{
    struct range values = RANGE_NONE;

    for (size_t i = 0; i < chart_nr_runs(r->chart); i++)
        if (s->items[i])
            range_include(&values, runs_value_of(r, s->items[i]).value);
    s->spread = s->nr < 2        ? -1
                : values.low > 0 ? values.high / values.low
                                 : values.high - values.low;
}

static void runs_find_series(struct runs *r)
{
    size_t *places = memory_zeroed(r->items->nr_own + 1, sizeof(*places));

    r->series = memory_zeroed(r->items->nr + 1, sizeof(*r->series));
    for (size_t i = 0; i < r->items->nr; i++) {
        const struct chart_item *item = &r->items->items[i];
        if (!isfinite(runs_value_of(r, item).value))
            continue;
        struct run_series *s = runs_series_of(r, item, places);
        s->items[item->run] = item;
        s->nr++;
    }
    for (size_t i = 0; i < r->nr; i++)
        runs_find_spread(r, &r->series[i]);
    free(places);
}

/* The widest of those left; NULL if there is none. */
static struct run_series *runs_next_series(struct runs *r, bool fresh)
{
    struct run_series *best = NULL;

    for (size_t i = 0; i < r->nr; i++) {
        struct run_series *s = &r->series[i];
        if (!s->shown && s->nr > 1 && (!best || s->spread > best->spread) && !(fresh && s->known))
            best = s;
    }
    return best;
}

static void runs_choose(struct runs *r, size_t limit)
{
    for (; r->drawn < limit; r->drawn++) {
        struct run_series *next = runs_next_series(r, true);
        if (!next)
            next = runs_next_series(r, false);
        if (!next)
            return;
        next->shown = true;
        for (size_t i = 0; i < r->nr; i++)
            if (strcmp(r->series[i].bench->kernel, next->bench->kernel) == 0 &&
                strcmp(r->series[i].bench->variant, next->bench->variant) == 0)
                r->series[i].known = true;
        if (r->drawn == 0)
            r->widest = (size_t)(next - r->series);
    }
}

static bool runs_has_rows(const struct runs *r)
{
    return chart_nr_runs(r->chart) <= ROWS_MAX;
}

/* Three of them, evenly: names of all would lie over each other, at the ends over the next panel.
 */
static void runs_name_some(const struct runs *r, struct axis *axis)
{
    size_t nr = chart_nr_runs(r->chart);

    axis_set(axis, NULL, QUANTITY_PLAIN, "", AXIS_LINEAR);
    for (size_t k = 0; k < NAMED; k++) {
        size_t run = (2 * k + 1) * nr / (2 * NAMED);
        ticks_add(&axis->ticks, (double)run, r->chart->run_names[run], false);
    }
    for (size_t run = 0; run < nr; run += 1 + (nr - 1) / AXIS_PLACES_MOST)
        ticks_add(&axis->places, (double)run, r->chart->run_names[run], false);
    axis->low = -0.5;
    axis->high = (double)nr - 0.5;
}

static void runs_add_value(struct layer *layer, bool rows, size_t run, double value)
{
    layer_add(layer, rows ? value : (double)run, rows ? (double)run : value);
}

/* A cut axis that zooms on 1.145 to 1.165 makes noise look like news. */
static void runs_widen(struct axis *axis, struct range range)
{
    double middle = (range.low + range.high) / 2, least = LEAST_SPAN * fabs(middle);

    if (axis->scale != AXIS_LINEAR || range.high - range.low >= least)
        return;
    axis->low = middle - least / 2;
    axis->high = middle + least / 2;
}

static void runs_add_panel(struct runs *r, const struct run_series *s)
{
    struct panel *p = figure_panel(r->f);
    struct layer *spread = panel_layer(p, MARK_INTERVALS, NULL);
    struct layer *line = panel_layer(p, MARK_LINE, NULL);
    struct layer *points = panel_layer(p, MARK_POINTS, NULL);
    struct range range = RANGE_NONE;

    figure_set(&p->title, "%s", s->label);
    line->style.ink = spread->style.ink = INK_GREY;
    line->style.width = 1;
    points->style.ink = INK_BLUE;
    points->style.size = runs_has_rows(r) ? 10 : 7;
    spread->across = runs_has_rows(r);
    spread->style.width = 1.4;
    for (size_t i = 0; i < chart_nr_runs(r->chart); i++) {
        struct chart_value v = { NAN, NAN, NAN, false };
        if (s->items[i])
            v = runs_value_of(r, s->items[i]);
        chart_about(r->f, s->items[i]);
        runs_add_value(line, runs_has_rows(r), i, v.value);
        if (isfinite(v.value))
            runs_add_value(points, runs_has_rows(r), i, v.value);
        if (isfinite(v.low) && isfinite(v.high))
            layer_add_interval(spread, (double)i, v.low, v.high);
        range_include(&range, v.value);
        range_include(&range, v.low);
        range_include(&range, v.high);
    }
    chart_about(r->f, NULL);
    range_include(&r->range, range.low);
    range_include(&r->range, range.high);
    const struct preset *preset = r->chart->preset;
    if (runs_has_rows(r))
        axis_names(&p->y, r->chart->run_names, chart_nr_runs(r->chart), true);
    else
        runs_name_some(r, &p->x);
    chart_axis(runs_has_rows(r) ? &p->x : &p->y, &r->metric, preset->y_label,
               chart_scale(preset, range.low, range.high));
    runs_widen(runs_has_rows(r) ? &p->x : &p->y, range);
    p->plot_height = runs_has_rows(r) ? ROW_HEIGHT * (double)chart_nr_runs(r->chart) + 16 : HEIGHT;
}

static size_t count_comparable_series(const struct runs *r)
{
    size_t nr = 0;

    for (size_t i = 0; i < r->nr; i++)
        nr += r->series[i].nr > 1;
    return nr;
}

static void runs_runs_words(struct runs *r)
{
    const struct chart_metric *m = &r->metric;
    char low[QUANTITY_TEXT_SIZE], high[QUANTITY_TEXT_SIZE], more[120] = "";
    char name[CHART_NAME_SIZE];

    if (count_comparable_series(r) > r->drawn)
        snprintf(more, sizeof(more),
                 " Showing %zu of %zu benchmarks: those that differ most, one of each kernel "
                 "and variant first.",
                 r->drawn, count_comparable_series(r));
    chart_caption(r->f, r->items, "", "Points: %.120s of each run%s. A gap: the run lacks it.%s",
                  m->label, m->metric && m->metric->kind != METRIC_FACT ? "; bars p5 to p95" : "",
                  more);
    const struct run_series *widest = &r->series[r->widest];
    if (widest->spread >= 1)
        chart_conclude(r->f, r->chart, "%s differs most, by %s", chart_name_of(widest->bench, name),
                       ratio_text(widest->spread, low));
    figure_set(&r->f->alt,
               "%s of %zu benchmark%s in %zu runs, from %s to %s; %s differs most between runs.",
               m->label, r->drawn, r->drawn == 1 ? "" : "s", chart_nr_runs(r->chart),
               chart_text(m, r->range.low, low), chart_text(m, r->range.high, high), widest->label);
}

/* The widest spread is that of the first shown; a difference where values are not positive. */
static bool runs_are_alike(const struct runs *r)
{
    double spread = r->series[r->widest].spread;

    return spread == 0 || (spread >= 1 && spread < ALIKE);
}

static void runs_draw(struct runs *r)
{
    runs_choose(r, chart_limit(r->chart->preset, LIMIT));
    if (!r->drawn) {
        chart_absent(r->f, "no benchmark has %s in two or more of the runs", r->metric.label);
        return;
    }
    if (runs_are_alike(r)) {
        chart_absent(r->f, "%s of no benchmark differs by more than %.0f %% between the runs",
                     r->metric.label, 100 * (ALIKE - 1));
        return;
    }
    for (size_t i = 0; i < r->nr; i++)
        if (r->series[i].shown)
            runs_add_panel(r, &r->series[i]);
    r->f->columns = r->drawn > 1 ? 2 : 1;
    runs_runs_words(r);
}

void build_runs(const struct chart *chart, struct chart_items *items, struct figure *f)
{
    struct runs r = {
        .chart = chart,
        .items = items,
        .f = f,
        .metric = chart_metric_chosen(chart->preset->y, "p50"),
        .range = RANGE_NONE,
    };

    runs_find_series(&r);
    runs_draw(&r);
    for (size_t i = 0; i < r.nr; i++)
        free(r.series[i].items);
    free(r.series);
    chart_metric_release(&r.metric);
}
