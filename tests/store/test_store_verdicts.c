/* SPDX-License-Identifier: MIT */
/* What was decided comes back: comparisons, acceptances, self-tests; histories of version 1, which
 * have none of it. Features: U-05, U-06, U-12. */
#include "history/verify.h"
#include "test_store.h"

#include "store/sql.h"
#include "store/verdicts.h"

static struct store *open_as(const struct scratch *scratch, enum store_mode mode)
{
    struct error err;
    struct store *s;

    assert_ok(store_open(&s, scratch->path, mode, &err), &err);
    return s;
}

static void add_verdict(struct store_comparison *c, const char *key, const char *metric,
                        const char *verdict)
{
    *store_comparison_push(c) = (struct store_verdict) {
        .key = memory_string(key),
        .machine = memory_string("class-a"),
        .metric = memory_string(metric),
        .verdict = memory_string(verdict),
        .evidence = memory_string("{\"values\":[1,2.5]}"),
        .result = memory_string("{\"change\":0.1}"),
    };
}

static struct store_comparison sample_comparison(const char *verdict)
{
    struct store_comparison c = {
        .decided_ms = 1790000000456,
        .rule = 7,
        .version = "0.1.0",
        .base = memory_string("branch main"),
        .head = memory_string("it's \"new\""),
        .base_commit = memory_string("1f3a9c2d4e5f60718293a4b5c6d7e8f901234567"),
        .head_commit = memory_string(""),
        .settings = memory_string("{\"delta\":0.03}"),
        .exit_status = 77,
        .head_ms = 1790000000123,
    };

    add_verdict(&c, "gemm/a/simd", "p50", verdict);
    add_verdict(&c, "gemm/b/simd", "p50", "same");
    return c;
}

static int64_t add_comparison(struct store *s, struct store_comparison c)
{
    struct error err;

    assert_ok(store_comparison_add(s, &c, &err), &err);
    assert_int_equal(strlen(c.uuid), 36);
    int64_t id = c.id;
    store_comparison_release(&c);
    return id;
}

SCRATCH_TEST(test_comparison_comes_back)
{
    struct store *s = open_as(*state, STORE_WRITE);
    struct store_comparison c, expected = sample_comparison("regressed");
    struct error err;

    int64_t first = add_comparison(s, sample_comparison("regressed"));
    assert_true(add_comparison(s, sample_comparison("same")) > first);
    store_close(s);
    s = open_as(*state, STORE_READ);
    assert_ok(store_comparison_load(s, first, &c, &err), &err);
    assert_true(c.id == first && c.decided_ms == expected.decided_ms && c.rule == 7 &&
                c.exit_status == 77 && c.head_ms == 1790000000123 && c.nr == 2);
    assert_string_equal(c.version, expected.version);
    assert_string_equal(c.base, expected.base);
    assert_string_equal(c.head, expected.head);
    assert_string_equal(c.base_commit, expected.base_commit);
    assert_string_equal(c.head_commit, "");
    assert_string_equal(c.settings, expected.settings);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(c.items[i].key, expected.items[i].key);
        assert_string_equal(c.items[i].machine, "class-a");
        assert_string_equal(c.items[i].metric, "p50");
        assert_string_equal(c.items[i].verdict, expected.items[i].verdict);
        assert_string_equal(c.items[i].evidence, expected.items[i].evidence);
        assert_string_equal(c.items[i].result, expected.items[i].result);
    }
    store_comparison_release(&c);
    assert_int_equal(store_comparison_load(s, 99, &c, &err), -1);
    assert_non_null(strstr(err.message, "no comparison 99"));
    store_comparison_release(&c);
    store_comparison_release(&expected);
    store_close(s);
}

