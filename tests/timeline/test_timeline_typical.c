/* SPDX-License-Identifier: MIT */
/* Medians of iterations: what one slow iteration does not move, in rows, shares and advice. */
#include "profile_slice.h"

#include "timeline/timeline_findings.h"
#include "timeline/timeline_main.h"

#include <math.h>

enum { ITERATIONS = 11, SLOW = 7, EACH = 10000 };

/* forward ( attention 1600, head 1000 ), but for one of which head takes 80,000: by sums head is
 * the worst, in ten iterations of eleven it is attention. */
static void make_slow_once(struct prof_trace *trace)
{
    int64_t at = 0;

    prof_trace_init(trace);
    int thread = prof_trace_track(trace, &(struct prof_track) { .process = 1, .thread = 1 });
    for (int i = 0; i < ITERATIONS; i++) {
        int64_t head = i == SLOW ? 80000 : 1000 + i;
        add_slice(trace, thread, at, at + 1600 + head + 100, "forward", PROF_SCOPES);
        int attention = add_slice(trace, thread, at, at + 1600, "attention", PROF_SCOPES);
        int last = add_slice(trace, thread, at + 1600, at + 1600 + head, "head", PROF_SCOPES);
        trace->slices[attention].flops = trace->slices[last].flops = 1600;
        at += 1600 + head + 100;
    }
    trace->meta.end = at;
    trace->meta.rate = 1;
    assert_int_equal(prof_trace_sort(trace, NULL), 0);
}

struct found {
    struct prof_trace trace, main;
    struct prof_summary summary;
    struct timeline_findings findings;
};

static void find(struct found *f, const struct timeline_roofs *roofs)
{
    struct error err;

    make_slow_once(&f->trace);
    assert_ok(timeline_main(&f->trace, &f->main, &err), &err);
    assert_int_equal(prof_summarise(&f->main, &f->summary), 0);
    const struct advice_evidence known = { .trace = &f->trace,
                                           .summary = &f->summary,
                                           .roofs = roofs };
    assert_ok(timeline_find(&f->main, &known, &f->findings, &err), &err);
}

static void found_release(struct found *f)
{
    timeline_findings_release(&f->findings);
    prof_summary_release(&f->summary);
    prof_trace_release(&f->main);
    prof_trace_release(&f->trace);
}

TEST(a_slow_iteration_moves_no_median)
{
    struct found f;

    find(&f, NULL);
    const struct timeline_typical *t = &f.findings.typical;
    const struct prof_row *attention = prof_summary_row(&f.summary, PROF_HOST, "attention");
    const struct prof_row *head = prof_summary_row(&f.summary, PROF_HOST, "head");
    const struct prof_row *forward = prof_summary_row(&f.summary, PROF_HOST, "forward");
    assert_true(head->self > attention->self);
    assert_true(timeline_typical_self(t, attention) > timeline_typical_self(t, head));
    assert_close(timeline_typical_self(t, attention), 1600.0 * ITERATIONS, 0);
    assert_close(timeline_typical_row(t, head)->self.median, 1005, 0);
    assert_close(timeline_typical_row(t, head)->self.mean, (double)head->self / ITERATIONS, 1e-9);
    /* of 11 values the 2nd and the 10th */
    assert_close(timeline_typical_row(t, head)->self.low, 1001, 0);
    assert_close(timeline_typical_row(t, head)->self.high, 1010, 0);
    assert_close(timeline_typical_row(t, forward)->self.median, 100, 0);
    assert_close(timeline_typical_row(t, forward)->total.median, 2705, 0);
    assert_close(t->host_ns, (1600.0 + 1005 + 100) * ITERATIONS, 1e-9);
    struct prof_bottleneck worst[2];
    for (int by = PROF_BY_SELF; by <= PROF_BY_TOTAL; by++) {
        bool total = by == PROF_BY_TOTAL;
        assert_int_equal(
            timeline_typical_bottlenecks(t, &f.main, PROF_HOST, (enum prof_by)by, worst, 2), 2);
        assert_ptr_equal(worst[total].row, attention);
        assert_close(worst[total].share, 1600.0 / 2705, 1e-9);
    }
    found_release(&f);
}

