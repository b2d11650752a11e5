/* SPDX-License-Identifier: MIT */
/*
 * One case on the fake device: outcomes, batches, stop rules, warm-up, what needs too much memory,
 * a problem that several share. Features: S0-02, S0-03, U-04.
 */
#include "case_testing.h"

#include <math.h>

TEST(right_results_are_timed)
{
    struct measurement m =
        measure("fake:base=2000,slow=1.05", "right", (struct shape) { { 4, 16 } }, &quick);

    assert_int_equal(m.outcome, OUTCOME_OK);
    assert_null(m.message);
    assert_string_equal(m.bench.key, "null/copy/right/fp32/batch=4,seq=16/fake/warm");
    assert_true(m.max_error == 0 && m.tolerance == 0 && m.checked == 1);
    assert_true(m.flops == 64 && m.bytes == 512);
    assert_int_equal(m.footprint, 512);
    assert_string_equal(m.clock, "scripted");
    assert_int_equal(m.batch, 1);
    assert_true(m.nr_samples >= 20);
    for (size_t i = 0; i < m.nr_samples; i++)
        assert_true(m.samples[i] == 2100);
    assert_int_equal(m.stop, STOP_PRECISION);
    assert_true(m.warmups >= 48); /* 0.1 ms of 2.1 us */
    assert_true(m.seconds > 0 && m.started_ms > 0);
    assert_true(measurement_telemetry(&m, "sampled_seconds") > 0);
    measurement_release(&m);
}

/* A sample is 200 clock steps (of 1 ns) or more; its time is that of the whole batch. */
TEST(short_launches_are_batched)
{
    struct measurement m = measure("fake:base=10", "right", (struct shape) { { 1, 16 } }, &quick);

    assert_int_equal(m.outcome, OUTCOME_OK);
    assert_int_equal(m.batch, 32);
    for (size_t i = 0; i < m.nr_samples; i++)
        assert_true(m.samples[i] == 320);
    measurement_release(&m);
}

TEST(wrong_results_get_no_time)
{
    static const struct {
        const char *variant, *says, *why;
        bool poisoned;
    } rows[] = {
        { "inexact", "y[0,0] = ", "tolerance 0", false },
        { "incomplete", "y[1,15] = ", "never written", true },
        { "spoils", "input x", "was changed", false },
    };

    for (size_t i = 0; i < 3; i++) {
        struct measurement m =
            measure("fake", rows[i].variant, (struct shape) { { 2, 16 } }, &quick);
        assert_int_equal(m.outcome, OUTCOME_WRONG);
        assert_says(&m, rows[i].says);
        assert_says(&m, rows[i].why);
        assert_int_equal(isnan(m.max_error), rows[i].poisoned);
        assert_true(m.checked == 1);
        assert_no_time(&m);
        measurement_release(&m);
    }
    struct measurement m = measure("fake", "inexact", (struct shape) { { 2, 16 } }, &quick);
    assert_true(m.max_error > 5e-4 && m.max_error < 2e-3);
    measurement_release(&m);
}

TEST(what_cannot_run_says_why)
{
    struct measurement m = measure("fake", "unsupported", (struct shape) { { 1, 16 } }, &quick);

    assert_int_equal(m.outcome, OUTCOME_UNSUPPORTED);
    assert_string_equal(m.message, "made to be unsupported");
    assert_true(isnan(m.max_error) && m.checked == 0);
    assert_no_time(&m);
    measurement_release(&m);
    m = measure("fake", "unprepared", (struct shape) { { 1, 16 } }, &quick);
    assert_int_equal(m.outcome, OUTCOME_FAILED);
    assert_string_equal(m.message, "prepare: made to fail in prepare");
    assert_no_time(&m);
    measurement_release(&m);
}

TEST(memory_that_would_not_fit)
{
    struct measurement m =
        measure("fake", "right", (struct shape) { { 1000000, 1000000 } }, &quick);

    assert_int_equal(m.outcome, OUTCOME_UNSUPPORTED);
    assert_says(&m, "needs 14.55 TiB (inputs, outputs and their check), ");
    assert_says(&m, " are available");
    assert_true(m.footprint == 8000000000000);
    measurement_release(&m);
    m = measure("fake", "right", (struct shape) { { DIM_LIMIT, DIM_LIMIT } }, &quick);
    assert_int_equal(m.outcome, OUTCOME_UNSUPPORTED); /* twice 8e18 bytes overflow */
    assert_no_time(&m);
    measurement_release(&m);
}

MEASUREMENT_TEST(memory_that_is_not_allowed)
{
    const struct case_settings settings = { .sampling = quick, .memory_limit = 1 << 20 };
    const struct variant *v = registry_variant(registry_builtin(), "null/copy", "right");
    struct device d;
    struct error err;

    assert_ok(device_open(&d, "fake", &err), &err);
    measure_variant(v, &d, (struct shape) { { 1000, 1000 } }, &settings, m);
    assert_int_equal(m->outcome, OUTCOME_UNSUPPORTED);
    assert_says(m,
                "needs 15.26 MiB (inputs, outputs and their check), 1.000 MiB are allowed "
                "(--memory-limit)");
    device_close(&d);
}

