/* SPDX-License-Identifier: MIT */
/*
 * Whole distributions as lines, one a benchmark (and run):
 *   - ecdf: the share of samples at or below a value;
 *   - quantiles: the value below which a share lies, with room for the tail;
 *   - percentiles: min to max over the statistics that tables have. Times are divided by the
 *     benchmark's own median, so that a nano and a large model show their tails on one scale; the
 *     median itself stands in the legend.
 */
#include "base/text.h"
#include "chart/base/chart_samples.h"
#include "chart/base/chart_scale.h"
#include "chart/types/chart_types.h"
#include "metrics/density.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LIMIT = 8,
    ECDF_POINTS = 160,
    TAIL_PARTS = 24,
    AREA_WIDTH = 1060,
    TICK_APART = 44,
    LABEL_SIZE = 320
};

static const char widest_first[] = "of each kernel those with the widest p5 to p95";

struct curves {
    struct chart_samples s;
    struct panel *p;
    double low, high; /* values that the axis shows */
    double top;       /* quantiles: the largest probability that any line reaches */
    bool tail;        /* quantiles: probabilities by nines */
};

static const struct chart_item *curves_item_at(const struct curves *c, size_t i)
{
    return &c->s.items->items[i];
}

/* "attention simd  (p50 12.3 us, n 300)" */
static void curve_label(const struct chart_item *item, const char *median, char label[LABEL_SIZE])
{
    snprintf(label, LABEL_SIZE, "%s  (p50 %s, n %zu)", item->label, median, item->summary->n);
}

static struct layer *curves_add_line(struct curves *c, enum mark mark, size_t i)
{
    const struct chart_item *item = curves_item_at(c, i);
    char label[LABEL_SIZE], text[QUANTITY_TEXT_SIZE];

    curve_label(item, chart_samples_median_text(&c->s, item, text), label);
    struct layer *line = panel_layer(c->p, mark, label);
    chart_about(c->s.f, item);
    style_nth(&line->style, i);
    return line;
}

static void curves_finish(struct curves *c, const char *how, const char *what)
{
    const struct chart_item *widest = chart_samples_widest(&c->s);
    size_t nr = c->s.items->nr;
    char spread[TEXT_UNIT_SIZE];
    struct strbuf sb;

    strbuf_init(&sb);
    strbuf_adds(&sb, how);
    chart_samples_explain(&c->s, &sb);
    chart_caption(c->s.f, c->s.items, widest_first, "%s", sb.data);
    strbuf_release(&sb);
    chart_samples_conclude(&c->s);
    figure_set(&c->s.f->alt,
               "%s of the %s of %zu benchmark%s; p5 to p95 is widest for %s, %s of its median.",
               what, c->s.rate ? c->s.metric.label : "latency", nr, nr == 1 ? "" : "s",
               widest->label, text_share(chart_samples_spread(widest), spread));
}

/* From 0 at the first sample on; beyond the axis' end the line leaves the frame. */
static void curves_add_steps(struct curves *c, size_t i)
{
    struct ecdf_point points[ECDF_POINTS];
    struct layer *line = curves_add_line(c, MARK_STEPS, i);
    size_t n;
    double *values = chart_samples_sorted(&c->s, curves_item_at(c, i), &n);
    size_t nr = ecdf_fill(points, ECDF_POINTS, values, n, c->p->x.low, c->p->x.high);

    free(values);
    if (!nr)
        return;
    layer_add(line, points[0].x, 0);
    for (size_t k = 0; k < nr; k++)
        layer_add(line, points[k].x, points[k].share);
    layer_add(line, c->p->x.high, points[nr - 1].share);
    chart_about(c->s.f, NULL);
}

static void curves_draw_ecdf(struct curves *c)
{
    const struct preset *preset = c->s.chart->preset;

    chart_samples_frame(&c->s, &c->low, &c->high);
    c->p = figure_panel(c->s.f);
    chart_samples_axis(&c->s, &c->p->x, preset->x_label, preset->x_scale, c->low, c->high);
    axis_set(&c->p->y, preset->y_label ? preset->y_label : "samples at or below", QUANTITY_SHARE,
             "", AXIS_LINEAR);
    c->p->y.low = 0;
    c->p->y.high = 1.01;
    struct layer *half = panel_stroke(c->p, MARK_RULES, NULL, INK_GREY, DASH_DOT, 1);
    layer_add(half, NAN, 0.5);
    for (size_t i = 0; i < c->s.items->nr; i++)
        curves_add_steps(c, i);
    curves_finish(
        c,
        "The share of samples (upright) that took at most so long (across): a steep line is a "
        "steady benchmark, two steep parts are two modes. Dotted: one half, where a line "
        "crosses it is its median. Long tails go on beyond the frame.",
        "Cumulative distributions");
}