SCRATCH_TEST(test_comparisons_newest_first)
{
    struct store *s = open_as(*state, STORE_WRITE);
    struct store_comparisons list = { 0 };
    struct error err;
    int64_t ids[3];

    for (int i = 0; i < 3; i++)
        ids[i] = add_comparison(s, sample_comparison("same"));
    assert_ok(store_comparison_list(s, 2, &list, &err), &err);
    assert_true(list.nr == 2 && list.items[0].id == ids[2] && list.items[1].id == ids[1]);
    assert_int_equal(list.items[0].nr, 0);
    store_comparisons_release(&list);
    assert_ok(store_comparison_list(s, 0, &list, &err), &err);
    assert_int_equal(list.nr, 3);
    store_comparisons_release(&list);
    struct store_comparison old = sample_comparison("same");
    old.decided_ms -= 1000; /* as a merge brings it */
    int64_t merged = add_comparison(s, old);
    assert_ok(store_comparison_list(s, 0, &list, &err), &err);
    assert_true(list.nr == 4 && list.items[0].id == ids[2] && list.items[3].id == merged);
    store_comparisons_release(&list);
    store_close(s);
}

/* A comparison is there as a whole or not at all. */
SCRATCH_TEST(test_half_a_comparison)
{
    struct store *s = open_as(*state, STORE_WRITE);
    struct store_comparison c = sample_comparison("same");
    struct store_comparisons list = { 0 };
    struct error err;
    int64_t rows = -1;

    free(c.items[1].evidence);
    c.items[1].evidence = NULL;
    assert_int_equal(store_comparison_add(s, &c, &err), -1);
    store_comparison_release(&c);
    assert_ok(store_comparison_list(s, 0, &list, &err), &err);
    assert_int_equal(list.nr, 0);
    assert_ok(sql_one_int(s, "SELECT count(*) FROM verdict", &rows, &err), &err);
    assert_int_equal(rows, 0);
    store_close(s);
}

static const struct store_comparison *of_key(const struct store_comparisons *list, const char *key,
                                             const char *metric)
{
    for (size_t i = 0; i < list->nr; i++)
        if (strcmp(list->items[i].items[0].key, key) == 0 &&
            strcmp(list->items[i].items[0].metric, metric) == 0)
            return &list->items[i];
    fail_msg("no %s of %s", metric, key);
    return NULL;
}

SCRATCH_TEST(test_newest_verdicts)
{
    static const char *const all[] = { "gemm" }, *const one[] = { "nothing", "*/b/*" };
    struct store *s = open_as(*state, STORE_WRITE);
    struct store_comparison c = sample_comparison("regressed");
    struct store_comparisons list = { 0 };
    struct error err;

    add_verdict(&c, "gemm/a/simd", "p95", "improved");
    add_comparison(s, c);
    c = (struct store_comparison) { .decided_ms = c.decided_ms + 1,
                                    .base = memory_string("x"),
                                    .head = memory_string("y"),
                                    .base_commit = memory_string(""),
                                    .head_commit = memory_string("abc"),
                                    .settings = memory_string("{}") };
    add_verdict(&c, "gemm/a/simd", "p50", "broken");
    int64_t last = add_comparison(s, c);
    c = sample_comparison("improved");
    c.decided_ms -= 1000; /* as a merge brings it */
    add_comparison(s, c);
    assert_ok(store_verdict_newest(s, all, 1, NULL, &list, &err), &err);
    assert_int_equal(list.nr, 3);
    const struct store_comparison *found = of_key(&list, "gemm/a/simd", "p50");
    assert_int_equal(found->id, last);
    assert_string_equal(found->head_commit, "abc");
    assert_string_equal(found->items[0].verdict, "broken");
    assert_string_equal(of_key(&list, "gemm/a/simd", "p95")->items[0].verdict, "improved");
    assert_string_equal(of_key(&list, "gemm/b/simd", "p50")->items[0].verdict, "same");
    store_comparisons_release(&list);
    assert_ok(store_verdict_newest(s, one, 2, "p50", &list, &err), &err);
    assert_int_equal(list.nr, 1);
    assert_string_equal(list.items[0].items[0].key, "gemm/b/simd");
    store_comparisons_release(&list);
    store_close(s);
}

