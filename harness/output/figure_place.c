/* SPDX-License-Identifier: MIT */
#include "output/figure_place.h"

#include "base/array.h"
#include "output/figure_axis.h"
#include "output/textwidth.h"

#include <math.h>

enum { LABEL_SIZE = 12, LABEL_HEIGHT = 15, LEADER_FROM = 24 };

struct box {
    double left, top, right, bottom;
};

struct stroke {
    double x0, y0, x1, y1;
};

struct scene {
    ARRAY(struct box) labels;
    ARRAY(struct box) points;
    ARRAY(struct stroke) strokes;
};

/* Price of covering, in pixels of distance. */
static const double label_cost = 1000, point_cost = 250, stroke_cost = 90, outside_cost = 5000;

static double overlap(const struct box *a, const struct box *b)
{
    double width = fmin(a->right, b->right) - fmax(a->left, b->left);
    double height = fmin(a->bottom, b->bottom) - fmax(a->top, b->top);

    return width > 0 && height > 0;
}

/* Liang and Barsky's clipping: does the stroke enter the box? */
static bool crosses(const struct box *b, const struct stroke *s)
{
    double dx = s->x1 - s->x0, dy = s->y1 - s->y0, enter = 0, leave = 1;
    const double p[4] = { -dx, dx, -dy, dy };
    const double q[4] = { s->x0 - b->left, b->right - s->x0, s->y0 - b->top, b->bottom - s->y0 };

    for (int i = 0; i < 4; i++) {
        if (p[i] == 0 && q[i] < 0)
            return false;
        if (p[i] < 0)
            enter = fmax(enter, q[i] / p[i]);
        else if (p[i] > 0)
            leave = fmin(leave, q[i] / p[i]);
    }
    return enter <= leave;
}

static void add_stroke(struct scene *scene, const struct panel *p, const double *from,
                       const double *to)
{
    struct stroke s = { panel_x(p, from[0]), panel_y(p, from[1]), panel_x(p, to[0]),
                        panel_y(p, to[1]) };

    if (isfinite(s.x0 + s.y0 + s.x1 + s.y1))
        *array_push(&scene->strokes) = s;
}

static void add_fixed_text(struct scene *scene, const struct panel *p, const struct datum *d)
{
    double width = text_width(d->text, LABEL_SIZE, false) * cos(d->angle * M_PI / 180);
    double x = panel_x(p, d->x) + d->dx, y = panel_y(p, d->y) + d->dy;
    double left = x - width * (d->anchor == ANCHOR_RIGHT    ? 1
                               : d->anchor == ANCHOR_CENTRE ? 0.5
                                                            : 0);

    *array_push(&scene->labels) =
        (struct box) { left, y - LABEL_HEIGHT / 2.0, left + width, y + LABEL_HEIGHT / 2.0 };
}

static void add_layer(struct scene *scene, const struct panel *p, const struct layer *s)
{
    for (size_t i = 0; i < s->nr; i++) {
        const struct datum *d = &s->items[i];
        double x = panel_x(p, d->x), y = panel_y(p, d->y), r = s->style.size / 2 + 1;
        if (s->mark == MARK_POINTS && isfinite(x + y))
            *array_push(&scene->points) = (struct box) { x - r, y - r, x + r, y + r };
        else if (s->mark == MARK_LINE && i > 0)
            add_stroke(scene, p, (double[]) { d[-1].x, d[-1].y }, (double[]) { d->x, d->y });
        else if (s->mark == MARK_INTERVALS && !s->across)
            add_stroke(scene, p, (double[]) { d->x, d->low }, (double[]) { d->x, d->high });
        else if (s->mark == MARK_RULES)
            add_stroke(
                scene, p,
                (double[]) { isnan(d->x) ? p->x.low : d->x, isnan(d->y) ? p->y.low : d->y },
                (double[]) { isnan(d->x) ? p->x.high : d->x, isnan(d->y) ? p->y.high : d->y });
        else if (s->mark == MARK_TEXT && !s->place && isfinite(x + y))
            add_fixed_text(scene, p, d);
    }
}

