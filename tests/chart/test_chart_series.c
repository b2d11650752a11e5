/* SPDX-License-Identifier: MIT */
/*
 * Samples in the order measured, telemetry over time and memory against what they come from; golden
 * JSON of these and of the distributions; records with little or too much in them.
 * Covers: S0-06, S0-27, S1-35, S1-36, S1-37, S1-41, S1-50, S3-07, S4-21.
 */
#include "samples_testing.h"

#include "metrics/roofline.h"

/* One of each type that this file is about. */
static const char *const figures[] = {
    "distribution-box",
    "distribution-violin",
    "distribution-ecdf-kernels",
    "quantiles-kernels",
    "iterations",
    "telemetry",
    "memory",
};
enum { FIGURES = sizeof(figures) / sizeof(figures[0]) };

#define RECORDS_TEST(name) TEST_WITH_A(name, struct records, r, records_release)

RECORDS_TEST(golden_files)
{
    made_run(r, 0, "feedbeef", "gcc 12.2.0");
    add_kernels(r, 0, 1);
    made_roofs(r);
    for (size_t i = 0; i < FIGURES; i++)
        check_golden(build(r, figures[i]));
}

RECORDS_TEST(iterations_keep_the_order)
{
    made_run(r, 0, "feedbeef", "gcc");
    struct measurement *m = ruled(r, 0, 0, KEY("simd"), 130, 4000, 7, 100);
    m->batch = 4;
    ruled(r, 0, 1, KEY("simd"), 70, 1000, 3, 50);
    ruled(r, 0, 2, KEY("simd"), 1, 1000, 3, 50); /* launches of unequal length */
    struct figure *f = build(r, "iterations");
    check_places(f);
    check_data_texts(f, f->panels[0]);
    const struct panel *p = f->panels[0];
    const struct layer *points = find_layer(p, MARK_POINTS, "a sample");
    assert_int_equal(points->nr, 201);
    for (size_t i = 0; i < 201; i++) {
        double ns =
            i < 130 ? (double)(4000 + i * 7 % 100) / 4 : (double)(1000 + (i - 130) * 3 % 50);
        assert_close(points->items[i].x, (double)i + 1, 0);
        assert_close(points->items[i].y * p->y.factor, i == 200 ? 1000 : ns, 1e-9);
    }
    assert_int_equal(find_layer(p, MARK_RULES, NULL)->nr, 2);
    assert_close(find_layer(p, MARK_RULES, NULL)->items[0].x, 130.5, 0);
    assert_string_equal(find_layer(p, MARK_TEXT, NULL)->items[1].text, "launch 2");
    assert_int_equal(find_layer(p, MARK_BAND, NULL)->nr, 2 * 2 + 1 + 2 + 1); /* 2, 1, 0 windows */
    figure_free(f);
}

/* One launch that has no room for the word takes it from the others, too. */
RECORDS_TEST(launches_have_names_alike)
{
    made_run(r, 0, "feedbeef", "gcc");
    for (int launch = 0; launch < 4; launch++)
        ruled(r, 0, launch, KEY("simd"), launch == 2 ? 10 : 100, 1000, 3, 50);
    struct figure *f = build(r, "iterations");
    const struct layer *names = find_layer(f->panels[0], MARK_TEXT, NULL);
    assert_int_equal(names->nr, 4);
    assert_string_equal(names->items[0].text, "launch 1");
    for (size_t i = 1; i < 4; i++)
        assert_string_equal(names->items[i].text, ((const char *[]) { "", "2", "3", "4" })[i]);
    figure_free(f);
}

/* What a window's p95 has beyond the frame is not drawn over the names of the launches. */
RECORDS_TEST(bands_stay_below_the_names)
{
    made_run(r, 0, "feedbeef", "gcc");
    struct measurement *m = ruled(r, 0, 0, KEY("simd"), 4000, 1000, 3, 50);
    for (size_t i = 0; i < 20; i++) /* of 333 in a window */
        m->samples[i] = 100000;
    struct figure *f = build(r, "iterations");
    const struct panel *p = f->panels[0];
    const struct layer *band = find_layer(p, MARK_BAND, NULL);
    const struct layer *above = find_layer(p, MARK_POINTS, "above the frame");
    assert_true(above->nr > 0);
    for (size_t i = 0; i < band->nr; i++)
        assert_false(band->items[i].high > above->items[0].y);
    assert_true(band->items[0].high > 1.05 * band->items[2].high);
    figure_free(f);
}