static int64_t a_mebibyte(const struct call *call)
{
    assert_int_equal(call->nr_tensors, 2);
    assert_null(call->tensor[0].data);
    return 1 << 20;
}

/* What a variant will take beside its tensors counts. */
TEST(workspace_that_is_not_allowed)
{
    const struct case_settings settings = { .sampling = quick, .memory_limit = 16 << 20 };
    struct variant v = *registry_variant(registry_builtin(), "null/copy", "right");
    struct device d;
    struct error err;

    assert_ok(device_open(&d, "fake:base=10", &err), &err);
    for (int i = 0; i < 2; i++) {
        struct measurement m;
        v.workspace = i == 0 ? NULL : a_mebibyte;
        measure_variant(&v, &d, (struct shape) { { 1000, 1000 } }, &settings, &m);
        assert_int_equal(m.outcome, i == 0 ? OUTCOME_OK : OUTCOME_UNSUPPORTED);
        if (i == 1)
            assert_says(&m,
                        "needs 16.26 MiB (inputs, outputs and their check, packed weights and "
                        "workspace), 16.00 MiB are allowed (--memory-limit)");
        measurement_release(&m);
    }
    device_close(&d);
}

TEST(every_stop_rule_is_named)
{
    struct sampling s = quick;
    struct shape shape = { { 1, 16 } };

    s.precision = 1e-9;
    struct measurement m = measure("fake:sd=0.5,seed=1", "right", shape, &s);
    assert_int_equal(m.stop, STOP_TIME);
    measurement_release(&m);
    for (int64_t most = 1; most <= 50; most += 7) {
        s.min_samples = s.max_samples = most;
        m = measure("fake:base=1000,sd=0.5,seed=1", "right", shape, &s);
        assert_int_equal(m.stop, STOP_SAMPLES);
        assert_int_equal(m.nr_samples, most); /* not one more */
        measurement_release(&m);
    }
    s.iterations = 7;
    m = measure("fake:base=1e9", "right", shape, &s); /* longer than max_time allows */
    assert_int_equal(m.stop, STOP_SAMPLES);
    assert_int_equal(m.nr_samples, 7);
    measurement_release(&m);
}

TEST(a_launch_longer_than_all_limits_is_still_measured)
{
    struct measurement m = measure("fake:base=1e12", "right", (struct shape) { { 1, 16 } }, &quick);

    assert_int_equal(m.outcome, OUTCOME_OK);
    assert_int_equal(m.stop, STOP_TIME);
    assert_int_equal(m.nr_samples, 3);
    assert_int_equal(m.warmups, 1);
    measurement_release(&m);
}

/* Launches that take next to no time do not warm up for ever. */
TEST(warm_up_is_bounded)
{
    struct sampling s = quick;

    s.warmup = 1;
    struct measurement m = measure("fake:base=1", "right", (struct shape) { { 1, 16 } }, &s);
    assert_int_equal(m.outcome, OUTCOME_OK);
    assert_int_equal(m.warmups, 100000);
    measurement_release(&m);
}

MEASUREMENT_TEST(verify_only_takes_no_time)
{
    struct case_settings settings = { .sampling = quick, .seed = 1, .verify_only = true };
    struct device d;
    struct error err;

    assert_ok(device_open(&d, "fake", &err), &err);
    measure_variant(registry_variant(registry_builtin(), "null/copy", "right"), &d,
                    (struct shape) { { 3, 16 } }, &settings, m);
    assert_int_equal(m->outcome, OUTCOME_OK);
    assert_true(m->max_error == 0 && m->checked == 1);
    assert_no_time(m);
    device_close(&d);
}

/* Dims that do not go together are refused by the kernel, in words. */
MEASUREMENT_TEST(refused_shapes)
{
    const struct registry *r = registry_builtin();
    const struct kernel *k = registry_kernel(r, "gpt/nano/prefill");
    struct case_settings settings = { .sampling = quick, .seed = 1 };
    struct device d;
    struct error err;
    struct shape shape = { { 1, 100000 } }; /* longer than the model's positions */

    assert_non_null(k->refuses);
    assert_non_null(k->refuses(k, &shape));
    assert_ok(device_open(&d, "cpu:1", &err), &err);
    measure_variant(registry_variant(r, k->name, "simd"), &d, shape, &settings, m);
    assert_int_equal(m->outcome, OUTCOME_UNSUPPORTED);
    assert_string_equal(m->message, k->refuses(k, &shape));
    device_close(&d);
}

