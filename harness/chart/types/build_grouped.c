/* SPDX-License-Identifier: MIT */
/*
 * Several bars a benchmark, one under the other: base and head of a comparison, or with "group" the
 * variants (math modes, devices, cache states, runs) of what else is alike. "sides" puts base and
 * head into two panels of one range instead, with the spread of their launches.
 */
#include "base/memory.h"
#include "chart/base/chart_grid.h"
#include "chart/base/chart_scale.h"
#include "chart/base/compare_rows.h"
#include "chart/types/chart_types.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 40, LIMIT_SIDES = 22, BAR_HEIGHT = 16, ROW_GAP = 10 };

struct cell {
    double value, low, high; /* NaN: there is none */
    const char *word;        /* why there is none */
    const char *key, *uuid;  /* what it is of, and of which run; NULL: of none, of several */
};

struct grouped {
    const struct chart *chart;
    struct chart_metric metric;
    const char *const *labels; /* one a row */
    size_t nr;
    const char *series[GRID_SERIES_MAX];
    size_t styles[GRID_SERIES_MAX]; /* of the series, for style_nth() */
    size_t nr_series;
    struct cell *cells; /* row by row; owned */
    struct range range; /* of values and whiskers */
    const char *whiskers;
    struct figure *f;
};

static struct cell *grouped_cell_at(const struct grouped *g, size_t row, size_t series)
{
    return &g->cells[row * g->nr_series + series];
}

static void grouped_make_cells(struct grouped *g)
{
    g->cells = memory_zeroed(g->nr * g->nr_series + 1, sizeof(*g->cells));
    for (size_t i = 0; i < g->nr * g->nr_series; i++)
        g->cells[i] = (struct cell) { NAN, NAN, NAN, "n/a", NULL, NULL };
}

static bool grouped_has_holes(const struct grouped *g)
{
    for (size_t i = 0; i < g->nr * g->nr_series; i++)
        if (!isfinite(g->cells[i].value))
            return true;
    return false;
}

static void grouped_find_range(struct grouped *g)
{
    g->range = RANGE_NONE;
    for (size_t i = 0; i < g->nr * g->nr_series; i++) {
        range_include(&g->range, g->cells[i].value);
        range_include(&g->range, g->cells[i].low);
        range_include(&g->range, g->cells[i].high);
    }
}

static struct layer *grouped_bars_of(const struct grouped *g, struct panel *p, size_t series,
                                     double thick)
{
    struct layer *bars = panel_amounts(p, g->series[series], series ? INK_BLUE : INK_GREY);

    bars->thickness = thick;
    if (g->nr_series != 2 || g->chart->preset->group)
        style_nth(&bars->style, g->styles[series]);
    return bars;
}

/* Bars of one series in a panel, `shift` rows from the middle of theirs. */
static void grouped_add_bars(const struct grouped *g, struct panel *p, size_t series, double shift,
                             double thick)
{
    struct layer *bars = grouped_bars_of(g, p, series, thick);

    for (size_t row = 0; row < g->nr; row++) {
        const struct cell *c = grouped_cell_at(g, row, series);
        figure_about(g->f, c->key, c->uuid);
        if (isfinite(c->value))
            layer_add(bars, c->value, (double)row + shift);
    }
    figure_about(g->f, NULL, NULL);
}

static void grouped_add_whiskers_and_texts(const struct grouped *g, struct panel *p, size_t series,
                                           double shift)
{
    struct layer *whiskers = panel_whiskers(p, g->whiskers, 1.2);
    struct layer *texts = panel_outside(p);
    char text[QUANTITY_TEXT_SIZE];

    for (size_t row = 0; row < g->nr; row++) {
        const struct cell *c = grouped_cell_at(g, row, series);
        double y = (double)row + shift;
        figure_about(g->f, c->key, c->uuid);
        if (isfinite(c->low) && isfinite(c->high))
            layer_add_interval(whiskers, y, c->low, c->high);
        layer_add_text(texts, 0, y, ANCHOR_LEFT,
                       isfinite(c->value) ? chart_text(&g->metric, c->value, text) : c->word);
    }
    figure_about(g->f, NULL, NULL);
}

