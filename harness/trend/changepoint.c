/* SPDX-License-Identifier: MIT */
/*
 * The rule. A step is named only where three tests agree that a series, or a piece of it, changed.
 *
 * 1. By ranks (changepoint_scan.c): the largest standardised Mann-Whitney statistic over all splits
 *    (Pettitt 1979), min_segment points on both sides, against the bound on its maximum of Miller
 *    and Siegmund (1982), or where few points say more than a normal tail can, against the exact
 *    generating function of the statistic (Mann and Whitney 1947; Chernoff 1952), summed over all
 *    splits. Right for independent noise of any shape: heavy tails, modes, outliers.
 * 2. By likelihood (changepoint_likelihood.c): how much better a step explains the piece than the
 * best explanation without one, both with correlated noise, AR(1), AR(2) or AR(1) plus white noise,
 *    fitted anew. Without a step (changepoint_gradual.c) there are a level, smooth curves, a bend
 *    and a ramp between two levels, so that what goes gradually is no step. The same must hold for
 *    averages of 2, 4, 8 ... neighbours: noise with a longer memory looks like AR(1) at one of
 *    these scales. A step that leaves noise which is correlated, or wanders about the two levels
 *    (Kwiatkowski et al. 1992), must be clearer, and so must one that is small for white noise.
 *    Points far from their level are pulled in first. The p-value comes from simulated AR(1)
 *    series: tests/statistics/calibrate_changes.c prints the table.
 *
 * 3. By the noise of the whole history (changepoint_noise.c): means of the two levels by
 * generalised least squares, against the noise and correlation of all points about all levels, the
 * latter a standard error more than is seen. A short window cannot hide here what correlates its
 * points.
 *
 * Nights (changepoint_review.c). The points are taken one after the other, and what is found is
 * what a nightly job would have reported. Each night looks at windows that end at its point, of all
 * lengths: the whole level since the last step, which shows a lone step best, and shorter ones, all
 * of which share the level that a night may spend. The third test pays for the nights, with a price
 * that grows with their number: in a year of them an unchanged series is called in fewer than 5 of
 * 100 cases. A step that has been named is a part of the model from then on. It takes far less to
 * stand than to be named; it is withdrawn where a slope, a curve or wilder noise, in the light of
 * later nights, explains it better. Where four and more stand, only its own piece is asked, between
 * neighbours that stay. p is the largest of the three, for all nights so far. Kovacs,
 * Li, Buehlmann and Munk (2023) for the lengths of windows; Page (1954) and Lai (1995, "Sequential
 * changepoint detection in quality control and dynamical systems") for windows that end now.
 *
 * Two levels that come back again and again, a few points at a time, are modes
 * (changepoint_modes.c): they are joined to one level, and the nights begin anew in what remains.
 *
 * Drift (changepoint_drift.c) is the slope about the levels (Theil 1950, Sen 1968, from a few
 * distances), tested by the same likelihood; where one step explains the series as well as a line,
 * neither is said.
 *
 * What it cannot see, or sees wrongly (shares of 300 simulated series with any step):
 * - steps nearer to an end or to each other than min_segment;
 * - 30 points cannot tell a ramp of two or three sigma from a step (27 %), nor a level that ends in
 *   a ramp: of six sigma over the last half 59 %, over the last 40 % of the points 64 %. Nights
 * that saw only a part of it named a step, and 30 points are not enough to withdraw it. With 100
 * points these are at most 10 %;
 * - noise with a long memory beside white noise looks like a step while a series holds only few of
 *   its moves: AR(1) 0.9 in half of the variance 20, 23 and 9 % with 60, 100 and 300 points, AR(1)
 *   0.95 20 % with 300; a random walk beside white noise 8 and 23 % with 100 and 300, fractional
 *   noise of order 0.3 11 and 12 %;
 * - slow waves: a cosine of 1 sigma, a period in 60 points, 10 %; of 2 sigma and 57 points 14 %;
 * - so do modes that switch fewer than three times, and nothing can help: two modes with one switch
 *   are a step. Modes that last ten points in the mean: 23, 10 and 3 % with 60, 100 and 300 points.
 *   Modes that last twenty points and more count as levels: in a long history nothing tells them
 *   from changes that people make and take back. AR(1) 0.9 alone stays under 6 %.
 * docs/statistics/series.md tells users, tests/statistics/statistics_changes.c holds the rates.
 */
