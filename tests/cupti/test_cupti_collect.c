/* SPDX-License-Identifier: MIT */
/*
 * Collecting activities (S3-01, S3-12, S4-28) against a stand-in for CUPTI (tests/cuda): records
 * from several threads, small pools, dropped records, clocks, and what is said where CUPTI is
 * missing, old or refuses.
 */
#include "testing.h"

#include "base/monotonic.h"
#include "cupti/clock_offset.h"
#include "cupti/collect.h"
#include "cupti/pool.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { LAUNCHES = 3000, THREADS = 4 };

typedef void run_fn(const char *name, int launches);

static run_fn *stub_function(const char *name)
{
    void *library = dlopen(CUPTI_STUB_PATH, RTLD_NOW | RTLD_LOCAL);
    run_fn *run = NULL;

    assert_non_null(library);
    void *symbol = dlsym(library, name);
    memcpy(&run, &symbol, sizeof(run));
    return run;
}

static run_fn *stub_run(void)
{
    return stub_function("cupti_stub_run");
}

static void use(const char *library, const char *words)
{
    setenv("HARNESS_CUPTI", library, 1);
    setenv("CUPTI_STUB", words, 1);
}

static struct activity_collector *start(const struct activity_options *options)
{
    struct activity_collector *c = NULL;
    struct error err;

    use(CUPTI_STUB_PATH, "");
    assert_ok(activity_start(&c, options, &err), &err);
    return c;
}

static void stop(struct activity_collector *c, struct activity_list *list)
{
    struct error err;

    activity_list_init(list);
    assert_ok(activity_stop(c, list, &err), &err);
}

#define ACTIVITY_TEST(name) TEST_WITH_A(name, struct activity_list, list, activity_list_release)

ACTIVITY_TEST(calls_and_kernels)
{
    struct activity_collector *c = start(&(struct activity_options) { 0 });

    stub_run()("_Z4gemmPKf", 2);
    stop(c, list);
    assert_int_equal(list->nr, 4);
    const struct activity *call = &list->items[0], *kernel = &list->items[1];
    assert_int_equal(call->kind, ACTIVITY_RUNTIME);
    assert_string_equal(call->name, "cudaLaunchKernel");
    assert_int_equal(call->end - call->start, 20);
    assert_int_equal(call->process, 7);
    assert_int_equal(call->thread, gettid()); /* as the scopes have it */
    assert_int_equal(kernel->kind, ACTIVITY_KERNEL);
    assert_string_equal(kernel->name, "gemm(float const*)");
    assert_int_equal(kernel->end - kernel->start, 100);
    assert_int_equal(kernel->correlation, call->correlation);
    assert_int_equal(kernel->stream, 3);
    assert_ptr_equal(kernel->name, list->items[3].name);
    assert_int_equal(list->dropped, 0);
}

ACTIVITY_TEST(only_what_is_asked_for)
{
    struct activity_collector *c =
        start(&(struct activity_options) { .kinds = 1u << ACTIVITY_KERNEL });

    stub_run()("_Z1fv", 3);
    stop(c, list);
    assert_int_equal(list->nr, 3);
    assert_int_equal(list->items[0].kind, ACTIVITY_KERNEL);
}

static void *launch_many(void *arg)
{
    run_fn *run = stub_run();

    run(arg, LAUNCHES);
    return NULL;
}

/* Every record comes out once or is counted as dropped, however small the pool. */
static void many_threads(const struct activity_options *options, bool may_drop)
{
    struct activity_collector *c = start(options);
    pthread_t threads[THREADS];
    struct activity_list list;

    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, launch_many, "_Z1gi"), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    stop(c, &list);
    assert_int_equal(list.nr + list.dropped, 2 * THREADS * LAUNCHES);
    if (!may_drop)
        assert_int_equal(list.dropped, 0);
    for (size_t i = 1; i < list.nr; i++)
        assert_true(list.items[i - 1].start <= list.items[i].start);
    activity_list_release(&list);
}

TEST(threads_with_room)
{
    /* 4 * 3000 * 256 bytes fit into 48 buffers of 64 KiB, even if nobody empties one. */
    many_threads(&(struct activity_options) { .buffer_bytes = 1 << 16, .buffers = 64 }, false);
}

TEST(threads_in_a_small_pool)
{
    many_threads(
        &(struct activity_options) { .buffer_bytes = 4096, .buffers = 1, .most_buffers = 2 }, true);
}

