/* SPDX-License-Identifier: MIT */
/*
 * One case on the fake device, whose clock is scripted: outcomes, samples, batches, stop rules,
 * warm-up, cold caches, copies that take turns. Features: S0-02, S0-03, U-04.
 */
#include "testing.h"

#include "core/registry.h"
#include "device/devices.h"
#include "host/host_cache.h"
#include "measure/case.h"
#include "measure/copies.h"
#include "process/counters.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

static const struct sampling quick = {
    .min_time = 1e-4,
    .max_time = 1e-3,
    .warmup = 1e-4,
    .precision = 0.01,
    .min_samples = 20,
    .max_samples = 5000,
};

static void assert_says(const struct measurement *m, const char *part)
{
    if (!m->message || !strstr(m->message, part))
        fail_msg("\"%s\" is not in: %s", part, m->message ? m->message : "(no message)");
}

static void measure_variant(const struct variant *v, struct device *d, struct shape shape,
                            const struct case_settings *settings, struct measurement *m)
{
    struct benchmark bench = { v, shape, CACHE_WARM, NULL };

    case_measure(&bench, d, settings, m);
}

/* A variant of null/copy on a fake device of this spec. */
static struct measurement measure(const char *spec, const char *variant, struct shape shape,
                                  const struct sampling *sampling)
{
    struct case_settings settings = { .sampling = *sampling, .seed = 42 };
    const struct variant *v = registry_variant(registry_builtin(), "null/copy", variant);
    struct measurement m;
    struct device d;
    struct error err;

    assert_non_null(v);
    assert_ok(device_open(&d, spec, &err), &err);
    measure_variant(v, &d, shape, &settings, &m);
    device_close(&d);
    return m;
}

static void assert_no_time(const struct measurement *m)
{
    assert_null(m->samples);
    assert_int_equal(m->nr_samples, 0);
    assert_int_equal(m->stop, STOP_NONE);
}

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

#define MEASUREMENT_TEST(name) TEST_WITH_A(name, struct measurement, m, measurement_release)

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

static void measure_copy(struct device *d, enum cache_state cache, int64_t limit,
                         struct measurement *m)
{
    struct variant v = *registry_variant(registry_builtin(), "null/copy", "right");
    const struct benchmark bench = { &v, { { 4, 16 } }, cache, NULL };
    const struct case_settings settings = { .sampling = { .iterations = 3, .warmup = 0 },
                                            .seed = 1,
                                            .memory_limit = limit };

    v.device = DEVICE_CPU;
    case_measure(&bench, d, &settings, m);
}

/* What empties the caches is part of what a cold case needs, and of nothing that it tells; it goes
 * with the case. */
