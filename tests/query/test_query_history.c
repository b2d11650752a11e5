/* SPDX-License-Identifier: MIT */
/* S1-22, S2-05: what of a history fits a condition, in pages and in little time. */
#include "history/verify.h"
#include "query_testing.h"

#include "base/file.h"
#include "base/json.h"

#include <inttypes.h>

static int64_t add_run(struct store *s, const char *branch, const char *label, int64_t day,
                       unsigned first, enum outcome outcome)
{
    struct run run = sample_run();
    struct launch launch = { .seq = 0, .ended_ms = 1 };
    struct error err;
    int64_t id;

    run.started_ms = INT64_C(1793491200000) + day * 86400000; /* 2026-11-01 */
    run.ended_ms = run.started_ms + 1000;
    snprintf(run.label, sizeof(run.label), "%s", label);
    snprintf(run.build.branch, sizeof(run.build.branch), "%s", branch);
    assert_ok(store_begin_run(s, &run, &err), &err);
    assert_ok(store_begin_launch(s, run.id, &launch, &id, &err), &err);
    for (unsigned k = first; k < first + 3; k++) {
        struct measurement m = sample_measurement(k);
        m.outcome = outcome;
        assert_ok(store_add_measurement(s, id, &m, &err), &err);
        measurement_release(&m);
    }
    return run.id;
}

/* Runs 1 to 4: batches 1-3 on main, 2-4 on topic, 5-7 on main and wrong, 1-3 on main again. */
static struct store *small_history(const struct scratch *scratch)
{
    struct store *s;
    struct error err;

    assert_ok(store_open(&s, scratch->path, STORE_WRITE, &err), &err);
    assert_int_equal(add_run(s, "main", "a", 0, 0, OUTCOME_OK), 1);
    assert_int_equal(add_run(s, "topic", "b", 1, 1, OUTCOME_OK), 2);
    assert_int_equal(add_run(s, "main", "it's [x]", 2, 4, OUTCOME_WRONG), 3);
    assert_int_equal(add_run(s, "main", "nightly", 3, 0, OUTCOME_OK), 4);
    return s;
}

/* "3 1" and so on: the runs that fit, newest first; "E..." an error. */
static void runs_that_fit(struct store *s, const char *text, struct strbuf *out)
{
    struct query_page page = { 0 };
    struct query_found found = { 0 };
    struct query q;
    struct error err;
    size_t column;

    strbuf_clear(out);
    int rc = query_parse(&q, text, &column, &err);
    if (rc == 0)
        rc = query_check(&q, s, &column, &err);
    if (rc == 0)
        rc = query_runs(s, &q, &page, &found, &err);
    for (size_t i = 0; rc == 0 && i < found.nr; i++)
        strbuf_addf(out, "%s%" PRId64, i ? " " : "", found.ids[i]);
    if (rc)
        strbuf_addf(out, "E%s", err.message);
    query_found_release(&found);
    query_release(&q);
}