/* The largest probability that n samples carry: 1 - p^n >= 0.95. */
static double largest_probability(const struct chart_item *item)
{
    return pow(0.05, 1 / (double)item->summary->n);
}

/* In percent, the axis' unit. Beside many nines the first quarter has no room for its text. */
static void curves_add_probability_ticks(struct curves *c)
{
    static const struct {
        double p;
        const char *text;
    } marks[] = {
        { 0, "min" },          { 0.25, "25 %" },        { 0.5, "50 %" },  { 0.75, "75 %" },
        { 0.9, "90 %" },       { 0.95, "95 %" },        { 0.99, "99 %" }, { 0.999, "99.9 %" },
        { 0.9999, "99.99 %" }, { 0.99999, "99.999 %" },
    };

    double per_nine = AREA_WIDTH / -log10(1 - c->top), taken = -INFINITY;

    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]) && marks[i].p <= c->top; i++) {
        double at = -log10(1 - marks[i].p) * per_nine;
        bool fits = at - taken >= TICK_APART;
        ticks_add(&c->p->x.ticks, marks[i].p * 100, fits ? marks[i].text : "", !fits);
        taken = fits ? at : taken;
    }
}

/* "longest tail gemm/nn simd, p99 1.9× its median": of those whose samples carry it. */
static void quantiles_conclude(const struct curves *c)
{
    const struct chart_item *longest = NULL;
    double most = 0;
    char ratio[QUANTITY_TEXT_SIZE], name[CHART_NAME_SIZE];

    for (size_t i = 0; i < c->s.items->nr; i++) {
        const struct chart_item *item = curves_item_at(c, i);
        double tail =
            stats_quantile(item->summary->sorted, item->summary->n, 0.99) / chart_item_median(item);
        if (chart_samples_carries(item, 0.99) && tail > most) {
            most = tail;
            longest = item;
        }
    }
    if (longest && c->s.items->nr > 1)
        chart_conclude(c->s.f, c->s.chart, "longest tail %s, p99 %s its median",
                       chart_name_of(longest->bench, name), ratio_text(most, ratio));
}

/* Close together where the line bends: by 1/100 in the body, by parts of a nine in the tail. */
static void curves_add_quantiles(struct curves *c, size_t i)
{
    const struct chart_item *item = curves_item_at(c, i);
    struct layer *line = curves_add_line(c, MARK_LINE, i);
    double end = fmax(largest_probability(item), 0.5);

    for (int k = 0; k < 90 && k / 100.0 < end; k++)
        layer_add(line, k / 100.0, chart_samples_quantile(&c->s, item, k / 100.0));
    for (int k = TAIL_PARTS; 1 - pow(10, -(double)k / TAIL_PARTS) < end; k++) {
        double p = 1 - pow(10, -(double)k / TAIL_PARTS);
        layer_add(line, p, chart_samples_quantile(&c->s, item, p));
    }
    layer_add(line, end, chart_samples_quantile(&c->s, item, end));
    chart_about(c->s.f, NULL);
}

static void curves_draw_quantiles(struct curves *c)
{
    const struct preset *preset = c->s.chart->preset;

    c->tail = preset->x_scale != SCALE_LINEAR;
    /* What is shown reaches as far as the samples carry it, and no further. */
    c->low = INFINITY;
    c->high = -INFINITY;
    for (size_t i = 0; i < c->s.items->nr; i++) {
        double end = fmax(largest_probability(curves_item_at(c, i)), 0.5);
        double least = chart_samples_quantile(&c->s, curves_item_at(c, i), 0);
        c->top = fmax(c->top, end);
        c->low = fmin(c->low, isfinite(least) ? least : INFINITY);
        c->high = fmax(c->high, chart_samples_quantile(&c->s, curves_item_at(c, i), end));
    }
    c->p = figure_panel(c->s.f);
    axis_set(&c->p->x, preset->x_label ? preset->x_label : "share of samples below", QUANTITY_SHARE,
             "", c->tail ? AXIS_NINES : AXIS_LINEAR);
    c->p->x.low = 0;
    c->p->x.high = c->tail ? 1 - pow(1 - c->top, 1.02) : c->top * 1.02;
    if (c->tail)
        curves_add_probability_ticks(c);
    chart_samples_axis(&c->s, &c->p->y, preset->y_label, preset->y_scale, c->low, c->high);
    for (size_t i = 0; i < c->s.items->nr; i++)
        curves_add_quantiles(c, i);
    curves_finish(
        c,
        c->tail ? "The value (upright) below which a share of the samples lies (across). Each "
                  "nine takes the same width, so that the tail is seen; a line ends where its "
                  "samples carry no further quantile (95 % confidence)."
                : "The value (upright) below which a share of the samples lies (across); a line "
                  "ends where its samples carry no further quantile (95 % confidence).",
        "Quantile functions");
    quantiles_conclude(c);
}

