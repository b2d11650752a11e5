/* SPDX-License-Identifier: MIT */
/*
 * Compute rate over arithmetic intensity, log-log, under the ceilings of the machine. Three forms:
 *   - one run: points by operation, larger where more of the run's time goes;
 *   - several runs: points by run;
 *   - a comparison: where each benchmark went, from a hollow circle to the mark of its verdict.
 */
#include "base/memory.h"
#include "output/roofline_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* With FLOPs, with bytes, on the device and machine whose roofs are drawn. */
static bool is_drawable(const struct roofline *r, const struct chart_item *item)
{
    const struct run *head = &r->chart->records->runs[r->chart->run];

    return item->summary->m->flops > 0 && item->summary->m->bytes > 0 &&
           chart_item_median(item) > 0 && strcmp(item->bench->device, r->device) == 0 &&
           strcmp(item->of->machine.class_name, head->machine.class_name) == 0;
}

static void keep_drawable(struct roofline *r)
{
    size_t kept = 0;

    for (size_t i = 0; i < r->items.nr; i++) {
        if (is_drawable(r, &r->items.items[i]))
            r->items.items[kept++] = r->items.items[i];
        else
            r->others++;
    }
    r->items.nr = kept;
}

static int longest_first(const void *a, const void *b)
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

static void find_roofs(struct roofline *r)
{
    struct chart_names maths = { 0 };

    for (size_t i = 0; i < r->items.nr; i++)
        chart_names_index(&maths, r->items.items[i].bench->math);
    roofs_init(&r->roofs, &r->items.context, r->device, maths.names, maths.nr);
    r->roofs.given = r->chart->peaks_from ? "given" : "data sheet";
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
                r->items.items[i].context, &roof);
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
    quantity_text(QUANTITY_RATE, "FLOP/s", roofline_point(&r->items.items[nearest]).rate, rate);
    figure_set(&r->f->alt,
               "Roofline of %zu benchmarks on %s; nearest to its roof is %s with %.0f %% at %s.",
               r->items.nr, r->device, r->items.items[nearest].label, best * 100, rate);
}

static void add_caption(struct roofline *r)
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
        strbuf_addf(&how, " %zu are bound by the cost of a launch instead.", r->latency);
    if (r->others)
        strbuf_addf(&how, " Not drawn: %zu without FLOPs or of another device or machine.",
                    r->others);
    chart_caption(r->f, &r->items, how.data, "");
    strbuf_release(&how);
}

static void fit_axes(struct roofline *r)
{
    double least = INFINITY, low = INFINITY, high = 0;

    for (size_t i = 0; i < r->items.nr; i++) {
        struct roofline_point at = roofline_point(&r->items.items[i]);
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
}

static void add_roofs(struct roofline *r)
{
    struct roof_mark *marks = memory_zeroed(r->items.nr, sizeof(*marks));

    for (size_t i = 0; i < r->items.nr; i++) {
        struct roofline_point at = roofline_point(&r->items.items[i]);
        marks[i] = (struct roof_mark) { at.intensity, at.rate };
    }
    r->roofs.marks = marks;
    r->roofs.nr_marks = r->items.nr;
    roofs_add(&r->roofs, r->p);
    r->roofs.marks = NULL;
    r->roofs.nr_marks = 0;
    free(marks);
}

static void draw(struct roofline *r)
{
    r->p = figure_panel(r->f);
    r->p->plot_height = 560;
    qsort(r->items.items, r->items.nr, sizeof(*r->items.items), longest_first);
    r->longest = chart_item_median(&r->items.items[0]);
    fit_axes(r);
    add_roofs(r);
    if (r->comparison)
        roofline_add_moves(r);
    else
        roofline_add_points(r);
    roofline_add_names(r);
    judge(r);
    add_caption(r);
    chart_subtitle(r->f, r->chart, &r->items);
    figure_finish(r->f);
}

struct figure *build_roofline(const struct chart *chart)
{
    bool compare = chart->preset->modes == PLOT_COMPARE;
    struct roofline r = { .chart = chart,
                          .comparison = compare ? chart->comparison : NULL,
                          .f = chart_figure(chart) };

    if (compare && !chart->comparison)
        return chart_absent(r.f, "there is no base to compare with; name one, or save a baseline");
    chart_items_init(&r.items, chart);
    if (!r.items.nr) {
        chart_absent_items(r.f, chart, &r.items);
        goto out;
    }
    r.device = commonest_device(&r.items);
    keep_drawable(&r);
    find_roofs(&r);
    if (!r.items.nr)
        chart_absent(r.f, "no benchmark of device %s has both FLOPs and bytes", r.device);
    else if (!r.roofs.levels[LEVEL_DRAM])
        chart_absent(r.f, "the ceilings of %s were not measured; `harness roofline` does it",
                     r.device);
    else
        draw(&r);
out:
    chart_items_release(&r.items);
    return r.f;
}
