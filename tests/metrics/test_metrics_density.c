/* SPDX-License-Identifier: MIT */
/* Densities, cumulative curves and thinned series against what is known of their distributions.
 * Covers: S1-35, S1-36. */
#include "testing.h"

#include "base/memory.h"
#include "metrics/density.h"
#include "metrics/thin_series.h"
#include "stats/random.h"
#include "stats/stats.h"

#include <stdlib.h>

static double area(const struct density *d)
{
    double sum = 0;

    for (size_t i = 1; i < d->nr; i++)
        sum += (d->at[i] - d->at[i - 1]) * (d->value[i] + d->value[i - 1]) / 2;
    return sum;
}

static double value_near(const struct density *d, double x)
{
    size_t best = 0;

    for (size_t i = 0; i < d->nr; i++)
        if (fabs(d->at[i] - x) < fabs(d->at[best] - x))
            best = i;
    return d->value[best];
}

static size_t count_humps(const struct density *d)
{
    size_t humps = 0;

    for (size_t i = 1; i + 1 < d->nr; i++)
        humps += d->value[i] > d->value[i - 1] && d->value[i] >= d->value[i + 1] &&
                 d->value[i] > 0.1 * d->highest;
    return humps;
}

TEST(normal_samples)
{
    enum { N = 4000 };
    double *x = memory_zeroed(N, sizeof(*x));
    struct random random;
    struct density d;

    random_seed(&random, 7);
    for (int i = 0; i < N; i++)
        x[i] = 100 + 10 * random_normal(&random);
    stats_sort(x, N);
    assert_true(density_fill(&d, x, N, -INFINITY, INFINITY));
    assert_close(area(&d), 1, 0.01);
    for (int half = -4; half <= 4; half++) {
        double z = half / 2.0;
        double expected = exp(-z * z / 2) / sqrt(2 * M_PI) / 10;
        assert_close(value_near(&d, 100 + 10 * z), expected, 0.1 * 0.0399);
    }
    /* The plug-in is near the best bandwidth for a normal, 1.06 sd n^(-1/5). */
    double best = 1.06 * 10 * pow(N, -0.2);
    assert_true(d.bandwidth > 0.7 * best && d.bandwidth < 1.3 * best);
    free(x);
}

/* Two modes four widths apart are what a rule for one hump melts together. */
TEST(two_modes)
{
    enum { N = 2000 };
    double *x = memory_zeroed(N, sizeof(*x));
    struct random random;
    struct density d;

    random_seed(&random, 3);
    for (int i = 0; i < N; i++)
        x[i] = 1000 + (i % 3 == 0 ? 60 : 0) + 6 * random_normal(&random);
    stats_sort(x, N);
    assert_true(density_fill(&d, x, N, -INFINITY, INFINITY));
    assert_int_equal(count_humps(&d), 2);
    assert_true(value_near(&d, 1030) < 0.1 * value_near(&d, 1000));
    assert_close(value_near(&d, 1000) / value_near(&d, 1060), 2, 0.5);
    free(x);
}

/* Times have a floor: nothing leaks below it, and what would is folded back. */
TEST(floor_is_kept)
{
    enum { N = 5000 };
    double *x = memory_zeroed(N, sizeof(*x));
    struct random random;
    struct density d;

    random_seed(&random, 11);
    for (int i = 0; i < N; i++)
        x[i] = 50 - 5 * log(1 - random_uniform(&random)); /* exponential above 50 */
    stats_sort(x, N);
    assert_true(density_fill(&d, x, N, 0, x[N - 1]));
    assert_close(d.at[0], x[0], 1e-9);
    assert_true(d.value[0] > 0.8 * 0.2); /* 1/5 at the edge; half of it without folding */
    assert_close(area(&d), 1, 0.02);
    free(x);
}

/* A clock of 20 ns: eleven values, no comb. */
TEST(coarse_clock)
{
    enum { N = 3000 };
    double *x = memory_zeroed(N, sizeof(*x));
    struct random random;
    struct density d;

    random_seed(&random, 5);
    for (int i = 0; i < N; i++)
        x[i] = 20 * round((1000 + 40 * random_normal(&random)) / 20);
    stats_sort(x, N);
    assert_true(density_fill(&d, x, N, -INFINITY, INFINITY));
    assert_true(d.bandwidth >= 0.75 * 20);
    assert_int_equal(count_humps(&d), 1);
    free(x);
}

