/* SPDX-License-Identifier: MIT */
/* Files that are no history, damaged, newer, older, read-only or full: a clear error, and nothing
 * written over. Backups and checks. Features: U-05. */
#include "history/restore.h"
#include "history/verify.h"
#include "query/ref.h"
#include "test_store.h"

#include "as_nobody.h"
#include "base/file.h"
#include "knocks.h"
#include "store/schema.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* A small history with some measurements; gives the run's id. */
static int64_t make_history(const char *path, unsigned nr)
{
    struct error err;
    struct store *s;
    struct run run = sample_run();
    struct launch launch = { .seq = 0 };
    int64_t launch_id;

    assert_ok(store_open(&s, path, STORE_WRITE, &err), &err);
    assert_ok(store_begin_run(s, &run, &err), &err);
    assert_ok(store_begin_launch(s, run.id, &launch, &launch_id, &err), &err);
    for (unsigned i = 0; i < nr; i++) {
        struct measurement m = sample_measurement(i);
        assert_ok(store_add_measurement(s, launch_id, &m, &err), &err);
        measurement_release(&m);
    }
    assert_ok(store_end_run(s, run.id, 1, &err), &err);
    store_close(s);
    return run.id;
}

/* Both modes refuse the file, say why, and leave every byte and no company. */
static void assert_refused(const char *path, const char *reason)
{
    static const char *const beside[] = { "-wal", "-shm", "-journal" };
    struct error err;
    size_t length, length_after;
    char *before = file_read(path, FILE_RECORDS_MOST, &length, &err);

    assert_non_null(before);
    for (int mode = STORE_READ; mode <= STORE_WRITE; mode++) {
        struct store *s = (struct store *)&err;
        assert_int_equal(store_open(&s, path, (enum store_mode)mode, &err), -1);
        assert_null(s);
        if (!strstr(err.message, reason) || !strstr(err.message, path))
            fail_msg("\"%s\" is not in: %s", reason, err.message);
        char *after = file_read(path, FILE_RECORDS_MOST, &length_after, &err);
        assert_int_equal(length_after, length);
        assert_memory_equal(after, before, length);
        free(after);
    }
    free(before);
    for (size_t i = 0; i < 3; i++) {
        char name[160];
        snprintf(name, sizeof(name), "%s%s", path, beside[i]);
        assert_false(file_exists(name));
    }
}

static void write_text(const char *path, const char *text, size_t length)
{
    struct error err;

    assert_ok(file_make_parent(path, &err), &err);
    assert_ok(file_write(path, text, length, &err), &err);
}

SCRATCH_TEST(test_absent_and_empty)
{
    const struct scratch *scratch = *state;
    struct error err;
    struct store *s;

    assert_int_equal(store_open(&s, scratch->path, STORE_READ, &err), -1);
    assert_non_null(strstr(err.message, "no history yet"));
    assert_false(file_exists(scratch->path));
    assert_false(store_is_database(scratch->path) || store_is_database(scratch->folder));
    assert_int_equal(store_open(&s, scratch->folder, STORE_WRITE, &err), -1);
    assert_non_null(strstr(err.message, "folder"));
    assert_int_equal(store_open(&s, "", STORE_WRITE, &err), -1);
    write_text(scratch->path, "", 0);
    assert_int_equal(store_open(&s, scratch->path, STORE_READ, &err), -1);
    assert_non_null(strstr(err.message, "empty"));
    assert_false(store_is_database(scratch->path));
    make_history(scratch->path, 1); /* an empty file may become one */
    assert_true(store_is_database(scratch->path));
}

SCRATCH_TEST(test_text_file)
{
    const struct scratch *scratch = *state;
    char text[5000];

    memset(text, 'x', sizeof(text));
    write_text(scratch->path, text, sizeof(text));
    assert_refused(scratch->path, "not an SQLite database");
    assert_false(store_is_database(scratch->path));
    write_text(scratch->path, "hi\n", 3);
    assert_refused(scratch->path, "not an SQLite database");
    assert_false(store_is_database(scratch->path));
}

