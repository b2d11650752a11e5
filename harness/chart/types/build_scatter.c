/* SPDX-License-Identifier: MIT */
/* One number over another, a point a benchmark. With highlight_pareto, a line joins those of a
 * model that no other of it beats in both. A third number can set the size of the points, a fourth
 * their colour. */
#include "base/memory.h"
#include "chart/types/chart_types.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAMED_MAX = 14,
    GROUPS_MAX = 8,
    LEGEND_MAX = 16,
    POINT_SIZE = 10,
    SIZE_LEAST = 7,
    SIZE_MOST = 30
};

struct scatter {
    const struct chart *chart;
    struct chart_items *items;
    struct chart_metric x, y, size, colour;
    bool has_size, has_colour;
    struct chart_names categories; /* of x, where it is a word; they point into `words` */
    char (*words)[GROUP_SIZE];     /* of each item: its category; owned */
    double *xs, *ys;               /* of each item; owned */
    struct figure *f;
    struct panel *p;
    bool *front; /* of each item; owned */
    size_t nr_front;
    struct chart_names models;       /* a front each: who has one model chooses among its points */
    size_t *model;                   /* of each item; owned */
    char (*model_words)[GROUP_SIZE]; /* what `models` points into; owned */
};

static void scatter_drop_without_values(struct scatter *s)
{
    size_t kept = 0;

    s->xs = memory_zeroed(s->items->nr + 1, sizeof(*s->xs));
    s->ys = memory_zeroed(s->items->nr + 1, sizeof(*s->ys));
    for (size_t i = 0; i < s->items->nr; i++) {
        double x = s->x.category ? 0 : chart_value_at(s->items, &s->x, i),
               y = chart_value_at(s->items, &s->y, i);
        if (!isfinite(x + y))
            continue;
        s->xs[kept] = x;
        s->ys[kept] = y;
        s->items->items[kept++] = s->items->items[i];
    }
    s->items->nr = kept;
}

/* Positive where a is better than b. */
static double scatter_better(const struct chart_metric *metric, double a, double b)
{
    return metric->direction == LOWER_IS_BETTER ? b - a : a - b;
}

/* There is a front where both have a better and a worse. */
static bool scatter_has_front(const struct scatter *s)
{
    return s->x.direction != NO_DIRECTION && s->y.direction != NO_DIRECTION;
}

static bool scatter_is_beaten(const struct scatter *s, size_t item)
{
    for (size_t k = 0; k < s->items->nr; k++) {
        double dx = scatter_better(&s->x, s->xs[k], s->xs[item]);
        double dy = scatter_better(&s->y, s->ys[k], s->ys[item]);
        if (s->model[k] == s->model[item] && dx >= 0 && dy >= 0 && dx + dy > 0)
            return true;
    }
    return false;
}

/* The points that no other of their model beats in both. */
static void scatter_find_fronts(struct scatter *s)
{
    size_t nr = s->items->nr;

    s->front = memory_zeroed(nr + 1, sizeof(*s->front));
    s->model = memory_zeroed(nr + 1, sizeof(*s->model));
    s->model_words = memory_zeroed(nr + 1, sizeof(*s->model_words));
    for (size_t i = 0; i < nr; i++)
        s->model[i] = chart_names_index(
            &s->models, chart_group_of(&s->items->items[i], s->chart, "model", s->model_words[i]));
    for (size_t i = 0; scatter_has_front(s) && i < nr; i++) {
        s->front[i] = !scatter_is_beaten(s, i);
        s->nr_front += s->front[i];
    }
}

/* The next point of a model's front to the right of `x`, or items.nr. */
static size_t scatter_next_front(const struct scatter *s, size_t model, double x)
{
    size_t next = s->items->nr;

    for (size_t i = 0; i < s->items->nr; i++)
        if (s->front[i] && s->model[i] == model && s->xs[i] > x &&
            (next == s->items->nr || s->xs[i] < s->xs[next]))
            next = i;
    return next;
}

