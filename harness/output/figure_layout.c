/* SPDX-License-Identifier: MIT */
/* figure_finish(): where everything goes. Heights add up from the top: title, subtitle, banner,
 * legend, rows of panels, caption. Margins come from the widths of the tick texts. */
#include "output/figure_axis.h"
#include "output/figure_place.h"
#include "output/textwidth.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PAD = 24, /* around the figure */
    GAP = 36, /* between panels side by side */
    TITLE_SIZE = 20,
    PANEL_SIZE = 14,
    LABEL_SIZE = 13,
    SMALL_SIZE = 12, /* ticks, legend, caption, data */
    SAMPLE_WIDTH = 28,
};

static struct placed_text *place_text(struct figure *f, enum text_role role, double x, double y,
                                      double size, const char *text, size_t length)
{
    f->texts = array_grow(f->texts, f->nr_texts, &f->texts_capacity, sizeof(*f->texts));
    struct placed_text *t = &f->texts[f->nr_texts++];
    *t = (struct placed_text) { .role = role, .x = x, .y = y, .size = size, .ink = INK_DARK };
    t->text = memory_zeroed(length + 1, 1);
    memcpy(t->text, text, length);
    return t;
}

/* Wraps a text over the figure's width; returns the height it took. */
static double place_wrapped(struct figure *f, enum text_role role, double top, double size,
                            bool bold, enum ink ink, const char *text)
{
    double line = size * 1.45, y = top, room = f->width - 2 * PAD;

    while (text && *text) {
        const char *newline = strchr(text, '\n');
        size_t length = text_line(text, size * (bold ? 1.14 : 1), room);
        if (newline && newline < text + length)
            length = (size_t)(newline - text);
        struct placed_text *t = place_text(f, role, PAD, y + line / 2, size, text, length);
        t->bold = bold;
        t->ink = ink;
        y += line;
        text += length;
        text += *text == ' ' || *text == '\n';
    }
    return y - top;
}

/* A text that has one line's room at most, in a bold or plain font. */
static struct placed_text *place_elided(struct figure *f, enum text_role role, double x, double y,
                                        double size, bool bold, double room, const char *text)
{
    char *shorter = text_elide(text, size * (bold ? 1.14 : 1), room);
    struct placed_text *t = place_text(f, role, x, y, size, shorter, strlen(shorter));

    t->bold = bold;
    free(shorter);
    return t;
}

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

/* Entries from left to right, wrapped; returns the height. */
static double place_legend(struct figure *f, double top)
{
    double x = PAD, y = top, row = SMALL_SIZE * 1.7;

    for (size_t i = 0; !f->no_legend && i < f->nr_panels; i++) {
        for (size_t k = 0; k < f->panels[i]->nr; k++) {
            const struct layer *s = f->panels[i]->layers[k];
            if (!s->label || is_empty(s))
                continue;
            const struct rect *known = find_entry(f, s->label);
            if (known) {
                if (!is_sampled(f, s))
                    add_sample(f, *known, s);
                continue;
            }
            double room = f->width - 2 * PAD - SAMPLE_WIDTH - 8;
            double width = fmin(text_width(s->label, SMALL_SIZE, false), room);
            if (x > PAD && x + SAMPLE_WIDTH + 8 + width > f->width - PAD) {
                x = PAD;
                y += row;
            }
            add_sample(f, (struct rect) { x, y + row / 2 - 6, SAMPLE_WIDTH, 12 }, s);
            place_elided(f, TEXT_LEGEND, x + SAMPLE_WIDTH + 8, y + row / 2, SMALL_SIZE, false, room,
                         s->label);
            x += SAMPLE_WIDTH + 8 + width + 24;
        }
    }
    return f->nr_samples ? y + row + 6 - top : 0;
}

static double widest_tick(const struct axis *axis)
{
    double widest = 0;

    for (size_t i = 0; i < axis->ticks.nr; i++)
        widest = fmax(widest, text_width(axis->ticks.items[i].text, SMALL_SIZE, false));
    return widest;
}

