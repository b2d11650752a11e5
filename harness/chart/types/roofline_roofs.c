/* SPDX-License-Identifier: MIT */
#include "chart/types/roofline_roofs.h"

#include "text/textwidth.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Pixels: the plot area is about this wide, labels keep this far apart. */
enum { AREA_WIDTH = 1040, LABEL_GAP = 24, POINT_ROOM = 14, RULE_ROOM = 6, TEXT_SIZE = 12 };

double roof_value(const struct roof *c)
{
    return c->value > 0 ? c->value : c->spec;
}

/* The measured one, or else one that is given alone. */
static const struct roof *roofs_find(const struct metric_context *context, const char *name,
                                     const char *device)
{
    const struct roof *measured = roof_find(context, name, device);

    for (size_t i = 0; !measured && i < context->nr_roofs; i++) {
        const struct roof *c = &context->roofs[i];
        if (strcmp(c->name, name) == 0 && strcmp(c->device, device) == 0 && c->spec > 0)
            return c;
    }
    return measured;
}

static void roofs_add_math(struct roofs *roofs, const struct roof *c)
{
    size_t at = roofs->nr_maths;

    for (size_t i = 0; i < roofs->nr_maths; i++)
        if (roofs->maths[i] == c)
            return;
    if (!c || at == ROOF_MATHS_MAX)
        return;
    for (; at > 0 && roof_value(roofs->maths[at - 1]) < roof_value(c); at--)
        roofs->maths[at] = roofs->maths[at - 1];
    roofs->maths[at] = c;
    roofs->nr_maths++;
}

void roofs_init(struct roofs *roofs, const struct metric_context *context, const char *device,
                const char *const *maths, size_t nr_maths)
{
    *roofs = (struct roofs) { .given = "data sheet" };
    for (int level = 0; level < LEVEL_NR; level++)
        roofs->levels[level] =
            roofs_find(context, memory_level_roof((enum memory_level)level), device);
    for (size_t i = 0; i < nr_maths; i++) {
        char name[64];
        snprintf(name, sizeof(name), "flops.%s", maths[i]);
        roofs_add_math(roofs, roofs_find(context, name, device));
    }
}

/* Bandwidth of the fastest and the slowest level. */
static void roofs_find_bandwidths(const struct roofs *roofs, double *slowest, double *fastest)
{
    *slowest = INFINITY;
    *fastest = 0;
    for (int level = 0; level < LEVEL_NR; level++) {
        if (!roofs->levels[level])
            continue;
        *slowest = fmin(*slowest, roof_value(roofs->levels[level]));
        *fastest = fmax(*fastest, roof_value(roofs->levels[level]));
    }
}

void roofs_fit(struct roofs *roofs, double low, double high)
{
    double slowest, fastest;

    roofs_find_bandwidths(roofs, &slowest, &fastest);
    for (size_t i = 0; i < roofs->nr_maths && fastest > 0; i++) {
        low = fmin(low, roof_value(roofs->maths[i]) / fastest);
        high = fmax(high, roof_value(roofs->maths[i]) / slowest);
    }
    roofs->low = low / 8;
    roofs->high = high * 4;
}

/* The spread of a measured roof over its repetitions. */
static void roofs_add_spread(struct panel *p, const struct roof *c, double from, double to,
                             bool slope)
{
    struct layer *band = panel_layer(p, MARK_BAND, NULL);

    band->style.ink = INK_GREY;
    band->style.opacity = 0.18;
    for (int end = 0; end < 2; end++) {
        double x = end ? to : from, factor = slope ? x : 1;
        layer_add_interval(band, x, c->low * factor, c->high * factor);
    }
}

/* Labels of neighbouring roofs start at different places, or close roofs would have them over each
 * other. Neighbours are so by what was measured: a busy machine has a level out of its order. */
static double label_start(const struct roofs *roofs, double bandwidth, bool measured)
{
    int above = 0;

    for (int level = 0; level < LEVEL_NR; level++)
        above += roofs->levels[level] && roof_value(roofs->levels[level]) > bandwidth;
    return !measured ? 0.55 : above % 2 ? 0.3 : 0.03;
}