/* A million samples: few points, and the one wild sample is among what is seen. */
RECORDS_TEST(a_million_samples)
{
    made_run(r, 0, "feedbeef", "gcc");
    struct measurement *m = ruled(r, 0, 0, KEY("simd"), 1000000, 1000, 7919, 211);
    m->samples[123456] = 70000;
    struct figure *f = build(r, "iterations");
    check_places(f);
    const struct panel *p = f->panels[0];
    assert_true(find_layer(p, MARK_POINTS, "a sample")->nr <= 800);
    const struct layer *above = find_layer(p, MARK_POINTS, "above the frame");
    assert_int_equal(above->nr, 1);
    assert_close(above->items[0].x * p->x.factor, 123457, 1e-6);
    assert_true(p->y.high * p->y.factor < 2000); /* the body is not flattened */
    assert_has(f->caption, "1 sample beyond");
    assert_has(f->caption, "of 1000000 drawn");
    figure_free(f);
    for (size_t i = 0; i < FIGURES; i++)
        check_state(build(r, figures[i]));
}

/* The panels are those with most to see: a drift and a jump come before noise. */
RECORDS_TEST(structure_comes_first)
{
    made_run(r, 0, "feedbeef", "gcc");
    for (int k = 0; k < 12; k++) {
        char key[KEY_SIZE];
        snprintf(key, sizeof(key), "gemm/nn/simd/fp32/batch=%d,seq=8,n=8,k=8/cpu-4t/warm", k + 1);
        struct measurement *m = made_measurement(r, 0, 0, key, 10000, 0.01, 200, (uint64_t)k);
        for (size_t i = 0; i < 200; i++) {
            m->samples[i] += k == 9 ? i * 40 : 0;
            m->samples[i] += k == 4 && i >= 100 ? 5000 : 0;
        }
    }
    struct figure *f = build(r, "iterations");
    check_places(f);
    assert_int_equal(f->nr_panels, 6);
    bool drift = false, jump = false;
    for (size_t i = 0; i < 6; i++) {
        drift |= strncmp(f->panels[i]->title, "batch=10 ", 9) == 0;
        jump |= strncmp(f->panels[i]->title, "batch=5 ", 8) == 0;
    }
    assert_true(drift && jump);
    assert_has(f->caption, "Showing 6 of 12");
    figure_free(f);
}

RECORDS_TEST(telemetry_over_time)
{
    made_run(r, 0, "feedbeef", "gcc");
    add_kernels(r, 0, 1);
    struct measurement *bad =
        made_failure(r, 0, 0, KEY("cuda"), OUTCOME_WRONG, "differs from the oracle");
    add_telemetry(bad, 9);
    struct figure *f = build(r, "telemetry");
    check_places(f);
    assert_int_equal(f->nr_panels, 4);
    const struct panel *clock = f->panels[0];
    assert_string_equal(clock->title, "processor clock");
    const struct layer *points = clock->layers[0],
                       *failed = find_layer(clock, MARK_POINTS, "not OK");
    assert_int_equal(points->nr, 6);
    assert_close(points->items[1].x * clock->x.factor, 250e6, 1);
    assert_close(points->items[1].y * clock->y.factor, 2.61e9, 1);
    assert_int_equal(failed->nr, 1);
    assert_close(failed->items[0].x * clock->x.factor, 9 * 250e6, 1);
    assert_has(f->caption, "temperature");
    assert_has(f->caption, "GPU clock");
    assert_lacks(f->caption, "processor clock");
    assert_null(f->banner);
    figure_free(f);
    measurement_add_telemetry(&r->items[0].m, "gpu_xid", 79);
    f = build(r, "telemetry");
    assert_has(f->banner, "XID 79");
    figure_free(f);
}

/* What does not move has no panel, and its value in the caption; if nothing moves there is none. */
RECORDS_TEST(constant_telemetry_is_not_drawn)
{
    char key[KEY_SIZE];

    made_run(r, 0, "feedbeef", "gcc");
    for (int i = 0; i < 4; i++) {
        snprintf(key, sizeof(key), "gemm/nn/simd/fp32/batch=%d,seq=8,n=8,k=8/cpu-4t/warm", i + 1);
        struct measurement *m = made_measurement(r, 0, 0, key, 10000, 0.01, 20, (uint64_t)i);
        measurement_add_telemetry(m, "cpu_mhz", 2600);
        measurement_add_telemetry(m, "load1", 0.5 * i);
    }
    struct figure *f = build(r, "telemetry");
    assert_int_equal(f->nr_panels, 1);
    assert_string_equal(f->panels[0]->title, "load average over one minute");
    assert_has(f->caption, "Constant, so not drawn: processor clock 2.600 GHz.");
    assert_has(f->title, ": load average over one minute moved between 0 and 1.5");
    figure_free(f);
    for (size_t i = 0; i < r->nr; i++) {
        r->items[i].m.nr_telemetry = 0;
        measurement_add_telemetry(&r->items[i].m, "cpu_mhz", 2600);
    }
    f = build(r, "telemetry");
    assert_has(f->reason, "nothing that was read beside the 4 measurements changed");
    figure_free(f);
}

