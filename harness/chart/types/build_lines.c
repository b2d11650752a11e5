/* SPDX-License-Identifier: MIT */
/* A metric over what was varied: a dim (batch, seq, ...), a parameter of the run (min_time), the
 * threads, or any other number. One line for each family of benchmarks that are alike in all else.
 * Several runs: a panel a family, a line a run. */
#include "base/memory.h"
#include "chart/base/chart_scale.h"
#include "chart/types/chart_types.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_LIMIT = 8, PANELS_LIMIT = 6, LINES_IN_PANEL = 12, TICKS_MAX = 24, HEIGHT = 260 };

struct lines {
    const struct chart *chart;
    struct chart_items *items; /* with a value of both */
    struct chart_families families;
    struct chart_metric x, y;
    struct figure *f;
    struct range x_range, y_range;
    size_t drawn, eligible; /* lines, or panels */
    bool *chosen;           /* of each family: it has a line, or could have one. Owned */
    bool panels;
};

static double lines_x_of(const struct lines *l, size_t item)
{
    return chart_value_at(l->items, &l->x, item);
}

static struct chart_value lines_y_of(const struct lines *l, size_t item)
{
    return chart_value_of(&l->y, &l->items->items[item], &l->items->context);
}

static bool lines_has_two_places(const struct lines *l, const struct chart_family *family)
{
    for (size_t i = 1; i < family->nr; i++)
        if (lines_x_of(l, family->members[i]) != lines_x_of(l, family->members[0]))
            return true;
    return false;
}

struct placed {
    double x;
    size_t at, member; /* its place before, and what stood there */
};

static int lines_order_placed(const void *a, const void *b)
{
    const struct placed *one = a, *other = b;

    if (one->x < other->x || one->x > other->x)
        return one->x < other->x ? -1 : 1;
    return (one->at > other->at) - (one->at < other->at);
}

/* Members from left to right; of one place in the order measured. */
static void sort_members(const struct lines *l, struct chart_family *family)
{
    struct placed *placed = memory_zeroed(family->nr + 1, sizeof(*placed));

    for (size_t i = 0; i < family->nr; i++)
        placed[i] = (struct placed) { lines_x_of(l, family->members[i]), i, family->members[i] };
    qsort(placed, family->nr, sizeof(*placed), lines_order_placed);
    for (size_t i = 0; i < family->nr; i++)
        family->members[i] = placed[i].member;
    free(placed);
}

static void lines_add_line(struct lines *l, struct panel *p, const struct chart_family *family,
                           const char *label, size_t nth)
{
    struct chart_line line = chart_line(p, label, nth);

    for (size_t i = 0; i < family->nr; i++) {
        double x = lines_x_of(l, family->members[i]);
        struct chart_value v = lines_y_of(l, family->members[i]);
        chart_about(l->f, &l->items->items[family->members[i]]);
        chart_line_add(&line, x, v);
        range_include(&l->x_range, x);
        range_include(&l->y_range, v.value);
    }
    chart_about(l->f, NULL);
}

static int lines_order_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The distinct values of x that the panel's lines have; the caller frees them. */
static double *lines_places_of(const struct lines *l, const struct panel *p, size_t *nr)
{
    double *values = memory_zeroed(l->items->nr + 1, sizeof(*values));
    size_t all = 0, kept = 0;

    for (size_t i = 0; i < p->nr; i++)
        for (size_t k = 0; p->layers[i]->mark == MARK_POINTS && k < p->layers[i]->nr; k++)
            values[all++] = p->layers[i]->items[k].x;
    qsort(values, all, sizeof(*values), lines_order_numbers);
    for (size_t i = 0; i < all; i++)
        if (kept == 0 || values[i] != values[kept - 1])
            values[kept++] = values[i];
    *nr = kept;
    return values;
}

/* What was varied by hand has few values: ticks stand at them. */
static bool lines_add_ticks(const struct lines *l, struct panel *p)
{
    size_t nr;
    double *values = lines_places_of(l, p, &nr);
    bool few = nr <= TICKS_MAX && l->x.quantity == QUANTITY_PLAIN && l->x.parameter;

    for (size_t i = 0; few && i < nr; i++) {
        char text[32];
        snprintf(text, sizeof(text), "%.10g", values[i]);
        if (values[i] > 0 || p->x.scale != AXIS_LOG)
            ticks_add(&p->x.ticks, values[i], text, false);
    }
    free(values);
    return few;
}

