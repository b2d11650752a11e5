/* SPDX-License-Identifier: MIT */
#include "output/trend_marks.h"

#include "base/memory.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double place(const struct trend *trend, const int *position, size_t point)
{
    return position[trend->series->items[point].run];
}

/* Between the last run of the old level and the first one of the new. */
static double border(const struct trend *trend, const int *position, size_t point)
{
    return (place(trend, position, point - 1) + place(trend, position, point)) / 2;
}

/* On the side of the line that has more room, below the letters of changed surroundings. */
static void add_label(struct layer *texts, const struct trend_step *step, double x, double y,
                      bool left)
{
    char text[TEXT_UNIT_SIZE + 64], change[TEXT_UNIT_SIZE];

    text_percent(step->change, change);
    if (step->accepted)
        snprintf(text, sizeof(text), "%s, accepted: %.36s", change, step->accepted->reason);
    else
        snprintf(text, sizeof(text), "%s%s", change, step->epoch ? ", surroundings" : "");
    struct datum *d = layer_add_text(texts, x, y, left ? ANCHOR_RIGHT : ANCHOR_LEFT, text);
    d->dx = left ? -5 : 5;
    d->dy = 15;
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

static void add_steps(struct panel *p, const struct trend *trend, const int *position, double top)
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
        add_label(texts, step, x, top, x - first > last - x);
        from = x;
    }
}

/* The line that halves the points, at the drift's slope on the log scale. */
static double drift_middle(const struct series *s, double slope)
{
    double *rest = memory_zeroed(s->nr, sizeof(*rest));

    for (size_t i = 0; i < s->nr; i++)
        rest[i] = log(s->items[i].value) - slope * ((double)i - (double)(s->nr - 1) / 2);
    double middle = stats_median(rest, s->nr);
    free(rest);
    return middle;
}

static void add_drift(struct panel *p, const struct trend *trend, const int *position)
{
    const struct series *s = trend->series;
    double total = log1p(trend->drift.total), slope = total / (double)(s->nr - 1);
    double middle = drift_middle(s, slope);
    char label[TEXT_UNIT_SIZE + 64], change[TEXT_UNIT_SIZE];

    snprintf(label, sizeof(label), "drift, %s in all", text_percent(trend->drift.total, change));
    struct layer *line = panel_layer(p, MARK_LINE, label);
    line->style.ink = INK_DARK;
    line->style.dash = DASH_DOT;
    line->style.width = 1.6;
    for (size_t i = 0; i < s->nr; i++)
        layer_add(line, place(trend, position, i),
                  exp(middle + slope * ((double)i - (double)(s->nr - 1) / 2)));
}

void trend_marks_add(struct panel *p, const struct trend *trend, const int *position, double top)
{
    if (trend->nr)
        add_steps(p, trend, position, top);
    if (trend->drifts)
        add_drift(p, trend, position);
}
