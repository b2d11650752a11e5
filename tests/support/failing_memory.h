/* SPDX-License-Identifier: MIT */
/* SQLite without memory: one of its allocations fails. failing_memory_setup() is the set-up of all
 * tests of a file, before anything of SQLite is used. */
#ifndef HARNESS_TESTS_FAILING_MEMORY_H
#define HARNESS_TESTS_FAILING_MEMORY_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

static struct {
    sqlite3_mem_methods own;
    long left; /* until it fails; 0: none does */
} failing_memory;

static inline bool failing_memory_fails(void)
{
    return failing_memory.left > 0 && --failing_memory.left == 0;
}

static inline void *failing_memory_malloc(int size)
{
    return failing_memory_fails() ? NULL : failing_memory.own.xMalloc(size);
}

static inline void *failing_memory_realloc(void *old, int size)
{
    return failing_memory_fails() ? NULL : failing_memory.own.xRealloc(old, size);
}

static inline int failing_memory_setup(void **state)
{
    sqlite3_mem_methods failing;

    (void)state;
    /* Small ones would come from a reserve of the connection, which never fails. */
    if (sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0) != SQLITE_OK ||
        sqlite3_config(SQLITE_CONFIG_GETMALLOC, &failing_memory.own) != SQLITE_OK)
        return -1;
    failing = failing_memory.own;
    failing.xMalloc = failing_memory_malloc;
    failing.xRealloc = failing_memory_realloc;
    return sqlite3_config(SQLITE_CONFIG_MALLOC, &failing) == SQLITE_OK ? 0 : -1;
}

/* From now on the n-th. */
static inline void failing_memory_begin(long n)
{
    failing_memory.left = n;
}

/* Has it failed? None does any more. */
static inline bool failing_memory_end(void)
{
    bool failed = failing_memory.left == 0;

    failing_memory.left = 0;
    return failed;
}

#endif
