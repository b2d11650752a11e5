/* SPDX-License-Identifier: MIT */
/* The strip that says what the colours of points mean. */
#include "output/figure_axis.h"
#include "output/figure_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BEFORE = 22, STRIP = 14, TICK = 8, TICKS_MOST = 5, HEIGHT_MOST = 320, TEXT_APART = 16 };

/* Ticks as an axis would have them, then moved to where they are on the strip. */
static void make_ticks(struct scale_bar *bar)
{
    struct axis axis = { .scale = bar->log ? AXIS_LOG : AXIS_LINEAR,
                         .quantity = bar->quantity,
                         .low = bar->low,
                         .high = bar->high };
    char *label = bar->label;

    memcpy(axis.base, bar->base, sizeof(axis.base));
    struct unit unit = axis_unit(&axis, bar->low, bar->high);
    if (unit.name[0]) { /* that the scale is logarithmic its ticks say */
        bar->label = NULL;
        figure_set(&bar->label, "%s (%s)", label, unit.name);
        free(label);
    }
    axis_ticks(&axis, TICKS_MOST);
    for (size_t i = 0; i < axis.ticks.nr; i++) {
        const struct tick *t = &axis.ticks.items[i];
        ticks_add(&bar->ticks, axis_share(&axis, t->at), t->text, t->minor);
    }
    ticks_release(&axis.ticks);
}

double figure_bar_fit(struct figure *f)
{
    struct scale_bar *bar = &f->bar;

    if (bar->label && !(bar->high > bar->low)) { /* one value: the text in the cells says it */
        free(bar->label);
        bar->label = NULL;
    }
    if (!bar->label)
        return 0;
    make_ticks(bar);
    return BEFORE + STRIP + TICK + figure_widest_tick(&bar->ticks) + LABEL_SIZE * 1.8;
}

/* Even steps on a logarithmic scale crowd at its end: what would lie over the text before it has
 * none. */
static void thin_texts(struct ticks *ticks, double height)
{
    double last = -INFINITY;

    for (size_t i = 0; i < ticks->nr; i++) {
        double at = ticks->items[i].at * height;
        if (!ticks->items[i].text[0])
            continue;
        if (at - last < TEXT_APART)
            ticks->items[i].text[0] = '\0';
        else
            last = at;
    }
}

void figure_bar_place(struct figure *f, double width)
{
    struct scale_bar *bar = &f->bar;
    const struct rect *area = &f->panels[0]->area;

    if (!bar->label)
        return;
    double height = fmin(area->height, HEIGHT_MOST), x = f->width - PAD;
    bar->box =
        (struct rect) { x - width + BEFORE, area->y + (area->height - height) / 2, STRIP, height };
    thin_texts(&bar->ticks, height);
    struct placed_text *t =
        figure_text_elided(f, TEXT_AXIS, x - LABEL_SIZE * 0.6, bar->box.y + height / 2, LABEL_SIZE,
                           false, fmax(area->height + 40, 160), bar->label);
    t->angle = 90;
    t->anchor = ANCHOR_CENTRE;
}