/* forward 1000 ( op 600 ( cudaLaunchKernel 200 ( cuLaunchKernel 150 ) ), cudaEventSynchronize 100
 * ): calls have rows of their own, so they are in nobody's own time; all together are the
 * iterations.
 */
TEST(calls_of_the_runtime_count_once)
{
    static const struct {
        const char *name;
        int start, end;
        const char *category;
        double own;
    } slices[] = { { "forward", 0, 1000, PROF_SCOPES, 300 },
                   { "op", 100, 700, PROF_SCOPES, 400 },
                   { "cudaLaunchKernel", 200, 400, PROF_RUNTIME_CALLS, 50 },
                   { "cuLaunchKernel", 210, 360, PROF_DRIVER_CALLS, 150 },
                   { "cudaEventSynchronize", 800, 900, PROF_RUNTIME_CALLS, 100 } };
    enum { NR = sizeof(slices) / sizeof(slices[0]), TIMES = 5 };
    struct timeline_layers layers;
    struct timeline_typical typical;
    struct prof_summary summary;
    struct prof_trace trace;
    struct error err;

    prof_trace_init(&trace);
    int thread = prof_trace_track(&trace, &(struct prof_track) { .process = 1, .thread = 1 });
    for (int k = 0; k < TIMES; k++)
        for (size_t i = 0; i < NR; i++)
            add_slice(&trace, thread, 2000 * k + slices[i].start, 2000 * k + slices[i].end,
                      slices[i].name, slices[i].category);
    assert_int_equal(prof_trace_sort(&trace, NULL), 0);
    assert_int_equal(prof_summarise(&trace, &summary), 0);
    assert_ok(timeline_layers(&trace, -1, NULL, &layers, &err), &err);
    timeline_typical(&layers, &summary, &typical);
    for (size_t i = 0; i < NR; i++) {
        const struct prof_row *row = prof_summary_row(&summary, PROF_HOST, slices[i].name);
        assert_close(timeline_typical_self(&typical, row), slices[i].own * TIMES, 0);
        assert_close((double)row->self, slices[i].own * TIMES, 0);
    }
    assert_close(typical.host_ns, 1000.0 * TIMES, 0);
    assert_int_equal(prof_summary_scopes(&summary), 2 * TIMES);
    timeline_typical_release(&typical);
    timeline_layers_release(&layers);
    prof_summary_release(&summary);
    prof_trace_release(&trace);
}

/* Roofs at which both could run in a tenth of a median: the worst is told first. */
TEST(advice_names_what_is_slow_in_most_iterations)
{
    const struct timeline_roofs roofs = { .flops = 1e10, .math = "fp32" };
    struct found f;

    find(&f, &roofs);
    assert_true(f.findings.advice.nr >= 2);
    assert_string_equal(f.findings.advice.items[0].rule, "below-roof");
    assert_string_equal(f.findings.advice.items[0].operation, "attention");
    assert_close(f.findings.advice.items[0].value, (1600.0 - 160) / 2705, 1e-9);
    found_release(&f);
}

TEST(few_values_have_no_interval)
{
    const int64_t values[6] = { 6, 1, 5, 2, 4, 3 };
    struct timeline_middle none = timeline_middle_of(values, 0);
    struct timeline_middle five = timeline_middle_of(values, 5);
    struct timeline_middle six = timeline_middle_of(values, 6);

    assert_true(isnan(none.median) && isnan(none.mean));
    assert_close(five.median, 4, 0);
    assert_true(isnan(five.low) && isnan(five.high));
    assert_close(six.median, 3.5, 0);
    assert_close(six.low, 1, 0);
    assert_close(six.high, 6, 0);
}

RUN_TESTS(NULL, NULL)