TEST(what_empties_caches_is_counted_apart)
{
    static const enum cache_state states[] = { CACHE_WARM, CACHE_COLD, CACHE_WARM };
    double peak[3], flush = (double)host_cache_flush_bytes(1);
    struct measurement m;
    struct device d;
    struct error err;

    assert_ok(device_open(&d, "cpu:1", &err), &err);
    for (int i = 0; i < 3; i++) {
        measure_copy(&d, states[i], 0, &m);
        assert_int_equal(m.outcome, OUTCOME_OK);
        assert_int_equal(d.flush_held, 0);
        peak[i] = measurement_telemetry(&m, "peak_rss_bytes"); /* NaN: it cannot be known here */
        assert_false(peak[i] > peak[0] + flush / 2);
        measurement_release(&m);
    }
    measure_copy(&d, CACHE_COLD, (int64_t)flush, &m);
    assert_int_equal(m.outcome, OUTCOME_UNSUPPORTED);
    assert_says(&m, "(inputs, outputs and their check, and what empties the caches), ");
    measurement_release(&m);
    measure_copy(&d, CACHE_WARM, (int64_t)flush, &m);
    assert_int_equal(m.outcome, OUTCOME_OK);
    measurement_release(&m);
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

/* A variant of null/copy that keeps account of its calls and goes wrong after some launches, or
 * finds its work done after the first one. */
struct account {
    int prepared, released, launched, wrong_after;
};

enum { COMPUTES_ONCE = -1 };

static struct account account;

static int prepare(struct call *call, struct error *err)
{
    account.prepared++;
    call->state = &account;
    return call->shape.dim[0] == 13 ? error_set(err, "unlucky") : 0;
}

static void launch(const struct call *call)
{
    struct account *a = call->state;
    float *y = call->tensor[1].data;
    int before = a->launched++;

    if (a->wrong_after == COMPUTES_ONCE && before > 0)
        return;
    memcpy(y, call->tensor[0].data, (size_t)tensor_bytes(&call->tensor[0]));
    if (a->wrong_after != COMPUTES_ONCE && before >= a->wrong_after)
        y[1] += 1;
}

static void release(struct call *call)
{
    ((struct account *)call->state)->released++;
}

static struct measurement measure_account(const struct device_class *class, int64_t batch,
                                          int wrong_after, enum cache_state cache)
{
    const struct variant *right = registry_variant(registry_builtin(), "null/copy", "right");
    struct variant v = *right;
    struct benchmark bench = { &v, { { batch, 16 } }, cache, NULL };
    struct case_settings settings = { .sampling = quick, .seed = 1 };
    struct measurement m;
    struct device d;
    struct error err;

    v.prepare = prepare;
    v.launch = launch;
    v.release = release;
    account = (struct account) { .wrong_after = wrong_after };
    assert_ok(device_open(&d, "fake:base=10", &err), &err);
    const struct device_class *own = d.ops;
    d.ops = class ? class : own;
    case_measure(&bench, &d, &settings, &m);
    d.ops = own;
    device_close(&d);
    return m;
}

TEST(prepared_is_released_once)
{
    static const struct {
        int64_t batch;
        int wrong_after, released;
        enum outcome outcome;
    } rows[] = {
        { 1, 1 << 30, 1, OUTCOME_OK },
        { 1, 0, 1, OUTCOME_WRONG },
        { 13, 0, 0, OUTCOME_FAILED }, /* prepare() cleans up after itself */
    };

    for (size_t i = 0; i < 3; i++) {
        struct measurement m =
            measure_account(NULL, rows[i].batch, rows[i].wrong_after, CACHE_WARM);
        assert_int_equal(m.outcome, rows[i].outcome);
        assert_int_equal(account.prepared, 1);
        assert_int_equal(account.released, rows[i].released);
        measurement_release(&m);
    }
}

/* Right at first and wrong while it was timed: what was timed is looked at again. */
TEST(going_wrong_later_is_found)
{
    struct measurement m = measure_account(NULL, 1, 5, CACHE_WARM);

    assert_int_equal(m.outcome, OUTCOME_WRONG);
    assert_says(&m, "after timing: y[0,1] = ");
    assert_true(account.launched > 6);
    assert_no_time(&m);
    measurement_release(&m);
}

/* What the check left there is no result of what was timed. */
TEST(computing_the_first_time_alone_is_found)
{
    static const enum cache_state states[] = { CACHE_WARM, CACHE_COLD };

    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        struct measurement m = measure_account(NULL, 1, COMPUTES_ONCE, states[i]);
        assert_int_equal(m.outcome, OUTCOME_WRONG);
        assert_says(&m, "after timing: y[0,0] = nan");
        assert_says(&m, "never written");
        assert_no_time(&m);
        measurement_release(&m);
    }
}

static int flushes;

static int slow_flush(struct device *d, struct error *err)
{
    (void)d;
    (void)err;
    flushes++;
    usleep(200);
    return 0;
}

