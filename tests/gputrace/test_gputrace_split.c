/* SPDX-License-Identifier: MIT */
/*
 * Where the time went (S4-06, S4-07), by hand-computed timelines, and counters against the work
 * model (S0-27, S3-06).
 */
#include "testing.h"

#include "gputrace/time_split.h"
#include "gputrace/work_check.h"

static struct activity *add(struct activity_list *list, enum activity_kind kind, int64_t start,
                            int64_t end, uint32_t correlation)
{
    struct activity *a = activity_add(list, kind);

    a->start = start;
    a->end = end;
    a->correlation = correlation;
    if (activity_on_device(a))
        a->device = 0;
    return a;
}

static void call(struct activity_list *list, int64_t start, int64_t end, uint32_t correlation)
{
    add(list, ACTIVITY_RUNTIME, start, end, correlation);
}

static void kernel(struct activity_list *list, int64_t start, int64_t end, uint32_t correlation)
{
    add(list, ACTIVITY_KERNEL, start, end, correlation);
}

static void copy(struct activity_list *list, int64_t start, int64_t end, enum memcpy_kind kind)
{
    add(list, ACTIVITY_MEMCPY, start, end, 0)->copy = kind;
}

static struct time_split split(const struct activity_list *list)
{
    struct time_split s = activity_time_split(list, 0, TIME_SPLIT_GAP_NS);

    assert_int_equal(s.span, s.gpu + s.transfer + s.seam + s.launch + s.host_wait + s.kernel_wait +
                                 s.other_wait);
    return s;
}

#define ACTIVITY_TEST(name) TEST_WITH_A(name, struct activity_list, list, activity_list_release)

ACTIVITY_TEST(nothing_ran)
{
    activity_list_init(list);
    assert_int_equal(split(list).span, 0);
    call(list, 0, 100, 1);
    assert_int_equal(split(list).span, 0);
}

/*
 *  GPU   [1000 1500]      [1800 2000]   [2020 2100]      [2400 2500]
 *  CPU [900 950]  [1650 1750]  [1900 1930]  [1950 1990]
 *                 300: 150 before the call, 100 in it, 50 after
 *                                   20: a seam
 *                                            300, launched at 1950: kernel-wait
 */
ACTIVITY_TEST(who_was_late)
{
    activity_list_init(list);
    call(list, 900, 950, 1);
    kernel(list, 1000, 1500, 1);
    call(list, 1650, 1750, 2);
    kernel(list, 1800, 2000, 2);
    call(list, 1900, 1930, 3);
    kernel(list, 2020, 2100, 3);
    call(list, 1950, 1990, 4);
    kernel(list, 2400, 2500, 4);
    struct time_split s = split(list);
    assert_int_equal(s.span, 1500);
    assert_int_equal(s.gpu, 500 + 200 + 80 + 100);
    assert_int_equal(s.seam, 20);
    assert_int_equal(s.launch, 100);
    assert_int_equal(s.host_wait, 200);
    assert_int_equal(s.kernel_wait, 300);
    assert_int_equal(s.other_wait, 0);
    assert_int_equal(s.nr_gaps, 2);
    assert_int_equal(s.calls_all, 50 + 100 + 30 + 40);
}

/*
 *  GPU [100 200]             [300 310]         [400 410]
 *  CPU       [190    295]          [305 340]
 *            95 of 100 in the call that began before, 30 of 90, and what is left is no launch
 */
ACTIVITY_TEST(calls_that_began_before)
{
    activity_list_init(list);
    kernel(list, 100, 200, 0);
    call(list, 190, 295, 1);
    kernel(list, 300, 310, 1);
    call(list, 305, 340, 2);
    kernel(list, 400, 410, 2);
    call(list, 405, 900, 3); /* such as a copy that waits: a launch until the copy starts */
    add(list, ACTIVITY_MEMCPY, 500, 600, 3)->copy = MEMCPY_HOST_TO_DEVICE;
    struct time_split s = split(list);
    assert_int_equal(s.launch, 95 + 30 + 90);
    assert_int_equal(s.kernel_wait, 5 + 60);
    assert_int_equal(s.host_wait, 0);
    assert_int_equal(s.span, s.gpu + s.transfer + s.launch + s.kernel_wait);
}

