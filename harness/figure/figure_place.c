/* SPDX-License-Identifier: MIT */
/* Free places for the labels of points. */
#include "figure/figure_base.h"

#include "base/array.h"
#include "figure/figure_axis.h"
#include "text/textwidth.h"

#include <math.h>

enum {
    TEXT_SIZE = 12,
    LABEL_HEIGHT = 15,
    LEADER_FROM = 13,
    DIRECTIONS = 16,
    ROUNDS = 4,
    STARTS = 5
};

struct box {
    double left, top, right, bottom;
};

struct stroke {
    double x0, y0, x1, y1;
    double cost; /* of a text that lies on it */
};

struct place {
    struct box box;
    struct stroke leader; /* from the edge of the point to the label */
    double distance, dx, dy;
    enum anchor anchor;
};

/* A text that is to be placed. */
struct label {
    struct datum *datum;
    double x, y, radius, width; /* of its point; of the text */
    struct place place;
    bool gone; /* no room was found: it would lie over one before it */
};

/* What stands in a panel, and the labels that are to find room there. */
struct placement {
    ARRAY(struct box) texts; /* that stand where they are */
    ARRAY(struct box) points;
    ARRAY(struct stroke) strokes;
    ARRAY(struct label) labels;
};

/* Price of covering, in pixels of distance. A text is read through a thin whisker, not through a
 * thick line. */
static const double label_cost = 1000, point_cost = 300, outside_cost = 5000;
static const double line_cost = 160, thick_cost = 320, whisker_cost = 70;
/* Price of a leader's crossing a line, as a share of the price above, or a point. */
static const double leader_stroke_share = 0.5, leader_point_cost = 40;

static bool place_overlap(const struct box *a, const struct box *b)
{
    double width = fmin(a->right, b->right) - fmax(a->left, b->left);
    double height = fmin(a->bottom, b->bottom) - fmax(a->top, b->top);

    return width > 0 && height > 0;
}

/* Liang and Barsky's clipping: does the stroke enter the box? */
static bool place_crosses(const struct box *b, const struct stroke *s)
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

static double place_turn(const struct stroke *s, double x, double y)
{
    return (s->x1 - s->x0) * (y - s->y0) - (s->y1 - s->y0) * (x - s->x0);
}

/* Do two strokes cross: are the ends of each on both sides of the other? */
static bool cross_each_other(const struct stroke *a, const struct stroke *b)
{
    return place_turn(a, b->x0, b->y0) * place_turn(a, b->x1, b->y1) < 0 &&
           place_turn(b, a->x0, a->y0) * place_turn(b, a->x1, a->y1) < 0;
}

static bool place_contains(const struct box *b, double x, double y)
{
    return x > b->left && x < b->right && y > b->top && y < b->bottom;
}

static double stroke_cost(const struct layer *s)
{
    if (s->mark == MARK_INTERVALS)
        return whisker_cost;
    return s->style.width > 2.1 ? thick_cost : line_cost;
}

static void place_add_stroke(struct placement *job, const struct panel *p,
                             const struct layer *layer, const double *from, const double *to)
{
    struct stroke s = { panel_x(p, from[0]), panel_y(p, from[1]), panel_x(p, to[0]),
                        panel_y(p, to[1]), stroke_cost(layer) };

    if (isfinite(s.x0 + s.y0 + s.x1 + s.y1))
        *array_push(&job->strokes) = s;
}

/* A turned text is a row of small boxes. */
static void place_add_fixed_text(struct placement *job, const struct panel *p,
                                 const struct layer *s, const struct datum *d)
{
    static const double before[] = { [ANCHOR_LEFT] = 0, [ANCHOR_CENTRE] = 0.5, [ANCHOR_RIGHT] = 1 };
    double width = text_width(d->text, TEXT_SIZE, s->style.bold), half = LABEL_HEIGHT / 2.0;
    double x = panel_x(p, d->x) + d->dx, y = panel_y(p, d->y) + d->dy;
    double across = cos(d->angle * M_PI / 180), up = sin(d->angle * M_PI / 180);
    double start = -width * before[d->anchor];
    int nr = d->angle == 0 ? 1 : (int)ceil(width / LABEL_HEIGHT);

    for (int i = 0; i < nr; i++) {
        double from = start + width * i / nr, to = start + width * (i + 1) / nr;
        double x0 = x + from * across, x1 = x + to * across;
        double y0 = y - from * up, y1 = y - to * up;
        *array_push(&job->texts) =
            (struct box) { fmin(x0, x1), fmin(y0, y1) - half, fmax(x0, x1), fmax(y0, y1) + half };
    }
}

static void place_add_point(struct placement *job, const struct layer *s, const struct datum *d,
                            double x, double y)
{
    double r = (isfinite(d->size) ? d->size : s->style.size) / 2 + 1;

    *array_push(&job->points) = (struct box) { x - r, y - r, x + r, y + r };
}

