/* SPDX-License-Identifier: MIT */
#include "store/verdicts.h"

#include "base/array.h"
#include "store/columns.h"
#include "store/schema.h"

#include <inttypes.h>
#include <stdlib.h>

static const struct column acceptance_columns[] = {
    COLUMN(COLUMN_STRING, store_acceptance, key, "key"),
    COLUMN(COLUMN_STRING, store_acceptance, metric, "metric"),
    COLUMN(COLUMN_STRING, store_acceptance, machine, "machine"),
    COLUMN(COLUMN_STRING, store_acceptance, commit, "commit_hash"),
    COLUMN(COLUMN_REAL, store_acceptance, change, "change"),
    COLUMN(COLUMN_STRING, store_acceptance, reason, "reason"),
    COLUMN(COLUMN_STRING, store_acceptance, author, "author"),
    COLUMN(COLUMN_DATE, store_acceptance, accepted_ms, "accepted_ms"),
    COLUMN_END,
};

const struct table table_acceptance = { "acceptance", acceptance_columns };

int store_acceptance_add(struct store *s, struct store_acceptance *items, size_t nr,
                         struct error *err)
{
    int rc = 0;

    if (sql_begin_lasting(s, err))
        return -1;
    for (size_t i = 0; rc == 0 && i < nr; i++)
        rc = table_insert(&table_acceptance, s, &items[i], &items[i].id, err);
    return sql_end(s, rc, err);
}

int store_acceptance_list(struct store *s, const char *machine, struct store_acceptances *out,
                          struct error *err)
{
    static const char *const tail =
        "WHERE ?1 IS NULL OR machine IN (?1, '') ORDER BY acceptance.id";
    struct sql_query q;
    int rc;

    if (s->version < SCHEMA_VERDICTS)
        return 0;
    if (table_open_select(&table_acceptance, s, tail, &q, err))
        return -1;
    sql_bind_text(&q, machine);
    while ((rc = sql_step(&q, err)) > 0) {
        struct store_acceptance *a = array_push(out);
        a->id = sql_int(&q);
        if ((rc = table_read(&table_acceptance, &q, a, err)) < 0)
            break;
    }
    sql_close(&q);
    return rc;
}

static int delete_acceptance(struct store *s, int64_t id, struct error *err)
{
    struct sql_query q;

    if (sql_open(&q, s, "DELETE FROM acceptance WHERE id = ?", err))
        return -1;
    sql_bind_int(&q, id);
    if (sql_run(&q, err))
        return -1;
    if (sqlite3_changes(s->db) == 1)
        return 0;
    return error_set(
        err, "%s: there is no acceptance %" PRId64 "; `harness baseline accepted` lists them",
        s->path, id);
}

int store_acceptance_remove(struct store *s, int64_t id, struct error *err)
{
    if (sql_begin_lasting(s, err))
        return -1;
    return sql_end(s, delete_acceptance(s, id, err), err);
}

void store_acceptances_release(struct store_acceptances *list)
{
    for (size_t i = 0; i < list->nr; i++) {
        struct store_acceptance *a = &list->items[i];
        free(a->key);
        free(a->metric);
        free(a->machine);
        free(a->commit);
        free(a->reason);
        free(a->author);
    }
    array_release(list);
}
