/* SPDX-License-Identifier: MIT */
#include "figure/figure.h"

#include "base/memory.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const marks[MARK_NR] = {
    [MARK_LINE] = "line",         [MARK_STEPS] = "steps", [MARK_POINTS] = "points",
    [MARK_BARS] = "bars",         [MARK_BOXES] = "boxes", [MARK_INTERVALS] = "whiskers",
    [MARK_SEGMENTS] = "segments", [MARK_BAND] = "band",   [MARK_CELLS] = "cells",
    [MARK_ARROWS] = "arrows",     [MARK_TEXT] = "text",   [MARK_RULES] = "rules",
};

const char *mark_name(enum mark mark)
{
    return marks[mark];
}

struct figure *figure_create(const char *id, const char *title)
{
    struct figure *f = memory_zeroed(1, sizeof(*f));

    f->id = memory_string(id);
    f->title = memory_string(title);
    f->columns = 1;
    f->width = 1200;
    return f;
}

static void layer_free(struct layer *s)
{
    for (size_t i = 0; i < s->nr; i++)
        free(s->items[i].text);
    free(s->items);
    free(s->label);
    free(s);
}

static void axis_release(struct axis *axis)
{
    ticks_release(&axis->ticks);
    ticks_release(&axis->places);
    free(axis->label);
}

static void panel_free(struct panel *p)
{
    for (size_t i = 0; i < p->nr; i++)
        layer_free(p->layers[i]);
    free(p->layers);
    axis_release(&p->x);
    axis_release(&p->y);
    free(p->title);
    free(p->rows);
    free(p);
}

void figure_free(struct figure *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->nr_panels; i++)
        panel_free(f->panels[i]);
    for (size_t i = 0; i < f->nr_texts; i++)
        free(f->texts[i].text);
    free(f->panels);
    free(f->texts);
    free(f->samples);
    ticks_release(&f->bar.ticks);
    figure_names_release(&f->benchmarks);
    figure_names_release(&f->runs);
    char *strings[] = { f->id,     f->title,  f->subtitle, f->caption,  f->alt,
                        f->banner, f->reason, f->boxes,    f->bar.label };
    for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
        free(strings[i]);
    free(f);
}

void figure_set(char **member, const char *format, ...)
{
    va_list args, again;

    va_start(args, format);
    va_copy(again, args);
    size_t size = (size_t)vsnprintf(NULL, 0, format, args) + 1;
    char *text = memory_zeroed(size, 1);
    vsnprintf(text, size, format, again);
    va_end(again);
    va_end(args);
    free(*member);
    *member = text;
}

struct panel *figure_panel(struct figure *f)
{
    struct panel *p = memory_zeroed(1, sizeof(*p));

    p->figure = f;
    p->plot_height = 440;
    p->x.factor = p->y.factor = 1;
    p->x.low = p->x.high = p->y.low = p->y.high = NAN;
    f->panels = array_grow(f->panels, f->nr_panels, &f->panels_capacity, sizeof(*f->panels));
    f->panels[f->nr_panels++] = p;
    return p;
}

void axis_set(struct axis *axis, const char *label, enum quantity quantity, const char *base,
              enum axis_scale scale)
{
    free(axis->label);
    axis->label = memory_string(label);
    axis->quantity = quantity;
    snprintf(axis->base, sizeof(axis->base), "%s", base);
    axis->scale = scale;
}

void axis_names(struct axis *axis, const char *const *names, size_t nr, bool reversed)
{
    axis->scale = AXIS_CATEGORY;
    axis->reversed = reversed;
    axis->low = -0.5;
    axis->high = (double)nr - 0.5;
    ticks_names(&axis->ticks, names, nr);
}

struct layer *panel_layer(struct panel *p, enum mark mark, const char *label)
{
    struct layer *s = memory_zeroed(1, sizeof(*s));

    s->mark = mark;
    s->figure = p->figure;
    s->label = memory_string(label);
    s->style = (struct style) { .ink = INK_DARK, .width = 2, .size = 8, .opacity = 1 };
    p->layers = array_grow(p->layers, p->nr, &p->capacity, sizeof(*p->layers));
    p->layers[p->nr++] = s;
    return s;
}

struct datum *layer_add(struct layer *s, double x, double y)
{
    struct datum *d = array_push(s);

    *d = (struct datum) { .x = x, .y = y, .low = NAN, .high = NAN, .share = NAN, .size = NAN };
    d->about = s->figure->about;
    return d;
}

struct datum *layer_add_interval(struct layer *s, double at, double low, double high)
{
    struct datum *d = layer_add(s, s->across ? NAN : at, s->across ? at : NAN);

