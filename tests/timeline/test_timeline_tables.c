/* SPDX-License-Identifier: MIT */
/* Profiles without their trace (S4-16): what profile.json and summaries of the scopes library keep.
 */
#include "profile_trace.h"

#include "profile/export.h"
#include "timeline/timeline_tables.h"

#include <stdlib.h>

static int parse_tables(const char *text, struct timeline_tables *tables, struct error *err)
{
    return timeline_tables_parse(text, strlen(text), "file", tables, err);
}

static char *written_summary(const struct prof_summary *summary)
{
    char *text = NULL;
    size_t length;
    FILE *file = open_memstream(&text, &length);

    assert_non_null(file);
    assert_int_equal(prof_write_summary(file, summary, NULL), 0);
    assert_int_equal(fclose(file), 0);
    return text;
}

static void check_row(const struct prof_row *row, const struct prof_row *as)
{
    assert_string_equal(row->name, as->name);
    assert_int_equal(row->side, as->side);
    assert_int_equal(row->calls, as->calls);
    assert_int_equal(row->total, as->total);
    assert_int_equal(row->self, as->self);
    assert_int_equal(row->min, as->min);
    assert_int_equal(row->max, as->max);
    assert_int_equal(row->p50, as->p50);
    assert_int_equal(row->p99, as->p99);
    assert_int_equal(row->gpu, as->gpu);
    assert_int_equal(row->transfer, as->transfer);
    assert_int_equal(row->launch, as->launch);
    assert_int_equal(row->bytes, as->bytes);
    assert_int_equal(row->memory_peak, as->memory_peak);
    assert_close(row->flops, as->flops, 0);
    assert_close(row->mean, as->mean, 0.051); /* written with one decimal */
    assert_true(!row->backend == !as->backend);
}

TEST(a_summary_comes_back_as_it_was)
{
    struct prof_summary summary;
    struct timeline_tables tables;
    struct prof_trace trace;
    struct error err;

    make_trace(&trace);
    assert_int_equal(prof_summarise(&trace, &summary), 0);
    char *text = written_summary(&summary);
    assert_true(timeline_tables_is(text, strlen(text)));
    assert_ok(parse_tables(text, &tables, &err), &err);
    assert_int_equal(tables.summary.nr_rows, summary.nr_rows);
    for (size_t i = 0; i < summary.nr_rows; i++)
        check_row(&tables.summary.rows[i], prof_summary_row(&summary, tables.summary.rows[i].side,
                                                            tables.summary.rows[i].name));
    assert_int_equal(tables.summary.total[PROF_HOST], summary.total[PROF_HOST]);
    assert_int_equal(tables.summary.total[PROF_DEVICE], summary.total[PROF_DEVICE]);
    assert_int_equal(tables.layers.nr_iterations, 0);
    assert_int_equal(tables.split.span, 0);
    timeline_tables_release(&tables);
    free(text);
    prof_summary_release(&summary);
    prof_trace_release(&trace);
}

#define SUMMARY                                                                                    \
    "\"summary\": {\"columns\": [\"name\", \"side\", \"calls\", \"self\", \"later\"], "            \
    "\"rows\": [[\"head\", 0, 3, 10, null], [\"attention\", 0, 3, 20, {}]]}"

TEST(iterations_and_parts_of_profile_json)
{
    const char *text = "{\"schema_version\": 1, " SUMMARY
                       ", \"split\": {\"device\": 0, "
                       "\"gap_ns\": 50, \"span_ns\": 9, \"parts\": {\"GPU\": 7, \"host wait\": 2}},"
                       " \"layers\": {\"iteration\": \"forward\", \"ns\": [4, 5, 6], "
                       "\"rest_ns\": [1, 1, 1], \"operations\": [{\"operation\": \"head\", "
                       "\"calls\": 3, \"depth\": 0, \"flops\": 2, \"bytes\": 0, "
                       "\"total_ns\": [3, 4, 5], \"self_ns\": [3, 4, 5], \"gpu_ns\": [1, 1, 2]}]}}";
    struct timeline_tables tables;
    struct error err;

    assert_ok(parse_tables(text, &tables, &err), &err);
    assert_string_equal(tables.summary.rows[0].name, "attention"); /* the longest first */
    assert_int_equal(tables.split.device, 0);
    assert_int_equal(tables.split.span, 9);
    assert_int_equal(tables.split.gap_ns, 50);
    assert_int_equal(tables.split.ns[PART_HOST_WAIT], 2);
    assert_int_equal(tables.layers.nr_iterations, 3);
    assert_string_equal(tables.layers.iteration, "forward");
    assert_int_equal(tables.layers.items[0].self_ns[2], 5);
    assert_int_equal(tables.layers.items[0].gpu_ns[2], 2);
    assert_int_equal(tables.layers.items[0].calls, 3);
    timeline_tables_release(&tables);
}

TEST(what_is_none_is_said)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        { "{\"schema_version\": 2, " SUMMARY "}", "it is no trace, and no profile.json" },
        { "{\"schema_version\": 1}", "it is no trace, and no profile.json" },
        { "{\"schema\": 1, \"rows\": []}", "\"columns\"" },
        { "{\"schema\": 1, \"columns\": [\"name\"], \"rows\": [[]]}", "has 0 of 1 columns" },
        { "{\"schema\": 1, \"columns\": [\"name\"], \"rows\": [7]}", "has 0 of 1 columns" },
        { "{\"schema\": 1, \"columns\": [\"name\", \"self\"], \"rows\": [[\"a\", \"b\"]]}",
          "\"self\" in row 1" },
        { "{\"schema\": 1, \"columns\": [\"self\"], \"rows\": [[1]]}",
          "row 1 of the summary has no" },
        { "{\"schema\": 1, \"columns\": [\"name\", \"self\"], \"rows\": [[\"a\", 1e300]]}",
          "\"self\" in row 1" },
        { "{\"schema\": 1, \"columns\": [\"name\", \"side\"], \"rows\": [[\"a\", 2]]}",
          "\"side\" in row 1" },
        { "{\"schema_version\": 1, " SUMMARY ", \"layers\": {\"iteration\": \"f\", \"ns\": [1, 2], "
          "\"rest_ns\": [1]}}",
          "not one \"ns\"" },
        { "{\"schema_version\": 1, " SUMMARY ", \"layers\": {\"iteration\": \"f\", \"ns\": [1], "
          "\"rest_ns\": [1], \"operations\": [{\"operation\": \"head\", \"total_ns\": [1], "
          "\"self_ns\": [1, 2]}]}}",
          "has not one time an iteration" },
        { "{\"schema\": 1", "line 1" },
    };
    struct timeline_tables tables;
    struct error err;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_int_equal(parse_tables(cases[i].text, &tables, &err), -1);
        if (!strstr(err.message, cases[i].words))
            fail_msg("%s: %s", cases[i].text, err.message);
        timeline_tables_release(&tables);
    }
}

TEST(a_trace_is_no_tables)
{
    static const char trace[] = "{\"traceEvents\": []}", list[] = "[]", text[] = " {\n \"schema\"";

    assert_false(timeline_tables_is(trace, sizeof(trace) - 1));
    assert_false(timeline_tables_is(list, sizeof(list) - 1));
    assert_false(timeline_tables_is("", 0));
    assert_true(timeline_tables_is(text, sizeof(text) - 1));
    assert_false(timeline_tables_is(text, sizeof(text) - 2)); /* cut */
}

RUN_TESTS(NULL, NULL)
