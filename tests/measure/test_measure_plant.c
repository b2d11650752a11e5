/* SPDX-License-Identifier: MIT */
/*
 * Planted slow-downs: how many steps, what is refused, what the fake device invents, and the size
 * of what is planted in real kernels from a microsecond up, as a ratio of times taken in turn.
 * Features: U-12.
 */
#include "testing.h"

#include "core/clock.h"
#include "core/registry.h"
#include "device/devices.h"
#include "measure/buffers.h"
#include "measure/case.h"
#include "measure/plant.h"
#include "stats/stats.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

static void assert_refused(int rc, const struct error *err, const char *part)
{
    assert_int_equal(rc, -1);
    if (!strstr(err->message, part))
        fail_msg("\"%s\" is not in: %s", part, err->message);
}

TEST(steps)
{
    const struct plant_cost cost = { .step = 2, .fixed = 10 };
    struct error err = { "" };
    uint64_t nr;

    assert_ok(plant_steps(&cost, 210, &nr, &err), &err);
    assert_int_equal(nr, 100);
    assert_ok(plant_steps(&cost, 12, &nr, &err), &err);
    assert_int_equal(nr, 1);
    assert_ok(plant_steps(&cost, 2e9, &nr, &err), &err); /* far beyond any kernel */
    assert_int_equal(nr, 999999995);
}

TEST(too_short)
{
    const struct plant_cost cost = { .step = 2, .fixed = 10 };
    struct error err = { "" };
    uint64_t nr = 7;

    assert_refused(plant_steps(&cost, 5, &nr, &err), &err, "5.000 ns of extra work");
    assert_int_equal(nr, 0);
    assert_refused(plant_steps(&cost, 5, &nr, &err), &err, "12.00 ns");
    /* Steps of 20 ns: 1 of them is 33 % off what is wanted. */
    assert_refused(plant_steps(&(struct plant_cost) { .step = 20 }, 30, &nr, &err), &err, "20.00");
}

TEST(calibration)
{
    struct plant_cost cost = plant_calibrate();

    assert_true(cost.step > 0 && isfinite(cost.step));
    assert_true(cost.fixed >= 0 && isfinite(cost.fixed));
}

static void count_launch(const struct call *call)
{
    ++*(int *)call->state;
}

TEST(refused_devices)
{
    const struct variant v = { .name = "counted", .launch = count_launch };
    struct device cuda = { .kind = DEVICE_CUDA, .label = "cuda" }, cpu = { .kind = DEVICE_CPU };
    struct call call = { .variant = &v };
    struct error err = { "" };
    struct plant plant;

    assert_refused(plant_init(&plant, 0.05, &cuda, &call, &err), &err, "not on cuda");
    assert_refused(plant_init(&plant, 0, &cpu, &call, &err), &err, "share above 0");
    assert_refused(plant_init(&plant, NAN, &cpu, &call, &err), &err, "share above 0");
    assert_refused(plant_init(&plant, 11, &cpu, &call, &err), &err, "share above 0");
    assert_ptr_equal(call.variant, &v);
    plant_remove(&plant, &call); /* what was never put in */
    assert_ptr_equal(call.variant, &v);
}

TEST(the_kernel_runs_once_a_launch)
{
    int launches = 0;
    struct device cpu = { .kind = DEVICE_CPU };
    const struct variant v = { .name = "counted", .launch = count_launch };
    struct call call = { .variant = &v, .device = &cpu, .state = &launches };
    struct error err = { "" };
    struct plant plant;

    assert_ok(plant_init(&plant, 0.5, &cpu, &call, &err), &err);
    assert_string_equal(call.variant->name, "counted");
    assert_int_equal(plant.steps, 0);
    call.variant->launch(&call);
    assert_int_equal(launches, 1);
    assert_ok(plant_grow(&plant, &call, 1e6, 1, &err), &err);
    assert_true(plant.steps > 0);
    call.variant->launch(&call);
    assert_int_equal(launches, 2);
    plant_remove(&plant, &call);
    assert_ptr_equal(call.variant, &v);
}

