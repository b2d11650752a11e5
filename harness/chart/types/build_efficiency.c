/* SPDX-License-Identifier: MIT */
/* Throughput set against what a model is: per layer, and per work of a token, because layers differ
 * in work. Points over the number of parameters, larger for wider models, coloured by throughput.
 */
#include "base/memory.h"
#include "chart/base/chart_scale.h"
#include "chart/types/chart_types.h"
#include "text/shorten.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMED_MAX = 8, SMALLEST = 9, LARGEST = 30, PLOT_HEIGHT = 380, HELD_SIZE = 64 };

static const struct {
    const char *metric, *label, *base;
} panels[] = {
    { "tokens / layers", "throughput per layer", " tokens/s" },
    { "tokens * 1e9 / flops_per_token", "throughput per GFLOP of a token", " tokens/s" },
    { "gflops", "compute rate", "FLOP/s" },
};

enum { PANELS = sizeof(panels) / sizeof(panels[0]) };

struct efficiency {
    const struct chart *chart;
    struct chart_items *items;
    struct chart_metric x, y[PANELS], size, colour;
    struct range sizes, colours;
    bool log;     /* the colours' scale */
    bool *chosen; /* of each item; owned */
    char held[HELD_SIZE];
    struct figure *f;
};

/* ---- one size for all: what is compared across models must not differ in it ---- */

struct held_size {
    int64_t batch, seq;
    char key[HELD_SIZE];
    size_t kernels; /* that were measured at it */
};

struct held_sizes {
    struct held_size *items;
    size_t nr, capacity;
    char (*pairs)[KEY_SIZE]; /* sizes with kernels seen; owned */
    size_t nr_pairs;
};

static bool hold_is_size(const void *owner, size_t at, const char *key, size_t run)
{
    (void)run;
    return strcmp(((const struct held_sizes *)owner)->items[at].key, key) == 0;
}

static bool hold_is_pair(const void *owner, size_t at, const char *key, size_t run)
{
    (void)run;
    return strcmp(((const struct held_sizes *)owner)->pairs[at], key) == 0;
}

static struct held_size hold_size_of(const struct chart_item *item)
{
    struct held_size size = { .batch = benchmark_name_dim(item->bench, "batch", -1),
                              .seq = benchmark_name_dim(item->bench, "seq", -1) };
    char batch[32] = "", seq[32] = "";

    if (size.batch >= 0)
        snprintf(batch, sizeof(batch), "batch=%lld", (long long)size.batch);
    if (size.seq >= 0)
        snprintf(seq, sizeof(seq), "seq=%lld", (long long)size.seq);
    snprintf(size.key, sizeof(size.key), "%s%s%s", batch, *batch && *seq ? " " : "", seq);
    return size;
}

static void hold_count(struct held_sizes *sizes, const struct chart_items *items)
{
    struct chart_places places, pairs;

    chart_places_init(&places, sizes, hold_is_size, items->nr);
    chart_places_init(&pairs, sizes, hold_is_pair, items->nr);
    sizes->pairs = memory_zeroed(items->nr + 1, sizeof(*sizes->pairs));
    for (size_t i = 0; i < items->nr; i++) {
        struct held_size size = hold_size_of(&items->items[i]);
        size_t *place = chart_place(&places, size.key, 0);
        if (*place == 0) {
            *array_push(sizes) = size;
            *place = sizes->nr;
        }
        char *pair = sizes->pairs[sizes->nr_pairs];
        snprintf(pair, KEY_SIZE, "%s of %s", size.key, items->items[i].bench->kernel);
        size_t *known = chart_place(&pairs, pair, 0);
        if (*known == 0) {
            *known = ++sizes->nr_pairs;
            sizes->items[*place - 1].kernels++;
        }
    }
    chart_places_release(&places);
    chart_places_release(&pairs);
}

/* That of most kernels; of equal ones the largest, where the machine has most to do. */
static const struct held_size *hold_choose(const struct held_sizes *sizes)
{
    const struct held_size *best = sizes->items;

    for (size_t i = 1; i < sizes->nr; i++) {
        const struct held_size *one = &sizes->items[i];
        if (one->kernels != best->kernels ? one->kernels > best->kernels
                                          : one->batch * one->seq > best->batch * best->seq)
            best = one;
    }
    return best;
}