static void curves_draw(const struct chart *chart, struct chart_items *items, struct figure *f,
                        enum scale_choice scale, void (*draw)(struct curves *c))
{
    struct curves c = { .p = NULL };

    if (!chart_samples_init(&c.s, chart, items, f, scale))
        return;
    chart_samples_limit(&c.s, chart_limit(chart->preset, LIMIT), chart_samples_spread);
    draw(&c);
}

void build_ecdf(const struct chart *chart, struct chart_items *items, struct figure *f)
{
    curves_draw(chart, items, f, chart->preset->x_scale, curves_draw_ecdf);
}

void build_quantiles(const struct chart *chart, struct chart_items *items, struct figure *f)
{
    curves_draw(chart, items, f, chart->preset->y_scale, curves_draw_quantiles);
}

/* ---- percentiles ---- */

static const struct {
    const char *name;
    double p;
} steps[] = {
    { "min", 0 },    { "p5", 0.05 },  { "p25", 0.25 }, { "p50", 0.5 }, { "p75", 0.75 },
    { "p90", 0.90 }, { "p95", 0.95 }, { "p99", 0.99 }, { "max", 1 },
};

enum { STEPS = sizeof(steps) / sizeof(steps[0]) };

/* Widest relative spread first: those lines have something to say. */
static double percentiles_spread(const struct chart_item *item)
{
    const struct summary *s = item->summary;
    double p5 = stats_quantile(s->sorted, s->n, 0.05), p95 = stats_quantile(s->sorted, s->n, 0.95);

    return p95 / p5;
}

/* A percentile beyond what n samples carry is left out rather than invented. */
static bool percentile_is_carried(const struct summary *s, double p)
{
    return p == 0 || p == 1 || p == 0.5 || s->n >= stats_quantile_needs(p, 0.95);
}

/* One wild maximum must not flatten all the rest: the axis ends at so many times the largest p99.
 */
static const double beyond_p99 = 1.5;

struct percentiles {
    struct chart_items *items;
    struct panel *p;
    struct range range;      /* of what is inside the frame */
    double most;             /* of all, beyond it too */
    size_t nr_beyond, drawn; /* lines that leave it; those of them that have their arrow head */
    size_t places[STEPS];    /* of each step: those that nobody's samples carry have none */
    size_t nr_places;
    size_t widest; /* item */
};

/* Of what few samples there are the maximum is a p99, too. */
static double percentiles_end(const struct chart_item *item)
{
    const struct summary *s = item->summary;
    double p = percentile_is_carried(s, 0.99) ? 0.99 : 0.95;

    return stats_quantile(s->sorted, s->n, p) / chart_item_median(item);
}

static bool percentiles_have_values(const struct chart_item *item)
{
    return item->summary->n >= SAMPLES_LEAST && chart_item_median(item) > 0;
}

/* The maximum over the median. */
static double percentiles_most(const struct chart_item *item)
{
    return item->summary->sorted[item->summary->n - 1] / chart_item_median(item);
}

static void percentiles_find_range(struct percentiles *c)
{
    double end = 1;

    c->range = RANGE_NONE;
    c->most = 1;
    for (size_t i = 0; i < c->items->nr; i++) {
        const struct chart_item *item = &c->items->items[i];
        range_include(&c->range, item->summary->sorted[0] / chart_item_median(item));
        c->most = fmax(c->most, percentiles_most(item));
        end = fmax(end, percentiles_end(item));
        if (percentiles_spread(item) > percentiles_spread(&c->items->items[c->widest]))
            c->widest = i;
    }
    range_include(&c->range, fmin(c->most, 1 + beyond_p99 * (end - 1)));
    for (size_t i = 0; i < c->items->nr; i++)
        c->nr_beyond += percentiles_most(&c->items->items[i]) > c->range.high;
}

/* Arrow heads at the frame, in the colour of their line. They stand side by side, for all are at
 * one height. */
static void percentiles_add_beyond(struct percentiles *c, const struct layer *line, size_t place)
{
    double apart = fmin(0.12, 0.8 / (double)c->nr_beyond);
    double from_middle = (double)c->drawn - (double)(c->nr_beyond - 1) / 2;
    struct layer *heads = panel_layer(c->p, MARK_POINTS, line->label);

    heads->style = line->style;
    heads->style.shape = SHAPE_TRIANGLE_UP;
    heads->style.size = 9;
    layer_add(heads, (double)place + apart * from_middle, c->range.high);
}

