/* SPDX-License-Identifier: MIT */
/* Work rate over arithmetic intensity, log-log, under the measured ceilings of the machine. */
#include "analysis/label.h"
#include "analysis/roofline.h"
#include "base/memory.h"
#include "output/chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMED_MAX = 14, FAMILIES_MAX = 20, KERNELS_MAX = 8 };

struct roofline {
    const struct chart *chart;
    struct chart_items items;
    struct figure *f;
    struct panel *p;
    const char *device; /* the label most points have */
    const struct ceiling *levels[LEVEL_NR], *compute;
    double low, high; /* intensity */
    size_t above, latency, others;
    bool all_named;
};

struct point {
    double intensity, rate, low, high; /* FLOP/byte and FLOP/s */
};

static struct point point_of(const struct chart_item *item)
{
    const struct summary *s = item->summary;
    double work = item->summary->m->flops * 1e9;

    return (struct point) {
        .intensity = item->summary->m->flops / item->summary->m->bytes,
        .rate = work / chart_item_median(item),
        .low = work / stats_quantile(s->sorted, s->n, 0.95),
        .high = work / stats_quantile(s->sorted, s->n, 0.05),
    };
}

/* Only items with FLOPs, with bytes, on the device whose roofs are drawn. */
static void keep_drawable(struct roofline *r)
{
    size_t kept = 0;

    for (size_t i = 0; i < r->items.nr; i++) {
        struct chart_item *item = &r->items.items[i];
        bool drawable = item->summary->m->flops > 0 && item->summary->m->bytes > 0 &&
                        strcmp(item->bench->device, r->device) == 0;
        if (drawable) {
            r->items.items[kept++] = *item;
        } else {
            r->others++;
        }
    }
    r->items.nr = kept;
}

static const char *commonest_device(const struct chart_items *items)
{
    const char *best = NULL;
    size_t most = 0;

    for (size_t i = 0; i < items->nr; i++) {
        const char *device = items->items[i].bench->device;
        size_t nr = 0;
        for (size_t k = 0; k < items->nr; k++)
            nr += strcmp(items->items[k].bench->device, device) == 0;
        if (nr > most) {
            most = nr;
            best = device;
        }
    }
    return best;
}

/* What tells points apart: the operation; where there is one alone, the kernel; where those are too
 * many, the variant. */
enum family { FAMILY_OPERATION, FAMILY_KERNEL, FAMILY_VARIANT };

static void family_of(const struct chart_item *item, enum family family, char *name)
{
    const struct benchmark_name *b = item->bench;

    if (family == FAMILY_OPERATION)
        snprintf(name, NAME_SIZE, "%.*s", (int)strcspn(b->kernel, "/"), b->kernel);
    else
        snprintf(name, NAME_SIZE, "%s", family == FAMILY_KERNEL ? b->kernel : b->variant);
}

static size_t count_families(const struct roofline *r, enum family family)
{
    char names[FAMILIES_MAX][NAME_SIZE];
    size_t nr = 0;

    for (size_t i = 0; i < r->items.nr && nr < FAMILIES_MAX; i++) {
        size_t k = 0;
        family_of(&r->items.items[i], family, names[nr]);
        while (strcmp(names[k], names[nr]) != 0)
            k++;
        nr += k == nr;
    }
    return nr;
}

static enum family choose_family(const struct roofline *r)
{
    if (count_families(r, FAMILY_OPERATION) > 1)
        return FAMILY_OPERATION;
    return count_families(r, FAMILY_KERNEL) <= KERNELS_MAX ? FAMILY_KERNEL : FAMILY_VARIANT;
}

static void find_ceilings(struct roofline *r)
{
    const char *math = r->items.nr ? r->items.items[0].bench->math : "fp32";
    char name[64];

    for (int level = 0; level < LEVEL_NR; level++)
        r->levels[level] = ceiling_find(&r->items.context,
                                        memory_level_ceiling((enum memory_level)level), r->device);
    snprintf(name, sizeof(name), "flops.%s", math);
    r->compute = ceiling_find(&r->items.context, name, r->device);
}

/* Bandwidth of the fastest and the slowest level measured. */
static void find_bandwidths(const struct roofline *r, double *slowest, double *fastest)
{
    *slowest = INFINITY;
    *fastest = 0;
    for (int level = 0; level < LEVEL_NR; level++) {
        if (!r->levels[level])
            continue;
        *slowest = fmin(*slowest, r->levels[level]->value);
        *fastest = fmax(*fastest, r->levels[level]->value);
    }
}

