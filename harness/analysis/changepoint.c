/* SPDX-License-Identifier: MIT */
/*
 * The rule. A step is named only where two tests agree that a series, or a piece of it, changed.
 *
 * 1. By ranks (changepoint_scan.c): the largest standardised Mann-Whitney statistic over all splits
 *    (Pettitt 1979), min_segment points on both sides, against the bound on its maximum of Miller
 *    and Siegmund (1982), or where few points say more than a normal tail can, against the exact
 *    generating function of the statistic (Mann and Whitney 1947; Chernoff 1952), summed over all
 *    splits. Right for independent noise of any shape: heavy tails, modes, outliers.
 * 2. By likelihood (changepoint_step.c): how much better a step explains the piece than the best
 *    explanation without one, both with correlated noise, AR(1), AR(2) or AR(1) plus white noise,
 *    fitted anew. Without a step (changepoint_gradual.c) there are a level, smooth curves, a bend
 *    and a ramp between two levels, so that what goes gradually is no step. The same must hold for
 *    averages of 2, 4, 8 ... neighbours: noise with a longer memory looks like AR(1) at one of
 *    these scales. A step that leaves noise which is correlated, or wanders about the two levels
 *    (Kwiatkowski et al. 1992), must be clearer, and so must one that is small for white noise.
 *    Points far from their level are pulled in first. The p-value comes from simulated AR(1)
 *    series: tests/statistics/calibrate_changes.c prints the table.
 *
 * p is the larger of the two, each divided by the share of the level that the piece may spend: all
 * pieces together spend it once. Pieces (changepoint_search.c) are the whole series, which shows a
 * lone step best, and seeded intervals (Kovacs, Li, Buehlmann and Munk 2023), which show pairs; the
 * clearest step comes first, then what lies between accepted steps is searched in the same way. In
 * the end each step must stand between its neighbours, or in the piece in which it was found, since
 * a step that was missed beside it must not take it along. Two levels that come back again and
 * again, a few points at a time, are modes (changepoint_modes.c): they are joined to one level, and
 * the steps sought anew in what remains. E-divisive (Matteson and James 2014), used for performance
 * series by Daly et al. 2020, searches in the same manner, but takes its p-values from
 * permutations, which correlated noise makes too small.
 *
 * Drift (changepoint_drift.c) is the slope about the levels (Theil 1950, Sen 1968, from a few
 * distances), tested by the same likelihood. Where there is one, steps are sought again in the
 * series without it, and the explanation with the lower cost (log n a number) is kept.
 *
 * What it cannot see, or sees wrongly (shares of 1,000 simulated series with any step):
 * - steps nearer to an end or to each other than min_segment;
 * - 30 points cannot tell a ramp of two or three sigma from a step (13 and 19 %; 1 % from six sigma
 *   on), nor a level that ends in a ramp: of six sigma over the last half 22 %, over the last 30 %
 *   of the points 47 %; of ten sigma 1 %. With 60 points these are 9, 3, 1 and 9 %, with 100 all
 *   are under 5 %;
 * - noise with a long memory beside white noise looks like a step while a series holds only few of
 *   its moves: AR(1) 0.9 in half of the variance 12, 13, 9 and 3 % with 30, 60, 100 and 300 points,
 *   AR(1) 0.95 10, 15, 14 and 4 %;
 * - so do modes that switch fewer than three times, and nothing can help: two modes with one switch
 *   are a step. Modes that last ten points in the mean: 20, 8 and 5 % with 60, 100 and 300 points.
 *   Modes that last twenty points and more count as levels: in a long history nothing tells them
 *   from changes that people make and take back. AR(1) 0.9 alone stays under 6 %.
 * docs/statistics.md tells users, tests/statistics/statistics_changes.c holds the rates.
 */
#include "analysis/changepoint.h"

#include "analysis/changepoint_parts.h"
#include "base/array.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int check(const double *x, size_t n, const struct changepoint_settings *s, struct error *err)
{
    if (!(s->level > 0 && s->level < 0.5))
        return error_set(err,
                         "the level of a search for change points must lie between 0 and 50%%,"
                         " not %g",
                         s->level);
    if (s->min_segment < 2)
        return error_set(err, "a level needs at least two points");
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return error_set(err, "point %zu of the series is not a finite number", i);
    return 0;
}

/* Power of two nearest below the largest point, so that no sum overflows and no digit changes. */
static int exponent_of(const double *x, size_t n)
{
    double most = 0;
    int exponent = 0;

    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(x[i]));
    frexp(most, &exponent);
    return exponent;
}

struct model {
    struct cut_list cuts;
    struct drift drift;
    struct modes modes;
    double cost, clearest;
};

static void take_drift(const double *x, size_t n, double slope, double *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = x[i] - slope * (double)i;
}

/* Steps of the series with a slope taken out, and the slope about them. */
static struct model model_fit(const double *x, size_t n, double slope,
                              const struct changepoint_settings *settings)
{
    struct model m = { .clearest = 1 };
    double *rest = memory_zeroed(n + 1, sizeof(*rest));

    take_drift(x, n, slope, rest);
    cuts_find(rest, n, settings, &m.cuts, &m.clearest, &m.modes);
    m.drift = drift_find(x, n, &m.cuts, settings->level, &m.cost);
    free(rest);
    return m;
}

/* Steps in the raw series, unless a drift with the steps about it explains the series better. */
static struct model model_choose(const double *x, size_t n,
                                 const struct changepoint_settings *settings)
{
    struct model best = model_fit(x, n, 0, settings);
    double slope = best.drift.found ? best.drift.per_point : 0;

    for (int i = 0; i < 3 && slope != 0; i++) {
        struct model other = model_fit(x, n, slope, settings);
        slope = other.drift.found && other.drift.per_point != slope ? other.drift.per_point : 0;
        if (other.cost < best.cost) {
            array_release(&best.cuts);
            best = other;
        } else {
            array_release(&other.cuts);
        }
    }
    return best;
}

/* Back to the unit of the series. */
static void rescale(struct changes *c, int exponent)
{
    double *values[] = { &c->noise,           &c->drift.per_point,  &c->drift.total,
                         &c->drift.slope.low, &c->drift.slope.high, &c->modes.low,
                         &c->modes.high };

    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
        *values[i] = ldexp(*values[i], exponent);
    for (size_t i = 0; i < c->nr; i++) {
        struct changepoint *p = &c->items[i];
        double *levels[] = { &p->before, &p->after, &p->change.low, &p->change.high };
        for (size_t k = 0; k < sizeof(levels) / sizeof(*levels); k++)
            *levels[k] = ldexp(*levels[k], exponent);
    }
}

int changes_find(const double *x, size_t n, const struct changepoint_settings *settings,
                 struct changes *out, struct error *err)
{
    *out = (struct changes) { .p = 1 };
    if (check(x, n, settings, err))
        return -1;
    double *y = memory_zeroed(n + 1, sizeof(*y));
    int exponent = exponent_of(x, n);
    for (size_t i = 0; i < n; i++)
        y[i] = ldexp(x[i], -exponent);
    struct model m = model_choose(y, n, settings);
    out->drift = m.drift;
    out->modes = m.modes;
    out->p = m.clearest;
    changes_describe(y, n, &m.cuts, out);
    rescale(out, exponent);
    array_release(&m.cuts);
    free(y);
    return 0;
}

void changes_release(struct changes *c)
{
    array_release(c);
}
