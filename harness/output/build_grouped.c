/* SPDX-License-Identifier: MIT */
/*
 * Several bars a benchmark, one under the other: base and head of a comparison, or with "group" the
 * variants (math modes, devices, cache states, runs) of what else is alike. "sides" puts base and
 * head into two panels of one range instead, with the spread of their launches.
 */
#include "base/memory.h"
#include "output/chart_grid.h"
#include "output/compare_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 40, LIMIT_SIDES = 22, BAR_HEIGHT = 16, ROW_GAP = 10 };

struct cell {
    double value, low, high; /* NaN: there is none */
    const char *word;        /* why there is none */
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
    double least, most; /* over values and whiskers */
    const char *whiskers;
    struct figure *f;
};

static struct cell *cell_at(const struct grouped *g, size_t row, size_t series)
{
    return &g->cells[row * g->nr_series + series];
}

static void make_cells(struct grouped *g)
{
    g->cells = memory_zeroed(g->nr * g->nr_series + 1, sizeof(*g->cells));
    for (size_t i = 0; i < g->nr * g->nr_series; i++)
        g->cells[i] = (struct cell) { NAN, NAN, NAN, "n/a" };
}

static void find_range(struct grouped *g)
{
    g->least = INFINITY;
    g->most = -INFINITY;
    for (size_t i = 0; i < g->nr * g->nr_series; i++) {
        const struct cell *c = &g->cells[i];
        g->least = fmin(g->least, fmin(c->value, c->low)); /* NaN is no number to fmin() */
        g->most = fmax(g->most, fmax(c->value, c->high));
    }
}

static struct layer *bars_of(const struct grouped *g, struct panel *p, size_t series, double thick)
{
    struct layer *bars = panel_layer(p, MARK_BARS, g->series[series]);

    bars->across = true;
    bars->thickness = thick;
    if (g->nr_series == 2 && !g->chart->preset->group)
        bars->style.ink = series ? INK_BLUE : INK_GREY;
    else
        style_nth(&bars->style, g->styles[series]);
    return bars;
}

/* Bars of one series in a panel, `shift` rows from the middle of theirs. */
static void add_bars(const struct grouped *g, struct panel *p, size_t series, double shift,
                     double thick)
{
    struct layer *bars = bars_of(g, p, series, thick);

    for (size_t row = 0; row < g->nr; row++)
        if (isfinite(cell_at(g, row, series)->value))
            layer_add(bars, cell_at(g, row, series)->value, (double)row + shift);
}

static void add_whiskers_and_texts(const struct grouped *g, struct panel *p, size_t series,
                                   double shift)
{
    struct layer *whiskers = panel_layer(p, MARK_INTERVALS, g->whiskers);
    struct layer *texts = panel_layer(p, MARK_TEXT, NULL);
    char text[QUANTITY_TEXT_SIZE];

    whiskers->across = texts->outside = true;
    whiskers->style.width = 1.2;
    for (size_t row = 0; row < g->nr; row++) {
        const struct cell *c = cell_at(g, row, series);
        double y = (double)row + shift;
        if (isfinite(c->low) && isfinite(c->high))
            layer_add_interval(whiskers, y, c->low, c->high);
        quantity_text(g->metric.quantity, g->metric.base, c->value, text);
        layer_add_text(texts, 0, y, ANCHOR_LEFT, isfinite(c->value) ? text : c->word);
    }
}

static struct panel *add_panel(const struct grouped *g, size_t bars)
{
    const struct preset *preset = g->chart->preset;
    struct panel *p = figure_panel(g->f);

    axis_names(&p->y, g->labels, g->nr, true);
    p->y.bare = true;
    axis_set(&p->x, preset->y_label ? preset->y_label : g->metric.label, g->metric.quantity,
             g->metric.base, chart_scale(preset, g->least, g->most));
    p->plot_height = (BAR_HEIGHT * (double)bars + ROW_GAP) * (double)g->nr + 8;
    return p;
}

static void draw_grouped(struct grouped *g)
{
    struct panel *p = add_panel(g, g->nr_series);
    double nr = (double)g->nr_series, step = BAR_HEIGHT / (BAR_HEIGHT * nr + ROW_GAP);

    for (size_t k = 0; k < g->nr_series; k++)
        add_bars(g, p, k, ((double)k - (nr - 1) / 2) * step, step * 0.86);
    for (size_t k = 0; k < g->nr_series; k++)
        add_whiskers_and_texts(g, p, k, ((double)k - (nr - 1) / 2) * step);
}

/* One range for both, so that lengths compare across. */
static void draw_sides(struct grouped *g)
{
    g->f->columns = (int)g->nr_series;
    for (size_t k = 0; k < g->nr_series; k++) {
        struct panel *p = add_panel(g, 1);
        bool log = p->x.scale == AXIS_LOG;
        figure_set(&p->title, "%s", g->series[k]);
        p->joined = k > 0;
        p->x.low = log ? pow(10, floor(log10(g->least / 1.3))) : 0;
        p->x.high = log ? g->most * 1.3 : g->most * 1.05;
        add_bars(g, p, k, 0, 0.62);
        add_whiskers_and_texts(g, p, k, 0);
    }
}

static const char *scale_words(const struct grouped *g)
{
    return chart_scale(g->chart->preset, g->least, g->most) == AXIS_LOG
               ? " The axis is logarithmic: ends compare, lengths do not."
               : "";
}

