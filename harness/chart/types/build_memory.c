/* SPDX-License-Identifier: MIT */
/* Memory, one row a benchmark: what its tensors take and what it must move at least, against what
 * the caches hold; beside it the rate at which those bytes moved, against the measured roof of the
 * level that they come from. */
#include "base/memory.h"
#include "chart/base/chart_scale.h"
#include "chart/types/chart_types.h"
#include "core/device_label.h"
#include "metrics/roofline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 24, ROW_HEIGHT = 27 };

struct memory_chart {
    const struct chart *chart;
    struct chart_items *items;
    struct figure *f;
    struct panel *sizes, *rates;
    size_t largest, fastest;     /* items, by footprint and by rate */
    bool ruled, roofed, process; /* capacities of caches, roofs, peaks of processes are drawn */
};

static const struct chart_item *memory_item_at(const struct memory_chart *c, size_t i)
{
    return &c->items->items[i];
}

/* Compulsory bytes over the median time; NaN where there is no such work. */
static double memory_rate_of(const struct chart_item *item)
{
    double bytes = item->summary->m->bytes, ns = chart_item_median(item);

    return bytes > 0 && ns > 0 ? 1e9 * bytes / ns : (double)NAN;
}

/* The measured roof of that rate, see metrics/roofline.h. */
static double roof_rate(const struct chart_item *item)
{
    struct binding_roof roof;

    binding_roof_of(item->summary->m, chart_item_median(item), item->context, &roof);
    if (!(roof.memory_ns > 0) || !(item->summary->m->bytes > 0))
        return NAN;
    return 1e9 * item->summary->m->bytes / roof.memory_ns;
}

static double memory_footprint_of(const struct chart_item *item)
{
    return (double)item->summary->m->footprint;
}

static double memory_bytes_of(const struct chart_item *item)
{
    return item->summary->m->bytes;
}

static double footprint_weight(const struct chart_item *item)
{
    return fmax(memory_footprint_of(item), memory_bytes_of(item));
}

/* A point a row; values that are not there, or 0, make none. */
static bool memory_add_points(struct memory_chart *c, const char *label, struct style style,
                              double (*value)(const struct chart_item *item))
{
    struct layer *points = panel_layer(c->sizes, MARK_POINTS, label);

    points->style = style;
    for (size_t i = 0; i < c->items->nr; i++) {
        double at = value(memory_item_at(c, i));
        if (isfinite(at) && at > 0)
            layer_add(points, at, (double)i);
    }
    return points->nr > 0;
}

static double device_peak(const struct chart_item *item)
{
    return measurement_telemetry(item->summary->m, "device_memory_peak_bytes");
}

static double process_peak(const struct chart_item *item)
{
    return measurement_telemetry(item->summary->m, "max_rss_bytes");
}

/* Threads that all benchmarks share; 0 where they do not, or are on another device. */
static int shared_threads(const struct memory_chart *c)
{
    int threads = device_label_of(memory_item_at(c, 0)->bench->device).threads;

    for (size_t i = 1; i < c->items->nr; i++)
        if (device_label_of(memory_item_at(c, i)->bench->device).threads != threads ||
            strcmp(memory_item_at(c, i)->of->machine.id, memory_item_at(c, 0)->of->machine.id) != 0)
            return 0;
    return threads;
}

/* "32 KiB": sizes of caches and places on an axis are round. */
static char *round_bytes(double bytes, char text[QUANTITY_TEXT_SIZE])
{
    struct unit unit = unit_for(QUANTITY_BYTES, "", bytes);

    snprintf(text, QUANTITY_TEXT_SIZE, "%.4g %s", bytes / unit.factor, unit.name);
    return text;
}

/* What the caches hold together for the threads in use. Their names have a row of their own above
 * the first benchmark. */
static void memory_add_capacities(struct memory_chart *c)
{
    const struct metric_context *context = memory_item_at(c, 0)->context;
    const char *device = memory_item_at(c, 0)->bench->device;
    struct layer *rules = panel_stroke(c->sizes, MARK_RULES, NULL, INK_GREY, DASH_SHORT, 1.2);
    struct layer *names = panel_layer(c->sizes, MARK_TEXT, NULL);
    char size[QUANTITY_TEXT_SIZE], text[QUANTITY_TEXT_SIZE + 16];
    double before = 0;

    names->style.ink = INK_GREY;
    for (int level = LEVEL_L1; shared_threads(c) > 0 && level <= LEVEL_L3; level++) {
        double bytes = roof_capacity(context, (enum memory_level)level, device);
        if (!(bytes > before) || !isfinite(bytes))
            continue;
        layer_add(rules, bytes, NAN);
        snprintf(text, sizeof(text), "%s %s", memory_level_name((enum memory_level)level),
                 round_bytes(bytes, size));
        struct datum *d = layer_add_text(names, bytes, -1, ANCHOR_LEFT, text);
        d->dx = 4;
        d->dy = level % 2 ? 6 : -6; /* neighbours may be near */
        before = bytes;
        c->ruled = true;
    }
}