static enum axis_scale x_scale(const struct lines *l)
{
    return chart_scale_beyond(l->chart->preset->x_scale,
                              l->x.parameter ? SCALE_WIDE_SIZES : SCALE_WIDE, l->x_range.low,
                              l->x_range.high);
}

/* Over what grows by factors, values do too: on a linear axis the small ones would lie on it. */
static enum axis_scale y_scale(const struct lines *l)
{
    return chart_scale_beyond(l->chart->preset->y_scale,
                              x_scale(l) == AXIS_LOG ? SCALE_WIDE_SIZES : SCALE_WIDE,
                              l->y_range.low, l->y_range.high);
}

static void lines_set_axes(struct lines *l, struct panel *p)
{
    const struct preset *preset = l->chart->preset;

    chart_axis(&p->x, &l->x, preset->x_label, x_scale(l));
    lines_add_ticks(l, p);
    chart_axis(&p->y, &l->y, preset->y_label, y_scale(l));
}

/* Of many runs the last ones: more lines could not be told apart. */
static bool lines_is_late(const struct lines *l, size_t run)
{
    return run + LINES_IN_PANEL >= chart_nr_runs(l->chart);
}

/* Families of one benchmark in several runs share a panel. */
static bool lines_same_panel(const struct chart_family *a, const struct chart_family *b)
{
    return strcmp(a->name.key, b->name.key) == 0;
}

static void lines_add_panel(struct lines *l, size_t first)
{
    struct chart_families *families = &l->families;
    struct panel *p = figure_panel(l->f);

    figure_set(&p->title, "%s", families->own[first]);
    p->plot_height = HEIGHT;
    for (size_t i = first; i < families->nr; i++) {
        size_t run = families->items[i].run;
        if (l->chosen[i] && lines_is_late(l, run) &&
            lines_same_panel(&families->items[i], &families->items[first]))
            lines_add_line(l, p, &families->items[i], chart_run_name(l->chart, run), run);
    }
    chart_lines_apart(p);
}

static bool lines_is_first_of_panel(const struct lines *l, size_t nth)
{
    for (size_t i = 0; i < nth; i++)
        if (l->chosen[i] && lines_same_panel(&l->families.items[i], &l->families.items[nth]))
            return false;
    return l->chosen[nth];
}

/* In a crowd, of each kernel the family with most sizes, or the best. */
static bool lines_leads(const struct lines *l, size_t nth, size_t limit)
{
    return l->eligible <= limit || chart_family_leads(&l->families, l->items, nth, &l->y);
}

static void lines_add_panels(struct lines *l, size_t limit)
{
    for (size_t i = 0; i < l->families.nr; i++)
        l->eligible += lines_is_first_of_panel(l, i);
    for (size_t i = 0; i < l->families.nr && l->drawn < limit; i++) {
        if (!lines_is_first_of_panel(l, i) || !lines_leads(l, i, limit))
            continue;
        lines_add_panel(l, i);
        l->drawn++;
    }
    l->f->columns = l->drawn > 4 ? 3 : l->drawn > 1 ? 2 : 1;
}

static void lines_add_lines(struct lines *l, size_t limit)
{
    struct panel *p = figure_panel(l->f);

    for (size_t i = 0; i < l->families.nr; i++)
        l->eligible += l->chosen[i];
    for (size_t i = 0; i < l->families.nr; i++) {
        l->chosen[i] = l->chosen[i] && l->drawn < limit && lines_leads(l, i, limit);
        if (l->chosen[i])
            lines_add_line(l, p, &l->families.items[i], l->families.labels[i], l->drawn++);
    }
    chart_lines_apart(p);
}

static const char *lines_run_words(const struct lines *l, char words[80])
{
    size_t nr = chart_nr_runs(l->chart);

    if (!l->panels)
        return "";
    if (nr > LINES_IN_PANEL)
        snprintf(words, 80, "A line a run, the last %d of %zu. ", LINES_IN_PANEL, nr);
    else
        snprintf(words, 80, "A line a run. ");
    return words;
}

