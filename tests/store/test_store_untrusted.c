/* SPDX-License-Identifier: MIT */
/* Histories of strangers: what a file defines beyond harness's own tables is named and refused
 * before anything is read, nothing of it runs, and a salvage takes the measurements out.
 * Features: U-05. */
#include "store_histories.h"

#include "history/salvage.h"
#include "knocks.h"
#include "store/untrusted.h"
#include "vfs/page.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#define SCHEMA(sql) "PRAGMA writable_schema = ON;" sql

static const struct stranger {
    const char *name, *script, *message;
} strangers[] = {
    { "a trigger that changes what is measured",
      "CREATE TRIGGER evil AFTER INSERT ON measurement BEGIN UPDATE measurement SET flops = 1e30; "
      "END",
      "strange trigger \"evil\"" },
    { "a trigger on what merge and prune delete",
      "CREATE TRIGGER evil BEFORE DELETE ON run BEGIN SELECT RAISE(IGNORE); END",
      "strange trigger \"evil\"" },
    { "a view without end",
      "CREATE VIEW v AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
      "SELECT count(*) FROM n",
      "strange view \"v\"" },
    { "a view in a table's place",
      SCHEMA(
          "DELETE FROM sqlite_schema WHERE name = 'annotation' OR tbl_name = 'annotation';"
          "INSERT INTO sqlite_schema VALUES ('view', 'annotation', 'annotation', 0, 'CREATE VIEW "
          "annotation AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT "
          "i AS id, i AS run, i AS written_ms, ''x'' AS text FROM n')"),
      "annotation" },
    { "a table more", "CREATE TABLE mail (text)", "strange table \"mail\"" },
    { "an index more", "CREATE INDEX extra ON run (label)", "strange index \"extra\"" },
    { "an index on an expression", "CREATE INDEX extra ON run (hex(label)) WHERE length(label) > 3",
      "strange index \"extra\"" },
    { "a column more", "ALTER TABLE run ADD COLUMN mood TEXT", "another table \"run\"" },
    { "a column that computes",
      "ALTER TABLE launch ADD COLUMN x TEXT AS (hex(zeroblob(60000000))) VIRTUAL",
      "another table \"launch\"" },
    { "a check that computes",
      SCHEMA("UPDATE sqlite_schema SET sql = replace(sql, 'CHECK (vendor IN (0, 1))', "
             "'CHECK (length(hex(zeroblob(60000000))) > 0)') WHERE name = 'measurement'"),
      "another table \"measurement\"" },
    { "a virtual table",
      SCHEMA("INSERT INTO sqlite_schema VALUES ('table', 'vt', 'vt', 0, "
             "'CREATE VIRTUAL TABLE vt USING nothere(x)')"),
      "strange table \"vt\"" },
    { "an index less", "DROP INDEX run_by_time", "lacks the index \"run_by_time\"" },
    { "a table less", "DROP TABLE selftest", "lacks the" },
};

enum { STRANGERS = sizeof(strangers) / sizeof(strangers[0]), RUNS = 3, RESULTS = 2 };

static void make_stranger(const char *path, const struct stranger *stranger)
{
    remove(path);
    make_runs(path, 0, RUNS, RESULTS);
    execute_in(path, stranger->script);
    execute_in(path, "PRAGMA journal_mode = DELETE");
}

SCRATCH_TEST(test_strange_schemas)
{
    const struct scratch *scratch = *state;
    size_t length, length_after;
    struct error err;

    for (size_t i = 0; i < STRANGERS; i++) {
        make_stranger(scratch->path, &strangers[i]);
        char *before = file_read(scratch->path, FILE_RECORDS_MOST, &length, &err);
        for (int mode = STORE_READ; mode <= STORE_WRITE; mode++) {
            struct store *s;
            assert_int_equal(store_open(&s, scratch->path, (enum store_mode)mode, &err), -1);
            if (!strstr(err.message, strangers[i].message) || !strstr(err.message, "salvage"))
                fail_msg("%s: \"%s\" is not in: %s", strangers[i].name, strangers[i].message,
                         err.message);
        }
        char *after = file_read(scratch->path, FILE_RECORDS_MOST, &length_after, &err);
        assert_int_equal(length, length_after);
        assert_memory_equal(before, after, length);
        free(before);
        free(after);
    }
    knock("a history that defines something else", STRANGERS, STRANGERS,
          "refused, its first strange object named");
}

