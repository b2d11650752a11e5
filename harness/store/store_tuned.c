/* SPDX-License-Identifier: MIT */
#include "store/tuned.h"

#include "base/array.h"
#include "store/columns.h"
#include "store/schema.h"

static const struct column tuned_columns[] = {
    COLUMN(COLUMN_NAME, store_tuned, key, "key"),
    COLUMN(COLUMN_NAME, store_tuned, machine, "machine"),
    COLUMN(COLUMN_CHARS, store_tuned, driver, "driver"),
    COLUMN(COLUMN_CHARS, store_tuned, code, "code"),
    COLUMN(COLUMN_CHARS, store_tuned, digest, "digest"),
    COLUMN(COLUMN_STRING, store_tuned, setting, "setting"),
    COLUMN(COLUMN_BOOL, store_tuned, decided, "decided"),
    COLUMN(COLUMN_DATE, store_tuned, tuned_ms, "tuned_ms"),
    COLUMN(COLUMN_CHARS, store_tuned, run, "run"),
    COLUMN(COLUMN_JSON, store_tuned, result, "result"),
    COLUMN_END,
};

const struct table table_tuned = { "tuned", tuned_columns };

int store_tuned_add(struct store *s, struct store_tuned *t, struct error *err)
{
    if (sql_begin_lasting(s, err))
        return -1;
    return sql_end(s, table_insert(&table_tuned, s, t, &t->id, err), err);
}

static int read_all(struct sql_query *q, struct store_tuned_list *out, struct error *err)
{
    int rc;

    while ((rc = sql_step(q, err)) > 0) {
        struct store_tuned *t = array_push(out);
        t->id = sql_int(q);
        if ((rc = table_read(&table_tuned, q, t, err)) < 0)
            break;
    }
    sql_close(q);
    return rc;
}

int store_tuned_find(struct store *s, const char *key, const char *machine,
                     struct store_tuned_list *out, struct error *err)
{
    static const char *const tail =
        "WHERE key = ? AND machine = ? ORDER BY tuned_ms DESC, tuned.id DESC";
    struct sql_query q;

    if (s->version < SCHEMA_TUNED)
        return 0;
    if (table_open_select(&table_tuned, s, tail, &q, err))
        return -1;
    sql_bind_text(&q, key);
    sql_bind_text(&q, machine);
    return read_all(&q, out, err);
}

int store_tuned_newest(struct store *s, const char *machine, struct store_tuned_list *out,
                       struct error *err)
{
    static const char *const tail =
        "WHERE machine = ?1 AND NOT EXISTS (SELECT 1 FROM tuned o WHERE o.key = tuned.key AND "
        "o.machine = tuned.machine AND o.driver = tuned.driver AND o.code = tuned.code AND "
        "o.digest = tuned.digest AND (o.tuned_ms, o.id) > (tuned.tuned_ms, tuned.id)) "
        "ORDER BY key, tuned_ms, tuned.id";
    struct sql_query q;

    if (s->version < SCHEMA_TUNED)
        return 0;
    if (table_open_select(&table_tuned, s, tail, &q, err))
        return -1;
    sql_bind_text(&q, machine);
    return read_all(&q, out, err);
}

void store_tuned_release(struct store_tuned_list *list)
{
    for (size_t i = 0; i < list->nr; i++) {
        free(list->items[i].setting);
        free(list->items[i].result);
    }
    array_release(list);
}