/* "4 times the sequence length takes 3.9× to 4.1× as long", of drawn lines that go all
 * the way. */
static void lines_conclude(const struct lines *l)
{
    struct range growth = RANGE_NONE;
    char low[QUANTITY_TEXT_SIZE], high[QUANTITY_TEXT_SIZE];
    double reach = l->x_range.high / l->x_range.low;

    for (size_t i = 0; i < l->families.nr; i++) {
        const struct chart_family *family = &l->families.items[i];
        size_t last = family->nr - 1;
        if (l->chosen[i] && lines_x_of(l, family->members[0]) <= l->x_range.low &&
            lines_x_of(l, family->members[last]) >= l->x_range.high)
            range_include(&growth, lines_y_of(l, family->members[last]).value /
                                       lines_y_of(l, family->members[0]).value);
    }
    if (!l->y.metric || l->y.metric->kind != METRIC_LATENCY || !l->x.parameter ||
        !(l->x_range.low > 0) || !(growth.low > 0 && isfinite(growth.high)))
        return;
    ratio_text(growth.low, low);
    ratio_text(growth.high, high);
    chart_conclude(l->f, l->chart, "%.4g times the %s takes %s%s%s as long", reach, l->x.name, low,
                   strcmp(low, high) != 0 ? " to " : "", strcmp(low, high) != 0 ? high : "");
}

static void lines_draw(struct lines *l)
{
    size_t chosen = 0;

    l->x_range = l->y_range = RANGE_NONE;
    l->chosen = memory_zeroed(l->families.nr + 1, sizeof(*l->chosen));
    for (size_t i = 0; i < l->families.nr; i++) {
        l->chosen[i] = lines_has_two_places(l, &l->families.items[i]);
        chosen += l->chosen[i];
        sort_members(l, &l->families.items[i]);
    }
    if (!chosen) {
        chart_absent(l->f, "no benchmark was measured at two or more values of %s, with %s",
                     l->x.name, l->y.label);
        return;
    }
    if (l->panels)
        lines_add_panels(l, chart_limit(l->chart->preset, PANELS_LIMIT));
    else
        lines_add_lines(l, chart_limit(l->chart->preset, LINES_LIMIT));
    for (size_t i = 0; i < l->f->nr_panels; i++)
        lines_set_axes(l, l->f->panels[i]);
    if (!l->panels)
        lines_conclude(l);
    char words[80], low[QUANTITY_TEXT_SIZE], high[QUANTITY_TEXT_SIZE], more[160] = "";
    const struct metric *metric = l->y.metric;
    if (l->eligible > l->drawn)
        snprintf(more, sizeof(more),
                 " Showing %zu of %zu %s: of each kernel the one with most sizes, or the best.",
                 l->drawn, l->eligible, l->panels ? "benchmarks" : "lines");
    chart_caption(l->f, l->items, "", "%sPoints: %.120s%s%s.%s", lines_run_words(l, words),
                  l->y.label, metric && metric->kind == METRIC_RATE ? " at the median time" : "",
                  metric && metric->kind != METRIC_FACT ? "; bars p5 to p95" : "", more);
    figure_set(&l->f->alt, "Lines of %s over %s for %zu benchmark%s%s, from %s to %s.", l->y.label,
               l->x.parameter ? l->x.name : l->x.label, l->drawn, l->drawn == 1 ? "" : "s",
               l->panels ? " in several runs" : "", chart_text(&l->y, l->y_range.low, low),
               chart_text(&l->y, l->y_range.high, high));
}

void build_lines(const struct chart *chart, struct chart_items *items, struct figure *f)
{
    struct lines l = {
        .chart = chart,
        .items = items,
        .f = f,
        .x = chart_metric_chosen(chart->preset->x, "batch"),
        .y = chart_metric_chosen(chart->preset->y, "p50"),
    };

    chart_items_require(items, &l.x);
    chart_items_require(items, &l.y);
    chart_families_over(&l.families, items, &l.x);
    l.panels = chart_nr_runs(chart) > 1 && !chart_metric_is_of_run(&l.x);
    lines_draw(&l);
    free(l.chosen);
    chart_families_release(&l.families);
    chart_metric_release(&l.x);
    chart_metric_release(&l.y);
}
