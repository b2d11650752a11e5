/* SPDX-License-Identifier: MIT */
#include "figure/figure_base.h"

#include "base/memory.h"
#include "text/textwidth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct placed_text *figure_text(struct figure *f, enum text_role role, double x, double y,
                                double size, const char *text, size_t length)
{
    f->texts = array_grow(f->texts, f->nr_texts, &f->texts_capacity, sizeof(*f->texts));
    struct placed_text *t = &f->texts[f->nr_texts++];
    *t = (struct placed_text) { .role = role, .x = x, .y = y, .size = size, .ink = INK_DARK };
    t->text = memory_zeroed(length + 1, 1);
    memcpy(t->text, text, length);
    return t;
}

struct placed_text *figure_text_elided(struct figure *f, enum text_role role, double x, double y,
                                       double size, bool bold, double room, const char *text)
{
    char *shorter = text_elide(text, size * (bold ? 1.14 : 1), room);
    struct placed_text *t = figure_text(f, role, x, y, size, shorter, strlen(shorter));

    t->bold = bold;
    free(shorter);
    return t;
}

double figure_widest_tick(const struct ticks *ticks)
{
    double widest = 0;

    for (size_t i = 0; i < ticks->nr; i++)
        widest = fmax(widest, text_width(ticks->items[i].text, SMALL_SIZE, false));
    return widest;
}
