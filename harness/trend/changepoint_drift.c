/* SPDX-License-Identifier: MIT */
/* The slope of a series about the levels between its steps. */
#include "base/memory.h"
#include "trend/changepoint_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Subtracts each segment's own mean. */
static void centre_segments(double *x, size_t n, const struct cut_list *cuts)
{
    for (size_t i = 0; i <= cuts->nr; i++) {
        size_t from = segment_start(cuts, i), to = segment_end(cuts, i, n);
        double mean = stats_mean(x + from, to - from);
        for (size_t t = from; t < to; t++)
            x[t] -= mean;
    }
}

struct slope {
    double value, weight;
};

static int by_slope(const void *left, const void *right)
{
    const struct slope *a = left, *b = right;

    return a->value < b->value ? -1 : a->value > b->value;
}

static double weighted_median(struct slope *s, size_t nr)
{
    double total = 0, sum = 0;

    if (nr == 0)
        return 0;
    qsort(s, nr, sizeof(*s), by_slope);
    for (size_t i = 0; i < nr; i++)
        total += s[i].weight;
    for (size_t i = 0; i < nr; i++) {
        sum += s[i].weight;
        if (sum == total / 2 && i + 1 < nr)
            return 0.5 * (s[i].value + s[i + 1].value);
        if (sum > total / 2)
            return s[i].value;
    }
    return s[nr - 1].value;
}

/* Theil and Sen's slope from pairs of points a third to two thirds of their segment apart: a few
 * distances are enough (their weight is the distance), and the time stays linear. */
static double robust_slope(const double *x, size_t n, const struct cut_list *cuts)
{
    enum { DISTANCES = 4 };
    struct slope *slopes = memory_zeroed(DISTANCES * n + 1, sizeof(*slopes));
    size_t found = 0;

    for (size_t i = 0; i <= cuts->nr; i++) {
        size_t from = segment_start(cuts, i), to = segment_end(cuts, i, n);
        size_t length = to - from, last = 0;
        for (size_t d = 0; d < DISTANCES; d++) {
            size_t apart = length * (DISTANCES + d) / (3 * DISTANCES - 3);
            if (apart == last || apart == 0)
                continue;
            for (size_t t = from; t + apart < to; t++)
                slopes[found++] =
                    (struct slope) { (x[t + apart] - x[t]) / (double)apart, (double)apart };
            last = apart;
        }
    }
    double slope = weighted_median(slopes, found);
    free(slopes);
    return slope;
}

static double largest_magnitude(const double *x, size_t n)
{
    double most = 0;

    for (size_t t = 0; t < n; t++)
        most = fmax(most, fabs(x[t]));
    return most;
}

static void scale_by(double *x, size_t n, double by)
{
    for (size_t t = 0; t < n; t++)
        x[t] /= by;
}

/* Half the width that makes the likelihood ratio of the slope as unlikely as the interval says. */
static double half_width(double slope, double gain, size_t n, size_t levels)
{
    double df = (double)n - (double)levels - 2;
    double t = sqrt(fmax(expm1(gain / (double)n) * fmax(df, 1), 1e-12));

    return fabs(slope) / t * stats_t_quantile(0.975, fmax(df, 1));
}

/* p = 0.05 at this gain, and an exponential tail beyond: on the safe side of simulated AR(1)
 * series with correlations up to 0.55 (tests/statistics/calibrate_changes.c), where the chi-squared
 * limit would say 3.8. */
static double usual_gain(size_t n)
{
    return fmax(7, 5 + 54 / (double)n);
}

static double tail_rate(size_t n)
{
    return 0.5 * (double)n / (double)(n + 5);
}

static double drift_p(double gain, size_t n)
{
    return fmin(1, fmax(1e-16, 0.05 * exp(tail_rate(n) * (usual_gain(n) - gain))));
}

double drift_gain(double p, size_t n)
{
    return usual_gain(n) - log(p / 0.05) / tail_rate(n);
}

/* Fewer points cannot tell a slope from a long memory. */
enum { MEMORY_LEAST = 48 };

struct drift drift_find(const double *x, size_t n, const struct cut_list *cuts, double level)
{
    double *y = memory_zeroed(2 * n + 1, sizeof(*y)), *line = y + n;
    struct fit fits[2] = { 0 };
    struct fit_grid grid;
    struct drift d = { .slope = { NAN, NAN }, .p = 1 };

    if (n < 8)
        goto out;
    d.per_point = robust_slope(x, n, cuts);
    d.total = d.per_point * (double)(n - 1);
    for (size_t t = 0; t < n; t++) {
        line[t] = (double)t;
        y[t] = x[t] - d.per_point * (double)t;
    }
    tame(y, n, cuts, y);
    for (size_t t = 0; t < n; t++)
        y[t] += d.per_point * (double)t;
    centre_segments(y, n, cuts);
    centre_segments(line, n, cuts);
    double size = largest_magnitude(y, n);
    if (!(size > 1e-12 * largest_magnitude(x, n)))
        goto out;
    scale_by(y, n, size);
    scale_by(line, n, largest_magnitude(line, n));
    const double *model[] = { line, y };
    fit_grid_init(&grid, n);
    fit_models(&grid, model, 2, 0, fits);
    if (n >= MEMORY_LEAST)
        fit_long_memory(model, 2, n, fits);
    double gain = fits[0].cost - fits[1].cost,
           half = half_width(d.per_point, gain, n, cuts->nr + 1);
    d.p = drift_p(gain, n);
    d.found = d.p <= level && fabs(d.per_point) > 0;
    d.slope = (struct interval) { d.per_point - half, d.per_point + half };
out:
    free(y);
    return d;
}

/* What a step pays for its place, the usual log n; less where the points are few, for there a line
 * hides a step of two sigma: of those in 20, 30 and 50 points 14, 11 and 5 % were called a drift,
 * and 4, 4 and 4 % are (statistics_changes.c). */
static double place_pays(size_t n)
{
    return fmin(log((double)n), ((double)n - 28) / 8);
}

/* Costs of a line and of the best step, in what is tame about them. */
bool drift_is_step(const double *x, size_t n, size_t least)
{
    double *y = memory_zeroed(4 * n + 1, sizeof(*y)), *one = y + n, *line = y + 2 * n,
           *step = y + 3 * n;
    struct cut_list none = { 0 };
    struct fit by_line[3], by_step[3];
    struct fit_grid grid;

    tame(x, n, &none, y);
    size_t at = split_best(y, n, least);
    double mean = stats_mean(y, n);
    for (size_t t = 0; t < n; t++) {
        y[t] -= mean;
        one[t] = 1;
        line[t] = (2 * (double)t + 1) / (double)n - 1;
        step[t] = t < at ? 0 : 1;
    }
    scale_by(y, n, largest_magnitude(y, n));
    fit_grid_init(&grid, n);
    fit_models(&grid, (const double *const[]) { one, line, y }, 3, 2, by_line);
    fit_models(&grid, (const double *const[]) { one, step, y }, 3, 2, by_step);
    free(y);
    return by_step[2].cost + place_pays(n) < by_line[2].cost;
}
