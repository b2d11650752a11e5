/* SPDX-License-Identifier: MIT */
/* How variances are spread over many groups, so that each can borrow from all: the prior of
 * moderated tests. */
#include "base/memory.h"
#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
