/* SPDX-License-Identifier: MIT */
/* A transaction that begins without memory says so: the file is where it was and what it was. */
#include "failing_memory.h"
#include "test_store.h"

#include "store/sql.h"

#include <string.h>

/* As in a new history, whose seal was not looked for yet; false: there are fewer allocations. */
static bool try_begin(struct store *s, long n)
{
    struct error err = { "" }, ignored;

    sql_release_cache(s);
    s->place.page = 0;
    s->place.known = false;
    failing_memory_begin(n);
    int rc = sql_begin(s, &err);
    bool failed = failing_memory_end();
    if (rc && (!failed || strstr(err.message, "overwritten") || s->fate != STORE_IN_PLACE))
        fail_msg("allocation %ld: %s", n, err.message);
    if (rc == 0)
        sql_end(s, -1, &ignored);
    assert_true(sqlite3_get_autocommit(s->db));
    return failed;
}

SCRATCH_TEST(test_begin)
{
    const struct scratch *scratch = *state;
    struct store *s;
    struct error err;
    long n = 1;

    assert_ok(store_open(&s, scratch->path, STORE_WRITE, &err), &err);
    while (try_begin(s, n))
        n++;
    assert_true(n > 5);
    store_close(s);
}

RUN_TESTS(failing_memory_setup, NULL)