/* Is there a roof so little above this one that its line would run through a label in between? */
static bool close_above(const struct roofs *roofs, double bandwidth)
{
    for (int level = 0; level < LEVEL_NR; level++) {
        const struct roof *c = roofs->levels[level];
        if (c && roof_value(c) > bandwidth && roof_value(c) < 1.5 * bandwidth)
            return true;
    }
    return false;
}

/* One memory roof: up to the ridge, or to the right edge without a compute roof. */
static void roofs_add_memory_roof(const struct roofs *roofs, struct panel *p,
                                  enum memory_level level, double bandwidth, bool measured)
{
    bool dram = level == LEVEL_DRAM;
    double end = roofs->high;
    char text[128], value[QUANTITY_TEXT_SIZE];

    if (roofs->nr_maths)
        end = fmin(roof_value(roofs->maths[0]) / bandwidth, roofs->high);
    const struct roof *c = roofs->levels[level];
    if (measured && c->low > 0 && c->high > c->low)
        roofs_add_spread(p, c, roofs->low, end, true);
    struct layer *line = panel_stroke(p, MARK_LINE, NULL, dram ? INK_DARK : INK_GREY,
                                      !measured ? DASH_DOT
                                      : dram    ? DASH_SOLID
                                                : DASH_LONG,
                                      dram && measured ? 2.2 : 1);
    layer_add(line, roofs->low, roofs->low * bandwidth);
    layer_add(line, end, end * bandwidth);
    struct layer *texts = panel_layer(p, MARK_TEXT, NULL);
    texts->follow = true;
    texts->style.ink = line->style.ink;
    quantity_text(QUANTITY_RATE, "B/s", bandwidth, value);
    snprintf(text, sizeof(text), "%s %s %s", memory_level_name(level), value,
             measured ? "measured" : roofs->given);
    double start = roofs->low * pow(end / roofs->low, label_start(roofs, bandwidth, measured));
    struct datum *d = layer_add_text(texts, start, start * bandwidth, ANCHOR_LEFT, text);
    d->low = end;
    d->high = end * bandwidth;
    bool below = close_above(roofs, bandwidth);
    d->dx = below ? 5 : -4;
    d->dy = below ? 11 : -9;
}

/* A flat roof, as it will be labelled. */
struct flat {
    const struct roof *c;
    double rate;
    bool measured;
};

static size_t roofs_find_flats(const struct roofs *roofs, struct flat flats[2 * ROOF_MATHS_MAX])
{
    size_t nr = 0;

    for (size_t i = 0; i < roofs->nr_maths; i++) {
        const struct roof *c = roofs->maths[i];
        for (int given = 0; given < 2; given++) {
            double rate = given ? c->spec : c->value;
            size_t at = nr;
            if (!(rate > 0))
                continue;
            for (; at > 0 && flats[at - 1].rate < rate; at--)
                flats[at] = flats[at - 1];
            flats[at] = (struct flat) { c, rate, !given };
            nr++;
        }
    }
    return nr;
}

/* A line that runs through the label of the next lower one pushes it to the left. */
static double push_by_label(const struct flat *flats, size_t nth, double before, double width)
{
    bool crowded = nth > 0 && flats[nth - 1].rate < 1.5 * flats[nth].rate;

    return crowded ? before + width + LABEL_GAP : 0;
}

/* Pixels from the right edge. */
static double roofs_place_of(const struct roofs *roofs, double intensity)
{
    return AREA_WIDTH * log(roofs->high / intensity) / log(roofs->high / roofs->low);
}

/* Where DRAM stops being the limit; NaN without both roofs. */
static double roofs_ridge_of(const struct roofs *roofs)
{
    if (!roofs->nr_maths || !roofs->levels[LEVEL_DRAM])
        return NAN;
    return roof_value(roofs->maths[0]) / roof_value(roofs->levels[LEVEL_DRAM]);
}

/* Points that a label above a roof of this rate would touch, and the line at the ridge; the label's
 * right end is `end` from the edge. */
