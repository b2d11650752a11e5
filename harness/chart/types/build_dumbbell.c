/* SPDX-License-Identifier: MIT */
/* Change of each benchmark against the base: a hollow circle at 0 %, a line to the head's mark, a
 * bar for the interval. The worst is at the top. A change that is huge against the others ends in
 * an arrow at the frame; its number stands beside it. */
#include "base/memory.h"
#include "base/text.h"
#include "chart/base/compare_rows.h"
#include "chart/types/chart_types.h"
#include "reporters/compare_words.h"
#include "stats/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LIMIT = 28 };

/* How much larger than the usual change one may be before it would squeeze the rest to nothing. */
#define WILD        10.0
#define LEAST_REACH 0.01

struct dumbbell {
    const struct chart *chart;
    struct compare_rows rows;
    double reach[2]; /* low and high end of the axis, fractions */
    size_t beyond;   /* changes that leave the frame */
    struct figure *f;
    struct panel *p;
};

/* What is not wild, seen from the usual change; what does not matter needs no room of its own. */
static double wild_limit(const struct dumbbell *d, double least)
{
    size_t nr = d->rows.nr;
    double *sizes = memory_zeroed(nr, sizeof(*sizes));

    for (size_t i = 0; i < nr; i++)
        sizes[i] = fabs(d->rows.items[i]->change);
    double usual = stats_select_quantile(sizes, nr, nr > 2 ? 0.5 : 0);
    free(sizes);
    return WILD * fmax(usual, least);
}

/* The axis holds all changes but wild ones, and most intervals. Where changes are small it has its
 * zero in the middle; no change is below -100 %. */
static void dumbbell_find_reach(struct dumbbell *d)
{
    double change[2] = { 0, 0 }, interval[2] = { 0, 0 };
    double least = fmax(2 * d->rows.comparison->settings.delta, LEAST_REACH);
    double limit = wild_limit(d, least);

    for (size_t i = 0; i < d->rows.nr; i++) {
        const struct compare_row *row = d->rows.items[i];
        if (fabs(row->change) > limit)
            continue;
        change[0] = fmax(change[0], -row->change);
        change[1] = fmax(change[1], row->change);
        if (isfinite(row->interval.low + row->interval.high)) {
            interval[0] = fmax(interval[0], -row->interval.low);
            interval[1] = fmax(interval[1], row->interval.high);
        }
    }
    double most = fmax(least, fmax(change[0], change[1]));
    for (int side = 0; side < 2; side++) {
        double end = fmax(change[side], fmin(interval[side], 2 * most));
        d->reach[side] = 1.08 * fmax(end, most < 1 ? most : 0.15 * most);
    }
    d->reach[0] = -fmin(d->reach[0], 1);
}

static double dumbbell_clamp(const struct dumbbell *d, double x)
{
    return fmax(d->reach[0], fmin(d->reach[1], x));
}

static bool dumbbell_leaves_frame(const struct dumbbell *d, double change)
{
    return change < d->reach[0] || change > d->reach[1];
}

/* As far as the frame goes; what is cut off is said in words, which readers see in its place. */
static void dumbbell_add_span(const struct dumbbell *d, struct layer *layer, size_t i, double low,
                              double high)
{
    double from = dumbbell_clamp(d, low), to = dumbbell_clamp(d, high);
    char text[TEXT_UNIT_SIZE];

    if (from == to && low != high)
        return;
    struct datum *datum = layer_add_interval(layer, (double)i, from, to);
    if (from != low || to != high)
        datum->text = memory_string(text_percent_range(low, high, text));
}

/* At the frame, in the colour that the mark would have. */
static void dumbbell_add_arrow(struct dumbbell *d, struct layer *arrows[INK_NR], size_t i)
{
    const struct compare_row *row = d->rows.items[i];
    enum ink ink = verdict_ink(row->verdict);
    double end = dumbbell_clamp(d, row->change), length = 0.035 * (d->reach[1] - d->reach[0]);
    char text[TEXT_UNIT_SIZE];

    if (!arrows[ink]) {
        arrows[ink] = panel_layer(d->p, MARK_ARROWS, "goes on beyond the frame");
        arrows[ink]->across = true;
        arrows[ink]->style.ink = ink;
        arrows[ink]->style.width = 2.4;
    }
    layer_add_interval(arrows[ink], (double)i, end > 0 ? end - length : end + length, end)->text =
        memory_string(text_percent(row->change, text));
    d->beyond++;
}

