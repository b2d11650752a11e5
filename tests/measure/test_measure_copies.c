/* SPDX-License-Identifier: MIT */
/*
 * What a launch finds in the caches and in its tensors: cold cases, copies that take turns, in-out
 * tensors. Features: S0-02, S0-03.
 */
#include "case_testing.h"

#include "host/host_cache.h"
#include "measure/copies.h"

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

/* What each launch of a guest finds is what the first found, also where its variant has joined a
 * kernel of harness; one launch is a sample then, and an iteration of a profile. */
TEST(in_out_tensors_are_restored)
{
    static const struct {
        bool kernel;
        unsigned flags;
        enum outcome outcome;
    } rows[] = {
        { false, 0, OUTCOME_WRONG },
        { false, VARIANT_GUEST, OUTCOME_OK },
        { true, VARIANT_GUEST, OUTCOME_OK },
    };
    static const struct profiling profiling = { .iterations = 3, .folder = HARNESS_TEST_DIR };
    struct variant v = *registry_variant(registry_builtin(), "null/copy", "right");
    struct kernel k = *v.kernel;

    k.layout = inout_layout;
    v.kernel = &k;
    v.launch = copy_and_spoil;
    seen.nr = 0;
    seen.spoil = 0;
    for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
        bool profiles = i % 2;
        k.guest = rows[i / 2].kernel;
        v.flags = rows[i / 2].flags;
        struct measurement m;
        struct device d;
        struct error err;
        struct profiled profiled = { .nr = 0 };
        struct case_settings settings = { .sampling = quick,
                                          .seed = 1,
                                          .profiling = profiles ? &profiling : NULL,
                                          .profiled = &profiled };
        assert_ok(device_open(&d, "fake:base=10", &err), &err);
        measure_variant(&v, &d, (struct shape) { { 2, 16 } }, &settings, &m);
        assert_int_equal(m.outcome, rows[i / 2].outcome);
        assert_true(m.outcome == OUTCOME_WRONG || m.batch == 1);
        assert_int_equal(profiled.nr_samples, profiles ? 3 : 0);
        device_close(&d);
        profiled_release(&profiled);
        measurement_release(&m);
    }
}

RUN_TESTS(NULL, NULL)
