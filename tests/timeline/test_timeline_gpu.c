/* SPDX-License-Identifier: MIT */
/*
 * A GPU's activities in a trace (S3-07, S3-08, S3-11, S3-12, S0-28): tracks, flows, copies with
 * bytes and rates, clocks, beside scopes of a snapshot; and back.
 */
#include "profile_trace.h"

#include "gputrace/time_split.h"
#include "profile/export.h"
#include "profile/summary.h"
#include "timeline/timeline_gpu.h"
#include "timeline/timeline_read.h"

static struct activity *add(struct activity_list *list, enum activity_kind kind, int64_t start,
                            int64_t end, uint32_t correlation)
{
    struct activity *a = activity_add(list, kind);

    a->start = start;
    a->end = end;
    a->correlation = correlation;
    if (activity_on_device(a)) {
        a->device = 1;
        a->stream = 7;
        a->name = activity_name(list, "gemm");
    } else {
        a->process = 70;
        a->thread = 71;
        a->name = activity_name(list, "cudaLaunchKernel");
    }
    return a;
}

/* A call, and what it launched: the same correlation. */
struct work_row {
    enum activity_kind kind;
    int64_t start, end;
    uint32_t correlation;
};

static void add_rows(struct activity_list *list, const struct work_row *rows, size_t nr)
{
    for (size_t i = 0; i < nr; i++)
        add(list, rows[i].kind, rows[i].start, rows[i].end, rows[i].correlation);
}

static void copy(struct activity_list *list, int64_t start, int64_t end, int64_t bytes)
{
    struct activity *a = add(list, ACTIVITY_MEMCPY, start, end, 0);

    a->copy = MEMCPY_HOST_TO_DEVICE;
    a->bytes = bytes;
}

static void put(struct prof_trace *trace, const struct activity_list *list)
{
    struct error err;
    char why[256];

    assert_ok(timeline_add_gpu(trace, list, &err), &err);
    if (prof_trace_check(trace, why, sizeof(why)) != 0)
        fail_msg("%s", why);
}

#define TRACE_TEST(name) TEST_WITH_A(name, struct prof_trace, trace, prof_trace_release)

/* An import: its own clock, nothing else in the trace. */
TRACE_TEST(alone)
{
    struct activity_list list;

    prof_trace_init(trace);
    activity_list_init(&list);
    add(&list, ACTIVITY_RANGE, 1000, 3000, 0)->name = activity_name(&list, "step");
    add(&list, ACTIVITY_RUNTIME, 1100, 1200, 5);
    add(&list, ACTIVITY_DRIVER, 1110, 1190, 5)->name = activity_name(&list, "cuLaunchKernel");
    add(&list, ACTIVITY_KERNEL, 1300, 1500, 5);
    add(&list, ACTIVITY_KERNEL, 1400, 1600, 5)->graph_node = 3;
    add(&list, ACTIVITY_MEMSET, 1600, 1650, 0)->bytes = 64;
    add(&list, ACTIVITY_GRAPH, 1700, 1800, 0)->graph = 4;
    add(&list, ACTIVITY_SYNC, 1700, 1800, 0);
    add(&list, ACTIVITY_KERNEL, 900, 950, 5); /* seems to begin before its launch */
    list.dropped = 2;
    put(trace, &list);
    assert_int_equal(trace->nr_slices, 8);
    assert_int_equal(trace->meta.start, 900);
    assert_int_equal(trace->meta.end, 3000);
    assert_int_equal(trace->meta.dropped, 2);
    const struct prof_slice *call = slice_named(trace, "cudaLaunchKernel");
    assert_string_equal(parent_name(trace, call), "step");
    assert_string_equal(parent_name(trace, slice_named(trace, "cuLaunchKernel")),
                        "cudaLaunchKernel");
    assert_int_equal(trace->nr_flows, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_ptr_equal(&trace->slices[trace->flows[i].from], call);
        assert_string_equal(trace->slices[trace->flows[i].to].name, "gemm");
    }
    const struct prof_slice *fill = slice_named(trace, "memset");
    const struct prof_track *stream = &trace->tracks[fill->track];
    assert_int_equal(fill->bytes, 64);
    assert_int_equal(fill->device, PROF_GPU_AT(1));
    assert_int_equal(stream->process, 1);
    assert_string_equal(stream->owner, "GPU 1");
    assert_string_equal(stream->name, "stream 7");
    assert_string_equal(slice_named(trace, "graph 4")->category, PROF_KERNELS);
    activity_list_release(&list);
}

