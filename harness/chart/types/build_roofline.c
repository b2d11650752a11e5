/* SPDX-License-Identifier: MIT */
/*
 * Compute rate over arithmetic intensity, log-log, under the roofs of the machine. Three forms:
 *   - one run: points by operation, larger where more of the run's time goes;
 *   - several runs: points by run;
 *   - a comparison: where each benchmark went, from a hollow circle to the mark of its verdict.
 */
#include "base/memory.h"
#include "chart/base/chart_base.h"
#include "chart/base/compare_rows.h"
#include "chart/types/chart_types.h"
#include "chart/types/roofline_roofs.h"
#include "metrics/label.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct roofline {
    const struct chart *chart;
    struct chart_items *items; /* those that take longest first, so that the others lie on top */
    const struct comparison *comparison; /* NULL: not drawn as one */
    struct roofs roofs;
    const char *device; /* the label most points have */
    double longest;     /* median, ns */
    size_t above, latency, others;
    bool all_named;
    struct figure *f;
    struct panel *p;
};

struct roofline_point {
    double intensity, rate, low, high; /* FLOP/byte and FLOP/s */
};

enum { NAMED_MAX = 12, FAMILIES_MAX = 20, KERNELS_MAX = 8, SMALLEST = 8, LARGEST = 30 };

static struct roofline_point roofline_point(const struct chart_item *item)
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

static void roofline_family_of(const struct roofline *r, const struct chart_item *item,
                               enum family family, char name[GROUP_SIZE])
{
    const struct benchmark_name *b = item->bench;

    if (family == FAMILY_OPERATION)
        snprintf(name, GROUP_SIZE, "%.*s", (int)strcspn(b->kernel, "/"), b->kernel);
    else if (family == FAMILY_RUN)
        snprintf(name, GROUP_SIZE, "%s", chart_run_name(r->chart, item->run));
    else
        snprintf(name, GROUP_SIZE, "%s", family == FAMILY_KERNEL ? b->kernel : b->variant);
}

static size_t roofline_count_families(const struct roofline *r, enum family family)
{
    char names[FAMILIES_MAX][GROUP_SIZE];
    size_t nr = 0;

    for (size_t i = 0; i < r->items->nr && nr < FAMILIES_MAX; i++) {
        size_t k = 0;
        roofline_family_of(r, &r->items->items[i], family, names[nr]);
        while (strcmp(names[k], names[nr]) != 0)
            k++;
        nr += k == nr;
    }
    return nr;
}

static enum family roofline_choose_family(const struct roofline *r)
{
    if (chart_nr_runs(r->chart) > 1)
        return FAMILY_RUN;
    if (roofline_count_families(r, FAMILY_OPERATION) > 1)
        return FAMILY_OPERATION;
    size_t kernels = roofline_count_families(r, FAMILY_KERNEL);
    return kernels > 1 && kernels <= KERNELS_MAX ? FAMILY_KERNEL : FAMILY_VARIANT;
}

static void roofline_add_spreads(struct roofline *r)
{
    struct layer *spread = panel_layer(r->p, MARK_INTERVALS, NULL);

    spread->style.width = 1;
    spread->style.ink = INK_GREY;
    for (size_t i = 0; i < r->items->nr; i++) {
        struct roofline_point at = roofline_point(&r->items->items[i]);
        chart_about(r->f, &r->items->items[i]);
        layer_add_interval(spread, at.intensity, at.low, at.high);
    }
    chart_about(r->f, NULL);
}

/* The area of a point grows with its share of the time of all. */
static double roofline_size_of(const struct roofline *r, const struct chart_item *item)
{
    return SMALLEST + (LARGEST - SMALLEST) * sqrt(chart_item_median(item) / r->longest);
}

struct families {
    char names[FAMILIES_MAX][GROUP_SIZE];
    struct layer *points[FAMILIES_MAX];
    size_t nr;
};

/* The layer of this name; the last one where there are too many. */
static struct layer *roofline_points_of(struct roofline *r, struct families *families,
                                        enum family by, const char *name)
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
        style_nth(&families->points[k]->style, chart_items_style(r->items, group, name, k));
        families->points[k]->style.size = 9;
        families->points[k]->style.opacity = 0.75;
    }
    return families->points[k];
}

/* One benchmark in several runs is often at one place: the first run's points are the largest. */
static void roofline_add_runs(struct roofline *r, struct families *families)
{
    size_t nr = chart_nr_runs(r->chart);

    for (size_t i = 0; i < nr; i++) {
        struct layer *points =
            roofline_points_of(r, families, FAMILY_RUN, chart_run_name(r->chart, i));
        points->style.size = 8 + 3 * fmin(4, (double)(nr - 1 - i));
        points->style.opacity = 1;
    }
}

