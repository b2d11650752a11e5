/* SPDX-License-Identifier: MIT */
/* Tests for small samples, and how variances are spread over many groups. */
#include "base/memory.h"
#include "stats/stats.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct welch stats_welch(const double *x, size_t nx, const double *y, size_t ny)
{
    struct welch w = { stats_mean(y, ny) - stats_mean(x, nx), NAN, NAN };

    if (nx < 2 || ny < 2)
        return w;
    double sx = stats_sd(x, nx), sy = stats_sd(y, ny);
    double vx = sx * sx / (double)nx, vy = sy * sy / (double)ny;
    w.se = sqrt(vx + vy);
    /* Satterthwaite's degrees of freedom; without any spread, those of a pooled variance. */
    if (w.se > 0)
        w.df = (vx + vy) * (vx + vy) / (vx * vx / (double)(nx - 1) + vy * vy / (double)(ny - 1));
    else
        w.df = (double)(nx + ny - 2);
    return w;
}

enum { PRIOR_STEPS = 56 };

static const double prior_least = 0.5; /* degrees of freedom */
/* One group in a thousand may be of no family: its variance is anything within a factor of a
 * million.
 */
static const double odd_share = 1e-3, odd_range = 13.8;
/* What a median of variances is worth of their degrees of freedom. */
static const double median_worth = 0.6;

/* Log of how well F(df, prior) explains the variances, whose logs over the scale that the median
 * gives are `from`. */
static double prior_likelihood(const double *from, size_t n, double df, double prior)
{
    double sum = 0, both = 0.5 * (df + prior), middle = log(stats_f_quantile(0.5, df, prior));
    double constant = lgamma(both) - lgamma(0.5 * df) - lgamma(0.5 * prior) +
                      0.5 * df * log(df / prior) + log(1 - odd_share);

    for (size_t i = 0; i < n; i++) {
        double x = from[i] + middle;
        double density = exp(constant + 0.5 * df * x - both * log1p(df / prior * exp(x)));
        sum += log(density + odd_share / odd_range);
    }
    return sum;
}

/* The mean of the log of the prior over what it may be: evenly spread before anything is seen. */
static double mean_log_prior(const double *from, size_t n, double df, double most)
{
    double log_of[PRIOR_STEPS], best = -INFINITY, weights = 0, sum = 0;
    double ratio = pow(most / prior_least, 1.0 / (PRIOR_STEPS - 1));

    for (int i = 0; i < PRIOR_STEPS; i++) {
        log_of[i] = prior_likelihood(from, n, df, prior_least * pow(ratio, i));
        best = fmax(best, log_of[i]);
    }
    for (int i = 0; i < PRIOR_STEPS; i++) {
        double weight = exp(log_of[i] - best);
        weights += weight;
        sum += weight * log(prior_least * pow(ratio, i));
    }
    return sum / weights;
}

struct variance_prior stats_variance_prior(const double *variances, size_t n, double df,
                                           double df_max)
{
    struct variance_prior prior = { NAN, 0 };
    size_t used = 0;

    if (n < 4)
        return prior;
    double *sorted = memory_zeroed(n, sizeof(*sorted));
    memcpy(sorted, variances, n * sizeof(*sorted));
    double middle = stats_median(sorted, n);
    if (middle > 0 && df > 0) {
        for (size_t i = 0; i < n; i++)
            if (sorted[i] > 0)
                sorted[used++] = log(sorted[i] / middle);
        double inverse = exp(-mean_log_prior(sorted, used, df, 8 * df_max));
        prior.df = fmin(df_max, 1 / (inverse + 1 / (median_worth * df * ((double)n - 1))));
        prior.scale = middle / stats_f_quantile(0.5, df, prior.df);
    }
    free(sorted);
    return prior;
}

/* How many of the sorted values are below `x` (or, with `or_equal`, not above it). */
static size_t count_below(const double *sorted, size_t n, double x, bool or_equal)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sorted[middle] < x || (or_equal && sorted[middle] == x))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Twice the mid-ranks of x followed by y, so that they are whole numbers; `ties` gets the sum of
 * t^3 - t over groups of t equal values. */