/* The measurements come out as they were, and nothing that was defined comes along or runs. */
SCRATCH_TEST(test_salvage_of_strangers)
{
    const struct scratch *scratch = *state;
    char saved[160];
    struct salvaged out;
    struct error err;

    path_in(scratch, "saved.db", saved);
    for (size_t i = 0; i < STRANGERS; i++) {
        make_stranger(scratch->path, &strangers[i]);
        remove(saved);
        assert_ok(store_salvage(scratch->path, saved, &out, &err), &err);
        assert_sound(saved);
        assert_int_equal(count_in(saved, "SELECT count(*) FROM measurement WHERE flops < 1e29"),
                         RUNS * 2 * RESULTS);
        salvaged_release(&out);
    }
    knock("a salvage of such a history", STRANGERS, STRANGERS,
          "all measurements, and nothing of the rest");
}

/* Whoever changes the tables while a handle is open: triggers do not run. */
SCRATCH_TEST(test_trigger_beside_us)
{
    const struct scratch *scratch = *state;
    struct store *s = open_store(scratch->path, STORE_WRITE);

    add_run_of(s, 0, 1, NULL);
    execute_in(scratch->path, strangers[0].script);
    add_run_of(s, 1, 1, NULL);
    store_close(s);
    execute_in(scratch->path, "DROP TRIGGER evil");
    assert_int_equal(count_in(scratch->path, "SELECT count(*) FROM measurement WHERE flops > 1e29"),
                     0);
}

/* What the shell of SQLite leaves, and each version that can be read. */
SCRATCH_TEST(test_our_own)
{
    const struct scratch *scratch = *state;
    char path[160];

    make_runs(scratch->path, 0, 2, 2);
    execute_in(scratch->path, "ANALYZE");
    assert_sound(scratch->path);
    path_in(scratch, "old.db", path);
    for (int version = 1; version <= 3; version++) {
        remove(path);
        make_version(path, version);
        assert_sound(path);
    }
}

/* ---- files of holes ---- */

enum hole { BEHIND, BEFORE_AN_END, BELIEVED, NR_HOLES };

enum { PAGE = 4096 };

/* As `truncate -s 1T` makes it; with a page at the end of that; and with a header that says so. */
static void make_long(const char *path, enum hole hole)
{
    const off_t length = (off_t)1 << 40;
    unsigned char page[PAGE];

    remove(path);
    make_runs(path, 0, RUNS, RESULTS);
    execute_in(path, "PRAGMA journal_mode = DELETE");
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_int_equal(pread(fd, page, PAGE, 0), PAGE);
    if (ftruncate(fd, length))
        skip(); /* no such files here */
    if (hole == BEFORE_AN_END)
        assert_int_equal(pwrite(fd, page, PAGE, length - PAGE), PAGE);
    if (hole == BELIEVED) {
        page_put(page + HEADER_PAGES, (uint32_t)(length / PAGE), 4);
        page_checksum_seal(page, PAGE, 1);
        assert_int_equal(pwrite(fd, page, PAGE, 0), PAGE);
    }
    close(fd);
}

/* All measurements, in a file of the usual length, without a copy that fills the disk meanwhile. */
static void salvage_long(const char *path, const char *saved)
{
    const struct rlimit usual = { RLIM_INFINITY, RLIM_INFINITY },
                        file = { 64 << 20, RLIM_INFINITY };
    struct salvaged out;
    struct error err;
    struct stat st;

    remove(saved);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &file), 0);
    int rc = store_salvage(path, saved, &out, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &usual), 0);
    assert_ok(rc, &err);
    salvaged_release(&out);
    assert_sound(saved);
    assert_int_equal(count_in(saved, "SELECT count(*) FROM measurement"), RUNS * 2 * RESULTS);
    assert_int_equal(stat(saved, &st), 0);
    assert_true(st.st_size < 1 << 20);
}

