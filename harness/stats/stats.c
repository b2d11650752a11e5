/* SPDX-License-Identifier: MIT */
/* Order statistics and moments. */
#include "stats/stats.h"

#include <math.h>

static const struct interval no_interval = { NAN, NAN };

double stats_quantile(const double *sorted, size_t n, double p)
{
    if (n == 0 || !(p >= 0 && p <= 1))
        return NAN;
    double at = p * (double)(n - 1);
    size_t low = (size_t)at;
    if (low + 1 >= n)
        return sorted[n - 1];
    return sorted[low] + (at - (double)low) * (sorted[low + 1] - sorted[low]);
}

static double log_choose(double n, double k)
{
    int sign;

    return lgamma_r(n + 1, &sign) - lgamma_r(k + 1, &sign) - lgamma_r(n - k + 1, &sign);
}

double stats_draw_tail(size_t k, size_t nr, size_t marked, size_t all)
{
    size_t least = nr + marked > all ? nr + marked - all : 0, most = nr < marked ? nr : marked;
    double n = (double)nr, m = (double)marked, rest = (double)(all - marked), sum = 0;

    if (k <= least)
        return 1;
    for (size_t x = k; x <= most; x++)
        sum += exp(log_choose(m, (double)x) + log_choose(rest, n - (double)x) -
                   log_choose((double)all, n));
    return fmin(sum, 1);
}

/*
 * The interval [x(r), x(s)] (1-based) covers the quantile iff the number B of samples below it has
 * r <= B <= s - 1. B is binomial(n, p), so the likeliest values of B are collected, outwards from
 * the mode, until they reach the confidence.
 */
struct interval stats_quantile_interval(const double *sorted, size_t n, double p, double confidence)
{
    if (n < 2 || !(p > 0 && p < 1))
        return no_interval;
    double size = (double)n, odds = p / (1 - p);
    double mode = fmin(fmax(floor((size + 1) * p), 1), size - 1), low = mode, high = mode;
    double at_low = exp(log_choose(size, mode) + mode * log(p) + (size - mode) * log1p(-p));
    double at_high = at_low, coverage = at_low;

    while (coverage < confidence) {
        double below = low > 1 ? at_low * low / (size - low + 1) / odds : -1;
        double above = high < size - 1 ? at_high * (size - high) / (high + 1) * odds : -1;
        if (below < 0 && above < 0)
            return no_interval;
        if (below > above) {
            at_low = below;
            low--;
        } else {
            at_high = above;
            high++;
        }
        coverage += fmax(below, above);
    }
    return (struct interval) { sorted[(size_t)low - 1], sorted[(size_t)high] };
}

size_t stats_quantile_needs(double p, double confidence)
{
    if (!(p > 0 && p < 1 && confidence > 0 && confidence < 1))
        return 0;
    /* The rarer side decides; start a little below its answer. */
    double rare = fmin(p, 1 - p), guess = floor(log1p(-confidence) / log1p(-rare)) - 1;
    size_t n = guess > 2 ? (size_t)guess : 2;
    while (1 - pow(p, (double)n) - pow(1 - p, (double)n) < confidence)
        n++;
    return n;
}

double stats_mean(const double *x, size_t n)
{
    double sum = 0, rest = 0;

    if (n == 0)
        return NAN;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    double mean = sum / (double)n;
    /* A second pass takes back what the rounding of the sum lost. */
    for (size_t i = 0; i < n; i++)
        rest += x[i] - mean;
    return mean + rest / (double)n;
}

double stats_sd(const double *x, size_t n)
{
    double mean = stats_mean(x, n), squares = 0, rest = 0;

    if (n < 2)
        return NAN;
    for (size_t i = 0; i < n; i++) {
        double d = x[i] - mean;
        squares += d * d;
        rest += d;
    }
    return sqrt(fmax(squares - rest * rest / (double)n, 0) / (double)(n - 1));
}

double stats_median(double *x, size_t n)
{
    stats_sort(x, n);
    return stats_quantile(x, n, 0.5);
}

struct interval stats_mean_interval(const double *x, size_t n, double confidence)
{
    if (n < 2 || !(confidence > 0 && confidence < 1))
        return no_interval;
    double mean = stats_mean(x, n);
    double half =
        stats_t_quantile((1 + confidence) / 2, (double)(n - 1)) * stats_sd(x, n) / sqrt((double)n);
    return (struct interval) { mean - half, mean + half };
}

/*
 * Short series whose neighbours are alike. For an AR(1) process with correlation r between
 * neighbours and variance 1, a mean of n has variance
 *     v = (1 + r) / (n (1 - r)) - 2 r (1 - r^n) / (n^2 (1 - r)^2)
 * and correlates with the first and the last value by c = (1 - r^n) / (n (1 - r)).
 */
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