/* The part that is looked at, as a share of all samples. */
TEST(part_of_the_samples)
{
    double x[100];
    struct density d;

    for (int i = 0; i < 100; i++)
        x[i] = i < 90 ? 10 + i * 0.01 : 1000 * i;
    assert_true(density_fill(&d, x, 100, 0, 20));
    assert_close(area(&d), 0.9, 0.03);
    assert_true(d.at[d.nr - 1] < 20);
}

TEST(no_shape)
{
    const double alike[] = { 3, 3, 3 }, one[] = { 3 }, two[] = { 3, 4 };
    struct density d;

    assert_false(density_fill(&d, NULL, 0, 0, 1));
    assert_false(density_fill(&d, one, 1, 0, 10));
    assert_false(density_fill(&d, alike, 3, 0, 10));
    assert_false(density_fill(&d, two, 2, 5, 10)); /* none within */
    assert_true(density_fill(&d, two, 2, 0, 10));
    assert_true(isfinite(d.bandwidth) && d.bandwidth > 0 && isfinite(d.highest));
}

static double share_at(const double *sorted, size_t n, double x)
{
    size_t below = 0;

    while (below < n && sorted[below] <= x)
        below++;
    return (double)below / (double)n;
}

TEST(ecdf_is_near)
{
    enum { N = 20000, MOST = 82 };
    double *x = memory_zeroed(N, sizeof(*x));
    struct ecdf_point points[MOST];
    struct random random;

    random_seed(&random, 9);
    for (int i = 0; i < N; i++)
        x[i] = exp(random_normal(&random)) + (i % 2 ? 20 : 0);
    stats_sort(x, N);
    size_t nr = ecdf_fill(points, MOST, x, N, -INFINITY, INFINITY);
    assert_true(nr > 20 && nr <= MOST);
    assert_close(points[0].x, x[0], 0);
    assert_close(points[nr - 1].x, x[N - 1], 0);
    assert_close(points[nr - 1].share, 1, 0);
    for (size_t i = 0; i < nr; i++) {
        assert_close(points[i].share, share_at(x, N, points[i].x), 1e-12);
        if (i > 0) {
            double middle = (points[i].x + points[i - 1].x) / 2;
            assert_true(points[i].x > points[i - 1].x);
            assert_true(share_at(x, N, middle) - points[i - 1].share <= 2.0 / (MOST - 2) + 1e-9);
        }
    }
    free(x);
}

TEST(ecdf_of_few)
{
    const double x[] = { 1, 1, 2, 2, 2, 7 };
    struct ecdf_point points[10];

    assert_int_equal(ecdf_fill(points, 10, x, 6, 0, 10), 3);
    assert_close(points[0].share, 2 / 6.0, 1e-12);
    assert_close(points[1].share, 5 / 6.0, 1e-12);
    assert_close(points[2].share, 1, 1e-12);
    assert_int_equal(ecdf_fill(points, 10, x, 6, 0, 5), 2); /* the share is of all */
    assert_close(points[1].share, 5 / 6.0, 1e-12);
    assert_int_equal(ecdf_fill(points, 10, x, 6, 3, 6), 0);
    assert_int_equal(ecdf_fill(points, 10, NULL, 0, 3, 6), 0);
}

/* Outliers survive any thinning; NaN is no outlier. */
TEST(thinned_series)
{
    enum { N = 100000, MOST = 400 };
    double *x = memory_zeroed(N, sizeof(*x));
    size_t kept[MOST], seen = 0;
    struct random random;

    random_seed(&random, 21);
    for (size_t i = 0; i < N; i++)
        x[i] = 100 + random_uniform(&random);
    x[17] = 1e6;
    x[N - 1] = 1;
    for (size_t i = 5000; i < 5600; i++)
        x[i] = NAN;
    size_t nr = thin_series(x, N, MOST, kept);
    assert_true(nr > MOST / 2 && nr <= MOST);
    for (size_t i = 0; i < nr; i++) {
        assert_true(i == 0 || kept[i] > kept[i - 1]);
        seen += kept[i] == 17 || kept[i] == N - 1;
    }
    assert_int_equal(seen, 2);
    assert_int_equal(thin_series(x, MOST, MOST, kept), MOST);
    assert_int_equal(kept[MOST - 1], MOST - 1);
    assert_int_equal(thin_series(x, 0, MOST, kept), 0);
    free(x);
}

RUN_TESTS(NULL, NULL)
