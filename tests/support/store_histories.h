/* SPDX-License-Identifier: MIT */
/* Whole histories for test_store_*.c: small ones made to order, ones of older versions, and all
 * that one holds as a text. */
#ifndef HARNESS_TESTS_STORE_HISTORIES_H
#define HARNESS_TESTS_STORE_HISTORIES_H

#include "history/verify.h"
#include "test_store.h"

#include "base/array.h"
#include "base/file.h"
#include "base/json.h"
#include "base/resource.h"
#include "base/strbuf.h"
#include "store/schema.h"
#include "store/sql.h"

static inline void path_in(const struct scratch *scratch, const char *name, char path[160])
{
    snprintf(path, 160, "%s/%s", scratch->folder, name);
}

static inline struct store *open_store(const char *path, enum store_mode mode)
{
    struct error err;
    struct store *s;

    assert_ok(store_open(&s, path, mode, &err), &err);
    return s;
}

/* Measurements [from, from + nr) in a launch of that number. */
static inline void add_launch_of(struct store *s, int64_t run, int seq, unsigned from, unsigned nr)
{
    struct launch launch = { .seq = seq, .started_ms = 1790000000000 + seq };
    struct error err;
    int64_t id;

    assert_ok(store_begin_launch(s, run, &launch, &id, &err), &err);
    for (unsigned i = from; i < from + nr; i++) {
        struct measurement m = sample_measurement(i);
        measurement_add_telemetry(&m, "cpu_mhz", 2400 + i);
        assert_ok(store_add_measurement(s, id, &m, &err), &err);
        measurement_release(&m);
    }
    launch.ended_ms = launch.started_ms + 1;
    assert_ok(store_end_launch(s, id, &launch, &err), &err);
}

/* A finished run with two launches; `number` makes it unlike others. Gives its id. */
static inline int64_t add_run_of(struct store *s, unsigned number, unsigned results,
                                 const char *settings)
{
    struct run run = sample_run();
    struct error err;

    run.started_ms += (int64_t)number * 3600000;
    run.settings = memory_string(settings);
    assert_ok(store_begin_run(s, &run, &err), &err);
    for (int seq = 0; seq < 2; seq++)
        add_launch_of(s, run.id, seq, 100 * number + 10 * (unsigned)seq, results);
    assert_ok(store_end_run(s, run.id, run.started_ms + 5000, &err), &err);
    run_release(&run);
    return run.id;
}

static inline void make_runs(const char *path, unsigned first, unsigned nr, unsigned results)
{
    struct store *s = open_store(path, STORE_WRITE);

    for (unsigned i = 0; i < nr; i++)
        add_run_of(s, first + i, results, NULL);
    store_close(s);
}

/* All runs with all that belongs to them, in order of time, without the numbers of rows. */
static inline char *all_runs_as_text(const char *path)
{
    struct store_listing listing = { 0 };
    struct store *s = open_store(path, STORE_READ);
    struct strbuf text;
    struct error err;

    strbuf_init(&text);
    assert_ok(store_list_runs(s, NULL, 0, &listing, &err), &err);
    for (size_t i = 0; i < listing.nr; i++) {
        struct records records = { 0 };
        assert_ok(store_load(s, &listing.items[i].run.id, 1, NULL, &records, &err), &err);
        char *json = json_take_text(records_to_json(&records));
        strbuf_addf(&text, "%s\n", json);
        free(json);
        records_release(&records);
    }
    store_listing_release(&listing);
    store_close(s);
    return strbuf_detach(&text);
}

static inline int64_t count_in(const char *path, const char *query)
{
    struct store *s = open_store(path, STORE_READ);
    struct error err;
    int64_t nr;

    assert_ok(sql_one_int(s, query, &nr, &err), &err);
    store_close(s);
    return nr;
}

static inline void assert_sound(const char *path)
{
    struct store *s = open_store(path, STORE_READ);
    struct store_health health;
    struct error err;

    assert_ok(store_verify(s, &health, &err), &err);
    store_close(s);
}

static inline void assert_same_bytes(const char *path, const char *expected, size_t length)
{
    struct error err;
    size_t found;
    char *bytes = file_read(path, FILE_RECORDS_MOST, &found, &err);

    assert_non_null(bytes);
    assert_int_equal(found, length);
    assert_memory_equal(bytes, expected, length);
    free(bytes);
}

/* A file as a harness of that version made it: by the very scripts, which never change. It has one
 * finished run with one measurement of three samples. */
static inline void make_version(const char *path, int version)
{
    static const char *const scripts[] = {
        "store/schema.sql",   "store/schema_2.sql", "store/schema_3.sql", "store/schema_4.sql",
        "store/schema_5.sql", "store/schema_6.sql", "store/schema_7.sql",
    };
    static const char rows[] =
        "INSERT INTO machine VALUES (1, '0123456789abcdef', 'class-a', 'A CPU', 2, 4, 'avx2', 1, "
        "2, 3, 4, 5, '');"
        "INSERT INTO build VALUES (1, '0.1.0', '1f3a9c2d4e5f60718293a4b5c6d7e8f901234567', 'main', "
        "0, 'gcc', '-O2', 'Release');"
        "INSERT INTO run (id, uuid, machine, build, started_ms, ended_ms, suite, label) VALUES (7, "
        "'aaaaaaaa-0000-4000-8000-000000000001', 1, 1, 1700000000000, 1700000000001, 'quick', '');"
        "INSERT INTO launch VALUES (1, 7, 0, 1700000000000, 1700000000001, 0, NULL);"
        "INSERT INTO benchmark (id, key, kernel, variant, math, device, cache) VALUES (1, "
        "'null/copy/right/fp32/batch=1/fake/warm', 'null/copy', "
        "'right', 'fp32', 'fake', 'warm');"
        "INSERT INTO benchmark_dim VALUES (1, 0, 'batch', 1);"
        "INSERT INTO measurement (id, launch, benchmark, outcome, message, vendor, max_error, "
        "tolerance, checked, flops, bytes, footprint, batch, stop, warmups, clock, started_ms, "
        "seconds, telemetry, nr_samples, samples) VALUES (1, 1, 1, 'OK', NULL, 0, 0.0, 0.0, 1.0, "
        "1.0, 1.0, 1, 1, "
        "'samples', 0, 'fake', 1700000000000, 0.1, NULL, 3, x'0103d8040104');"
        "INSERT INTO baseline VALUES (1, 'old', 1700000000002, NULL);"
        "INSERT INTO baseline_run VALUES (1, 7);";
    struct strbuf sql;
    struct error err;

    assert_ok(file_make_parent(path, &err), &err);
    strbuf_init(&sql);
    for (int i = 0; i < version; i++)
        strbuf_adds(&sql, resource_find(scripts[i])->data);
    strbuf_addf(&sql, "%s%s PRAGMA application_id = %d; PRAGMA user_version = %d;", rows,
                version >= SCHEMA_FACTS ? "UPDATE run SET kind = 'measured';" : "",
                SCHEMA_APPLICATION_ID, version);
    execute_in(path, sql.data);
    strbuf_release(&sql);
}

#endif
