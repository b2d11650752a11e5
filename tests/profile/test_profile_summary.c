/* SPDX-License-Identifier: MIT */
/* The table against numbers worked out by hand, bottlenecks, texts, and what a scope costs.
 * Features: S4-02, S4-06, S4-07, S4-08, S4-09, S4-10, S4-15, S3-10. */
#include "profile_testing.h"

#include "base/text.h"
#include "profile/summary.h"
#include "profile_trace.h"
#include "stats/random.h"

/* Whole numbers of a row, in ns and bytes. */
static void assert_row(const struct prof_summary *summary, const struct prof_row *expected)
{
    const struct prof_row *row = prof_summary_row(summary, expected->side, expected->name);
    const int64_t pairs[][2] = {
        { (int64_t)row->calls, (int64_t)expected->calls },
        { row->total, expected->total },
        { row->self, expected->self },
        { row->min, expected->min },
        { row->max, expected->max },
        { row->p50, expected->p50 },
        { row->p95, expected->p95 },
        { row->p99, expected->p95 },
        { row->gpu, expected->gpu },
        { row->transfer, expected->transfer },
        { row->launch, expected->launch },
        { row->cpu, expected->cpu },
        { row->bytes, expected->bytes },
        { row->memory_peak, expected->memory_peak },
    };

    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        if (pairs[i][0] != pairs[i][1])
            fail_msg("%s, number %zu: %lld, expected %lld", expected->name, i,
                     (long long)pairs[i][0], (long long)pairs[i][1]);
    }
    assert_close(row->mean, expected->mean, 1e-9);
    assert_close(row->sd, expected->sd, 1e-9);
    assert_close(row->flops, expected->flops, 1e-9);
}

/* In this order: name, side, calls, total, self, shortest, longest, mean, their
 * deviation, p50, p95, launches, CPU, GPU, transfers, bytes, FLOPs, peak of memory (-1: not known).
 */
#define ROW(n, s, c, t, own, least, most, m, d, half, tail, l, cpu_, gpu_, copy, b, f, peak)       \
    {                                                                                              \
        .name = n, .side = s, .calls = c, .total = t, .self = own, .min = least, .max = most,      \
        .mean = m, .sd = d, .p50 = half, .p95 = tail, .launch = l, .cpu = cpu_, .gpu = gpu_,       \
        .transfer = copy, .bytes = b, .flops = f, .memory_peak = peak                              \
    }

/* attention is inside itself once: its total counts the outer one alone. Its GPU time is that of
 * the outer one's marks, because no flow starts in it. */
static const struct prof_row rows[] = {
    ROW("forward", PROF_HOST, 2, 1600, 670, 600, 1000, 800, 282.842712474619, 600, 1000, 80, 1520,
        200, 100, 0, 0, -1),
    ROW("attention", PROF_HOST, 2, 500, 500, 200, 500, 350, 212.1320343559642, 200, 500, 0, 500, 25,
        0, 0, 0, 4096),
    ROW("qkv", PROF_HOST, 2, 400, 350, 100, 300, 200, 141.4213562373095, 100, 300, 50, 350, 200, 0,
        3000, 8000, -1),
    ROW("cudaMemcpyAsync", PROF_HOST, 1, 30, 30, 30, 30, 30, 0, 30, 30, 30, 0, 0, 100, 0, 0, -1),
    ROW("gemm_kernel", PROF_DEVICE, 1, 200, 200, 200, 200, 200, 0, 200, 200, 0, 0, 0, 0, 0, 0, -1),
};

#define TRACE_TEST(name) TEST_WITH_A(name, struct prof_trace, trace, prof_trace_release)

TRACE_TEST(rows_are_as_worked_out_by_hand)
{
    struct prof_summary summary;

    make_trace(trace);
    assert_int_equal(prof_summarise(trace, &summary), 0);
    assert_int_equal(summary.total[PROF_HOST], 1600);
    assert_int_equal(summary.total[PROF_DEVICE], 300);
    assert_close(prof_row_utilisation(prof_summary_row(&summary, PROF_HOST, "forward")), 0.125, 0);
    assert_close(prof_row_utilisation(prof_summary_row(&summary, PROF_DEVICE, "gemm_kernel")), 0,
                 0);
    assert_int_equal(prof_summary_row(&summary, PROF_HOST, "attention")->memory_mean, 4096);
    assert_int_equal(prof_summary_row(&summary, PROF_HOST, "forward")->memory_mean, -1);
    assert_int_equal(summary.calls[PROF_HOST], 8);
    assert_int_equal(summary.nr_rows, 5 + 2);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_row(&summary, &rows[i]);
    assert_string_equal(prof_summary_row(&summary, PROF_HOST, "qkv")->backend, "cublas");
    assert_null(prof_summary_row(&summary, PROF_DEVICE, "forward"));
    prof_summary_release(&summary);
}