/* Records that are in no slice, behind what is known already. */
TRACE_TEST(what_is_missing_is_said)
{
    struct activity_list list;

    prof_trace_init(trace);
    trace->meta.note = prof_trace_text(trace, "known before");
    activity_list_init(&list);
    add(&list, ACTIVITY_KERNEL, 1300, 1500, 0);
    put(trace, &list);
    assert_string_equal(trace->meta.note, "known before");
    list.has_clock = true;
    list.dropped = 2;
    list.untimed = 30;
    list.unread = 100;
    put(trace, &list);
    assert_int_equal(trace->meta.dropped, 132);
    assert_string_equal(trace->meta.note,
                        "known before; of the GPU's records 2 found no room, 30 "
                        "have no time and 100 could not be read");
    activity_list_release(&list);
}

/*
 *   0        100       200      300        4 bytes a ns, then 4 + 2, then 2
 *   [ 800 bytes         ]
 *            [ 400 bytes         ]
 */
TRACE_TEST(rates_of_copies)
{
    static const int64_t times[] = { 0, 100, 200, 300, 350 };
    static const double rates[] = { 4, 6, 2, 1, 0 };
    struct activity_list list;

    prof_trace_init(trace);
    activity_list_init(&list);
    copy(&list, 0, 200, 800);
    copy(&list, 100, 300, 400);
    copy(&list, 300, 350, 50);
    copy(&list, 400, 400, 50); /* no time, no rate */
    put(trace, &list);
    assert_int_equal(trace->nr_counters, 1);
    assert_string_equal(trace->counters[0].name, "HtoD");
    assert_string_equal(trace->counters[0].unit, "GB/s");
    assert_int_equal(trace->counters[0].kind, PROF_TRACK_STREAM);
    assert_int_equal(trace->nr_samples, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(trace->samples[i].time, times[i]);
        assert_close(trace->samples[i].value, rates[i], 1e-12);
    }
    assert_int_equal(slice_named(trace, "memcpy HtoD")->bytes, 800);
    activity_list_release(&list);
}

/* make_trace()'s thread is process 70, thread 71; the list's clock is 10,000 behind, give or
 * take 8.
 */
TRACE_TEST(beside_scopes)
{
    struct activity_list list;
    struct prof_summary summary;

    make_trace(trace);
    activity_list_init(&list);
    list.has_clock = true;
    list.clock_offset = 10000;
    list.clock_error = 8;
    add(&list, ACTIVITY_RUNTIME, 2095 - 10000, 2105 - 10000, 9); /* 5 too late for qkv 2000-2100 */
    add(&list, ACTIVITY_RUNTIME, 2590 - 10000, 2609 - 10000, 0); /* 9 too late for forward */
    add(&list, ACTIVITY_KERNEL, 2200 - 10000, 2300 - 10000, 9);
    put(trace, &list);
    assert_int_equal(trace->nr_tracks, 3); /* GPU 0's stream, the thread, GPU 1's stream */
    size_t last = 0;
    for (size_t i = 0; i < trace->nr_flows; i++)
        last = trace->slices[trace->flows[i].to].start == 2200 ? i : last;
    const struct prof_slice *call = &trace->slices[trace->flows[last].from];
    assert_int_equal(call->start, 2090);
    assert_int_equal(call->duration, 10);
    assert_string_equal(parent_name(trace, call), "qkv");
    for (size_t i = 0; i < trace->nr_slices; i++) {
        if (trace->slices[i].start == 2590)
            assert_int_equal(trace->slices[i].parent, PROF_ROOT); /* not within the clock's error */
    }
    assert_int_equal(prof_summarise(trace, &summary), 0);
    assert_int_equal(prof_summary_row(&summary, PROF_HOST, "qkv")->gpu, 200 + 100);
    prof_summary_release(&summary);
    activity_list_release(&list);
}

