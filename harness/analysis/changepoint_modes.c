/* SPDX-License-Identifier: MIT */
/* Two modes that recur, told from a step. */
#include "analysis/changepoint_parts.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

/* Middle distance of the points from the levels around one step. */
static double distance_about(const double *x, size_t n, const struct cut_list *cuts, size_t i,
                             double before, double after)
{
    size_t from = segment_start(cuts, i), to = segment_end(cuts, i + 1, n);
    double *distance = memory_zeroed(to - from + 1, sizeof(*distance));

    for (size_t t = from; t < to; t++)
        distance[t - from] = fabs(x[t] - (t < cuts->items[i].index ? before : after));
    double median = stats_median(distance, to - from);
    free(distance);
    return median;
}

/* Visits to two levels: stretches of two points or more near one of them, up to the next such
 * stretch near the other. */
struct visits {
    size_t nr, points; /* points: from the first to the last of each, summed */
    size_t near;       /* points that are near one of the levels */
    size_t at_step;    /* points of the longer of the visits that meet at the step */
};

static void end_visit(struct visits *v, size_t from, size_t to, size_t step)
{
    v->nr++;
    v->points += to - from;
    if (from <= step + 2 && step <= to + 2 && to - from > v->at_step)
        v->at_step = to - from;
}

static struct visits count_visits(const double *x, size_t n, double before, double after,
                                  double near, size_t step)
{
    struct visits v = { 0 };
    size_t from = 0, to = 0;
    int place = 0, previous = 0;

    for (size_t t = 0; t < n; t++) {
        int here = fabs(x[t] - before) <= near ? 1 : fabs(x[t] - after) <= near ? 2 : 0;
        if (here && here == previous && here != place) {
            if (place)
                end_visit(&v, from, to, step);
            place = here;
            from = t - 1;
        }
        if (here && here == place)
            to = t + 1;
        v.near += here != 0;
        previous = here;
    }
    if (place)
        end_visit(&v, from, to, step);
    return v;
}

/* Two modes that recur are no steps: where the series goes back and forth between both levels of a
 * step, a visit that meets at it must be longer than any of as many memoryless visits would be. */
bool step_recurs(const double *x, size_t n, const struct cut_list *cuts, size_t i, double level)
{
    enum { MANY = 6 };
    double before = segment_level(x, n, cuts, i), after = segment_level(x, n, cuts, i + 1);
    double distance = distance_about(x, n, cuts, i, before, after), gap = fabs(after - before);

    if (gap <= 4 * distance)
        return false;
    struct visits v =
        count_visits(x, n, before, after, fmin(0.25 * gap, 4 * distance), cuts->items[i].index);
    if (v.nr < MANY || (double)v.near < 0.4 * (double)n)
        return false;
    double usual = (double)(v.points - v.at_step) / (double)(v.nr - 1);
    return (double)v.nr * exp(-(double)v.at_step / usual) > level;
}