/* W and °C stand on axes alone, which what is constant has not. */
RECORDS_TEST(telemetry_says_its_units)
{
    char key[KEY_SIZE];

    made_run(r, 0, "feedbeef", "gcc");
    for (int i = 0; i < 4; i++) {
        snprintf(key, sizeof(key), "gemm/nn/simd/fp32/batch=%d,seq=8,n=8,k=8/cpu-4t/warm", i + 1);
        struct measurement *m = made_measurement(r, 0, 0, key, 10000, 0.01, 20, (uint64_t)i);
        measurement_add_telemetry(m, "package_watts", 30 + 10 * i);
        measurement_add_telemetry(m, "temperature_celsius", 45);
    }
    struct figure *f = build(r, "telemetry");
    assert_has(f->title, ": power moved between 30 W and 60 W");
    assert_has(f->alt, "power goes from 30 W to 60 W");
    assert_has(f->caption, "Constant, so not drawn: temperature 45 °C.");
    figure_free(f);
}

static void check_x(const struct panel *p, enum mark mark, const char *label, double x)
{
    assert_close(find_layer(p, mark, label)->items[0].x * p->x.factor, x, 1e-9 * x);
}

RECORDS_TEST(memory_against_the_caches)
{
    struct binding_roof roof;

    made_run(r, 0, "feedbeef", "gcc");
    made_roofs(r);
    struct measurement *m = ruled(r, 0, 0, KEY("simd"), 101, 10000, 1, 1);
    made_work(m, 1e6, 3e5);
    m->footprint = 1 << 20;
    struct metric_context context = metric_context_of(r, 0);
    binding_roof_of(m, 10000, &context, &roof); /* within L2, a part of it within L1 */
    assert_true(roof.memory_ns > 3e5 / 900 && roof.memory_ns < 3e5 / 400);
    struct figure *f = build(r, "memory");
    check_places(f);
    check_data_texts(f, f->panels[0]);
    assert_int_equal(find_layer(f->panels[0], MARK_RULES, NULL)->nr, 3); /* 4 threads, own cores */
    assert_string_equal(find_layer(f->panels[0], MARK_TEXT, NULL)->items[0].text, "L1 128 KiB");
    check_x(f->panels[0], MARK_RULES, NULL, 4 * 32768.0);
    check_x(f->panels[0], MARK_POINTS, "all tensors", 1 << 20);
    check_x(f->panels[0], MARK_POINTS, "must move", 3e5);
    check_x(f->panels[1], MARK_BARS, NULL, 3e10);
    check_x(f->panels[1], MARK_SEGMENTS, "roof", 3e14 / roof.memory_ns);
    figure_free(f);
}

static void check_poor(const struct records *r)
{
    for (size_t i = 0; i < FIGURES; i++)
        check_state(build(r, figures[i]));
}

RECORDS_TEST(poor_records_have_a_state)
{
    struct figure *f;

    made_run(r, 0, "", "");
    ruled(r, 0, 0, KEY("naive"), 50, 0, 1, 1); /* all 0 ns */
    check_poor(r);
    f = build(r, "distribution-violin");
    assert_has(f->reason, "median of 0 ns");
    figure_free(f);
    ruled(r, 0, 0, KEY("simd"), 1, 700, 1, 1); /* one sample */
    check_poor(r);
    f = build(r, "distribution-box");
    assert_has(f->reason, "no benchmark has 5 samples or more");
    figure_free(f);
    ruled(r, 0, 1, KEY("simd"), 5, 700, 1, 5);
    f = build(r, "distribution-box");
    assert_null(f->reason);
    assert_has(f->caption, "1 benchmark with a median of 0 ns is not shown");
    figure_free(f);
    ruled(r, 0, 0, KEY("openblas"), 400, 800, 1, 1); /* all alike */
    check_poor(r);
    ruled(r, 0, 1, KEY("openblas"), 0, 800, 1, 1);     /* a launch without samples */
    ruled(r, 0, 2, KEY("openblas"), 20, 0, 900, 1800); /* half of them 0 ns */
    check_poor(r);
}

/* Sixty benchmarks with names that nobody should give. */
RECORDS_TEST(many_long_names)
{
    made_run(r, 0, "feedbeef", "gcc");
    made_roofs(r);
    for (int i = 0; i < 60; i++) {
        char key[KEY_SIZE];
        snprintf(key, sizeof(key),
                 "gemm/a_kernel_with_a_name_that_nobody_should_give_%02d_but_somebody_will/"
                 "a_variant_that_is_no_shorter_than_its_kernel/fp32/batch=1000,seq=100000,n=50257,"
                 "k=12345678/cpu-4t/warm",
                 i);
        struct measurement *m =
            made_measurement(r, 0, 0, key, 1000 * (i + 1), 0.1, 70, (uint64_t)i);
        made_work(m, 1e6, 1e5 * (i + 1));
        add_telemetry(m, i);
    }
    for (size_t i = 0; i < FIGURES; i++) {
        struct figure *f = build(r, figures[i]);
        check_places(f);
        for (size_t k = 0; k < f->nr_panels; k++)
            check_data_texts(f, f->panels[k]);
        figure_free(f);
    }
}

RUN_TESTS(presets_setup, presets_teardown)