TRACE_TEST(clocks_that_do_not_meet)
{
    struct activity_list list;
    struct error err;

    make_trace(trace);
    activity_list_init(&list);
    add(&list, ACTIVITY_KERNEL, 0, 10, 0);
    assert_int_equal(timeline_add_gpu(trace, &list, &err), -1);
    assert_non_null(strstr(err.message, "clock of their own"));
    activity_list_release(&list);
}

static bool same_split(const struct time_split *a, const struct time_split *b)
{
    return a->span == b->span && a->gpu == b->gpu && a->transfer == b->transfer &&
           a->launch == b->launch && a->host_wait == b->host_wait &&
           a->kernel_wait == b->kernel_wait && a->other_wait == b->other_wait &&
           a->nr_gaps == b->nr_gaps && a->calls_all == b->calls_all;
}

/* To a trace, to a file, from there, and to a list: its time splits as before. */
TEST(there_and_back)
{
    static const struct work_row rows[] = {
        { ACTIVITY_RUNTIME, 900, 950, 1 },   { ACTIVITY_KERNEL, 1000, 1500, 1 },
        { ACTIVITY_RUNTIME, 1650, 1750, 2 }, { ACTIVITY_KERNEL, 1800, 2000, 2 },
        { ACTIVITY_RUNTIME, 1950, 1990, 4 }, { ACTIVITY_KERNEL, 2400, 2500, 4 },
    };
    struct activity_list list, back;
    struct prof_trace trace, again;
    struct error err;

    prof_trace_init(&trace);
    activity_list_init(&list);
    add_rows(&list, rows, sizeof(rows) / sizeof(rows[0]));
    copy(&list, 2600, 2700, 400);
    put(&trace, &list);
    char *text = written(prof_write_trace(file, &trace));
    assert_ok(timeline_parse(text, strlen(text), "it", &again, &err), &err);
    timeline_to_activity(&again, &back);
    assert_int_equal(back.nr, list.nr);
    struct time_split a = activity_time_split(&list, 1, TIME_SPLIT_GAP_NS);
    struct time_split b = activity_time_split(&back, 1, TIME_SPLIT_GAP_NS);
    assert_int_equal(a.transfer, 100);
    assert_int_equal(a.kernel_wait, 400);
    assert_true(same_split(&a, &b));
    activity_list_release(&list);
    activity_list_release(&back);
    prof_trace_release(&trace);
    prof_trace_release(&again);
    free(text);
}

/* What was lost is said whether or not there are scopes beside. */
TEST(dropped_records_are_told_beside_scopes)
{
    struct activity_list list;
    struct prof_trace trace;
    struct error err;

    make_trace(&trace);
    trace.meta.dropped = 5;
    activity_list_init(&list);
    list.has_clock = true;
    list.dropped = 3968;
    assert_ok(timeline_add_gpu(&trace, &list, &err), &err);
    assert_int_equal(trace.meta.dropped, 3973);
    activity_list_release(&list);
    prof_trace_release(&trace);
}

/* A scope as its stream saw it, and the kernel in it, are one time, on one track or on two. */
TEST(time_of_a_device_counts_once)
{
    for (int own_track = 0; own_track < 2; own_track++) {
        struct prof_summary summary;
        struct prof_trace trace;
        prof_trace_init(&trace);
        struct prof_track track = { .kind = PROF_TRACK_STREAM, .device = PROF_GPU, .thread = 7 };
        int stream = prof_trace_track(&trace, &track);
        track.thread = 0x5555;
        int scopes = own_track ? prof_trace_track(&trace, &track) : stream;
        add_slice(&trace, scopes, 100, 1000, "op", PROF_GPU_SCOPES);
        add_slice(&trace, stream, 90, 990, "gemm", PROF_KERNELS); /* clocks differ a little */
        assert_int_equal(prof_trace_sort(&trace, NULL), 0);
        assert_int_equal(prof_summarise(&trace, &summary), 0);
        assert_int_equal(summary.total[PROF_DEVICE], 900);
        assert_int_equal(prof_summary_row(&summary, PROF_DEVICE, "op")->self, 0);
        assert_int_equal(prof_summary_row(&summary, PROF_DEVICE, "op")->total, 900);
        assert_int_equal(prof_summary_row(&summary, PROF_DEVICE, "gemm")->self, 900);
        prof_summary_release(&summary);
        prof_trace_release(&trace);
    }
}