/* Keeps those of one size, the batch and sequence length at which most kernels were measured, so
 * that what is compared differs in nothing else; `words` gets it, "batch=1 seq=64". */
static void hold_items(struct chart_items *items, char words[HELD_SIZE])
{
    struct held_sizes sizes = { .nr = 0 };
    size_t kept = 0;

    words[0] = '\0';
    if (!items->nr)
        return;
    hold_count(&sizes, items);
    const struct held_size *held = hold_choose(&sizes);
    for (size_t i = 0; i < items->nr; i++)
        if (strcmp(hold_size_of(&items->items[i]).key, held->key) == 0)
            items->items[kept++] = items->items[i];
    items->left_out += items->nr - kept;
    items->nr = kept;
    snprintf(words, HELD_SIZE, "%s", held->key);
    free(sizes.pairs);
    array_release(&sizes);
}

/* ---- models ---- */

static double efficiency_value_of(const struct efficiency *e, const struct chart_metric *m,
                                  size_t item)
{
    return chart_value_at(e->items, m, item);
}

/* A point needs a model and a throughput; then it has all the rest. */
static void efficiency_keep_models(struct efficiency *e)
{
    size_t kept = 0;

    for (size_t i = 0; i < e->items->nr; i++)
        if (efficiency_value_of(e, &e->x, i) > 0 && efficiency_value_of(e, &e->y[0], i) > 0 &&
            efficiency_value_of(e, &e->y[1], i) > 0 && efficiency_value_of(e, &e->y[2], i) > 0)
            e->items->items[kept++] = e->items->items[i];
    e->items->nr = kept;
}

/* Where there are too many points to name, of each kernel the fastest. */
static void efficiency_keep_fastest(struct efficiency *e)
{
    size_t kept = 0, all = e->items->nr;

    for (size_t i = 0; all > NAMED_MAX && i < all; i++) {
        bool fastest = true;
        for (size_t k = 0; k < all; k++) {
            double ahead =
                efficiency_value_of(e, &e->colour, k) - efficiency_value_of(e, &e->colour, i);
            if (strcmp(e->items->items[k].bench->kernel, e->items->items[i].bench->kernel) == 0 &&
                (ahead > 0 || (ahead == 0 && k < i)))
                fastest = false;
        }
        e->chosen[i] = fastest;
    }
    for (size_t i = 0; i < all; i++)
        if (all <= NAMED_MAX || e->chosen[i])
            e->items->items[kept++] = e->items->items[i];
    e->items->nr = kept;
    e->items->left_out += all - kept;
}

/* Where a value lies between the ends, 0 to 1; in the middle where they are one. */
static double efficiency_share_of(double value, struct range r, bool log_scale)
{
    if (!(r.high > r.low))
        return 0.5;
    return log_scale ? log(value / r.low) / log(r.high / r.low)
                     : (value - r.low) / (r.high - r.low);
}

/* Of each kernel one: its model says enough, unless two kernels are of one model. */
static const char *efficiency_label_of(const struct efficiency *e, size_t item)
{
    const struct chart_item *items = e->items->items;

    for (size_t i = 0; i < e->items->nr; i++)
        if (!e->items->left_out || (i != item && items[i].model == items[item].model))
            return items[item].label;
    return items[item].model->name;
}

static void efficiency_add_points(const struct efficiency *e, struct panel *p, size_t panel)
{
    struct layer *points = panel_layer(p, MARK_POINTS, NULL);
    struct layer *names = panel_layer(p, MARK_TEXT, NULL);

    names->place = true;
    for (size_t i = 0; i < e->items->nr; i++) {
        double x = efficiency_value_of(e, &e->x, i), y = efficiency_value_of(e, &e->y[panel], i);
        chart_about(e->f, &e->items->items[i]);
        struct datum *d = layer_add(points, x, y);
        double width = efficiency_share_of(efficiency_value_of(e, &e->size, i), e->sizes, false);
        d->size = SMALLEST + (LARGEST - SMALLEST) * (isfinite(width) ? width : 0);
        d->share = efficiency_share_of(efficiency_value_of(e, &e->colour, i), e->colours, e->log);
        if (e->items->nr <= NAMED_MAX)
            layer_add_text(names, x, y, ANCHOR_LEFT, efficiency_label_of(e, i));
    }
    chart_about(e->f, NULL);
}

