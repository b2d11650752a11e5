/* SPDX-License-Identifier: MIT */
/* The benchmarks under the roofs: points, moves, names. */
#include "output/roofline_parts.h"

#include "analysis/label.h"
#include "base/memory.h"
#include "output/compare_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMED_MAX = 12, FAMILIES_MAX = 20, KERNELS_MAX = 8, SMALLEST = 8, LARGEST = 30 };

struct roofline_point roofline_point(const struct chart_item *item)
{
    const struct summary *s = item->summary;
    double work = item->summary->m->flops * 1e9;

    return (struct roofline_point) {
        .intensity = item->summary->m->flops / item->summary->m->bytes,
        .rate = work / chart_item_median(item),
        .low = work / stats_quantile(s->sorted, s->n, 0.95),
        .high = work / stats_quantile(s->sorted, s->n, 0.05),
    };
}

/* What tells points apart: the operation; where there is one alone, the kernel; where that is one
 * alone, too, or where they are too many, the variant. */
enum family { FAMILY_OPERATION, FAMILY_KERNEL, FAMILY_VARIANT, FAMILY_RUN };

static void family_of(const struct roofline *r, const struct chart_item *item, enum family family,
                      char name[GROUP_SIZE])
{
    const struct benchmark_name *b = item->bench;

    if (family == FAMILY_OPERATION)
        snprintf(name, GROUP_SIZE, "%.*s", (int)strcspn(b->kernel, "/"), b->kernel);
    else if (family == FAMILY_RUN)
        snprintf(name, GROUP_SIZE, "%s", chart_run_name(r->chart, item->run));
    else
        snprintf(name, GROUP_SIZE, "%s", family == FAMILY_KERNEL ? b->kernel : b->variant);
}

static size_t count_families(const struct roofline *r, enum family family)
{
    char names[FAMILIES_MAX][GROUP_SIZE];
    size_t nr = 0;

    for (size_t i = 0; i < r->items.nr && nr < FAMILIES_MAX; i++) {
        size_t k = 0;
        family_of(r, &r->items.items[i], family, names[nr]);
        while (strcmp(names[k], names[nr]) != 0)
            k++;
        nr += k == nr;
    }
    return nr;
}

static enum family choose_family(const struct roofline *r)
{
    if (chart_nr_runs(r->chart) > 1)
        return FAMILY_RUN;
    if (count_families(r, FAMILY_OPERATION) > 1)
        return FAMILY_OPERATION;
    size_t kernels = count_families(r, FAMILY_KERNEL);
    return kernels > 1 && kernels <= KERNELS_MAX ? FAMILY_KERNEL : FAMILY_VARIANT;
}

static void add_spreads(struct roofline *r)
{
    struct layer *spread = panel_layer(r->p, MARK_INTERVALS, NULL);

    spread->style.width = 1;
    spread->style.ink = INK_GREY;
    for (size_t i = 0; i < r->items.nr; i++) {
        struct roofline_point at = roofline_point(&r->items.items[i]);
        layer_add_interval(spread, at.intensity, at.low, at.high);
    }
}

/* The area of a point grows with its share of the time of all. */
static double size_of(const struct roofline *r, const struct chart_item *item)
{
    return SMALLEST + (LARGEST - SMALLEST) * sqrt(chart_item_median(item) / r->longest);
}

struct families {
    char names[FAMILIES_MAX][GROUP_SIZE];
    struct layer *points[FAMILIES_MAX];
    size_t nr;
};

/* The layer of this name; the last one where there are too many. */
static struct layer *points_of(struct roofline *r, struct families *families, enum family by,
                               const char *name)
{
    const char *group = by == FAMILY_VARIANT ? "variant" : "";
    size_t k = 0;

    while (k < families->nr && strcmp(families->names[k], name) != 0)
        k++;
    if (k == FAMILIES_MAX)
        return families->points[k - 1];
    if (k == families->nr) {
        snprintf(families->names[families->nr++], GROUP_SIZE, "%s", name);
        families->points[k] = panel_layer(r->p, MARK_POINTS, name);
        style_nth(&families->points[k]->style, chart_items_style(&r->items, group, name, k));
        families->points[k]->style.size = 9;
        families->points[k]->style.opacity = 0.75;
    }
    return families->points[k];
}

/* One benchmark in several runs is often at one place: the first run's points are the largest. */
static void add_runs(struct roofline *r, struct families *families)
{
    size_t nr = chart_nr_runs(r->chart);

    for (size_t i = 0; i < nr; i++) {
        struct layer *points = points_of(r, families, FAMILY_RUN, chart_run_name(r->chart, i));
        points->style.size = 8 + 3 * fmin(4, (double)(nr - 1 - i));
        points->style.opacity = 1;
    }
}

