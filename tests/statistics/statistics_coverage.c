/* SPDX-License-Identifier: MIT */
/*
 * Features: S0-03 (intervals of percentiles). Stated confidence and true coverage of the intervals
 * on distributions whose quantiles are known.
 */
#include "simulation.h"
#include "stats/random.h"
#include "stats/stats.h"
#include "testing.h"

/* Uniform samples are enough: the interval uses ranks alone, so it is the same for any
 * distribution without ties. */
static size_t covered(size_t n, double p, size_t trials, struct random *r)
{
    double x[1000];
    size_t hits = 0;

    for (size_t t = 0; t < trials; t++) {
        for (size_t i = 0; i < n; i++)
            x[i] = random_uniform(r);
        stats_sort(x, n);
        struct interval i = stats_quantile_interval(x, n, p, 0.95);
        hits += i.low <= p && p <= i.high;
    }
    return hits;
}

TEST(test_quantile_intervals)
{
    static const struct {
        size_t n;
        double p;
    } rows[] = {
        { 200, 0.05 }, { 100, 0.25 }, { 100, 0.5 },  { 1000, 0.5 },
        { 100, 0.75 }, { 200, 0.9 },  { 300, 0.95 }, { 900, 0.99 },
    };
    struct random r;
    char what[96];
    random_seed(&r, 11);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        size_t trials = 4000, hits = covered(rows[i].n, rows[i].p, trials, &r);
        snprintf(what, sizeof(what), "interval of p%g from %zu samples", 100 * rows[i].p,
                 rows[i].n);
        assert_rate_at_least(what, hits, trials, 0.95);
        assert_rate_at_most(what, hits, trials, 0.965);
    }
}

TEST(test_mean_intervals)
{
    size_t hits = 0, trials = 20000;
    struct random r;
    random_seed(&r, 12);
    for (size_t t = 0; t < trials; t++) {
        double x[5];
        for (int i = 0; i < 5; i++)
            x[i] = 3 + 0.1 * random_normal(&r);
        struct interval i = stats_mean_interval(x, 5, 0.95);
        hits += i.low <= 3 && 3 <= i.high;
    }
    assert_rate_at_least("interval of a mean of 5", hits, trials, 0.95);
    assert_rate_at_most("interval of a mean of 5", hits, trials, 0.95);
}

/* Clopper and Pearson promise at least the confidence; exact, over every number of successes. */
TEST(test_proportion_intervals)
{
    double least = 1;
    for (double p = 0.013; p < 1; p += 0.031) {
        double coverage = 0;
        for (size_t k = 0; k <= 40; k++) {
            struct interval i = stats_proportion_interval(k, 40, 0.95);
            double below = k > 0 ? stats_binomial_cdf(k - 1, 40, p) : 0;
            if (i.low <= p && p <= i.high)
                coverage += stats_binomial_cdf(k, 40, p) - below;
        }
        assert_true(coverage >= 0.95);
        least = fmin(least, coverage);
    }
    assert_true(least < 0.97); /* and it is not simply far too wide */
}

/* p-values of the rank test under no difference: P(p <= a) <= a, and near it. */
TEST(test_rank_level)
{
    size_t hits = 0, trials = 20000;
    struct random r;
    random_seed(&r, 13);
    for (size_t t = 0; t < trials; t++) {
        double x[5], y[5];
        for (int i = 0; i < 5; i++) {
            x[i] = noise_draw(&r, NOISE_HEAVY);
            y[i] = noise_draw(&r, NOISE_HEAVY);
        }
        hits += stats_rank_test_greater(x, 5, y, 5) <= 0.05;
    }
    assert_rate_at_most("rank test at 5 %, 5 against 5", hits, trials, 0.05);
    assert_rate_at_least("rank test at 5 %, 5 against 5", hits, trials, 0.045);
}

RUN_TESTS(NULL, NULL)