static void efficiency_add_panel(struct efficiency *e, size_t panel)
{
    const struct preset *preset = e->chart->preset;
    struct panel *p = figure_panel(e->f);
    struct range x = chart_range(e->items, &e->x), y = chart_range(e->items, &e->y[panel]);

    chart_axis(&p->x, &e->x, preset->x_label,
               chart_scale_beyond(SCALE_AUTO, SCALE_WIDE_MODELS, x.low, x.high));
    axis_set(&p->y, panels[panel].label, QUANTITY_RATE, panels[panel].base,
             chart_scale(preset, y.low, y.high));
    p->plot_height = PLOT_HEIGHT;
    efficiency_add_points(e, p, panel);
}

static void efficiency_words(struct efficiency *e)
{
    char low[QUANTITY_TEXT_SIZE], high[QUANTITY_TEXT_SIZE];
    size_t best = 0;

    chart_caption(
        e->f, e->items, "of this size the fastest of each kernel",
        "All at %s, so that models alone differ. A point's size says %.60s, its colour %.60s. Per "
        "layer and per work of "
        "a token small models look best; the compute rate alone compares models of different "
        "size.%s",
        e->held, e->size.label, e->colour.label,
        e->items->nr > NAMED_MAX ? " Too many points to name." : "");
    for (size_t i = 1; i < e->items->nr; i++)
        if (efficiency_value_of(e, &e->y[2], i) > efficiency_value_of(e, &e->y[2], best))
            best = i;
    char *model = shorten_text(e->items->items[best].model->name, 40);
    chart_conclude(e->f, e->chart, "%s has the highest compute rate, %s", model,
                   chart_text(&e->y[2], efficiency_value_of(e, &e->y[2], best), high));
    free(model);
    figure_set(&e->f->alt,
               "Throughput per layer, throughput per GFLOP of a token and compute rate for %zu "
               "benchmark%s; throughput runs from %s to %s, and %s has the highest compute rate.",
               e->items->nr, e->items->nr == 1 ? "" : "s",
               chart_text(&e->colour, e->colours.low, low),
               chart_text(&e->colour, e->colours.high, high), e->items->items[best].label);
}

static void efficiency_draw(struct efficiency *e)
{
    e->sizes = chart_range(e->items, &e->size);
    e->colours = chart_range(e->items, &e->colour);
    e->log = chart_scale_beyond(SCALE_AUTO, SCALE_WIDE_COLOURS, e->colours.low, e->colours.high) ==
             AXIS_LOG;
    e->f->columns = PANELS;
    for (size_t k = 0; k < PANELS; k++)
        efficiency_add_panel(e, k);
    if (isfinite(e->colours.low))
        figure_scale_bar(e->f, e->colour.label, e->colour.quantity, e->colour.base, e->colours.low,
                         e->colours.high, e->log);
    efficiency_words(e);
}

/* Two models or more? */
static bool efficiency_compares(const struct chart_items *items)
{
    for (size_t i = 1; i < items->nr; i++)
        if (items->items[i].model != items->items[0].model)
            return true;
    return false;
}

void build_efficiency(const struct chart *chart, struct chart_items *items, struct figure *f)
{
    const struct preset *preset = chart->preset;
    struct efficiency e = { .chart = chart,
                            .items = items,
                            .x = chart_metric_chosen(preset->x, "parameters"),
                            .size = chart_metric_chosen(preset->size, "width"),
                            .colour = chart_metric_chosen(preset->colour, "tokens"),
                            .f = f };
    size_t timed = items->nr;

    for (size_t k = 0; k < PANELS; k++)
        e.y[k] = chart_metric_chosen(panels[k].metric, NULL);
    efficiency_keep_models(&e);
    hold_items(items, e.held);
    e.chosen = memory_zeroed(items->nr + 1, sizeof(*e.chosen));
    efficiency_keep_fastest(&e);
    if (efficiency_compares(items))
        efficiency_draw(&e);
    else if (items->nr)
        chart_absent(f, "one model alone was measured at %s: there is none to compare it with",
                     e.held);
    else
        chart_absent(f, "none of the %zu benchmarks with a time is a model with tokens per second",
                     timed);
    free(e.chosen);
    for (size_t k = 0; k < PANELS; k++)
        chart_metric_release(&e.y[k]);
    chart_metric_release(&e.x);
    chart_metric_release(&e.size);
    chart_metric_release(&e.colour);
}
