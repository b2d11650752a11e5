/* SPDX-License-Identifier: MIT */
#include "store/verdicts.h"

#include "store/columns.h"
#include "store/schema.h"

#include <stdlib.h>

static const struct column selftest_columns[] = {
    COLUMN(COLUMN_NAME, store_selftest, machine, "machine"),
    COLUMN(COLUMN_NAME, store_selftest, device, "device"),
    COLUMN(COLUMN_NAME, store_selftest, kind, "kind"),
    COLUMN(COLUMN_DATE, store_selftest, tested_ms, "tested_ms"),
    COLUMN(COLUMN_INT, store_selftest, rule, "rule"),
    COLUMN(COLUMN_STRING, store_selftest, result, "result"),
    COLUMN_END,
};

const struct table table_selftest = { "selftest", selftest_columns };

int store_selftest_add(struct store *s, struct store_selftest *t, struct error *err)
{
    if (sql_begin_lasting(s, err))
        return -1;
    return sql_end(s, table_insert(&table_selftest, s, t, &t->id, err), err);
}

int store_selftest_latest(struct store *s, const char *machine, const char *device,
                          const char *kind, struct store_selftest *out, struct error *err)
{
    static const char *const tail =
        "WHERE machine = ? AND device = ? AND kind = ? "
        "ORDER BY tested_ms DESC, selftest.id DESC LIMIT 1";
    struct sql_query q;

    *out = (struct store_selftest) { 0 };
    if (s->version < SCHEMA_VERDICTS)
        return 1;
    if (table_open_select(&table_selftest, s, tail, &q, err))
        return -1;
    sql_bind_text(&q, machine);
    sql_bind_text(&q, device);
    sql_bind_text(&q, kind);
    int rc = sql_step(&q, err);
    if (rc > 0) {
        out->id = sql_int(&q);
        rc = table_read(&table_selftest, &q, out, err);
    } else if (rc == 0) {
        rc = 1;
    }
    sql_close(&q);
    return rc;
}

void store_selftest_release(struct store_selftest *t)
{
    free(t->result);
    t->result = NULL;
}
