/* SPDX-License-Identifier: MIT */
/* What no figure can show is left out before ranges are looked for. */
#include "output/figure_parts.h"

#include <math.h>

/* NaN means nothing, and an infinite end is that of the axis: neither has a place. */
static bool is_beyond(const struct axis *axis, double value)
{
    double size = fabs(value);

    if (!isfinite(value) || axis->scale == AXIS_CATEGORY)
        return false;
    return size > FIGURE_MOST || (axis->scale == AXIS_LOG && value > 0 && size < 1 / FIGURE_MOST);
}

static bool leaves_figure(const struct panel *p, const struct layer *s, const struct datum *d)
{
    const struct axis *low = s->follow || s->across ? &p->x : &p->y;
    const struct axis *high = s->across && !s->follow ? &p->x : &p->y;

    return is_beyond(&p->x, d->x) || is_beyond(&p->y, d->y) || is_beyond(low, d->low) ||
           is_beyond(high, d->high);
}

/* As if it had not been there; a line has a gap. */
static size_t bound_layer(const struct panel *p, struct layer *s)
{
    size_t left_out = 0;

    for (size_t i = 0; i < s->nr; i++) {
        struct datum *d = &s->items[i];
        if (!leaves_figure(p, s, d))
            continue;
        d->x = d->y = d->low = d->high = NAN;
        left_out += s->mark != MARK_TEXT;
    }
    return left_out;
}

void figure_bound(struct figure *f)
{
    size_t left_out = 0;

    for (size_t i = 0; i < f->nr_panels; i++)
        for (size_t k = 0; k < f->panels[i]->nr; k++)
            left_out += bound_layer(f->panels[i], f->panels[i]->layers[k]);
    if (left_out)
        figure_set(&f->caption, "%s%s%zu mark%s beyond what a figure can show (%.0e) %s left out.",
                   f->caption ? f->caption : "", f->caption ? " " : "", left_out,
                   left_out == 1 ? "" : "s", FIGURE_MOST, left_out == 1 ? "is" : "are");
}