/* Points of one run or several, with their p5 to p95 bars. */
static void roofline_add_points(struct roofline *r)
{
    struct families families = { .nr = 0 };
    enum family by = roofline_choose_family(r);

    roofline_add_spreads(r);
    if (by == FAMILY_RUN)
        roofline_add_runs(r, &families);
    for (size_t i = 0; i < r->items->nr; i++) {
        const struct chart_item *item = &r->items->items[i];
        struct roofline_point at = roofline_point(item);
        char name[GROUP_SIZE];
        roofline_family_of(r, item, by, name);
        chart_about(r->f, item);
        struct datum *d =
            layer_add(roofline_points_of(r, &families, by, name), at.intensity, at.rate);
        if (by != FAMILY_RUN)
            d->size = roofline_size_of(r, item);
    }
    chart_about(r->f, NULL);
}

/* How many times as fast the head is; NaN where that was not compared. */
static double roofline_speed_of(const struct roofline *r, const struct chart_item *item,
                                enum verdict *verdict)
{
    const struct metric *metrics[COMPARE_METRICS_MAX];
    const struct compare_row *row = NULL;

    *verdict = VERDICT_NEW;
    if (comparison_metrics(r->comparison, metrics) > 0 && metrics[0]->kind != METRIC_FACT)
        row = compare_rows_find(r->comparison, item->bench->key, item->of->machine.class_name,
                                metrics[0]->id);
    if (!row)
        return NAN;
    *verdict = row->verdict;
    return metrics[0]->direction == LOWER_IS_BETTER ? 1 / (1 + row->change) : 1 + row->change;
}

/* From where it was to where it is; what did not move is its new place alone. */
static void roofline_add_moves(struct roofline *r)
{
    struct layer *base = panel_layer(r->p, MARK_POINTS, "base");
    struct layer *moves = panel_layer(r->p, MARK_ARROWS, "base to head");
    struct verdict_points points;

    verdict_points_init(&points, r->p);
    moves->style.width = 1.6;
    base->style.ink = INK_GREY;
    base->style.hollow = true;
    base->style.size = 13; /* to be seen around the points of others */
    for (size_t i = 0; i < r->items->nr; i++) {
        struct roofline_point at = roofline_point(&r->items->items[i]);
        enum verdict verdict;
        double speed = roofline_speed_of(r, &r->items->items[i], &verdict);
        chart_about(r->f, &r->items->items[i]);
        layer_add(verdict_points_of(&points, verdict), at.intensity, at.rate);
        if (verdict_ink(verdict) == INK_GREY || !(speed > 0))
            continue;
        layer_add(base, at.intensity, at.rate / speed);
        layer_add_interval(moves, at.intensity, at.rate / speed, at.rate);
    }
    chart_about(r->f, NULL);
}

static bool roofline_same_code(const struct chart_item *a, const struct chart_item *b)
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
static bool roofline_same_place(const struct chart_item *a, const struct chart_item *b)
{
    struct roofline_point x = roofline_point(a), y = roofline_point(b);

    return fabs(log(x.intensity / y.intensity)) < 0.12 && fabs(log(x.rate / y.rate)) < 0.12;
}

static bool roofline_is_decided(const struct roofline *r, const struct chart_item *item)
{
    enum verdict verdict;

    if (!r->comparison)
        return false;
    roofline_speed_of(r, item, &verdict);
    return verdict_ink(verdict) != INK_GREY;
}

static size_t roofline_count_decided(const struct roofline *r)
{
    size_t nr = 0;

    for (size_t i = 0; i < r->items->nr; i++)
        nr += roofline_is_decided(r, &r->items->items[i]);
    return nr;
}

/* The next item to name, those that take longest first; or items.nr. */
static size_t roofline_next_to_name(const struct roofline *r, const bool *done)
{
    size_t i = 0;

    while (i < r->items->nr && done[i])
        i++;
    return i;
}

