/* SPDX-License-Identifier: MIT */
/* Distributions of samples, one row a benchmark (and run): boxes, or the density as a violin with a
 * thin box inside. Under SAMPLES_STRIP samples the samples themselves are drawn, because a shape
 * would be a guess. */
#include "base/memory.h"
#include "base/text.h"
#include "chart/base/chart_samples.h"
#include "chart/types/chart_types.h"
#include "metrics/density.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LIMIT = 24, BOX_HEIGHT = 29, VIOLIN_HEIGHT = 42, WORDS_SIZE = QUANTITY_TEXT_SIZE + 24 };

/* Half heights, in rows. */
#define BOX_HALF    0.29
#define THIN_HALF   0.07
#define VIOLIN_HALF 0.44
#define STRIP_HALF  0.16

struct rows {
    struct chart_samples s;
    struct panel *p;
    bool violin;
    bool tails;            /* some row has its cross */
    size_t strips, beyond; /* rows drawn as points; rows whose tail leaves the frame */
};

static const struct chart_item *distribution_item_at(const struct rows *r, size_t i)
{
    return &r->s.items->items[i];
}

static bool distribution_is_strip(const struct chart_item *item)
{
    return item->summary->n < SAMPLES_STRIP;
}

/* One layer a group, so that the legend names the inks. */
static void grouped_layers(struct rows *r, enum mark mark, const char *alone,
                           struct layer *layers[SAMPLES_GROUPS_MAX])
{
    size_t nr = r->s.nr_groups > 1 ? r->s.nr_groups : 1;

    for (size_t k = 0; k < nr; k++) {
        layers[k] = panel_layer(r->p, mark, nr > 1 ? r->s.groups[k] : alone);
        layers[k]->style.ink = chart_samples_ink(&r->s, k);
    }
}

/* Where the axis is logarithmic the shape is that of the logs: what is seen has the right area. */
static double *values_on_axis(const struct rows *r, size_t i, size_t *nr)
{
    double *values = chart_samples_sorted(&r->s, distribution_item_at(r, i), nr);
    size_t kept = 0;

    for (size_t k = 0; k < *nr && r->p->x.scale == AXIS_LOG; k++)
        if (values[k] > 0)
            values[kept++] = log(values[k]);
    *nr = r->p->x.scale == AXIS_LOG ? kept : *nr;
    return values;
}

static double on_axis(const struct rows *r, double value)
{
    return r->p->x.scale == AXIS_LOG ? log(value) : value;
}

static void distribution_add_violin(struct rows *r, struct layer *band, size_t i)
{
    size_t nr;
    double *values = values_on_axis(r, i, &nr);
    struct density d;

    if (density_fill(&d, values, nr, on_axis(r, r->p->x.low), on_axis(r, r->p->x.high))) {
        for (size_t k = 0; k < d.nr; k++) {
            double half = VIOLIN_HALF * d.value[k] / d.highest;
            double x = r->p->x.scale == AXIS_LOG ? exp(d.at[k]) : d.at[k];
            struct datum *datum = layer_add(band, x, NAN);
            datum->low = (double)i - half;
            datum->high = (double)i + half;
        }
        layer_add(band, NAN, NAN); /* the next row's is another one */
    }
    free(values);
}

static void distribution_add_violins(struct rows *r)
{
    struct layer *bands[SAMPLES_GROUPS_MAX];

    grouped_layers(r, MARK_BAND, "density", bands);
    for (size_t k = 0; k < (r->s.nr_groups > 1 ? r->s.nr_groups : 1); k++)
        bands[k]->style.opacity = 0.45;
    for (size_t i = 0; i < r->s.items->nr; i++)
        if (!distribution_is_strip(distribution_item_at(r, i)))
            distribution_add_violin(
                r, bands[chart_samples_group(&r->s, distribution_item_at(r, i))], i);
}

static void distribution_add_boxes(struct rows *r)
{
    struct layer *boxes[SAMPLES_GROUPS_MAX];

    if (r->violin) {
        boxes[0] = panel_layer(r->p, MARK_BOXES, "p25 to p75");
    } else {
        grouped_layers(r, MARK_BOXES, "p25 to p75", boxes);
    }
    for (size_t k = 0; k < (!r->violin && r->s.nr_groups > 1 ? r->s.nr_groups : 1); k++) {
        boxes[k]->across = true;
        boxes[k]->thickness = 2 * (r->violin ? THIN_HALF : BOX_HALF);
    }
    for (size_t i = 0; i < r->s.items->nr; i++) {
        const struct chart_item *item = distribution_item_at(r, i);
        size_t k = r->violin ? 0 : chart_samples_group(&r->s, item);
        if (r->violin && distribution_is_strip(item))
            continue;
        layer_add(boxes[k], chart_samples_quantile(&r->s, item, 0.75), (double)i)->low =
            chart_samples_quantile(&r->s, item, 0.25);
    }
}

