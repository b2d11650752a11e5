/* SPDX-License-Identifier: MIT */
/* A matrix product's metric over its size, where M = N = K: a line a variant, the arithmetic roof
 * as a rule. The rows of a linear layer are M = batch x seq. */
#include "base/memory.h"
#include "chart/base/chart_scale.h"
#include "chart/types/chart_types.h"
#include "metrics/label.h"
#include "metrics/roofline.h"
#include "text/shorten.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 10, SIZES_MAX = 24, ROOFS_MAX = 4 };

struct curve {
    struct benchmark_name name; /* without the dims that grow */
    size_t run;
    const struct chart_item *items[SIZES_MAX]; /* by size: the largest */
    size_t nr, all;
};

struct curves {
    struct curve *items;
    size_t nr, capacity;
};

struct sizes {
    const struct chart *chart;
    struct chart_items *items;
    struct chart_metric metric;
    struct curves curves;
    size_t all; /* curves before the limit */
    struct range range;
    struct figure *f;
    struct panel *p;
};

/* M = N = K, or 0. */
static int64_t sizes_square_of(const struct benchmark_name *name)
{
    int64_t n = benchmark_name_dim(name, "n", -1), k = benchmark_name_dim(name, "k", -1);
    int64_t m = benchmark_name_dim(name, "m", -1);

    if (m < 0)
        m = benchmark_name_dim(name, "batch", 1) * benchmark_name_dim(name, "seq", -1);
    return m > 0 && m == n && n == k ? m : 0;
}

static double sizes_value_of(const struct sizes *s, const struct chart_item *item)
{
    return chart_value_of(&s->metric, item, &s->items->context).value;
}

static bool sizes_is_curve(const void *owner, size_t at, const char *key, size_t run)
{
    const struct curve *c = &((const struct curves *)owner)->items[at];

    return c->run == run && strcmp(c->name.key, key) == 0;
}

/* All sizes of what is alike in the rest, the batch included: 4 x 64 rows are no 256 of one. */
static struct curve *curve_of(struct curves *curves, struct chart_places *places,
                              const struct chart_item *item)
{
    static const char *const growing[] = { "m", "n", "k", "seq" };
    struct benchmark_name name = *item->bench;

    for (size_t i = 0; i < sizeof(growing) / sizeof(growing[0]); i++) {
        struct benchmark_name with = name;
        chart_name_without(&with, growing[i], &name);
    }
    size_t *place = chart_place(places, name.key, item->run);
    if (*place)
        return &curves->items[*place - 1];
    struct curve *c = array_push(curves);
    c->name = name;
    c->run = item->run;
    *place = curves->nr;
    return c;
}

/* Of too many sizes the smallest goes. */
static void sizes_insert(struct curve *c, const struct chart_item *item)
{
    c->all++;
    if (c->nr == SIZES_MAX) {
        if (sizes_square_of(item->bench) < sizes_square_of(c->items[0]->bench))
            return;
        memmove(c->items, c->items + 1, --c->nr * sizeof(c->items[0]));
    }
    size_t at = c->nr;
    for (; at > 0 && sizes_square_of(c->items[at - 1]->bench) > sizes_square_of(item->bench); at--)
        c->items[at] = c->items[at - 1];
    c->items[at] = item;
    c->nr++;
}

/* A curve says more with more sizes, then with larger ones, then where it is better at the end. */
static bool says_less(const struct sizes *s, const struct curve *a, const struct curve *b)
{
    const struct chart_item *x = a->items[a->nr - 1], *y = b->items[b->nr - 1];

    if (a->all != b->all)
        return a->all < b->all;
    if (sizes_square_of(x->bench) != sizes_square_of(y->bench))
        return sizes_square_of(x->bench) < sizes_square_of(y->bench);
    return s->metric.direction == LOWER_IS_BETTER ? sizes_value_of(s, x) > sizes_value_of(s, y)
                                                  : sizes_value_of(s, x) < sizes_value_of(s, y);
}

/* Those that say most, in their order; of equal ones the last. */
static void sizes_keep_best(struct sizes *s, size_t limit)
{
    struct curves *curves = &s->curves;
    bool *keep = memory_zeroed(curves->nr + 1, sizeof(*keep));
    size_t kept = 0;

    for (size_t n = 0; n < limit && n < curves->nr; n++) {
        size_t best = curves->nr;
        for (size_t i = 0; i < curves->nr; i++)
            if (!keep[i] &&
                (best == curves->nr || !says_less(s, &curves->items[i], &curves->items[best])))
                best = i;
        keep[best] = true;
    }
    for (size_t i = 0; i < curves->nr; i++)
        if (keep[i])
            curves->items[kept++] = curves->items[i];
    curves->nr = kept;
    free(keep);
}