ACTIVITY_TEST(dropped_records_are_counted)
{
    /* A kernel needs 216 bytes: no buffer takes one. */
    struct activity_collector *c = start(&(struct activity_options) { .buffer_bytes = 128 });

    stub_run()("_Z1fv", 5);
    stop(c, list);
    assert_int_equal(list->dropped, 5);
    assert_int_equal(list->nr, 5);
}

static int64_t now_ns(void)
{
    return (int64_t)monotonic_ns();
}

/* Its clock is ours, so nothing is converted. */
ACTIVITY_TEST(cupti_takes_our_clock)
{
    struct activity_collector *c = start(&(struct activity_options) { 0 });
    int64_t before = now_ns();
    stub_run()("_Z1fv", 1);
    int64_t after = now_ns();
    stop(c, list);
    assert_true(list->has_clock);
    assert_int_equal(activity_host_time(list, list->items[0].start), list->items[0].start);
    assert_in_range(list->items[0].start, before, after + 135);
}

/* An old one's clock moves by launches alone, so it falls behind ours: a line through both ends. */
ACTIVITY_TEST(clocks_are_told_apart)
{
    struct activity_collector *c = NULL;
    struct error err;

    use(CUPTI_STUB_PATH, "wall=1");
    int64_t before = now_ns();
    assert_ok(activity_start(&c, &(struct activity_options) { 0 }, &err), &err);
    int64_t begun = now_ns();
    usleep(20000);
    stub_run()("_Z1fv", 1);
    int64_t launched = now_ns();
    stop(c, list);
    int64_t after = now_ns();
    assert_true(list->has_clock);
    /* 135 ns of its clock, from the start to the stop: the kernel ends with the line. */
    int64_t end = activity_host_time(list, list->items[1].end);
    assert_true(end >= launched - list->clock_error && end <= after + list->clock_error);
    int64_t at = activity_host_time(list, list->items[0].start);
    assert_true(at >= before - list->clock_error && at <= launched + list->clock_error);
    assert_true(list->clock_error >= 0 && list->clock_error <= begun - before + 1000000);
}

ACTIVITY_TEST(launches_by_the_driver_belong_to_somebody)
{
    struct activity_collector *c = start(&(struct activity_options) { 0 });
    struct activity_calls calls;

    stub_function("cupti_stub_run_by_driver")("_Z1fv", 2);
    stop(c, list);
    assert_int_equal(list->nr, 4);
    activity_calls_of(list, &calls);
    for (size_t i = 0; i < list->nr; i++) {
        const struct activity *a = &list->items[i];
        if (a->kind != ACTIVITY_KERNEL)
            continue;
        const struct activity *call = activity_launch(&calls, a);
        assert_non_null(call);
        assert_int_equal(call->kind, ACTIVITY_DRIVER);
        assert_string_equal(call->name, "cuLaunchKernelEx");
    }
    activity_calls_release(&calls);
}

/* Kernels before their calls, in buffers of three records: sorted, and none is lost. */
ACTIVITY_TEST(out_of_order_and_in_parts)
{
    struct activity_collector *c = NULL;
    struct activity_calls calls;
    struct error err;
    size_t kernels = 0;

    use(CUPTI_STUB_PATH, "late=1");
    assert_ok(
        activity_start(&c, &(struct activity_options) { .buffer_bytes = 512, .buffers = 64 }, &err),
        &err);
    stub_run()("_Z1fv", 20);
    stop(c, list);
    assert_int_equal(list->nr + list->dropped, 40);
    assert_int_equal(list->dropped, 0);
    activity_calls_of(list, &calls);
    for (size_t i = 0; i < list->nr; i++) {
        assert_true(i == 0 || list->items[i - 1].start <= list->items[i].start);
        kernels += list->items[i].kind == ACTIVITY_KERNEL;
        if (list->items[i].kind == ACTIVITY_KERNEL)
            assert_non_null(activity_launch(&calls, &list->items[i]));
    }
    assert_int_equal(kernels, 20);
    activity_calls_release(&calls);
}

/* What was launched before is not there, whenever it ran; what is later is. */
ACTIVITY_TEST(what_is_not_kept_is_cut)
{
    struct activity_collector *c = start(&(struct activity_options) { 0 });

    stub_run()("_Z4warmv", 4);
    usleep(1000);
    int64_t from = now_ns();
    stub_run()("_Z4keptv", 3);
    stop(c, list);
    assert_int_equal(list->nr, 14);
    activity_cut(list, from);
    assert_int_equal(list->nr, 6);
    for (size_t i = 0; i < list->nr; i++)
        if (list->items[i].kind == ACTIVITY_KERNEL)
            assert_string_equal(list->items[i].name, "kept()");
}