static void scatter_add_front(struct scatter *s)
{
    struct layer *line =
        panel_stroke(s->p, MARK_LINE, "nothing is better in both", INK_DARK, DASH_SHORT, 1.4);

    for (size_t model = 0; model < s->models.nr; model++) {
        for (size_t i = scatter_next_front(s, model, -INFINITY); i < s->items->nr;
             i = scatter_next_front(s, model, s->xs[i])) {
            chart_about(s->f, &s->items->items[i]);
            layer_add(line, s->xs[i], s->ys[i]);
        }
        chart_about(s->f, NULL);
        layer_add(line, NAN, NAN); /* the next model's is another one */
    }
}

static size_t scatter_count_groups(const struct scatter *s, const char *group)
{
    char(*texts)[GROUP_SIZE] = memory_zeroed(s->items->nr + 1, sizeof(*texts));
    struct chart_names names = { 0 };

    for (size_t i = 0; i < s->items->nr; i++)
        chart_names_index(&names, chart_group_of(&s->items->items[i], s->chart, group, texts[i]));
    free(texts);
    return names.nr;
}

/* Points are told apart by run where there are several, by kernel where there are few, else by
 * variant. */
static const char *scatter_group_of(const struct scatter *s)
{
    if (s->chart->preset->group)
        return s->chart->preset->group;
    if (chart_nr_runs(s->chart) > 1)
        return "run";
    size_t kernels = scatter_count_groups(s, "kernel");
    return kernels > 1 && kernels <= GROUPS_MAX ? "kernel" : "variant";
}

static struct range range_of_values(const double *values, size_t nr)
{
    struct range r = RANGE_NONE;

    for (size_t i = 0; i < nr; i++)
        range_include(&r, values[i]);
    return r;
}

/* Areas are read, not widths: the square root. */
static double scatter_size_of(const struct scatter *s, struct range range, size_t i)
{
    double value = chart_value_at(s->items, &s->size, i);

    if (!isfinite(value) || !(range.high > 0))
        return NAN;
    return fmax(SIZE_LEAST, SIZE_MOST * sqrt(fmax(value, 0) / range.high));
}

static double scatter_share_of(struct range range, bool log_scale, double value)
{
    if (log_scale && value > 0)
        return range.high > range.low ? log(value / range.low) / log(range.high / range.low) : 0.5;
    return range.high > range.low ? (value - range.low) / (range.high - range.low) : 0.5;
}

/* What the colours mean stands in a strip beside the plot. True where it is logarithmic. */
static bool scatter_add_scale_bar(struct scatter *s, struct range range)
{
    bool log_scale = chart_scale_of(SCALE_AUTO, range.low, range.high) == AXIS_LOG;

    if (!isfinite(range.low))
        return false;
    figure_scale_bar(s->f, s->colour.label, s->colour.quantity, s->colour.base, range.low,
                     range.high > range.low ? range.high : range.low + fabs(range.low) + 1,
                     log_scale);
    return log_scale;
}

static struct layer *scatter_layer_of(struct scatter *s, struct layer **layers,
                                      struct chart_names *names, const char *group,
                                      const char *text)
{
    size_t k = chart_names_index(names, text);

    if (layers[k])
        return layers[k];
    layers[k] = panel_layer(s->p, MARK_POINTS, names->names[k]);
    style_nth(&layers[k]->style, chart_items_style(s->items, group, text, k));
    if (s->has_colour) /* colours mean a number then: shapes alone tell groups apart */
        layers[k]->style.ink = INK_GREY;
    layers[k]->style.size = POINT_SIZE;
    return layers[k];
}

