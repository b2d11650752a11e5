/* SPDX-License-Identifier: MIT */
/*
 * Features: S0-03 (percentiles with intervals), U-06 and U-12 (the tests behind verdicts).
 * Reference values: closed forms, published examples named beside them, 30 digits of mpmath for
 * quantiles of t, and scipy 1.10 where nothing is said.
 */
#include "testing.h"

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "stats/stats.h"

/* |got - want| <= 1e-12 relative, with room for rounding of the printed references. */
static void near(double got, double want)
{
    assert_close(got, want, 4e-12 * fmax(fabs(want), 1e-300));
}

struct known {
    double argument, a, b, value;
};

TEST(test_normal)
{
    static const struct known cdf[] = {
        { -8, 0, 0, 6.220960574271784e-16 }, { -3, 0, 0, 0.0013498980316300933 }, { 0, 0, 0, 0.5 },
        { 0.5, 0, 0, 0.6914624612740131 },   { 2, 0, 0, 0.9772498680518208 },
    };
    static const struct known quantile[] = {
        { 1e-10, 0, 0, -6.361340902404056 },  { 1e-4, 0, 0, -3.7190164854556804 },
        { 0.025, 0, 0, -1.9599639845400545 }, { 0.3, 0, 0, -0.5244005127080409 },
        { 0.975, 0, 0, 1.959963984540054 },   { 0.999, 0, 0, 3.090232306167813 },
    };
    for (size_t i = 0; i < sizeof(cdf) / sizeof(*cdf); i++)
        near(stats_normal_cdf(cdf[i].argument), cdf[i].value);
    for (size_t i = 0; i < sizeof(quantile) / sizeof(*quantile); i++)
        near(stats_normal_quantile(quantile[i].argument), quantile[i].value);
    assert_close(stats_normal_quantile(0.5), 0, 1e-15);
    assert_true(isinf(stats_normal_quantile(0)) && isnan(stats_normal_quantile(1.5)));
}

TEST(test_student)
{
    static const struct known cdf[] = {
        { -1, 1, 0, 0.25 }, /* arctangent */
        { 2, 3, 0, 0.9303370157205785 },
        { -5, 8, 0, 0.0005264128966832695 },
        { 12.5, 2.3, 0, 0.9981736439035882 },
        { -0.01, 4, 0, 0.4962500781229493 },
        { -40, 5, 0, 9.205981085886476e-08 },
        { -6, 1000, 0, 1.3776845866887337e-09 },
    };
    static const struct known quantile[] = {
        { 0.975, 1, 0, 12.706204736174707 }, /* 1 / tan(0.025 pi) */
        { 0.975, 4, 0, 2.7764451051977944 },         { 0.95, 2, 0, 2.9199855803537257 },
        { 0.9995, 8, 0, 5.0413054333733674 },        { 0.6, 3.7, 0, 0.27216446429206963 },
        { 1e-6, 6, 0, -17.830314500655446 },         { 0.025, 250, 0, -1.9694983934211536 },
        { 0.025, INFINITY, 0, -1.9599639845400545 },
    };
    for (size_t i = 0; i < sizeof(cdf) / sizeof(*cdf); i++)
        near(stats_t_cdf(cdf[i].argument, cdf[i].a), cdf[i].value);
    for (size_t i = 0; i < sizeof(quantile) / sizeof(*quantile); i++)
        near(stats_t_quantile(quantile[i].argument, quantile[i].a), quantile[i].value);
    /* The quantile is the inverse, far into the tail. */
    for (double p = 1e-12; p < 1; p *= 3.7)
        for (double df = 0.7; df < 1e4; df *= 4)
            assert_close(stats_t_cdf(stats_t_quantile(p, df), df) / p, 1, 1e-9);
}

