/* SPDX-License-Identifier: MIT */
/* Rows of a table that may be damaged: those that can be read, and where the others were. A salvage
 * takes them, and a check names what it does not find. */
#ifndef HARNESS_HISTORY_SALVAGE_WALK_H
#define HARNESS_HISTORY_SALVAGE_WALK_H

#include "base/error.h"
#include "history/salvage.h"

#include <sqlite3.h>

/* What SQLite says of the damaged file; -1. */
int salvage_unread(sqlite3 *db, struct error *err);

/* Is called with a statement that stands at a row. */
typedef int salvage_row_fn(void *context, sqlite3_stmt *row, struct error *err);

/* Rows lost to unreadable pages. */
struct salvage_gaps {
    int64_t rows;                               /* by the numbers on both sides of gaps */
    bool open;                                  /* a gap at the end: nothing on its other side */
    struct salvaged_span spans[SALVAGED_SPANS]; /* the first of them */
    int nr_spans;
};
/* "SELECT columns FROM table", ascending by rowid; the first column must be the rowid. */
int salvage_walk(sqlite3 *db, const char *table, const char *columns, salvage_row_fn *take,
                 void *context, struct salvage_gaps *gaps, struct error *err);
/* A whole SELECT without order, then the same with `backwards` behind it: what lies before and
 * behind damage. Rows may come twice. True in *damaged if either ended early. */
int salvage_both_ways(sqlite3 *db, const char *select, const char *forwards, const char *backwards,
                      salvage_row_fn *take, void *context, bool *damaged, struct error *err);

#endif
