/* SPDX-License-Identifier: MIT */
/* A salvage that runs out of memory says so, or saves all that is there: no failed allocation
 * stands for damage of the file. */
#include "failing_memory.h"
#include "store_histories.h"

#include "history/salvage_parts.h"

/* Rows that have not the numbers that they would get anew: the first machine went with its run. */
static void make_renumbered(const char *path)
{
    struct error err;

    make_runs(path, 0, 2, 1);
    struct store *s = open_store(path, STORE_WRITE);
    assert_ok(sql_execute(s,
                          "PRAGMA foreign_keys = OFF; UPDATE machine SET id = 2; "
                          "UPDATE run SET machine = 2",
                          &err),
              &err);
    store_close(s);
}

/* All tables, with the n-th allocation failing; false: there are fewer. */
static bool try_tables(const char *from, struct store *to, long n)
{
    struct salvaged result = { .cut_off = false };
    struct salvage s = { .to = to, .result = &result, .bytes_left = 1 << 24 };
    struct error err, ignored;

    assert_int_equal(sqlite3_open_v2(from, &s.from, SQLITE_OPEN_READWRITE, PAGE_CHECKSUM_VFS),
                     SQLITE_OK);
    assert_ok(sql_begin(to, &err), &err);
    failing_memory_begin(n);
    int rc = salvage_tables(&s, &err);
    bool failed = failing_memory_end();
    for (size_t i = 0; rc == 0 && i < result.tables.nr; i++)
        if (result.tables.items[i].lost > 0 || result.tables.items[i].more)
            fail_msg("allocation %ld: %s has lost rows", n, result.tables.items[i].name);
    if (rc && !failed)
        fail_msg("allocation %ld: %s", n, err.message);
    sql_end(to, -1, &ignored);
    salvaged_release(&result);
    sqlite3_close(s.from);
    return failed;
}

SCRATCH_TEST(test_no_memory)
{
    enum { STEP = 11 };
    char from[160], to[160];
    long n = 1;

    path_in(*state, "from.db", from);
    path_in(*state, "to.db", to);
    make_renumbered(from);
    struct store *s = open_store(to, STORE_WRITE);
    while (try_tables(from, s, n))
        n += STEP;
    assert_true(n > 100);
    store_close(s);
}

RUN_TESTS(failing_memory_setup, NULL)
