/* SPDX-License-Identifier: MIT */
/* Features: S0-03 (percentiles, mean, sd), S0-05 (tokens per second), U-05. */
#include "analysis_fixture.h"
#include "testing.h"

#include "metrics/metric.h"
#include "metrics/metric_limit.h"

#define GEMM    "gemm/linear/simd/fp32/batch=4,seq=64,n=192,k=48/cpu-2t/warm"
#define PREFILL "gpt/nano/prefill/simd/fp32/batch=4,seq=64/cpu-2t/warm"

static double value(const char *id, const struct summary *s)
{
    return metric_get(id, s, NULL).value;
}

/* Samples 1..n microseconds in some order, each of `batch` launches. */
static void fill(struct measurement *m, size_t n, unsigned batch)
{
    m->batch = batch;
    m->nr_samples = n;
    free(m->samples);
    m->samples = memory_zeroed(n, sizeof(*m->samples));
    for (size_t i = 0; i < n; i++)
        m->samples[i] = 1000 * batch * ((7 * i) % n + 1);
}

#define RECORDS_TEST(name) TEST_WITH_A(name, struct records, r, records_release)

RECORDS_TEST(test_percentiles)
{
    const struct {
        const char *id;
        double value, tolerance;
    } cases[] = {
        { "min", 1000, 1e-9 },
        { "p5", 6000, 1e-9 },
        { "p25", 26000, 1e-9 },
        { "p50", 51000, 1e-9 },
        { "median", 51000, 1e-9 },
        { "p99", 100000, 1e-9 },
        { "max", 101000, 1e-9 },
        { "mean", 51000, 1e-9 },
        { "sd", 1000 * sqrt(101.0 * 102 / 12), 1e-6 },
        { "n", 101, 0 },
    };
    struct summary s;

    fixture_run(r, "m", 1);
    struct measurement *m = fixture_add(r, 0, GEMM, 1, 1);
    fill(m, 101, 3);
    summary_init_one(&s, m);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_close(value(cases[i].id, &s), cases[i].value, cases[i].tolerance);
    /* p99 of 101 samples has no interval and says so; p50 has both. */
    struct metric_value p99 = metric_get("p99", &s, NULL), p50 = metric_get("p50", &s, NULL);
    assert_true(p99.few && isnan(p99.interval.low));
    assert_true(!p50.few && p50.interval.low < 51000 && p50.interval.high > 51000);
    summary_release(&s);
    fill(m, 299, 1);
    summary_init_one(&s, m);
    assert_false(metric_get("p99", &s, NULL).few);
    summary_release(&s);
}

static void say(struct measurement *m, const struct number_kind *kind, double a, double b)
{
    struct number *n = &m->numbers[m->nr_numbers++];

    *n = (struct number) { kind, memory_zeroed(2, sizeof(*n->values)), 2 };
    n->values[0] = a;
    n->values[1] = b;
}

/* What programs say of themselves: a row behind the table, from when it was met. */
RECORDS_TEST(test_numbers_of_programs)
{
    struct error err = { "" };
    assert_null(metric_find("frobs", &err));
    const struct number_kind *kind = number_kind_of("frobs", "frob/s", BETTER_HIGHER, &err);
    const struct metric *metric = metric_find("frobs", &err);
    assert_non_null(metric);
    assert_ptr_equal(metric->number, kind);
    assert_string_equal(metric->unit, "frob/s");
    assert_int_equal(metric->direction, HIGHER_IS_BETTER);
    assert_ptr_equal(metric, metric_find("frobs", NULL));
    assert_null(metric_find("frob", &err));
    assert_has(err.message, "did you mean 'frobs'?");

    struct summary s;
    fixture_run(r, "m", 1);
    struct measurement *m = fixture_add(r, 0, GEMM, 2000, 9);
    summary_init_one(&s, m);
    assert_true(isnan(value("frobs", &s))); /* it does not say it */
    summary_release(&s);
    say(m, kind, 10, 30);
    summary_init_one(&s, m);
    assert_close(value("frobs", &s), 20, 1e-12);
    summary_release(&s);
    /* The same name in another unit is another metric. */
    const struct number_kind *other = number_kind_of("frobs", "kfrob/s", BETTER_HIGHER, &err);
    assert_non_null(metric_find("frobs (kfrob/s, higher)", &err));
    say(m, other, 1, 3);
    summary_init_one(&s, m);
    assert_close(value("frobs", &s), 20, 1e-12);
    assert_close(value("frobs (kfrob/s, higher)", &s), 2, 1e-12);
    summary_release(&s);
}