SCRATCH_TEST(test_foreign_database)
{
    const struct scratch *scratch = *state;

    write_text(scratch->path, "", 0);
    execute_in(scratch->path,
               "PRAGMA journal_mode = WAL; CREATE TABLE mail (text); "
               "INSERT INTO mail VALUES ('dear')");
    assert_refused(scratch->path, "not a history of harness");
}

SCRATCH_TEST(test_newer_schema)
{
    const struct scratch *scratch = *state;

    make_history(scratch->path, 1);
    execute_in(scratch->path, "PRAGMA user_version = 4711");
    assert_refused(scratch->path, "schema 4711");
}

SCRATCH_TEST(test_truncated)
{
    const struct scratch *scratch = *state;
    struct stat st;

    make_history(scratch->path, 40);
    assert_int_equal(stat(scratch->path, &st), 0);
    assert_int_equal(truncate(scratch->path, st.st_size / 2), 0);
    assert_refused(scratch->path, "damaged");
    assert_int_equal(truncate(scratch->path, 200), 0);
    assert_refused(scratch->path, "damaged");
    assert_int_equal(truncate(scratch->path, 50), 0);
    assert_refused(scratch->path, "history");
    knock("a history that was cut off", 3, 3, "refused, and left as it is");
}

SCRATCH_TEST(test_damaged_header)
{
    const struct scratch *scratch = *state;

    make_history(scratch->path, 4);
    int fd = open(scratch->path, O_WRONLY);
    assert_int_equal(pwrite(fd, "\0\0\0\0\0\0\0\0", 8, 0), 8);
    close(fd);
    assert_refused(scratch->path, "not an SQLite database");
}

SCRATCH_TEST(test_verify_finds_damage)
{
    static const char *const damages[] = {
        "UPDATE measurement SET samples = x'0105' WHERE id = 2",
        "UPDATE measurement SET nr_samples = 7 WHERE id = 2",
        "UPDATE measurement SET telemetry = '[' WHERE id = 2",
        "UPDATE measurement SET outcome = 'FINE' WHERE id = 2",
        "UPDATE measurement SET launch = 99 WHERE id = 2",
    };
    const struct scratch *scratch = *state;
    struct error err;
    struct store *s;
    struct store_health health;

    for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
        remove(scratch->path);
        make_history(scratch->path, 3);
        assert_ok(store_open(&s, scratch->path, STORE_READ, &err), &err);
        assert_ok(store_verify(s, &health, &err), &err);
        assert_true(health.runs == 1 && health.launches == 1 && health.measurements == 3 &&
                    health.samples == 600 && health.problems == 0);
        store_close(s);
        execute_in(scratch->path, damages[i]);
        assert_ok(store_open(&s, scratch->path, STORE_READ, &err), &err);
        assert_int_equal(store_verify(s, &health, &err), -1);
        assert_true(health.problems > 0);
        assert_non_null(strstr(err.message, "problem"));
        store_close(s);
    }
    long nr = sizeof(damages) / sizeof(damages[0]);
    knock("a wrong row in a sound file", nr, nr, "`history verify` finds it");
}

SCRATCH_TEST(test_verify_finds_torn_pages)
{
    const struct scratch *scratch = *state;
    struct error err;
    struct store *s;
    struct store_health health;
    struct stat st;
    char junk[4096];

    make_history(scratch->path, 60);
    memset(junk, 0x5a, sizeof(junk));
    assert_int_equal(stat(scratch->path, &st), 0);
    int fd = open(scratch->path, O_WRONLY);
    assert_int_equal(pwrite(fd, junk, sizeof(junk), st.st_size - 2 * 4096), sizeof(junk));
    close(fd);
    assert_ok(store_open(&s, scratch->path, STORE_READ, &err), &err);
    assert_int_equal(store_verify(s, &health, &err), -1);
    store_close(s);
    knock("a page overwritten", 1, 1, "`history verify` finds it");
}

static void assert_one_int(struct store *s, const char *query, int64_t expected)
{
    struct error err;
    int64_t found;

    assert_ok(sql_one_int(s, query, &found, &err), &err);
    assert_int_equal(found, expected);
}