static void sizes_find_curves(struct sizes *s, size_t limit)
{
    struct chart_places places;

    chart_places_init(&places, &s->curves, sizes_is_curve, s->items->nr);
    for (size_t i = 0; i < s->items->nr; i++) {
        const struct chart_item *item = &s->items->items[i];
        if (sizes_square_of(item->bench) && isfinite(sizes_value_of(s, item)))
            sizes_insert(curve_of(&s->curves, &places, item), item);
    }
    chart_places_release(&places);
    size_t kept = 0;
    for (size_t i = 0; i < s->curves.nr; i++)
        if (s->curves.items[i].nr >= 2)
            s->curves.items[kept++] = s->curves.items[i];
    s->curves.nr = kept;
    s->all = s->curves.nr;
    sizes_keep_best(s, limit);
}

static void sizes_add_curve(struct sizes *s, const struct curve *c, size_t nth, const char *label)
{
    struct chart_line line = chart_line(s->p, label, nth);

    for (size_t i = 0; i < c->nr; i++) {
        struct chart_value v = chart_value_of(&s->metric, c->items[i], &s->items->context);
        chart_about(s->f, c->items[i]);
        chart_line_add(&line, (double)sizes_square_of(c->items[i]->bench), v);
        range_include(&s->range, v.value);
    }
    chart_about(s->f, NULL);
}

static bool sizes_has_devices(const struct sizes *s)
{
    for (size_t i = 1; i < s->curves.nr; i++)
        if (strcmp(s->curves.items[i].name.device, s->curves.items[0].name.device) != 0)
            return true;
    return false;
}

/* At the end where no curve is near: how far the nearest is from it there, as a log. */
static double sizes_room(const struct sizes *s, double roof, bool last)
{
    double room = INFINITY;

    for (size_t i = 0; i < s->curves.nr; i++) {
        const struct curve *c = &s->curves.items[i];
        double value = sizes_value_of(s, c->items[last ? c->nr - 1 : 0]);
        room = fmin(room, fabs(log(value / roof)));
    }
    return room;
}

/* One roof for each math mode and device among the curves; sizes go from `low` to `high`. */
static void sizes_add_roofs(struct sizes *s, double low, double high)
{
    const struct roof *seen[ROOFS_MAX];
    size_t nr = 0;

    for (size_t i = 0; i < s->curves.nr && nr < ROOFS_MAX; i++) {
        const struct curve *c = &s->curves.items[i];
        char name[48], rate[QUANTITY_TEXT_SIZE];
        size_t k = 0;
        snprintf(name, sizeof(name), "flops.%s", c->name.math);
        const struct roof *roof = roof_find(c->items[0]->context, name, c->name.device);
        while (k < nr && seen[k] != roof)
            k++;
        if (!roof || !(roof->value > 0) || k < nr)
            continue;
        seen[nr++] = roof;
        struct layer *rule = panel_stroke(s->p, MARK_RULES, NULL, INK_DARK, DASH_LONG, 1.4);
        struct layer *texts = panel_layer(s->p, MARK_TEXT, NULL);
        layer_add(rule, NAN, roof->value);
        quantity_text(QUANTITY_RATE, "FLOP/s", roof->value, rate);
        bool last = sizes_room(s, roof->value, true) > sizes_room(s, roof->value, false);
        struct datum *d = layer_add_text(texts, last ? high : low, roof->value,
                                         last ? ANCHOR_RIGHT : ANCHOR_LEFT, "");
        figure_set(&d->text, "%s peak%s%s %s measured", c->name.math,
                   sizes_has_devices(s) ? " of " : "", sizes_has_devices(s) ? c->name.device : "",
                   rate);
        d->dy = -9;
        s->range.high = fmax(s->range.high, roof->value);
    }
}

static void sizes_add_size_ticks(struct sizes *s)
{
    struct ticks *ticks = &s->p->x.ticks;

    for (size_t i = 0; i < s->curves.nr; i++) {
        for (size_t k = 0; k < s->curves.items[i].nr; k++) {
            double at = (double)sizes_square_of(s->curves.items[i].items[k]->bench);
            char text[24];
            bool known = false;
            for (size_t n = 0; n < ticks->nr; n++)
                known |= ticks->items[n].at == at;
            snprintf(text, sizeof(text), "%.0f", at);
            if (!known)
                ticks_add(ticks, at, text, false);
        }
    }
}