/* A name goes to the longest of each kernel and variant, one a place, while there is room. */
static void roofline_add_names(struct roofline *r)
{
    struct benchmark_name stripped[NAMED_MAX];
    const struct benchmark_name *names[NAMED_MAX];
    const struct chart_item *named[NAMED_MAX], *items = r->items->items;
    bool *done = memory_zeroed(r->items->nr, sizeof(*done));
    size_t nr = 0, next;

    /* Of a comparison what it decided. */
    size_t decided = roofline_count_decided(r);
    for (size_t i = 0; i < r->items->nr; i++)
        done[i] = decided && !roofline_is_decided(r, &r->items->items[i]);
    while (nr < NAMED_MAX && (next = roofline_next_to_name(r, done)) < r->items->nr) {
        for (size_t i = 0; i < r->items->nr; i++)
            done[i] |= roofline_same_code(&items[i], &items[next]) ||
                       roofline_same_place(&items[i], &items[next]);
        strip_dims(items[next].bench, &stripped[nr]);
        names[nr] = &stripped[nr];
        named[nr++] = &items[next];
    }
    struct layer *texts = panel_layer(r->p, MARK_TEXT, NULL);
    char **labels = labels_create(names, nr);
    texts->place = true;
    for (size_t i = 0; i < nr; i++) {
        struct roofline_point at = roofline_point(named[i]);
        chart_about(r->f, named[i]);
        layer_add_text(texts, at.intensity, at.rate, ANCHOR_LEFT, labels[i]);
    }
    chart_about(r->f, NULL);
    r->all_named = nr == r->items->nr;
    labels_free(labels, nr);
    free(done);
}

/* With FLOPs, with bytes, on the device and machine whose roofs are drawn. */
static bool roofline_is_drawable(const struct roofline *r, const struct chart_item *item)
{
    const struct run *head = &r->chart->records->runs[r->chart->run];

    return item->summary->m->flops > 0 && item->summary->m->bytes > 0 &&
           chart_item_median(item) > 0 && strcmp(item->bench->device, r->device) == 0 &&
           strcmp(item->of->machine.class_name, head->machine.class_name) == 0;
}

static void roofline_keep_drawable(struct roofline *r)
{
    size_t kept = 0;

    for (size_t i = 0; i < r->items->nr; i++) {
        if (roofline_is_drawable(r, &r->items->items[i]))
            r->items->items[kept++] = r->items->items[i];
        else
            r->others++;
    }
    r->items->nr = kept;
}

static int roofline_longest_first(const void *a, const void *b)
{
    const struct chart_item *x = a, *y = b;
    double one = chart_item_median(x), other = chart_item_median(y);

    if (one != other)
        return one < other ? 1 : -1;
    return strcmp(x->bench->key, y->bench->key);
}

static const char *commonest_device(const struct chart_items *items)
{
    const char *best = NULL;
    size_t most = 0;

    for (size_t i = 0; i < items->nr; i++) {
        const char *device = items->items[i].bench->device;
        size_t first = 0, nr = 0;
        while (strcmp(items->items[first].bench->device, device) != 0)
            first++;
        for (size_t k = first < i ? items->nr : i; k < items->nr; k++) /* each device once */
            nr += strcmp(items->items[k].bench->device, device) == 0;
        if (nr > most) {
            most = nr;
            best = device;
        }
    }
    return best;
}

static void roofline_find_roofs(struct roofline *r)
{
    struct chart_names maths = { 0 };

    for (size_t i = 0; i < r->items->nr; i++)
        chart_names_index(&maths, r->items->items[i].bench->math);
    roofs_init(&r->roofs, &r->items->context, r->device, maths.names, maths.nr);
    r->roofs.given = r->chart->peaks_from ? "given" : "data sheet";
}

/* The nearest to its roof, and what needs an explanation. */
static void roofline_judge(struct roofline *r)
{
    double best = 0;
    size_t nearest = 0;
    char rate[QUANTITY_TEXT_SIZE], name[CHART_NAME_SIZE];

    for (size_t i = 0; i < r->items->nr; i++) {
        struct binding_roof roof;
        binding_roof_of(r->items->items[i].summary->m, chart_item_median(&r->items->items[i]),
                        r->items->items[i].context, &roof);
        r->above += roof.above_roof;
        r->latency += roof.bound == BOUND_LATENCY;
        if (isfinite(roof.fraction) && roof.fraction > best) {
            best = roof.fraction;
            nearest = i;
        }
    }
    if (r->above)
        figure_set(&r->f->banner,
                   "▲ %zu point%s above the roof: the work model or the measured roof is wrong.",
                   r->above, r->above == 1 ? " is" : "s are");
    quantity_text(QUANTITY_RATE, "FLOP/s", roofline_point(&r->items->items[nearest]).rate, rate);
    if (!r->comparison && best > 0)
        chart_conclude(r->f, r->chart, "%s reaches %.0f %% of its roof",
                       chart_name_of(r->items->items[nearest].bench, name), best * 100);
    figure_set(&r->f->alt,
               "Roofline of %zu benchmarks%s%s; nearest to its roof is %s with %.0f %% at %s.",
               r->items->nr, *r->device ? " on " : "", r->device, r->items->items[nearest].label,
               best * 100, rate);
}