TEST(rows_that_were_made_elsewhere_are_sorted)
{
    struct prof_row made[] = {
        { .name = "e", .side = PROF_DEVICE, .self = 9 },
        { .name = "b", .side = PROF_HOST, .self = 5 },
        { .name = "a", .side = PROF_HOST, .self = 5 },
        { .name = "d", .side = PROF_HOST, .self = 1 },
        { .name = "c", .side = PROF_HOST, .self = 7 },
    };
    struct prof_summary summary = { .rows = made, .nr_rows = sizeof(made) / sizeof(made[0]) };
    char order[sizeof(made) / sizeof(made[0]) + 1] = "";

    prof_summary_sort(&summary);
    for (size_t i = 0; i < summary.nr_rows; i++)
        order[i] = made[i].name[0];
    assert_string_equal(order, "cabde");
}

TRACE_TEST(percentiles_are_ranks)
{
    struct prof_summary summary;

    prof_trace_init(trace);
    int track = prof_trace_track(trace, &(struct prof_track) { .process = 1 });
    for (int i = 0; i < 1000; i++) /* durations 1 to 1000 in a shuffled order */
        prof_trace_slice(trace, &(struct prof_slice) { .track = track,
                                                       .parent = PROF_ROOT,
                                                       .start = i * 2000,
                                                       .duration = 1 + i * 387 % 1000,
                                                       .name = "op" });
    assert_int_equal(prof_trace_sort(trace, NULL), 0);
    assert_int_equal(prof_summarise(trace, &summary), 0);
    assert_int_equal(summary.rows[0].p50, 500);
    assert_int_equal(summary.rows[0].p95, 950);
    assert_int_equal(summary.rows[0].p99, 990);
    assert_close(summary.rows[0].sd, sqrt((1000.0 * 1000 - 1) / 12 * 1000 / 999), 1e-9);
    prof_summary_release(&summary);
}

static void assert_bottleneck(const struct prof_bottleneck *b, const char *name, double share,
                              double cumulative)
{
    assert_string_equal(b->row->name, name);
    assert_close(b->share, share, 1e-12);
    assert_close(b->cumulative, cumulative, 1e-12);
}

TRACE_TEST(bottlenecks_say_what_they_cover)
{
    struct prof_bottleneck list[8];
    struct prof_summary summary;

    make_trace(trace);
    assert_int_equal(prof_summarise(trace, &summary), 0);
    assert_int_equal(prof_bottlenecks(trace, &summary, PROF_HOST, PROF_BY_SELF, list, 3), 3);
    assert_bottleneck(&list[0], "forward", 670.0 / 1600, 670.0 / 1600);
    assert_bottleneck(&list[1], "attention", 500.0 / 1600, 1170.0 / 1600);
    assert_bottleneck(&list[2], "qkv", 350.0 / 1600, 1520.0 / 1600);

    assert_int_equal(prof_bottlenecks(trace, &summary, PROF_HOST, PROF_BY_TOTAL, list, 8), 5);
    assert_bottleneck(&list[0], "forward", 1, 1); /* all is inside it */
    assert_bottleneck(&list[1], "attention", 500.0 / 1600, 1);
    assert_bottleneck(&list[2], "qkv", 400.0 / 1600, 1);

    assert_int_equal(prof_bottlenecks(trace, &summary, PROF_DEVICE, PROF_BY_SELF, list, 8), 2);
    assert_bottleneck(&list[0], "gemm_kernel", 2.0 / 3, 2.0 / 3);
    assert_bottleneck(&list[1], "copy", 1.0 / 3, 1);
    prof_summary_release(&summary);
}

/* A row weighs less wherever its time counts: in what it is in, and in the whole. */
TRACE_TEST(bottlenecks_of_weighed_times)
{
    struct prof_bottleneck list[8];
    struct prof_summary summary;
    double weights[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };

    make_trace(trace);
    assert_int_equal(prof_summarise(trace, &summary), 0);
    const struct prof_row *forward = prof_summary_row(&summary, PROF_HOST, "forward");
    weights[forward - summary.rows] = 0.1; /* 67 of its 670, so 997 in all */
    assert_int_equal(
        prof_bottlenecks_weighed(trace, &summary, PROF_HOST, PROF_BY_SELF, weights, list, 2), 2);
    assert_bottleneck(&list[0], "attention", 500.0 / 997, 500.0 / 997);
    assert_bottleneck(&list[1], "qkv", 350.0 / 997, 850.0 / 997);
    assert_int_equal(
        prof_bottlenecks_weighed(trace, &summary, PROF_HOST, PROF_BY_TOTAL, weights, list, 2), 2);
    assert_bottleneck(&list[0], "forward", 1, 1);
    assert_bottleneck(&list[1], "attention", 500.0 / 997, 1);
    prof_summary_release(&summary);
}

