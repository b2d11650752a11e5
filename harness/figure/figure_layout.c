/* SPDX-License-Identifier: MIT */
/* figure_finish(): where everything goes. Heights add up from the top: title, subtitle, banner,
 * legend, rows of panels, caption. Margins come from the widths of the tick texts. */
#include "figure/figure_axis.h"
#include "figure/figure_base.h"
#include "text/textwidth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What no figure can show is left out before ranges are looked for. */

/* NaN means nothing, and an infinite end is that of the axis: neither has a place. */
static bool layout_is_beyond(const struct axis *axis, double value)
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

    return layout_is_beyond(&p->x, d->x) || layout_is_beyond(&p->y, d->y) ||
           layout_is_beyond(low, d->low) || layout_is_beyond(high, d->high);
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

enum { COLUMNS_MAX = 8, TURNED = 35, X_NAMES_MOST = 220 };

/* Wraps a text over the figure's width; returns the height it took. */
static double layout_place_wrapped(struct figure *f, enum text_role role, double top, double size,
                                   bool bold, enum ink ink, const char *text)
{
    double line = size * 1.45, y = top, room = f->width - 2 * PAD;

    while (text && *text) {
        const char *newline = strchr(text, '\n');
        size_t length = text_line(text, size * (bold ? 1.14 : 1), room);
        if (newline && newline < text + length)
            length = (size_t)(newline - text);
        struct placed_text *t = figure_text(f, role, PAD, y + line / 2, size, text, length);
        t->bold = bold;
        t->ink = ink;
        y += line;
        text += length;
        text += *text == ' ' || *text == '\n';
    }
    return y - top;
}

static bool layout_twice(const struct ticks *ticks)
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
    if (axis->scale != AXIS_CATEGORY || figure_widest_tick(&axis->ticks) <= room)
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
        if (!layout_twice(&axis->ticks))
            return;
    }
}

static double layout_head_of(const struct panel *p)
{
    return p->title ? PANEL_SIZE * 1.9 : 6;
}

/* Turned tick texts need their height below the axis; upright ones a line. */
static double tick_depth(const struct axis *axis)
{
    double radians = axis->tick_angle * M_PI / 180;

    return SMALL_SIZE * 1.2 + figure_widest_tick(&axis->ticks) * sin(radians) + 8;
}

static double layout_foot_of(const struct panel *p)
{
    return tick_depth(&p->x) + (p->x.label ? LABEL_SIZE * 2 : 4);
}

static void turn_names(struct axis *axis, double width)
{
    double cell = width / (axis->ticks.nr ? (double)axis->ticks.nr : 1);

    if (axis->scale == AXIS_CATEGORY && figure_widest_tick(&axis->ticks) > cell - 6)
        axis->tick_angle = TURNED;
}

/* How far turned names would reach to the left of a plot area of this width. */
static double overhang_of_names(const struct axis *axis, double width)
{
    struct axis turned = *axis;
    double most = 0;

    turn_names(&turned, width);
    for (size_t i = 0; turned.tick_angle > 0 && i < axis->ticks.nr; i++) {
        const struct tick *t = &axis->ticks.items[i];
        double text = text_width(t->text, SMALL_SIZE, false) * cos(TURNED * M_PI / 180);
        most = fmax(most, text - axis_share(axis, t->at) * width);
    }
    return most;
}

