/* SPDX-License-Identifier: MIT */
/* Comparisons with their verdicts, on their way from one history into another. */
#include "history/merge_parts.h"
#include "store/rows.h"
#include "store/schema.h"

#include <inttypes.h>

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

int merge_comparisons(struct merge *m, struct error *err)
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
