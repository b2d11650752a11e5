/* SPDX-License-Identifier: MIT */
/* Two modes that recur, told from a step. */
#include "base/array.h"
#include "base/memory.h"
#include "trend/changepoint_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of a normal distribution the middle distance from its mean is this part of the mean distance,
 * which also rounded points have. */
static const double normal_middle = 0.845;

/* The two levels about which points lie, whatever their order. `distance`: the middle one of the
 * points from the nearer level. */
static struct interval levels_of(const double *x, size_t m, double *distance)
{
    double *sorted = memory_zeroed(m + 1, sizeof(*sorted));

    memcpy(sorted, x, m * sizeof(*sorted));
    stats_sort(sorted, m);
    size_t at = split_best(sorted, m, 2);
    struct interval levels = { stats_median(sorted, at), stats_median(sorted + at, m - at) };
    for (size_t t = 0; t < m; t++) {
        double near = fmin(fabs(sorted[t] - levels.low), fabs(sorted[t] - levels.high));
        sorted[t] = fmin(near, levels.high - levels.low);
    }
    *distance = normal_middle * stats_mean(sorted, m);
    free(sorted);
    return levels;
}

/* Visits to two levels: stretches of two points or more near one of them, up to the next such
 * stretch near the other. */
struct visit {
    size_t from, length;
};

struct visits {
    ARRAY(struct visit) items;
    size_t near;    /* points that are near one of the levels */
    size_t at_step; /* points of the longer of the complete visits that meet at the step */
};

static void end_visit(struct visits *v, size_t from, size_t to, size_t step, bool complete)
{
    *(struct visit *)array_push(&v->items) = (struct visit) { from, to - from };
    if (complete && from <= step + 2 && step <= to + 2 && to - from > v->at_step)
        v->at_step = to - from;
}

/* `near`: points no further than that from a level are at it. Release the items. */
static struct visits visits_find(const double *x, size_t n, struct interval levels, double near,
                                 size_t step)
{
    struct visits v = { 0 };
    size_t from = 0, to = 0;
    int place = 0, previous = 0;

    for (size_t t = 0; t < n; t++) {
        int here = fabs(x[t] - levels.low) <= near ? 1 : fabs(x[t] - levels.high) <= near ? 2 : 0;
        if (here && here == previous && here != place) {
            if (place)
                end_visit(&v, from, to, step, true);
            place = here;
            from = t - 1;
        }
        if (here && here == place)
            to = t + 1;
        v.near += here != 0;
        previous = here;
    }
    if (place)
        end_visit(&v, from, to, step, false);
    return v;
}

/* Points of a visit in the mean, without the last, which goes on. */
static double visit_usual(const struct visits *v)
{
    double points = 0;

    for (size_t i = 0; i + 1 < v->items.nr; i++)
        points += (double)v->items.items[i].length;
    return points / ((double)v->items.nr - 1);
}

/* Does one of these last longer than chance makes the longest of so many? */
static bool outlasts_chance(const struct visits *v, size_t length, double usual, double level)
{
    return (double)v->items.nr * exp(-(double)length / usual) <= level;
}

/* A bell curve that is cut in the middle has its halves about four such distances apart. */
static const double clear_gap = 6;

/* Between these levels? With nothing at a step `longer` is false. */
static struct modes modes_between(const double *x, size_t n, struct interval levels,
                                  double distance, size_t step, double level, bool *longer)
{
    enum { MANY = 4, LONG = 20 }; /* what people change lasts for weeks */
    struct modes found = { 0 };
    double gap = levels.high - levels.low, near = fmin(0.25 * gap, 4 * distance);

    *longer = false;
    if (gap <= clear_gap * distance)
        return found;
    struct visits v = visits_find(x, n, levels, near, step);
    double usual = visit_usual(&v);
    if ((double)v.near >= 0.4 * (double)n && v.items.nr >= MANY && usual <= LONG) {
        *longer = outlasts_chance(&v, v.at_step, usual, level);
        found = (struct modes) { levels.low, levels.high, v.items.nr, usual };
    }
    array_release(&v.items);
    return found;
}

struct modes modes_at(const double *x, size_t n, const struct cut_list *cuts, size_t i,
                      double level, bool *longer)
{
    size_t from = segment_start(cuts, i), to = segment_end(cuts, i + 1, n);
    double distance;
    struct interval levels = levels_of(x + from, to - from, &distance);
    double before = segment_level(x, n, cuts, i), after = segment_level(x, n, cuts, i + 1);
    double near = 0.25 * (levels.high - levels.low);

    *longer = false;
    if (fabs(fmin(before, after) - levels.low) > near ||
        fabs(fmax(before, after) - levels.high) > near) /* of its noise, such as rounding */
        return (struct modes) { 0 };
    return modes_between(x, n, levels, distance, cuts->items[i].index, level, longer);
}

struct modes modes_of(const double *x, size_t n)
{
    bool longer;
    double distance;
    struct interval levels = levels_of(x, n, &distance);

    return modes_between(x, n, levels, distance, 2 * n, 0, &longer);
}

void visits_take(struct visits_seen *v, double x, size_t t)
{
    double near = 0.25 * (v->modes.high - v->modes.low);
    int here = fabs(x - v->modes.low) <= near ? 1 : fabs(x - v->modes.high) <= near ? 2 : 0;

    if (here && here == v->previous && here != v->place) {
        if (v->place) {
            v->complete++;
            v->points += (double)(v->to - v->from);
        }
        v->place = here;
        v->from = t - 1;
    }
    if (here && here == v->place)
        v->to = t + 1;
    v->previous = here;
}

/* Visits that end by chance last as exponential variables do: such a one exceeds l means of k
 * others with the chance (1 + l / k)^-k, for the mean is an estimate itself. Each visit has its
 * share of the chance, 3 / (k (k + 1)), the sum of which is 1: so it holds in all nights. */
double visits_outstayed(const struct visits_seen *v)
{
    enum { LEAST = 3 };
    double k = (double)v->complete, length = (double)(v->to - v->from);

    if (v->complete < LEAST)
        return 1;
    return fmin(1, pow(1 + length / v->points, -k) * k * (k + 1) / LEAST);
}

void modes_join(const double *x, size_t n, const struct modes *m, double *out)
{
    double gap = m->high - m->low;

    for (size_t t = 0; t < n; t++)
        out[t] = x[t] > m->low + 0.5 * gap ? x[t] - gap : x[t];
}
