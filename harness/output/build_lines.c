/* SPDX-License-Identifier: MIT */
/* A metric over what was varied: a dim (batch, seq, ...), a parameter of the run (min_time), the
 * threads, or any other number. One line for each family of benchmarks that are alike in all else.
 * Several runs: a panel a family, a line a run. */
#include "base/memory.h"
#include "output/chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_LIMIT = 8, PANELS_LIMIT = 6, LINES_IN_PANEL = 12, TICKS_MAX = 24, HEIGHT = 260 };

struct lines {
    const struct chart *chart;
    struct chart_items items; /* with a value of both */
    struct chart_families families;
    struct chart_metric x, y;
    struct figure *f;
    double least, most; /* of y */
    double x_least, x_most;
    size_t drawn, eligible; /* lines, or panels */
    bool *chosen;           /* of each family; owned */
    bool panels;
};

static double x_of(const struct lines *l, size_t item)
{
    return chart_value_of(&l->x, &l->items.items[item], &l->items.context).value;
}

static struct chart_value y_of(const struct lines *l, size_t item)
{
    return chart_value_of(&l->y, &l->items.items[item], &l->items.context);
}

static void drop_without_values(struct lines *l)
{
    size_t kept = 0;

    for (size_t i = 0; i < l->items.nr; i++)
        if (isfinite(x_of(l, i)) && isfinite(y_of(l, i).value))
            l->items.items[kept++] = l->items.items[i];
    l->items.nr = kept;
}

static bool has_two_places(const struct lines *l, const struct chart_family *family)
{
    for (size_t i = 1; i < family->nr; i++)
        if (x_of(l, family->members[i]) != x_of(l, family->members[0]))
            return true;
    return false;
}

/* Members from left to right; of one place in the order measured. */
static void sort_members(const struct lines *l, struct chart_family *family)
{
    for (size_t i = 1; i < family->nr; i++)
        for (size_t k = i; k > 0 && x_of(l, family->members[k - 1]) > x_of(l, family->members[k]);
             k--) {
            size_t member = family->members[k];
            family->members[k] = family->members[k - 1];
            family->members[k - 1] = member;
        }
}

static void include(struct lines *l, double x, double y)
{
    l->least = fmin(l->least, y);
    l->most = fmax(l->most, y);
    l->x_least = fmin(l->x_least, x);
    l->x_most = fmax(l->x_most, x);
}

static void add_line(struct lines *l, struct panel *p, const struct chart_family *family,
                     const char *label, size_t nth)
{
    struct layer *spread = panel_layer(p, MARK_INTERVALS, NULL);
    struct layer *line = panel_layer(p, MARK_LINE, label);
    struct layer *points = panel_layer(p, MARK_POINTS, label);

    style_nth(&line->style, nth);
    style_nth(&points->style, nth);
    spread->style = line->style;
    spread->style.width = 1;
    spread->style.dash = DASH_SOLID;
    for (size_t i = 0; i < family->nr; i++) {
        double x = x_of(l, family->members[i]);
        struct chart_value v = y_of(l, family->members[i]);
        layer_add(line, x, v.value);
        layer_add(points, x, v.value);
        if (isfinite(v.low) && isfinite(v.high))
            layer_add_interval(spread, x, v.low, v.high);
        include(l, x, v.value);
    }
}

static int order_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The distinct values of x; the caller frees them. */
static double *places_of(const struct lines *l, size_t *nr)
{
    double *values = memory_zeroed(l->items.nr + 1, sizeof(*values));
    size_t kept = 0;

    for (size_t i = 0; i < l->items.nr; i++)
        values[i] = x_of(l, i);
    qsort(values, l->items.nr, sizeof(*values), order_numbers);
    for (size_t i = 0; i < l->items.nr; i++)
        if (kept == 0 || values[i] != values[kept - 1])
            values[kept++] = values[i];
    *nr = kept;
    return values;
}