/* Flushing takes 20,000 times as long as the launch here; it counts as time spent. */
TEST(cold_cases_end_in_time)
{
    struct device_class class = *device_class_of(DEVICE_FAKE, NULL);

    class.flush = slow_flush;
    flushes = 0;
    struct measurement m = measure_account(&class, 1, 1 << 30, CACHE_COLD);
    assert_int_equal(m.outcome, OUTCOME_OK);
    assert_string_equal(m.bench.cache, "cold");
    assert_int_equal(m.batch, 1); /* the second launch of a batch would be warm */
    assert_true(m.nr_samples >= 3);
    assert_int_equal(flushes, (int)m.nr_samples + (int)m.warmups);
    assert_true(flushes < 50);
    for (size_t i = 0; i < m.nr_samples; i++)
        assert_true(m.samples[i] == 10); /* the time of flushing is not in the samples */
    measurement_release(&m);
}

TEST(warm_cases_are_not_flushed)
{
    struct device_class class = *device_class_of(DEVICE_FAKE, NULL);

    class.flush = slow_flush;
    flushes = 0;
    struct measurement m = measure_account(&class, 1, 1 << 30, CACHE_WARM);
    assert_int_equal(m.outcome, OUTCOME_OK);
    assert_int_equal(flushes, 0);
    measurement_release(&m);
}

/* ---- counters ---- */

static int launched_at_facts;

static void note_facts(const struct call *call, struct measurement *m)
{
    (void)m;
    launched_at_facts = ((struct account *)call->state)->launched;
}

static int open_counter(struct perf_event_attr *attr, int group)
{
    (void)attr, (void)group;
    return 100;
}

static int control_counter(int fd, unsigned long request)
{
    (void)fd, (void)request;
    return 0;
}

static ssize_t read_counter(int fd, void *to, size_t nr)
{
    (void)fd;
    memset(to, 0, nr);
    return (ssize_t)nr;
}

static int close_counter(int fd)
{
    (void)fd;
    return 0;
}

/* A variant tells of the launches that were sampled: those that are counted come behind. */
MEASUREMENT_TEST(facts_are_those_of_the_samples)
{
    static const struct counter_calls calls = { open_counter, control_counter, read_counter,
                                                close_counter, "/nowhere" };
    enum { SAMPLES = 4, COUNTED = 3 };
    struct variant v = *registry_variant(registry_builtin(), "null/copy", "right");
    struct case_settings settings = { .sampling = { .iterations = SAMPLES }, .seed = 1 };
    struct device d;
    struct error err;

    settings.counters = counters_open(COUNT_THREADS, &calls, &err);
    assert_non_null(settings.counters);
    v.device = DEVICE_CPU;
    v.prepare = prepare;
    v.launch = launch;
    v.release = release;
    v.facts = note_facts;
    account = (struct account) { .wrong_after = INT_MAX };
    assert_ok(device_open(&d, "cpu:1", &err), &err);
    measure_variant(&v, &d, (struct shape) { { 2, 16 } }, &settings, m);
    assert_int_equal(m->outcome, OUTCOME_OK);
    assert_int_equal(launched_at_facts, 1 + m->warmups + SAMPLES * m->batch); /* 1: the check */
    assert_int_equal(account.launched, (unsigned)launched_at_facts + COUNTED * m->batch);
    device_close(&d);
    counters_close(settings.counters);
}

/* ---- copies that take turns, and in-out tensors ---- */

enum { SEEN_MAX = 4096 };

static struct {
    const void *inputs[SEEN_MAX];
    size_t nr;
    float spoil; /* what all but the first of them are wrong by */
} seen;

static void copy_and_note(const struct call *call)
{
    const float *x = call->tensor[0].data;
    float *y = call->tensor[1].data;
    size_t which = 0;

    memcpy(y, x, (size_t)tensor_bytes(&call->tensor[0]));
    while (which < seen.nr && seen.inputs[which] != x)
        which++;
    if (which == seen.nr && seen.nr < SEEN_MAX)
        seen.inputs[seen.nr++] = x;
    if (which > 0)
        y[0] += seen.spoil;
}