ACTIVITY_TEST(threshold)
{
    activity_list_init(list);
    kernel(list, 0, 100, 0);
    kernel(list, 129, 200, 0); /* 29: a seam */
    kernel(list, 230, 300, 0); /* 30: a gap, and nobody knows why */
    struct time_split s = split(list);
    assert_int_equal(s.seam, 29);
    assert_int_equal(s.other_wait, 30);
    assert_int_equal(s.nr_gaps, 1);
    s = activity_time_split(list, 0, 0);
    assert_int_equal(s.seam, 0);
    assert_int_equal(s.other_wait, 59);
}

/* Two streams: the device is idle where neither works. A copy hidden behind a kernel costs nothing.
 */
ACTIVITY_TEST(overlapping_work)
{
    activity_list_init(list);
    kernel(list, 0, 100, 0);
    kernel(list, 50, 150, 0);
    copy(list, 120, 200, MEMCPY_HOST_TO_DEVICE);
    copy(list, 200, 220, MEMCPY_DEVICE_TO_DEVICE);
    add(list, ACTIVITY_MEMSET, 220, 230, 0);
    struct time_split s = split(list);
    assert_int_equal(s.span, 230);
    assert_int_equal(s.gpu, 150 + 30);
    assert_int_equal(s.transfer, 50);
    assert_int_equal(s.transfer_all, 80);
}

/* A synchronous copy's call lasts beyond its copy: no launch of what follows. */
ACTIVITY_TEST(a_call_ends_where_its_work_starts)
{
    activity_list_init(list);
    call(list, 0, 500, 1);
    add(list, ACTIVITY_MEMCPY, 100, 300, 1)->copy = MEMCPY_DEVICE_TO_HOST;
    call(list, 600, 700, 2);
    kernel(list, 720, 800, 2);
    struct time_split s = split(list);
    assert_int_equal(s.transfer, 200);
    assert_int_equal(s.launch, 100);
    assert_int_equal(s.host_wait, 320);
    assert_int_equal(s.calls_all, 200);
}

ACTIVITY_TEST(devices_apart)
{
    int32_t devices[4];

    activity_list_init(list);
    add(list, ACTIVITY_KERNEL, 0, 100, 0)->device = 3;
    add(list, ACTIVITY_KERNEL, 400, 500, 0)->device = 1;
    add(list, ACTIVITY_KERNEL, 500, 600, 0)->device = 3;
    call(list, 0, 10, 0);
    assert_int_equal(activity_devices(list, devices, 4), 2);
    assert_int_equal(devices[0], 1);
    assert_int_equal(devices[1], 3);
    assert_int_equal(activity_devices(list, devices, 1), 1);
    assert_int_equal(activity_time_split(list, 3, 30).other_wait, 400);
    assert_int_equal(activity_time_split(list, 1, 30).span, 100);
}

/* Correlations are numbers of one process each. */
ACTIVITY_TEST(processes_apart)
{
    activity_list_init(list);
    add(list, ACTIVITY_RUNTIME, 10, 20, 5)->process = 100;
    add(list, ACTIVITY_RUNTIME, 210, 220, 5)->process = 200;
    add(list, ACTIVITY_KERNEL, 30, 130, 5)->process = 100;
    add(list, ACTIVITY_KERNEL, 330, 430, 5)->process = 200;
    struct time_split s = split(list);
    assert_int_equal(s.launch, 10);
    assert_int_equal(s.host_wait, 190);
}