static void scatter_add_points(struct scatter *s)
{
    char(*texts)[GROUP_SIZE] = memory_zeroed(s->items->nr + 1, sizeof(*texts));
    struct chart_names groups = { 0 };
    const char *group = scatter_group_of(s);
    struct layer *layers[64] = { NULL };
    struct range sizes = { 0, 0 }, colours = { 0, 0 };

    if (s->has_size)
        sizes = chart_range(s->items, &s->size);
    if (s->has_colour)
        colours = chart_range(s->items, &s->colour);
    bool log_scale = s->has_colour && scatter_add_scale_bar(s, colours);
    for (size_t i = 0; i < s->items->nr; i++) {
        chart_group_of(&s->items->items[i], s->chart, group, texts[i]);
        chart_about(s->f, &s->items->items[i]);
        struct datum *d =
            layer_add(scatter_layer_of(s, layers, &groups, group, texts[i]), s->xs[i], s->ys[i]);
        if (s->has_size)
            d->size = scatter_size_of(s, sizes, i);
        if (s->has_colour)
            d->share =
                scatter_share_of(colours, log_scale, chart_value_at(s->items, &s->colour, i));
    }
    chart_about(s->f, NULL);
    if (groups.nr > LEGEND_MAX) /* it would fill the figure, and signs repeat anyway */
        s->f->no_legend = true;
    free(texts);
}

static bool scatter_is_near(double a, double b)
{
    return fabs(a - b) <= 0.03 * fmax(fabs(a), fabs(b));
}

/* One benchmark in several runs is often at one place: then one name is enough. */
static bool scatter_is_named(const struct scatter *s, const struct layer *names, size_t item)
{
    for (size_t i = 0; i < names->nr; i++) {
        const struct datum *d = &names->items[i];
        if (strcmp(d->text, s->items->items[item].own) == 0 && scatter_is_near(d->x, s->xs[item]) &&
            scatter_is_near(d->y, s->ys[item]))
            return true;
    }
    return false;
}

static void scatter_set_axes(struct scatter *s)
{
    const struct preset *preset = s->chart->preset;
    const char *label = preset->x_label ? preset->x_label : s->x.label;
    struct range x = range_of_values(s->xs, s->items->nr);
    struct range y = range_of_values(s->ys, s->items->nr);

    if (s->x.category) {
        axis_set(&s->p->x, label, QUANTITY_PLAIN, "", AXIS_CATEGORY);
        axis_names(&s->p->x, s->categories.names, s->categories.nr, false);
    } else {
        chart_axis(&s->p->x, &s->x, label, chart_scale_of(preset->x_scale, x.low, x.high));
    }
    chart_axis(&s->p->y, &s->y, preset->y_label, chart_scale(preset, y.low, y.high));
}

/* The points of a model's front that are least and most in x; false where they are one. */
static bool scatter_front_ends(const struct scatter *s, size_t model, size_t *first, size_t *last)
{
    *first = *last = scatter_next_front(s, model, -INFINITY);
    for (size_t i = *first; i < s->items->nr; i = scatter_next_front(s, model, s->xs[i]))
        *last = i;
    return *first != *last && s->xs[*first] > 0 && s->ys[*first] > 0;
}

/* "of gpt/nano 1.3× the token rate costs 3.9× the median latency": the dearest of all models, where
 * less of x and more of y is better. */
static void scatter_conclude(struct scatter *s)
{
    size_t first, last, at = s->models.nr;
    double gain = 0, cost = 0;
    char more[QUANTITY_TEXT_SIZE], dear[QUANTITY_TEXT_SIZE];

    for (size_t model = 0; model < s->models.nr; model++)
        if (scatter_front_ends(s, model, &first, &last) && s->xs[last] / s->xs[first] > cost) {
            cost = s->xs[last] / s->xs[first];
            gain = s->ys[last] / s->ys[first];
            at = model;
        }
    if (s->x.direction != LOWER_IS_BETTER || s->y.direction != HIGHER_IS_BETTER)
        return;
    if (at < s->models.nr)
        chart_conclude(s->f, s->chart, "of %.40s %s the %.40s costs %s the %.40s",
                       s->models.names[at], ratio_text(gain, more), s->y.label,
                       ratio_text(cost, dear), s->x.label);
    else
        chart_conclude(s->f, s->chart, "one point of each model is best in both");
}