static struct measurement measure(struct device *d, const char *kernel, const char *variant,
                                  struct shape shape, double share)
{
    struct benchmark bench = { registry_variant(registry_builtin(), kernel, variant), shape,
                               CACHE_WARM, NULL };
    struct case_settings settings = {
        .sampling = { .min_time = 1e-4,
                      .max_time = 1e-3,
                      .warmup = 1e-4,
                      .precision = 0.01,
                      .min_samples = 20,
                      .max_samples = 200 },
        .seed = 42,
        .plant = share,
    };
    struct measurement m;

    assert_non_null(bench.variant);
    case_measure(&bench, d, &settings, &m);
    return m;
}

static double median_launch(const struct measurement *m)
{
    double values[200];

    assert_int_equal(m->outcome, OUTCOME_OK);
    assert_in_range(m->nr_samples, 1, 200);
    for (size_t i = 0; i < m->nr_samples; i++)
        values[i] = (double)m->samples[i] / m->batch;
    return stats_median(values, m->nr_samples);
}

/* Scripted, so the share is there to the digit; the next case on the same device has none. */
TEST(fake_device)
{
    const double shares[] = { 0, 0.05, 1, 0 };
    struct device d;
    struct error err = { "" };

    assert_ok(device_open(&d, "fake:base=2000", &err), &err);
    for (size_t i = 0; i < 4; i++) {
        struct measurement m =
            measure(&d, "null/copy", "right", (struct shape) { { 4, 8 } }, shares[i]);
        double told = measurement_telemetry(&m, "planted_percent");
        assert_close(median_launch(&m), 2000 * (1 + shares[i]), 1e-9);
        if (shares[i] > 0)
            assert_close(told, 100 * shares[i], 1e-12);
        else
            assert_true(isnan(told));
        measurement_release(&m);
    }
    device_close(&d);
}

TEST(case_says_why_not)
{
    struct device d;
    struct error err = { "" };

    assert_ok(device_open(&d, "cpu:1", &err), &err);
    /* A copy of one number takes nanoseconds: a thousandth of that is nothing to be had. */
    struct measurement m =
        measure(&d, "pointwise/gelu", "simd", (struct shape) { { 1, 1, 1 } }, 0.001);
    assert_int_equal(m.outcome, OUTCOME_FAILED);
    assert_non_null(strstr(m.message, "cannot be planted"));
    assert_int_equal(m.nr_samples, 0);
    measurement_release(&m);
    device_close(&d);
}

/* A try is pairs of rows of samples, about TRY_NS long; a case has TRYING_NS for its tries. */
enum { ROW = 5, ROWS = 10, PAIRS_LEAST = 20, PAIRS_MOST = 400, TRIES_MOST = 501 };
static const double TRY_NS = 1e8, TRYING_NS = 1e10;

static double launch_ns(const struct call *call, unsigned batch)
{
    uint64_t ns;
    struct error err = { "" };

    assert_ok(call->device->ops->time(call->device, call, batch, &ns, &err), &err);
    return (double)ns / batch;
}

/* The shortest of samples in a row, in ns a launch: what a busy machine adds is never less than
 * nothing. One before them is left out: planted work makes the launch after it longer, too, by 2 to
 * 3 us where one of 114 us is timed alone. */
static double shortest_in_a_row(const struct call *call, unsigned batch)
{
    launch_ns(call, batch);
    double shortest = launch_ns(call, batch);
    for (int i = 1; i < ROW; i++)
        shortest = fmin(shortest, launch_ns(call, batch));
    return shortest;
}

/* Of rows, too: a time at a busy moment would be the wrong one to plant a share of. */
static double shortest_of_rows(const struct call *call, unsigned batch)
{
    double shortest = shortest_in_a_row(call, batch);

    for (int i = 1; i < ROWS; i++)
        shortest = fmin(shortest, shortest_in_a_row(call, batch));
    return shortest;
}

/* What the plant really added, as a share: the median over pairs of rows, with and without it in
 * turn, so that a busy moment hits both alike or is outvoted. */
