/* SPDX-License-Identifier: MIT */
/*
 * Pure arithmetic on samples: order statistics with intervals, moments, small-sample tests,
 * distribution functions. No state, no allocation that outlives a call, no I/O.
 */
#ifndef HARNESS_STATS_STATS_H
#define HARNESS_STATS_STATS_H

#include <stdbool.h>
#include <stddef.h>

struct interval {
    double low, high; /* NaN where the data cannot carry one */
};

void stats_sort(double *x, size_t n); /* ascending; NaN is not allowed */

/* How many of the sorted values are below `x` (or, with `or_equal`, not above it). By halves: it is
 * asked of large families for each of their rows. */
size_t stats_count_below(const double *sorted, size_t n, double x, bool or_equal);

/* Quantile p of sorted data by linear interpolation (Hyndman and Fan's type 7). NaN if n = 0. */
double stats_quantile(const double *sorted, size_t n, double p);
/* The same of unsorted data, which it reorders, in linear time on average. */
double stats_select_quantile(double *x, size_t n, double p);
/* Distribution-free interval for quantile p from order statistics (binomial; David and Nagaraja,
 * Order Statistics, section 7.1): the fewest neighbouring order statistics whose coverage reaches
 * `confidence`. It takes the samples as independent. NaN limits where n is too small. */
struct interval stats_quantile_interval(const double *sorted, size_t n, double p,
                                        double confidence);
/* Smallest n for which stats_quantile_interval() has limits: 1 - p^n - (1 - p)^n >= confidence.
 * For p = 0.99 that is 299 at 95 % and 459 at 99 %. 0 unless both arguments are inside (0, 1). */
size_t stats_quantile_needs(double p, double confidence);

double stats_mean(const double *x, size_t n);
double stats_sd(const double *x, size_t n); /* n - 1 in the denominator; NaN if n < 2 */
double stats_median(double *x, size_t n);   /* sorts x */
/* medians[i] is that of the last `window` values up to the i-th; of fewer at the beginning. In
 * n log n steps, whatever the window, which is 1 or more. NaN is not allowed in x. */
void stats_rolling_median(const double *x, size_t n, size_t window, double *medians);
struct interval stats_mean_interval(const double *x, size_t n, double confidence); /* Student t */

/* Distribution functions, to about 1e-12 (relative, in the tails too). Quantiles of p = 0 and 1 are
 * infinite, of p outside [0, 1] NaN. Student's t takes df = INFINITY as normal. */
double stats_normal_cdf(double z);
double stats_normal_quantile(double p);
double stats_t_cdf(double t, double df);
double stats_t_quantile(double p, double df);
double stats_beta_cdf(double x, double a, double b); /* regularised incomplete beta */
double stats_beta_quantile(double p, double a, double b);
double stats_f_tail(double f, double df1, double df2); /* P(F > f) */
double stats_f_quantile(double p, double df1, double df2);
double stats_binomial_cdf(size_t k, size_t n, double p);
/* P(X >= k), where X of `nr` drawn from `all`, without putting back, are of the `marked` ones:
 * Fisher's exact test, one-sided. */
double stats_draw_tail(size_t k, size_t nr, size_t marked, size_t all);
/* Clopper-Pearson interval for k successes out of n. */
struct interval stats_proportion_interval(size_t k, size_t n, double confidence);

/* Welch's test: difference of means mean(y) - mean(x), its standard error and degrees of freedom
 * (Welch 1947). se = NaN if either side has fewer than 2 values. */
struct welch {
    double difference, se, df;
};
struct welch stats_welch(const double *x, size_t nx, const double *y, size_t ny);

/* How variances are spread over many similar groups: s^2 / scale ~ F(df of s^2, df). */
struct variance_prior {
    double scale; /* s0^2: the typical variance; NaN if none could be fitted */
    double df;    /* d0: how many degrees of freedom that knowledge is worth; 0 if none */
};
/* Fits the prior of Smyth 2004 ("Linear models and empirical Bayes methods for assessing
 * differential expression") to n variances with `df` degrees of freedom each: the scale by their
 * median, the df by how well each explains the logs, with a share of odd groups allowed for, so
 * that a few odd groups do not count. Few variances tell little, and the answer's df says so; it is
 * at most `df_max`. Fewer than 4 variances, or most of them zero: no prior. */
struct variance_prior stats_variance_prior(const double *variances, size_t n, double df,
                                           double df_max);

/* How alike neighbours in a short series are: sum of products of neighbouring deviations from the
 * mean over the sum of their squares. NaN without any spread. */
double stats_lag1(const double *x, size_t n);
/* What stats_lag1() comes to, as a ratio of expectations, where x is AR(1) with correlation r in
 * [0, 1) between neighbours: -1/n at r = 0, because the mean is the series' own (Marriott and Pope
 * 1954 on that bias). Rises with r; n >= 2. */
double stats_lag1_expected(size_t n, double r);
/* The variance of the mean of such a series over what s^2 / n is on average: 1 at r = 0. */
double stats_serial_factor(size_t n, double r);

/* One-sided Mann-Whitney p-value for "y tends to be larger than x": the probability, over all ways
 * to deal out the observed ranks, of a rank sum of y as large as this one or larger. Mid-ranks for
 * ties. Exact for nx + ny <= 20, else the normal approximation with tie and continuity
 * correction. NaN if a side is empty. */
double stats_rank_test_greater(const double *x, size_t nx, const double *y, size_t ny);
/* Two-sided Mann-Whitney U test: exact where n is small and there are no ties, else the normal
 * approximation with tie and continuity correction (the rule of scipy.stats.mannwhitneyu, whose
 * values Google Benchmark's tools print). */
double stats_mann_whitney(const double *x, size_t nx, const double *y, size_t ny);

/* Benjamini and Hochberg 1995: q[i] = smallest false-discovery rate at which hypothesis i would
 * be rejected. NaN p-values stay NaN and do not count in the family. */
void stats_fdr(const double *p, double *q, size_t n);

#endif
