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

/* attention is inside itself once: its total counts the outer one alone. Its GPU time is that of
 * the outer one's marks, because no flow starts in it. */
static const struct prof_row rows[] = {
    { .name = "forward",
      .calls = 2,
      .total = 1600,
      .self = 670,
      .min = 600,
      .max = 1000,
      .mean = 800,
      .sd = 282.842712474619,
      .p50 = 600,
      .p95 = 1000,
      .launch = 80,
      .cpu = 1520,
      .gpu = 200,
      .transfer = 100,
      .memory_peak = -1 },
    { .name = "attention",
      .calls = 2,
      .total = 500,
      .self = 500,
      .min = 200,
      .max = 500,
      .mean = 350,
      .sd = 212.1320343559642,
      .p50 = 200,
      .p95 = 500,
      .cpu = 500,
      .gpu = 25,
      .memory_peak = 4096 },
    { .name = "qkv",
      .calls = 2,
      .total = 400,
      .self = 350,
      .min = 100,
      .max = 300,
      .mean = 200,
      .sd = 141.4213562373095,
      .p50 = 100,
      .p95 = 300,
      .launch = 50,
      .cpu = 350,
      .gpu = 200,
      .bytes = 3000,
      .flops = 8000,
      .memory_peak = -1 },
    { .name = "cudaMemcpyAsync",
      .calls = 1,
      .total = 30,
      .self = 30,
      .min = 30,
      .max = 30,
      .mean = 30,
      .p50 = 30,
      .p95 = 30,
      .launch = 30,
      .transfer = 100,
      .memory_peak = -1 },
    { .name = "gemm_kernel",
      .side = PROF_DEVICE,
      .calls = 1,
      .total = 200,
      .self = 200,
      .min = 200,
      .max = 200,
      .mean = 200,
      .p50 = 200,
      .p95 = 200,
      .memory_peak = -1 },
};

static void rows_are_as_worked_out_by_hand(void **state)
{
    struct prof_trace trace;
    struct prof_summary summary;

    (void)state;
    make_trace(&trace);
    assert_int_equal(prof_summarise(&trace, &summary), 0);
    assert_int_equal(summary.total[PROF_HOST], 1600);
    assert_int_equal(summary.total[PROF_DEVICE], 300);
    assert_int_equal(summary.calls[PROF_HOST], 8);
    assert_int_equal(summary.nr_rows, 5 + 2);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_row(&summary, &rows[i]);
    assert_string_equal(prof_summary_row(&summary, PROF_HOST, "qkv")->backend, "cublas");
    assert_null(prof_summary_row(&summary, PROF_DEVICE, "forward"));
    prof_summary_release(&summary);
    prof_trace_release(&trace);
}

static void percentiles_are_ranks(void **state)
{
    struct prof_trace trace;
    struct prof_summary summary;

    (void)state;
    prof_trace_init(&trace);
    int track = prof_trace_track(&trace, &(struct prof_track) { .process = 1 });
    for (int i = 0; i < 1000; i++) /* durations 1 to 1000 in a shuffled order */
        prof_trace_slice(&trace, &(struct prof_slice) { .track = track,
                                                        .parent = PROF_ROOT,
                                                        .start = i * 2000,
                                                        .duration = 1 + i * 387 % 1000,
                                                        .name = "op" });
    assert_int_equal(prof_trace_sort(&trace, NULL), 0);
    assert_int_equal(prof_summarise(&trace, &summary), 0);
    assert_int_equal(summary.rows[0].p50, 500);
    assert_int_equal(summary.rows[0].p95, 950);
    assert_int_equal(summary.rows[0].p99, 990);
    assert_close(summary.rows[0].sd, sqrt((1000.0 * 1000 - 1) / 12 * 1000 / 999), 1e-9);
    prof_summary_release(&summary);
    prof_trace_release(&trace);
}

static void assert_bottleneck(const struct prof_bottleneck *b, const char *name, double share,
                              double cumulative)
{
    assert_string_equal(b->row->name, name);
    assert_close(b->share, share, 1e-12);
    assert_close(b->cumulative, cumulative, 1e-12);
}