static void scatter_add_words(struct scatter *s)
{
    bool front = s->chart->preset->highlight_pareto && scatter_has_front(s);
    struct strbuf how;

    strbuf_init(&how);
    strbuf_adds(&how, chart_nr_runs(s->chart) > 1 ? "One point a benchmark and run."
                                                  : "One point a benchmark.");
    if (front)
        strbuf_adds(&how, " Dotted: those that no other of the same model beats in both metrics.");
    if (front && s->items->nr > NAMED_MAX)
        strbuf_adds(&how, " Named: those alone.");
    if (s->has_size)
        strbuf_addf(&how, " Area of a point: %s.", s->size.label);
    if (s->has_colour)
        strbuf_addf(&how, " Colour: %s.", s->colour.label);
    chart_caption(s->f, s->items, "those that take longest", "%s", how.data);
    if (front)
        scatter_conclude(s);
    strbuf_clear(&how);
    if (scatter_has_front(s))
        strbuf_addf(&how, "; %zu %s beaten by none of the same model in both", s->nr_front,
                    s->nr_front == 1 ? "is" : "are");
    figure_set(&s->f->alt, "Points of %s over %s for %zu benchmarks%s%s.", s->y.label, s->x.label,
               s->items->nr, chart_nr_runs(s->chart) > 1 ? " in several runs" : "", how.data);
    strbuf_release(&how);
}

static void scatter_draw(struct scatter *s)
{
    s->p = figure_panel(s->f);
    s->p->plot_height = 500;
    /* Words stand at 0, 1, ... in the order of first use; what is beyond the last shares its place.
     */
    s->words = memory_zeroed(s->items->nr + 1, sizeof(*s->words));
    for (size_t i = 0; s->x.category && i < s->items->nr; i++) {
        chart_group_of(&s->items->items[i], s->chart, s->x.name, s->words[i]);
        s->xs[i] = (double)chart_names_index(&s->categories, s->words[i]);
    }
    scatter_set_axes(s);
    if (s->chart->preset->highlight_pareto && scatter_has_front(s))
        scatter_add_front(s);
    scatter_add_points(s);
    /* Where the legend tells runs apart, names need not. */
    struct layer *names = panel_layer(s->p, MARK_TEXT, NULL);
    bool by_run = strcmp(scatter_group_of(s), "run") == 0;
    names->place = true;
    for (size_t i = 0; i < s->items->nr; i++) {
        const struct chart_item *item = &s->items->items[i];
        if ((s->items->nr <= NAMED_MAX || s->front[i]) &&
            !(by_run && scatter_is_named(s, names, i)))
            layer_add_text(names, s->xs[i], s->ys[i], ANCHOR_LEFT,
                           by_run ? item->own : item->label);
    }
    scatter_add_words(s);
}

/* A preset may lack them. */
static bool init_optional(struct chart_metric *metric, const char *text)
{
    if (text)
        *metric = chart_metric_chosen(text, "p50");
    return text != NULL;
}

/* A front of one point a model says nothing. */
static bool scatter_lacks_choice(struct scatter *s)
{
    scatter_find_fronts(s);
    return s->chart->preset->highlight_pareto && scatter_has_front(s) &&
           s->models.nr == s->items->nr;
}

static void scatter_free(struct scatter *s)
{
    chart_metric_release(&s->x);
    chart_metric_release(&s->y);
    chart_metric_release(&s->size);
    chart_metric_release(&s->colour);
    free(s->words);
    free(s->xs);
    free(s->ys);
    free(s->front);
    free(s->model);
    free(s->model_words);
}

void build_scatter(const struct chart *chart, struct chart_items *items, struct figure *f)
{
    struct scatter s = {
        .chart = chart,
        .items = items,
        .f = f,
        .x = chart_metric_chosen(chart->preset->x, "p50"),
        .y = chart_metric_chosen(chart->preset->y, "p50"),
    };

    s.has_size = init_optional(&s.size, chart->preset->size);
    s.has_colour = init_optional(&s.colour, chart->preset->colour);
    scatter_drop_without_values(&s);
    if (items->nr < 2)
        chart_absent(f, "fewer than two benchmarks have both %s and %s", s.x.label, s.y.label);
    else if (scatter_lacks_choice(&s))
        chart_absent(f, "each model was measured at one size: none has a choice between %s and %s",
                     s.x.label, s.y.label);
    else
        scatter_draw(&s);
    scatter_free(&s);
}