static size_t count_touched_points(const struct roofs *roofs, double rate, double end, double width)
{
    double rule = roofs_place_of(roofs, roofs_ridge_of(roofs));
    size_t nr = rule > end - RULE_ROOM && rule < end + width + RULE_ROOM;

    for (size_t i = 0; i < roofs->nr_marks; i++) {
        const struct roof_mark *m = &roofs->marks[i];
        double at = roofs_place_of(roofs, m->intensity);
        nr += m->rate > 0.8 * rate && m->rate < 2 * rate && at > end - POINT_ROOM &&
              at < end + width + POINT_ROOM;
    }
    return nr;
}

/* Where a label ends, as far to the right as points let it; it stays above its roof. */
static double label_end(const struct roofs *roofs, double rate, double ridge, double pushed_to,
                        double width)
{
    double best = pushed_to, last = fmin(roofs_place_of(roofs, ridge), AREA_WIDTH) - width;
    size_t least = count_touched_points(roofs, rate, pushed_to, width);

    for (double end = pushed_to; least && end < last; end += LABEL_GAP) {
        size_t nr = count_touched_points(roofs, rate, end, width);
        if (nr < least) {
            best = end;
            least = nr;
        }
    }
    return best;
}

static void roofs_add_flat_roofs(const struct roofs *roofs, struct panel *p)
{
    struct flat flats[2 * ROOF_MATHS_MAX];
    size_t nr = roofs_find_flats(roofs, flats);
    double slowest, fastest, before = 0, width = 0;

    roofs_find_bandwidths(roofs, &slowest, &fastest);
    for (size_t i = 0; i < nr; i++) {
        const struct flat *flat = &flats[i];
        double ridge = fastest > 0 ? fmax(roofs->low, flat->rate / fastest) : roofs->low;
        char text[128], value[QUANTITY_TEXT_SIZE];
        if (flat->measured && flat->c->low > 0 && flat->c->high > flat->c->low)
            roofs_add_spread(p, flat->c, ridge, roofs->high, false);
        struct layer *line =
            panel_stroke(p, MARK_LINE, NULL, INK_DARK, flat->measured ? DASH_SOLID : DASH_DOT,
                         flat->measured ? 2.2 : 1);
        layer_add(line, ridge, flat->rate);
        layer_add(line, roofs->high, flat->rate);
        quantity_text(QUANTITY_RATE, "FLOP/s", flat->rate, value);
        snprintf(text, sizeof(text), "%s peak %s %s", flat->c->name + strlen("flops."), value,
                 flat->measured ? "measured" : roofs->given);
        before = push_by_label(flats, i, before, width);
        width = text_width(text, TEXT_SIZE, false);
        before = label_end(roofs, flat->rate, ridge, before, width);
        struct layer *texts = panel_layer(p, MARK_TEXT, NULL);
        struct datum *d =
            layer_add_text(texts, roofs->high * pow(roofs->low / roofs->high, before / AREA_WIDTH),
                           flat->rate, ANCHOR_RIGHT, text);
        d->dx = -6;
        d->dy = -10;
    }
}

static void roofs_add_ridge(const struct roofs *roofs, struct panel *p)
{
    double ridge = roofs_ridge_of(roofs);
    char text[64];

    if (isnan(ridge))
        return;
    struct layer *rule = panel_stroke(p, MARK_RULES, NULL, INK_GREY, DASH_DOT, 1);
    layer_add(rule, ridge, NAN);
    struct layer *texts = panel_layer(p, MARK_TEXT, NULL);
    texts->style.ink = INK_GREY;
    snprintf(text, sizeof(text), "ridge %.3g FLOP/byte", ridge);
    struct datum *d = layer_add_text(texts, ridge, p->y.low, ANCHOR_LEFT, text);
    d->dx = 6;
    d->dy = -10;
}

void roofs_add(const struct roofs *roofs, struct panel *p)
{
    for (int level = 0; level < LEVEL_NR; level++) {
        const struct roof *c = roofs->levels[level];
        if (c && c->value > 0)
            roofs_add_memory_roof(roofs, p, (enum memory_level)level, c->value, true);
        if (c && c->spec > 0 && (level == LEVEL_DRAM || !(c->value > 0)))
            roofs_add_memory_roof(roofs, p, (enum memory_level)level, c->spec, false);
    }
    roofs_add_flat_roofs(roofs, p);
    roofs_add_ridge(roofs, p);
}