/* All points and all ridges are inside. */
static void find_range(struct roofline *r)
{
    double slowest, fastest;

    find_bandwidths(r, &slowest, &fastest);
    r->low = INFINITY;
    r->high = 0;
    for (size_t i = 0; i < r->items.nr; i++) {
        double x = point_of(&r->items.items[i]).intensity;
        r->low = fmin(r->low, x);
        r->high = fmax(r->high, x);
    }
    if (r->compute) {
        r->low = fmin(r->low, r->compute->value / fastest);
        r->high = fmax(r->high, r->compute->value / slowest);
    }
    r->low /= 8;
    r->high *= 4;
}

/* Labels of neighbouring roofs start at different places, or close roofs would have them over each
 * other. */
static double label_start(enum memory_level level, bool measured)
{
    static const double starts[LEVEL_NR] = { 0.03, 0.3, 0.03, 0.3 };

    return measured ? starts[level] : 0.55;
}

/* Is there a roof so little above this one that its line would run through a label in between? */
static bool close_above(const struct roofline *r, double bandwidth)
{
    for (int level = 0; level < LEVEL_NR; level++)
        if (r->levels[level] && r->levels[level]->value > bandwidth &&
            r->levels[level]->value < 1.5 * bandwidth)
            return true;
    return false;
}

/* One memory roof: up to the ridge, or to the right edge without a compute ceiling. */
static void add_memory_roof(struct roofline *r, enum memory_level level, double bandwidth,
                            bool measured)
{
    bool dram = level == LEVEL_DRAM;
    double end = r->compute ? fmin(r->compute->value / bandwidth, r->high) : r->high;
    struct layer *line = panel_layer(r->p, MARK_LINE, NULL);
    struct layer *texts = panel_layer(r->p, MARK_TEXT, NULL);
    char text[128], value[QUANTITY_TEXT_SIZE];

    line->style.width = dram && measured ? 2.2 : 1;
    line->style.dash = !measured ? DASH_DOT : dram ? DASH_SOLID : DASH_LONG;
    line->style.ink = dram ? INK_DARK : INK_GREY;
    layer_add(line, r->low, r->low * bandwidth);
    layer_add(line, end, end * bandwidth);
    texts->follow = true;
    texts->style.ink = line->style.ink;
    quantity_text(QUANTITY_RATE, "B/s", bandwidth, value);
    snprintf(text, sizeof(text), "%s %s %s", memory_level_name(level), value,
             measured ? "measured" : "data sheet");
    double start = r->low * pow(end / r->low, label_start(level, measured));
    struct datum *d = layer_add_text(texts, start, start * bandwidth, ANCHOR_LEFT, text);
    d->low = end;
    d->high = end * bandwidth;
    bool below = close_above(r, bandwidth);
    d->dx = below ? 5 : -4;
    d->dy = below ? 11 : -9;
}

static void add_compute_roof(struct roofline *r, double rate, bool measured)
{
    double ridge = r->low, slowest, fastest;
    struct layer *line = panel_layer(r->p, MARK_LINE, NULL);
    struct layer *texts = panel_layer(r->p, MARK_TEXT, NULL);
    char text[128], value[QUANTITY_TEXT_SIZE];

    find_bandwidths(r, &slowest, &fastest);
    if (fastest > 0)
        ridge = fmax(r->low, rate / fastest);
    line->style.width = measured ? 2.2 : 1;
    line->style.dash = measured ? DASH_SOLID : DASH_DOT;
    layer_add(line, ridge, rate);
    layer_add(line, r->high, rate);
    quantity_text(QUANTITY_RATE, "FLOP/s", rate, value);
    snprintf(text, sizeof(text), "%s peak %s %s", r->compute->name + strlen("flops."), value,
             measured ? "measured" : "data sheet");
    struct datum *d = layer_add_text(texts, r->high, rate, ANCHOR_RIGHT, text);
    d->dx = -6;
    d->dy = -10;
}