    d->low = low;
    d->high = high;
    return d;
}

struct datum *layer_add_text(struct layer *s, double x, double y, enum anchor anchor,
                             const char *text)
{
    struct datum *d = layer_add(s, x, y);

    d->text = memory_string(text);
    d->anchor = anchor;
    return d;
}

struct panel *figure_rows(struct figure *f, const char *const *names, size_t nr, double row,
                          double room)
{
    struct panel *p = figure_panel(f);

    axis_names(&p->y, names, nr, true);
    p->y.bare = true;
    p->plot_height = row * (double)nr + room;
    return p;
}

struct layer *panel_stroke(struct panel *p, enum mark mark, const char *label, enum ink ink,
                           enum dash dash, double width)
{
    struct layer *s = panel_layer(p, mark, label);

    s->style.ink = ink;
    s->style.dash = dash;
    s->style.width = width;
    return s;
}

struct layer *panel_points(struct panel *p, const char *label, enum ink ink, enum shape_kind shape,
                           double size)
{
    struct layer *s = panel_layer(p, MARK_POINTS, label);

    s->style.ink = ink;
    s->style.shape = shape;
    s->style.size = size;
    return s;
}

struct layer *panel_whiskers(struct panel *p, const char *label, double width)
{
    struct layer *s = panel_stroke(p, MARK_INTERVALS, label, INK_DARK, DASH_SOLID, width);

    s->across = true;
    return s;
}

struct layer *panel_bars(struct panel *p, const char *label, enum ink ink)
{
    struct layer *bars = panel_layer(p, MARK_BARS, label);

    bars->across = true;
    bars->style.ink = ink;
    return bars;
}

struct layer *panel_texts(struct panel *p, enum ink ink, bool bold)
{
    struct layer *texts = panel_layer(p, MARK_TEXT, NULL);

    texts->style.ink = ink;
    texts->style.bold = bold;
    return texts;
}

struct layer *panel_amounts(struct panel *p, const char *label, enum ink ink)
{
    if (p->x.scale != AXIS_LOG)
        return panel_bars(p, label, ink);
    p->y.bare = false; /* a line leads from the name to its dot */
    return panel_points(p, label, ink, SHAPE_CIRCLE, 11);
}

struct layer *panel_outside(struct panel *p)
{
    struct layer *texts = panel_layer(p, MARK_TEXT, NULL);

    texts->outside = true;
    return texts;
}

void layer_add_outside(struct layer *s, size_t row, const char *text)
{
    layer_add_text(s, 0, (double)row, ANCHOR_LEFT, text);
}

struct panel *figure_table(struct figure *f, const char *head, const char *const *names, size_t nr,
                           double row)
{
    struct panel *p = figure_rows(f, names, nr, row, row + 4);
    struct layer *ground = panel_bars(p, NULL, INK_LIGHT);
    struct layer *line = panel_stroke(p, MARK_RULES, NULL, INK_GREY, DASH_SOLID, 1);

    p->y.low = -1.5;
    ticks_add(&p->y.ticks, -1, head, false);
    axis_set(&p->x, NULL, QUANTITY_PLAIN, "", AXIS_LINEAR);
    p->x.low = 0;
    p->x.high = 1;
    p->x.bare = true;
    ticks_add(&p->x.ticks, 0, "", false);
    ground->thickness = 1;
    ground->style.opacity = 0.35;
    for (size_t i = 1; i < nr; i += 2)
        layer_add(ground, 1, (double)i)->low = 0;
    layer_add(line, NAN, -0.5);
    return p;
}

void figure_scale_bar(struct figure *f, const char *label, enum quantity quantity, const char *base,
                      double low, double high, bool log)
{
    struct scale_bar *bar = &f->bar;

    figure_set(&bar->label, "%s", label);
    snprintf(bar->base, sizeof(bar->base), "%s", base);
    bar->quantity = quantity;
    bar->low = low;
    bar->high = high;
    bar->log = log;
}

void style_nth(struct style *style, size_t n)
{
    static const enum shape_kind shapes[] = { SHAPE_CIRCLE, SHAPE_SQUARE, SHAPE_TRIANGLE_UP,
                                              SHAPE_DIAMOND, SHAPE_TRIANGLE_DOWN };

    style->ink = (enum ink)(n % PALETTE_HUES);
    style->shape = shapes[n % (sizeof(shapes) / sizeof(shapes[0]))];
    style->dash = (enum dash)(n / PALETTE_HUES % DASH_NR);
    style->hollow = n / PALETTE_HUES % 2 == 1;
}
