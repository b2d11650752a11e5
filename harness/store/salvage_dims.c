/* SPDX-License-Identifier: MIT */
/* The dims of benchmarks follow from their keys, so they are never lost. */
#include "store/salvage_parts.h"

static int write_dims(struct store *s, int64_t id, const char *key, struct error *err)
{
    struct benchmark_name name;
    struct error ignored;

    if (benchmark_name_parse(key, &name, &ignored))
        return 0;
    for (int i = 0; i < name.nr_dims; i++) {
        struct sql_query q;
        if (sql_open(&q, s,
                     "INSERT INTO benchmark_dim (benchmark, position, name, value) "
                     "VALUES (?, ?, ?, ?)",
                     err))
            return -1;
        sql_bind_int(&q, id);
        sql_bind_int(&q, i);
        sql_bind_text(&q, name.dims[i].name);
        sql_bind_int(&q, name.dims[i].value);
        if (sql_run(&q, err))
            return -1;
    }
    return 0;
}

int salvage_dims(struct store *s, struct error *err)
{
    struct sql_query q;
    int rc;

    if (sql_open(&q, s, "SELECT id, key FROM benchmark", err))
        return -1;
    while ((rc = sql_step(&q, err)) > 0) {
        int64_t id = sql_int(&q);
        if ((rc = write_dims(s, id, sql_text(&q), err)) < 0)
            break;
    }
    sql_close(&q);
    return rc;
}