static double *double_ranks(const double *x, size_t nx, const double *y, size_t ny, double *ties)
{
    size_t n = nx + ny;
    double *sorted = memory_zeroed(n, sizeof(*sorted)), *ranks = memory_zeroed(n, sizeof(*ranks));

    memcpy(sorted, x, nx * sizeof(*sorted));
    memcpy(sorted + nx, y, ny * sizeof(*sorted));
    stats_sort(sorted, n);
    *ties = 0;
    for (size_t i = 0; i < n; i++) {
        double value = i < nx ? x[i] : y[i - nx];
        double below = (double)count_below(sorted, n, value, false);
        double equal = (double)count_below(sorted, n, value, true) - below;
        ranks[i] = 2 * below + equal + 1;
        *ties += equal * equal - 1; /* summed over a group of t: t (t^2 - 1) */
    }
    free(sorted);
    return ranks;
}

static double sum_of(const double *x, size_t n)
{
    double total = 0;

    for (size_t i = 0; i < n; i++)
        total += x[i];
    return total;
}

static double largest_of(const double *x, size_t n)
{
    double most = x[0];

    for (size_t i = 1; i < n; i++)
        most = fmax(most, x[i]);
    return most;
}

/* P(sum of `take` of the n whole numbers, drawn at random, >= target), by counting subsets: row k
 * of `ways` holds for each sum the number of ways to reach it with k of the numbers. */
static double subset_tail(const double *numbers, size_t n, size_t take, double target)
{
    size_t top = take * (size_t)largest_of(numbers, n) + 1;
    double *ways = memory_zeroed((take + 1) * top, sizeof(*ways)), all = 0, tail = 0;

    ways[0] = 1;
    for (size_t i = 0; i < n; i++) {
        size_t value = (size_t)numbers[i];
        for (size_t k = i + 1 < take ? i + 1 : take; k > 0; k--)
            for (size_t s = value; s < top; s++)
                ways[k * top + s] += ways[(k - 1) * top + s - value];
    }
    for (size_t s = 0; s < top; s++) {
        all += ways[take * top + s];
        tail += (double)s >= target ? ways[take * top + s] : 0;
    }
    free(ways);
    return tail / all;
}

/* Upper tail of the normal approximation of U, half a step towards the middle. */
static double rank_normal_tail(double u, double nx, double ny, double ties)
{
    double n = nx + ny, variance = nx * ny / 12 * (n + 1 - ties / (n * (n - 1)));

    if (!(variance > 0))
        return 1;
    return stats_normal_cdf(-(u - nx * ny / 2 - 0.5) / sqrt(variance));
}

double stats_rank_test_greater(const double *x, size_t nx, const double *y, size_t ny)
{
    double ties, p;

    if (nx == 0 || ny == 0)
        return NAN;
    double *ranks = double_ranks(x, nx, y, ny, &ties), observed = sum_of(ranks + nx, ny);
    if (nx + ny <= 20) {
        p = subset_tail(ranks, nx + ny, ny, observed);
    } else {
        double size = (double)ny;
        p = rank_normal_tail((observed - size * (size + 1)) / 2, (double)nx, size, ties);
    }
    free(ranks);
    return p;
}

double stats_mann_whitney(const double *x, size_t nx, const double *y, size_t ny)
{
    double ties, tail;

    if (nx == 0 || ny == 0)
        return NAN;
    double *ranks = double_ranks(x, nx, y, ny, &ties), size = (double)nx, other = (double)ny;
    double u = (sum_of(ranks, nx) - size * (size + 1)) / 2, far = fmax(u, size * other - u);
    if (ties > 0 || (nx > 8 && ny > 8)) {
        tail = rank_normal_tail(far, size, other, ties);
    } else { /* without ties U has the same distribution from either side: count the smaller */
        double few = fmin(size, other);
        tail = subset_tail(ranks, nx + ny, (size_t)few, 2 * far + few * (few + 1));
    }
    free(ranks);
    return fmin(1, 2 * tail);
}