static int64_t accept(struct store *s, char *machine, double change)
{
    struct acceptance a = {
        .key = (char[]) { "gemm/a/simd" },
        .metric = (char[]) { "p50" },
        .machine = machine,
        .commit = (char[]) { "1f3a9c2" },
        .change = change,
        .reason = (char[]) { "exact \"GELU\"" },
        .author = (char[]) { "" },
        .accepted_ms = 1790000000789,
        .seen_ms = 1790000000123,
    };
    struct error err;

    assert_ok(store_acceptance_add(s, &a, 1, &err), &err);
    return a.id;
}

/* The second of two cannot be written: neither is. */
SCRATCH_TEST(test_acceptances_all_or_none)
{
    struct store *s = open_as(*state, STORE_WRITE);
    struct store_acceptances list = { 0 };
    char key[] = "a/b", metric[] = "p50", text[] = "";
    struct acceptance pair[2];
    struct error err;

    for (int i = 0; i < 2; i++)
        pair[i] = (struct acceptance) { .key = key,
                                        .metric = metric,
                                        .machine = text,
                                        .commit = text,
                                        .change = 0.1,
                                        .reason = text,
                                        .author = text,
                                        .accepted_ms = 1 };
    assert_ok(store_acceptance_add(s, pair, 2, &err), &err);
    assert_true(pair[1].id > pair[0].id);
    pair[1].key = NULL; /* a key is asked for by the schema */
    assert_int_equal(store_acceptance_add(s, pair, 2, &err), -1);
    assert_ok(store_acceptance_list(s, NULL, &list, &err), &err);
    assert_int_equal(list.nr, 2);
    store_acceptances_release(&list);
    store_close(s);
}

SCRATCH_TEST(test_acceptances)
{
    struct store *s = open_as(*state, STORE_WRITE);
    struct store_acceptances list = { 0 };
    char here[] = "class-a", elsewhere[] = "class-b", any[] = "";
    struct error err;

    int64_t first = accept(s, here, 0.08);
    accept(s, elsewhere, 0.5);
    int64_t broken = accept(s, any, NAN);
    assert_ok(store_acceptance_list(s, here, &list, &err), &err);
    assert_int_equal(list.nr, 2);
    const struct acceptance *a = &list.items[0];
    assert_true(a->id == first && a->change == 0.08 && a->accepted_ms == 1790000000789 &&
                a->seen_ms == 1790000000123);
    assert_string_equal(a->key, "gemm/a/simd");
    assert_string_equal(a->metric, "p50");
    assert_string_equal(a->machine, "class-a");
    assert_string_equal(a->commit, "1f3a9c2");
    assert_string_equal(a->reason, "exact \"GELU\"");
    assert_string_equal(a->author, "");
    assert_true(list.items[1].id == broken && isnan(list.items[1].change));
    store_acceptances_release(&list);
    assert_ok(store_acceptance_remove(s, first, &err), &err);
    assert_int_equal(store_acceptance_remove(s, first, &err), -1);
    assert_non_null(strstr(err.message, "no acceptance"));
    assert_ok(store_acceptance_list(s, NULL, &list, &err), &err);
    assert_int_equal(list.nr, 2);
    store_acceptances_release(&list);
    assert_true(accept(s, here, 0.1) > broken); /* no number is given twice */
    store_close(s);
}