static void place_add_layer(struct placement *job, const struct panel *p, const struct layer *s)
{
    for (size_t i = 0; i < s->nr; i++) {
        const struct datum *d = &s->items[i];
        double x = panel_x(p, d->x), y = panel_y(p, d->y);
        if (s->mark == MARK_POINTS && isfinite(x + y))
            place_add_point(job, s, d, x, y);
        else if (s->mark == MARK_LINE && i > 0)
            place_add_stroke(job, p, s, (double[]) { d[-1].x, d[-1].y }, (double[]) { d->x, d->y });
        else if ((s->mark == MARK_INTERVALS || s->mark == MARK_ARROWS) && !s->across)
            place_add_stroke(job, p, s, (double[]) { d->x, d->low }, (double[]) { d->x, d->high });
        else if (s->mark == MARK_RULES)
            place_add_stroke(
                job, p, s,
                (double[]) { isnan(d->x) ? p->x.low : d->x, isnan(d->y) ? p->y.low : d->y },
                (double[]) { isnan(d->x) ? p->x.high : d->x, isnan(d->y) ? p->y.high : d->y });
        else if (s->mark == MARK_TEXT && !s->place && isfinite(x + y))
            place_add_fixed_text(job, p, s, d);
    }
}

/* Any number above `most` where the cost is above it: most places are out of the question early. */
static double place_cost_of(const struct placement *job, const struct panel *p, size_t own,
                            const struct place *place, double most)
{
    const struct rect *a = &p->area;
    const struct box *b = &place->box;
    double cost = place->distance;

    if (b->left < a->x || b->right > a->x + a->width || b->top < a->y ||
        b->bottom > a->y + a->height)
        cost += outside_cost;
    for (size_t i = 0; i < job->texts.nr && cost <= most; i++)
        cost += label_cost * (place_overlap(b, &job->texts.items[i]) ||
                              place_crosses(&job->texts.items[i], &place->leader));
    for (size_t i = 0; i < job->labels.nr && cost <= most; i++) {
        const struct place *other = &job->labels.items[i].place;
        if (i == own || other->distance == 0) /* not placed yet */
            continue;
        cost += label_cost * (place_overlap(b, &other->box) ||
                              place_crosses(&other->box, &place->leader) ||
                              place_crosses(b, &other->leader));
    }
    for (size_t i = 0; i < job->points.nr && cost <= most; i++) {
        const struct box *point = &job->points.items[i];
        bool own_point = place_contains(point, job->labels.items[own].x, job->labels.items[own].y);
        cost += point_cost * place_overlap(b, point);
        cost += leader_point_cost * (!own_point && place_crosses(point, &place->leader));
    }
    for (size_t i = 0; i < job->strokes.nr && cost <= most; i++) {
        const struct stroke *stroke = &job->strokes.items[i];
        cost += stroke->cost * place_crosses(b, stroke);
        cost += leader_stroke_share * stroke->cost * cross_each_other(stroke, &place->leader);
    }
    return cost;
}

/* The k-th direction at a distance from the edge of the point. */
static struct place make_candidate(const struct label *l, int k, double distance)
{
    double angle = k * 2 * M_PI / DIRECTIONS, across = cos(angle), up = sin(angle);
    double from = l->radius, to = l->radius + distance;
    struct place c = { .distance = distance,
                       .leader = { l->x + from * across, l->y - from * up, l->x + to * across,
                                   l->y - to * up, 0 },
                       .dx = to * across,
                       .dy = -to * up };

    c.anchor = across > 0.3 ? ANCHOR_LEFT : across < -0.3 ? ANCHOR_RIGHT : ANCHOR_CENTRE;
    double left = l->x + c.dx -
                  l->width * (c.anchor == ANCHOR_RIGHT    ? 1
                              : c.anchor == ANCHOR_CENTRE ? 0.5
                                                          : 0);
    c.box = (struct box) { left, l->y + c.dy - LABEL_HEIGHT / 2.0, left + l->width,
                           l->y + c.dy + LABEL_HEIGHT / 2.0 };
    return c;
}

static void place_find_place(struct placement *job, const struct panel *p, size_t own)
{
    static const double distances[] = { 6, 10, 16, 24, 32, 40, 49, 58, 68, 80, 106, 136, 170 };
    struct label *l = &job->labels.items[own];
    struct place best = make_candidate(l, 0, distances[0]);
    double lowest = INFINITY;

    for (size_t i = 0; i < sizeof(distances) / sizeof(distances[0]); i++) {
        for (int k = 0; k < DIRECTIONS; k++) {
            struct place c = make_candidate(l, k, distances[i]);
            double turned = 0.4 * k;
            double cost = place_cost_of(job, p, own, &c, lowest - turned) + turned;
            if (cost < lowest) {
                lowest = cost;
                best = c;
            }
        }
    }
    l->place = best;
}

