/* SPDX-License-Identifier: MIT */
#include "figure/figure_axis.h"

#include "base/memory.h"
#include "text/textwidth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_SIZE = 12, PLACED_ROOM = 44 };

struct range {
    double low, high;
};

static void axis_include(struct range *r, double value)
{
    if (!isfinite(value))
        return;
    r->low = isnan(r->low) ? value : fmin(r->low, value);
    r->high = isnan(r->high) ? value : fmax(r->high, value);
}

static bool runs_along(const struct layer *s, enum side side)
{
    return s->across == (side == SIDE_X);
}

static void axis_include_layer(struct range *r, const struct layer *s, const struct axis *axis,
                               enum side side)
{
    if (s->mark == MARK_TEXT)
        return;
    if (s->mark == MARK_BARS && runs_along(s, side) && axis->scale == AXIS_LINEAR)
        axis_include(r, 0);
    for (size_t i = 0; i < s->nr; i++) {
        const struct datum *d = &s->items[i];
        double ends[3] = { side == SIDE_X ? d->x : d->y, NAN, NAN };
        if (runs_along(s, side)) {
            ends[1] = d->low;
            ends[2] = d->high;
        }
        for (int k = 0; k < 3; k++)
            if (axis->scale != AXIS_LOG || ends[k] > 0)
                axis_include(r, ends[k]);
    }
}

struct unit axis_unit(struct axis *axis, double low, double high)
{
    bool log = axis->scale == AXIS_LOG;
    double typical = log ? sqrt(low * high) : fmax(fabs(low), fabs(high));
    /* Millions are read faster than 5000000; given ticks say their numbers as they are. */
    bool large = axis->quantity == QUANTITY_PLAIN && !log && typical >= 1e5 && axis->ticks.nr == 0;
    struct unit unit = unit_for(large ? QUANTITY_RATE : axis->quantity, axis->base, typical);
    char *label = axis->label;

    if (log && axis->quantity == QUANTITY_TIME)
        unit = (struct unit) { .factor = 1 };
    if (axis->scale == AXIS_NINES) /* its ticks say their unit */
        unit.name[0] = '\0';
    if (label && (unit.name[0] || log)) {
        axis->label = NULL;
        figure_set(&axis->label, "%s (%s%s%s)", label, unit.name, unit.name[0] && log ? ", " : "",
                   log ? "log scale" : "");
        free(label);
    }
    axis->factor = unit.factor;
    axis->low /= unit.factor;
    axis->high /= unit.factor;
    return unit;
}

static void axis_choose_unit(struct panel *p, struct axis *axis, enum side side, struct range *r)
{
    bool given = isfinite(axis->low) && isfinite(axis->high);

    if (axis->scale == AXIS_CATEGORY)
        return;
    axis_unit(axis, given ? axis->low : r->low, given ? axis->high : r->high);
    for (size_t i = 0; i < p->nr; i++) {
        struct layer *s = p->layers[i];
        for (size_t k = 0; k < s->nr; k++) {
            struct datum *d = &s->items[k];
            *(side == SIDE_X ? &d->x : &d->y) /= axis->factor;
            if (s->follow)
                *(side == SIDE_X ? &d->low : &d->high) /= axis->factor;
            else if (runs_along(s, side)) {
                d->low /= axis->factor;
                d->high /= axis->factor;
            }
        }
    }
    r->low /= axis->factor;
    r->high /= axis->factor;
}

static bool axis_has_bars(const struct panel *p, enum side side)
{
    for (size_t i = 0; i < p->nr; i++)
        if (p->layers[i]->mark == MARK_BARS && runs_along(p->layers[i], side))
            return true;
    return false;
}

static void widen_log(struct range *r)
{
    r->low /= 1.3;
    r->high *= 1.3;
}

/* Zero is shown where it is not far off: a cut axis makes small differences look large. */
static void widen_linear(struct range *r, bool bars)
{
    double pad = r->high > r->low ? (r->high - r->low) * 0.06 : fabs(r->high) * 0.1;

    if (pad == 0)
        pad = 1;
    if (r->low >= 0 && (bars || r->low <= 0.6 * r->high))
        r->low = 0;
    else
        r->low -= pad;
    if (r->high > 0 || !bars || r->high == r->low) /* bars of nothing but zeros have an axis, too */
        r->high += pad;
}

static struct range data_range(const struct panel *p, enum side side)
{
    struct range r = { NAN, NAN };

    for (size_t i = 0; i < p->nr; i++)
        axis_include_layer(&r, p->layers[i], side == SIDE_X ? &p->x : &p->y, side);
    return r;
}

bool axis_has_data(const struct panel *p, enum side side)
{
    return !isnan(data_range(p, side).low);
}

bool axis_fit(struct panel *p, enum side side)
{
    struct axis *axis = side == SIDE_X ? &p->x : &p->y;
    struct range r = data_range(p, side);

    if (isnan(r.low))
        r = (struct range) { axis->low, axis->high };
    if (!isfinite(r.low) || !isfinite(r.high))
        return false;
    axis_choose_unit(p, axis, side, &r);
    if (axis->scale == AXIS_LOG)
        widen_log(&r);
    else if (axis->scale == AXIS_LINEAR && !(axis->tight && r.high > r.low))
        widen_linear(&r, axis_has_bars(p, side));
    axis->low = isnan(axis->low) ? r.low : axis->low;
    axis->high = isnan(axis->high) ? r.high : axis->high;
    /* Ends that are too close for ticks between them, beside how large they are, move apart. */
    double least = fmax(fabs(axis->low), fabs(axis->high)) * 0x1p-40;
    if (axis->scale == AXIS_LINEAR && !(axis->high - axis->low >= least)) {
        axis->low -= least;
        axis->high += least;
    }
    return true;
}

