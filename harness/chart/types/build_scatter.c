/* SPDX-License-Identifier: MIT */
/* One number over another, a point a benchmark. With highlight_pareto, a line joins those of a
 * model that no other of it beats in both. A third number can set the size of the points, a fourth
 * their colour. */
#include "base/memory.h"
#include "chart/base/chart_scale.h"
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
    /* Who has one model chooses among its points: each has a front. */
    char (*model)[GROUP_SIZE]; /* of each item: its name; owned */
    size_t nr_models;
    bool *front; /* of each item; owned */
    size_t nr_front;
    struct front_point *line; /* the fronts, model by model and from left to right; owned */
    size_t nr_line;           /* of points in one place the first */
};

struct front_point {
    size_t model;        /* the first item of that model */
    double x, better[2]; /* the more the better, in x and in y */
    size_t item;
};

/* Values of all items, of which those without any go; the arrays have room for them. */
static void scatter_take_values(struct scatter *s)
{
    size_t kept = 0;

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

static int order_sizes(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

static int order_numbers(double a, double b)
{
    return (a > b) - (a < b);
}

/* By model, the best in x first, of those the best in y. */
static int scatter_order_best(const void *x, const void *y)
{
    const struct front_point *a = x, *b = y;
    int order = order_sizes(a->model, b->model);

    for (int i = 0; i < 2 && order == 0; i++)
        order = order_numbers(b->better[i], a->better[i]);
    return order ? order : order_sizes(a->item, b->item);
}

static int scatter_order_line(const void *x, const void *y)
{
    const struct front_point *a = x, *b = y;
    int order = order_sizes(a->model, b->model);

    order = order ? order : order_numbers(a->x, b->x);
    return order ? order : order_sizes(a->item, b->item);
}

/* Is the item at that index of the model of that name? */
static bool scatter_is_of_model(const void *owner, size_t at, const char *name, size_t run)
{
    const struct scatter *s = owner;

    (void)run;
    return strcmp(s->model[at], name) == 0;
}

/* All items, each with the first of its model; free() them. */
static struct front_point *scatter_points_of_models(struct scatter *s)
{
    size_t nr = s->items->nr;
    struct front_point *points = memory_zeroed(nr + 1, sizeof(*points));
    struct chart_places places;

    s->model = memory_zeroed(nr + 1, sizeof(*s->model));
    s->nr_models = 0;
    chart_places_init(&places, s, scatter_is_of_model, nr);
    for (size_t i = 0; i < nr; i++) {
        chart_group_of(&s->items->items[i], s->chart, "model", s->model[i]);
        size_t *first = chart_place(&places, s->model[i], 0);
        s->nr_models += *first == 0;
        *first = *first ? *first : i + 1;
        points[i] = (struct front_point) { .model = *first - 1,
                                           .x = s->xs[i],
                                           .better = { scatter_better(&s->x, s->xs[i], 0),
                                                       scatter_better(&s->y, s->ys[i], 0) },
                                           .item = i };
    }
    chart_places_release(&places);
    return points;
}

/* Is it beaten by none of its model, of which those before it are no worse in x? Then it is better
 * in y than the last on the front, or in the same place. */
static bool scatter_is_on_front(const struct front_point *last, const struct front_point *point)
{
    if (!last || last->model != point->model || point->better[1] > last->better[1])
        return true;
    return point->better[0] == last->better[0] && point->better[1] == last->better[1];
}

/* The points that no other of their model beats in both. */
static void scatter_find_fronts(struct scatter *s)
{
    struct front_point *points = scatter_points_of_models(s), *last = NULL;
    size_t nr = scatter_has_front(s) ? s->items->nr : 0;

    s->front = memory_zeroed(s->items->nr + 1, sizeof(*s->front));
    s->nr_front = s->nr_line = 0;
    qsort(points, nr, sizeof(*points), scatter_order_best);
    for (size_t i = 0; i < nr; i++) {
        if (!scatter_is_on_front(last, &points[i]))
            continue;
        s->front[points[i].item] = true;
        points[s->nr_front] = points[i];
        last = &points[s->nr_front++];
    }
    qsort(points, s->nr_front, sizeof(*points), scatter_order_line);
    for (size_t i = 0; i < s->nr_front; i++)
        if (i == 0 || points[i].model != points[s->nr_line - 1].model ||
            points[i].x > points[s->nr_line - 1].x)
            points[s->nr_line++] = points[i];
    s->line = points;
}

static void scatter_forget_fronts(struct scatter *s)
{
    free(s->model);
    free(s->front);
    free(s->line);
}

/* Does another front begin with that point of the line? */
static bool scatter_begins_front(const struct scatter *s, size_t at)
{
    return at == 0 || at == s->nr_line || s->line[at].model != s->line[at - 1].model;
}

static void scatter_add_front(struct scatter *s)
{
    struct layer *line =
        panel_stroke(s->p, MARK_LINE, "nothing is better in both", INK_DARK, DASH_SHORT, 1.4);

    for (size_t i = 0; i < s->nr_line; i++) {
        size_t item = s->line[i].item;
        chart_about(s->f, &s->items->items[item]);
        layer_add(line, s->xs[item], s->ys[item]);
        chart_about(s->f, NULL);
        if (scatter_begins_front(s, i + 1))
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

/* What the last point of a front is to its first, in x and y; false where they are one. */
static bool scatter_front_ratios(const struct scatter *s, size_t first, size_t last,
                                 double ratios[2])
{
    size_t from = s->line[first].item, to = s->line[last].item;

    ratios[0] = s->xs[to] / s->xs[from];
    ratios[1] = s->ys[to] / s->ys[from];
    return first != last && s->xs[from] > 0 && s->ys[from] > 0;
}

/* "of a model 1.3× the token rate costs 3.9× the median latency": the dearest of all models, where
 * less of x and more of y is better. */
static void scatter_conclude(struct scatter *s)
{
    const char *dearest = NULL;
    double gain = 0, cost = 0, ratios[2];
    char more[QUANTITY_TEXT_SIZE], dear[QUANTITY_TEXT_SIZE];

    for (size_t i = 0, first = 0; i < s->nr_line; i++) {
        if (!scatter_begins_front(s, i + 1))
            continue;
        if (scatter_front_ratios(s, first, i, ratios) && ratios[0] > cost) {
            cost = ratios[0];
            gain = ratios[1];
            dearest = s->model[s->line[i].item];
        }
        first = i + 1;
    }
    if (s->x.direction != LOWER_IS_BETTER || s->y.direction != HIGHER_IS_BETTER)
        return;
    if (dearest)
        chart_conclude(s->f, s->chart, "of %.40s %s the %.40s costs %s the %.40s", dearest,
                       ratio_text(gain, more), s->y.label, ratio_text(cost, dear), s->x.label);
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

/* Where the preset says how many points there may be; without that all are drawn. */
static void scatter_limit(struct scatter *s)
{
    const struct preset *preset = s->chart->preset;
    size_t all = s->items->nr;

    if (preset->limit > 0)
        chart_items_limit(s->items, chart_limit(preset, LIMIT_ROWS_MAX), chart_item_median);
    if (s->items->nr == all)
        return;
    scatter_forget_fronts(s); /* those of what is left */
    scatter_take_values(s);
    scatter_find_fronts(s);
}

static void scatter_draw(struct scatter *s)
{
    scatter_limit(s);
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
           s->nr_models == s->items->nr;
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
    scatter_forget_fronts(s);
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
    s.xs = memory_zeroed(items->nr + 1, sizeof(*s.xs));
    s.ys = memory_zeroed(items->nr + 1, sizeof(*s.ys));
    scatter_take_values(&s);
    if (items->nr < 2)
        chart_absent(f, "fewer than two benchmarks have both %s and %s", s.x.label, s.y.label);
    else if (scatter_lacks_choice(&s))
        chart_absent(f, "each model was measured at one size: none has a choice between %s and %s",
                     s.x.label, s.y.label);
    else
        scatter_draw(&s);
    scatter_free(&s);
}