SCRATCH_TEST(test_verdicts_of_what_was_accepted)
{
    static const struct {
        int64_t seen_ms, accepted_ms;
        const char *commit, *metric, *machine;
        size_t nr;
    } rows[] = {
        { 1790000000123, 1790000000789, "", "p50", "class-a", 2 },
        { 1790000000123, 1790000000455, "", "p50", "class-a", 0 }, /* decided later */
        { 1790000000124, 1790000000789, "", "p50", "class-a", 0 },
        { 0, 1790000000789, "", "p50", "class-a", 0 },
        { 1790000000123, 1790000000789, "1f3a9c2", "p50", "class-a", 0 },
        { 1790000000123, 1790000000789, "", "p95", "class-a", 0 },
        { 1790000000123, 1790000000789, "", "p50", "class-b", 0 },
    };
    struct store *s = open_as(*state, STORE_WRITE);
    struct error err;

    add_comparison(s, sample_comparison("regressed"));
    add_comparison(s, sample_comparison("broken"));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct store_comparisons list = { 0 };
        const struct acceptance a = {
            .key = (char[]) { "gemm/a/simd" },
            .metric = (char *)rows[i].metric,
            .commit = (char *)rows[i].commit,
            .seen_ms = rows[i].seen_ms,
            .accepted_ms = rows[i].accepted_ms,
        };
        assert_ok(store_verdict_seen(s, &a, rows[i].machine, &list, &err), &err);
        if (list.nr != rows[i].nr)
            fail_msg("row %zu: %zu verdicts", i, list.nr);
        for (size_t k = 0; k < list.nr; k++) {
            assert_string_equal(list.items[k].base, "branch main");
            assert_string_equal(list.items[k].items[0].verdict, k ? "broken" : "regressed");
        }
        store_comparisons_release(&list);
    }
    store_close(s);
}

static void add_selftest(struct store *s, const char *machine, const char *kind, int64_t when,
                         char *result)
{
    struct store_selftest t = { .tested_ms = when, .rule = 3, .result = result };
    struct error err;

    snprintf(t.machine, sizeof(t.machine), "%s", machine);
    snprintf(t.device, sizeof(t.device), "cpu-2t");
    snprintf(t.kind, sizeof(t.kind), "%s", kind);
    assert_ok(store_selftest_add(s, &t, &err), &err);
    assert_true(t.id > 0);
}

SCRATCH_TEST(test_selftests)
{
    struct store *s = open_as(*state, STORE_WRITE);
    char newer[] = "{\"rate\":0}", other[] = "{}";
    struct store_selftest t;
    struct error err;

    add_selftest(s, "class-a", "aa", 200, newer);
    add_selftest(s, "class-a", "aa", 100, other);
    add_selftest(s, "class-a", "power", 300, other);
    add_selftest(s, "class-b", "aa", 300, other);
    assert_ok(store_selftest_latest(s, "class-a", "cpu-2t", "aa", &t, &err), &err);
    assert_true(t.tested_ms == 200 && t.rule == 3);
    assert_string_equal(t.machine, "class-a");
    assert_string_equal(t.device, "cpu-2t");
    assert_string_equal(t.kind, "aa");
    assert_string_equal(t.result, newer);
    store_selftest_release(&t);
    assert_int_equal(store_selftest_latest(s, "class-c", "cpu-2t", "aa", &t, &err), 1);
    store_selftest_release(&t);
    store_close(s);
}

/* ---- version 1 ---- */

static void make_version_1(const struct scratch *scratch)
{
    struct store *s = open_as(scratch, STORE_WRITE);
    struct run run = sample_run();
    struct error err;

    run.ended_ms = run.started_ms + 1;
    assert_ok(store_begin_run(s, &run, &err), &err);
    s->place.sealed = false;
    assert_ok(
        sql_execute(s,
                    "DROP TABLE verdict; DROP TABLE comparison; DROP TABLE acceptance; "
                    "DROP TABLE selftest; DROP TABLE annotation; DROP TABLE seal; "
                    "DROP INDEX run_without_kind; DROP TABLE tuned; "
                    "ALTER TABLE benchmark DROP COLUMN fill; "
                    "ALTER TABLE run DROP COLUMN shard_plan; "
                    "ALTER TABLE run DROP COLUMN shards; ALTER TABLE run DROP COLUMN shard; "
                    "ALTER TABLE run DROP COLUMN sweep; ALTER TABLE run DROP COLUMN ab_block; "
                    "ALTER TABLE run DROP COLUMN ab_side; ALTER TABLE run DROP COLUMN ab_id; "
                    "ALTER TABLE run DROP COLUMN kind; "
                    "ALTER TABLE measurement DROP COLUMN tokens; "
                    "DROP INDEX measurement_with_numbers; "
                    "ALTER TABLE measurement DROP COLUMN numbers; "
                    "ALTER TABLE run DROP COLUMN thinned_ms; PRAGMA user_version = 1",
                    &err),
        &err);
    store_close(s);
}

