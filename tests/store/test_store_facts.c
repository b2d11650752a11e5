/* SPDX-License-Identifier: MIT */
/* Histories of before schema 5, whose runs were known by label and settings and whose forward
 * passes by name: read as they are, upgraded, merged and salvaged they say the same. Features:
 * S0-10, U-05, U-06. */
#include "store_histories.h"

#include "legacy_cases.h"
#include "same_records.h"

#include "history/merge.h"
#include "history/restore.h"
#include "history/salvage.h"
#include "history/verify.h"
#include "query/query.h"
#include "query/ref.h"
#include "store/rows.h"
#include "store/verdicts.h"

#include <zlib.h>

static void bind_text(sqlite3_stmt *stmt, int at, const char *text)
{
    sqlite3_bind_text(stmt, at, text, -1, SQLITE_TRANSIENT);
}

static void run_bound(sqlite3 *db, sqlite3_stmt *stmt)
{
    if (sqlite3_step(stmt) != SQLITE_DONE)
        fail_msg("%s", sqlite3_errmsg(db));
    sqlite3_finalize(stmt);
}

static void add_old_run(sqlite3 *db, int nth)
{
    static const char text[] =
        "INSERT INTO run (id, uuid, machine, build, started_ms, ended_ms, suite, label, settings) "
        "VALUES (?, ?, 1, 1, ?, ?, '', ?, ?)";
    sqlite3_stmt *stmt;
    char uuid[37];

    snprintf(uuid, sizeof(uuid), "bbbbbbbb-0000-4000-8000-%012d", nth);
    assert_int_equal(sqlite3_prepare_v2(db, text, -1, &stmt, NULL), SQLITE_OK);
    sqlite3_bind_int(stmt, 1, 100 + nth);
    bind_text(stmt, 2, uuid);
    sqlite3_bind_int64(stmt, 3, 1700000100000 + nth);
    sqlite3_bind_int64(stmt, 4, 1700000200000 + nth);
    bind_text(stmt, 5, legacy_runs[nth].label);
    bind_text(stmt, 6, legacy_runs[nth].settings);
    run_bound(db, stmt);
}

static void add_old_measurement(sqlite3 *db, int nth)
{
    static const char row[] =
        "INSERT INTO measurement VALUES (?1, 1, ?1, 'OK', NULL, 0, 0.0, 0.0, 1.0, 1.0, 1.0, 1, 1, "
        "'samples', 0, 'fake', 1700000000000, 0.1, NULL, 3, x'0103d8040104')";
    struct benchmark_name name;
    sqlite3_stmt *stmt;
    struct error err;
    char text[640];

    assert_ok(benchmark_name_parse(legacy_tokens_of[nth].key, &name, &err), &err);
    snprintf(text, sizeof(text),
             "INSERT INTO benchmark VALUES (%d, '%s', '%s', '%s', '%s', '%s', '%s')", 100 + nth,
             name.key, name.kernel, name.variant, name.math, name.device, name.cache);
    assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    for (int i = 0; i < name.nr_dims; i++) {
        snprintf(text, sizeof(text), "INSERT INTO benchmark_dim VALUES (%d, %d, '%s', %d)",
                 100 + nth, i, name.dims[i].name, (int)name.dims[i].value);
        assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    }
    assert_int_equal(sqlite3_prepare_v2(db, row, -1, &stmt, NULL), SQLITE_OK);
    sqlite3_bind_int(stmt, 1, 100 + nth);
    run_bound(db, stmt);
}