ACTIVITY_TEST(streams_have_numbers_while_collecting)
{
    assert_int_equal(activity_stream((void *)(uintptr_t)13), -1);
    struct activity_collector *c = start(&(struct activity_options) { 0 });
    assert_int_equal(activity_stream((void *)(uintptr_t)13), 13);
    stop(c, list);
}

ACTIVITY_TEST(one_at_a_time)
{
    struct activity_collector *c = start(&(struct activity_options) { 0 }), *second = NULL;
    struct error err;

    assert_int_equal(activity_start(&second, &(struct activity_options) { 0 }, &err), -1);
    assert_non_null(strstr(err.message, "already"));
    stop(c, list);
    assert_int_equal(list->nr, 0);
}

static void assert_refused(const char *library, const char *words, const char *part)
{
    struct activity_collector *c = NULL;
    struct error err = { "" };

    use(library, words);
    assert_int_equal(activity_start(&c, &(struct activity_options) { 0 }, &err), -1);
    if (!strstr(err.message, part))
        fail_msg("\"%s\" is not in: %s", part, err.message);
}

TEST(reasons)
{
    assert_refused("/nowhere/libcupti.so", "", "CUPTI cannot be opened");
    assert_refused("libm.so.6", "", "has no cupti");
    assert_refused(CUPTI_STUB_PATH, "version=17", "older than 18");
    assert_refused(CUPTI_STUB_PATH, "enable=35", "administrator");
    assert_refused(CUPTI_STUB_PATH, "enable=39", "another profiler");
    assert_refused(CUPTI_STUB_PATH, "enable=999", "STUB_ERROR");
}

ACTIVITY_TEST(a_failed_flush_keeps_the_records)
{
    struct activity_collector *c = start(&(struct activity_options) { 0 });
    struct error err;

    stub_run()("_Z1fv", 1);
    use(CUPTI_STUB_PATH, "flush=999");
    activity_list_init(list);
    assert_int_equal(activity_stop(c, list, &err), -1);
    assert_non_null(strstr(err.message, "flush"));
    assert_int_equal(list->nr, 2);
}

static void count_bytes(void *ctx, uint8_t *bytes, size_t valid)
{
    (void)bytes;
    *(size_t *)ctx += valid;
}

TEST(pool_grows_and_stops)
{
    struct pool pool;
    uint8_t *taken[3];
    size_t bytes = 0;

    pool_init(&pool, 100, 1, 3);
    assert_int_equal(pool.bytes, 128);
    taken[0] = pool_take(&pool);
    assert_non_null(taken[0]);
    assert_null(pool_take(&pool));
    assert_int_equal(pool.nr_refused, 1);
    pool_grow(&pool);
    taken[1] = pool_take(&pool);
    pool_grow(&pool);
    taken[2] = pool_take(&pool);
    pool_grow(&pool);
    assert_null(pool_take(&pool));
    assert_int_equal(pool_buffers(&pool), 3);
    for (int i = 0; i < 3; i++)
        pool_give(&pool, taken[i], 40);
    pool_give(&pool, taken[0], 40); /* it is not out any more */
    assert_int_equal(pool_drain(&pool, count_bytes, &bytes), 3);
    assert_int_equal(bytes, 120);
    assert_int_equal(pool_drain(&pool, count_bytes, &bytes), 0);
    pool_release(&pool);
}

TEST(narrowest_bracket_counts)
{
    static const struct clock_bracket brackets[] = {
        { 1000, 50, 1100 },   /* offset 1000, within 50 */
        { 2000, 1003, 2007 }, /* 2003 - 1003 = 1000, within 4 */
        { 9000, 1, 8000 },    /* no bracket */
        { 3000, 1990, 3020 },
    };

    struct clock_offset o = clock_offset_of(brackets, 4);
    assert_int_equal(o.offset, 1000);
    assert_int_equal(o.error, 4);
    assert_int_equal(clock_offset_of(brackets, 0).error, -1);
    assert_int_equal(clock_offset_of(&brackets[2], 1).error, -1);
}

RUN_TESTS(NULL, NULL)
