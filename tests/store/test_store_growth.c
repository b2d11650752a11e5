/* SPDX-License-Identifier: MIT */
/* What keeps a long history quick: the questions that commands ask go through an index, whatever
 * its size. Plans, not times: those are in docs/scale.md. Clocks that jump. Features: U-05, U-12.
 */
#include "store_histories.h"

#include "knocks.h"
#include "query/query.h"
#include "query/ref.h"
#include "store/annotations.h"
#include "store/verdicts.h"

static int ignore(void *context, size_t run, int launch, struct measurement *m, struct error *err)
{
    (void)run;
    (void)launch;
    (void)m;
    (void)err;
    ++*(size_t *)context;
    return 0;
}

/* Every prepared statement's plan; fails at one that passes by all of `table`. */
static void assert_no_scan_of(struct store *s, const char *table)
{
    size_t looked_at = 0;

    for (size_t i = 0; i < s->cache.nr; i++) {
        struct strbuf explain;
        sqlite3_stmt *plan;
        strbuf_init(&explain);
        strbuf_addf(&explain, "EXPLAIN QUERY PLAN %s", s->cache.items[i].text);
        bool is_pragma = strncmp(s->cache.items[i].text, "PRAGMA", 6) == 0;
        if (!is_pragma) {
            assert_int_equal(sqlite3_prepare_v2(s->db, explain.data, -1, &plan, NULL), SQLITE_OK);
            while (sqlite3_step(plan) == SQLITE_ROW) {
                const char *step = (const char *)sqlite3_column_text(plan, 3);
                char word[64];
                snprintf(word, sizeof(word), "SCAN %s", table);
                size_t length = strlen(word);
                const char *at = strstr(step, word);
                if (at && (at[length] == '\0' || at[length] == ' '))
                    fail_msg("%s: %s", step, s->cache.items[i].text);
            }
            sqlite3_finalize(plan);
            looked_at++;
        }
        strbuf_release(&explain);
    }
    assert_true(looked_at > 0);
}

static struct store *grown(void **state, enum store_mode mode)
{
    char path[160];

    path_in(*state, "h.db", path);
    if (!file_exists(path))
        make_runs(path, 0, 30, 7);
    return open_store(path, mode);
}

static const char *const one_key[] = { "gemm/linear/simd/fp32/batch=3/cpu-2t/warm" };
static const struct store_filter one = { .keys = one_key, .nr_keys = 1 };

SCRATCH_TEST(test_reading)
{
    struct store *s = grown(state, STORE_READ);
    struct ref_runs runs;
    struct records records = { 0 };
    struct store_listing listing = { 0 };
    struct error err;
    size_t nr = 0, all = 0;
    struct store_sink sink = { &nr, ignore }, every = { &all, ignore };

    assert_ok(ref_resolve(s, "branch:main", NULL, &runs, &err), &err);
    assert_int_equal(runs.nr, 30);
    assert_ok(store_load(s, runs.ids, 2, NULL, &records, &err), &err);
    assert_ok(store_load(s, runs.ids, 2, &one, &records, &err), &err);
    assert_ok(store_scan(s, runs.ids, runs.nr, &one, &sink, &err), &err);
    assert_ok(store_scan(s, runs.ids, runs.nr, NULL, &every, &err), &err);
    assert_int_equal(nr, 60); /* once a launch */
    assert_int_equal(all, 30 * 14);
    assert_ok(store_list_runs(s, NULL, 20, &listing, &err), &err);
    assert_no_scan_of(s, "measurement");
    assert_no_scan_of(s, "m");
    assert_no_scan_of(s, "launch");
    assert_no_scan_of(s, "l");
    store_listing_release(&listing);
    records_release(&records);
    ref_runs_release(&runs);
    store_close(s);
}

/* One benchmark's measurements are looked up among a launch's, not picked out of all. */
SCRATCH_TEST(test_one_series)
{
    struct store *s = grown(state, STORE_READ);
    struct records records = { 0 };
    struct error err;
    bool found = false;

    assert_ok(store_series(s, NULL, &one, &records, &err), &err);
    assert_int_equal(records.nr, 60);
    for (size_t i = 0; i < s->cache.nr && !found; i++) {
        struct strbuf explain;
        sqlite3_stmt *plan;
        if (!strstr(s->cache.items[i].text, "json_each"))
            continue;
        strbuf_init(&explain);
        strbuf_addf(&explain, "EXPLAIN QUERY PLAN %s", s->cache.items[i].text);
        assert_int_equal(sqlite3_prepare_v2(s->db, explain.data, -1, &plan, NULL), SQLITE_OK);
        while (sqlite3_step(plan) == SQLITE_ROW)
            found |= strstr((const char *)sqlite3_column_text(plan, 3),
                            "measurement_by_launch (launch=? AND benchmark=?)") != NULL;
        sqlite3_finalize(plan);
        strbuf_release(&explain);
    }
    assert_true(found);
    records_release(&records);
    store_close(s);
}