/* All cases in a file of that version: a run each, and the measurements in the run 7. */
static void make_old(const char *path, int version)
{
    sqlite3 *db;

    make_version(path, version);
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, PAGE_CHECKSUM_VFS),
                     SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN", NULL, NULL, NULL), SQLITE_OK);
    for (int i = 0; i < LEGACY_RUNS; i++)
        add_old_run(db, i);
    for (int i = 0; i < LEGACY_TOKENS; i++)
        add_old_measurement(db, i);
    assert_int_equal(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void assert_run_is(const struct run *run, const struct legacy_run *c)
{
    assert_string_equal(run->label, c->label);
    assert_same_facts(run, c->kind, &c->ab, &c->shard);
}

static void assert_tokens_are(const struct records *records)
{
    int found = 0;

    for (size_t i = 0; i < records->nr; i++)
        for (int k = 0; k < LEGACY_TOKENS; k++) {
            const struct measurement *m = &records->items[i].m;
            double expected = legacy_tokens_of[k].tokens;
            if (strcmp(m->bench.key, legacy_tokens_of[k].key) != 0)
                continue;
            found++;
            if (isnan(expected) ? !isnan(m->tokens) : m->tokens != expected)
                fail_msg("%s: %g tokens, not %g", m->bench.key, m->tokens, expected);
        }
    assert_int_equal(found, LEGACY_TOKENS);
}

/* Whoever lists the runs that count sees those that are no trials. */
static void assert_found_are(struct store *s)
{
    struct query_found found = { 0 };
    struct query query = { 0 };
    struct query_page page = { 0 };
    struct error err;
    size_t trials = 0;

    for (int i = 0; i < LEGACY_RUNS; i++)
        trials += legacy_runs[i].kind == RUN_TRIAL;
    assert_ok(query_runs(s, &query, &page, &found, &err), &err);
    assert_int_equal(found.nr, 1 + LEGACY_RUNS - trials);
    query_found_release(&found);
}

static void assert_facts(const char *path)
{
    struct store *s = open_store(path, STORE_READ);
    struct records records = { 0 };
    struct store_health health;
    struct error err;

    assert_ok(store_series(s, NULL, NULL, &records, &err), &err);
    assert_tokens_are(&records);
    records_release(&records);
    assert_ok(store_finished_runs(s, NULL, &records, &err), &err);
    assert_int_equal(records.nr_runs, 1 + LEGACY_RUNS);
    for (int i = 0; i < LEGACY_RUNS; i++)
        assert_run_is(&records.runs[1 + i], &legacy_runs[i]);
    records_release(&records);
    assert_found_are(s);
    assert_ok(store_verify(s, &health, &err), &err);
    store_close(s);
}

static void test_read_and_upgraded(void **state)
{
    char path[160];

    for (int version = 1; version < SCHEMA_FACTS; version++) {
        path_in(*state, "old.db", path);
        remove(path);
        make_old(path, version);
        assert_facts(path);
        assert_int_equal(count_in(path, "PRAGMA user_version"), version);
        store_close(open_store(path, STORE_WRITE));
        assert_int_equal(count_in(path, "PRAGMA user_version"), SCHEMA_NOW);
        assert_int_equal(count_in(path, "SELECT count(*) FROM run WHERE kind = ''"), 0);
        assert_facts(path);
        assert_sound(path);
    }
}

/* Into a new history, and into one that has all of it already. */
static void test_merged(void **state)
{
    char old[160], new[160];
    struct error err;

    path_in(*state, "old.db", old);
    path_in(*state, "new.db", new);
    make_old(old, SCHEMA_FACTS - 1);
    for (int i = 0; i < 2; i++) {
        struct store_merged merged = { 0 };
        struct store *to = open_store(new, STORE_WRITE);
        assert_ok(store_merge(to, old, &merged, &err), &err);
        assert_int_equal(merged.runs_new, i ? 0 : 1 + LEGACY_RUNS);
        assert_int_equal(merged.runs_known, i ? 1 + LEGACY_RUNS : 0);
        assert_int_equal(merged.conflicts.nr, 0);
        store_merged_release(&merged);
        store_close(to);
        assert_facts(new);
    }
}

static void test_salvaged(void **state)
{
    struct salvaged saved;
    char old[160], new[160];
    struct error err;

    for (int version = 1; version < SCHEMA_FACTS; version++) {
        path_in(*state, "old.db", old);
        path_in(*state, "new.db", new);
        remove(old);
        remove(new);
        make_old(old, version);
        assert_ok(store_salvage(old, new, &saved, &err), &err);
        salvaged_release(&saved);
        assert_facts(new);
    }
}

/* An older program that had the file open goes on writing after the upgrade. */
static void test_late_rows(void **state)
{
    const struct scratch *scratch = *state;
    struct records records = { 0 };
    struct ref_runs runs;
    struct error err;

    make_runs(scratch->path, 0, 1, 2);
    execute_in(scratch->path,
               "INSERT INTO run (uuid, machine, build, started_ms, ended_ms, suite, label) VALUES "
               "('aaaaaaaa-0000-4000-8000-00000000000f', 1, 1, 1900000000000, 1900000000001, '', "
               "'selftest')");
    struct store *s = open_store(scratch->path, STORE_READ);
    assert_ok(store_finished_runs(s, NULL, &records, &err), &err);
    assert_int_equal(records.nr_runs, 2);
    assert_int_equal(records.runs[1].kind, RUN_TRIAL);
    records_release(&records);
    store_close(s);
    s = open_store(scratch->path, STORE_WRITE);
    assert_ok(ref_resolve(s, "latest", NULL, &runs, &err), &err);
    assert_int_equal(runs.ids[0], 1);
    ref_runs_release(&runs);
    store_close(s);
    assert_int_equal(count_in(scratch->path, "SELECT count(*) FROM run WHERE kind = 'trial'"), 1);
    assert_sound(scratch->path);
}

/* Since then a label is a word: a run that was labelled so is the newest one. */
static void test_label_is_a_word(void **state)
{
    const struct scratch *scratch = *state;
    struct store *s = open_store(scratch->path, STORE_WRITE);
    struct ref_runs runs;
    struct error err;

    add_run_of(s, 1, 2, NULL);
    struct run run = sample_run();
    run.started_ms += 10 * 3600000;
    snprintf(run.label, sizeof(run.label), "selftest of mine");
    assert_ok(store_begin_run(s, &run, &err), &err);
    assert_ok(store_end_run(s, run.id, run.started_ms + 1, &err), &err);
    assert_ok(ref_resolve(s, "latest", NULL, &runs, &err), &err);
    assert_int_equal(runs.nr, 1);
    assert_int_equal(runs.ids[0], run.id);
    ref_runs_release(&runs);
    store_close(s);
}

static void merge_into_new(const char *to, const char *from)
{
    struct store_merged merged = { 0 };
    struct error err;

    remove(to);
    struct store *s = open_store(to, STORE_WRITE);
    assert_ok(store_merge(s, from, &merged, &err), &err);
    store_merged_release(&merged);
    store_close(s);
}

static void salvage_into_new(const char *to, const char *from)
{
    struct salvaged saved;
    struct error err;

    remove(to);
    assert_ok(store_salvage(from, to, &saved, &err), &err);
    salvaged_release(&saved);
}

/* ---- what inputs hold, a column since schema 7 ---- */

static void add_zeros(const char *path)
{
    struct store *s = open_store(path, STORE_WRITE);
    struct launch launch = { .seq = 0, .started_ms = 1790000000000 };
    struct measurement m = sample_measurement(1);
    struct run run = sample_run();
    struct error err;
    int64_t id;

    assert_ok(benchmark_name_parse("null/copy/right/fp32/batch=1/fake/warm+zeros", &m.bench, &err),
              &err);
    assert_ok(store_begin_run(s, &run, &err), &err);
    assert_ok(store_begin_launch(s, run.id, &launch, &id, &err), &err);
    assert_ok(store_add_measurement(s, id, &m, &err), &err);
    assert_ok(store_end_run(s, run.id, run.started_ms + 1, &err), &err);
    measurement_release(&m);
    run_release(&run);
    store_close(s);
}

static void assert_fills(const char *path, int own, int zeros)
{
    assert_int_equal(count_in(path, "SELECT count(*) FROM benchmark WHERE fill = ''"), own);
    assert_int_equal(count_in(path,
                              "SELECT count(*) FROM benchmark WHERE fill = 'zeros' AND cache "
                              "= 'warm' AND key LIKE '%/warm+zeros'"),
                     zeros);
    assert_int_equal(count_in(path, "SELECT count(*) FROM benchmark"), own + zeros);
    assert_sound(path);
}

/* Read as they are, upgraded, merged and salvaged. */
SCRATCH_TEST(test_fill)
{
    char old[160], to[160];

    path_in(*state, "old.db", old);
    path_in(*state, "to.db", to);
    for (int version = 1; version < SCHEMA_FILL; version++) {
        remove(old);
        make_version(old, version);
        assert_fills(old, 1, 0);
        assert_int_equal(count_in(old, "PRAGMA user_version"), version);
        add_zeros(old);
        assert_int_equal(count_in(old, "PRAGMA user_version"), SCHEMA_NOW);
        assert_fills(old, 1, 1);
        merge_into_new(to, old);
        assert_fills(to, 1, 1);
        salvage_into_new(to, old);
        assert_fills(to, 1, 1);
    }
}

/* ---- when a head was measured, columns since schema 8 ---- */

static void assert_seen(const char *path, int64_t seen_ms)
{
    struct store *s = open_store(path, STORE_READ);
    struct store_acceptances accepted = { 0 };
    struct store_comparison c;
    struct error err;

    assert_ok(store_acceptance_list(s, NULL, &accepted, &err), &err);
    assert_int_equal(accepted.nr, 1);
    assert_int_equal(accepted.items[0].seen_ms, seen_ms);
    assert_int_equal(accepted.items[0].accepted_ms, 5);
    store_acceptances_release(&accepted);
    assert_ok(store_comparison_load(s, 1, &c, &err), &err);
    assert_int_equal(c.head_ms, seen_ms);
    assert_int_equal(c.exit_status, 3);
    store_comparison_release(&c);
    store_close(s);
    assert_sound(path);
}

/* Nobody wrote it down: read, upgraded, merged and salvaged it is not known. */
static void test_seen_of_older_versions(void **state)
{
    char old[160], to[160];

    path_in(*state, "old.db", old);
    path_in(*state, "to.db", to);
    for (int version = SCHEMA_VERDICTS; version < SCHEMA_SEEN; version++) {
        remove(old);
        make_version(old, version);
        execute_in(old,
                   "INSERT INTO comparison VALUES (1, '00000009-0000-4000-8000-000000000009', "
                   "4, 2, '0.1.0', 'a', 'b', '', '', '{}', 3);"
                   "INSERT INTO acceptance VALUES (1, 'k', 'p50', '', '', 0.1, 'why', 'me', "
                   "5)");
        assert_seen(old, 0);
        assert_int_equal(count_in(old, "PRAGMA user_version"), version);
        merge_into_new(to, old);
        assert_seen(to, 0);
        salvage_into_new(to, old);
        assert_seen(to, 0);
        store_close(open_store(old, STORE_WRITE));
        assert_int_equal(count_in(old, "PRAGMA user_version"), SCHEMA_NOW);
        assert_seen(old, 0);
    }
}

/* ---- a history that an older program made, tests/fixtures/older ---- */

static void unpack(const char *name, const char *to)
{
    char packed[256], bytes[4096];
    int nr;

    snprintf(packed, sizeof(packed), HARNESS_SOURCE_DIR "/tests/fixtures/older/%s.gz", name);
    gzFile in = gzopen(packed, "rb");
    FILE *out = fopen(to, "wb");
    assert_true(in && out);
    while ((nr = gzread(in, bytes, sizeof(bytes))) > 0)
        assert_int_equal(fwrite(bytes, 1, (size_t)nr, out), nr);
    assert_int_equal(nr, 0);
    assert_int_equal(gzclose(in), Z_OK);
    assert_int_equal(fclose(out), 0);
}

/* What that program exported of it, and what is known of each of its runs. */
static void load_expected(const struct scratch *scratch, struct records *expected)
{
    static const struct legacy_run known[] = {
        { .label = "plain", .kind = RUN_MEASURED },
        { .label = "selftest x", .kind = RUN_TRIAL },
        { .label = "forward", .kind = RUN_MEASURED },
        { .label = "", .shard = { "monday", 1, 2, "cdaeccdec4550388" } },
        { .label = "", .shard = { "monday", 2, 2, "cdaeccdec4550388" } },
        { .label = "ab base",
          .kind = RUN_TRIAL,
          .ab = { "a8406765-e19f-4c34-8ea0-cfaa4bdf96a1", "base", 2 } },
        { .label = "ab head",
          .kind = RUN_TRIAL,
          .ab = { "a8406765-e19f-4c34-8ea0-cfaa4bdf96a1", "head", 2 } },
        { .label = "profiled", .kind = RUN_PROFILE },
        { .label = "imported", .kind = RUN_IMPORTED },
        { .label = "slow", .kind = RUN_MEASURED },
    };
    char path[160];
    struct error err;

    path_in(scratch, "export.json", path);
    unpack("export.json", path);
    cJSON *json = json_parse_file(path, FILE_RECORDS_MOST, &err);
    assert_non_null(json);
    assert_ok(records_from_json(json, expected, &err), &err);
    cJSON_Delete(json);
    assert_int_equal(expected->nr_runs, sizeof(known) / sizeof(known[0]));
    for (size_t i = 0; i < expected->nr_runs; i++)
        assert_run_is(&expected->runs[i], &known[i]);
}

/* Its run of the same uuid, with all measurements, as one text. */
static char *text_of_run(const struct records *records, const char *uuid, size_t *nr)
{
    cJSON *list = cJSON_CreateArray();

    *nr = 0;
    for (size_t i = 0; i < records->nr_runs; i++)
        if (strcmp(records->runs[i].uuid, uuid) == 0)
            cJSON_AddItemToArray(list, run_to_json(&records->runs[i]));
    for (size_t i = 0; i < records->nr; i++)
        if (strcmp(records->runs[records->items[i].run].uuid, uuid) == 0) {
            cJSON *m = measurement_to_json(&records->items[i].m);
            json_add_int(m, "launch", records->items[i].launch_seq);
            cJSON_AddItemToArray(list, m);
            ++*nr;
        }
    char *text = cJSON_PrintUnformatted(list);
    cJSON_Delete(list);
    return text;
}

static void load_all(const char *path, struct records *records)
{
    struct store *s = open_store(path, STORE_READ);
    struct records runs = { 0 };
    int64_t ids[32];
    struct error err;

    assert_ok(store_finished_runs(s, NULL, &runs, &err), &err);
    assert_in_range(runs.nr_runs, 1, 32);
    for (size_t i = 0; i < runs.nr_runs; i++)
        ids[i] = runs.runs[i].id;
    assert_ok(store_load(s, ids, runs.nr_runs, NULL, records, &err), &err);
    records_release(&runs);
    store_close(s);
}

static void assert_holds(const char *path, const struct records *expected)
{
    struct records found = { 0 };
    size_t of_all = 0;

    assert_sound(path);
    load_all(path, &found);
    assert_int_equal(found.nr_runs, expected->nr_runs);
    assert_int_equal(found.nr, expected->nr);
    for (size_t i = 0; i < expected->nr_runs; i++) {
        size_t a_nr, b_nr;
        char *a = text_of_run(expected, expected->runs[i].uuid, &a_nr);
        char *b = text_of_run(&found, expected->runs[i].uuid, &b_nr);
        assert_int_equal(a_nr, b_nr);
        assert_string_equal(a, b);
        of_all += a_nr;
        free(a);
        free(b);
    }
    assert_int_equal(of_all, expected->nr);
    records_release(&found);
}

/* What people said, and what was decided. */
static void assert_words(const char *path)
{
    assert_int_equal(count_in(path, "SELECT count(*) FROM baseline_run WHERE run = 1"), 1);
    assert_int_equal(count_in(path, "SELECT count(*) FROM acceptance"), 1);
    assert_int_equal(count_in(path, "SELECT count(*) FROM annotation WHERE run = 1"), 1);
    assert_int_equal(count_in(path, "SELECT count(*) FROM comparison"), 2);
    assert_int_equal(count_in(path, "SELECT count(*) FROM verdict"), 3);
}

static void restore(const char *path, const char *backup)
{
    struct store_restored restored;
    struct error err;

    assert_ok(store_restore(path, backup, NULL, &restored, &err), &err);
    store_restored_release(&restored);
}

/* As it is, upgraded, merged, salvaged and restored: nothing is lost, all of it says the same. */
static void test_of_an_older_program(void **state)
{
    struct records expected = { 0 };
    struct store_merged merged = { 0 };
    struct salvaged saved;
    char old[160], other[4][160];
    struct error err;

    load_expected(*state, &expected);
    path_in(*state, "old.db", old);
    for (int i = 0; i < 4; i++) {
        char name[16];
        snprintf(name, sizeof(name), "%d.db", i);
        path_in(*state, name, other[i]);
    }
    unpack("history.db", old);
    assert_holds(old, &expected);
    assert_words(old);
    assert_int_equal(count_in(old, "PRAGMA user_version"), 3);
    struct store *s = open_store(other[0], STORE_WRITE);
    assert_ok(store_merge(s, old, &merged, &err), &err);
    store_merged_release(&merged);
    store_close(s);
    assert_holds(other[0], &expected);
    assert_ok(store_salvage(old, other[1], &saved, &err), &err);
    salvaged_release(&saved);
    assert_holds(other[1], &expected);
    assert_words(other[1]);
    restore(other[2], old);
    assert_holds(other[2], &expected);
    assert_words(other[2]);
    store_close(open_store(old, STORE_WRITE));
    assert_int_equal(count_in(old, "PRAGMA user_version"), SCHEMA_NOW);
    assert_holds(old, &expected);
    assert_words(old);
    s = open_store(old, STORE_READ);
    assert_ok(store_backup(s, other[3], &err), &err);
    store_close(s);
    assert_holds(other[3], &expected);
    records_release(&expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(test_read_and_upgraded),
        scratch_test(test_merged),
        scratch_test(test_salvaged),
        scratch_test(test_late_rows),
        scratch_test(test_label_is_a_word),
        scratch_test(test_of_an_older_program),
        scratch_test(test_fill),
        scratch_test(test_seen_of_older_versions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