SCRATCH_TEST(test_holes)
{
    enum { SECONDS = 100 }; /* looking at each page of it takes an hour */
    const struct scratch *scratch = *state;
    char saved[160];
    struct error err;

    path_in(scratch, "saved.db", saved);
    alarm(SECONDS);
    for (int hole = 0; hole < NR_HOLES; hole++) {
        make_long(scratch->path, (enum hole)hole);
        for (int mode = STORE_READ; mode <= STORE_WRITE; mode++) {
            struct store *s;
            assert_int_equal(store_open(&s, scratch->path, (enum store_mode)mode, &err), -1);
            if (!strstr(err.message, "holes") || !strstr(err.message, "salvage"))
                fail_msg("not helpful: %s", err.message);
        }
        salvage_long(scratch->path, saved);
    }
    alarm(0);
    knock("a history of 1 TiB that is nearly all holes", NR_HOLES, NR_HOLES,
          "refused at once; salvaged, in a file of the usual length");
}

/* Not every hole is strange: a file may be copied with some. */
SCRATCH_TEST(test_some_holes)
{
    const struct scratch *scratch = *state;
    struct stat st;

    make_runs(scratch->path, 0, RUNS, RESULTS);
    execute_in(scratch->path, "PRAGMA journal_mode = DELETE");
    assert_int_equal(stat(scratch->path, &st), 0);
    assert_int_equal(truncate(scratch->path, 16 * st.st_size), 0);
    struct store *s = open_store(scratch->path, STORE_READ);
    store_close(s);
    /* Without blocks, or with fewer where the file system compresses. */
    st = (struct stat) { .st_size = 1 << 20 };
    assert_int_equal(untrusted_bytes(&st), 1 << 20);
    st.st_blocks = (1 << 18) / 512;
    assert_int_equal(untrusted_bytes(&st), 1 << 20);
    st.st_blocks = (1 << 16) / 512;
    assert_int_equal(untrusted_bytes(&st), 1 << 19);
    assert_true(untrusted_length_most(&st) > 1 << 20);
}

/* A long hole that the header claims: verify does not look at all of it. */
SCRATCH_TEST(test_verify_ends_in_a_hole)
{
    const struct scratch *scratch = *state;
    const off_t length = (off_t)320 << 20;
    unsigned char page[PAGE];
    struct store_health health;
    struct error err;

    make_runs(scratch->path, 0, RUNS, RESULTS);
    execute_in(scratch->path, "PRAGMA journal_mode = DELETE");
    int fd = open(scratch->path, O_RDWR | O_CLOEXEC);
    assert_int_equal(pread(fd, page, PAGE, 0), PAGE);
    off_t end = lseek(fd, 0, SEEK_END);
    for (int i = 0; i < (6 << 20) / PAGE; i++) /* enough for a file of that length to be believed */
        assert_int_equal(pwrite(fd, page, PAGE, end + (off_t)i * PAGE), PAGE);
    assert_int_equal(ftruncate(fd, length), 0);
    page_put(page + HEADER_PAGES, (uint32_t)(length / PAGE), 4);
    page_checksum_seal(page, PAGE, 1);
    assert_int_equal(pwrite(fd, page, PAGE, 0), PAGE);
    close(fd);
    struct store *s = open_store(scratch->path, STORE_READ);
    assert_int_equal(store_verify(s, &health, &err), -1);
    store_close(s);
    assert_in_range(health.problems, 1 << 16, (1 << 16) + 10);
    assert_non_null(strstr(err.message, "the rest of the file was not looked at"));
}

RUN_TESTS(NULL, NULL)
