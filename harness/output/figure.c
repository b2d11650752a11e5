/* SPDX-License-Identifier: MIT */
#include "output/figure.h"

#include "base/memory.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const marks[MARK_NR] = {
    [MARK_LINE] = "line", [MARK_STEPS] = "steps",        [MARK_POINTS] = "points",
    [MARK_BARS] = "bars", [MARK_INTERVALS] = "whiskers", [MARK_SEGMENTS] = "segments",
    [MARK_BAND] = "band", [MARK_CELLS] = "cells",        [MARK_ARROWS] = "arrows",
    [MARK_TEXT] = "text", [MARK_RULES] = "rules",
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

static void panel_free(struct panel *p)
{
    for (size_t i = 0; i < p->nr; i++)
        layer_free(p->layers[i]);
    free(p->layers);
    ticks_release(&p->x.ticks);
    ticks_release(&p->y.ticks);
    free(p->x.label);
    free(p->y.label);
    free(p->title);
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
    char *strings[] = { f->id,  f->title,  f->subtitle, f->caption,
                        f->alt, f->banner, f->reason,   f->bar.label };
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
