/* SPDX-License-Identifier: MIT */
/* A scratch folder, and runs and measurements to put into a history: for test_store*.c. */
#ifndef HARNESS_TESTS_TEST_STORE_H
#define HARNESS_TESTS_TEST_STORE_H

#include "testing.h"

#include "base/memory.h"
#include "stats/random.h"
#include "store/store.h"
#include "vfs/page_checksum.h"

#include <ftw.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct scratch {
    char folder[96], path[128]; /* path: the history */
};

static inline int scratch_setup(void **state)
{
    struct scratch *scratch = memory_zeroed(1, sizeof(*scratch));

    /* Not in the build tree: tests that give up root must still reach it. */
    snprintf(scratch->folder, sizeof(scratch->folder), "/tmp/harness-store-XXXXXX");
    if (!mkdtemp(scratch->folder))
        return -1;
    snprintf(scratch->path, sizeof(scratch->path), "%s/sub/history.db", scratch->folder);
    *state = scratch;
    return 0;
}

static inline int scratch_remove(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static inline int scratch_teardown(void **state)
{
    struct scratch *scratch = *state;
    int rc = nftw(scratch->folder, scratch_remove, 16, FTW_DEPTH | FTW_PHYS);

    free(scratch);
    return rc;
}

/* As another program would that keeps the checksums of pages, so past all checks but these. */
static inline void execute_in(const char *path, const char *script)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    sqlite3 *db;

    assert_int_equal(page_checksum_register(), SQLITE_OK);
    assert_int_equal(sqlite3_open_v2(path, &db, flags, PAGE_CHECKSUM_VFS), SQLITE_OK);
    sqlite3_busy_timeout(db, 60000); /* who reads meanwhile may hold it for a moment */
    if (sqlite3_exec(db, script, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", script, sqlite3_errmsg(db));
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* As the shell of SQLite would, which knows of no checksums. */
static inline void execute_elsewhere(const char *path, const char *script)
{
    sqlite3 *db;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 60000);
    if (sqlite3_exec(db, script, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", script, sqlite3_errmsg(db));
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

#define scratch_test(f)    cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
#define SCRATCH_TEST(name) TEST_WITH(name, scratch_setup, scratch_teardown)

static inline struct run sample_run(void)
{
    struct run run = {
        .started_ms = 1790000000123,
        .suite = "quick",
        .label = "before",
        .machine = { .id = "0123456789abcdef",
                     .class_name = "class-a",
                     .cpu = "A \"CPU\" µ",
                     .cores = 2,
                     .threads = 4,
                     .isa = "avx2",
                     .l1d = 32768,
                     .l2 = 1 << 20,
                     .l3 = INT64_C(1) << 35,
                     .l3_shared_by = 8,
                     .memory = INT64_C(1) << 40 },
        .build = { .version = "0.1.0",
                   .commit = "1f3a9c2d4e5f60718293a4b5c6d7e8f901234567",
                   .branch = "main",
                   .compiler = "gcc 12.2.0",
                   .flags = "-O2 -g",
                   .build_type = "Release" },
    };

    random_uuid(run.uuid);
    return run;
}

/* Some plausible measurement; `number` makes it unlike others. Release it. */
static inline struct measurement sample_measurement(unsigned number)
{
    struct measurement m = { .outcome = OUTCOME_OK, .stop = STOP_TIME, .batch = 1, .checked = 1 };

    snprintf(m.bench.key, sizeof(m.bench.key), "gemm/linear/simd/fp32/batch=%u/cpu-2t/warm",
             number % 7 + 1);
    snprintf(m.bench.kernel, sizeof(m.bench.kernel), "gemm/linear");
    snprintf(m.bench.variant, sizeof(m.bench.variant), "simd");
    snprintf(m.bench.math, sizeof(m.bench.math), "fp32");
    snprintf(m.bench.device, sizeof(m.bench.device), "cpu-2t");
    snprintf(m.bench.cache, sizeof(m.bench.cache), "warm");
    snprintf(m.bench.dims[0].name, sizeof(m.bench.dims[0].name), "batch");
    m.bench.dims[0].value = number % 7 + 1;
    m.bench.nr_dims = 1;
    m.footprint = number;
    m.nr_samples = 200;
    m.samples = memory_zeroed(m.nr_samples, sizeof(*m.samples));
    for (size_t i = 0; i < m.nr_samples; i++)
        m.samples[i] = 100000 + (i * 7919 + number) % 1000;
    snprintf(m.clock, sizeof(m.clock), "CLOCK_MONOTONIC_RAW");
    return m;
}

/* In a process of its own: a run is begun, and it dies. */
static inline void begin_run_and_die(const char *path)
{
    int status;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        struct run run = sample_run();
        struct error err;
        struct store *s;
        _exit(store_open(&s, path, STORE_WRITE, &err) || store_begin_run(s, &run, &err) ? 1 : 0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Beside the history, which nobody has open, lies the log of another one whose writer was killed,
 * as where the one took the place of the other. */
static inline void put_foreign_log(const char *path)
{
    static const char *const ends[] = { "", "-shm" };
    char away[200], from[220], to[220];

    snprintf(away, sizeof(away), "%s.away", path);
    begin_run_and_die(away);
    snprintf(from, sizeof(from), "%s-wal", away);
    snprintf(to, sizeof(to), "%s-wal", path);
    assert_int_equal(rename(from, to), 0);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        snprintf(from, sizeof(from), "%s%s", away, ends[i]);
        assert_int_equal(remove(from), 0);
    }
}

/* How often a log was told of that was put aside. */
static inline int times_left(const char *notes)
{
    int nr = 0;

    for (const char *at = notes; (at = strstr(at, "is kept as ")); at++)
        nr++;
    return nr;
}

#endif