/* Of a kernel that leaves a sixteenth of its tensors alone. */
static struct work most_of_it(const struct kernel *k, const struct shape *s, enum dtype dtype,
                              enum math math)
{
    (void)math;
    double bytes = (double)kernel_footprint(k, s, dtype);
    return (struct work) { bytes, bytes / 16 * 15 };
}

/* A share of all that must be rotated through is what there is of its tensors; a launch touches all
 * or most of that. */
static struct measurement measure_touching(float spoil, int64_t share, const char *device, bool all)
{
    struct variant v = *registry_variant(registry_builtin(), "null/copy", "right");
    struct kernel k = *v.kernel;
    int64_t rows = (int64_t)host_cache_flush_bytes(1) / share / 8 / 1024;
    struct benchmark bench = { &v, { { rows, 1024 } }, CACHE_ROTATE, NULL };
    struct case_settings settings = { .sampling = { .iterations = 80, .warmup = 0 }, .seed = 1 };
    struct measurement m;
    struct device d;
    struct error err;

    if (!all)
        k.work = most_of_it;
    v.kernel = &k;
    v.device = DEVICE_CPU;
    v.launch = copy_and_note;
    seen.nr = 0;
    seen.spoil = spoil;
    assert_ok(device_open(&d, device, &err), &err);
    case_measure(&bench, &d, &settings, &m);
    assert_int_equal(d.nr_blocks, 0);
    device_close(&d);
    return m;
}

static struct measurement measure_rotating(float spoil, int64_t share, const char *device)
{
    return measure_touching(spoil, share, device, true);
}

TEST(copies_take_turns)
{
    struct measurement m = measure_rotating(0, 64, "cpu:1");

    assert_int_equal(m.outcome, OUTCOME_OK);
    assert_string_equal(m.bench.cache, "rotate");
    assert_int_equal(seen.nr, 65);
    measurement_release(&m);
    m = measure_rotating(1, 64, "cpu:1");
    assert_int_equal(m.outcome, OUTCOME_WRONG);
    assert_says(&m, "after timing, of a copy: y[0,0] = ");
    measurement_release(&m);
    m = measure_rotating(0, COPIES_MAX + 1, "cpu:1");
    assert_int_equal(m.outcome, OUTCOME_UNSUPPORTED);
    measurement_release(&m);
    m = measure_rotating(0, 64, "fake");
    assert_int_equal(m.outcome, OUTCOME_UNSUPPORTED);
    measurement_release(&m);
}

/* What a launch leaves alone of a copy takes no room in a cache. */
TEST(copies_are_as_many_as_what_is_touched_of_them_asks_for)
{
    struct measurement m = measure_touching(0, 64, "cpu:1", false);

    assert_int_equal(m.outcome, OUTCOME_OK);
    assert_int_equal(seen.nr, 70); /* 64 * 16 / 15, rounded up, and one */
    measurement_release(&m);
}

/* ---- what inputs hold ---- */

static float found[64];

static void copy_and_keep(const struct call *call)
{
    memcpy(call->tensor[1].data, call->tensor[0].data, (size_t)tensor_bytes(&call->tensor[0]));
    memcpy(found, call->tensor[0].data, sizeof(found));
}

static struct measurement measure_filled(const struct input_fill *inputs, struct variant *v,
                                         const struct sampling *sampling)
{
    const struct benchmark bench = { v, { { 4, 16 } }, CACHE_WARM, inputs };
    struct case_settings settings = { .sampling = *sampling, .seed = 42 };
    struct measurement m;
    struct device d;
    struct error err;

    assert_ok(device_open(&d, "fake:base=2000", &err), &err);
    case_measure(&bench, &d, &settings, &m);
    device_close(&d);
    return m;
}

static double mean_square(void)
{
    double sum = 0;

    for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++)
        sum += (double)found[i] * (double)found[i];
    return sum / (double)(sizeof(found) / sizeof(found[0]));
}

