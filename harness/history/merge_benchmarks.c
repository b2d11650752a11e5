/* SPDX-License-Identifier: MIT */
/* Benchmarks go by their key; what number each has here. */
#include "history/merge_parts.h"
#include "store/rows.h"

#include <stdio.h>
#include <stdlib.h>

static int order_by_from(const void *key, const void *item)
{
    int64_t a = *(const int64_t *)key, b = ((const struct merge_id *)item)->from;

    return (a > b) - (a < b);
}

static struct merge_id *find_mapped(struct merge *m, int64_t id)
{
    if (m->benchmarks.nr == 0)
        return NULL;
    return bsearch(&id, m->benchmarks.items, m->benchmarks.nr, sizeof(*m->benchmarks.items),
                   order_by_from);
}

static int read_benchmark(struct store *s, int64_t id, struct benchmark_name *name,
                          struct error *err)
{
    struct sql_query q;

    *name = (struct benchmark_name) { .nr_dims = 0 };
    if (table_open_select(&table_benchmark, s, "WHERE benchmark.id = ?", &q, err))
        return -1;
    sql_bind_int(&q, id);
    int rc = sql_step(&q, err);
    if (rc > 0) {
        sql_int(&q);
        rc = table_read(&table_benchmark, &q, name, err);
    } else if (rc == 0) {
        rc = error_set(err, "%s: a measurement has no benchmark; run `harness history verify`",
                       s->path);
    }
    sql_close(&q);
    return rc;
}

static int read_dims_of(struct store *s, int64_t id, struct benchmark_name *name, struct error *err)
{
    struct sql_query q;
    int rc;

    if (sql_open(&q, s,
                 "SELECT name, value FROM benchmark_dim WHERE benchmark = ? ORDER BY position",
                 err))
        return -1;
    sql_bind_int(&q, id);
    while ((rc = sql_step(&q, err)) > 0)
        if ((rc = read_dim(&q, name, err)) < 0)
            break;
    sql_close(&q);
    return rc < 0 ? -1 : 0;
}

int merge_benchmark(struct merge *m, int64_t from, int64_t *to, struct error *err)
{
    struct merge_id *mapped = find_mapped(m, from);
    struct benchmark_name name;

    if (!mapped)
        return error_set(err, "%s: a measurement has no benchmark; run `harness history verify`",
                         m->from->path);
    if (mapped->to == 0 &&
        (read_benchmark(m->from, from, &name, err) || read_dims_of(m->from, from, &name, err) ||
         write_benchmark(m->to, &name, &mapped->to, err)))
        return -1;
    *to = mapped->to;
    return 0;
}

int merge_list_benchmarks(struct merge *m, struct error *err)
{
    struct sql_query q;
    int rc;

    if (sql_open(&q, m->from, "SELECT id FROM benchmark ORDER BY id", err))
        return -1;
    while ((rc = sql_step(&q, err)) > 0)
        *array_push(&m->benchmarks) = (struct merge_id) { .from = sql_int(&q) };
    sql_close(&q);
    return rc;
}
