/* SPDX-License-Identifier: MIT */
/* The legend of a figure: an entry a label, with a sample of every mark that has it. */
#include "output/figure_parts.h"
#include "output/textwidth.h"

#include "base/array.h"

#include <math.h>
#include <string.h>

enum { SAMPLE_WIDTH = 28, BESIDE = 8, APART = 24 };

static void add_sample(struct figure *f, struct rect box, const struct layer *s)
{
    f->samples = array_grow(f->samples, f->nr_samples, &f->samples_capacity, sizeof(*f->samples));
    f->samples[f->nr_samples++] = (struct legend_sample) { .box = box, .layer = s };
}

/* The box of the entry that has this label already, or NULL. */
static const struct rect *find_entry(const struct figure *f, const char *label)
{
    for (size_t i = 0; i < f->nr_samples; i++)
        if (strcmp(f->samples[i].layer->label, label) == 0)
            return &f->samples[i].box;
    return NULL;
}

/* Nothing of it will be seen, so the legend leaves it out. */
static bool is_empty(const struct layer *layer)
{
    return layer->nr < (layer->mark == MARK_LINE || layer->mark == MARK_STEPS ? 2 : 1);
}

/* The same series in several panels needs one sample. */
static bool is_sampled(const struct figure *f, const struct layer *layer)
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

static void add_entry(struct figure *f, struct pen *pen, const struct layer *s)
{
    const struct rect *known = find_entry(f, s->label);

    if (known) {
        if (!is_sampled(f, s))
            add_sample(f, *known, s);
        return;
    }
    double row = SMALL_SIZE * 1.7, room = f->width - 2 * PAD - SAMPLE_WIDTH - BESIDE;
    double width = fmin(text_width(s->label, SMALL_SIZE, false), room);
    if (pen->x > PAD && pen->x + SAMPLE_WIDTH + BESIDE + width > f->width - PAD) {
        pen->x = PAD;
        pen->y += row;
    }
    add_sample(f, (struct rect) { pen->x, pen->y + row / 2 - 6, SAMPLE_WIDTH, 12 }, s);
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
            if (s->label && !is_empty(s))
                add_entry(f, &pen, s);
        }
    }
    return f->nr_samples ? pen.y + SMALL_SIZE * 1.7 + 6 - top : 0;
}
