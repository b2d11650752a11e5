/* SPDX-License-Identifier: MIT */
/* Features: S0-03, U-05 (percentiles): a quantile without sorting is the quantile with it. */
#include "testing.h"

#include "base/memory.h"
#include "stats/random.h"
#include "stats/stats.h"

#include <stdlib.h>

enum { MOST = 300 };

/* Several kinds of data that are hard on selections: ties, order, one odd value. */
static double draw(struct random *r, int kind, size_t i)
{
    switch (kind) {
    case 0:
        return random_normal(r);
    case 1:
        return (double)random_below(r, 4);
    case 2:
        return (double)i;
    case 3:
        return -(double)i;
    case 4:
        return i % 2 ? (double)i : -(double)i;
    default:
        return i == 7 ? 1e300 : 1;
    }
}

TEST(test_like_sorting)
{
    static const double shares[] = { 0, 0.05, 0.25, 0.5, 0.501, 0.95, 0.999, 1 };
    double x[MOST], sorted[MOST];
    struct random r;
    random_seed(&r, 4);
    for (int round = 0; round < 3000; round++) {
        size_t n = 1 + (size_t)random_below(&r, round % 2 ? MOST : 9);
        for (size_t i = 0; i < n; i++)
            sorted[i] = draw(&r, round % 6, i);
        memcpy(x, sorted, n * sizeof(*x));
        stats_sort(sorted, n);
        for (size_t k = 0; k < sizeof(shares) / sizeof(shares[0]); k++) {
            double expected = stats_quantile(sorted, n, shares[k]);
            assert_true(stats_select_quantile(x, n, shares[k]) == expected);
        }
        stats_sort(x, n); /* nothing was lost on the way */
        assert_memory_equal(x, sorted, n * sizeof(*x));
    }
}

/* Ties, what lies between two values and beyond all of them, and nothing at all; what is no number
 * is not above anything. */
TEST(test_places_in_what_is_sorted)
{
    double x[MOST];
    struct random r;

    random_seed(&r, 6);
    for (int round = 0; round < 600; round++) {
        size_t n = (size_t)random_below(&r, round % 2 ? MOST : 9);
        for (size_t i = 0; i < n; i++)
            x[i] = draw(&r, round % 6, i);
        stats_sort(x, n);
        for (int k = 0; k < 40; k++) {
            double at = k % 2 && n ? x[random_below(&r, n)] : draw(&r, round % 6, (size_t)k) + 0.5;
            size_t below = 0, equal = 0;
            for (size_t i = 0; i < n; i++) {
                below += x[i] < at;
                equal += x[i] == at;
            }
            assert_int_equal(stats_count_below(x, n, at, false), below);
            assert_int_equal(stats_count_below(x, n, at, true), below + equal);
        }
        assert_int_equal(stats_count_below(x, n, NAN, true), 0);
    }
}

/* Windows narrower and wider than the series, over ties, order and odd values. */
TEST(test_rolling_median)
{
    double x[MOST], part[MOST], medians[MOST];
    struct random r;

    random_seed(&r, 5);
    for (int round = 0; round < 600; round++) {
        size_t n = 1 + (size_t)random_below(&r, round % 2 ? MOST : 9);
        size_t window = 1 + (size_t)random_below(&r, round % 3 ? 12 : 2 * MOST);
        for (size_t i = 0; i < n; i++)
            x[i] = draw(&r, round % 6, i);
        stats_rolling_median(x, n, window, medians);
        for (size_t i = 0; i < n; i++) {
            size_t nr = i < window ? i + 1 : window;
            memcpy(part, x + i + 1 - nr, nr * sizeof(*part));
            assert_true(medians[i] == stats_median(part, nr));
        }
    }
    stats_rolling_median(x, 0, 5, medians); /* nothing */
}

TEST(test_degenerate)
{
    double one[] = { 3 };
    assert_true(isnan(stats_select_quantile(one, 0, 0.5)));
    assert_true(isnan(stats_select_quantile(one, 1, 1.5)));
    assert_true(isnan(stats_select_quantile(one, 1, NAN)));
    assert_true(stats_select_quantile(one, 1, 0.99) == 3);
}

RUN_TESTS(NULL, NULL)