/* Few and many wanted: the same measurements in the same order. */
SCRATCH_TEST(test_few_are_as_many)
{
    static const char *const most[] = { "gemm/*/batch=[1-6]/*" };
    const struct store_filter many = { .filters = most, .nr_filters = 1 };
    struct store *s = grown(state, STORE_READ);
    struct records few = { 0 }, all = { 0 };
    struct error err;
    size_t at = 0;

    assert_ok(store_series(s, NULL, &one, &few, &err), &err);
    assert_ok(store_series(s, NULL, &many, &all, &err), &err);
    for (size_t i = 0; i < all.nr; i++) {
        if (strcmp(all.items[i].m.bench.key, one_key[0]) != 0)
            continue;
        assert_true(at < few.nr);
        assert_int_equal(few.items[at].run, all.items[i].run);
        assert_int_equal(few.items[at].launch_seq, all.items[i].launch_seq);
        assert_memory_equal(few.items[at].m.samples, all.items[i].m.samples,
                            all.items[i].m.nr_samples * sizeof(uint64_t));
        at++;
    }
    assert_int_equal(at, few.nr);
    records_release(&few);
    records_release(&all);
    store_close(s);
}

SCRATCH_TEST(test_writing)
{
    struct store *s = grown(state, STORE_WRITE);
    struct error err;

    add_run_of(s, 500, 5, NULL);
    assert_ok(store_annotate(s, 1, 1, "x", &err), &err);
    assert_no_scan_of(s, "measurement");
    assert_no_scan_of(s, "launch");
    assert_no_scan_of(s, "benchmark");
    assert_no_scan_of(s, "run");
    store_close(s);
}

/* ---- clocks ---- */

/* A clock that was set back: within a run launches and insertion make the order; between runs the
 * time that each believed in, and then the order of beginning. */
SCRATCH_TEST(test_clock_set_back)
{
    char path[160];
    struct records records = { 0 };
    struct store_listing listing = { 0 };
    struct ref_runs runs;
    struct error err;

    path_in(*state, "h.db", path);
    struct store *s = open_store(path, STORE_WRITE);
    for (int i = 0; i < 3; i++)
        add_run_of(s, 1, 3, NULL); /* at one and the same time */
    int64_t early = add_run_of(s, 0, 3, NULL);
    store_close(s);
    execute_in(path,
               "UPDATE measurement SET started_ms = -id * 1000;"
               "UPDATE launch SET started_ms = 9000000 - seq * 1000, ended_ms = 1;"
               "UPDATE run SET ended_ms = started_ms - 3600000");
    s = open_store(path, STORE_READ);
    assert_ok(store_list_runs(s, NULL, 0, &listing, &err), &err);
    assert_int_equal(listing.nr, 4);
    for (int i = 0; i < 3; i++)
        assert_int_equal(listing.items[i].run.id, 3 - i);
    assert_int_equal(listing.items[3].run.id, early);
    assert_ok(ref_resolve(s, "latest", NULL, &runs, &err), &err);
    assert_int_equal(runs.ids[0], 3);
    assert_ok(store_series(s, NULL, NULL, &records, &err), &err);
    assert_int_equal(records.runs[0].id, early);
    for (size_t i = 1; i < records.nr; i++) {
        const struct record *a = &records.items[i - 1], *b = &records.items[i];
        assert_true(a->run < b->run || (a->run == b->run && a->launch_seq <= b->launch_seq));
        if (a->run == b->run && a->launch_seq == b->launch_seq)
            assert_true(a->m.started_ms > b->m.started_ms); /* as inserted */
    }
    records_release(&records);
    ref_runs_release(&runs);
    store_listing_release(&listing);
    store_close(s);
    assert_sound(path);
    knock("a clock set back: runs, launches, samples", 3, 3, "the order is that of beginning");
}

/* ---- sweeps ---- */

static int64_t add_shard(struct store *s, unsigned number, const char *sweep, unsigned index,
                         unsigned count)
{
    struct run run = sample_run();
    struct error err;

    run.started_ms += (int64_t)number * 3600000;
    run.shard.index = index;
    run.shard.count = count;
    snprintf(run.shard.sweep, sizeof(run.shard.sweep), "%s", sweep);
    assert_ok(store_begin_run(s, &run, &err), &err);
    assert_ok(store_end_run(s, run.id, run.started_ms + 5000, &err), &err);
    return run.id;
}

static void expect_runs(struct store *s, const char *ref, const int64_t *ids, size_t nr)
{
    struct ref_runs runs;
    struct error err;

    assert_ok(ref_resolve(s, ref, NULL, &runs, &err), &err);
    assert_int_equal(runs.nr, nr);
    for (size_t i = 0; i < nr; i++)
        assert_int_equal(runs.ids[i], ids[i]);
    ref_runs_release(&runs);
}

/* "latest" is the whole sweep, each shard once; what did not end does not count. */
SCRATCH_TEST(test_shards)
{
    char path[160];
    struct error err;

    path_in(*state, "h.db", path);
    struct store *s = open_store(path, STORE_WRITE);
    int64_t whole = add_run_of(s, 0, 2, NULL);
    int64_t other = add_shard(s, 1, "monday", 1, 2);
    int64_t one_of = add_shard(s, 2, "tuesday", 1, 3);
    int64_t twice = add_shard(s, 3, "tuesday", 2, 3);
    int64_t again = add_shard(s, 4, "tuesday", 2, 3);
    int64_t dead = add_shard(s, 5, "tuesday", 3, 3);
    int64_t last = add_shard(s, 6, "tuesday", 3, 3);
    assert_ok(store_end_run(s, dead, 0, &err), &err);
    expect_runs(s, "latest", (const int64_t[]) { one_of, again, last }, 3);
    expect_runs(s, "tuesday", (const int64_t[]) { one_of, again, last }, 3);
    expect_runs(s, "sweep:monday", &other, 1);
    int64_t newest = add_shard(s, 7, "", 1, 2); /* of no named sweep */
    expect_runs(s, "latest", &newest, 1);
    assert_true(whole < twice);
    store_close(s);
}

RUN_TESTS(NULL, NULL)