TEST(test_beta_family)
{
    static const struct known cdf[] = {
        { 0.1, 2, 3, 0.0523 },
        { 0.9, 0.5, 7, 0.9999999780702157 },
        { 0.5, 200, 210, 0.6894852134274168 },
        { 0.001, 3, 0.5, 3.1261725786136464e-10 },
    };
    static const struct known quantile[] = {
        { 0.025, 5, 16, 0.08657146910143461 },
        { 0.5, 0.5, 0.5, 0.5 },
        { 1e-8, 3, 4, 0.0007941735408983302 },
        { 0.975, 300, 2, 0.9991943026490624 },
    };
    for (size_t i = 0; i < sizeof(cdf) / sizeof(*cdf); i++)
        near(stats_beta_cdf(cdf[i].argument, cdf[i].a, cdf[i].b), cdf[i].value);
    for (size_t i = 0; i < sizeof(quantile) / sizeof(*quantile); i++)
        near(stats_beta_quantile(quantile[i].argument, quantile[i].a, quantile[i].b),
             quantile[i].value);
    assert_close(stats_beta_cdf(0.3, 1e4, 2.5e4), 0.999999997699598, 1e-10);
    /* Of so many steps that a denominator alone would be 0: the rest is log_beta's rounding. */
    assert_close(stats_beta_cdf(0.4999, 1e6, 1e6), 0.388648717862310, 1e-8);
    near(stats_f_tail(3.5, 4, 10), 0.04918814032493143);
    near(stats_f_tail(0.2, 2, 5), 0.8249746644799177);
    near(stats_f_quantile(0.75, 4, 30), 1.4244355234644477);
    near(stats_f_quantile(0.25, 8, 4.5), 0.6020698295344549);
    near(stats_binomial_cdf(3, 10, 0.2), 0.8791261184);
    near(stats_binomial_cdf(0, 50, 0.01), 0.6050060671375366);
    near(stats_binomial_cdf(459, 500, 0.9), 0.9249107103409566);
    near(stats_binomial_cdf(10, 10, 0.5), 1);
}