static void test_runs_that_fit(void **state)
{
    static const struct {
        const char *text, *runs;
    } cases[] = {
        { "", "4 3 2 1" },
        { "branch = main", "4 3 1" },
        { "branch != main", "2" },
        { "branch = m*,t*", "4 3 2 1" },
        { "branch != main,topic", "" },
        { "branch = \"[!t]*\"", "4 3 1" },
        { "label = \"it's [[]x]\"", "3" },
        { "label = \"it's [*\"", "3" }, /* nothing closes the bracket */
        { "batch >= 4", "3 2" },
        { "batch = 1,7", "4 3 1" },
        { "batch != 1 and batch < 4", "4 2 1" },
        { "not batch < 5", "3" },
        { "kernel = gemm/*", "4 3 2 1" },
        { "kernel = gemm", "" },
        { "key = \"*batch=2/*\"", "4 2 1" },
        { "outcome = wrong", "3" },
        { "outcome != OK and batch = 7", "3" },
        { "commit = 1f3a9c2", "4 3 2 1" },
        { "commit = 2f3", "" },
        { "run > 1 and run <= 3", "3 2" },
        { "id = 2", "2" },
        { "started > 2026-11-02", "4 3" },
        { "started >= 2026-11-02", "4 3 2" },
        { "started = 2026-11-02", "2" },
        { "started != 2026-11-02", "4 3 1" },
        { "started < 2026-11-01T00:01", "1" },
        { "started <= 2026-11-01", "1" },
        { "dirty = yes", "" },
        { "dirty = no and suite = quick", "4 3 2 1" },
        { "machine = class-*", "4 3 2 1" },
        { "branch = topic and batch = 1", "" },
        { "branch = topic or batch = 1", "4 2 1" },
    };
    struct store *s = small_history(*state);
    struct strbuf got;

    strbuf_init(&got);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        runs_that_fit(s, cases[i].text, &got);
        if (strcmp(got.data, cases[i].runs) != 0)
            fail_msg("%s: \"%s\", expected \"%s\"", cases[i].text, got.data, cases[i].runs);
    }
    runs_that_fit(s, "label = a and bach = 4", &got);
    assert_non_null(strstr(got.data, "did you mean \"batch\""));
    assert_non_null(strstr(got.data, "column 15"));
    strbuf_release(&got);
    store_close(s);
}

/* As much as a condition may hold: 58 tests of 32 values each come to the 4,096 bytes that it has.
 */
static void test_many_values(void **state)
{
    static const char *const words[] = { " or ", " and " };
    struct store *s = small_history(*state);
    struct strbuf text, got;

    for (size_t k = 0; k < 2; k++) {
        strbuf_init(&text);
        strbuf_init(&got);
        for (int i = 0; i < 58; i++) {
            strbuf_addf(&text, "%sid=1", i ? words[k] : "");
            for (int j = 0; j < (k ? 30 : 31); j++)
                strbuf_adds(&text, ",1");
        }
        assert_in_range(text.length, 3900, 4096);
        runs_that_fit(s, text.data, &got);
        assert_string_equal(got.data, "1");
        strbuf_release(&text);
        strbuf_release(&got);
    }
    store_close(s);
}

static int64_t add_row(struct store *s, const cJSON *row)
{
    struct run run = sample_run();
    struct launch launch = { .seq = 0, .ended_ms = 1 };
    struct measurement m = sample_measurement(0);
    struct error err;
    int64_t id;

    run.started_ms = json_int(row, "started", 0);
    run.ended_ms = run.started_ms + 1;
    run.build.dirty = json_bool(row, "dirty", false);
    snprintf(run.label, sizeof(run.label), "%s", json_string(row, "label", ""));
    snprintf(run.suite, sizeof(run.suite), "%s", json_string(row, "suite", ""));
    snprintf(run.build.branch, sizeof(run.build.branch), "%s", json_string(row, "branch", ""));
    snprintf(run.build.commit, sizeof(run.build.commit), "%s", json_string(row, "commit", ""));
    snprintf(run.machine.class_name, sizeof(run.machine.class_name), "%s",
             json_string(row, "machine", ""));
    assert_ok(benchmark_name_parse(json_string(row, "key", ""), &m.bench, &err), &err);
    m.outcome = (enum outcome)outcome_find(json_string(row, "outcome", ""));
    assert_ok(store_begin_run(s, &run, &err), &err);
    assert_ok(store_begin_launch(s, run.id, &launch, &id, &err), &err);
    assert_ok(store_add_measurement(s, id, &m, &err), &err);
    measurement_release(&m);
    return run.id;
}

/* Each row is a run of its own here, so conditions on the numbers of runs mean something else. */
static bool is_of_numbers(const char *text)
{
    return strncmp(text, "run ", 4) == 0 || strncmp(text, "id ", 3) == 0;
}

