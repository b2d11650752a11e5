/* SPDX-License-Identifier: MIT */
/* Whether a step stands out of the noise of the whole history, and what the nights cost. */
#include "base/memory.h"
#include "trend/changepoint_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the points about the levels of all segments say, a few wild ones pulled in. */
struct noise {
    double sd, correlation, df;
    double usual; /* sd by the middle distance, which disturbed points do not widen */
};

double unbiased_correlation(double seen, size_t n, size_t levels)
{
    return seen + ((double)levels * (1 + seen) + 2 * seen) / (double)n;
}

static struct noise noise_find(const double *x, size_t n, const struct cut_list *cuts)
{
    double *r = memory_zeroed(n + 1, sizeof(*r)), squares = 0, products = 0;
    struct cut_list whole = { 0 };

    tame(x, n, cuts, r);
    for (size_t i = 0; i <= cuts->nr; i++) {
        size_t from = segment_start(cuts, i), to = segment_end(cuts, i, n);
        double level = stats_mean(r + from, to - from);
        for (size_t t = from; t < to; t++) {
            r[t] -= level;
            squares += r[t] * r[t];
            products += t ? r[t] * r[t - 1] : 0;
        }
    }
    for (size_t t = 0; t < n; t++)
        r[t] = fabs(r[t]);
    double middle = segment_level(r, n, &whole, 0) / stats_normal_quantile(0.75);
    free(r);
    double df = (double)n - (double)cuts->nr - 1;
    double rho = squares > 0 ? unbiased_correlation(products / squares, n, cuts->nr + 1) : 0;
    rho = fmax(0, fmin(0.95, rho));
    double doubt = sqrt((1 - rho * rho) / (double)n), sure = fmax(0, rho - doubt);
    /* It may well be a standard error more than is seen. Points that are correlated for sure say
     * less of the variance, too. */
    double sd = sqrt(squares / df);
    return (struct noise) { sd, fmin(0.95, rho + doubt), fmax(1, df * (1 - sure) / (1 + sure)),
                            middle > 0 ? middle : sd };
}

/* The mean of AR(1) points by generalised least squares, where the ends count more, and its
 * variance in units of that of a point. */
static double level_of(const double *x, size_t n, double rho, double *variance)
{
    double weight = (1 - rho) * (double)n + 2 * rho, sum = 0;

    for (size_t t = 0; t < n; t++)
        sum += x[t];
    *variance = (1 + rho) / weight;
    return ((1 - rho) * sum + rho * (x[0] + x[n - 1])) / weight;
}

/* How many places and lengths of windows the step was chosen from, as far as they are different
 * looks. */
static double effective_choices(size_t length)
{
    return fmax(1, fmin((double)length - 8, 8 + 4 * log((double)length / 10)));
}

/* What a night pays for those before it: the chance that an unchanged series is ever called grows
 * with their number. Simulated: statistics_nights.c. */
static double price_of_nights(size_t n)
{
    return n < 20 ? 20 : fmax(1, 0.6 * ((double)n - 20));
}

static const double usual_level = 0.05;

static double power_of_nights(size_t n)
{
    return 1 - 10 / fmax(24, (double)n);
}

double p_of_nights(double p, size_t n)
{
    return p < usual_level ? usual_level * pow(p / usual_level, power_of_nights(n)) : p;
}

double p_of_one_night(double p, size_t n)
{
    return p < usual_level ? usual_level * pow(p / usual_level, 1 / power_of_nights(n)) : p;
}

/* Disturbed points, fewer than a level needs, must not be joined by their neighbours to be enough:
 * the middle of the new level must have moved, too, and while it is young its first and newest
 * point be of it. Later one wild point at its edge does not hide it. */