static double added(struct call *call, struct plant *plant, unsigned batch, size_t pairs)
{
    double ratios[PAIRS_MOST];
    uint64_t steps_planted = plant->steps;

    for (size_t i = 0; i < pairs; i++) {
        plant->steps = 0;
        double without = shortest_in_a_row(call, batch);
        plant->steps = steps_planted;
        ratios[i] = shortest_in_a_row(call, batch) / without - 1;
    }
    return stats_median(ratios, pairs);
}

/* One try on a gelu of this width: the share that is there for `share` asked. */
static double try_share(struct device *d, int64_t width, double share)
{
    struct benchmark bench = { registry_variant(registry_builtin(), "pointwise/gelu", "simd"),
                               { { 1, 1, width } },
                               CACHE_WARM,
                               NULL };
    struct error err = { "" };
    struct buffers buffers;
    struct plant plant;

    assert_ok(buffers_init(&buffers, &bench, d, &err), &err);
    assert_ok(buffers_fill(&buffers, 42, &err), &err);
    struct call call = { .variant = bench.variant,
                         .kernel = bench.variant->kernel,
                         .shape = bench.shape,
                         .device = d,
                         .nr_tensors = buffers.nr };
    memcpy(call.tensor, buffers.on_device, sizeof(call.tensor));
    assert_null(bench.variant->prepare);
    double first = launch_ns(&call, 100);
    unsigned batch = first > 2e4 ? 1 : (unsigned)(2e4 / first) + 1;
    assert_ok(plant_init(&plant, share, d, &call, &err), &err);
    double ns = shortest_of_rows(&call, batch);
    assert_ok(plant_grow(&plant, &call, ns, batch, &err), &err);
    double pairs = fmin(PAIRS_MOST, fmax(PAIRS_LEAST, TRY_NS / (2 * (ROW + 1) * ns * batch)));
    double there = added(&call, &plant, batch, (size_t)pairs);
    print_message("%10.0f ns a launch: planted %5.2f %%, there are %6.3f %%\n", ns, 100 * share,
                  100 * there);
    plant_remove(&plant, &call);
    buffers_release(&buffers);
    return there;
}

/* With a sanitizer's checks in it a launch of 2.5 us takes up to 3.9 from one try to the next: a
 * share of that cannot be timed. */
#ifdef __SANITIZE_ADDRESS__
enum { SHORTEST_TIMED = 1 };
#else
enum { SHORTEST_TIMED = 0 };
#endif

static bool is_share(double there, double share)
{
    return fabs(there - share) <= 0.2 * share;
}

/* The median of one try, or of three, five and so on until it is the share: the machine may be busy
 * with other tests. What a busy moment spoils is outvoted, and a lucky one is, too. */
static double share_of_tries(struct device *d, int64_t width, double share)
{
    double there[TRIES_MOST], median;
    uint64_t start = clock_ns();
    size_t nr = 0;

    do {
        there[nr++] = try_share(d, width, share);
        median = stats_median(there, nr);
    } while ((nr % 2 == 0 || !is_share(median, share)) && nr < TRIES_MOST &&
             (double)(clock_ns() - start) < TRYING_NS);
    return median;
}

TEST(real_shares)
{
    static const struct {
        int64_t width;
        double share;
    } cases[] = { { 2000, 0.2 }, { 20000, 0.05 }, { 200000, 0.05 }, { 1000000, 0.1 } };
    struct device d;
    struct error err = { "" };

    assert_ok(device_open(&d, "cpu:1", &err), &err);
    if (SHORTEST_TIMED)
        print_message("skipped: the launch of 2.5 us, which the sanitizer makes unsteady\n");
    for (size_t i = SHORTEST_TIMED; i < sizeof(cases) / sizeof(*cases); i++) {
        double share = cases[i].share, there = share_of_tries(&d, cases[i].width, share);
        if (!is_share(there, share))
            fail_msg("width %" PRId64 ": planted %g %%, there are %g %%", cases[i].width,
                     100 * share, 100 * there);
    }
    device_close(&d);
}

RUN_TESTS(NULL, NULL)