TRACE_TEST(tables_show_what_is_there)
{
    struct prof_bottleneck list[8];
    struct prof_summary summary;
    struct prof_cost cost = { .on = 40, .off = 1, .clock = 10, .clock_name = "tsc" };

    make_trace(trace);
    trace->meta.dropped = 3;
    assert_int_equal(prof_summarise(trace, &summary), 0);
    char *text = written(prof_print_summary(file, &summary, &cost));
    const char *parts[] = { "transfer",
                            "1.600 us",
                            "On the device\n",
                            "gemm_kernel",
                            "3 scopes found no room",
                            "cost 40.00 ns a scope, 1.000 ns when off (targets: 60 and 5 ns, met)",
                            "15 % of the time" };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (!strstr(text, parts[i]))
            fail_msg("\"%s\" is not in:\n%s", parts[i], text);
    }
    for (const char *line = text; strncmp(line, "\n", 1) != 0; line = strchr(line, '\n') + 1)
        assert_int_equal(strcspn(line, "\n"), strcspn(text, "\n")); /* aligned */
    free(text);
    int nr = prof_bottlenecks(trace, &summary, PROF_HOST, PROF_BY_SELF, list, 8);
    text = written(prof_print_bottlenecks(file, list, (size_t)nr));
    assert_non_null(strstr(text, " 41.9 %   41.9 %\n"));
    free(text);
    prof_summary_release(&summary);
}

/* One rule for times everywhere: the harness's own words are the same. */
TEST(times_read_as_elsewhere)
{
    static const double special[] = { 0,      -1,       1,      999.9499, 999.95,  999.96,  1e3,
                                      9999.5, 99995,    999949, 999950,   1e9,     -12345,  1e15,
                                      NAN,    999.95e6, 9.9995, 99.995,   99.9949, INFINITY };
    char own[PROF_TEXT_SIZE], theirs[TEXT_UNIT_SIZE];
    struct random random;

    for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++)
        assert_string_equal(prof_time_text(special[i], own), text_time(special[i], theirs));
    random_seed(&random, 7);
    for (int i = 0; i < 20000; i++) {
        double ns = pow(10, 13 * random_uniform(&random) - 1);
        assert_string_equal(prof_time_text(ns, own), text_time(ns, theirs));
    }
}

/* No absolute time is promised on a machine that does other things, but the order of the three is:
 * a scope that is on has two readings of the clock, one that is off has none. */
TEST(cost_is_measured)
{
    struct prof_cost cost;

    assert_int_equal(prof_overhead(&cost), 0);
    print_message("scope: %.1f ns on, %.2f ns off, clock %.1f ns (%s)\n", cost.on, cost.off,
                  cost.clock, cost.clock_name);
    assert_true(cost.off > 0);
    assert_true(cost.on > cost.clock);
    assert_true(cost.on > cost.off);
}

/* A terminal would obey them. */
TEST(control_bytes_of_names_are_not_printed)
{
    struct prof *prof = create_on(NULL);
    struct prof_summary summary;
    struct prof_trace trace;
    struct prof_scope scope = prof_begin(prof, prof_site_named(prof, "red \033[31m\r\x7f"), NULL);

    prof_end(&scope);
    take_snapshot(prof, &trace);
    assert_int_equal(prof_summarise(&trace, &summary), 0);
    char *text = written(prof_print_summary(file, &summary, NULL));
    assert_has(text, "red ?[31m??  ");
    free(text);
    prof_summary_release(&summary);
    prof_trace_release(&trace);
    prof_free(prof);
}

/* Ranges that begin and end as they like (nvtxRangeStart): two lie in one and over each other.
 *
 *   outer 0-100 ( a 10-60   b 40-90 ( c 50-70 ) )
 */
TEST(overlaps_are_taken_once)
{
    static const struct {
        const char *name;
        int64_t start, end, self;
    } ranges[] = {
        { "outer", 0, 100, 20 }, { "a", 10, 60, 50 }, { "b", 40, 90, 30 }, { "c", 50, 70, 20 }
    };
    struct prof_trace trace;
    int64_t self[4];

    prof_trace_init(&trace);
    int thread = prof_trace_track(&trace, &(struct prof_track) { .process = 1, .thread = 1 });
    for (size_t i = 0; i < 4; i++)
        add_slice(&trace, thread, ranges[i].start, ranges[i].end, ranges[i].name, PROF_SCOPES);
    assert_int_equal(prof_trace_sort(&trace, NULL), 0);
    assert_int_equal(prof_trace_self(&trace, self), 0);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(trace.slices[i].name, ranges[i].name);
        assert_int_equal(self[i], ranges[i].self);
    }
    prof_trace_release(&trace);
}

RUN_TESTS(NULL, NULL)