static void bottlenecks_say_what_they_cover(void **state)
{
    struct prof_bottleneck list[8];
    struct prof_trace trace;
    struct prof_summary summary;

    (void)state;
    make_trace(&trace);
    assert_int_equal(prof_summarise(&trace, &summary), 0);
    assert_int_equal(prof_bottlenecks(&trace, &summary, PROF_HOST, PROF_BY_SELF, list, 3), 3);
    assert_bottleneck(&list[0], "forward", 670.0 / 1600, 670.0 / 1600);
    assert_bottleneck(&list[1], "attention", 500.0 / 1600, 1170.0 / 1600);
    assert_bottleneck(&list[2], "qkv", 350.0 / 1600, 1520.0 / 1600);

    assert_int_equal(prof_bottlenecks(&trace, &summary, PROF_HOST, PROF_BY_TOTAL, list, 8), 5);
    assert_bottleneck(&list[0], "forward", 1, 1); /* all is inside it */
    assert_bottleneck(&list[1], "attention", 500.0 / 1600, 1);
    assert_bottleneck(&list[2], "qkv", 400.0 / 1600, 1);

    assert_int_equal(prof_bottlenecks(&trace, &summary, PROF_DEVICE, PROF_BY_SELF, list, 8), 2);
    assert_bottleneck(&list[0], "gemm_kernel", 2.0 / 3, 2.0 / 3);
    assert_bottleneck(&list[1], "copy", 1.0 / 3, 1);
    prof_summary_release(&summary);
    prof_trace_release(&trace);
}

static void tables_show_what_is_there(void **state)
{
    struct prof_bottleneck list[8];
    struct prof_trace trace;
    struct prof_summary summary;
    struct prof_cost cost = { .on = 40, .off = 1, .clock = 10, .clock_name = "tsc" };

    (void)state;
    make_trace(&trace);
    trace.meta.dropped = 3;
    assert_int_equal(prof_summarise(&trace, &summary), 0);
    char *text = written(prof_print_summary(file, &summary, &cost));
    const char *parts[] = { "transfer",
                            "1.600 us",
                            "On the device\n",
                            "gemm_kernel",
                            "3 scopes found no room",
                            "cost 40.00 ns a scope, 1.000 ns when off (targets: 60 and 5 ns, met)",
                            "20 % of the time" };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (!strstr(text, parts[i]))
            fail_msg("\"%s\" is not in:\n%s", parts[i], text);
    }
    for (const char *line = text; strncmp(line, "\n", 1) != 0; line = strchr(line, '\n') + 1)
        assert_int_equal(strcspn(line, "\n"), strcspn(text, "\n")); /* aligned */
    free(text);
    int nr = prof_bottlenecks(&trace, &summary, PROF_HOST, PROF_BY_SELF, list, 8);
    text = written(prof_print_bottlenecks(file, list, (size_t)nr));
    assert_non_null(strstr(text, " 41.9 %   41.9 %\n"));
    free(text);
    prof_summary_release(&summary);
    prof_trace_release(&trace);
}

/* One rule for times everywhere: the harness's own words are the same. */
static void times_read_as_elsewhere(void **state)
{
    static const double special[] = { 0,      -1,       1,      999.9499, 999.95,  999.96,  1e3,
                                      9999.5, 99995,    999949, 999950,   1e9,     -12345,  1e15,
                                      NAN,    999.95e6, 9.9995, 99.995,   99.9949, INFINITY };
    char own[PROF_TEXT_SIZE], theirs[TEXT_UNIT_SIZE];
    struct random random;

    (void)state;
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
static void cost_is_measured(void **state)
{
    struct prof_cost cost;

    (void)state;
    assert_int_equal(prof_overhead(&cost), 0);
    print_message("scope: %.1f ns on, %.2f ns off, clock %.1f ns (%s)\n", cost.on, cost.off,
                  cost.clock, cost.clock_name);
    assert_true(cost.off > 0);
    assert_true(cost.on > cost.clock);
    assert_true(cost.on > cost.off);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_as_worked_out_by_hand),
        cmocka_unit_test(percentiles_are_ranks),
        cmocka_unit_test(bottlenecks_say_what_they_cover),
        cmocka_unit_test(tables_show_what_is_there),
        cmocka_unit_test(times_read_as_elsewhere),
        cmocka_unit_test(cost_is_measured),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