/*
 * Kernels that start under the one in front of them (seen on an H200, each started early):
 *
 *     a  |----------|                 100 to 200
 *     b       |----------|            150 to 250: of it, 50 are waiting for a
 *     c        |--|                   160 to 190: beside a, no waiting
 *     d                  |-----|      250 to 310
 */
TEST(waiting_under_another_kernel_is_no_work)
{
    static const struct {
        const char *name;
        int64_t start, end, busy;
    } rows[] = {
        { "a", 100, 200, 100 }, { "b", 150, 250, 50 }, { "c", 160, 190, 30 }, { "d", 250, 310, 60 }
    };
    struct prof_summary summary;
    struct prof_trace trace;
    int64_t busy[8];

    prof_trace_init(&trace);
    const struct prof_track track = { .kind = PROF_TRACK_STREAM, .device = PROF_GPU, .thread = 7 };
    int stream = prof_trace_track(&trace, &track);
    for (size_t i = 0; i < 4; i++)
        add_slice(&trace, stream, rows[i].start, rows[i].end, rows[i].name, PROF_KERNELS);
    assert_int_equal(prof_trace_sort(&trace, NULL), 0);
    prof_trace_busy(&trace, busy);
    assert_int_equal(prof_summarise(&trace, &summary), 0);
    for (size_t i = 0; i < 4; i++) {
        const struct prof_row *row = prof_summary_row(&summary, PROF_DEVICE, rows[i].name);
        assert_int_equal(busy[i], rows[i].busy);
        assert_int_equal(row->self, rows[i].busy);
        assert_int_equal(row->total, rows[i].end - rows[i].start);
    }
    prof_summary_release(&summary);
    prof_trace_release(&trace);
}

static void check_gpu_times(const struct prof_trace *trace)
{
    struct prof_summary summary;

    assert_int_equal(prof_summarise(trace, &summary), 0);
    assert_int_equal(prof_summary_row(&summary, PROF_HOST, "layer")->gpu, 350 + 150 + 100);
    assert_int_equal(prof_summary_row(&summary, PROF_HOST, "proj")->gpu, 150);
    assert_int_equal(prof_summary_scopes(&summary), 5); /* and four calls */
    prof_summary_release(&summary);
}

/* Words of the same length. */
static void replace_all(char *text, const char *old, const char *with)
{
    assert_int_equal(strlen(old), strlen(with));
    for (char *at = text; (at = strstr(at, old)); at += strlen(with))
        memcpy(at, with, strlen(with));
}

/* Where CUPTI tells of kernels, scopes have no events: their streams' scopes are made of kernels.
 */
