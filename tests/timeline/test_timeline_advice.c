/* SPDX-License-Identifier: MIT */
/* Suggestions (S4-32): each rule with its evidence, below its threshold, and without any. */
#include "profile_trace.h"

#include "timeline/timeline_advice.h"

static struct advice_list advise(const struct advice_evidence *evidence)
{
    struct advice_list list = { 0 };
    struct error err;

    assert_ok(timeline_advice(evidence, &list, &err), &err);
    for (size_t i = 0; i < list.nr; i++) {
        assert_true(list.items[i].value >= list.items[i].threshold);
        assert_true(i == 0 || list.items[i - 1].weight >= list.items[i].weight);
        assert_true(strlen(list.items[i].text) < ADVICE_TEXT_SIZE - 1); /* not cut */
    }
    return list;
}

static const struct advice *of_rule(const struct advice_list *list, const char *rule)
{
    for (size_t i = 0; i < list->nr; i++) {
        if (!strcmp(list->items[i].rule, rule))
            return &list->items[i];
    }
    return NULL;
}

/* What the rule says, or "". */
static void expect(const struct advice_evidence *evidence, const char *rule, const char *text)
{
    struct advice_list list = advise(evidence);
    const struct advice *advice = of_rule(&list, rule);

    assert_string_equal(advice ? advice->text : "", text);
    timeline_advice_release(&list);
}

#define TRACE_TEST(name) TEST_WITH_A(name, struct prof_trace, trace, prof_trace_release)

TRACE_TEST(nothing_without_evidence)
{
    struct advice_list list;
    struct error err;

    prof_trace_init(trace);
    list = advise(&(struct advice_evidence) { .trace = trace });
    assert_int_equal(list.nr, 0);
    assert_int_equal(timeline_advice(&(struct advice_evidence) { 0 }, &list, &err), -1);
    make_trace(trace);
    list = advise(&(struct advice_evidence) { .trace = trace });
    assert_int_equal(list.nr, 0);
}

TEST(of_a_split)
{
    static const struct timeline_split
        waits = { .span = 1000,
                  .ns = { [PART_GPU] = 390, [PART_LAUNCH] = 90, [PART_HOST_WAIT] = 520 } },
        short_wait = { .span = 1000, .ns = { [PART_GPU] = 801, [PART_HOST_WAIT] = 199 } },
        many_gaps = { .span = 100000,
                      .ns = { [PART_GPU] = 60000, [PART_KERNEL_WAIT] = 40000 },
                      .nr_gaps = 8 },
        one_gap = { .span = 100000,
                    .ns = { [PART_GPU] = 60000, [PART_KERNEL_WAIT] = 40000 },
                    .nr_gaps = 1 };
    static const struct {
        const struct timeline_split *split;
        const char *rule, *text;
    } cases[] = {
        { &waits, "launch-bound",
          "61 % of the time between kernels, before the CPU had launched the next (9.0 % inside "
          "the calls that launch; kernels run for 39 %): launch-bound; capture a graph, or fuse "
          "kernels" },
        { &waits, "kernel-wait", "" },
        { &short_wait, "launch-bound", "" },
        /* 5 us a gap: launches on their way; 100 us: something is waited for */
        { &many_gaps, "kernel-wait",
          "40 % of the time the GPU is idle while its next kernel's launch is on its way: 8 gaps "
          "of 5.000 us in the mean, as long as a launch takes to get there; capture a graph, or "
          "fuse kernels" },
        { &one_gap, "kernel-wait",
          "40 % of the time the GPU is idle although its next work was launched: it waits for "
          "events, other streams or a copy; look at what ends just before" },
    };
    struct prof_trace trace;

    prof_trace_init(&trace);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        expect(&(struct advice_evidence) { .trace = &trace, .split = cases[i].split },
               cases[i].rule, cases[i].text);
}

TEST(of_a_split_several_things)
{
    struct timeline_split split = { .device = 0, .span = 1000 };
    struct prof_trace trace;
    struct advice_evidence e = { .trace = &trace, .split = &split };

    prof_trace_init(&trace);
    split.ns[PART_GPU] = 801;
    split.ns[PART_HOST_WAIT] = 199;
    split.ns[PART_TRANSFER] = 150;
    split.ns[PART_KERNEL_WAIT] = 200;
    struct advice_list list = advise(&e);
    assert_int_equal(list.nr, 2);
    assert_string_equal(list.items[0].rule, "kernel-wait");
    assert_string_equal(list.items[1].rule, "transfer-bound");
    assert_int_equal(strncmp(list.items[1].text, "15 % of the time in copies", 26), 0);
    timeline_advice_release(&list);
    split = (struct timeline_split) { .device = -1, .span = 1000 };
    split.ns[PART_HOST_WAIT] = 900; /* of no GPU */
    split.ns[PART_OUTSIDE] = 300;
    list = advise(&e);
    assert_int_equal(list.nr, 1);
    assert_string_equal(list.items[0].rule, "unscoped");
    timeline_advice_release(&list);
}

