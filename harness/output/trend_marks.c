/* SPDX-License-Identifier: MIT */
#include "output/trend_marks.h"

#include "base/memory.h"
#include "base/text.h"
#include "output/textwidth.h"
#include "output/trend_notes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXT_SIZE = 12, PANEL_WIDTH = 480 }; /* pixels; of the narrower of two panels, about */

static double place(const struct trend *trend, const int *position, size_t point)
{
    return position[trend->series->items[point].run];
}

/* Between the last run of the old level and the first one of the new. */
static double border(const struct trend *trend, const int *position, size_t point)
{
    return (place(trend, position, point - 1) + place(trend, position, point)) / 2;
}

/* In a row above the values, beside the line: on the side of the lower level there is most air,
 * unless it has no room for the text. `left_share`, `right_share`: shares of the panel there. */
static void add_label(struct layer *texts, const struct trend_step *step, double x, double y,
                      int row, double left_share, double right_share)
{
    char text[TEXT_UNIT_SIZE + 64], change[TEXT_UNIT_SIZE];

    text_percent(step->change, change);
    if (step->accepted)
        snprintf(text, sizeof(text), "%s, accepted: %.36s", change, step->accepted->reason);
    else
        snprintf(text, sizeof(text), "%s%s", change, step->epoch ? ", surroundings" : "");
    double need = (text_width(text, TEXT_SIZE, false) + 10) / PANEL_WIDTH;
    bool rises = step->after > step->before;
    bool left = rises ? left_share >= need || left_share > right_share
                      : right_share < need && left_share > right_share;
    struct datum *d = layer_add_text(texts, x, y, left ? ANCHOR_RIGHT : ANCHOR_LEFT, text);
    d->dx = left ? -5 : 5;
    d->dy = trend_notes_row(row);
}

static void add_level(struct layer *levels, double from, double to, double level)
{
    layer_add(levels, from, level);
    layer_add(levels, to, level);
    layer_add(levels, NAN, NAN);
}

/* Where the step may have come: after the run before `low`, by `high`. */
static void add_window(struct layer *window, const struct trend *trend, const int *position,
                       const struct trend_step *step)
{
    size_t from = step->low > 0 ? step->low - 1 : 0;

    layer_add_interval(window, place(trend, position, from), -INFINITY, INFINITY);
    layer_add_interval(window, place(trend, position, step->high), -INFINITY, INFINITY);
    layer_add(window, NAN, NAN);
}

static void add_steps(struct panel *p, const struct trend *trend, const int *position, double top,
                      int row)
{
    struct layer *window = panel_layer(p, MARK_BAND, "where the step may be");
    struct layer *rules = panel_layer(p, MARK_RULES, "step");
    struct layer *levels = panel_layer(p, MARK_LINE, "level");
    struct layer *texts = panel_layer(p, MARK_TEXT, NULL);
    double from = place(trend, position, 0) - 0.5;
    double first = from, last = place(trend, position, trend->series->nr - 1) + 0.5;

    window->style.ink = INK_GREY;
    window->style.opacity = 0.14;
    rules->style.ink = levels->style.ink = texts->style.ink = INK_DARK;
    rules->style.width = 1.6;
    levels->style.dash = DASH_SHORT;
    levels->style.width = 1.6;
    for (size_t i = 0; i < trend->nr; i++) {
        const struct trend_step *step = &trend->items[i];
        double x = border(trend, position, step->index);
        add_level(levels, from, x, step->before);
        if (i + 1 == trend->nr)
            add_level(levels, x, last, step->after);
        add_window(window, trend, position, step);
        layer_add(rules, x, NAN);
        add_label(texts, step, x, top, row, (x - first) / (last - first),
                  (last - x) / (last - first));
        from = x;
    }
}

/* Of the step's level that holds at a point; 1 without steps. */
static double level_at(const struct trend *trend, size_t point)
{
    double level = trend->nr ? trend->items[0].before : 1;

    for (size_t i = 0; i < trend->nr && trend->items[i].index <= point; i++)
        level = trend->items[i].after;
    return level;
}

/* The line that halves the points, at the drift's slope on the log scale; about their levels, where
 * there are steps, too. */
static double drift_middle(const struct trend *trend, double slope)
{
    const struct series *s = trend->series;
    double *rest = memory_zeroed(s->nr, sizeof(*rest));

    for (size_t i = 0; i < s->nr; i++)
        rest[i] = log(s->items[i].value / level_at(trend, i)) -
                  slope * ((double)i - (double)(s->nr - 1) / 2);
    double middle = stats_median(rest, s->nr);
    free(rest);
    return middle;
}

/* Its size stands at the end that the line is further from. */
static void add_drift_words(struct panel *p, const struct trend *trend, const int *position,
                            double top, int row)
{
    struct layer *texts = panel_layer(p, MARK_TEXT, NULL);
    char label[TEXT_UNIT_SIZE + 64], change[TEXT_UNIT_SIZE];
    bool rises = trend->drift.total > 0;
    double x = place(trend, position, rises ? 0 : trend->series->nr - 1);

    snprintf(label, sizeof(label), "drift, %s in all", text_percent(trend->drift.total, change));
    layer_add_text(texts, x, top, rises ? ANCHOR_LEFT : ANCHOR_RIGHT, label)->dy =
        trend_notes_row(row);
}

static void add_drift(struct panel *p, const struct trend *trend, const int *position)
{
    const struct series *s = trend->series;
    double total = log1p(trend->drift.total), slope = total / (double)(s->nr - 1);
    double middle = drift_middle(trend, slope);
    struct layer *line = panel_layer(p, MARK_LINE, "drift");

    line->style.ink = INK_DARK;
    line->style.dash = DASH_DOT;
    line->style.width = 1.6;
    for (size_t i = 0; i < s->nr; i++) {
        double level = level_at(trend, i);
        if (i > 0 && level != level_at(trend, i - 1))
            layer_add(line, NAN, NAN);
        layer_add(line, place(trend, position, i),
                  level * exp(middle + slope * ((double)i - (double)(s->nr - 1) / 2)));
    }
}

void trend_marks_add(struct panel *p, const struct trend *trend, const int *position, double top,
                     int rows)
{
    if (trend->nr)
        add_steps(p, trend, position, top, rows);
    if (trend->drifts) {
        add_drift(p, trend, position);
        add_drift_words(p, trend, position, top, rows + (trend->nr > 0));
    }
}