/* Where DRAM stops being the limit. */
static void add_ridge(struct roofline *r)
{
    struct layer *rule, *texts;
    char text[64];

    if (!r->compute || !r->levels[LEVEL_DRAM])
        return;
    double ridge = r->compute->value / r->levels[LEVEL_DRAM]->value;
    rule = panel_layer(r->p, MARK_RULES, NULL);
    rule->style.dash = DASH_DOT;
    rule->style.width = 1;
    rule->style.ink = INK_GREY;
    layer_add(rule, ridge, NAN);
    texts = panel_layer(r->p, MARK_TEXT, NULL);
    texts->style.ink = INK_GREY;
    snprintf(text, sizeof(text), "ridge %.3g FLOP/byte", ridge);
    struct datum *d = layer_add_text(texts, ridge, r->p->y.low, ANCHOR_LEFT, text);
    d->dx = 6;
    d->dy = -10;
}

static void add_roofs(struct roofline *r)
{
    for (int level = 0; level < LEVEL_NR; level++) {
        const struct ceiling *c = r->levels[level];
        if (c)
            add_memory_roof(r, (enum memory_level)level, c->value, true);
        if (c && c->spec > 0 && level == LEVEL_DRAM)
            add_memory_roof(r, (enum memory_level)level, c->spec, false);
    }
    if (r->compute) {
        add_compute_roof(r, r->compute->value, true);
        if (r->compute->spec > 0)
            add_compute_roof(r, r->compute->spec, false);
    }
}

static bool same_code(const struct chart_item *a, const struct chart_item *b)
{
    return strcmp(a->bench->kernel, b->bench->kernel) == 0 &&
           strcmp(a->bench->variant, b->bench->variant) == 0;
}

static void strip_dims(const struct benchmark_name *name, struct benchmark_name *stripped)
{
    *stripped = *name;
    while (stripped->nr_dims > 0) {
        struct benchmark_name with = *stripped;
        chart_name_without(&with, with.dims[0].name, stripped);
    }
}

/* Points that lie over each other would have labels far from both. */
static bool same_place(const struct chart_item *a, const struct chart_item *b)
{
    struct point x = point_of(a), y = point_of(b);

    return fabs(log(x.intensity / y.intensity)) < 0.12 && fabs(log(x.rate / y.rate)) < 0.12;
}

/* The item with the longest median that is not yet `done`, or items.nr. */
static size_t longest_left(const struct roofline *r, const bool *done)
{
    size_t longest = r->items.nr;

    for (size_t i = 0; i < r->items.nr; i++)
        if (!done[i] && (longest == r->items.nr || chart_item_median(&r->items.items[i]) >
                                                       chart_item_median(&r->items.items[longest])))
            longest = i;
    return longest;
}

/* A name goes to the longest of each kernel and variant, one a place, while there is room. */
static void add_names(struct roofline *r)
{
    struct benchmark_name stripped[NAMED_MAX];
    const struct benchmark_name *names[NAMED_MAX];
    const struct chart_item *named[NAMED_MAX], *items = r->items.items;
    bool *done = memory_zeroed(r->items.nr, sizeof(*done));
    size_t nr = 0, longest;

    while (nr < NAMED_MAX && (longest = longest_left(r, done)) < r->items.nr) {
        for (size_t i = 0; i < r->items.nr; i++)
            done[i] |=
                same_code(&items[i], &items[longest]) || same_place(&items[i], &items[longest]);
        strip_dims(items[longest].bench, &stripped[nr]);
        names[nr] = &stripped[nr];
        named[nr++] = &items[longest];
    }
    struct layer *texts = panel_layer(r->p, MARK_TEXT, NULL);
    char **labels = labels_create(names, nr);
    texts->place = true;
    for (size_t i = 0; i < nr; i++) {
        struct point at = point_of(named[i]);
        layer_add_text(texts, at.intensity, at.rate, ANCHOR_LEFT, labels[i]);
    }
    r->all_named = nr == r->items.nr;
    labels_free(labels, nr);
    free(done);
}