/* What was varied by hand has few values: ticks stand at them. */
static bool add_ticks(const struct lines *l, struct panel *p)
{
    size_t nr;
    double *values = places_of(l, &nr);
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

/* Sizes double more often than not: log from a factor of 8 on. */
static enum axis_scale x_scale(const struct lines *l)
{
    if (l->chart->preset->x_scale == SCALE_AUTO && l->x.parameter)
        return l->x_least > 0 && l->x_most >= 8 * l->x_least ? AXIS_LOG : AXIS_LINEAR;
    return chart_scale_of(l->chart->preset->x_scale, l->x_least, l->x_most);
}

/* Over what grows by factors, values do too: on a linear axis the small ones would lie on it. */
static enum axis_scale y_scale(const struct lines *l)
{
    if (l->chart->preset->y_scale == SCALE_AUTO && x_scale(l) == AXIS_LOG && l->least > 0 &&
        l->most >= 8 * l->least)
        return AXIS_LOG;
    return chart_scale(l->chart->preset, l->least, l->most);
}

static void set_axes(struct lines *l, struct panel *p)
{
    const struct preset *preset = l->chart->preset;

    axis_set(&p->x, preset->x_label ? preset->x_label : l->x.label, l->x.quantity, l->x.base,
             x_scale(l));
    add_ticks(l, p);
    axis_set(&p->y, preset->y_label ? preset->y_label : l->y.label, l->y.quantity, l->y.base,
             y_scale(l));
}

/* Of many runs the last ones: more lines could not be told apart. */
static bool is_late(const struct lines *l, size_t run)
{
    return run + LINES_IN_PANEL >= chart_nr_runs(l->chart);
}

/* Families of one benchmark in several runs share a panel. */
static bool same_panel(const struct chart_family *a, const struct chart_family *b)
{
    return strcmp(a->name.key, b->name.key) == 0;
}

static void add_panel(struct lines *l, size_t first)
{
    struct chart_families *families = &l->families;
    struct panel *p = figure_panel(l->f);

    figure_set(&p->title, "%s", families->own[first]);
    p->plot_height = HEIGHT;
    for (size_t i = first; i < families->nr; i++) {
        size_t run = families->items[i].run;
        if (l->chosen[i] && is_late(l, run) &&
            same_panel(&families->items[i], &families->items[first]))
            add_line(l, p, &families->items[i], chart_run_name(l->chart, run), run);
    }
}

static bool is_first_of_panel(const struct lines *l, size_t nth)
{
    for (size_t i = 0; i < nth; i++)
        if (l->chosen[i] && same_panel(&l->families.items[i], &l->families.items[nth]))
            return false;
    return l->chosen[nth];
}

/* In a crowd, of each kernel the family with most sizes, or the best. */
static bool leads(const struct lines *l, size_t nth, size_t limit)
{
    return l->eligible <= limit || chart_family_leads(&l->families, &l->items, nth, &l->y);
}

static void add_panels(struct lines *l, size_t limit)
{
    for (size_t i = 0; i < l->families.nr; i++)
        l->eligible += is_first_of_panel(l, i);
    for (size_t i = 0; i < l->families.nr && l->drawn < limit; i++) {
        if (!is_first_of_panel(l, i) || !leads(l, i, limit))
            continue;
        add_panel(l, i);
        l->drawn++;
    }
    l->f->columns = l->drawn > 4 ? 3 : l->drawn > 1 ? 2 : 1;
}

static void add_lines(struct lines *l, size_t limit)
{
    struct panel *p = figure_panel(l->f);

    for (size_t i = 0; i < l->families.nr; i++)
        l->eligible += l->chosen[i];
    for (size_t i = 0; i < l->families.nr && l->drawn < limit; i++)
        if (l->chosen[i] && leads(l, i, limit))
            add_line(l, p, &l->families.items[i], l->families.labels[i], l->drawn++);
}

static const char *run_words(const struct lines *l, char words[80])
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

static void add_words(struct lines *l)
{
    char words[80], low[QUANTITY_TEXT_SIZE], high[QUANTITY_TEXT_SIZE], how[512], more[160] = "";
    const struct metric *metric = l->y.metric;

    quantity_text(l->y.quantity, l->y.base, l->least, low);
    quantity_text(l->y.quantity, l->y.base, l->most, high);
    if (l->eligible > l->drawn)
        snprintf(more, sizeof(more),
                 " Showing %zu of %zu %s: of each kernel the one with most sizes, or the best.",
                 l->drawn, l->eligible, l->panels ? "benchmarks" : "lines");
    snprintf(how, sizeof(how), "%sPoints: %.120s%s%s.%s", run_words(l, words), l->y.label,
             metric && metric->kind == METRIC_RATE ? " at the median time" : "",
             metric && metric->kind != METRIC_FACT ? "; bars p5 to p95" : "", more);
    chart_caption(l->f, &l->items, how, "");
    figure_set(&l->f->alt, "Lines of %s over %s for %zu benchmark%s%s, from %s to %s.", l->y.label,
               l->x.parameter ? l->x.name : l->x.label, l->drawn, l->drawn == 1 ? "" : "s",
               l->panels ? " in several runs" : "", low, high);
}

static void draw(struct lines *l)
{
    size_t chosen = 0;

    l->least = l->x_least = INFINITY;
    l->most = l->x_most = -INFINITY;
    l->chosen = memory_zeroed(l->families.nr + 1, sizeof(*l->chosen));
    for (size_t i = 0; i < l->families.nr; i++) {
        l->chosen[i] = has_two_places(l, &l->families.items[i]);
        chosen += l->chosen[i];
        sort_members(l, &l->families.items[i]);
    }
    if (!chosen) {
        chart_absent(l->f, "no benchmark was measured at two or more values of %s, with %s",
                     l->x.name, l->y.label);
        return;
    }
    if (l->panels)
        add_panels(l, chart_limit(l->chart->preset, PANELS_LIMIT));
    else
        add_lines(l, chart_limit(l->chart->preset, LINES_LIMIT));
    for (size_t i = 0; i < l->f->nr_panels; i++)
        set_axes(l, l->f->panels[i]);
    chart_subtitle(l->f, l->chart, &l->items);
    add_words(l);
    figure_finish(l->f);
}

struct figure *build_lines(const struct chart *chart)
{
    struct lines l = {
        .chart = chart,
        .f = chart_figure(chart),
        .x = chart_metric_chosen(chart->preset->x, "batch"),
        .y = chart_metric_chosen(chart->preset->y, "p50"),
    };

    chart_items_init(&l.items, chart);
    bool any = l.items.nr > 0;
    drop_without_values(&l);
    chart_families_over(&l.families, &l.items, &l.x);
    l.panels = chart_nr_runs(chart) > 1 && !chart_metric_is_of_run(&l.x);
    if (any)
        draw(&l);
    else
        chart_absent_items(l.f, chart, &l.items);
    free(l.chosen);
    chart_families_release(&l.families);
    chart_items_release(&l.items);
    chart_metric_release(&l.x);
    chart_metric_release(&l.y);
    return l.f;
}