#include "trend/changepoint.h"

#include "base/array.h"
#include "base/memory.h"
#include "trend/changepoint_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int check_series(const double *x, size_t n, const struct changepoint_settings *s,
                        struct error *err)
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

/* Larger than the newest level itself and than all that the points span: the noise is such that
 * nobody knows, and a number would only look like knowledge. */
static double known_size(double size, const double *x, size_t n, const struct cut_list *cuts)
{
    double low = INFINITY, high = -INFINITY;

    for (size_t i = 0; i < n; i++) {
        low = fmin(low, x[i]);
        high = fmax(high, x[i]);
    }
    bool known = size <= high - low || size <= fabs(segment_level(x, n, cuts, cuts->nr));
    return known ? size : NAN;
}

static void find_steps(const double *x, size_t n, const struct changepoint_settings *settings,
                       struct cut_list *cuts, struct changes *out)
{
    struct search_result verdict;
    struct search_log log = { 0 };

    cuts_find(x, n, settings, cuts, &verdict, &log);
    out->p = verdict.clearest;
    out->modes = verdict.modes;
    out->withdrawn = log.gone;
    out->looks = log.looks;
    out->drift = drift_find(x, n, cuts, settings->level);
    if (out->drift.found && cuts->nr == 0 && drift_is_step(x, n, settings->min_segment))
        out->drift.found = false;
    if (out->drift.found || out->modes.high > out->modes.low)
        return;
    out->watch = watch_find(x, n, cuts, settings->level);
    out->detectable = known_size(noise_detectable(x, n, cuts, settings->level), x, n, cuts);
}

/* Back to the unit of the series. */
static void rescale_changes(struct changes *c, int exponent)
{
    double *values[] = { &c->noise,           &c->drift.per_point,  &c->drift.total,
                         &c->drift.slope.low, &c->drift.slope.high, &c->modes.low,
                         &c->modes.high,      &c->watch.before,     &c->watch.after,
                         &c->detectable };

    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
        *values[i] = ldexp(*values[i], exponent);
    for (size_t i = 0; i < c->nr; i++) {
        struct changepoint *p = &c->items[i];
        double *levels[] = { &p->before, &p->after, &p->change.low, &p->change.high };
        for (size_t k = 0; k < sizeof(levels) / sizeof(*levels); k++)
            *levels[k] = ldexp(*levels[k], exponent);
    }
    for (size_t i = 0; i < c->withdrawn.nr; i++) {
        c->withdrawn.items[i].before = ldexp(c->withdrawn.items[i].before, exponent);
        c->withdrawn.items[i].after = ldexp(c->withdrawn.items[i].after, exponent);
    }
}

int changes_find(const double *x, size_t n, const struct changepoint_settings *settings,
                 struct changes *out, struct error *err)
{
    *out = (struct changes) { .detectable = NAN, .p = 1 };
    if (check_series(x, n, settings, err))
        return -1;
    struct cut_list cuts = { 0 };
    double *y = memory_zeroed(n + 1, sizeof(*y));
    int exponent = exponent_of(x, n);
    for (size_t i = 0; i < n; i++)
        y[i] = ldexp(x[i], -exponent);
    find_steps(y, n, settings, &cuts, out);
    changes_describe(y, n, &cuts, out);
    rescale_changes(out, exponent);
    array_release(&cuts);
    free(y);
    return 0;
}

double changes_detectable(const double *x, size_t n, const struct changes *c, double level)
{
    struct cut_list cuts = { 0 };

    if (c->drift.found || c->modes.visits)
        return NAN;
    for (size_t i = 0; i < c->nr; i++)
        *(struct cut *)array_push(&cuts) = (struct cut) { .index = c->items[i].index };
    double size = noise_detectable(x, n, &cuts, p_of_one_night(level, n));
    array_release(&cuts);
    return size;
}

bool changepoint_place_is_open(const struct changepoint *step, size_t n)
{
    return 2 * (step->high - step->low) > n;
}

bool changepoint_size_is_open(const struct changepoint *step)
{
    return step->change.low <= 0 && step->change.high >= 0;
}

void changes_release(struct changes *c)
{
    array_release(c);
    array_release(&c->withdrawn);
    array_release(&c->looks);
}