/* A history of the newest version goes through two made-up ones. */
SCRATCH_TEST(test_upgrade)
{
    static const char *const scripts[] = {
        "",
        "",
        "",
        "",
        "",
        "",
        "",
        "",
        "ALTER TABLE run ADD COLUMN mood TEXT NOT NULL DEFAULT 'good'",
        "UPDATE run SET mood = mood || ' again'",
    };
    const struct scratch *scratch = *state;
    struct error err;
    struct store *s;

    make_history(scratch->path, 2);
    assert_ok(store_open(&s, scratch->path, STORE_WRITE, &err), &err);
    assert_ok(schema_apply(s, scripts, 10, &err), &err);
    assert_ok(schema_apply(s, scripts, 10, &err), &err); /* a second time does nothing */
    assert_one_int(s, "SELECT count(*) FROM run WHERE mood = 'good again'", 1);
    assert_one_int(s, "SELECT count(*) FROM measurement", 2);
    assert_one_int(s, "PRAGMA user_version", 10);
    assert_int_equal(schema_apply(s, scripts, 9, &err), -1);
    assert_non_null(strstr(err.message, "schema 10"));
    store_close(s);
    assert_refused(scratch->path, "newer harness");
}

SCRATCH_TEST(test_failed_upgrade_changes_nothing)
{
    static const char *const failing[] = {
        "",
        "",
        "",
        "",
        "",
        "",
        "",
        "",
        "ALTER TABLE run ADD COLUMN mood TEXT; CREATE TABLE x (y); INSERT INTO nowhere VALUES (1)",
    };
    static const char *const dangling[] = {
        "", "", "", "", "", "", "", "", "INSERT INTO baseline_run VALUES (8, 9)",
    };
    const struct scratch *scratch = *state;
    struct error err;
    struct store *s;

    make_history(scratch->path, 2);
    assert_ok(store_open(&s, scratch->path, STORE_WRITE, &err), &err);
    assert_int_equal(schema_apply(s, failing, 9, &err), -1);
    assert_non_null(strstr(err.message, "from schema 8 to 9"));
    assert_one_int(s, "SELECT count(*) FROM sqlite_master WHERE name = 'x'", 0);
    assert_ok(sql_execute(s, "PRAGMA foreign_keys = OFF", &err), &err);
    assert_int_equal(schema_apply(s, dangling, 9, &err), -1);
    assert_non_null(strstr(err.message, "baseline_run"));
    assert_one_int(s, "SELECT count(*) FROM baseline_run", 0);
    assert_one_int(s, "PRAGMA user_version", 8);
    store_close(s);
}

/* A file without tables yet: reading asks for an upgrade, writing does it. */
SCRATCH_TEST(test_older_schema)
{
    const struct scratch *scratch = *state;
    char script[64];
    struct error err;
    struct store *s;

    write_text(scratch->path, "", 0);
    snprintf(script, sizeof(script), "PRAGMA application_id = %d", SCHEMA_APPLICATION_ID);
    execute_in(scratch->path, script);
    assert_int_equal(store_open(&s, scratch->path, STORE_READ, &err), -1);
    assert_non_null(strstr(err.message, "older harness"));
    assert_ok(store_open(&s, scratch->path, STORE_WRITE, &err), &err);
    store_close(s);
    assert_ok(store_open(&s, scratch->path, STORE_READ, &err), &err);
    store_close(s);
}

/* ---- permissions: in a child that is not root ---- */

static int write_must_fail(const char *path, char *message, size_t size)
{
    struct error err = { "" };
    struct store *s;
    int rc = store_open(&s, path, STORE_WRITE, &err);

    snprintf(message, size, "%s", err.message);
    store_close(s);
    return rc == -1 ? 0 : 1;
}