/* pass 0-1000 ( head 0-580: 539.4 at the roof, rows 580-900: from DRAM, tail ), roofs 1 a ns. */
TRACE_TEST(of_roofs)
{
    static const struct {
        const char *rule, *text;
    } cases[] = {
        { "at-limit",
          "head: 58 % of the time at 93 % of the FMA roof: at its limit, only less work would make "
          "it shorter; the rest is 42 %" },
        { "below-roof",
          "rows: 32 % of the time, memory-bound at 34 % of the bandwidth of DRAM: at that roof the "
          "whole would take 21 % less" },
        { "above-roof",
          "odd: 200 % of the FMA roof, which cannot be: the work it tells, its time or the roof is "
          "wrong" },
    };
    struct timeline_roofs roofs = { .flops = 1e9, .math = "fp32", .bandwidth = { 1e9 } };
    struct prof_summary summary;

    prof_trace_init(trace);
    int track = prof_trace_track(trace, &(struct prof_track) { .process = 1, .thread = 1 });
    add_slice(trace, track, 0, 1000, "pass", PROF_SCOPES);
    int head = add_slice(trace, track, 0, 580, "head", PROF_SCOPES);
    int rows = add_slice(trace, track, 580, 900, "rows", PROF_SCOPES);
    int odd = add_slice(trace, track, 900, 950, "odd", PROF_SCOPES);
    trace->slices[head].flops = 539.4;
    trace->slices[rows].bytes = 109;
    trace->slices[odd].flops = 100;
    assert_int_equal(prof_trace_sort(trace, NULL), 0);
    assert_int_equal(prof_summarise(trace, &summary), 0);
    struct advice_evidence e = { .trace = trace, .summary = &summary, .roofs = &roofs };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        expect(&e, cases[i].rule, cases[i].text);
    roofs = (struct timeline_roofs) { .math = "fp32" };
    struct advice_list none = advise(&e);
    assert_int_equal(none.nr, 0);
    prof_summary_release(&summary);
}

static void team(struct prof_trace *trace, int64_t slowest)
{
    prof_trace_init(trace);
    for (int64_t i = 0; i < 4; i++) {
        char name[16];
        snprintf(name, sizeof(name), "worker %d", (int)i);
        int track = prof_trace_track(
            trace, &(struct prof_track) { .process = 1, .thread = 1 + i, .name = name });
        if (i == 0)
            add_slice(trace, track, 0, 1000, "pass", PROF_SCOPES);
        add_slice(trace, track, 0, i == 2 ? slowest : 200, "qkv", PROF_SCOPES);
    }
    assert_int_equal(prof_trace_sort(trace, NULL), 0);
}

TEST(of_threads)
{
    struct prof_trace trace;
    struct advice_evidence e = { .trace = &trace };

    team(&trace, 600);
    expect(
        &e, "imbalance",
        "qkv: imbalance between threads: of 4, worker 2 takes 2.00 times the mean; an even share "
        "would save up to 30 % of the time");
    prof_trace_release(&trace);
    team(&trace, 250); /* 1.18 */
    expect(&e, "imbalance", "");
    prof_trace_release(&trace);
}

TRACE_TEST(of_the_recording)
{
    struct prof_cost cost = { .on = 50 };
    struct prof_summary summary;

    make_trace(trace);
    assert_int_equal(prof_summarise(trace, &summary), 0);
    struct advice_evidence e = { .trace = trace, .summary = &summary, .cost = &cost };
    /* 8 on the host, in 1600 ns */
    expect(
        &e, "overhead",
        "recording takes about 19 % of the time (6 scopes of 50 ns): use fewer scopes around more "
        "work, or sample");
    cost.on = 5;
    expect(&e, "overhead", "");
    expect(&e, "sampled", "");
    trace->meta.rate = 0.01;
    trace->meta.skipped = 990;
    expect(&e, "sampled",
           "1.0 % sampling: 990 outermost scopes were skipped; calls and totals are those of the "
           "sample, shares and means estimate the whole");
    trace->meta.dropped = 10;
    expect(&e, "dropped",
           "10 scopes or activities (50 %) found no room and are missing: give the profiler more "
           "room, or sample");
    prof_summary_release(&summary);
}

TRACE_TEST(of_calls_that_differ)
{
    struct prof_summary summary;

    prof_trace_init(trace);
    int track = prof_trace_track(trace, &(struct prof_track) { .process = 1, .thread = 1 });
    for (int64_t i = 0; i < 20; i++)
        add_slice(trace, track, 1000 * i, 1000 * i + (i % 10 ? 100 : 230), "gelu", PROF_SCOPES);
    assert_int_equal(prof_trace_sort(trace, NULL), 0);
    assert_int_equal(prof_summarise(trace, &summary), 0);
    expect(
        &(struct advice_evidence) { .trace = trace, .summary = &summary }, "spread",
        "gelu: 100 % of the time; of 20 calls one in 20 takes 230.0 ns or more, the median 100.0 "
        "ns: calls of different size, or something gets in their way");
    prof_summary_release(&summary);
}

TEST(the_table)
{
    const char *looks_at, *name;
    double threshold;
    size_t nr = 0;

    while ((name = timeline_advice_rule(nr, &looks_at, &threshold)) != NULL) {
        assert_true(*name && *looks_at && threshold >= 0);
        nr++;
    }
    assert_true(nr >= 10);
}

RUN_TESTS(NULL, NULL)