/* What is linear along the axis, and back. */
static double to_linear_scale(const struct axis *axis, double value)
{
    if (axis->scale == AXIS_NINES)
        return -log10(1 - value * axis->factor);
    return axis->scale == AXIS_LOG ? log10(value) : value;
}

static double from_linear_scale(const struct axis *axis, double at)
{
    if (axis->scale == AXIS_NINES)
        return (1 - pow(10, -at)) / axis->factor;
    return axis->scale == AXIS_LOG ? pow(10, at) : at;
}

double axis_share(const struct axis *axis, double value)
{
    double low = to_linear_scale(axis, axis->low), high = to_linear_scale(axis, axis->high);
    double share = (to_linear_scale(axis, value) - low) / (high - low);

    return axis->reversed ? 1 - share : share;
}

double axis_value(const struct axis *axis, double share)
{
    double low = to_linear_scale(axis, axis->low), high = to_linear_scale(axis, axis->high);
    return from_linear_scale(axis, low + (axis->reversed ? 1 - share : share) * (high - low));
}

double panel_x(const struct panel *p, double x)
{
    return p->area.x + axis_share(&p->x, x) * p->area.width;
}

double panel_y(const struct panel *p, double y)
{
    return p->area.y + (1 - axis_share(&p->y, y)) * p->area.height;
}

/* Pixels that a text takes before and after its datum along the axis. */
static struct range text_extent(const struct datum *d, enum side side)
{
    static const double before[] = { [ANCHOR_LEFT] = 0, [ANCHOR_CENTRE] = 0.5, [ANCHOR_RIGHT] = 1 };

    if (side == SIDE_Y)
        return (struct range) { TEXT_SIZE * 0.7 + d->dy, TEXT_SIZE * 0.7 - d->dy };
    double width = text_width(d->text, TEXT_SIZE, false) + 4;
    double left = width * before[d->anchor];
    return (struct range) { left - d->dx, width - left + d->dx };
}

static bool axis_is_inside(const struct layer *s, enum side side)
{
    return s->mark == MARK_TEXT && !(s->place && side == SIDE_X) && !s->follow && !s->outside;
}

/* Pixels that a layer needs before and after a datum; labels whose places are still to be found
 * need some lines above their points, and below where that does not take the axis from its zero. */
static struct range room_for(const struct layer *s, const struct datum *d, const struct axis *axis,
                             enum side side)
{
    if (!s->place)
        return text_extent(d, side);
    return (struct range) { axis->scale == AXIS_LOG ? PLACED_ROOM : 0, PLACED_ROOM };
}

void axis_make_room(struct panel *p, enum side side, double length)
{
    struct axis *axis = side == SIDE_X ? &p->x : &p->y;
    double low = to_linear_scale(axis, axis->low), high = to_linear_scale(axis, axis->high);
    double new_low = low, new_high = high;

    for (size_t i = 0; axis->scale != AXIS_CATEGORY && i < p->nr; i++) {
        const struct layer *s = p->layers[i];
        for (size_t k = 0; axis_is_inside(s, side) && k < s->nr; k++) {
            const struct datum *d = &s->items[k];
            double at = to_linear_scale(axis, side == SIDE_X ? d->x : d->y);
            struct range need = room_for(s, d, axis, side);
            if (!isfinite(at) || at < low || at > high)
                continue;
            double room = fmax(length - need.high, length * 0.3);
            new_high = fmax(new_high, low + (at - low) * length / room);
            room = fmax(length - need.low, length * 0.3);
            new_low = fmin(new_low, high - (high - at) * length / room);
        }
    }
    axis->low = from_linear_scale(axis, new_low);
    axis->high = from_linear_scale(axis, new_high);
}

/* A change says its direction: "+10", not "10". */
static void sign_ticks(struct ticks *ticks)
{
    for (size_t i = 0; i < ticks->nr; i++) {
        struct tick *t = &ticks->items[i];
        if (t->at > 0 && t->text[0])
            figure_set(&t->text, "+%s", t->text);
    }
}

/* What counts something has no ticks between whole numbers. */
static int most_ticks(const struct axis *axis, int most)
{
    for (; axis->whole && most > 1; most--) {
        double step = ticks_step(axis->low, axis->high, most);
        if (step == floor(step))
            break;
    }
    return most;
}

void axis_ticks(struct axis *axis, int most)
{
    if (axis->scale == AXIS_CATEGORY || axis->ticks.nr > 0)
        return;
    if (axis->scale == AXIS_LOG) {
        enum quantity q = axis->quantity == QUANTITY_TIME ? QUANTITY_TIME : QUANTITY_PLAIN;
        ticks_log(&axis->ticks, axis->low, axis->high, most + most / 2, q, axis->base);
    } else {
        for (int finer = most; axis->ticks.nr < 3 && finer < most + 4; finer++) {
            ticks_release(&axis->ticks);
            ticks_linear(&axis->ticks, axis->low, axis->high, most_ticks(axis, finer));
        }
    }
    if (axis->quantity == QUANTITY_PERCENT)
        sign_ticks(&axis->ticks);
}