/* "a b": the rows that a condition takes, in their order. */
static void names_that_fit(struct store *s, const cJSON *rows, const char *text, struct strbuf *out)
{
    struct strbuf runs;
    const cJSON *row;
    int number = 0;

    strbuf_init(&runs);
    strbuf_clear(out);
    runs_that_fit(s, text, &runs);
    if (runs.data[0] == 'E')
        fail_msg("\"%s\": %s", text, runs.data + 1);
    cJSON_ArrayForEach(row, rows)
    {
        number++;
        for (const char *at = runs.data; at && *at; at = strchr(at, ' ') ? strchr(at, ' ') + 1 : "")
            if (atoi(at) == number)
                strbuf_addf(out, "%s%s", out->length ? " " : "", json_string(row, "name", ""));
    }
    strbuf_release(&runs);
}

static void test_conditions_shared_with_the_page(void **state)
{
    const struct scratch *scratch = *state;
    struct strbuf got, wanted;
    struct store *s;
    struct error err;
    const cJSON *item, *name;

    cJSON *where =
        json_parse_file(HARNESS_SOURCE_DIR "/tests/fixtures/where.json", FILE_RECORDS_MOST, &err);
    assert_non_null(where);
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(where, "rows");
    assert_ok(store_open(&s, scratch->path, STORE_WRITE, &err), &err);
    cJSON_ArrayForEach(item, rows) add_row(s, item);
    strbuf_init(&got);
    strbuf_init(&wanted);
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(where, "conditions"))
    {
        const char *text = json_string(item, "text", "?");
        if (is_of_numbers(text))
            continue;
        strbuf_clear(&wanted);
        cJSON_ArrayForEach(name, cJSON_GetObjectItemCaseSensitive(item, "takes"))
            strbuf_addf(&wanted, "%s%s", wanted.length ? " " : "", name->valuestring);
        names_that_fit(s, rows, text, &got);
        if (strcmp(got.data, wanted.data) != 0)
            fail_msg("\"%s\" takes \"%s\", not \"%s\"", text, got.data, wanted.data);
    }
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(where, "mistakes"))
    {
        const char *text = json_string(item, "text", "?");
        struct query q;
        size_t column = 0;
        int rc = query_parse(&q, text, &column, &err);
        if (rc == 0)
            rc = query_check(&q, s, &column, &err);
        if (rc == 0 || (int64_t)column != json_int(item, "at", 0) ||
            !strstr(err.message, json_string(item, "says", "?")))
            fail_msg("\"%s\": rc %d, column %zu, %s", text, rc, column, err.message);
        query_release(&q);
    }
    strbuf_release(&got);
    strbuf_release(&wanted);
    cJSON_Delete(where);
    store_close(s);
}

static void test_hostile_values_change_nothing(void **state)
{
    struct store *s = small_history(*state);
    struct store_health health;
    struct strbuf text, got;
    struct error err;

    strbuf_init(&text);
    strbuf_init(&got);
    for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
        strbuf_clear(&text);
        strbuf_adds(&text, "label = ");
        add_quoted(&text, hostile[i]);
        runs_that_fit(s, text.data, &got);
        assert_string_equal(got.data, "");
    }
    assert_ok(store_verify(s, &health, &err), &err);
    assert_int_equal(health.runs, 4);
    strbuf_release(&text);
    strbuf_release(&got);
    store_close(s);
}

static void test_trials_and_unfinished_runs_are_left_out(void **state)
{
    struct store *s = small_history(*state);
    struct run run = sample_run();
    struct strbuf got;
    struct error err;

    run.kind = RUN_TRIAL;
    assert_ok(store_begin_run(s, &run, &err), &err);
    assert_ok(store_end_run(s, run.id, run.started_ms + 1, &err), &err);
    run = sample_run();
    assert_ok(store_begin_run(s, &run, &err), &err); /* and does not end */
    strbuf_init(&got);
    runs_that_fit(s, "", &got);
    assert_string_equal(got.data, "4 3 2 1");
    strbuf_release(&got);
    store_close(s);
}