static void add_alt(struct grouped *g, const char *what)
{
    char low[QUANTITY_TEXT_SIZE], high[QUANTITY_TEXT_SIZE];
    double least = INFINITY, most = -INFINITY;

    for (size_t i = 0; i < g->nr * g->nr_series; i++) {
        least = fmin(least, g->cells[i].value);
        most = fmax(most, g->cells[i].value);
    }
    quantity_text(g->metric.quantity, g->metric.base, least, low);
    quantity_text(g->metric.quantity, g->metric.base, most, high);
    figure_set(&g->f->alt, "Bars of %s for %zu benchmark%s, %s side by side, from %s to %s.",
               g->metric.label, g->nr, g->nr == 1 ? "" : "s", what, low, high);
}

static void finish(struct grouped *g, bool sides)
{
    if (sides)
        draw_sides(g);
    else
        draw_grouped(g);
    figure_finish(g->f);
}

/* Base and head. */

static struct cell side_cell(const struct compare_row *row, const struct compare_side *side,
                             const struct evidence_side *evidence, double factor, bool sides)
{
    struct cell c = { side->value * factor, NAN, NAN, outcome_name(side->outcome) };

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
    make_cells(g);
    for (size_t i = 0; i < rows->nr; i++) {
        const struct compare_row *row = rows->items[i];
        const struct evidence *e = &row->item->evidence;
        *cell_at(g, i, 0) = side_cell(row, &row->base, &e->base, g->metric.factor, sides);
        *cell_at(g, i, 1) = side_cell(row, &row->head, &e->head, g->metric.factor, sides);
    }
}

static void build_sides_of(struct grouped *g, const struct compare_rows *rows, bool sides)
{
    struct strbuf sb;

    collect_sides(g, rows, sides);
    compare_rows_subtitle(rows, g->f, g->chart);
    compare_rows_banner(rows, g->f);
    strbuf_init(&sb);
    find_range(g);
    strbuf_addf(&sb, "Bars and numbers: %s, the mean of the launches of a side. Whiskers: %s.%s%s",
                rows->metric->label, g->whiskers,
                sides ? " Both panels have one range." : " The worst change is on top.",
                scale_words(g));
    compare_rows_caption(rows, true, &sb);
    figure_set(&g->f->caption, "%s", sb.data);
    strbuf_release(&sb);
    add_alt(g, "base and head");
    finish(g, sides);
}

static struct figure *build_compared(const struct chart *chart, bool sides)
{
    struct grouped g = { .chart = chart, .f = chart_figure(chart) };
    struct compare_rows rows;

    if (!chart->comparison || chart->run < 0)
        return chart_absent(g.f, "there is no base to compare with; name one, or save a baseline");
    compare_rows_init(&rows, chart, chart_limit(chart->preset, sides ? LIMIT_SIDES : LIMIT / 2),
                      true);
    if (compare_rows_any(&rows, g.f))
        build_sides_of(&g, &rows, sides);
    compare_rows_release(&rows);
    free(g.cells);
    return g.f;
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
    make_cells(g);
    for (size_t i = 0; i < grid->nr; i++) {
        for (size_t k = 0; k < grid->nr_series; k++) {
            const struct chart_item *item = grid->items[i].items[k];
            if (!item)
                continue;
            struct chart_value v = chart_value_of(&g->metric, item, &items->context);
            *cell_at(g, i, k) = (struct cell) { v.value, v.low, v.high, "n/a" };
        }
    }
}

static void draw_groups(struct grouped *g, const struct chart_items *items, struct chart_grid *grid)
{
    char how[520], left[GRID_WORDS_SIZE];

    chart_grid_limit(grid, chart_limit(g->chart->preset, LIMIT));
    collect_groups(g, items, grid);
    find_range(g);
    if (!isfinite(g->most)) {
        chart_absent(g->f, "%s does not apply to these benchmarks", g->metric.label);
        return;
    }
    chart_grid_left_out(grid, left, sizeof(left));
    snprintf(how, sizeof(how),
             "Bars and numbers: %.100s, all else equal; n/a: not measured, or without it.%s%s",
             g->metric.label, scale_words(g), left);
    chart_caption(g->f, items, how, "");
    chart_subtitle(g->f, g->chart, items);
    add_alt(g, grid->field);
    finish(g, false);
}

static struct figure *build_groups(const struct chart *chart)
{
    struct grouped g = { .chart = chart,
                         .metric = chart_metric_chosen(chart->preset->y, "p50"),
                         .f = chart_figure(chart) };
    struct chart_items items;
    struct chart_grid grid;

    chart_items_init(&items, chart);
    chart_grid_init(&grid, &items, chart->preset->group);
    chart_grid_pairs(&grid);
    if (!items.nr)
        chart_absent_items(g.f, chart, &items);
    else if (!grid.nr)
        chart_absent(g.f, "no two benchmarks are alike but for their %s", grid.field);
    else
        draw_groups(&g, &items, &grid);
    chart_grid_release(&grid);
    chart_items_release(&items);
    chart_metric_release(&g.metric);
    free(g.cells);
    return g.f;
}

int check_grouped(const struct preset *preset, struct error *err)
{
    return preset->group ? chart_grid_check(preset->group, err) : 0;
}

struct figure *build_grouped(const struct chart *chart)
{
    return chart->preset->group ? build_groups(chart) : build_compared(chart, false);
}

struct figure *build_sides(const struct chart *chart)
{
    return build_compared(chart, true);
}