static void memory_add_rate_texts(struct memory_chart *c)
{
    struct layer *texts = panel_outside(c->rates);
    char text[QUANTITY_TEXT_SIZE];

    for (size_t i = 0; i < c->items->nr; i++) {
        double rate = memory_rate_of(memory_item_at(c, i));
        layer_add_outside(texts, i,
                          isfinite(rate) ? quantity_text(QUANTITY_RATE, "B/s", rate, text) : "n/a");
    }
}

/* An upright stroke in each row at the roof that its rate could reach. */
static void memory_add_roofs(struct memory_chart *c)
{
    struct layer *roofs = panel_layer(c->rates, MARK_SEGMENTS, "measured roof");

    roofs->style.width = 2.4;
    for (size_t i = 0; i < c->items->nr; i++) {
        double rate = roof_rate(memory_item_at(c, i));
        if (!isfinite(rate))
            continue;
        layer_add_interval(roofs, rate, (double)i - 0.4, (double)i + 0.4);
        c->roofed = true;
    }
}

static void memory_add_rates(struct memory_chart *c)
{
    double least = INFINITY, most = 0;

    for (size_t i = 0; i < c->items->nr; i++) {
        double rate = memory_rate_of(memory_item_at(c, i)), roof = roof_rate(memory_item_at(c, i));
        if (!isfinite(rate))
            continue;
        least = fmin(least, rate);
        most = fmax(most, isfinite(roof) ? fmax(rate, roof) : rate);
    }
    axis_set(&c->rates->x, "rate", QUANTITY_RATE, "B/s",
             chart_scale_of(c->chart->preset->y_scale, least, most));
    struct layer *rates = panel_amounts(c->rates, "achieved rate", INK_BLUE);
    for (size_t i = 0; i < c->items->nr; i++)
        if (isfinite(memory_rate_of(memory_item_at(c, i))))
            layer_add(rates, memory_rate_of(memory_item_at(c, i)), (double)i);
}

static void memory_add_words(struct memory_chart *c)
{
    char largest[QUANTITY_TEXT_SIZE], fastest[QUANTITY_TEXT_SIZE], name[CHART_NAME_SIZE];
    struct strbuf sb;

    strbuf_init(&sb);
    strbuf_adds(&sb,
                "Circle: bytes of all tensors; diamond: bytes that must move at least, each "
                "input read and each output written once.");
    if (c->ruled)
        strbuf_adds(&sb, " Dotted: what the caches of the threads in use hold together.");
    strbuf_adds(&sb, " Right: those bytes over the median time.");
    if (c->process)
        strbuf_adds(&sb, " Triangle: what the whole process had held at most by then.");
    if (c->roofed)
        strbuf_adds(&sb,
                    " Stroke: their measured roof, the bandwidth of the level that holds what is "
                    "touched; what is beyond it works from a faster one.");
    chart_caption(c->f, c->items, "of each kernel those with the largest tensors", "%s", sb.data);
    strbuf_release(&sb);
    quantity_text(QUANTITY_BYTES, "", footprint_weight(memory_item_at(c, c->largest)), largest);
    quantity_text(QUANTITY_RATE, "B/s", memory_rate_of(memory_item_at(c, c->fastest)), fastest);
    if (c->rates)
        chart_conclude(c->f, c->chart, "%s moves %s",
                       chart_name_of(memory_item_at(c, c->fastest)->bench, name), fastest);
    figure_set(&c->f->alt,
               "Memory of %zu benchmark%s: the largest is %s with %s of tensors, the highest rate "
               "is that of %s with %s.",
               c->items->nr, c->items->nr == 1 ? "" : "s", memory_item_at(c, c->largest)->label,
               largest, memory_item_at(c, c->fastest)->label, fastest);
}

static struct panel *memory_add_panel(struct memory_chart *c, const char *title)
{
    struct panel *p = chart_items_rows(c->items, c->f, ROW_HEIGHT, ROW_HEIGHT + 12);

    p->y.low = -1.5; /* a row for the names of caches */
    figure_set(&p->title, "%s", title);
    return p;
}