void roofline_add_points(struct roofline *r)
{
    struct families families = { .nr = 0 };
    enum family by = choose_family(r);

    add_spreads(r);
    if (by == FAMILY_RUN)
        add_runs(r, &families);
    for (size_t i = 0; i < r->items.nr; i++) {
        const struct chart_item *item = &r->items.items[i];
        struct roofline_point at = roofline_point(item);
        char name[GROUP_SIZE];
        family_of(r, item, by, name);
        struct datum *d = layer_add(points_of(r, &families, by, name), at.intensity, at.rate);
        if (by != FAMILY_RUN)
            d->size = size_of(r, item);
    }
}

/* How many times as fast the head is; NaN where that was not compared. */
static double speed_of(const struct roofline *r, const struct chart_item *item,
                       enum verdict *verdict)
{
    const struct metric *metrics[COMPARE_METRICS_MAX];
    const struct compare_row *row = NULL;

    *verdict = VERDICT_NEW;
    if (comparison_metrics(r->comparison, metrics) > 0 && metrics[0]->kind != METRIC_FACT)
        row = compare_rows_find(r->comparison, item->bench->key, metrics[0]->id);
    if (!row)
        return NAN;
    *verdict = row->verdict;
    return metrics[0]->direction == LOWER_IS_BETTER ? 1 / (1 + row->change) : 1 + row->change;
}

void roofline_add_moves(struct roofline *r)
{
    struct layer *base = panel_layer(r->p, MARK_POINTS, "base");
    struct layer *moves = panel_layer(r->p, MARK_ARROWS, "base to head");
    struct verdict_points points;

    verdict_points_init(&points, r->p);
    moves->style.width = 1.6;
    base->style.ink = INK_GREY;
    base->style.hollow = true;
    base->style.size = 13; /* to be seen around the points of others */
    for (size_t i = 0; i < r->items.nr; i++) {
        struct roofline_point at = roofline_point(&r->items.items[i]);
        enum verdict verdict;
        double speed = speed_of(r, &r->items.items[i], &verdict);
        layer_add(verdict_points_of(&points, verdict), at.intensity, at.rate);
        if (verdict_ink(verdict) == INK_GREY || !(speed > 0))
            continue;
        layer_add(base, at.intensity, at.rate / speed);
        layer_add_interval(moves, at.intensity, at.rate / speed, at.rate);
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
    struct roofline_point x = roofline_point(a), y = roofline_point(b);

    return fabs(log(x.intensity / y.intensity)) < 0.12 && fabs(log(x.rate / y.rate)) < 0.12;
}

static bool is_decided(const struct roofline *r, const struct chart_item *item)
{
    enum verdict verdict;

    if (!r->comparison)
        return false;
    speed_of(r, item, &verdict);
    return verdict_ink(verdict) != INK_GREY;
}

/* Of a comparison that decided something, what it decided; else all. */
static void choose_nameable(const struct roofline *r, bool *done)
{
    size_t decided = 0;

    for (size_t i = 0; i < r->items.nr; i++)
        decided += is_decided(r, &r->items.items[i]);
    for (size_t i = 0; i < r->items.nr; i++)
        done[i] = decided && !is_decided(r, &r->items.items[i]);
}

/* The next item to name, those that take longest first; or items.nr. */
static size_t next_to_name(const struct roofline *r, const bool *done)
{
    size_t i = 0;

    while (i < r->items.nr && done[i])
        i++;
    return i;
}

void roofline_add_names(struct roofline *r)
{
    struct benchmark_name stripped[NAMED_MAX];
    const struct benchmark_name *names[NAMED_MAX];
    const struct chart_item *named[NAMED_MAX], *items = r->items.items;
    bool *done = memory_zeroed(r->items.nr, sizeof(*done));
    size_t nr = 0, next;

    choose_nameable(r, done);
    while (nr < NAMED_MAX && (next = next_to_name(r, done)) < r->items.nr) {
        for (size_t i = 0; i < r->items.nr; i++)
            done[i] |= same_code(&items[i], &items[next]) || same_place(&items[i], &items[next]);
        strip_dims(items[next].bench, &stripped[nr]);
        names[nr] = &stripped[nr];
        named[nr++] = &items[next];
    }
    struct layer *texts = panel_layer(r->p, MARK_TEXT, NULL);
    char **labels = labels_create(names, nr);
    texts->place = true;
    for (size_t i = 0; i < nr; i++) {
        struct roofline_point at = roofline_point(named[i]);
        layer_add_text(texts, at.intensity, at.rate, ANCHOR_LEFT, labels[i]);
    }
    r->all_named = nr == r->items.nr;
    labels_free(labels, nr);
    free(done);
}