/* An upright stroke through a box or among points; within a violin a ring, which is seen on the
 * thin box. */
static void distribution_add_medians(struct rows *r)
{
    struct layer *strokes = panel_layer(r->p, MARK_SEGMENTS, "median");
    struct layer *rings = panel_layer(r->p, MARK_POINTS, "median");
    double half = BOX_HALF + 0.05;

    strokes->style.width = 2.4;
    rings->style.size = 7;
    rings->style.hollow = true;
    for (size_t i = 0; i < r->s.items->nr; i++) {
        double median = chart_samples_quantile(&r->s, distribution_item_at(r, i), 0.5);
        if (r->violin && !distribution_is_strip(distribution_item_at(r, i)))
            layer_add(rings, median, (double)i);
        else
            layer_add_interval(strokes, median, (double)i - half, (double)i + half);
    }
}

static void distribution_add_tails(struct rows *r)
{
    double p = r->s.rate ? 0.01 : 0.99;
    struct layer *tails = panel_points(r->p, r->s.rate ? "p1" : "p99", INK_DARK, SHAPE_CROSS, 7);

    for (size_t i = 0; i < r->s.items->nr; i++)
        if (chart_samples_carries(distribution_item_at(r, i), p))
            layer_add(tails, chart_samples_quantile(&r->s, distribution_item_at(r, i), p),
                      (double)i);
    r->tails = tails->nr > 0;
}

/* Samples side by side: each a little higher or lower than the one before, by the golden ratio,
 * which never repeats. */
static void distribution_add_strips(struct rows *r)
{
    struct layer *strip = panel_layer(r->p, MARK_POINTS, "a sample");

    strip->style.size = 5;
    strip->style.hollow = true;
    for (size_t i = 0; i < r->s.items->nr; i++) {
        size_t nr;
        if (!distribution_is_strip(distribution_item_at(r, i)))
            continue;
        double *values = chart_samples_sorted(&r->s, distribution_item_at(r, i), &nr), golden = 0.5;
        for (size_t k = 0; k < nr; k++, golden = fmod(golden + 0.6180339887, 1))
            layer_add(strip, values[k], (double)i + STRIP_HALF * (2 * golden - 1));
        free(values);
        r->strips++;
    }
}

/* The end of a row's tail: p99, or p95 where the samples carry no p99; of few samples the last. */
static double distribution_tail_of(const struct chart_item *item)
{
    if (distribution_is_strip(item))
        return 1;
    return chart_samples_carries(item, 0.99) ? 0.99 : 0.95;
}

static double tail_value(const struct rows *r, const struct chart_item *item)
{
    return chart_samples_quantile(
        &r->s, item, r->s.rate ? 1 - distribution_tail_of(item) : distribution_tail_of(item));
}

static bool distribution_leaves_frame(const struct rows *r, const struct chart_item *item)
{
    double tail = tail_value(r, item);

    return r->s.rate ? tail < r->p->x.low : tail > r->p->x.high;
}

/* "p99 at 61.7×" the median. */
static char *distribution_tail_words(const struct rows *r, const struct chart_item *item,
                                     char text[WORDS_SIZE])
{
    double tail = distribution_tail_of(item), median = chart_samples_quantile(&r->s, item, 0.5);
    char times[QUANTITY_TEXT_SIZE];

    snprintf(text, WORDS_SIZE, "%s%.0f at %s", tail < 1 ? "p" : "max ",
             100 * (r->s.rate ? 1 - tail : tail), ratio_text(tail_value(r, item) / median, times));
    return text;
}

/* An arrow head at the frame where a tail goes on. */
static void distribution_add_arrows(struct rows *r)
{
    char far[WORDS_SIZE];
    struct layer *arrows = panel_layer(r->p, MARK_ARROWS, "the tail goes on");
    double low = on_axis(r, r->p->x.low), high = on_axis(r, r->p->x.high);

    arrows->across = true;
    arrows->style.ink = INK_VERMILLION;
    arrows->style.width = 1.6;
    for (size_t i = 0; i < r->s.items->nr; i++) {
        if (!distribution_leaves_frame(r, distribution_item_at(r, i)))
            continue;
        double end = r->s.rate ? low : high,
               start = end + (r->s.rate ? 1 : -1) * 0.03 * (high - low);
        bool log = r->p->x.scale == AXIS_LOG;
        layer_add_interval(arrows, (double)i, log ? exp(start) : start, log ? exp(end) : end)
            ->text = memory_string(distribution_tail_words(r, distribution_item_at(r, i), far));
        r->beyond++;
    }
}