/* A logarithmic axis of bytes has its ticks at powers of two, each with its own unit. */
static void memory_add_size_ticks(struct memory_chart *c)
{
    char text[QUANTITY_TEXT_SIZE];
    double least = INFINITY, most = 0;

    for (size_t i = 0; i < c->sizes->nr; i++)
        for (size_t k = 0; k < c->sizes->layers[i]->nr; k++)
            if (c->sizes->layers[i]->items[k].x > 0) {
                least = fmin(least, c->sizes->layers[i]->items[k].x);
                most = fmax(most, c->sizes->layers[i]->items[k].x);
            }
    int step = most > 0x1p21 * least ? 10 : most > 0x1p10 * least ? 5 : 2;
    int first = step * (int)floor(log2(least) / step);
    for (int power = first < 0 ? 0 : first; ldexp(1, power) <= most * 1.5; power += step)
        ticks_add(&c->sizes->x.ticks, ldexp(1, power), round_bytes(ldexp(1, power), text), false);
    c->sizes->x.low = fmin(ldexp(1, first), least / 1.3);
}

static void memory_add_sizes(struct memory_chart *c)
{
    const struct style footprint = {
        .ink = INK_BLUE, .shape = SHAPE_CIRCLE, .size = 9, .opacity = 1
    };
    const struct style bytes = {
        .ink = INK_VERMILLION, .shape = SHAPE_DIAMOND, .size = 9, .hollow = true, .opacity = 1
    };
    const struct style device = {
        .ink = INK_GREEN, .shape = SHAPE_SQUARE, .size = 7, .hollow = true, .opacity = 1
    };
    const struct style process = {
        .ink = INK_PURPLE, .shape = SHAPE_TRIANGLE_UP, .size = 8, .opacity = 1
    };

    axis_set(&c->sizes->x, "memory", QUANTITY_PLAIN, "", AXIS_LOG);
    memory_add_capacities(c);
    /* A thin line from the bytes that must move to the bytes that are there guides the eye. */
    struct layer *links = panel_stroke(c->sizes, MARK_SEGMENTS, NULL, INK_GREY, DASH_SOLID, 1);
    links->across = true;
    for (size_t i = 0; i < c->items->nr; i++) {
        double a = memory_bytes_of(memory_item_at(c, i)),
               b = memory_footprint_of(memory_item_at(c, i));
        if (a > 0 && b > 0)
            layer_add_interval(links, (double)i, fmin(a, b), fmax(a, b));
    }
    memory_add_points(c, "all tensors", footprint, memory_footprint_of);
    memory_add_points(c, "must move", bytes, memory_bytes_of);
    memory_add_points(c, "device memory, peak", device, device_peak);
    c->process = memory_add_points(c, "process, peak so far", process, process_peak);
    memory_add_size_ticks(c);
}

static void memory_draw(struct memory_chart *c)
{
    bool rates = false;

    for (size_t i = 0; i < c->items->nr; i++)
        rates |= isfinite(memory_rate_of(memory_item_at(c, i)));
    for (size_t i = 0; i < c->items->nr; i++) {
        if (footprint_weight(memory_item_at(c, i)) >
            footprint_weight(memory_item_at(c, c->largest)))
            c->largest = i;
        if (!(memory_rate_of(memory_item_at(c, i)) <=
              memory_rate_of(memory_item_at(c, c->fastest))))
            c->fastest = isfinite(memory_rate_of(memory_item_at(c, i))) ? i : c->fastest;
    }
    c->sizes = memory_add_panel(c, "what is there, what must move");
    memory_add_sizes(c);
    if (rates) {
        c->f->columns = 2;
        c->rates = memory_add_panel(c, "how fast it moved");
        c->rates->joined = true;
        memory_add_rates(c);
        memory_add_roofs(c);
        memory_add_rate_texts(c);
    }
    memory_add_words(c);
}

void build_memory(const struct chart *chart, struct chart_items *items, struct figure *f)
{
    struct memory_chart c = { .chart = chart, .items = items, .f = f };
    size_t timed = items->nr;

    size_t kept = 0;
    for (size_t i = 0; i < c.items->nr; i++)
        if (footprint_weight(memory_item_at(&c, i)) > 0)
            c.items->items[kept++] = *memory_item_at(&c, i);
    c.items->nr = kept;
    chart_items_limit(items, chart_limit(chart->preset, LIMIT), footprint_weight);
    if (items->nr)
        memory_draw(&c);
    else
        chart_absent(f, "none of the %zu benchmarks with a time says how many bytes it needs",
                     timed);
}
