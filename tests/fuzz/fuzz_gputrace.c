/* SPDX-License-Identifier: MIT */
/* Traces and counters of other programs. */
#include "fuzz.h"

#include "gputrace/import.h"
#include "profile/export.h"
#include "timeline/timeline_read.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* gputrace/import.h: counters of kernels from `ncu --csv`. */
FUZZ_TARGET(ncu)
{
    struct counter_list list;
    struct error err;

    counter_list_init(&list);
    if (activity_import_ncu_text((const char *)data, size, "text", &list, &err) == 0)
        for (size_t i = 0; i < list.nr; i++)
            for (int q = 0; q < COUNTER_QUANTITY_NR; q++)
                kernel_counters_quantity(&list.items[i], (enum counter_quantity)q);
    counter_list_release(&list);
}

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

/*
 * gputrace/import.h: an export of Nsight Systems. A text is taken for the SQL that makes one, so
 * that tables, types and values change rather than pages; anything else is the file itself.
 */
FUZZ_TARGET(nsys)
{
    char *text = fuzz_text(data, size);
    bool is_text = strlen(text) == size;
    struct activity_list list;
    struct error err;

    activity_list_init(&list);
    const char *path = is_text ? make(text) : fuzz_file(data, size);
    if (activity_import_nsys(path, 1 << 20, &list, &err) == 0)
        for (size_t i = 0; i < list.nr; i++)
            FUZZ_CHECK(list.items[i].start <= list.items[i].end);
    activity_list_release(&list);
    free(text);
}

static void write_and_read(const struct prof_trace *trace)
{
    struct prof_trace again;
    struct error err;
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);

    FUZZ_CHECK(file && prof_write_trace(file, trace) == 0 && fclose(file) == 0);
    FUZZ_OK(timeline_parse(text, length, "written", &again, &err), &err);
    FUZZ_CHECK(again.nr_slices == trace->nr_slices && again.nr_samples == trace->nr_samples);
    prof_trace_release(&again);
    free(text);
}

/* timeline/timeline_read.h: Trace Event JSON; what was read can be written and read again. */
FUZZ_TARGET(trace)
{
    struct prof_trace trace;
    struct error err;
    char why[256];

    if (timeline_parse((const char *)data, size, "text", &trace, &err))
        return;
    FUZZ_CHECK(prof_trace_check(&trace, why, sizeof(why)) == 0);
    write_and_read(&trace);
    prof_trace_release(&trace);
}