/* Over launches: each counts once, the interval is theirs. */
RECORDS_TEST(test_numbers_over_launches)
{
    struct error err = { "" };
    const struct number_kind *kind = number_kind_of("over", "", BETTER_LOWER, &err);
    static const double medians[] = { 98, 100, 102 };
    const struct record *records[3];
    struct summary s;

    fixture_run(r, "m", 1);
    for (int i = 0; i < 3; i++) {
        struct measurement *m = fixture_add(r, 0, GEMM, 2000, 9);
        r->items[r->nr - 1].launch_seq = i;
        say(m, kind, medians[i] - 1, medians[i] + 1);
        measurement_add_telemetry(m, "instructions", 1e6 + i);
        if (i != 1)
            measurement_add_telemetry(m, "command_max_rss_bytes", 4096);
    }
    for (int i = 0; i < 3; i++)
        records[i] = &r->items[i];
    summary_init(&s, records, 3);
    struct metric_value v = metric_get("over", &s, NULL);
    assert_close(v.value, 100, 1e-12);
    assert_true(v.interval.low > 90 && v.interval.low < 98 && v.interval.high < 110);
    v = metric_get("instructions", &s, NULL);
    assert_close(v.value, 1e6 + 1, 1e-6);
    assert_true(v.interval.low < 1e6 + 1 && v.interval.high > 1e6 + 1);
    assert_close(value("memory", &s), 4096, 0); /* of the launches that know it */
    assert_true(isnan(value("cycles", &s)));    /* absent, not 0 */
    summary_release(&s);
}

/* Which metrics are judged, by which floor, and which of them the machine has no part in. */
TEST(test_directions_and_floors)
{
    static const struct {
        const char *id;
        enum direction direction;
        double floor;
        bool of_code;
    } rows[] = {
        { "p50", LOWER_IS_BETTER, 0, false },
        { "gflops", HIGHER_IS_BETTER, 0, false },
        { "memory", LOWER_IS_BETTER, 0.02, true },
        { "joules", LOWER_IS_BETTER, 0.05, false },
        { "instructions", LOWER_IS_BETTER, 0.005, true },
        { "cycles", LOWER_IS_BETTER, 0.02, false },
        { "cache_misses", LOWER_IS_BETTER, 0.1, false },
        { "branch_misses", LOWER_IS_BETTER, 0.1, false },
        { "first_token", LOWER_IS_BETTER, 0.02, false },
        { "load1", NO_DIRECTION, 0, false },
        { "error", NO_DIRECTION, 0, false },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct metric *m = metric_find(rows[i].id, NULL);
        assert_non_null(m);
        assert_int_equal(m->direction, rows[i].direction);
        assert_close(m->floor, rows[i].floor, 0);
        assert_int_equal(m->of_code, rows[i].of_code);
    }
}

RECORDS_TEST(test_rates)
{
    struct summary s;
    fixture_run(r, "m", 1);
    struct measurement *m = fixture_add(r, 0, GEMM, 2000, 9);
    m->flops = 6000;
    m->bytes = 1000;
    m->max_error = 1e-7;
    measurement_add_telemetry(m, "cpu_mhz", 2500);
    summary_init_one(&s, m);
    assert_close(value("gflops", &s), 3, 1e-12);
    assert_close(value("gbs", &s), 0.5, 1e-12);
    assert_close(value("intensity", &s), 6, 1e-12);
    assert_close(value("error", &s), 1e-7, 0);
    assert_close(value("cpu_mhz", &s), 2500, 0);
    assert_true(isnan(value("steal_percent", &s))); /* absent, not 0 */
    assert_true(isnan(value("tokens", &s)));        /* no forward pass */
    assert_true(isnan(value("roof", &s)));          /* no roofs */
    summary_release(&s);
    m = fixture_add(r, 0, PREFILL, 1e6, 9);
    m->tokens = 256;
    summary_init_one(&s, m);
    assert_close(value("tokens", &s), 256000, 1e-6); /* in 1 ms */
    summary_release(&s);
    m->tokens = (double)NAN;
    summary_init_one(&s, m);
    assert_true(isnan(value("tokens", &s))); /* whatever its name is */
    summary_release(&s);
}

