/* SPDX-License-Identifier: MIT */
/* What of a merge is no run: names for runs, roofs, and what people and self-tests said. */
#include "history/merge_parts.h"
#include "store/rows.h"
#include "store/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- baselines ---- */

static int order_ids(const void *x, const void *y)
{
    int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

    return (a > b) - (a < b);
}

/* The runs of a baseline of `from` by their numbers here, ascending. All are there by now. */
static int translate_runs(struct merge *m, const struct store_baseline *b, int64_t *ids,
                          struct error *err)
{
    for (size_t i = 0; i < b->nr_runs; i++) {
        struct sql_query q;
        char uuid[64] = "";
        if (sql_open(&q, m->from, "SELECT uuid FROM run WHERE id = ?", err))
            return -1;
        sql_bind_int(&q, b->run_ids[i]);
        int rc = sql_step(&q, err);
        if (rc > 0)
            snprintf(uuid, sizeof(uuid), "%s", sql_text(&q));
        sql_close(&q);
        if (rc < 0 || (rc = row_of_run(m->to, uuid, &ids[i], err)) < 0)
            return -1;
        if (rc == 0)
            return error_set(err, "%s: baseline \"%s\" names a run that is not there",
                             m->from->path, b->name);
    }
    qsort(ids, b->nr_runs, sizeof(*ids), order_ids);
    return 0;
}

static int insert_baseline(struct merge *m, const struct store_baseline *b, const int64_t *ids,
                           struct error *err)
{
    struct sql_query q;

    if (sql_open(&q, m->to, "INSERT INTO baseline (name, created_ms, note) VALUES (?, ?, ?)", err))
        return -1;
    sql_bind_text(&q, b->name);
    sql_bind_int(&q, b->created_ms);
    sql_bind_text(&q, b->note);
    if (sql_run(&q, err))
        return -1;
    int64_t baseline = sql_last_id(m->to);
    for (size_t i = 0; i < b->nr_runs; i++) {
        if (sql_open(&q, m->to, "INSERT INTO baseline_run (baseline, run) VALUES (?, ?)", err))
            return -1;
        sql_bind_int(&q, baseline);
        sql_bind_int(&q, ids[i]);
        if (sql_run(&q, err))
            return -1;
    }
    m->result->baselines++;
    return 0;
}

static int merge_baseline(struct merge *m, const struct store_baseline *theirs,
                          const struct store_baselines *ours, struct error *err)
{
    int64_t *ids = memory_zeroed(theirs->nr_runs + 1, sizeof(*ids));
    const struct store_baseline *same = NULL;
    int rc = translate_runs(m, theirs, ids, err);

    for (size_t i = 0; i < ours->nr; i++)
        if (strcmp(ours->items[i].name, theirs->name) == 0)
            same = &ours->items[i];
    if (rc == 0 && !same) {
        rc = insert_baseline(m, theirs, ids, err);
    } else if (rc == 0) {
        if (same->nr_runs > 1)
            qsort(same->run_ids, same->nr_runs, sizeof(*same->run_ids), order_ids);
        if (same->nr_runs != theirs->nr_runs ||
            (same->nr_runs && memcmp(same->run_ids, ids, same->nr_runs * sizeof(*ids)) != 0))
            merge_conflict(m, "baseline \"%s\" names other runs in %s; ours stays", theirs->name,
                           m->from->path);
    }
    free(ids);
    return rc;
}

static int merge_baselines(struct merge *m, struct error *err)
{
    struct store_baselines theirs = { 0 }, ours = { 0 };
    struct string_list refused = { 0 }, ignored = { 0 };
    int rc = read_baselines(m->from, &theirs, &refused, err);

    if (rc == 0)
        rc = read_baselines(m->to, &ours, &ignored, err);
    for (size_t i = 0; rc == 0 && i < refused.nr; i++)
        merge_conflict(m, "%s: it was not taken along", refused.items[i]);
    for (size_t i = 0; rc == 0 && i < theirs.nr; i++)
        rc = merge_baseline(m, &theirs.items[i], &ours, err);
    store_baselines_release(&theirs);
    store_baselines_release(&ours);
    string_list_release(&refused);
    string_list_release(&ignored);
    return rc;
}

/* ---- roofs ---- */

static int open_roofs(struct store *s, struct sql_query *q, struct error *err)
{
    struct strbuf sql;

    strbuf_init(&sql);
    strbuf_adds(&sql, "SELECT c.epoch");
    table_add_columns(&table_machine, "m", &sql);
    table_add_columns(&table_roof, "c", &sql);
    strbuf_adds(&sql, " FROM ceiling c JOIN machine m ON m.id = c.machine ORDER BY c.id");
    int rc = sql_open(q, s, sql.data, err);
    strbuf_release(&sql);
    return rc;
}

static int add_roof(struct merge *m, const char *epoch, const struct machine *machine,
                    const struct roof *roof, struct error *err)
{
    static const char *const extra[] = { "machine", "epoch", NULL };
    struct sql_query q;
    int64_t id;

    if (table_intern(&table_machine, m->to, machine, &id, err) ||
        rows_open_insert_new(&table_roof, m->to, extra, &q, err))
        return -1;
    sql_bind_int(&q, id);
    sql_bind_text(&q, epoch);
    table_bind(&table_roof, &q, roof);
    if (sql_run(&q, err))
        return -1;
    m->result->roofs += sqlite3_changes(m->to->db);
    return 0;
}

static int merge_roofs(struct merge *m, struct error *err)
{
    struct sql_query q;
    int rc;

    if (open_roofs(m->from, &q, err))
        return -1;
    while ((rc = sql_step(&q, err)) > 0) {
        struct machine machine;
        struct roof roof;
        const char *epoch = sql_text(&q);
        if (table_read(&table_machine, &q, &machine, err) ||
            table_read(&table_roof, &q, &roof, err) || add_roof(m, epoch, &machine, &roof, err)) {
            rc = -1;
            break;
        }
    }
    sql_close(&q);
    return rc;
}

/* ---- tables whose rows stand alone ---- */

static int merge_rows(struct merge *m, const struct table *t, int64_t *nr, struct error *err)
{
    struct sql_query q, insert;
    int rc;

    if (rows_open_select(t, m->from, NULL, "ORDER BY id", &q, err))
        return -1;
    while ((rc = sql_step(&q, err)) > 0) {
        if ((rc = rows_check(t, &q, 0, err)) < 0 ||
            (rc = rows_open_insert_new(t, m->to, NULL, &insert, err)) < 0)
            break;
        rows_copy_table(t, &insert, &q, 0);
        if ((rc = sql_run(&insert, err)) < 0)
            break;
        *nr += sqlite3_changes(m->to->db);
    }
    sql_close(&q);
    return rc;
}

int merge_names(struct merge *m, struct error *err)
{
    if (merge_baselines(m, err) || merge_roofs(m, err))
        return -1;
    if (m->from->version < SCHEMA_VERDICTS)
        return 0;
    if (merge_rows(m, &table_acceptance, &m->result->acceptances, err) ||
        merge_rows(m, &table_selftest, &m->result->selftests, err))
        return -1;
    if (m->from->version < SCHEMA_TUNED)
        return 0;
    return merge_rows(m, &table_tuned, &m->result->tuned, err);
}