static double cost_of(const struct scene *scene, const struct panel *p, const struct box *b)
{
    const struct rect *a = &p->area;
    double cost = 0;

    if (b->left < a->x || b->right > a->x + a->width || b->top < a->y ||
        b->bottom > a->y + a->height)
        cost += outside_cost;
    for (size_t i = 0; i < scene->labels.nr; i++)
        cost += label_cost * overlap(b, &scene->labels.items[i]);
    for (size_t i = 0; i < scene->points.nr; i++)
        cost += point_cost * overlap(b, &scene->points.items[i]);
    for (size_t i = 0; i < scene->strokes.nr; i++)
        cost += stroke_cost * crosses(b, &scene->strokes.items[i]);
    return cost;
}

struct place {
    struct box box;
    double distance, dx, dy;
    enum anchor anchor;
};

/* The k-th of 12 directions at a distance from the point. */
static struct place candidate(double x, double y, double width, int k, double distance)
{
    double angle = k * M_PI / 6;
    struct place c = { .distance = distance,
                       .dx = cos(angle) * distance,
                       .dy = -sin(angle) * distance };
    double side = cos(angle);

    c.anchor = side > 0.3 ? ANCHOR_LEFT : side < -0.3 ? ANCHOR_RIGHT : ANCHOR_CENTRE;
    double left = x + c.dx -
                  width * (c.anchor == ANCHOR_RIGHT    ? 1
                           : c.anchor == ANCHOR_CENTRE ? 0.5
                                                       : 0);
    c.box = (struct box) { left, y + c.dy - LABEL_HEIGHT / 2.0, left + width,
                           y + c.dy + LABEL_HEIGHT / 2.0 };
    return c;
}

static struct place best_place(const struct scene *scene, const struct panel *p, double x, double y,
                               double width)
{
    static const double distances[] = { 11, 19, 32, 50, 75, 105, 140 };
    struct place best = candidate(x, y, width, 0, distances[0]);
    double lowest = INFINITY;

    for (size_t i = 0; i < sizeof(distances) / sizeof(distances[0]); i++) {
        for (int k = 0; k < 12; k++) {
            struct place c = candidate(x, y, width, k, distances[i]);
            double cost = cost_of(scene, p, &c.box) + c.distance + 0.5 * k;
            if (cost < lowest) {
                lowest = cost;
                best = c;
            }
        }
    }
    return best;
}

/* From the point to the near end of its label, in data coordinates. */
static void add_leader(struct panel *p, struct layer *leaders, double x, double y,
                       const struct place *place)
{
    double share_x = (x + place->dx - p->area.x) / p->area.width;
    double share_y = 1 - (y + place->dy - p->area.y) / p->area.height;

    layer_add(leaders, axis_value(&p->x, (x - p->area.x) / p->area.width),
              axis_value(&p->y, 1 - (y - p->area.y) / p->area.height));
    layer_add(leaders, axis_value(&p->x, share_x), axis_value(&p->y, share_y));
    layer_add(leaders, NAN, NAN);
}

static void place_layer(struct scene *scene, struct panel *p, struct layer *s)
{
    struct layer *leaders = NULL;

    for (size_t i = 0; i < s->nr; i++) {
        struct datum *d = &s->items[i];
        double x = panel_x(p, d->x), y = panel_y(p, d->y);
        if (!isfinite(x + y) || !d->text)
            continue;
        struct place place = best_place(scene, p, x, y, text_width(d->text, LABEL_SIZE, false));
        d->dx = place.dx;
        d->dy = place.dy;
        d->anchor = place.anchor;
        *array_push(&scene->labels) = place.box;
        if (place.distance < LEADER_FROM)
            continue;
        if (!leaders) {
            leaders = panel_layer(p, MARK_LINE, NULL);
            leaders->style.ink = INK_GREY;
            leaders->style.width = 0.6;
        }
        add_leader(p, leaders, x, y, &place);
        *array_push(&scene->strokes) = (struct stroke) { x, y, x + place.dx, y + place.dy };
    }
}

void place_labels(struct panel *p)
{
    struct scene scene = { 0 };
    size_t nr = p->nr; /* leaders are added behind */

    for (size_t i = 0; i < nr; i++)
        add_layer(&scene, p, p->layers[i]);
    for (size_t i = 0; i < nr; i++)
        if (p->layers[i]->mark == MARK_TEXT && p->layers[i]->place)
            place_layer(&scene, p, p->layers[i]);
    array_release(&scene.labels);
    array_release(&scene.points);
    array_release(&scene.strokes);
}
