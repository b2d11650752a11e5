/* SPDX-License-Identifier: MIT */
/* Shares of the time (S4-06, S4-07, S4-20) of a GPU, of a CPU and of an operation; roofs. */
#include "profile_trace.h"

#include "gputrace/time_split.h"
#include "timeline/timeline_gpu.h"
#include "timeline/timeline_roof.h"
#include "timeline/timeline_split.h"

static struct timeline_split split(const struct prof_trace *trace, int device)
{
    struct timeline_split s = timeline_split_of(trace, device, TIME_SPLIT_GAP_NS);
    int64_t sum = 0;

    for (int i = 0; i < PART_NR; i++)
        sum += s.ns[i];
    assert_int_equal(sum, s.span);
    return s;
}

/* make_trace(): the copy runs beside the kernel, so it costs nothing; with another kernel at 1300,
 * launched by a call from 1200 to 1240, there is a gap. */
TEST(of_a_gpu)
{
    struct activity_list list;
    struct prof_trace trace;
    struct error err;

    make_trace(&trace);
    struct timeline_split s = split(&trace, -1);
    assert_int_equal(s.device, 0);
    assert_int_equal(s.span, 200);
    assert_int_equal(s.ns[PART_GPU], 200);
    activity_list_init(&list);
    list.has_clock = true;
    struct activity *call = activity_add(&list, ACTIVITY_RUNTIME);
    call->start = 1200;
    call->end = 1240;
    call->process = 70;
    call->thread = 71;
    call->correlation = 3;
    struct activity *kernel = activity_add(&list, ACTIVITY_KERNEL);
    kernel->start = 1300;
    kernel->end = 1400;
    kernel->device = 0;
    kernel->stream = 7;
    kernel->correlation = 3;
    assert_ok(timeline_add_gpu(&trace, &list, &err), &err);
    s = split(&trace, 0);
    assert_int_equal(s.span, 500);
    assert_int_equal(s.ns[PART_GPU], 300);
    assert_int_equal(s.ns[PART_LAUNCH], 40);
    assert_int_equal(s.ns[PART_HOST_WAIT], 160);
    assert_int_equal(s.nr_gaps, 1);
    assert_close(timeline_part_share(&s, PART_GPU), 0.6, 1e-12);
    assert_int_equal(split(&trace, 3).span, 0); /* no such device */
    activity_list_release(&list);
    prof_trace_release(&trace);
}

/* forward 0-1000 and 2000-2600, with GPU tracks left out. */
TEST(of_a_cpu)
{
    struct prof_trace trace;

    prof_trace_init(&trace);
    struct timeline_split s = split(&trace, -1);
    assert_int_equal(s.span, 0);
    assert_close(timeline_part_share(&s, PART_CPU), 0, 0);
    int track = prof_trace_track(&trace, &(struct prof_track) { .process = 1, .thread = 1 });
    add_slice(&trace, track, 100, 1100, "forward", PROF_SCOPES);
    add_slice(&trace, track, 200, 500, "qkv", PROF_SCOPES);
    add_slice(&trace, track, 1050, 1200, "crossing", PROF_SCOPES);
    add_slice(&trace, track, 2100, 2700, "forward", PROF_SCOPES);
    int point = add_slice(&trace, track, 5000, 5000, "mark", PROF_SCOPES);
    trace.slices[point].flags = PROF_INSTANT_POINT;
    assert_int_equal(prof_trace_sort(&trace, NULL), 0);
    s = split(&trace, -1);
    assert_int_equal(s.device, -1);
    assert_int_equal(s.span, 2600);
    assert_int_equal(s.ns[PART_CPU], 1100 + 600);
    assert_int_equal(s.ns[PART_OUTSIDE], 900);
    prof_trace_release(&trace);
}

TEST(parts_have_names)
{
    for (int i = 0; i < PART_NR; i++) {
        assert_true(strlen(timeline_part_name((enum timeline_part)i)) > 2);
        assert_true(strlen(timeline_part_words((enum timeline_part)i)) > 10);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(timeline_part_name((enum timeline_part)i),
                                    timeline_part_name((enum timeline_part)k));
    }
}

static const struct roof measured[] = {
    { .name = "flops.fp32", .device = "cpu-1t", .value = 50e9 },
    { .name = "flops.fp32", .device = "cpu-2t", .value = 100e9 },
    { .name = "bandwidth.dram", .device = "cpu-2t", .value = 20e9 },
    { .name = "bandwidth.L2", .device = "cpu-2t", .value = 200e9 },
};

TEST(roofs)
{
    struct timeline_roofs of = timeline_roofs_of(measured, 4, "cpu-2t", "fp32");

    assert_close(of.flops, 100e9, 0);
    assert_close(of.bandwidth[1], 0, 0);                             /* no L3 was measured */
    struct timeline_roof r = timeline_roof_of(&of, 1e6, 1000, 20e3); /* 10 us at the roof */
    assert_int_equal(r.bound, TIMELINE_COMPUTE);
    assert_close(r.fraction, 0.5, 1e-12);
    assert_string_equal(r.name, "FMA roof");
    r = timeline_roof_of(&of, 1e3, 1e6, 100e3); /* 50 us from DRAM */
    assert_int_equal(r.bound, TIMELINE_MEMORY);
    assert_close(r.fraction, 0.5, 1e-12);
    assert_string_equal(r.name, "bandwidth of DRAM");
    r = timeline_roof_of(&of, 1e3, 1e6, 10e3); /* too fast for DRAM: L2 has 5 us */
    assert_close(r.fraction, 0.5, 1e-12);
    assert_string_equal(r.name, "bandwidth of L2");
}

TEST(no_roofs)
{
    struct timeline_roofs of = timeline_roofs_of(measured, 4, "cpu-2t", "fp32");

    assert_int_equal(timeline_roof_of(&of, 0, 0, 100).bound, TIMELINE_UNBOUND);
    assert_int_equal(timeline_roof_of(&of, 1e6, 0, 0).bound, TIMELINE_UNBOUND);
    of = timeline_roofs_of(measured, 4, "gpu-0", "fp32");
    struct timeline_roof r = timeline_roof_of(&of, 1e6, 1e6, 100);
    assert_int_equal(r.bound, TIMELINE_UNBOUND);
    assert_true(isnan(r.fraction));
}

RUN_TESTS(NULL, NULL)