/* Work beyond all that a record takes is not known, and the case is refused in words. */
MEASUREMENT_TEST(sizes_beyond_all_work)
{
    struct case_settings settings = { .sampling = quick, .seed = 1 };
    struct shape shape = { { 1000000000, 1000000000, 1000000000, 1000000000 } };
    struct device d;
    struct error err;

    assert_ok(device_open(&d, "cpu:1", &err), &err);
    measure_variant(registry_variant(registry_builtin(), "gemm/nn", "simd"), &d, shape, &settings,
                    m);
    assert_int_equal(m->outcome, OUTCOME_UNSUPPORTED);
    assert_says(m, "needs ");
    assert_true(isnan(m->flops));
    assert_ok(measurement_check(m, &err), &err);
    device_close(&d);
}

/* Variants that ask the same share inputs and oracle; what one has spoilt the next never sees. */
TEST(a_problem_is_shared_until_it_is_spoilt)
{
    static const struct {
        const char *variant;
        int64_t seq;
        enum outcome outcome;
        bool taken, left; /* the problem of the row before; for the next one */
    } rows[] = {
        { "right", 16, OUTCOME_OK, false, true },
        { "right", 16, OUTCOME_OK, true, true },
        { "unsupported", 16, OUTCOME_UNSUPPORTED, true, true },
        { "incomplete", 16, OUTCOME_WRONG, true, false },
        { "right", 16, OUTCOME_OK, false, true },
        { "right", 17, OUTCOME_OK, false, true },
        { "spoils", 17, OUTCOME_WRONG, true, false },
        { "right", 17, OUTCOME_OK, false, true },
        { "unprepared", 17, OUTCOME_FAILED, true, false },
    };
    struct problem problem = { .stands = false };
    const struct case_settings settings = { .seed = 42, .verify_only = true, .problem = &problem };
    struct device d;
    struct error err;

    assert_ok(device_open(&d, "fake", &err), &err);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct benchmark bench = {
            registry_variant(registry_builtin(), "null/copy", rows[i].variant),
            { { 2, rows[i].seq } },
            CACHE_WARM,
            NULL,
        };
        struct measurement m;
        assert_int_equal(problem_is(&problem, &bench, &d, 42), rows[i].taken);
        case_measure(&bench, &d, &settings, &m);
        assert_int_equal(m.outcome, rows[i].outcome);
        assert_int_equal(problem_is(&problem, &bench, &d, 42), rows[i].left);
        measurement_release(&m);
    }
    problem_release(&problem);
    device_close(&d);
}

/* What the first variant has is there, and what the next one takes beside it is not. */
TEST(workspace_counts_where_the_problem_stands)
{
    static const int64_t limits[] = { 2 << 20, 1 << 20 }; /* of the second one, with its tensors */
    struct device d;
    struct error err;

    assert_ok(device_open(&d, "fake:base=10", &err), &err);
    for (int i = 0; i < 2; i++) {
        struct problem problem = { .stands = false };
        struct case_settings settings = { .seed = 42, .verify_only = true, .problem = &problem };
        struct variant v = *registry_variant(registry_builtin(), "null/copy", "right");
        struct benchmark bench = { &v, { { 2, 16 } }, CACHE_WARM, NULL };
        struct measurement first, second;
        case_measure(&bench, &d, &settings, &first);
        assert_int_equal(first.outcome, OUTCOME_OK);
        assert_true(problem_is(&problem, &bench, &d, 42));
        v.workspace = a_mebibyte;
        settings.memory_limit = limits[i];
        case_measure(&bench, &d, &settings, &second);
        assert_int_equal(second.outcome, i == 0 ? OUTCOME_OK : OUTCOME_UNSUPPORTED);
        if (i == 1)
            assert_says(&second, "needs 1.000 MiB (packed weights and workspace");
        measurement_release(&first);
        measurement_release(&second);
        problem_release(&problem);
    }
    device_close(&d);
}

/* The real thing, once: a CPU kernel by the real clock. */
MEASUREMENT_TEST(a_cpu_case)
{
    struct case_settings settings = { .sampling = quick, .seed = 1 };
    struct device d;
    struct error err;

    assert_ok(device_open(&d, "cpu", &err), &err);
    measure_variant(registry_variant(registry_builtin(), "gemm/linear", "simd"), &d,
                    (struct shape) { { 1, 65, 33, 47 } }, &settings, m);
    assert_int_equal(m->outcome, OUTCOME_OK);
    assert_true(m->max_error > 0 && m->max_error <= m->tolerance);
    assert_true(m->nr_samples >= 3);
    for (size_t i = 0; i < m->nr_samples; i++)
        assert_true(m->samples[i] > 0);
    assert_true((double)m->samples[0] >= 20 * d.clock_step);
    assert_string_equal(m->clock, "CLOCK_MONOTONIC_RAW");
    device_close(&d);
}

RUN_TESTS(NULL, NULL)
