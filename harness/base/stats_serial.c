/* SPDX-License-Identifier: MIT */
/*
 * Short series whose neighbours are alike. For an AR(1) process with correlation r between
 * neighbours and variance 1, a mean of n has variance
 *     v = (1 + r) / (n (1 - r)) - 2 r (1 - r^n) / (n^2 (1 - r)^2)
 * and correlates with the first and the last value by c = (1 - r^n) / (n (1 - r)).
 */
#include "base/stats.h"

#include <math.h>

static double mean_variance(double n, double r)
{
    return (1 + r) / (n * (1 - r)) - 2 * r * (1 - pow(r, n)) / (n * n * (1 - r) * (1 - r));
}

double stats_lag1(const double *x, size_t n)
{
    double mean = stats_mean(x, n), products = 0, squares = 0;

    for (size_t i = 0; i < n; i++) {
        squares += (x[i] - mean) * (x[i] - mean);
        if (i > 0)
            products += (x[i] - mean) * (x[i - 1] - mean);
    }
    return squares > 0 ? products / squares : NAN;
}

double stats_lag1_expected(size_t n, double r)
{
    double size = (double)n, v = mean_variance(size, r);
    double c = (1 - pow(r, size)) / (size * (1 - r));

    return ((size - 1) * r - (size + 1) * v + 2 * c) / (size * (1 - v));
}

double stats_serial_factor(size_t n, double r)
{
    double size = (double)n, v = mean_variance(size, r);

    return n < 2 ? 1 : v * (size - 1) / (1 - v);
}
