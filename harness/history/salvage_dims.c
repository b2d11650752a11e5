/* SPDX-License-Identifier: MIT */
/* The dims of benchmarks follow from their keys, so they are never lost. */
#include "history/salvage_parts.h"
#include "store/rows.h"

int salvage_dims(struct store *s, struct error *err)
{
    struct sql_query q;
    int rc;

    if (sql_open(&q, s, "SELECT id, key FROM benchmark", err))
        return -1;
    while ((rc = sql_step(&q, err)) > 0) {
        struct benchmark_name name;
        struct error ignored;
        int64_t id = sql_int(&q);
        if (benchmark_name_parse(sql_text(&q), &name, &ignored))
            continue;
        if ((rc = write_dims(s, id, &name, err)) < 0)
            break;
    }
    sql_close(&q);
    return rc;
}