static int read_must_work(const char *path, char *message, size_t size)
{
    struct error err = { "" };
    struct records loaded = { .nr = 0 };
    struct ref_runs runs = { .nr = 0 };
    struct store *s;
    int rc = store_open(&s, path, STORE_READ, &err);

    if (rc == 0)
        rc = ref_resolve(s, "latest", NULL, &runs, &err);
    if (rc == 0)
        rc = store_load(s, runs.ids, runs.nr, NULL, &loaded, &err);
    snprintf(message, size, "%s", err.message);
    int ok = rc == 0 && loaded.nr == 5;
    records_release(&loaded);
    ref_runs_release(&runs);
    store_close(s);
    return ok ? 0 : 1;
}

static void set_modes(const struct scratch *scratch, mode_t folder, mode_t file)
{
    char sub[128];

    snprintf(sub, sizeof(sub), "%s/sub", scratch->folder);
    assert_int_equal(chmod(scratch->folder, 0755), 0);
    assert_int_equal(chmod(scratch->path, file), 0);
    assert_int_equal(chmod(sub, folder), 0);
}

SCRATCH_TEST(test_read_only)
{
    const struct scratch *scratch = *state;
    char message[1024];

    make_history(scratch->path, 5);
    set_modes(scratch, 0555, 0444);
    in_child(write_must_fail, scratch->path, message, sizeof(message));
    assert_non_null(strstr(message, "read-only"));
    in_child(read_must_work, scratch->path, message, sizeof(message));
    set_modes(scratch, 0777, 0444);
    in_child(write_must_fail, scratch->path, message, sizeof(message));
    assert_non_null(strstr(message, "read-only"));
    in_child(read_must_work, scratch->path, message, sizeof(message));
    set_modes(scratch, 0777, 0666); /* some of these files are now the child's */
    in_child(read_must_work, scratch->path, message, sizeof(message));
    set_modes(scratch, 0755, 0644);
}

SCRATCH_TEST(test_folder_not_writable)
{
    const struct scratch *scratch = *state;
    char message[1024];

    make_history(scratch->path, 5);
    set_modes(scratch, 0555, 0666);
    in_child(write_must_fail, scratch->path, message, sizeof(message));
    assert_non_null(strstr(message, "folder"));
    in_child(read_must_work, scratch->path, message, sizeof(message));
    set_modes(scratch, 0755, 0644);
}

/* ---- no room ---- */

/* Adds measurements until one is refused; gives how many were stored. */
static unsigned fill(struct store *s, int64_t launch_id, unsigned limit, struct error *err)
{
    for (unsigned i = 0; i < limit; i++) {
        struct measurement m = sample_measurement(i);
        int rc = store_add_measurement(s, launch_id, &m, err);
        measurement_release(&m);
        if (rc)
            return i;
    }
    return limit;
}

static int64_t begin_filling(struct store *s)
{
    struct error err;
    struct run run = sample_run();
    struct launch launch = { .seq = 0 };
    int64_t launch_id;

    assert_ok(store_begin_run(s, &run, &err), &err);
    assert_ok(store_begin_launch(s, run.id, &launch, &launch_id, &err), &err);
    return launch_id;
}

SCRATCH_TEST(test_full)
{
    const struct scratch *scratch = *state;
    struct error err;
    struct store *s;
    struct store_health health;

    assert_ok(store_open(&s, scratch->path, STORE_WRITE, &err), &err);
    int64_t launch_id = begin_filling(s);
    assert_ok(sql_execute(s, "PRAGMA max_page_count = 60", &err), &err);
    unsigned stored = fill(s, launch_id, 5000, &err);
    assert_in_range(stored, 1, 4999);
    assert_non_null(strstr(err.message, "disk is full"));
    assert_non_null(strstr(err.message, scratch->path));
    assert_ok(store_verify(s, &health, &err), &err);
    assert_int_equal(health.measurements, stored);
    assert_ok(sql_execute(s, "PRAGMA max_page_count = 1000", &err), &err);
    assert_int_equal(fill(s, launch_id, 10, &err), 10); /* room again: it goes on */
    knock("a database that may not grow", 1, 1, "%u stored measurements are kept, and it goes on",
          stored);
    store_close(s);
}