static void test_pages(void **state)
{
    struct store *s = small_history(*state);
    struct query_page page = { .limit = 2 };
    struct query_found found;
    struct query q;
    struct error err;
    size_t column;

    assert_ok(query_parse(&q, "branch = main,topic", &column, &err), &err);
    assert_ok(query_runs(s, &q, &page, &found, &err), &err);
    assert_int_equal(found.nr, 2);
    assert_int_equal(found.ids[0], 4);
    assert_int_equal(found.next, 2);
    page.from = found.next;
    query_found_release(&found);
    assert_ok(query_runs(s, &q, &page, &found, &err), &err);
    assert_int_equal(found.nr, 2);
    assert_int_equal(found.ids[0], 2);
    assert_int_equal(found.next, 0);
    query_found_release(&found);
    page.from = 999; /* there is none such, so nothing is from it on */
    assert_ok(query_runs(s, &q, &page, &found, &err), &err);
    assert_int_equal(found.nr, 0);
    query_found_release(&found);
    query_release(&q);

    /* One that would have to look at too many says where it stopped. */
    page = (struct query_page) { .search = 2 };
    assert_ok(query_parse(&q, "batch = 1", &column, &err), &err);
    assert_ok(query_runs(s, &q, &page, &found, &err), &err);
    assert_int_equal(found.nr, 1);
    assert_int_equal(found.ids[0], 4);
    assert_true(found.gave_up);
    assert_int_equal(found.next, 2);
    query_found_release(&found);
    query_release(&q);
    store_close(s);
}

static void test_keys(void **state)
{
    struct store *s = small_history(*state);
    struct string_list keys = { 0 };
    int64_t runs[] = { 1, 2 };
    struct query q;
    struct error err;
    size_t column;

    assert_ok(query_parse(&q, "batch > 2 and branch = topic", &column, &err), &err);
    assert_ok(query_keys(s, &q, runs, 2, &keys, &err), &err);
    assert_int_equal(keys.nr, 2);
    assert_string_equal(keys.items[0], "gemm/linear/simd/fp32/batch=3/cpu-2t/warm");
    assert_string_equal(keys.items[1], "gemm/linear/simd/fp32/batch=4/cpu-2t/warm");
    string_list_release(&keys);
    query_release(&q);
    assert_ok(query_parse(&q, "outcome = OK", &column, &err), &err);
    assert_ok(query_keys(s, &q, runs, 1, &keys, &err), &err);
    assert_int_equal(keys.nr, 3);
    string_list_release(&keys);
    assert_ok(query_keys(s, &q, runs, 0, &keys, &err), &err);
    assert_int_equal(keys.nr, 0);
    string_list_release(&keys);
    query_release(&q);
    assert_ok(query_parse(&q, "batch > 2", &column, &err), &err); /* of benchmarks alone */
    assert_ok(query_keys(s, &q, NULL, 0, &keys, &err), &err);
    assert_int_equal(keys.nr, 5);
    string_list_release(&keys);
    query_release(&q);
    assert_ok(query_parse(&q, "", &column, &err), &err);
    assert_ok(query_keys(s, &q, NULL, 0, &keys, &err), &err);
    assert_int_equal(keys.nr, 7);
    string_list_release(&keys);
    query_release(&q);
    store_close(s);
}

static void test_facts_of_runs(void **state)
{
    struct store *s = small_history(*state);
    struct records out = { 0 };
    int64_t runs[] = { 3, 1 }, unknown = 77;
    struct error err;

    assert_ok(query_load_runs(s, runs, 2, &out, &err), &err);
    assert_int_equal(out.nr_runs, 2);
    assert_int_equal(out.nr, 0);
    assert_int_equal(out.runs[0].id, 3);
    assert_string_equal(out.runs[1].label, "a");
    assert_int_equal(query_load_runs(s, &unknown, 1, &out, &err), -1);
    assert_non_null(strstr(err.message, "no run 77"));
    records_release(&out);
    store_close(s);
}

