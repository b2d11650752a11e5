/* SPDX-License-Identifier: MIT */
#include "history/merge.h"

#include "base/file.h"
#include "history/merge_parts.h"
#include "store/place.h"
#include "store/rows.h"
#include "store/schema.h"

#include <inttypes.h>

/* The log that a dead writer left is read, but stays where it is: the last reader of a file would
 * else write it into the file. */
static int open_source(struct store **from, const char *path, const struct store_teller *tell,
                       struct error *err)
{
    bool has_log = place_has_log(path);

    if (store_open_telling(from, path, STORE_READ, tell, err))
        return -1;
    (*from)->leaves_log = has_log;
    return 0;
}

int store_merge_check(const char *to, const char *path, struct error *err)
{
    struct store *from;

    if (file_is_same(to, path))
        return error_set(err, "%s: cannot be merged into itself", path);
    if (store_open(&from, path, STORE_LOOK, err))
        return -1;
    store_close(from);
    return 0;
}

/* ---- comparisons ---- */

/* A hash of all that was decided. */
static int hash_comparison(struct store *s, int64_t id, uint64_t *hash, struct error *err)
{
    struct sql_query q;
    int rc;

    *hash = ROWS_HASH_BEGIN;
    if (rows_open_select(&table_comparison, s, NULL, "WHERE id = ?", &q, err))
        return -1;
    sql_bind_int(&q, id);
    if ((rc = sql_step(&q, err)) > 0)
        *hash = rows_hash_table(&table_comparison, *hash, &q, 0);
    sql_close(&q);
    if (rc < 0 ||
        rows_open_select(&table_verdict, s, NULL, "WHERE comparison = ? ORDER BY id", &q, err))
        return -1;
    sql_bind_int(&q, id);
    while ((rc = sql_step(&q, err)) > 0)
        *hash = rows_hash_table(&table_verdict, *hash, &q, 0);
    sql_close(&q);
    return rc;
}

static int copy_verdicts(struct merge *m, int64_t from, int64_t to, struct error *err)
{
    static const char *const extra[] = { "comparison", NULL };
    struct sql_query q, insert;
    int rc;

    if (rows_open_select(&table_verdict, m->from, extra, "WHERE comparison = ? ORDER BY id", &q,
                         err))
        return -1;
    sql_bind_int(&q, from);
    while ((rc = sql_step(&q, err)) > 0) {
        if ((rc = rows_check(&table_verdict, &q, 1, err)) < 0 ||
            (rc = table_open_insert(&table_verdict, m->to, extra, &insert, err)) < 0)
            break;
        sql_bind_int(&insert, to);
        rows_copy_table(&table_verdict, &insert, &q, 1);
        if ((rc = sql_run(&insert, err)) < 0)
            break;
    }
    sql_close(&q);
    return rc;
}

/* `q` stands at its row: id, then the columns. */
static int copy_comparison(struct merge *m, const struct sql_query *q, int64_t from,
                           struct error *err)
{
    struct sql_query insert;

    if (table_open_insert(&table_comparison, m->to, NULL, &insert, err))
        return -1;
    rows_copy_table(&table_comparison, &insert, q, 1);
    if (sql_run(&insert, err))
        return -1;
    return copy_verdicts(m, from, sql_last_id(m->to), err);
}

/* Within a transaction. 1: it is new, 0: it is there already. */
static int merge_comparison(struct merge *m, struct sql_query *q, struct error *err)
{
    int64_t id = sql_int(q), ours = 0;
    const char *uuid = sql_text(q);
    uint64_t a, b;
    int rc = row_of_comparison(m->to, uuid, &ours, err);

    if (rc <= 0)
        return rc < 0 || copy_comparison(m, q, id, err) ? -1 : 1;
    if (hash_comparison(m->to, ours, &a, err) || hash_comparison(m->from, id, &b, err))
        return -1;
    if (a != b)
        merge_conflict(m,
                       "comparison %" PRId64 " (%.8s) says something else in %s (there %" PRId64
                       "); ours stays",
                       ours, uuid, m->from->path, id);
    return 0;
}

/* Comparisons with their verdicts, each in a transaction of its own. */
static int merge_comparisons(struct merge *m, struct error *err)
{
    struct sql_query q;
    int rc;

    if (m->from->version < SCHEMA_VERDICTS)
        return 0;
    if (table_open_select(&table_comparison, m->from, "ORDER BY comparison.id", &q, err))
        return -1;
    while ((rc = sql_step(&q, err)) > 0) {
        if ((rc = rows_check(&table_comparison, &q, 1, err)) < 0 ||
            (rc = sql_begin(m->to, err)) < 0)
            break;
        int added = merge_comparison(m, &q, err);
        if ((rc = sql_end(m->to, added < 0 ? -1 : 0, err)) < 0)
            break;
        m->result->comparisons += added;
    }
    sql_close(&q);
    return rc;
}

/* ---- a whole file ---- */

/* The last transaction of a file: all those before it last with it. */
static int merge_rest(struct merge *m, struct error *err)
{
    struct store_merged before = *m->result;

    if (sql_begin_lasting(m->to, err))
        return -1;
    if (sql_end(m->to, merge_names(m, err), err) == 0)
        return 0;
    before.conflicts = m->result->conflicts;
    *m->result = before;
    return -1;
}

int store_merge(struct store *to, const char *path, struct store_merged *merged, struct error *err)
{
    struct merge m = { .to = to, .result = merged };

    if (file_is_same(to->path, path))
        return error_set(err, "%s: cannot be merged into itself", path);
    if (open_source(&m.from, path, &to->tell, err))
        return -1;
    int rc = sql_execute(m.from, "BEGIN", err); /* one state of it, whoever writes */
    if (rc == 0)
        rc = merge_runs(&m, err);
    if (rc == 0)
        rc = merge_comparisons(&m, err);
    if (rc == 0)
        rc = merge_rest(&m, err);
    if (rc == 0)
        merged->files++;
    if (!sqlite3_get_autocommit(m.from->db))
        sqlite3_exec(m.from->db, "ROLLBACK", NULL, NULL, NULL);
    store_close(m.from);
    array_release(&m.benchmarks);
    return rc;
}

void store_merged_release(struct store_merged *merged)
{
    string_list_release(&merged->conflicts);
}