static void roofline_add_caption(struct roofline *r)
{
    struct strbuf how;

    strbuf_init(&how);
    strbuf_adds(&how, r->comparison ? "Points: median of the head; arrows come from the base where "
                                      "a change is decided. "
                                    : "Points: median; bars p5 to p95. ");
    if (!r->comparison && chart_nr_runs(r->chart) < 2)
        strbuf_adds(&how, "The larger a point, the more of the time of all goes there. ");
    strbuf_adds(&how,
                "FLOPs and bytes are from the work model. The distance to the roof is the room "
                "left. Measured roofs are the best that a probe reached, not a law; grey "
                "along them is the spread of its repetitions.");
    if (r->chart->peaks_from)
        strbuf_addf(&how, " Given roofs are from %s.", r->chart->peaks_from);
    if (!r->all_named)
        strbuf_addf(&how, " Named: the longest of each kernel and variant%s, one a place.",
                    r->comparison ? " that changed" : "");
    if (r->latency)
        strbuf_addf(&how, " %zu %s bound by the cost of a launch instead.", r->latency,
                    r->latency == 1 ? "is" : "are");
    if (r->others)
        strbuf_addf(&how, " Not drawn: %zu without FLOPs or of another device or machine.",
                    r->others);
    chart_caption(r->f, r->items, "", "%s", how.data);
    strbuf_release(&how);
}

static void roofline_add_roofs(struct roofline *r)
{
    struct roof_mark *marks = memory_zeroed(r->items->nr, sizeof(*marks));

    for (size_t i = 0; i < r->items->nr; i++) {
        struct roofline_point at = roofline_point(&r->items->items[i]);
        marks[i] = (struct roof_mark) { at.intensity, at.rate };
    }
    r->roofs.marks = marks;
    r->roofs.nr_marks = r->items->nr;
    roofs_add(&r->roofs, r->p);
    r->roofs.marks = NULL;
    r->roofs.nr_marks = 0;
    free(marks);
}

static void roofline_draw(struct roofline *r)
{
    r->p = figure_panel(r->f);
    r->p->plot_height = 560;
    qsort(r->items->items, r->items->nr, sizeof(*r->items->items), roofline_longest_first);
    r->longest = chart_item_median(&r->items->items[0]);
    double least = INFINITY, low = INFINITY, high = 0;
    for (size_t i = 0; i < r->items->nr; i++) {
        struct roofline_point at = roofline_point(&r->items->items[i]);
        low = fmin(low, at.intensity);
        high = fmax(high, at.intensity);
        least = fmin(least, at.low);
    }
    axis_set(&r->p->x, "arithmetic intensity", QUANTITY_PLAIN, "FLOP/byte", AXIS_LOG);
    axis_set(&r->p->y, "performance", QUANTITY_RATE, "FLOP/s", AXIS_LOG);
    roofs_fit(&r->roofs, low, high);
    r->p->x.low = r->roofs.low;
    r->p->x.high = r->roofs.high;
    r->p->y.low = fmin(least / 2, r->roofs.low * roof_value(r->roofs.levels[LEVEL_DRAM]));
    roofline_add_roofs(r);
    if (r->comparison)
        roofline_add_moves(r);
    else
        roofline_add_points(r);
    roofline_add_names(r);
    roofline_judge(r);
    roofline_add_caption(r);
}

void build_roofline(const struct chart *chart, struct chart_items *items, struct figure *f)
{
    bool compare = chart->preset->modes == PLOT_COMPARE;
    struct roofline r = {
        .chart = chart, .items = items, .comparison = compare ? chart->comparison : NULL, .f = f
    };

    if (compare && !chart->comparison) {
        chart_absent_base(f);
        return;
    }
    r.device = commonest_device(items);
    roofline_keep_drawable(&r);
    roofline_find_roofs(&r);
    if (!items->nr)
        chart_absent(f, "no benchmark%s%s has both FLOPs and bytes", *r.device ? " of device " : "",
                     r.device);
    else if (compare && !roofline_count_decided(&r))
        chart_absent(f, "no change is decided: nothing moved under the roofs");
    else if (!r.roofs.levels[LEVEL_DRAM])
        chart_absent(f, "the roofs%s%s were not measured; `harness roofline` does it",
                     *r.device ? " of " : "", r.device);
    else
        roofline_draw(&r);
}
