/* SPDX-License-Identifier: MIT */
/* Of each part the first, last, lowest and highest datum stay (M4: Jugel and others,
 * "M4: a visualization-oriented time series data aggregation", VLDB 2014). */
#include "page/figure_thin.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

enum { KEPT_MOST = 5 }; /* of each part: the extremes in x and y, and a break */

size_t thin_index(size_t i, size_t of, size_t most)
{
    if (most >= of)
        return i;
    return most < 2 ? 0 : i * (of - 1) / (most - 1);
}

static bool thin_is_break(const struct layer *s, const struct datum *d)
{
    return s->mark == MARK_BAND ? isnan(d->low) : isnan(d->x) || isnan(d->y);
}

/* Data of their own count one by one. */
static bool thin_may(const struct layer *s)
{
    if (s->mark != MARK_LINE && s->mark != MARK_STEPS && s->mark != MARK_POINTS &&
        s->mark != MARK_BAND)
        return false;
    for (size_t i = 0; i < s->nr; i++)
        if (s->items[i].text || isfinite(s->items[i].size) || isfinite(s->items[i].share))
            return false;
    return true;
}

enum extreme { LEFTMOST, RIGHTMOST, LOWEST, HIGHEST, EXTREMES };

/* Greater is more extreme. */
static double thin_extremity(const struct layer *s, const struct datum *d, enum extreme which)
{
    double along = s->mark == MARK_BAND && s->across ? d->y : d->x;
    double low = s->mark == MARK_BAND ? d->low : d->y;
    double high = s->mark == MARK_BAND ? d->high : d->y;

    switch (which) {
    case LEFTMOST:
        return -along;
    case RIGHTMOST:
        return along;
    case LOWEST:
        return -low;
    default:
        return high;
    }
}

/* Marks what stays of the data from `begin` to before `end`. */
static void thin_choose(const struct layer *s, size_t begin, size_t end, bool *stays)
{
    bool broken = false;

    for (int which = 0; which < EXTREMES; which++) {
        size_t best = end;
        for (size_t i = begin; i < end; i++) {
            if (thin_is_break(s, &s->items[i]))
                continue;
            if (best == end || thin_extremity(s, &s->items[i], (enum extreme)which) >
                                   thin_extremity(s, &s->items[best], (enum extreme)which))
                best = i;
        }
        if (best < end)
            stays[best] = true;
    }
    for (size_t i = begin; i < end && !broken; i++)
        stays[i] |= broken = thin_is_break(s, &s->items[i]);
}

static size_t thin_layer(struct layer *s, size_t most)
{
    size_t parts = most / KEPT_MOST, kept = 0, before = s->nr;

    if (s->nr <= most || parts == 0 || !thin_may(s))
        return 0;
    bool *stays = memory_zeroed(s->nr, sizeof(*stays));
    for (size_t part = 0; part < parts; part++)
        thin_choose(s, part * s->nr / parts, (part + 1) * s->nr / parts, stays);
    for (size_t i = 0; i < s->nr; i++)
        if (stays[i])
            s->items[kept++] = s->items[i];
    s->nr = kept;
    free(stays);
    return before - kept;
}

size_t figure_thin(struct figure *f, size_t most)
{
    size_t left_out = 0;

    for (size_t i = 0; i < f->nr_panels; i++)
        for (size_t k = 0; k < f->panels[i]->nr; k++)
            left_out += thin_layer(f->panels[i]->layers[k], most);
    return left_out;
}

void figure_thin_and_tell(struct figure *f, size_t most)
{
    size_t left_out = figure_thin(f, most);
    char *caption = f->caption;

    if (!left_out)
        return;
    f->caption = NULL;
    figure_set(&f->caption, "%s%sOf long series, %zu points between the extremes are not shown.",
               caption ? caption : "", caption && *caption ? " " : "", left_out);
    free(caption);
}
