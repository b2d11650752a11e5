/* SPDX-License-Identifier: MIT */
/* Reading on behind pages that cannot be read. */
#include "history/salvage_walk.h"

#include "base/strbuf.h"
#include "vfs/page_checksum.h"

enum { NUMBERS_LOG2 = 62 };

struct walk {
    sqlite3 *db;
    sqlite3_stmt *rows;  /* from ?1 on */
    sqlite3_stmt *probe; /* the first number from ?1 on; reads no columns */
    salvage_row_fn *take;
    void *context;
    struct salvage_gaps *gaps;
};

/* ---- what is no damage ---- */

int salvage_unread(sqlite3 *db, struct error *err)
{
    return error_set(err, "the damaged file: %s", sqlite3_errmsg(db));
}

/* Is it the memory that is short? That says nothing of the file: where rows are read it ends the
 * salvage, where all else is damage. (A look for where to go on takes it for damage.) */
static bool is_no_memory(int rc)
{
    return (rc & 0xff) == SQLITE_NOMEM || rc == SQLITE_IOERR_NOMEM;
}

/* ---- rows by their numbers ---- */

static int prepare_query(sqlite3 *db, const char *text, sqlite3_stmt **stmt, struct error *err)
{
    if (sqlite3_prepare_v2(db, text, -1, stmt, NULL) == SQLITE_OK)
        return 0;
    return salvage_unread(db, err);
}

/* SQLITE_ROW and *found, SQLITE_DONE, or an error of the file. */
static int find_row(struct walk *w, int64_t from, int64_t *found)
{
    sqlite3_reset(w->probe);
    sqlite3_bind_int64(w->probe, 1, from);
    int rc = sqlite3_step(w->probe);
    if (rc == SQLITE_ROW)
        *found = sqlite3_column_int64(w->probe, 0);
    sqlite3_reset(w->probe);
    /* Inner pages that are wrong lead to another row than the one asked for. */
    return rc == SQLITE_ROW && *found < from ? SQLITE_CORRUPT : rc;
}

static bool is_readable(int rc)
{
    return rc == SQLITE_ROW || rc == SQLITE_DONE;
}

/* The smallest number above `after` from which on the table can be read again; false if none. */
static bool behind_damage(struct walk *w, int64_t after, int64_t *next)
{
    int64_t bad = after, good = 0, found;
    int log2 = 0;

    for (; log2 < NUMBERS_LOG2 && after < INT64_MAX - (INT64_C(1) << log2); log2++) {
        good = after + (INT64_C(1) << log2);
        if (is_readable(find_row(w, good, &found)))
            break;
        bad = good;
    }
    if (log2 == NUMBERS_LOG2 || !is_readable(find_row(w, good, &found)))
        return false;
    while (good - bad > 1) {
        int64_t middle = bad + (good - bad) / 2;
        if (is_readable(find_row(w, middle, &found)))
            good = middle;
        else
            bad = middle;
    }
    *next = good;
    return true;
}

/* Hands over rows from `from` on until there are no more (SQLITE_DONE), or one cannot be read or is
 * not behind the one before. */
static int read_on(struct walk *w, int64_t from, int64_t *last, int *rc, struct error *err)
{
    sqlite3_reset(w->rows);
    sqlite3_bind_int64(w->rows, 1, from);
    while ((*rc = sqlite3_step(w->rows)) == SQLITE_ROW) {
        int64_t number = sqlite3_column_int64(w->rows, 0);
        if (number <= *last) {
            *rc = SQLITE_CORRUPT;
            break;
        }
        *last = number;
        if (w->take(w->context, w->rows, err))
            return -1;
    }
    int rest = is_no_memory(*rc) ? salvage_unread(w->db, err) : 0;
    sqlite3_reset(w->rows);
    return rest;
}

static void note_span(struct walk *w, int64_t first, int64_t last, uint32_t page)
{
    if (w->gaps->nr_spans < SALVAGED_SPANS)
        w->gaps->spans[w->gaps->nr_spans++] = (struct salvaged_span) { first, last, page };
}