TEST(inputs_hold_what_was_asked_for)
{
    struct variant v = *registry_variant(registry_builtin(), "null/copy", "right");

    v.launch = copy_and_keep;
    struct measurement m = measure_filled(NULL, &v, &quick);
    assert_string_equal(m.bench.key, "null/copy/right/fp32/batch=4,seq=16/fake/warm");
    const float first = found[0]; /* of N(0, 1): some are beyond sqrt(3) */
    assert_true(first != 0 && mean_square() > 0.5 && mean_square() < 1.6);
    measurement_release(&m);
    m = measure_filled(input_fill_find("uniform"), &v, &quick);
    assert_string_equal(m.bench.key, "null/copy/right/fp32/batch=4,seq=16/fake/warm+uniform");
    assert_string_equal(m.bench.cache, "warm");
    assert_string_equal(m.bench.fill, "uniform");
    assert_true(mean_square() > 0.6 && mean_square() < 1.4 && found[0] != first);
    for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++)
        assert_true(fabsf(found[i]) <= 1.7320509F);
    measurement_release(&m);
    m = measure_filled(input_fill_find("zeros"), &v, &quick);
    assert_int_equal(m.outcome, OUTCOME_OK);
    assert_true(mean_square() == 0 && m.max_error == 0);
    measurement_release(&m);
    m = measure_filled(NULL, &v, &quick); /* the same as ever */
    assert_true(found[0] == first);
    measurement_release(&m);
}

static void fill_from(struct input_fill *f, const float *data, int64_t nr)
{
    static const char path[] = HARNESS_TEST_DIR "/inputs.npy";
    struct error err;

    assert_ok(npy_write(path, data, &nr, 1, &err), &err);
    assert_ok(input_fill_read(f, path, &err), &err);
}

TEST(inputs_of_a_file_come_in_turn)
{
    static const float data[] = { 1.5F, -2, 1e30F, 0, 7 };
    struct variant v = *registry_variant(registry_builtin(), "null/copy", "right");
    struct input_fill f;

    v.launch = copy_and_keep;
    fill_from(&f, data, 5);
    struct measurement m = measure_filled(&f, &v, &quick);
    assert_int_equal(m.outcome, OUTCOME_OK);
    assert_non_null(strstr(m.bench.key, "/warm+file-"));
    for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++)
        assert_true(found[i] == data[i % 5]);
    measurement_release(&m);
    v.dtype = DTYPE_FP16;
    m = measure_filled(&f, &v, &quick);
    assert_int_equal(m.outcome, OUTCOME_UNSUPPORTED);
    assert_says(&m, "element 2 of ");
    assert_says(&m, "beyond what fp16 holds");
    measurement_release(&m);
    input_fill_release(&f);
}

/* Each tensor by its name; the rest is as ever. */
TEST(inputs_of_single_tensors)
{
    struct variant v = *registry_variant(registry_builtin(), "null/copy", "right");
    struct input_fill known = { .kind = INPUT_EACH }, unknown = { .kind = INPUT_EACH };
    struct error err;

    v.launch = copy_and_keep;
    assert_ok(input_fill_add(&known, "x", input_fill_find("zeros"), &err), &err);
    struct measurement m = measure_filled(&known, &v, &quick);
    assert_int_equal(m.outcome, OUTCOME_OK);
    assert_string_equal(m.bench.key, "null/copy/right/fp32/batch=4,seq=16/fake/warm+x=zeros");
    assert_true(mean_square() == 0);
    measurement_release(&m);
    assert_ok(input_fill_add(&unknown, "weight", input_fill_find("zeros"), &err), &err);
    m = measure_filled(&unknown, &v, &quick);
    assert_int_equal(m.outcome, OUTCOME_UNSUPPORTED);
    assert_says(&m, "--fill: \"weight\" is none of its tensors of random numbers: x");
    measurement_release(&m);
    input_fill_release(&known);
    input_fill_release(&unknown);
}

static int tokens_layout(const struct kernel *k, const struct shape *s, enum dtype dtype,
                         struct tensor *t)
{
    int nr = registry_kernel(registry_builtin(), "null/copy")->layout(k, s, dtype, t);