static void add_points(struct roofline *r)
{
    struct layer *spread = panel_layer(r->p, MARK_INTERVALS, NULL), *points[FAMILIES_MAX];
    char families[FAMILIES_MAX][NAME_SIZE];
    enum family by = choose_family(r);
    size_t nr = 0;

    spread->style.width = 1;
    spread->style.ink = INK_GREY;
    for (size_t i = 0; i < r->items.nr; i++) {
        struct point at = point_of(&r->items.items[i]);
        char family[NAME_SIZE];
        size_t k = 0;
        family_of(&r->items.items[i], by, family);
        while (k < nr && strcmp(families[k], family) != 0)
            k++;
        if (k == FAMILIES_MAX) {
            k--;
        } else if (k == nr) {
            memcpy(families[nr++], family, sizeof(family));
            points[k] = panel_layer(r->p, MARK_POINTS, family);
            style_nth(&points[k]->style, k);
            points[k]->style.size = 9;
        }
        layer_add_interval(spread, at.intensity, at.low, at.high);
        layer_add(points[k], at.intensity, at.rate);
    }
    add_names(r);
}

/* The nearest to its roof, and what needs an explanation. */
static void judge(struct roofline *r)
{
    double best = 0;
    size_t nearest = 0;
    char rate[QUANTITY_TEXT_SIZE];

    for (size_t i = 0; i < r->items.nr; i++) {
        struct roof roof;
        roof_of(r->items.items[i].summary->m, chart_item_median(&r->items.items[i]),
                &r->items.context, &roof);
        r->above += roof.above_roof;
        r->latency += roof.bound == BOUND_LATENCY;
        if (isfinite(roof.fraction) && roof.fraction > best) {
            best = roof.fraction;
            nearest = i;
        }
    }
    if (r->above)
        figure_set(&r->f->banner,
                   "▲ %zu point%s above the roof: the work model or the measured ceiling is wrong.",
                   r->above, r->above == 1 ? " is" : "s are");
    quantity_text(QUANTITY_RATE, "FLOP/s", point_of(&r->items.items[nearest]).rate, rate);
    figure_set(&r->f->alt,
               "Roofline of %zu benchmarks on %s; nearest to its roof is %s with %.0f %% at %s.",
               r->items.nr, r->device, r->items.items[nearest].label, best * 100, rate);
}

static void add_caption(struct roofline *r)
{
    char how[512], names[96] = "", latency[80] = "", others[96] = "";

    if (!r->all_named)
        snprintf(names, sizeof(names),
                 " Named: the longest of each kernel and variant, one a place.");
    if (r->latency)
        snprintf(latency, sizeof(latency), " %zu are bound by the cost of a launch instead.",
                 r->latency);
    if (r->others)
        snprintf(others, sizeof(others), " Not drawn: %zu without FLOPs or of another device.",
                 r->others);
    snprintf(how, sizeof(how),
             "Points: median; bars p5 to p95; FLOPs and bytes from the work model. The distance to "
             "the roof is the room left. Measured roofs are the best that a probe reached, not a "
             "law.%s%s%s",
             names, latency, others);
    chart_caption(r->f, &r->items, how, "");
}

static void draw(struct roofline *r)
{
    double least = INFINITY;

    r->p = figure_panel(r->f);
    r->p->plot_height = 560;
    axis_set(&r->p->x, "arithmetic intensity", QUANTITY_PLAIN, "FLOP/byte", AXIS_LOG);
    axis_set(&r->p->y, "performance", QUANTITY_RATE, "FLOP/s", AXIS_LOG);
    find_range(r);
    r->p->x.low = r->low;
    r->p->x.high = r->high;
    for (size_t i = 0; i < r->items.nr; i++)
        least = fmin(least, point_of(&r->items.items[i]).low);
    r->p->y.low = fmin(least / 2, r->low * r->levels[LEVEL_DRAM]->value);
    add_roofs(r);
    add_ridge(r);
    add_points(r);
    judge(r);
    add_caption(r);
    chart_subtitle(r->f, r->chart, &r->items);
    figure_finish(r->f);
}

struct figure *build_roofline(const struct chart *chart)
{
    struct roofline r = { .chart = chart, .f = chart_figure(chart) };

    chart_items_init(&r.items, chart);
    if (!r.items.nr) {
        chart_absent_items(r.f, chart, &r.items);
        goto out;
    }
    r.device = commonest_device(&r.items);
    keep_drawable(&r);
    find_ceilings(&r);
    if (!r.items.nr)
        chart_absent(r.f, "no benchmark of device %s has both FLOPs and bytes", r.device);
    else if (!r.levels[LEVEL_DRAM])
        chart_absent(r.f, "the ceilings of %s were not measured; `harness roofline` does it",
                     r.device);
    else
        draw(&r);
out:
    chart_items_release(&r.items);
    return r.f;
}