SCRATCH_TEST(test_version_1_is_read)
{
    static const char *const any[] = { "*" };
    struct store_comparisons comparisons = { 0 };
    struct store_acceptances acceptances = { 0 };
    struct store_comparison c;
    struct store_selftest t;
    struct store_health health;
    struct records records = { 0 };
    struct error err;

    make_version_1(*state);
    struct store *s = open_as(*state, STORE_READ);
    assert_ok(store_load(s, (const int64_t[]) { 1 }, 1, NULL, &records, &err), &err);
    assert_int_equal(records.nr_runs, 1);
    records_release(&records);
    assert_ok(store_comparison_list(s, 0, &comparisons, &err), &err);
    assert_ok(store_verdict_newest(s, any, 1, NULL, &comparisons, &err), &err);
    assert_int_equal(comparisons.nr, 0);
    assert_ok(store_acceptance_list(s, NULL, &acceptances, &err), &err);
    assert_int_equal(acceptances.nr, 0);
    assert_int_equal(store_selftest_latest(s, "class-a", "cpu-2t", "aa", &t, &err), 1);
    assert_int_equal(store_comparison_load(s, 1, &c, &err), -1);
    assert_non_null(strstr(err.message, "recorded"));
    assert_ok(store_verify(s, &health, &err), &err);
    store_close(s);
}

SCRATCH_TEST(test_version_1_is_upgraded)
{
    struct store *s;
    struct store_listing runs = { 0 };
    struct error err;

    make_version_1(*state);
    s = open_as(*state, STORE_WRITE);
    assert_int_equal(add_comparison(s, sample_comparison("same")), 1);
    assert_ok(store_list_runs(s, NULL, 0, &runs, &err), &err);
    assert_int_equal(runs.nr, 1);
    store_listing_release(&runs);
    store_close(s);
}

SCRATCH_TEST(test_verify_reads_verdicts)
{
    static const char *const damages[] = {
        "UPDATE verdict SET evidence = '{' WHERE id = 2",
        "UPDATE verdict SET result = 'x' WHERE id = 1",
        "UPDATE comparison SET settings = ''",
        "PRAGMA foreign_keys = OFF; DELETE FROM comparison",
    };
    const struct scratch *scratch = *state;
    struct store_health health;
    struct error err;

    for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
        remove(scratch->path);
        struct store *s = open_as(scratch, STORE_WRITE);
        add_comparison(s, sample_comparison("same"));
        assert_ok(store_verify(s, &health, &err), &err);
        assert_ok(sql_execute(s, damages[i], &err), &err);
        assert_int_equal(store_verify(s, &health, &err), -1);
        assert_true(health.problems > 0);
        store_close(s);
    }
}

/* A writer that does not come to its turn gives up after the patience it was given. */
SCRATCH_TEST(test_patience)
{
    struct store *holder = open_as(*state, STORE_WRITE), *s = open_as(*state, STORE_WRITE);
    struct store_comparison c = sample_comparison("same");
    struct error err;

    assert_ok(sql_begin(holder, &err), &err);
    store_set_patience(s, 20);
    assert_int_equal(store_comparison_add(s, &c, &err), -1);
    assert_non_null(strstr(err.message, "locked"));
    assert_ok(sql_end(holder, 0, &err), &err);
    assert_ok(store_comparison_add(s, &c, &err), &err);
    store_comparison_release(&c);
    store_close(s);
    store_close(holder);
}

RUN_TESTS(NULL, NULL)