static void percentiles_add_line(struct percentiles *c, const struct chart_item *item, size_t nth)
{
    const struct summary *s = item->summary;
    double median = chart_item_median(item), most = percentiles_most(item);
    char label[LABEL_SIZE + QUANTITY_TEXT_SIZE], text[QUANTITY_TEXT_SIZE], far[QUANTITY_TEXT_SIZE];

    curve_label(item, quantity_text(QUANTITY_TIME, "", median, text), label);
    if (most > c->range.high)
        snprintf(label + strlen(label) - 1, QUANTITY_TEXT_SIZE + 8, ", max %s)",
                 ratio_text(most, far));
    struct layer *line = panel_layer(c->p, MARK_LINE, label);
    struct layer *points = panel_layer(c->p, MARK_POINTS, label);
    style_nth(&line->style, nth);
    style_nth(&points->style, nth);
    chart_about(c->p->figure, item);
    for (size_t i = 0; i < STEPS; i++) {
        if (!percentile_is_carried(s, steps[i].p))
            continue;
        double ratio = stats_quantile(s->sorted, s->n, steps[i].p) / median;
        if (ratio > c->range.high) {
            percentiles_add_beyond(c, line, c->places[i]);
            continue;
        }
        layer_add(line, (double)c->places[i], ratio);
        layer_add(points, (double)c->places[i], ratio);
    }
    chart_about(c->p->figure, NULL);
    c->drawn += most > c->range.high;
}

static void percentiles_words(const struct percentiles *c, struct figure *f)
{
    const struct chart_item *widest = &c->items->items[c->widest];
    size_t nr = c->items->nr;
    char spread[QUANTITY_TEXT_SIZE], name[CHART_NAME_SIZE];

    if (nr > 1)
        chart_conclude(f, c->items->chart, "widest %s, p95 %s its p5",
                       chart_name_of(widest->bench, name),
                       ratio_text(percentiles_spread(widest), spread));
    chart_caption(f, c->items, widest_first,
                  "One line a benchmark: its percentiles as multiples of its own median. A steep "
                  "right end is a long tail. Percentiles that the number of samples cannot carry "
                  "are left out.%s",
                  c->nr_beyond
                      ? " Triangle: the maximum of the line of its colour, one sample, beyond "
                        "the frame; the legend says how far."
                      : "");
    figure_set(&f->alt,
               "Percentiles of %zu benchmark%s relative to the median, from %.2f at the least to "
               "%.2f at most; the widest p5 to p95 is that of %s.",
               nr, nr == 1 ? "" : "s", c->range.low, c->most, c->items->items[c->widest].label);
}

static void percentiles_find_places(struct percentiles *c, const char *names[STEPS])
{
    for (size_t i = 0; i < STEPS; i++) {
        bool carried = false;
        for (size_t k = 0; k < c->items->nr; k++)
            carried |= percentile_is_carried(c->items->items[k].summary, steps[i].p);
        c->places[i] = c->nr_places;
        if (carried)
            names[c->nr_places++] = steps[i].name;
    }
}

/* Ratios: 1 is the reference, not 0. The frame ends close to what is highest, so that what lies
 * beyond stands at its edge. */
static void percentiles_frame(const struct range *r, struct axis *y)
{
    double linear = 0.06 * (r->high - r->low) + 0.005;
    double factor = pow(r->high / r->low, 0.06) * 1.005;

    if (y->scale == AXIS_LINEAR) {
        y->low = r->low - linear;
        y->high = r->high + linear;
    } else if (r->low > 0) {
        y->low = r->low / factor;
        y->high = r->high * factor;
    }
}

static void percentiles_draw(struct percentiles *c, const struct chart *chart, struct figure *f)
{
    const char *names[STEPS];

    percentiles_find_range(c);
    percentiles_find_places(c, names);
    struct range r = c->range;
    c->p = figure_panel(f);
    axis_names(&c->p->x, names, c->nr_places, false);
    axis_set(&c->p->y, "latency / own median", QUANTITY_PLAIN, "",
             chart_scale_beyond(chart->preset->y_scale, SCALE_WIDE_SAMPLES, r.low, r.high));
    percentiles_frame(&r, &c->p->y);
    for (size_t i = 0; i < c->items->nr; i++)
        percentiles_add_line(c, &c->items->items[i], i);
    percentiles_words(c, f);
}

void build_percentiles(const struct chart *chart, struct chart_items *items, struct figure *f)
{
    struct percentiles c = { .items = items };
    size_t kept = 0;

    for (size_t i = 0; i < items->nr; i++)
        if (percentiles_have_values(&items->items[i]))
            items->items[kept++] = items->items[i];
    items->nr = kept;
    chart_items_limit(items, chart_limit(chart->preset, LIMIT), percentiles_spread);
    if (items->nr)
        percentiles_draw(&c, chart, f);
    else
        chart_absent_samples(f);
}