/* What is not drawn, of the curve with most sizes. */
static const char *sizes_left_out(const struct sizes *s, char text[200])
{
    char lines[96] = "", sizes[96] = "";
    size_t most = 0;

    for (size_t i = 0; i < s->curves.nr; i++)
        most = s->curves.items[i].all > most ? s->curves.items[i].all : most;
    if (s->all > s->curves.nr)
        snprintf(lines, sizeof(lines), " Showing %zu of %zu lines: those with most sizes.",
                 s->curves.nr, s->all);
    if (most > SIZES_MAX)
        snprintf(sizes, sizeof(sizes), " Showing %d of %zu sizes: the largest.", SIZES_MAX, most);
    snprintf(text, 200, "%s%s", lines, sizes);
    return text;
}

static void sizes_words(struct sizes *s, bool roofs)
{
    char low[QUANTITY_TEXT_SIZE], high[QUANTITY_TEXT_SIZE], left[200];
    const struct chart_metric *m = &s->metric;
    size_t best = 0;

    chart_caption(s->f, s->items, "",
                  "Square products alone, M = N = K. Points: %.80s%s; bars p5 to p95.%s%s",
                  m->label,
                  m->metric && m->metric->kind == METRIC_RATE ? " at the median time" : "",
                  roofs ? " Dashed: the best rate that a probe of the machine reached." : "",
                  sizes_left_out(s, left));
    for (size_t i = 1; i < s->curves.nr; i++)
        if (says_less(s, &s->curves.items[best], &s->curves.items[i]))
            best = i;
    const struct curve *c = &s->curves.items[best];
    const struct chart_item *last = c->items[c->nr - 1];
    const char *variant = chart_variant_of(&c->name);
    char *name = shorten_text(*variant ? variant : c->name.kernel, 30);
    chart_text(m, sizes_value_of(s, last), high);
    chart_conclude(s->f, s->chart, "%s reaches %s at %lld", name, high,
                   (long long)sizes_square_of(last->bench));
    figure_set(&s->f->alt,
               "Lines of %s over the size of square products for %zu variant%s, from %s; %s "
               "reaches %s at %lld.",
               m->label, s->curves.nr, s->curves.nr == 1 ? "" : "s",
               chart_text(m, s->range.low, low), name, high,
               (long long)sizes_square_of(last->bench));
    free(name);
}

static void sizes_draw(struct sizes *s)
{
    const struct preset *preset = s->chart->preset;
    bool roofs = strcmp(s->metric.name, "gflops") == 0;
    double smallest = INFINITY, largest = 0;

    s->p = figure_panel(s->f);
    const struct benchmark_name **names = memory_zeroed(s->curves.nr, sizeof(*names));
    for (size_t i = 0; i < s->curves.nr; i++)
        names[i] = &s->curves.items[i].name;
    char **labels = labels_create(names, s->curves.nr);
    for (size_t i = 0; i < s->curves.nr; i++) {
        const char *run =
            chart_nr_runs(s->chart) > 1 ? chart_run_name(s->chart, s->curves.items[i].run) : "";
        char *label = NULL;
        figure_set(&label, "%s%s%s", labels[i], *run ? " · " : "", run);
        sizes_add_curve(s, &s->curves.items[i], i, label);
        free(label);
    }
    chart_lines_apart(s->p);
    labels_free(labels, s->curves.nr);
    free(names);
    for (size_t i = 0; i < s->curves.nr; i++) {
        const struct curve *c = &s->curves.items[i];
        smallest = fmin(smallest, (double)sizes_square_of(c->items[0]->bench));
        largest = fmax(largest, (double)sizes_square_of(c->items[c->nr - 1]->bench));
    }
    if (roofs)
        sizes_add_roofs(s, smallest, largest);
    axis_set(&s->p->x, preset->x_label ? preset->x_label : "M = N = K", QUANTITY_PLAIN, "",
             AXIS_LOG);
    sizes_add_size_ticks(s);
    chart_axis(&s->p->y, &s->metric, preset->y_label,
               chart_scale(preset, s->range.low, s->range.high));
    sizes_words(s, roofs);
}

void build_sizes(const struct chart *chart, struct chart_items *items, struct figure *f)
{
    struct sizes s = { .chart = chart,
                       .items = items,
                       .metric = chart_metric_chosen(chart->preset->y, "gflops"),
                       .range = RANGE_NONE,
                       .f = f };

    sizes_find_curves(&s, chart_limit(chart->preset, LIMIT));
    if (s.curves.nr)
        sizes_draw(&s);
    else
        chart_absent(f, "no variant has times with %s at two or more sizes with M = N = K",
                     s.metric.label);
    array_release(&s.curves);
    chart_metric_release(&s.metric);
}
