/* SPDX-License-Identifier: MIT */
/* Lists of calls (S4-01, S4-16): units, places, what is missing. */
#include "profile_testing.h"

#include "profile/summary.h"
#include "timeline/timeline_read.h"

static void parse_entries(const char *text, struct prof_trace *trace)
{
    struct error err;
    char why[256];

    assert_ok(timeline_parse(text, strlen(text), "calls", trace, &err), &err);
    if (prof_trace_check(trace, why, sizeof(why)))
        fail_msg("%s", why);
}

/* As a profiler in Python writes it: seconds, ms, MB. */
TEST(the_members_in_their_units)
{
    struct prof_trace trace;

    parse_entries(
        "{\"version\": 1, \"entries\": [{\"operation\": \"matmul\", \"start_time\": 100.03, "
        "\"end_time\": 100.06, \"duration_ms\": 30, \"device\": \"gpu\", "
        "\"backend\": \"cupy\", \"gpu_time_ms\": 25, \"transfer_time_ms\": 3, "
        "\"overhead_ms\": 2, \"memory_allocated_mb\": 64, "
        "\"memory_peak_mb\": 128, \"memory_bandwidth_gb_s\": 2}, {\"operation\": \"sort\", "
        "\"start_time\": 100.0, \"end_time\": 100.01, \"device\": \"cpu\"}]}",
        &trace);
    const struct prof_slice *sort = slice_named(&trace, "sort");
    const struct prof_slice *matmul = slice_named(&trace, "matmul");
    assert_int_equal(trace.nr_slices, 2);
    assert_int_equal(sort->start, 0);
    assert_in_range(sort->duration, 9999990, 10000010); /* seconds as doubles */
    assert_string_equal(sort->backend, "cpu");
    assert_int_equal(sort->memory_peak, -1);
    assert_in_range(matmul->start, 29999990, 30000010);
    assert_int_equal(matmul->duration, 30000000);
    assert_int_equal(matmul->gpu, 25000000);
    assert_int_equal(matmul->transfer, 3000000);
    assert_int_equal(matmul->launch, 2000000);
    assert_int_equal(matmul->memory_live, 64 << 20);
    assert_int_equal(matmul->memory_peak, 128 << 20);
    assert_int_equal(matmul->bytes, 60000000);
    assert_string_equal(matmul->backend, "cupy");
    struct prof_summary summary;
    assert_int_equal(prof_summarise(&trace, &summary), 0);
    const struct prof_row *row = prof_summary_row(&summary, PROF_HOST, "matmul");
    assert_close(prof_row_utilisation(row), 25.0 / 30, 1e-9);
    assert_int_equal(row->transfer, 3000000);
    assert_int_equal(row->cpu, 28000000);
    assert_int_equal(row->memory_mean, 128 << 20);
    prof_summary_release(&summary);
    prof_trace_release(&trace);
}

TEST(calls_inside_and_calls_without_a_start)
{
    struct prof_trace trace;

    parse_entries(
        "[{\"operation\": \"outer\", \"start_ns\": 50, \"duration_ns\": 100}, "
        "{\"operation\": \"inner\", \"start_ns\": 60, \"duration_ns\": 10}, "
        "{\"operation\": \"behind\", \"duration_us\": 1}]",
        &trace);
    const struct prof_slice *inner = slice_named(&trace, "inner");
    assert_string_equal(parent_name(&trace, inner), "outer");
    assert_int_equal(slice_named(&trace, "behind")->start, 100);
    assert_int_equal(slice_named(&trace, "behind")->duration, 1000);
    prof_trace_release(&trace);
}

/* As Python's json.dump() writes what is no number. */
TEST(no_numbers_are_absent)
{
    struct prof_trace trace;

    parse_entries(
        "[{\"operation\": \"a\", \"start_ns\": 50, \"end_ns\": 60, \"duration_ns\": NaN, "
        "\"gpu_ns\": -Infinity, \"peak_bytes\": Infinity}]",
        &trace);
    assert_int_equal(trace.slices[0].duration, 10);
    assert_int_equal(trace.slices[0].gpu, 0);
    assert_int_equal(trace.slices[0].memory_peak, -1);
    prof_trace_release(&trace);
}

TEST(what_is_missing_is_named)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        { "[{\"operation\": \"a\", \"duration_ns\": 1}, {\"operation\": \"b\"}]", "entry 2" },
        { "[{\"operation\": \"\", \"duration_ns\": 1}]", "entry 1" },
        { "[{\"operation\": \"a\", \"duration_ns\": -1}]", "entry 1" },
        { "[{\"operation\": \"a\", \"duration_ns\": 1e300}]", "entry 1" },
        { "[{\"operation\": \"a\", \"duration_ns\": NaN}]", "entry 1" },
        { "[7, {\"operation\": \"a\"}]", "entry 1" },
        { "{\"operation\": \"a\"}", "no list of calls" },
        { "[{\"operation\": \"a\"", "line 1" },
    };
    struct prof_trace trace;
    struct error err;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_int_equal(
            timeline_parse(cases[i].text, strlen(cases[i].text), "calls", &trace, &err), -1);
        if (!strstr(err.message, cases[i].words))
            fail_msg("%s: %s", cases[i].text, err.message);
    }
}

RUN_TESTS(NULL, NULL)