static bool twice(const struct ticks *ticks)
{
    for (size_t i = 0; i < ticks->nr; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(ticks->items[i].text, ticks->items[k].text) == 0)
                return true;
    return false;
}

/* Long category names lose their middle; where two would look alike all keep a number. */
static void elide_names(struct axis *axis, double room)
{
    if (axis->scale != AXIS_CATEGORY || widest_tick(axis) <= room)
        return;
    double number = text_width("#000 ", SMALL_SIZE, false);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < axis->ticks.nr; i++) {
            char **text = &axis->ticks.items[i].text;
            char *shorter = text_elide(*text, SMALL_SIZE, room - (pass ? number : 0));
            free(*text);
            *text = shorter;
            if (pass)
                figure_set(text, "#%zu %s", i + 1, shorter);
        }
        if (!twice(&axis->ticks))
            return;
    }
}

static double head_of(const struct panel *p)
{
    return p->title ? PANEL_SIZE * 1.9 : 6;
}

/* Turned tick texts need their height below the axis; upright ones a line. */
static double tick_depth(const struct axis *axis)
{
    double radians = axis->tick_angle * M_PI / 180;

    return SMALL_SIZE * 1.2 + widest_tick(axis) * sin(radians) + 8;
}

static double foot_of(const struct panel *p)
{
    return tick_depth(&p->x) + (p->x.label ? LABEL_SIZE * 2 : 4);
}

static void turn_names(struct axis *axis, double width)
{
    double cell = width / (axis->ticks.nr ? (double)axis->ticks.nr : 1);

    if (axis->scale == AXIS_CATEGORY && widest_tick(axis) > cell - 6)
        axis->tick_angle = 35;
}

/* Room for texts to the right of the plot area. */
static double outside_width(const struct panel *p)
{
    double widest = 0;

    for (size_t i = 0; i < p->nr; i++)
        for (size_t k = 0; p->layers[i]->outside && k < p->layers[i]->nr; k++)
            widest = fmax(widest, text_width(p->layers[i]->items[k].text, SMALL_SIZE, false) + 10);
    return widest;
}

static void put_outside(struct panel *p)
{
    for (size_t i = 0; i < p->nr; i++)
        for (size_t k = 0; p->layers[i]->outside && k < p->layers[i]->nr; k++) {
            p->layers[i]->items[k].x = p->x.high;
            p->layers[i]->items[k].dx = 10;
        }
}

/* A data text never takes more than half of its panel. */
static void elide_data_texts(struct panel *p, double width)
{
    for (size_t i = 0; i < p->nr; i++)
        for (size_t k = 0; p->layers[i]->mark == MARK_TEXT && k < p->layers[i]->nr; k++) {
            char **text = &p->layers[i]->items[k].text;
            char *shorter = text_elide(*text, SMALL_SIZE, width / 2);
            free(*text);
            *text = shorter;
        }
}

/* Sets the horizontal extent of the plot area within its cell, then all that depends on it. */
static void place_across(struct panel *p, double x, double width)
{
    double right = 10, left = p->y.label ? LABEL_SIZE * 1.8 : 0;

    elide_data_texts(p, width);
    elide_names(&p->y, width * 0.42);
    axis_ticks(&p->y, (int)fmax(3, p->plot_height / 60));
    left += widest_tick(&p->y) + 16;
    right += outside_width(p) + (p->x.scale != AXIS_CATEGORY ? 16 : 0);
    p->area.x = x + left;
    p->area.width = width - left - right;
    axis_make_room(p, SIDE_X, p->area.width);
    axis_ticks(&p->x, (int)fmax(3, p->area.width / 90));
    elide_names(&p->x, 220);
    turn_names(&p->x, p->area.width);
    put_outside(p);
}