/* From where to go on after a failure behind row `last`; false: nowhere. */
static bool step_over(struct walk *w, int64_t last, int64_t *next)
{
    int64_t found = 0;
    uint32_t page = page_checksum_damaged_page(w->db);
    int rc = last < INT64_MAX ? find_row(w, last + 1, &found) : SQLITE_DONE;

    if (rc == SQLITE_ROW) { /* its number can be read, but not all that it holds */
        w->gaps->rows++;
        note_span(w, found, found, page);
        *next = found + 1;
        return found < INT64_MAX;
    }
    if (rc == SQLITE_DONE)
        return false;
    page = page_checksum_damaged_page(w->db);
    if (!behind_damage(w, last, next)) {
        w->gaps->open = true;
        note_span(w, last + 1, INT64_MAX, page);
        return false;
    }
    note_span(w, last + 1, *next - 1, page);
    rc = find_row(w, *next, &found);
    if (rc == SQLITE_ROW)
        w->gaps->rows += found - last - 1;
    w->gaps->open |= rc != SQLITE_ROW;
    return true;
}

static int walk_rows(struct walk *w, struct error *err)
{
    int64_t last = 0, next = 1; /* numbers begin at 1 */
    int rc;

    for (;;) {
        if (read_on(w, next, &last, &rc, err))
            return -1;
        if (rc == SQLITE_DONE)
            return 0;
        if (last >= next && last < INT64_MAX) { /* the way on may be another one */
            next = last + 1;
            continue;
        }
        if (!step_over(w, last, &next))
            return 0;
        last = next - 1;
    }
}

int salvage_walk(sqlite3 *db, const char *table, const char *columns, salvage_row_fn *take,
                 void *context, struct salvage_gaps *gaps, struct error *err)
{
    struct walk w = { .db = db, .take = take, .context = context, .gaps = gaps };
    struct strbuf sql;

    *gaps = (struct salvage_gaps) { 0 };
    strbuf_init(&sql);
    strbuf_addf(&sql, "SELECT %s FROM main.%s WHERE rowid >= ?1 ORDER BY rowid", columns, table);
    int rc = prepare_query(db, sql.data, &w.rows, err);
    strbuf_clear(&sql);
    strbuf_addf(&sql,
                "SELECT rowid FROM main.%s NOT INDEXED WHERE rowid >= ?1 ORDER BY rowid LIMIT 1",
                table);
    if (rc == 0)
        rc = prepare_query(db, sql.data, &w.probe, err);
    if (rc == 0)
        rc = walk_rows(&w, err);
    sqlite3_finalize(w.rows);
    sqlite3_finalize(w.probe);
    strbuf_release(&sql);
    return rc;
}

static int one_way(sqlite3 *db, const char *select, const char *order, salvage_row_fn *take,
                   void *context, bool *damaged, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    struct strbuf sql;
    int step, rc;

    strbuf_init(&sql);
    strbuf_addf(&sql, "%s ORDER BY %s", select, order);
    rc = prepare_query(db, sql.data, &stmt, err);
    strbuf_release(&sql);
    if (rc)
        return -1;
    while ((step = sqlite3_step(stmt)) == SQLITE_ROW && rc == 0)
        rc = take(context, stmt, err);
    if (rc == 0 && is_no_memory(step))
        rc = salvage_unread(db, err);
    *damaged |= rc == 0 && step != SQLITE_DONE;
    sqlite3_finalize(stmt);
    return rc;
}

int salvage_both_ways(sqlite3 *db, const char *select, const char *forwards, const char *backwards,
                      salvage_row_fn *take, void *context, bool *damaged, struct error *err)
{
    *damaged = false;
    if (one_way(db, select, forwards, take, context, damaged, err))
        return -1;
    return *damaged ? one_way(db, select, backwards, take, context, damaged, err) : 0;
}