/* Room for texts to the right of the plot area. */
static double outside_width(const struct panel *p)
{
    double widest = 0;

    for (size_t i = 0; i < p->nr; i++)
        for (size_t k = 0; p->layers[i]->outside && k < p->layers[i]->nr; k++)
            widest = fmax(
                widest,
                text_width(p->layers[i]->items[k].text, SMALL_SIZE, p->layers[i]->style.bold) + 10);
    return widest;
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

struct margins {
    double left, right;
};

/* What stands beside the plot area of a panel in a cell this wide, whose names may take so much. */
static struct margins layout_fit_margins(struct panel *p, double width, double names)
{
    struct margins m = { p->y.label ? LABEL_SIZE * 1.8 : 0, 10 };

    elide_data_texts(p, width);
    elide_names(&p->y, names);
    elide_names(&p->x, X_NAMES_MOST);
    axis_ticks(&p->y, (int)fmax(3, p->plot_height / 60));
    for (size_t i = 0; p->joined && i < p->y.ticks.nr; i++)
        p->y.ticks.items[i].text[0] = '\0';
    m.left += figure_widest_tick(&p->y.ticks) + 16;
    m.right += outside_width(p) + (p->x.scale != AXIS_CATEGORY ? 16 : 0);
    m.left = fmax(m.left, overhang_of_names(&p->x, width - m.left - m.right));
    return m;
}

/* Sets the horizontal extent of the plot area, then all that depends on it. */
static void layout_place_across(struct panel *p, double x, double width)
{
    p->area.x = x;
    p->area.width = width;
    axis_make_room(p, SIDE_X, width);
    axis_ticks(&p->x, (int)fmax(3, width / 90));
    turn_names(&p->x, width);
    for (size_t i = 0; i < p->nr; i++)
        for (size_t k = 0; p->layers[i]->outside && k < p->layers[i]->nr; k++) {
            p->layers[i]->items[k].x = p->x.high;
            p->layers[i]->items[k].dx = 10;
        }
}

/* `x` is where the panel's cell begins; its axis label may reach as far as the cell on both sides.
 */
static void layout_place_panel_texts(struct figure *f, const struct panel *p, double x,
                                     struct margins margins, double top)
{
    const struct rect *a = &p->area;
    struct placed_text *t;

    if (p->title)
        figure_text_elided(f, TEXT_PANEL, p->joined ? a->x : x, top + PANEL_SIZE * 0.8, PANEL_SIZE,
                           true, a->x + a->width + margins.right - (p->joined ? a->x : x),
                           p->title);
    if (p->y.label) {
        t = figure_text_elided(f, TEXT_AXIS, x + LABEL_SIZE * 0.7, a->y + a->height / 2, LABEL_SIZE,
                               false, fmax(a->height, 160), p->y.label);
        t->angle = 90;
        t->anchor = ANCHOR_CENTRE;
    }
    if (p->x.label) {
        double y = a->y + a->height + tick_depth(&p->x) + LABEL_SIZE * 1.05;
        double beside = fmin(margins.left, margins.right);
        t = figure_text_elided(f, TEXT_AXIS, a->x + a->width / 2, y, LABEL_SIZE, false,
                               a->width + 2 * beside, p->x.label);
        t->anchor = ANCHOR_CENTRE;
    }
}

/* The margins that all panels of an aligned figure get. */
static struct margins widest_margins(struct figure *f, double width)
{
    struct margins widest = { 0, 0 };

    for (size_t i = 0; i < f->nr_panels; i++) {
        struct margins m = layout_fit_margins(f->panels[i], width, width * 0.42);
        widest.left = fmax(widest.left, m.left);
        widest.right = fmax(widest.right, m.right);
    }
    return widest;
}

/* One row of panels within `room` pixels; returns its height. */
static double layout_place_row(struct figure *f, size_t first, size_t nr, double room, double top)
{
    double cell = (room - GAP * (f->columns - 1)) / f->columns, height = 0, x = PAD;
    struct margins margins[COLUMNS_MAX];
    double left = (double)nr * cell; /* for the plot areas together */

    for (size_t i = 0; i < nr; i++) {
        bool leads = i + 1 < nr && f->panels[first + i + 1]->joined;
        margins[i] =
            layout_fit_margins(f->panels[first + i], cell, leads ? room * 0.32 : cell * 0.42);
        if (f->aligned)
            margins[i] = widest_margins(f, cell);
        left -= margins[i].left + margins[i].right;
    }
    for (size_t i = 0; i < nr; i++) {
        struct panel *p = f->panels[first + i];
        bool joined = p->joined || (i + 1 < nr && f->panels[first + i + 1]->joined);
        double width = joined ? left / (double)nr : cell - margins[i].left - margins[i].right;
        layout_place_across(p, x + margins[i].left, width);
        p->area.y = top + layout_head_of(p);
        p->area.height = p->plot_height;
        height = fmax(height, layout_head_of(p) + p->plot_height + layout_foot_of(p));
        layout_place_panel_texts(f, p, x, margins[i], top);
        x += margins[i].left + width + margins[i].right + GAP;
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

static bool layout_fit_panels(struct figure *f)
{
    bool any = false;

    for (size_t i = 0; i < f->nr_panels; i++) {
        struct panel *p = f->panels[i];
        any |= axis_has_data(p, SIDE_X) && axis_has_data(p, SIDE_Y);
        bool x = axis_fit(p, SIDE_X), y = axis_fit(p, SIDE_Y);
        if (!x || !y)
            return false;
        axis_make_room(p, SIDE_Y, p->plot_height);
    }
    return any;
}

/* Bands that reach as far as the axis does. */
static void layout_end_bands(struct panel *p)
{
    for (size_t i = 0; i < p->nr; i++) {
        struct layer *s = p->layers[i];
        const struct axis *along = s->across ? &p->x : &p->y;
        for (size_t k = 0; s->mark == MARK_BAND && k < s->nr; k++) {
            struct datum *d = &s->items[k];
            d->low = isinf(d->low) ? along->low : d->low;
            d->high = isinf(d->high) ? along->high : d->high;
        }
    }
}

static double layout_place_panels(struct figure *f, double top)
{
    double bar = figure_bar_fit(f), room = f->width - 2 * PAD - bar, y = top;
    size_t columns = (size_t)f->columns;

    for (size_t i = 0; i < f->nr_panels; i += columns) {
        size_t left = f->nr_panels - i;
        y += layout_place_row(f, i, left < columns ? left : columns, room, y);
    }
    figure_bar_place(f, bar);
    return y - top;
}

void figure_finish(struct figure *f)
{
    if (f->reason)
        return;
    f->columns = f->columns < COLUMNS_MAX ? f->columns : COLUMNS_MAX;
    size_t left_out = 0;
    for (size_t i = 0; i < f->nr_panels; i++)
        for (size_t k = 0; k < f->panels[i]->nr; k++)
            left_out += bound_layer(f->panels[i], f->panels[i]->layers[k]);
    if (left_out)
        figure_set(&f->caption, "%s%s%zu mark%s beyond what a figure can show (%.0e) %s left out.",
                   f->caption ? f->caption : "", f->caption ? " " : "", left_out,
                   left_out == 1 ? "" : "s", FIGURE_MOST, left_out == 1 ? "is" : "are");
    if (!layout_fit_panels(f)) {
        figure_set(&f->reason, "there is no finite number to draw");
        return;
    }
    double y = PAD * 0.7;
    y += layout_place_wrapped(f, TEXT_TITLE, y, TITLE_SIZE, true, INK_DARK, f->title);
    y += layout_place_wrapped(f, TEXT_SUBTITLE, y, LABEL_SIZE, false, INK_GREY, f->subtitle);
    y += layout_place_wrapped(f, TEXT_BANNER, y + 2, LABEL_SIZE, true, INK_VERMILLION, f->banner);
    y += 6;
    y += figure_legend(f, y);
    y += layout_place_panels(f, y);
    y += layout_place_wrapped(f, TEXT_CAPTION, y + 4, SMALL_SIZE, false, INK_GREY, f->caption) + 4;
    f->height = ceil((y + PAD * 0.6) / 2) * 2;
    for (size_t i = 0; i < f->nr_panels; i++) {
        layout_end_bands(f->panels[i]);
        turn_texts(f->panels[i]);
        figure_place_labels(f->panels[i]);
    }
}