    t[0].fill = FILL_CONST;
    return nr;
}

/* A benchmark whose key said "zeros" and that had none would be a lie. */
TEST(inputs_that_nothing_fills_are_refused)
{
    struct variant v = *registry_variant(registry_builtin(), "null/copy", "right");
    struct kernel k = *v.kernel;

    k.layout = tokens_layout;
    v.kernel = &k;
    struct measurement m = measure_filled(input_fill_find("zeros"), &v, &quick);
    assert_int_equal(m.outcome, OUTCOME_UNSUPPORTED);
    assert_says(&m, "--fill zeros: none of its inputs is of random numbers");
    measurement_release(&m);
}

static void huge_oracle(const struct kernel *k, const struct shape *s, const struct tensor *t,
                        int out, const int64_t *rows, size_t nr_rows, double *expected)
{
    for (int64_t i = 0; i < (int64_t)nr_rows * s->dim[1]; i++)
        expected[i] = 1e39;
}

TEST(results_beyond_their_type_are_nobodys_fault)
{
    static const float data[] = { 3e38F };
    struct variant v = *registry_variant(registry_builtin(), "null/copy", "right");
    struct kernel k = *v.kernel;
    struct input_fill f;

    k.oracle = huge_oracle;
    v.kernel = &k;
    fill_from(&f, data, 1);
    struct measurement m = measure_filled(&f, &v, &quick);
    assert_int_equal(m.outcome, OUTCOME_UNSUPPORTED);
    assert_says(&m, "the right result is beyond what its type holds");
    measurement_release(&m);
    input_fill_release(&f);
}

/* ---- the clock ---- */

/* Four looks while it warms up, and four that come again and again. */
struct looks {
    double mhz[8];
    int nr;
};

static struct clock_seen look_by_turns(void *context)
{
    struct looks *l = context;
    int at = l->nr < 4 ? l->nr : 4 + l->nr % 4;

    l->nr++;
    return (struct clock_seen) { l->mhz[at], NAN };
}

static struct measurement measure_clock(const struct looks *script, bool steady)
{
    struct looks looks = script ? *script : (struct looks) { .nr = 0 };
    const struct variant *v = registry_variant(registry_builtin(), "null/copy", "right");
    const struct clock_eye eye = { .scripted = look_by_turns, .context = &looks };
    const struct benchmark bench = { v, { { 4, 16 } }, CACHE_WARM, NULL };
    struct case_settings settings = { .sampling = { .min_time = 0.1,
                                                    .max_time = 0.2,
                                                    .warmup = 0.02,
                                                    .min_samples = 20,
                                                    .max_samples = 5000,
                                                    .steady = steady },
                                      .seed = 1,
                                      .eye = script ? &eye : NULL };
    struct measurement m;
    struct device d;
    struct error err;

    assert_ok(device_open(&d, "fake:base=1e6", &err), &err);
    case_measure(&bench, &d, &settings, &m);
    device_close(&d);
    return m;
}