static bool is_level(const double *x, size_t n, const struct cut_list *cuts, double gap, double sd)
{
    enum { YOUNG = 10 };
    size_t at = cuts->items[cuts->nr - 1].index, ends[] = { at, n - 1 };
    double before = segment_level(x, n, cuts, cuts->nr - 1);
    double after = segment_level(x, n, cuts, cuts->nr);

    if ((after - before) / gap < 0.5)
        return false;
    for (size_t i = 0; i < 2 && n - at < YOUNG; i++) {
        double point = x[ends[i]];
        if (fabs(point - after) > 3 * sd)
            return false;
    }
    return true;
}

/* ---- a step behind all cuts ---- */

struct stand {
    struct noise noise;
    double before, after; /* means of the levels that it parts */
    double z;             /* standard errors between them; infinite where there is no noise */
    bool level;           /* see is_level() */
};

static struct stand stand_of(const double *x, size_t n, const struct cut_list *cuts, size_t at)
{
    struct cut_list all = { .items = memory_zeroed(cuts->nr + 1, sizeof(*all.items)),
                            .nr = cuts->nr + 1 };
    size_t from = segment_start(cuts, cuts->nr);
    double variance[2];

    if (cuts->nr)
        memcpy(all.items, cuts->items, cuts->nr * sizeof(*all.items));
    all.items[cuts->nr].index = at;
    struct stand s = { .noise = noise_find(x, n, &all) };
    double rho = s.noise.correlation;
    s.before = level_of(x + from, at - from, rho, &variance[0]);
    s.after = level_of(x + at, n - at, rho, &variance[1]);
    double gap = fabs(s.after - s.before), se = s.noise.sd * sqrt(variance[0] + variance[1]);
    s.z = se > 1e-14 * fmax(fabs(s.before), fabs(s.after)) ? gap / se : gap > 0 ? INFINITY : 0;
    s.level = is_level(x, n, &all, s.after - s.before, s.noise.usual);
    free(all.items);
    return s;
}

/* A place was chosen among those of `length` points, in one of so many nights. */
static double stand_p(const struct stand *s, size_t length, double looks)
{
    double tail = isfinite(s->z) ? stats_t_cdf(-s->z, s->noise.df) : 0;

    return fmin(1, fmax(1e-16, 2 * tail * effective_choices(length) * looks));
}

double noise_p(const double *x, size_t n, const struct cut_list *cuts, size_t at)
{
    struct stand s = stand_of(x, n, cuts, at);

    return s.level ? stand_p(&s, n - segment_start(cuts, cuts->nr), price_of_nights(n)) : 1;
}

double noise_detectable(const double *x, size_t n, const struct cut_list *cuts, double level)
{
    enum { AFTER = CHANGEPOINT_DETECTABLE_AFTER };
    static const double four_in_five = 0.8416; /* standard errors above the limit */
    size_t m = n - segment_start(cuts, cuts->nr);
    double variance[2];

    if (m <= 2 * AFTER)
        return NAN;
    struct noise noise = noise_find(x, n, cuts);
    level_of(x, m - AFTER, noise.correlation, &variance[0]);
    level_of(x, AFTER, noise.correlation, &variance[1]);
    double limit =
        -stats_t_quantile(level / (2 * effective_choices(m) * price_of_nights(n)), noise.df);
    return (limit + four_in_five) * noise.sd * sqrt(variance[0] + variance[1]);
}

/* Places: the best by least squares, and the last few, where a new level begins. */
struct watch watch_find(const double *x, size_t n, const struct cut_list *cuts, double level)
{
    enum { NEWEST = 3, OLDEST = 8 };
    size_t from = segment_start(cuts, cuts->nr), m = n - from;
    struct watch best = { .p = 1 };

    if (m < 2 * OLDEST)
        return best;
    for (size_t newest = NEWEST; newest <= OLDEST + 1; newest++) {
        size_t at = newest <= OLDEST ? n - newest : from + split_best(x + from, m, NEWEST);
        struct stand s = stand_of(x, n, cuts, at);
        double p = s.level ? stand_p(&s, m, 1) : 1;
        if (p < best.p)
            best = (struct watch) { p <= level, at, s.before, s.after, p };
    }
    return best;
}