/* Half the width of the largest point that lies at this place. */
static double place_radius_at(const struct placement *job, double x, double y)
{
    double radius = 5;

    for (size_t i = 0; i < job->points.nr; i++) {
        const struct box *b = &job->points.items[i];
        if (fabs((b->left + b->right) / 2 - x) < 0.5 && fabs((b->top + b->bottom) / 2 - y) < 0.5)
            radius = fmax(radius, (b->right - b->left) / 2);
    }
    return radius;
}

static void place_add_labels(struct placement *job, const struct panel *p, const struct layer *s)
{
    for (size_t i = 0; i < s->nr; i++) {
        struct datum *d = &s->items[i];
        double x = panel_x(p, d->x), y = panel_y(p, d->y);
        if (!isfinite(x + y) || !d->text)
            continue;
        *array_push(&job->labels) = (struct label) {
            .datum = d,
            .x = x,
            .y = y,
            .radius = place_radius_at(job, x, y),
            .width = text_width(d->text, TEXT_SIZE, s->style.bold),
        };
    }
}

static void place_add_leader_end(const struct panel *p, struct layer *leaders, double x, double y)
{
    layer_add(leaders, axis_value(&p->x, (x - p->area.x) / p->area.width),
              axis_value(&p->y, 1 - (y - p->area.y) / p->area.height));
}

/* A label that had to go far gets a thin line from its point. */
static void place_add_leaders(const struct placement *job, struct panel *p)
{
    struct layer *leaders = NULL;

    for (size_t i = 0; i < job->labels.nr; i++) {
        const struct place *place = &job->labels.items[i].place;
        if (place->distance < LEADER_FROM || job->labels.items[i].gone)
            continue;
        if (!leaders) {
            leaders = panel_layer(p, MARK_LINE, NULL);
            leaders->style.ink = INK_GREY;
            leaders->style.width = 0.6;
        }
        place_add_leader_end(p, leaders, place->leader.x0, place->leader.y0);
        place_add_leader_end(p, leaders, place->leader.x1, place->leader.y1);
        layer_add(leaders, NAN, NAN);
    }
}

/* The k-th label of an order: from the first one on, or back from it. */
static size_t place_nth_in_order(size_t nr, size_t first, bool backwards, size_t k)
{
    return (first + (backwards ? nr - k : k)) % nr;
}

/* Each label looks for its best place, again and again, so that those that came first make room.
 * Returns what all of them cost. */
static double place_in_order(struct placement *job, const struct panel *p, size_t first,
                             bool backwards)
{
    size_t nr = job->labels.nr;
    double cost = 0;

    for (size_t i = 0; i < nr; i++)
        job->labels.items[i].place = (struct place) { .distance = 0 };
    for (int round = 0; round < ROUNDS; round++)
        for (size_t k = 0; k < nr; k++)
            place_find_place(job, p, place_nth_in_order(nr, first, backwards, k));
    for (size_t i = 0; i < nr; i++)
        cost += place_cost_of(job, p, i, &job->labels.items[i].place, INFINITY);
    return cost;
}

/* Two texts over each other are none: the first, which is of more weight, stays. */
static void place_drop_covered(struct placement *job)
{
    for (size_t i = 0; i < job->labels.nr; i++) {
        struct label *l = &job->labels.items[i];
        for (size_t k = 0; k < i && !l->gone; k++) {
            const struct label *other = &job->labels.items[k];
            l->gone = !other->gone && place_overlap(&l->place.box, &other->place.box);
        }
        if (l->gone)
            l->datum->text[0] = '\0';
    }
}

/* What is best in one order need not be in another. */
static void place_all(struct placement *job, struct panel *p)
{
    size_t nr = job->labels.nr, starts = nr < STARTS ? nr : STARTS, best = 0;
    double lowest = INFINITY;

    for (size_t order = 0; order < 2 * starts; order++) {
        double cost = place_in_order(job, p, order / 2 * nr / starts, order % 2);
        if (cost < lowest) {
            lowest = cost;
            best = order;
        }
    }
    place_in_order(job, p, best / 2 * nr / starts, best % 2);
    place_drop_covered(job);
    for (size_t i = 0; i < job->labels.nr; i++) {
        const struct label *l = &job->labels.items[i];
        l->datum->dx = l->place.dx;
        l->datum->dy = l->place.dy;
        l->datum->anchor = l->place.anchor;
    }
    place_add_leaders(job, p);
}

void figure_place_labels(struct panel *p)
{
    struct placement job = { 0 };

    for (size_t i = 0; i < p->nr; i++)
        place_add_layer(&job, p, p->layers[i]);
    for (size_t i = 0; i < p->nr; i++)
        if (p->layers[i]->mark == MARK_TEXT && p->layers[i]->place)
            place_add_labels(&job, p, p->layers[i]);
    if (job.labels.nr)
        place_all(&job, p);
    array_release(&job.labels);
    array_release(&job.texts);
    array_release(&job.points);
    array_release(&job.strokes);
}