static void place_panel_texts(struct figure *f, const struct panel *p, double x, double top)
{
    const struct rect *a = &p->area;
    struct placed_text *t;

    if (p->title)
        place_elided(f, TEXT_PANEL, x, top + PANEL_SIZE * 0.8, PANEL_SIZE, true,
                     a->x + a->width - x, p->title);
    if (p->y.label) {
        t = place_elided(f, TEXT_AXIS, x + LABEL_SIZE * 0.7, a->y + a->height / 2, LABEL_SIZE,
                         false, fmax(a->height, 160), p->y.label);
        t->angle = 90;
        t->anchor = ANCHOR_CENTRE;
    }
    if (p->x.label) {
        double y = a->y + a->height + tick_depth(&p->x) + LABEL_SIZE * 1.05;
        t = place_elided(f, TEXT_AXIS, a->x + a->width / 2, y, LABEL_SIZE, false, a->width,
                         p->x.label);
        t->anchor = ANCHOR_CENTRE;
    }
}

/* One row of panels; returns its height. */
static double place_row(struct figure *f, size_t first, size_t nr, double top)
{
    double cell = (f->width - 2 * PAD - GAP * (f->columns - 1)) / f->columns, height = 0;

    for (size_t i = 0; i < nr; i++)
        place_across(f->panels[first + i], PAD + (double)i * (cell + GAP), cell);
    for (size_t i = 0; i < nr; i++) {
        struct panel *p = f->panels[first + i];
        p->area.y = top + head_of(p);
        p->area.height = p->plot_height;
        height = fmax(height, head_of(p) + p->plot_height + foot_of(p));
        place_panel_texts(f, p, PAD + (double)i * (cell + GAP), top);
    }
    return height + 16;
}

/* Texts that follow a line get its angle on the paper. */
static void turn_texts(struct panel *p)
{
    for (size_t i = 0; i < p->nr; i++) {
        struct layer *s = p->layers[i];
        for (size_t k = 0; s->follow && k < s->nr; k++) {
            struct datum *d = &s->items[k];
            d->angle = atan2(panel_y(p, d->y) - panel_y(p, d->high),
                             panel_x(p, d->low) - panel_x(p, d->x)) *
                       180 / M_PI;
        }
    }
}

double panel_x(const struct panel *p, double x)
{
    return p->area.x + axis_share(&p->x, x) * p->area.width;
}

double panel_y(const struct panel *p, double y)
{
    return p->area.y + (1 - axis_share(&p->y, y)) * p->area.height;
}

static bool fit_panels(struct figure *f)
{
    for (size_t i = 0; i < f->nr_panels; i++) {
        struct panel *p = f->panels[i];
        bool x = axis_fit(p, SIDE_X), y = axis_fit(p, SIDE_Y);
        if (!x || !y)
            return false;
        axis_make_room(p, SIDE_Y, p->plot_height);
    }
    return f->nr_panels > 0;
}

void figure_finish(struct figure *f)
{
    if (f->reason)
        return;
    if (!fit_panels(f)) {
        figure_set(&f->reason, "there is no finite number to draw");
        return;
    }
    double y = PAD * 0.7;
    y += place_wrapped(f, TEXT_TITLE, y, TITLE_SIZE, true, INK_DARK, f->title);
    y += place_wrapped(f, TEXT_SUBTITLE, y, LABEL_SIZE, false, INK_GREY, f->subtitle);
    y += place_wrapped(f, TEXT_BANNER, y + 2, LABEL_SIZE, true, INK_VERMILLION, f->banner);
    y += 6;
    y += place_legend(f, y);
    for (size_t i = 0; i < f->nr_panels; i += (size_t)f->columns) {
        size_t left = f->nr_panels - i, nr = (size_t)f->columns;
        y += place_row(f, i, left < nr ? left : nr, y);
    }
    y += place_wrapped(f, TEXT_CAPTION, y + 4, SMALL_SIZE, false, INK_GREY, f->caption) + 4;
    f->height = ceil((y + PAD * 0.6) / 2) * 2;
    for (size_t i = 0; i < f->nr_panels; i++) {
        turn_texts(f->panels[i]);
        place_labels(f->panels[i]);
    }
}