TEST(scopes_get_the_time_of_what_they_launched)
{
    static const struct work_row rows[] = {
        { ACTIVITY_RUNTIME, 20, 40, 1 },   { ACTIVITY_KERNEL, 100, 300, 1 },
        { ACTIVITY_RUNTIME, 50, 60, 2 },   { ACTIVITY_KERNEL, 300, 450, 2 },
        { ACTIVITY_RUNTIME, 220, 240, 3 }, { ACTIVITY_KERNEL, 440, 600, 3 }, /* started early */
        { ACTIVITY_RUNTIME, 440, 450, 4 }, { ACTIVITY_KERNEL, 700, 800, 4 },
    };
    struct activity_list list;
    struct prof_trace trace;
    char why[256];
    struct error err;

    prof_trace_init(&trace);
    const struct prof_track thread = { .process = 70, .thread = 71 };
    int main = prof_trace_track(&trace, &thread);
    static const struct {
        const char *name;
        int64_t start, end;
        int device;
    } scopes[] = { { "layer", 0, 500, PROF_GPU_AT(1) },
                   { "qkv", 10, 200, PROF_GPU_AT(1) },
                   { "proj", 210, 400, PROF_GPU_AT(1) },
                   { "idle", 410, 420, PROF_GPU_AT(1) },
                   { "host", 430, 490, PROF_CPU } };
    for (size_t i = 0; i < 5; i++) {
        add_slice(&trace, main, scopes[i].start, scopes[i].end, scopes[i].name, PROF_SCOPES);
        trace.slices[i].device = scopes[i].device;
    }
    assert_int_equal(prof_trace_sort(&trace, NULL), 0);
    activity_list_init(&list);
    list.has_clock = true;
    add_rows(&list, rows, sizeof(rows) / sizeof(rows[0]));
    assert_ok(timeline_add_gpu(&trace, &list, &err), &err);
    if (prof_trace_check(&trace, why, sizeof(why)) != 0)
        fail_msg("%s", why);
    static const struct {
        const char *name;
        int64_t start, duration;
    } expected[] = { { "layer", 100, 700 }, { "qkv", 100, 350 }, { "proj", 450, 150 } };
    size_t nr = 0;
    for (size_t i = 0; i < trace.nr_slices; i++) {
        const struct prof_slice *s = &trace.slices[i];
        if (strcmp(s->category, PROF_GPU_SCOPES) != 0)
            continue;
        assert_in_range(nr, 0, 2);
        assert_string_equal(s->name, expected[nr].name);
        assert_int_equal(s->start, expected[nr].start);
        assert_int_equal(s->duration, expected[nr].duration);
        assert_int_equal(trace.tracks[s->track].kind, PROF_TRACK_STREAM);
        nr++;
    }
    assert_int_equal(nr, 3);
    /* Also the one that started early lies in its own scope. */
    for (size_t i = 0; i < trace.nr_slices; i++) {
        const struct prof_slice *s = &trace.slices[i];
        if (strcmp(s->category, PROF_KERNELS) == 0 && s->start + s->duration == 600)
            assert_string_equal(parent_name(&trace, s), "proj");
    }
    check_gpu_times(&trace);
    /* The file has the times of a flow's ends alone, and work begins when its scope does there. */
    char *text = written(prof_write_trace(file, &trace));
    struct prof_trace again;
    assert_ok(timeline_parse(text, strlen(text), "a text", &again, &err), &err);
    assert_int_equal(again.nr_flows, trace.nr_flows);
    check_gpu_times(&again);
    prof_trace_release(&again);
    replace_all(text, "\"name\":\"scope\"", "\"name\":\"ac2g\" "); /* as it once was */
    assert_ok(timeline_parse(text, strlen(text), "a text", &again, &err), &err);
    check_gpu_times(&again);
    prof_trace_release(&again);
    free(text);
    activity_list_release(&list);
    prof_trace_release(&trace);
}

/* Two programs on one GPU: both have a stream 7, and the kernels of one do not wait for those of
 * the other. */
TRACE_TEST(streams_of_several_processes)
{
    struct activity_list list;

    prof_trace_init(trace);
    activity_list_init(&list);
    for (int i = 0; i < 8; i++) {
        add(&list, ACTIVITY_KERNEL, 50 * i, 50 * i + 100, 0);
        list.items[i].process = i % 2 ? 200 : 100;
    }
    put(trace, &list);
    assert_int_equal(trace->nr_tracks, 2);
    assert_string_equal(trace->tracks[0].name, "stream 7 of process 100");
    assert_string_equal(trace->tracks[1].name, "stream 7 of process 200");
    assert_string_equal(trace->tracks[1].owner, "GPU 1");
    for (size_t i = 0; i < trace->nr_slices; i++)
        assert_int_equal(trace->slices[i].duration, 100);
    activity_list_release(&list);
}

/* As CUPTI, Kineto and XLA call them. */
TEST(names_of_copies_say_their_direction)
{
    static const struct {
        const char *name;
        enum memcpy_kind kind;
    } cases[] = {
        { "memcpy HtoD", MEMCPY_HOST_TO_DEVICE },
        { "Memcpy DtoH (Device -> Pageable)", MEMCPY_DEVICE_TO_HOST },
        { "MemcpyD2D", MEMCPY_DEVICE_TO_DEVICE },
        { "MemcpyH2D", MEMCPY_HOST_TO_DEVICE },
        { "MemcpyP2P", MEMCPY_PEER_TO_PEER },
        { "MemcpyOther", MEMCPY_UNKNOWN },
        { "memcpy", MEMCPY_UNKNOWN },
        { "copy DtoD", MEMCPY_UNKNOWN },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(memcpy_kind_of(cases[i].name), cases[i].kind);
}

RUN_TESTS(NULL, NULL)
