/* SPDX-License-Identifier: MIT */
/* The legend of a figure: an entry a label, with a sample of every mark that has it; and the strip
 * that says what the colours of points and cells mean. */
#include "figure/figure_base.h"

#include "base/array.h"
#include "figure/figure_axis.h"
#include "text/textwidth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE_WIDTH = 28, BESIDE = 8, APART = 24 };

static void legend_add_sample(struct figure *f, struct rect box, const struct layer *s)
{
    f->samples = array_grow(f->samples, f->nr_samples, &f->samples_capacity, sizeof(*f->samples));
    f->samples[f->nr_samples++] = (struct legend_sample) { .box = box, .layer = s };
}

/* The box of the entry that has this label already, or NULL. */
static const struct rect *legend_find_entry(const struct figure *f, const char *label)
{
    for (size_t i = 0; i < f->nr_samples; i++)
        if (strcmp(f->samples[i].layer->label, label) == 0)
            return &f->samples[i].box;
    return NULL;
}

/* Nothing of it will be seen, so the legend leaves it out. */
static bool legend_is_empty(const struct layer *layer)
{
    return layer->nr < (layer->mark == MARK_LINE || layer->mark == MARK_STEPS ? 2 : 1);
}

/* The same series in several panels needs one sample. */
static bool legend_is_sampled(const struct figure *f, const struct layer *layer)
{
    for (size_t i = 0; i < f->nr_samples; i++) {
        const struct layer *other = f->samples[i].layer;
        if (other->mark == layer->mark && strcmp(other->label, layer->label) == 0)
            return true;
    }
    return false;
}

struct pen {
    double x, y;
};

static void legend_add_entry(struct figure *f, struct pen *pen, const struct layer *s)
{
    const struct rect *known = legend_find_entry(f, s->label);

    if (known) {
        if (!legend_is_sampled(f, s))
            legend_add_sample(f, *known, s);
        return;
    }
    double row = SMALL_SIZE * 1.7, room = f->width - 2 * PAD - SAMPLE_WIDTH - BESIDE;
    double width = fmin(text_width(s->label, SMALL_SIZE, false), room);
    if (pen->x > PAD && pen->x + SAMPLE_WIDTH + BESIDE + width > f->width - PAD) {
        pen->x = PAD;
        pen->y += row;
    }
    legend_add_sample(f, (struct rect) { pen->x, pen->y + row / 2 - 6, SAMPLE_WIDTH, 12 }, s);
    figure_text_elided(f, TEXT_LEGEND, pen->x + SAMPLE_WIDTH + BESIDE, pen->y + row / 2, SMALL_SIZE,
                       false, room, s->label);
    pen->x += SAMPLE_WIDTH + BESIDE + width + APART;
}

double figure_legend(struct figure *f, double top)
{
    struct pen pen = { PAD, top };

    for (size_t i = 0; !f->no_legend && i < f->nr_panels; i++) {
        for (size_t k = 0; k < f->panels[i]->nr; k++) {
            const struct layer *s = f->panels[i]->layers[k];
            if (s->label && !legend_is_empty(s))
                legend_add_entry(f, &pen, s);
        }
    }
    return f->nr_samples ? pen.y + SMALL_SIZE * 1.7 + 6 - top : 0;
}

/* The strip that says what the colours of points mean. */

enum { BEFORE = 22, STRIP = 14, TICK = 8, TICKS_MOST = 5, HEIGHT_MOST = 320, TEXT_APART = 16 };

/* Ticks as an axis would have them, then moved to where they are on the strip. */
static void legend_make_ticks(struct scale_bar *bar)
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
    legend_make_ticks(bar);
    return BEFORE + STRIP + TICK + figure_widest_tick(&bar->ticks) + LABEL_SIZE * 1.8;
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
    /* Even steps on a logarithmic scale crowd at its end: what would lie over the text before it
     * has none. */
    double last = -INFINITY;
    for (size_t i = 0; i < bar->ticks.nr; i++) {
        double at = bar->ticks.items[i].at * height;
        if (!bar->ticks.items[i].text[0])
            continue;
        if (at - last < TEXT_APART)
            bar->ticks.items[i].text[0] = '\0';
        else
            last = at;
    }
    struct placed_text *t =
        figure_text_elided(f, TEXT_AXIS, x - LABEL_SIZE * 0.6, bar->box.y + height / 2, LABEL_SIZE,
                           false, fmax(area->height + 40, 160), bar->label);
    t->angle = 90;
    t->anchor = ANCHOR_CENTRE;
}