/* "12.0 % slower"; "+5.0 %  undecided", of which a narrow page leaves out the word. */
static void dumbbell_say(const struct compare_row *row, char text[2 * QUANTITY_TEXT_SIZE])
{
    bool decided = row->verdict == VERDICT_REGRESSED || row->verdict == VERDICT_IMPROVED;
    char change[QUANTITY_TEXT_SIZE];

    if (decided)
        compare_change_words(row->change, row->verdict, row->item->metric, text);
    else
        snprintf(text, 2 * QUANTITY_TEXT_SIZE, "%s  %s",
                 quantity_text(QUANTITY_PERCENT, "", row->change, change),
                 verdict_word(row->verdict, row->item->metric));
}

/* Colour, shape and the word at the right say the same. */
static void dumbbell_add_heads(struct dumbbell *d)
{
    struct verdict_points points;
    struct layer *arrows[INK_NR] = { NULL };

    verdict_points_init(&points, d->p);
    struct layer *texts = panel_outside(d->p);
    for (size_t i = 0; i < d->rows.nr; i++) {
        const struct compare_row *row = d->rows.items[i];
        char text[2 * QUANTITY_TEXT_SIZE];
        if (dumbbell_leaves_frame(d, row->change))
            dumbbell_add_arrow(d, arrows, i);
        else
            layer_add(verdict_points_of(&points, row->verdict), row->change, (double)i);
        dumbbell_say(row, text);
        layer_add_outside(texts, i, text);
    }
}

static void dumbbell_words(struct dumbbell *d)
{
    const struct compare_rows *rows = &d->rows;
    const struct comparison *c = rows->comparison;
    size_t last = rows->nr - 1, count[VERDICT_NR];
    char worst[TEXT_UNIT_SIZE], best[TEXT_UNIT_SIZE], beyond[120] = "", decided[200] = "";

    compare_rows_count(rows, d->chart, count);
    if (d->beyond)
        snprintf(beyond, sizeof(beyond),
                 " Arrow: %zu change%s far beyond the frame, as large as the number says.",
                 d->beyond, d->beyond == 1 ? " is" : "s are");
    if (c->family)
        snprintf(
            decided, sizeof(decided),
            "; a triangle is a decision that holds with a false discovery rate of %.3g %% over "
            "the family of %zu. An interval that reaches the frame goes on",
            c->settings.q * 100, c->family);
    compare_rows_words(rows, d->chart, d->f, "Change of %s against the base%s.%s",
                       rows->metric->label, decided, beyond);
    figure_set(&d->f->alt,
               "Changes of %zu benchmarks: %zu worse, %zu better; from %s (%s) to %s (%s).",
               rows->all, count[VERDICT_REGRESSED], count[VERDICT_IMPROVED],
               text_percent(rows->items[0]->change, worst), rows->labels[0],
               text_percent(rows->items[last]->change, best), rows->labels[last]);
}

void build_dumbbell(const struct chart *chart, struct figure *f)
{
    struct dumbbell d = { .chart = chart, .f = f };

    if (compare_rows_init(&d.rows, chart, f, chart_limit(chart->preset, LIMIT), false)) {
        d.p = compare_rows_panel(&d.rows, f);
        dumbbell_find_reach(&d);
        axis_set(&d.p->x, "change", QUANTITY_PERCENT, "", AXIS_LINEAR);
        d.p->x.low = d.reach[0];
        d.p->x.high = d.reach[1];
        double delta = d.rows.comparison->settings.delta;
        char label[64];
        snprintf(label, sizeof(label), "±%.3g %% does not matter", delta * 100);
        struct layer *rules = panel_stroke(d.p, MARK_RULES, label, INK_GREY, DASH_SHORT, 1);
        layer_add(rules, -delta, NAN);
        layer_add(rules, delta, NAN);
        struct layer *zero = panel_stroke(d.p, MARK_RULES, NULL, INK_GREY, DASH_SOLID, 1);
        layer_add(zero, 0, NAN);
        struct layer *links = panel_stroke(d.p, MARK_SEGMENTS, NULL, INK_LIGHT, DASH_SOLID, 5);
        struct layer *intervals = panel_layer(d.p, MARK_INTERVALS, "90 % interval");
        struct layer *base = panel_layer(d.p, MARK_POINTS, "base");
        links->across = intervals->across = true;
        intervals->style.width = 1.4;
        base->style.ink = INK_GREY;
        base->style.hollow = true;
        for (size_t i = 0; i < d.rows.nr; i++) {
            const struct compare_row *row = d.rows.items[i];
            dumbbell_add_span(&d, links, i, 0, row->change);
            if (isfinite(row->interval.low) && isfinite(row->interval.high))
                dumbbell_add_span(&d, intervals, i, row->interval.low, row->interval.high);
            layer_add(base, 0, (double)i);
        }
        dumbbell_add_heads(&d);
        dumbbell_words(&d);
    }
    compare_rows_release(&d.rows);
}