/* Power is the counter's, over the time it ran; without it the mean of what was looked at. */
RECORDS_TEST(test_energy)
{
    struct summary s;
    fixture_run(r, "m", 1);
    struct measurement *m = fixture_add(r, 0, GEMM, 2e6, 9);
    measurement_add_telemetry(m, "sampled_seconds", 0.5);
    summary_init_one(&s, m);
    assert_true(isnan(value("joules", &s))); /* no GPU */
    summary_release(&s);
    measurement_add_telemetry(m, "gpu_power_watts", 400);
    summary_init_one(&s, m);
    assert_close(value("joules", &s), 0.8, 1e-12); /* 400 W for 2 ms */
    assert_close(value("gpu_power_watts", &s), 400, 0);
    summary_release(&s);
    measurement_add_telemetry(m, "gpu_energy_joules", 150);
    summary_init_one(&s, m);
    assert_close(value("joules", &s), 0.6, 1e-12); /* 300 W for 2 ms */
    summary_release(&s);
}

/* The interval of a rate is that of the time, turned round. */
RECORDS_TEST(test_rate_interval)
{
    struct summary s;
    fixture_run(r, "m", 1);
    struct measurement *m = fixture_add(r, 0, GEMM, 1, 1);
    fill(m, 101, 1);
    m->flops = 1e6;
    summary_init_one(&s, m);
    struct metric_value time = metric_get("p50", &s, NULL), rate = metric_get("gflops", &s, NULL);
    assert_close(rate.interval.low, 1e6 / time.interval.high, 1e-9);
    assert_close(rate.interval.high, 1e6 / time.interval.low, 1e-9);
    assert_true(rate.interval.low < rate.value && rate.value < rate.interval.high);
    summary_release(&s);
}

/* Three launches that differ: the interval is the launches', far wider than the samples' own. */
RECORDS_TEST(test_launches)
{
    const double ns[] = { 1000, 1100, 1210 };
    struct groups g;
    struct summary s;
    fixture_run(r, "m", 1);
    for (int i = 0; i < 3; i++)
        fixture_add(r, i, GEMM, ns[i], 50);
    groups_init(&g, r, false);
    assert_int_equal(g.nr, 1);
    summary_init(&s, g.items[0].items, g.items[0].nr);
    assert_int_equal(s.nr_launches, 3);
    assert_int_equal(s.n, 150);
    for (int i = 0; i < 3; i++)
        assert_close(s.medians[i], ns[i], 1e-9);
    struct metric_value p50 = metric_get("p50", &s, NULL);
    double half = stats_t_quantile(0.975, 2) * log(1.1) / sqrt(3);
    assert_close(p50.value, 1100, 1e-9);
    assert_close(p50.interval.low, 1100 * exp(-half), 1e-6);
    assert_close(p50.interval.high, 1100 * exp(half), 1e-6);
    summary_release(&s);
    groups_release(&g);
}

RECORDS_TEST(test_within_a_limit)
{
    static const struct {
        const char *id;
        double value;
    } rows[] = {
        { "good_25us", 25 },
        { "good_25000ns", 25 },
        { "good_25999ns", 25 },
        { "good_999ns", 0 },
        { "good_1us", 1 },
        { "good_1ms", 100 },
        { "good_1s", 100 },
        { "within_25us", 0.25 },
        { "within_999ns", 0 },
        { "within_100us", 1 },
        /* 10 tokens a sample; all samples together take 5.05 ms. */
        { "goodput_1s", 1e3 / 5.05e-3 },
        { "goodput_25us", 250 / 5.05e-3 },
        { "goodput_1ns", 0 },
    };
    struct summary s;
    fixture_run(r, "m", 1);
    struct measurement *m = fixture_add(r, 0, PREFILL, 1, 1);
    m->tokens = 10;
    fill(m, 100, 3);
    summary_init_one(&s, m);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_close(value(rows[i].id, &s), rows[i].value, 1e-6);
    summary_release(&s);
    m->tokens = 0; /* a kernel that makes none */
    summary_init_one(&s, m);
    assert_true(isnan(value("goodput_1s", &s)));
    assert_close(value("within_25us", &s), 0.25, 1e-12);
    summary_release(&s);
}