static void distribution_add_caption(struct rows *r)
{
    struct strbuf sb;

    strbuf_init(&sb);
    strbuf_adds(&sb, r->violin ? "Width: density of the samples, each row scaled to its own "
                                 "largest; thin box p25 to p75, ring median, line p5 to p95."
                               : "Box p25 to p75, stroke median, whiskers p5 to p95.");
    if (r->tails)
        strbuf_addf(&sb, " Cross: %s, where the samples carry it.", r->s.rate ? "p1" : "p99");
    strbuf_adds(&sb, " Numbers: median and samples.");
    if (r->strips)
        strbuf_addf(&sb, " %zu row%s with fewer than %d samples show%s the samples themselves.",
                    r->strips, r->strips == 1 ? "" : "s", SAMPLES_STRIP, r->strips == 1 ? "s" : "");
    chart_samples_explain(&r->s, &sb);
    if (r->p->x.scale == AXIS_LOG)
        strbuf_adds(&sb, " The axis is logarithmic.");
    if (r->beyond)
        strbuf_addf(&sb,
                    " Arrow: the tail of %zu row%s goes on beyond the frame, as far as the number "
                    "at the right says.",
                    r->beyond, r->beyond == 1 ? "" : "s");
    chart_caption(r->s.f, r->s.items, "of each kernel those with the widest p5 to p95", "%s",
                  sb.data);
    strbuf_release(&sb);
}

static void distribution_add_words(struct rows *r)
{
    const struct chart_item *widest = chart_samples_widest(&r->s);
    size_t nr = r->s.items->nr;
    char spread[TEXT_UNIT_SIZE];

    distribution_add_caption(r);
    text_share(chart_samples_spread(widest), spread);
    chart_samples_conclude(&r->s);
    figure_set(&r->s.f->alt,
               "%s of the %s of %zu benchmark%s; p5 to p95 is widest for %s, %s of its median.",
               r->violin ? "Violins" : "Box plots", r->s.rate ? r->s.metric.label : "latency", nr,
               nr == 1 ? "" : "s", widest->label, spread);
}

static void distribution_draw_rows(struct rows *r)
{
    const struct preset *preset = r->s.chart->preset;
    double low, high;

    chart_samples_frame(&r->s, &low, &high);
    r->p = chart_items_rows(r->s.items, r->s.f, r->violin ? VIOLIN_HEIGHT : BOX_HEIGHT, 12);
    chart_samples_axis(&r->s, &r->p->x, preset->y_label, preset->y_scale, low, high);
    if (r->violin)
        distribution_add_violins(r);
    struct layer *whiskers =
        panel_layer(r->p, r->violin ? MARK_SEGMENTS : MARK_INTERVALS, "p5 to p95");
    whiskers->across = true;
    whiskers->style.width = r->violin ? 1.2 : 1.4;
    for (size_t i = 0; i < r->s.items->nr; i++)
        if (!distribution_is_strip(distribution_item_at(r, i)))
            layer_add_interval(whiskers, (double)i,
                               chart_samples_quantile(&r->s, distribution_item_at(r, i), 0.05),
                               chart_samples_quantile(&r->s, distribution_item_at(r, i), 0.95));
    distribution_add_boxes(r);
    distribution_add_strips(r);
    distribution_add_medians(r);
    distribution_add_tails(r);
    distribution_add_arrows(r);
    /* Median and samples in a column of their own; how far a tail goes where that is not seen. */
    struct layer *texts = panel_outside(r->p);
    char value[QUANTITY_TEXT_SIZE], far[WORDS_SIZE], text[QUANTITY_TEXT_SIZE + WORDS_SIZE + 32];
    for (size_t i = 0; i < r->s.items->nr; i++) {
        const struct chart_item *item = distribution_item_at(r, i);
        chart_samples_median_text(&r->s, item, value);
        bool beyond = distribution_leaves_frame(r, item);
        snprintf(text, sizeof(text), "%s, n %zu%s%s", value, item->summary->n, beyond ? ", " : "",
                 beyond ? distribution_tail_words(r, item, far) : "");
        layer_add_outside(texts, i, text);
    }
    distribution_add_words(r);
}

static void distribution_draw(const struct chart *chart, struct chart_items *items,
                              struct figure *f, bool violin)
{
    struct rows r = { .violin = violin };

    if (!chart_samples_init(&r.s, chart, items, f, chart->preset->y_scale))
        return;
    chart_samples_limit(&r.s, chart_limit(chart->preset, LIMIT), chart_samples_spread);
    distribution_draw_rows(&r);
}

void build_box(const struct chart *chart, struct chart_items *items, struct figure *f)
{
    distribution_draw(chart, items, f, false);
}

void build_violin(const struct chart *chart, struct chart_items *items, struct figure *f)
{
    distribution_draw(chart, items, f, true);
}