/* Against sums of fractions of integers. */
TEST(test_draw_tail)
{
    static const struct {
        size_t k, nr, marked, all;
        double want;
    } rows[] = {
        { 6, 15, 6, 30, 5005.0 / 593775 }, /* all six on one side */
        { 4, 15, 4, 30, 1365.0 / 27405 },
        { 3, 10, 3, 20, 120.0 / 1140 },
        { 1, 5, 1, 10, 0.5 },
        { 2, 3, 4, 5, (6.0 * 1 + 4) / 10 },
        { 0, 5, 3, 10, 1 },
        { 2, 4, 3, 5, 1 },   /* cannot be fewer */
        { 4, 15, 3, 30, 0 }, /* cannot be more */
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        near(stats_draw_tail(rows[i].k, rows[i].nr, rows[i].marked, rows[i].all), rows[i].want);
}

TEST(test_proportion)
{
    static const struct {
        size_t k, n;
        struct interval want;
    } rows[] = {
        { 0, 10, { 0, 0.30849710781876294 } },
        { 10, 10, { 0.6915028921812371, 1 } },
        { 7, 50, { 0.05819170033997342, 0.26739600249700846 } },
        { 52, 1000, { 0.03907653494397995, 0.06763501405052165 } },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct interval got = stats_proportion_interval(rows[i].k, rows[i].n, 0.95);
        assert_close(got.low, rows[i].want.low, 1e-11);
        assert_close(got.high, rows[i].want.high, 1e-11);
    }
    assert_true(isnan(stats_proportion_interval(1, 0, 0.95).low));
    assert_true(isnan(stats_proportion_interval(3, 2, 0.95).low));
}

static int order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Few and many, whole numbers and not, below zero, infinite, alike, sorted already. */
TEST(test_sort)
{
    double x[1000], expected[1000];
    uint64_t seed = 1;
    for (int kind = 0; kind < 5; kind++) {
        for (size_t n = 0; n <= 1000; n += n < 70 ? 1 : 93) {
            for (size_t i = 0; i < n; i++) {
                seed = seed * 6364136223846793005u + 1442695040888963407u;
                double u = (double)(seed >> 33) - 1e9;
                x[i] = kind == 0   ? u
                       : kind == 1 ? u / 7
                       : kind == 2 ? (double)(seed >> 61)
                                   : 1e300 * u;
                if (kind == 4)
                    x[i] = i % 3 ? (double)i : INFINITY * u;
            }
            memcpy(expected, x, sizeof(x));
            qsort(expected, n, sizeof(*expected), order);
            stats_sort(x, n);
            assert_memory_equal(x, expected, n * sizeof(*x));
            stats_sort(x, n);
            assert_memory_equal(x, expected, n * sizeof(*x));
        }
    }
}

TEST(test_quantile)
{
    static const double x[] = { 1, 2, 4, 8, 16 };
    static const struct {
        size_t nr;
        double p, value;
    } cases[] = {
        { 5, 0, 1 },       { 5, 0.5, 4 }, { 5, 0.6, 5.6 }, /* type 7: position 2.4 */
        { 5, 0.95, 14.4 }, { 5, 1, 16 },  { 1, 0.99, 1 },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        near(stats_quantile(x, cases[i].nr, cases[i].p), cases[i].value);
    assert_true(isnan(stats_quantile(x, 0, 0.5)));
    assert_true(isnan(stats_quantile(x, 5, -0.1)) && isnan(stats_quantile(x, 5, NAN)));
}

/* Coverage of [x(r), x(s)] from the binomial distribution itself. */
static double coverage(size_t n, double p, size_t r, size_t s)
{
    return stats_binomial_cdf(s - 1, n, p) - stats_binomial_cdf(r - 1, n, p);
}

TEST(test_quantile_interval)
{
    double x[1200];
    for (size_t i = 0; i < 1200; i++)
        x[i] = (double)(i + 1); /* a value is its own rank */
    /* The median of 6 lies between the extremes with probability 1 - 2/2^6 = 0.969. */
    struct interval i = stats_quantile_interval(x, 6, 0.5, 0.95);
    near(i.low, 1);
    near(i.high, 6);
    assert_true(isnan(stats_quantile_interval(x, 5, 0.5, 0.95).low));
    for (size_t n = 10; n <= 1200; n += 37) {
        for (double p = 0.05; p < 1; p += 0.05) {
            i = stats_quantile_interval(x, n, p, 0.95);
            assert_int_equal(isnan(i.low), n < stats_quantile_needs(p, 0.95));
            if (isnan(i.low))
                continue;
            size_t r = (size_t)i.low, s = (size_t)i.high;
            assert_true(coverage(n, p, r, s) >= 0.95 - 1e-12);
            /* No wider than need be: without the rarer end the coverage is missed. */
            assert_true(fmin(coverage(n, p, r + 1, s), coverage(n, p, r, s - 1)) < 0.95);
        }
    }
}

TEST(test_quantile_needs)
{
    assert_int_equal(stats_quantile_needs(0.5, 0.95), 6);
    assert_int_equal(stats_quantile_needs(0.99, 0.95), 299);
    assert_int_equal(stats_quantile_needs(0.01, 0.95), 299);
    /* MLPerf LoadGen's early stopping: zero misses of p99 at 99 % confidence need 459. */
    assert_int_equal(stats_quantile_needs(0.99, 0.99), 459);
    assert_int_equal(stats_quantile_needs(1, 0.95), 0);
}

TEST(test_moments)
{
    /* NIST StRD univariate set NumAcc4: 10000000.2, then 10000000.1 and 10000000.3 in turn;
     * certified mean 10000000.2 and sd 0.1. */
    double x[1001] = { 10000000.2 };
    for (size_t i = 1; i < 1001; i++)
        x[i] = i % 2 ? 10000000.1 : 10000000.3;
    assert_close(stats_mean(x, 1001), 10000000.2, 2e-9);
    assert_close(stats_sd(x, 1001), 0.1, 1e-9);
    double y[] = { 9, 1, 2, 5, 4 };
    struct interval i = stats_mean_interval(y, 5, 0.95);
    assert_close(i.low, 0.33285945445177534, 1e-11);
    assert_close(i.high, 8.067140545548225, 1e-11);
    near(stats_median(y, 5), 4);
    near(stats_median(y, 4), 3);
    assert_true(isnan(stats_mean(y, 0)) && isnan(stats_sd(y, 1)));
    assert_true(isnan(stats_mean_interval(y, 1, 0.95).low));
}

TEST(test_welch)
{
    const double x[] = { 30.02, 29.99, 30.11, 29.97, 30.01, 29.99 };
    const double y[] = { 29.89, 29.93, 29.72, 29.98, 30.02, 29.98 };
    struct welch w = stats_welch(x, 6, y, 6);
    assert_close(w.difference, -0.095, 1e-12);
    assert_close(w.se, 0.04849398588141302, 1e-12);
    assert_close(w.df, 7.030559959884322, 1e-9);
    assert_close(2 * stats_t_cdf(w.difference / w.se, w.df), 0.09077332428566114, 1e-10);
    assert_true(isnan(stats_welch(x, 1, y, 6).se));
    const double flat[] = { 1, 1, 1 };
    w = stats_welch(flat, 3, flat, 3);
    assert_close(w.se, 0, 0);
    near(w.df, 4);
}

TEST(test_rank_greater)
{
    const double low[] = { 1, 2, 3 }, high[] = { 4, 5, 6 }, same[] = { 5, 5, 5 };
    const double tied_x[] = { 1, 2, 2, 3 }, tied_y[] = { 2, 4, 5, 3 };
    const double x[] = { 1, 1, 2, 7, 9 }, y[] = { 3, 8, 8, 10, 11 };
    near(stats_rank_test_greater(low, 3, high, 3), 1.0 / 20); /* 1 of C(6,3) */
    near(stats_rank_test_greater(high, 3, low, 3), 1);
    near(stats_rank_test_greater(same, 3, same, 3), 1);
    near(stats_rank_test_greater(tied_x, 4, tied_y, 4), 0.1);
    near(stats_rank_test_greater(x, 5, y, 5), 0.04365079365079365); /* 11 of 252 */
    /* Beyond 20 values: normal approximation. */
    double long_x[11] = { 1.1, 2.2, 3.3, 4.4, 5.5, 6.6, 7.7, 8.8, 9.9, 11, 4.4 };
    const double long_y[] = { 2.5, 3.5, 4.5, 10.5, 12, 13, 14, 15, 16, 17, 18 };
    assert_close(stats_rank_test_greater(long_x, 11, long_y, 11), 0.009024580176203728, 1e-12);
    assert_true(isnan(stats_rank_test_greater(x, 0, y, 5)));
}

TEST(test_mann_whitney)
{
    const double m[] = { 19, 22, 16, 29, 24 }, f[] = { 20, 11, 17, 12 };
    const double a[] = { 1.1, 2.2, 3.3, 4.4, 5.5, 6.6, 7.7, 8.8, 9.9, 11 };
    const double b[] = { 2.5, 3.5, 4.5, 10.5, 12, 13, 14, 15, 16, 17, 18 };
    const double tied_x[] = { 1, 2, 2, 3, 5, 5 }, tied_y[] = { 2, 4, 5, 6, 7 };
    double few[] = { 3, 1, 2 }, many[31];
    near(stats_mann_whitney(m, 5, f, 4), 1.0 / 9);
    near(stats_mann_whitney(f, 4, m, 5), 1.0 / 9);
    near(stats_mann_whitney(a, 10, b, 11), 0.02210370491556239);
    near(stats_mann_whitney(tied_x, 6, tied_y, 5), 0.16304505585423734);
    for (size_t i = 0; i < 30; i++)
        many[i] = (double)(i + 10);
    many[30] = 0;
    near(stats_mann_whitney(few, 3, many, 31), 0.002339572192513369);
    near(stats_mann_whitney(many, 31, few, 3), 0.002339572192513369);
}

TEST(test_serial)
{
    const double x[] = { 1, 2, 4, 3 };
    /* Deviations -1.5 -0.5 1.5 0.5: products 0.75 - 0.75 + 0.75 over squares 5. */
    near(stats_lag1(x, 4), 0.15);
    assert_true(isnan(stats_lag1((const double[]) { 2, 2, 2 }, 3)));
    for (size_t n = 2; n < 20; n++) {
        near(stats_lag1_expected(n, 0), -1.0 / (double)n);
        near(stats_serial_factor(n, 0), 1);
    }
    /* n = 3, r = 1/2 by hand: variance of the mean 11/18, of a value about it 7/18 on average,
     * covariance with the end values 7/12. */
    near(stats_serial_factor(3, 0.5), 11.0 / 18 * 2 / (7.0 / 18));
    near(stats_lag1_expected(3, 0.5), (2 * 0.5 - 4 * 11.0 / 18 + 2 * 7.0 / 12) / (3 * 7.0 / 18));
    near(stats_serial_factor(1, 0.5), 1);
    /* Long series tend to r and (1 + r) / (1 - r). */
    assert_close(stats_lag1_expected(100000, 0.5), 0.5, 1e-4);
    assert_close(stats_serial_factor(100000, 0.5), 3, 1e-3);
}

typedef ARRAY(double) double_array;

/* Times of the repetitions of one benchmark in a Google Benchmark file. */
static double_array repetitions(const cJSON *json, const char *name, const char *field)
{
    double_array values = ARRAY_EMPTY;
    const cJSON *row;

    cJSON_ArrayForEach(
        row, cJSON_GetObjectItem(json, "benchmarks")) if (strcmp(json_string(row, "name", ""),
                                                                 name) == 0) *
        array_push(&values) = json_number(row, field, NAN);
    return values;
}

/* The values that Google Benchmark's own compare tests expect of these files. */
TEST(test_google_benchmark)
{
    static const struct {
        const char *name, *field;
        double p;
    } rows[] = {
        { "BM_Two", "cpu_time", 0.6666666666666666 },
        { "BM_Two", "real_time", 1.0 },
        { "short", "cpu_time", 0.2 },
        { "short", "real_time", 0.7670968684102772 },
    };
    const char *folder = HARNESS_SOURCE_DIR "/tests/fixtures/google-benchmark";
    char path[2][1024];
    struct error err;
    for (int i = 0; i < 2; i++)
        snprintf(path[i], sizeof(path[i]), "%s/test3_run%d.json", folder, i);
    cJSON *base = json_parse_file(path[0], FILE_RECORDS_MOST, &err),
          *head = json_parse_file(path[1], FILE_RECORDS_MOST, &err);
    if (!base || !head)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        double_array x = repetitions(base, rows[i].name, rows[i].field);
        double_array y = repetitions(head, rows[i].name, rows[i].field);
        assert_close(stats_mann_whitney(x.items, x.nr, y.items, y.nr), rows[i].p, 1e-6);
        array_release(&x);
        array_release(&y);
    }
    cJSON_Delete(base);
    cJSON_Delete(head);
}

TEST(test_fdr)
{
    /* Benjamini and Hochberg 1995, table of 15 p-values: 4 are rejected at 0.05. */
    const double p[] = { 0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                         0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0 };
    double q[15], gaps[4];
    size_t rejected = 0;
    stats_fdr(p, q, 15);
    for (size_t i = 0; i < 15; i++)
        rejected += q[i] <= 0.05;
    assert_int_equal(rejected, 4);
    near(q[0], 0.0015);
    near(q[3], 0.035625);
    near(q[5], 0.0298 * 15 / 7); /* the next rank has a smaller one */
    near(q[14], 1);
    /* Missing p-values stay missing, do not count, and the order does not matter. */
    const double with_gaps[] = { 0.04, NAN, 0.01, NAN };
    stats_fdr(with_gaps, gaps, 4);
    near(gaps[0], 0.04);
    near(gaps[2], 0.02);
    assert_true(isnan(gaps[1]) && isnan(gaps[3]));
    stats_fdr(NULL, NULL, 0);
}

TEST(test_variance_prior)
{
    double v[999];
    /* Variances at the quantiles of scale x F(4, 6) give the prior back. */
    for (size_t i = 0; i < 999; i++)
        v[i] = 2.5 * stats_f_quantile(((double)i + 0.5) / 999, 4, 6);
    struct variance_prior prior = stats_variance_prior(v, 999, 4, 30);
    assert_close(prior.df, 6, 0.1);
    assert_close(prior.scale, 2.5, 0.02);
    assert_close(stats_variance_prior(v, 999, 4, 5).df, 5, 0); /* the limit */
    /* Wild groups change the prior little. */
    for (size_t i = 0; i < 50; i++)
        v[i * 19] = 1e6;
    assert_close(stats_variance_prior(v, 999, 4, 30).scale, 2.5, 0.6);
    for (size_t i = 0; i < 999; i++)
        v[i] = 1;
    assert_close(stats_variance_prior(v, 999, 4, 30).df, 30, 0);
    assert_true(stats_variance_prior(v, 3, 4, 30).df == 0);
    memset(v, 0, sizeof(v));
    assert_true(stats_variance_prior(v, 999, 4, 30).df == 0);
}

RUN_TESTS(NULL, NULL)