static struct panel *grouped_panel(const struct grouped *g, size_t bars)
{
    const struct preset *preset = g->chart->preset;
    struct panel *p = figure_rows(g->f, g->labels, g->nr, BAR_HEIGHT * (double)bars + ROW_GAP, 8);

    chart_axis(&p->x, &g->metric, preset->y_label,
               chart_scale(preset, g->range.low, g->range.high));
    return p;
}

static void grouped_draw_grouped(struct grouped *g)
{
    struct panel *p = grouped_panel(g, g->nr_series);
    double nr = (double)g->nr_series, step = BAR_HEIGHT / (BAR_HEIGHT * nr + ROW_GAP);

    for (size_t k = 0; k < g->nr_series; k++)
        grouped_add_bars(g, p, k, ((double)k - (nr - 1) / 2) * step, step * 0.86);
    for (size_t k = 0; k < g->nr_series; k++)
        grouped_add_whiskers_and_texts(g, p, k, ((double)k - (nr - 1) / 2) * step);
}

/* One range for both, so that lengths compare across. */
static void grouped_draw_sides(struct grouped *g)
{
    g->f->columns = (int)g->nr_series;
    for (size_t k = 0; k < g->nr_series; k++) {
        struct panel *p = grouped_panel(g, 1);
        bool log = p->x.scale == AXIS_LOG;
        figure_set(&p->title, "%s", g->series[k]);
        p->joined = k > 0;
        p->x.low = log ? g->range.low / 1.3 : 0;
        p->x.high = log ? g->range.high * 1.3 : g->range.high * 1.05;
        grouped_add_bars(g, p, k, 0, 0.62);
        grouped_add_whiskers_and_texts(g, p, k, 0);
    }
}

static bool grouped_is_log(const struct grouped *g)
{
    return chart_scale(g->chart->preset, g->range.low, g->range.high) == AXIS_LOG;
}

static const char *grouped_mark_words(const struct grouped *g)
{
    return grouped_is_log(g) ? "Dots" : "Bars";
}

static const char *grouped_scale_words(const struct grouped *g)
{
    return grouped_is_log(g) ? " The axis is logarithmic." : "";
}

static void grouped_alt(struct grouped *g, const char *what)
{
    char low[QUANTITY_TEXT_SIZE], high[QUANTITY_TEXT_SIZE];
    struct range values = RANGE_NONE;

    for (size_t i = 0; i < g->nr * g->nr_series; i++)
        range_include(&values, g->cells[i].value);
    figure_set(&g->f->alt, "%s of %s for %zu benchmark%s, %s side by side, from %s to %s.",
               grouped_mark_words(g), g->metric.label, g->nr, g->nr == 1 ? "" : "s", what,
               chart_text(&g->metric, values.low, low), chart_text(&g->metric, values.high, high));
}

/* Base and head. */

static struct cell side_cell(const struct compare_row *row, const struct compare_side *side,
                             const struct evidence_side *evidence, double factor, bool sides)
{
    struct cell c = { side->value * factor,  NAN, NAN, outcome_name(side->outcome),
                      row->item->bench->key, NULL };

    if (!evidence->present)
        c.word = row->verdict == VERDICT_NEW || row->verdict == VERDICT_MISSING
                     ? verdict_name(row->verdict)
                     : "not measured";
    if (sides && isfinite(side->spread)) {
        c.low = c.value * exp(-side->spread);
        c.high = c.value * exp(side->spread);
    }
    for (size_t i = 0; !sides && evidence->nr > 1 && i < evidence->nr; i++) {
        c.low = fmin(c.low, evidence->values[i].value * factor);
        c.high = fmax(c.high, evidence->values[i].value * factor);
    }
    return c;
}