/* However little time there is, each part looks at one run, and all parts together at all. */
static void test_pages_of_a_short_time(void **state)
{
    struct store *s = small_history(*state);
    struct query_page page = { .ms = 1 };
    struct query q;
    struct query_found all, found;
    struct strbuf text;
    struct error err;
    size_t column, parts = 0, nr = 0;

    strbuf_init(&text);
    strbuf_adds(&text, "key = ");
    for (int i = 0; i < 12; i++) /* costs some time for each benchmark */
        strbuf_adds(&text, "*[a-z]*[a-z]*[a-z]*[a-z]*[a-z]*[a-z]*[a-z]*[a-z]*[a-z]*[a-z]*@,");
    strbuf_adds(&text, "*");
    assert_ok(query_parse(&q, text.data, &column, &err), &err);
    assert_ok(query_runs(s, &q, &(struct query_page) { 0 }, &all, &err), &err);
    assert_true(all.nr > 1);
    do {
        assert_ok(query_runs(s, &q, &page, &found, &err), &err);
        assert_true(found.nr > 0 || found.gave_up);
        for (size_t i = 0; i < found.nr; i++)
            assert_int_equal(found.ids[i], all.ids[nr++]);
        page.from = found.next;
        query_found_release(&found);
    } while (page.from && ++parts < 100);
    assert_int_equal(nr, all.nr);
    query_found_release(&all);
    query_release(&q);
    strbuf_release(&text);
    store_close(s);
}

static void test_changes_are_seen(void **state)
{
    const struct scratch *scratch = *state;
    struct store *writer = small_history(scratch), *reader;
    struct query_state before, after;
    struct run run = sample_run();
    struct error err;
    int64_t counter = 0;
    bool changed;

    assert_ok(store_open(&reader, scratch->path, STORE_READ, &err), &err);
    assert_ok(query_changed(reader, &counter, &changed, &err), &err);
    assert_ok(query_state(reader, &before, &err), &err);
    assert_int_equal(before.newest, 4);
    assert_int_equal(before.runs, 4);
    assert_ok(query_changed(reader, &counter, &changed, &err), &err);
    assert_false(changed);

    assert_ok(store_begin_run(writer, &run, &err), &err);
    assert_ok(query_changed(reader, &counter, &changed, &err), &err);
    assert_true(changed);
    assert_ok(query_state(reader, &after, &err), &err);
    assert_true(after.digest == before.digest); /* a run in progress is no news */

    assert_ok(store_end_run(writer, run.id, run.started_ms + 5, &err), &err);
    assert_ok(query_changed(reader, &counter, &changed, &err), &err);
    assert_true(changed);
    assert_ok(query_state(reader, &after, &err), &err);
    assert_true(after.digest != before.digest);
    assert_int_equal(after.newest, 5);

    struct roof roof = { .device = "cpu-2t", .name = "DRAM", .unit = "B/s", .value = 1e10 };
    before = after;
    assert_ok(store_add_roofs(writer, &run.machine, "", &roof, 1, &err), &err);
    assert_ok(query_state(reader, &after, &err), &err);
    assert_true(after.digest != before.digest);

    before = after;
    execute_in(scratch->path, "UPDATE run SET thinned_ms = 1793491200000 WHERE id = 2");
    assert_ok(query_state(reader, &after, &err), &err);
    assert_true(after.digest != before.digest); /* what is drawn of its samples is another thing */
    store_close(reader);
    store_close(writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(test_runs_that_fit),
        scratch_test(test_many_values),
        scratch_test(test_conditions_shared_with_the_page),
        scratch_test(test_hostile_values_change_nothing),
        scratch_test(test_trials_and_unfinished_runs_are_left_out),
        scratch_test(test_pages),
        scratch_test(test_keys),
        scratch_test(test_facts_of_runs),
        scratch_test(test_pages_of_a_short_time),
        scratch_test(test_changes_are_seen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