/* What another program measured and told in one number. */
RECORDS_TEST(test_within_a_limit_of_a_summary)
{
    struct summary s;
    fixture_run(r, "m", 1);
    struct measurement *m = fixture_add(r, 0, GEMM, 1, 1);
    fill(m, 1, 1);
    summary_init_one(&s, m);
    assert_close(value("within_25us", &s), 1, 0);
    summary_release(&s);
    measurement_add_telemetry(m, "summary_samples", 500);
    summary_init_one(&s, m);
    assert_true(isnan(value("within_25us", &s)) && isnan(value("good_25us", &s)));
    summary_release(&s);
}

TEST(test_names_with_a_limit)
{
    static const char *const wrong[] = { "goodput",
                                         "goodput_",
                                         "good_5",
                                         "good_0ms",
                                         "good_05ms",
                                         "good_5m",
                                         "within_ms",
                                         "good_1.5ms",
                                         "within_-5ms",
                                         "good_5ms_",
                                         "good_5 ms",
                                         "good_1e3us",
                                         "good_1234567890123ns" };
    struct error err;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_null(metric_find(wrong[i], &err));
        assert_non_null(strstr(err.message, "goodput_5ms"));
    }
    assert_ptr_equal(metric_find("good_5ms", &err), metric_find("good_5ms", &err));
    assert_string_equal(metric_find("goodput_250us", &err)->label, "token rate within 250 us");
    for (size_t i = 0; metric_limit_example(i); i++)
        assert_ptr_equal(metric_find(metric_limit_example(i)->id, &err), metric_limit_example(i));
}

/* A page may be asked for any name: rows that are kept for it have an end. */
TEST(test_names_with_a_limit_have_an_end)
{
    char id[64];
    size_t nr = 0;

    for (int i = 1; i <= 6000; i++) {
        snprintf(id, sizeof(id), "good_%dns", i);
        nr += metric_find(id, NULL) != NULL;
    }
    assert_in_range(nr, 1000, 4096);
    assert_non_null(metric_find("good_1ns", NULL));
}

RECORDS_TEST(test_nothing_measured)
{
    struct summary s;
    fixture_run(r, "m", 1);
    summary_init_one(&s, fixture_add(r, 0, GEMM, 1, 0));
    assert_int_equal(s.n, 0);
    for (size_t i = 0; metric_at(i); i++) {
        struct metric_value v = metric_value(metric_at(i), &s, NULL);
        assert_true(isnan(v.value) || v.value == 0);
        assert_false(v.few);
    }
    summary_release(&s);
}

TEST(test_find)
{
    struct error err;
    assert_string_equal(metric_find("median", &err)->id, "p50");
    assert_null(metric_find("p59", &err));
    assert_non_null(strstr(err.message, "'p5"));
    assert_null(metric_find("quality of service", &err));
    assert_non_null(strstr(err.message, "gflops"));
    for (size_t i = 0; metric_at(i); i++)
        assert_ptr_equal(metric_find(metric_at(i)->id, &err), metric_at(i));
}

RECORDS_TEST(test_context)
{
    fixture_run(r, "old", 1);
    fixture_run(r, "new", 2);
    r->roofs = memory_zeroed(1, sizeof(*r->roofs));
    r->nr_roofs = r->roofs_capacity = 1;
    assert_int_equal(metric_context_of(r, 0).nr_roofs, 0); /* another machine's */
    assert_int_equal(metric_context_of(r, 1).nr_roofs, 1);
    assert_string_equal(metric_context_of(r, 0).machine->class_name, "old");
}

RUN_TESTS(NULL, NULL)