TEST(verdicts)
{
    static const struct work_bounds wide_bytes = { 1, 2 }, wide_flops = { 0.5, 1.06 };
    static const struct {
        struct work model, counted;
        bool wide; /* by bounds of the caller's */
        enum work_verdict flops, bytes;
        double flops_ratio;
    } cases[] = {
        { { 1000, 400 }, { 1000, 400 }, false, WORK_AGREES, WORK_AGREES, 1 },
        { { 1000, 400 }, { 1060, 600 }, false, WORK_MORE, WORK_MORE, 1.06 },
        { { 1000, 400 }, { 1060, 600 }, true, WORK_AGREES, WORK_AGREES, 1.06 },
        { { 1000, 400 }, { 980, 100 }, false, WORK_FEWER, WORK_FEWER, 0.98 },
        { { 1000, 400 }, { NAN, 400 }, false, WORK_UNKNOWN, WORK_AGREES, NAN },
        /* A copy has no FLOPs: there is no ratio to nothing. */
        { { 0, 400 }, { 12, 400 }, false, WORK_UNKNOWN, WORK_AGREES, NAN },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct work_check c =
            work_compare(cases[i].model, cases[i].counted, cases[i].wide ? &wide_bytes : NULL,
                         cases[i].wide ? &wide_flops : NULL);
        assert_int_equal(c.flops.verdict, cases[i].flops);
        assert_int_equal(c.bytes.verdict, cases[i].bytes);
        if (isnan(cases[i].flops_ratio))
            assert_true(isnan(c.flops.ratio));
        else
            assert_close(c.flops.ratio, cases[i].flops_ratio, 1e-12);
    }
    assert_non_null(strstr(work_bytes_words(WORK_FEWER), "cache"));
    assert_non_null(strstr(work_flops_words(WORK_MORE), "padding"));
}

TEST(counted_over_launches)
{
    struct counter_list list;

    counter_list_init(&list);
    for (int i = 0; i < 2; i++) {
        struct kernel_counters *k = counter_list_add(&list, "k", i);
        kernel_counters_add(&list, k, "dram__bytes_read.sum", "byte", 100);
        kernel_counters_add(&list, k, "dram__bytes_write.sum", "byte", 20 + i);
        kernel_counters_add(&list, k, "sm__sass_thread_inst_executed_op_ffma_pred_on.sum", "", 50);
        kernel_counters_add(&list, k, "sm__sass_thread_inst_executed_op_fadd_pred_on.sum", "", 3);
        kernel_counters_add(&list, k, "sm__sass_thread_inst_executed_op_fmul_pred_on.sum", "", 4);
        kernel_counters_add(&list, k, "gpu__time_duration.sum", "ns", 900);
    }
    assert_close(work_counted(&list, 0, 2).bytes, 241, 0);
    assert_close(work_counted(&list, 0, 2).flops, 2 * 107, 0);
    assert_close(work_counted(&list, 1, 1).bytes, 121, 0);
    assert_true(isnan(work_counted(&list, 1, 2).bytes));
    assert_true(isnan(work_counted(&list, 0, 0).flops));
    assert_close(kernel_counters_quantity(&list.items[0], COUNTER_DURATION), 900, 0);
    assert_true(isnan(kernel_counters_quantity(&list.items[0], COUNTER_TENSOR_FLOPS)));
    counter_list_release(&list);
}

TEST(other_metrics_for_the_same)
{
    struct counter_list list;

    counter_list_init(&list);
    struct kernel_counters *k = counter_list_add(&list, "tensor", 2);
    kernel_counters_add(&list, k, "sm__ops_path_tensor_src_bf16_dst_fp32.sum", "", 4096);
    kernel_counters_add(&list, k, "dram__bytes.sum", "byte", 77);
    assert_close(work_counted(&list, 0, 1).flops, 4096, 0);
    assert_close(work_counted(&list, 0, 1).bytes, 77, 0);
    counter_list_release(&list);
}

RUN_TESTS(NULL, NULL)