TEST(samples_are_of_one_clock)
{
    static const struct {
        struct looks looks;
        bool steady;
        enum outcome outcome;
        double settled, again; /* NaN: not told */
    } rows[] = {
        { { { 3, 3, 3, 3, 3, 3, 3, 3 }, 0 }, false, OUTCOME_OK, 1, NAN },
        { { { 3, 3, 3, 3, 3, 3, 3, 3 }, 0 }, true, OUTCOME_OK, 1, 0 },
        { { { 3, 3, 3, 3, 3, 2, 3, 3 }, 0 }, false, OUTCOME_OK, 1, NAN },
        { { { 3, 3, 3, 3, 3, 2, 3, 3 }, 0 }, true, OUTCOME_OK, 1, 3 },
        { { { 3, 3, 3, 3, 2, 2, 2, 2 }, 0 }, true, OUTCOME_FAILED, 1, NAN },
        { { { 3, 4, 5, 6, 3, 4, 5, 6 }, 0 }, false, OUTCOME_OK, 0, NAN },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct measurement m = measure_clock(&rows[i].looks, rows[i].steady);
        double again = measurement_telemetry(&m, TELEMETRY_CLOCK_AGAIN);
        assert_int_equal(m.outcome, rows[i].outcome);
        assert_true(measurement_telemetry(&m, TELEMETRY_SETTLED) == rows[i].settled);
        assert_true(measurement_telemetry(&m, TELEMETRY_WARM_UP) > 0.019);
        assert_true(isnan(rows[i].again) ? isnan(again) : again >= rows[i].again);
        if (rows[i].outcome == OUTCOME_OK)
            assert_true(m.nr_samples >= 100); /* as many as where every window counts */
        else
            assert_says(&m, "--clock steady: the clock was beyond 1 %");
        measurement_release(&m);
    }
    struct measurement m = measure_clock(NULL, true);
    assert_int_equal(m.outcome, OUTCOME_FAILED);
    assert_says(&m, "--clock steady: the clock of this device cannot be seen");
    measurement_release(&m);
}

static int inout_layout(const struct kernel *k, const struct shape *s, enum dtype dtype,
                        struct tensor *t)
{
    t[0] = (struct tensor) { .name = "x",
                             .role = TENSOR_INOUT,
                             .dtype = dtype,
                             .rank = 2,
                             .extent = { s->dim[0], s->dim[1] },
                             .scale = 1 };
    t[1] = t[0];
    t[1].name = "y";
    t[1].role = TENSOR_OUT;
    return 2;
}

static void copy_and_spoil(const struct call *call)
{
    copy_and_note(call);
    memset(call->tensor[0].data, 0, (size_t)tensor_bytes(&call->tensor[0]));
}

/* What each launch of a guest finds is what the first found; one launch is a sample then, and an
 * iteration of a profile. */
TEST(in_out_tensors_are_restored)
{
    static const enum outcome outcomes[] = { OUTCOME_WRONG, OUTCOME_OK };
    static const struct profiling profiling = { .iterations = 3, .folder = HARNESS_TEST_DIR };
    struct variant v = *registry_variant(registry_builtin(), "null/copy", "right");
    struct kernel k = *v.kernel;

    k.layout = inout_layout;
    v.kernel = &k;
    v.launch = copy_and_spoil;
    seen.nr = 0;
    seen.spoil = 0;
    for (int i = 0; i < 4; i++) {
        int guest = i % 2;
        k.guest = guest;
        struct measurement m;
        struct device d;
        struct error err;
        struct profiled profiled = { .nr = 0 };
        struct case_settings settings = { .sampling = quick,
                                          .seed = 1,
                                          .profiling = i < 2 ? NULL : &profiling,
                                          .profiled = &profiled };
        assert_ok(device_open(&d, "fake:base=10", &err), &err);
        measure_variant(&v, &d, (struct shape) { { 2, 16 } }, &settings, &m);
        assert_int_equal(m.outcome, outcomes[guest]);
        assert_true(guest == 0 || m.batch == 1);
        assert_int_equal(profiled.nr_samples, i < 2 ? 0 : 3);
        device_close(&d);
        profiled_release(&profiled);
        measurement_release(&m);
    }
}

static int clock_breaks(struct device *d, const struct call *call, unsigned batch, uint64_t *ns,
                        struct error *err)
{
    (void)d;
    call->variant->launch(call);
    *ns = 1000 * batch;
    return account.launched > 30 ? error_set(err, "the clock stands still") : 0;
}

TEST(a_failing_device_fails_the_case)
{
    struct device_class class = *device_class_of(DEVICE_FAKE, NULL);

    class.time = clock_breaks;
    struct measurement m = measure_account(&class, 1, 1 << 30, CACHE_WARM);
    assert_int_equal(m.outcome, OUTCOME_FAILED);
    assert_string_equal(m.message, "the clock stands still");
    assert_int_equal(account.released, 1);
    assert_no_time(&m);
    measurement_release(&m);
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
