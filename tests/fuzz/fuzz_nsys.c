/* SPDX-License-Identifier: MIT */
/*
 * gputrace/import.h: an export of Nsight Systems. A text is taken for the SQL that makes one, so
 * that tables, types and values change rather than pages; anything else is the file itself.
 */
#include "fuzz.h"

#include "gputrace/import.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 1000, LENGTH = 1 << 16 };

/* Ends statements that would go on and on. */
static int enough(void *calls)
{
    return ++*(int *)calls > 20;
}

static const char *make(const char *sql)
{
    static char path[600];
    sqlite3 *db;
    int calls = 0;

    snprintf(path, sizeof(path), "%s/nsys.sqlite", fuzz_folder());
    unlink(path);
    FUZZ_CHECK(sqlite3_open(path, &db) == SQLITE_OK);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, LENGTH);
    sqlite3_exec(db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN", NULL, NULL,
                 NULL);
    sqlite3_progress_handler(db, STEPS, enough, &calls);
    sqlite3_exec(db, sql, NULL, NULL, NULL);
    sqlite3_progress_handler(db, 0, NULL, NULL);
    sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    sqlite3_close(db);
    return path;
}

FUZZ_TARGET(nsys)
{
    char *text = fuzz_text(data, size);
    bool is_text = strlen(text) == size;
    struct activity_list list;
    struct error err;

    activity_list_init(&list);
    if (activity_import_nsys(is_text ? make(text) : fuzz_file(data, size), &list, &err) == 0)
        for (size_t i = 0; i < list.nr; i++)
            FUZZ_CHECK(list.items[i].start <= list.items[i].end);
    activity_list_release(&list);
    free(text);
}
