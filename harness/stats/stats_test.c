/* SPDX-License-Identifier: MIT */
/* Tests for small samples. */
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
        double below = (double)stats_count_below(sorted, n, value, false);
        double equal = (double)stats_count_below(sorted, n, value, true) - below;
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
 * of `ways` holds for each sum the number of ways to reach it with k of the numbers, of which
 * most[k] is the largest so far. */
static double subset_tail(const double *numbers, size_t n, size_t take, double target)
{
    size_t top = take * (size_t)largest_of(numbers, n) + 1;
    double *ways = memory_zeroed((take + 1) * top, sizeof(*ways)), all = 0, tail = 0;
    size_t *most = memory_zeroed(take + 1, sizeof(*most));

    ways[0] = 1;
    for (size_t i = 0; i < n; i++) {
        size_t value = (size_t)numbers[i];
        for (size_t k = i + 1 < take ? i + 1 : take; k > 0; k--) {
            const double *fewer = ways + (k - 1) * top;
            double *more = ways + k * top + value;
            for (size_t s = 0; s <= most[k - 1]; s++)
                more[s] += fewer[s];
            if (most[k] < most[k - 1] + value)
                most[k] = most[k - 1] + value;
        }
    }
    for (size_t s = 0; s < top; s++) {
        all += ways[take * top + s];
        tail += (double)s >= target ? ways[take * top + s] : 0;
    }
    free(ways);
    free(most);
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