static void collect_sides(struct grouped *g, const struct compare_rows *rows, bool sides)
{
    g->metric = chart_metric_of(rows->metric);
    g->labels = (const char *const *)rows->labels;
    g->nr = rows->nr;
    g->nr_series = 2;
    g->series[0] = "base";
    g->series[1] = "head";
    g->whiskers = sides ? "one standard deviation between launches" : "fastest to slowest launch";
    grouped_make_cells(g);
    for (size_t i = 0; i < rows->nr; i++) {
        const struct compare_row *row = rows->items[i];
        const struct evidence *e = &row->item->evidence;
        *grouped_cell_at(g, i, 0) = side_cell(row, &row->base, &e->base, g->metric.factor, sides);
        *grouped_cell_at(g, i, 1) = side_cell(row, &row->head, &e->head, g->metric.factor, sides);
    }
}

static void grouped_draw_compared(const struct chart *chart, struct figure *f, bool sides)
{
    struct grouped g = { .chart = chart, .f = f };
    struct compare_rows rows;

    if (compare_rows_init(&rows, chart, f,
                          chart_limit(chart->preset, sides ? LIMIT_SIDES : LIMIT / 2), true)) {
        collect_sides(&g, &rows, sides);
        grouped_find_range(&g);
        compare_rows_words(
            &rows, chart, f,
            "%s and numbers: %s, the mean of the launches of a side. Whiskers: %s.%s%s",
            grouped_mark_words(&g), rows.metric->label, g.whiskers,
            sides ? " Both panels have one range." : " The worst change is on top.",
            grouped_scale_words(&g));
        grouped_alt(&g, "base and head");
        if (sides)
            grouped_draw_sides(&g);
        else
            grouped_draw_grouped(&g);
    }
    compare_rows_release(&rows);
    free(g.cells);
}

void build_grouped_sides(const struct chart *chart, struct figure *f)
{
    grouped_draw_compared(chart, f, false);
}

void build_sides(const struct chart *chart, struct figure *f)
{
    grouped_draw_compared(chart, f, true);
}

/* Within the runs of the chart. */

static void collect_groups(struct grouped *g, const struct chart_items *items,
                           const struct chart_grid *grid)
{
    g->labels = (const char *const *)grid->labels;
    g->nr = grid->nr;
    g->nr_series = grid->nr_series;
    g->whiskers = "p5 to p95";
    for (size_t k = 0; k < grid->nr_series; k++) {
        g->series[k] = grid->series[k];
        g->styles[k] = chart_items_style(items, grid->field, grid->series[k], k);
    }
    grouped_make_cells(g);
    for (size_t i = 0; i < grid->nr; i++) {
        for (size_t k = 0; k < grid->nr_series; k++) {
            const struct chart_item *item = grid->items[i].items[k];
            if (!item)
                continue;
            struct chart_value v = chart_value_of(&g->metric, item, &items->context);
            *grouped_cell_at(g, i, k) =
                (struct cell) { v.value, v.low, v.high, "n/a", item->bench->key, item->of->uuid };
        }
    }
}

static void grouped_draw_groups(struct grouped *g, const struct chart_items *items,
                                struct chart_grid *grid)
{
    char left[GRID_WORDS_SIZE];

    chart_grid_limit(grid, chart_limit(g->chart->preset, LIMIT));
    collect_groups(g, items, grid);
    grouped_find_range(g);
    if (!isfinite(g->range.high)) {
        chart_absent(g->f, "%s does not apply to these benchmarks", g->metric.label);
        return;
    }
    chart_grid_left_out(grid, left, sizeof(left));
    chart_caption(g->f, items, "", "%s and numbers: %.100s, all else equal%s.%s%s",
                  grouped_mark_words(g), g->metric.label,
                  grouped_has_holes(g) ? "; n/a: not measured, or without it" : "",
                  grouped_scale_words(g), left);
    grouped_alt(g, grid->field);
    grouped_draw_grouped(g);
}

void build_grouped_groups(const struct chart *chart, struct chart_items *items, struct figure *f)
{
    struct grouped g = { .chart = chart,
                         .metric = chart_metric_chosen(chart->preset->y, "p50"),
                         .f = f };
    struct chart_grid grid;

    if (chart_grid_init_pairs(&grid, items, f))
        grouped_draw_groups(&g, items, &grid);
    chart_grid_release(&grid);
    chart_metric_release(&g.metric);
    free(g.cells);
}

int check_grouped(const struct preset *preset, struct error *err)
{
    return preset->group ? chart_grid_check(preset->group, err) : 0;
}