/* The system refuses to let files grow, as a quota would. */
SCRATCH_TEST(test_write_error)
{
    const struct scratch *scratch = *state;
    struct rlimit old, tight;
    struct error err;
    struct store *s;
    struct store_health health;

    assert_ok(store_open(&s, scratch->path, STORE_WRITE, &err), &err);
    int64_t launch_id = begin_filling(s);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    tight = (struct rlimit) { .rlim_cur = 400000, .rlim_max = old.rlim_max };
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    unsigned stored = fill(s, launch_id, 5000, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, handler);
    assert_in_range(stored, 1, 4999);
    assert_non_null(strstr(err.message, "writing failed"));
    assert_ok(store_verify(s, &health, &err), &err);
    assert_int_equal(health.measurements, stored);
    assert_int_equal(fill(s, launch_id, 10, &err), 10);
    knock("a quota reached while writing", 1, 1, "%u stored measurements are kept, and it goes on",
          stored);
    store_close(s);
}

SCRATCH_TEST(test_locked)
{
    const struct scratch *scratch = *state;
    struct error err;
    struct store *s;
    sqlite3 *other;
    struct run run = sample_run();

    assert_ok(store_open(&s, scratch->path, STORE_WRITE, &err), &err);
    sqlite3_busy_timeout(s->db, 50);
    assert_int_equal(sqlite3_open(scratch->path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(store_begin_run(s, &run, &err), -1);
    assert_non_null(strstr(err.message, "another process"));
    assert_int_equal(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    assert_ok(store_begin_run(s, &run, &err), &err);
    sqlite3_close(other);
    store_close(s);
}

static void assert_holds(const char *path, int64_t measurements)
{
    struct error err;
    struct store *s;
    struct store_health health;

    assert_ok(store_open(&s, path, STORE_READ, &err), &err);
    assert_ok(store_verify(s, &health, &err), &err);
    assert_int_equal(health.measurements, measurements);
    store_close(s);
}

SCRATCH_TEST(test_backup)
{
    const struct scratch *scratch = *state;
    char copy[160], wal[170];
    struct error err;
    struct store *s, *writer;

    make_history(scratch->path, 20);
    snprintf(copy, sizeof(copy), "%s/backups/copy.db", scratch->folder);
    snprintf(wal, sizeof(wal), "%s-wal", copy);
    assert_ok(store_open(&writer, scratch->path, STORE_WRITE, &err), &err);
    assert_int_equal(fill(writer, begin_filling(writer), 5, &err), 5); /* still in the log */
    assert_ok(store_open(&s, scratch->path, STORE_READ, &err), &err);
    assert_ok(store_backup(s, copy, &err), &err);
    assert_false(file_exists(wal));
    assert_int_equal(store_backup(s, copy, &err), -1);
    assert_non_null(strstr(err.message, "exists already"));
    store_close(s);
    store_close(writer);
    assert_holds(copy, 25);
    assert_ok(store_open(&s, copy, STORE_WRITE, &err), &err); /* a history like any other */
    assert_int_equal(fill(s, begin_filling(s), 5, &err), 5);
    store_close(s);
    assert_holds(copy, 30);
    assert_holds(scratch->path, 25);
}

SCRATCH_TEST(test_odd_names)
{
    static const char *const names[] = { "a b", "100%25?mode=memory#x", "file:x.db",
                                         "\xc3\xa9.db" };
    const struct scratch *scratch = *state;
    struct error err;
    struct store *s;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[sizeof(scratch->path)], message[1024];
        snprintf(path, sizeof(path), "%s/sub/%s", scratch->folder, names[i]);
        make_history(path, 5);
        assert_true(file_exists(path));
        assert_ok(store_open(&s, path, STORE_READ, &err), &err);
        store_close(s);
        struct scratch odd = *scratch;
        memcpy(odd.path, path, sizeof(odd.path));
        set_modes(&odd, 0555, 0444); /* the name goes through a URI here */
        in_child(read_must_work, path, message, sizeof(message));
        set_modes(&odd, 0755, 0644);
    }
}

RUN_TESTS(NULL, NULL)
