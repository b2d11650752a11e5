/* SPDX-License-Identifier: MIT */
/* Is it the same run? What two files hold of it, held against each other. */
#include "history/merge_parts.h"
#include "store/samples.h"

#include <stdlib.h>

static struct merge_item *push(struct merge_content *content)
{
    content->items =
        array_grow(content->items, content->nr, &content->capacity, sizeof(*content->items));
    return &content->items[content->nr++];
}

/* The benchmark counts by its key: numbers differ from file to file. */
static int open_measurements(struct store *s, struct sql_query *q, struct error *err)
{
    struct strbuf sql;

    strbuf_init(&sql);
    strbuf_adds(&sql, "SELECT b.key");
    table_add_columns(&table_measurement, "m", &sql);
    strbuf_adds(&sql,
                ", m.telemetry, m.numbers, m.nr_samples, m.samples FROM measurement m "
                "JOIN benchmark b ON b.id = m.benchmark WHERE m.launch = ? ORDER BY m.id");
    int rc = sql_open(q, s, sql.data, err);
    strbuf_release(&sql);
    return rc;
}

static int add_measurements(struct store *s, int64_t launch, struct merge_content *out,
                            struct error *err)
{
    struct sql_query q;
    int rc;

    if (open_measurements(s, &q, err))
        return -1;
    sql_bind_int(&q, launch);
    int last = sqlite3_column_count(q.stmt) - 1; /* the samples */
    while ((rc = sql_step(&q, err)) > 0) {
        struct merge_item *item = push(out);
        const void *blob = sqlite3_column_blob(q.stmt, last);
        item->facts = rows_hash(ROWS_HASH_BEGIN, &q, 0, last);
        item->samples = rows_hash(ROWS_HASH_BEGIN, &q, last, last + 1);
        item->thinned = samples_are_thin(blob, (size_t)sqlite3_column_bytes(q.stmt, last));
    }
    sql_close(&q);
    return rc;
}

int merge_content_read(struct store *s, int64_t run_id, struct merge_content *out,
                       struct error *err)
{
    struct sql_query q;
    int rc;

    if (sql_open(&q, s, "SELECT id, seq, started_ms FROM launch WHERE run = ? ORDER BY seq", err))
        return -1;
    sql_bind_int(&q, run_id);
    while ((rc = sql_step(&q, err)) > 0) {
        push(out)->facts = rows_hash(ROWS_HASH_BEGIN, &q, 1, 3);
        if ((rc = add_measurements(s, sql_int(&q), out, err)) < 0)
            break;
    }
    sql_close(&q);
    return rc;
}

void merge_content_release(struct merge_content *content)
{
    array_release(content);
}

bool merge_content_begins(const struct merge_content *whole, const struct merge_content *part)
{
    if (part->nr > whole->nr)
        return false;
    for (size_t i = 0; i < part->nr; i++) {
        const struct merge_item *a = &whole->items[i], *b = &part->items[i];
        if (a->facts != b->facts || (a->samples != b->samples && !(a->thinned || b->thinned)))
            return false;
    }
    return true;
}
