/* SPDX-License-Identifier: MIT */
#include "query/query.h"

#include "base/array.h"
#include "core/clock.h"
#include "query/query_parts.h"
#include "store/rows.h"
#include "store/schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- statements: every condition has a text of its own, so they are not kept prepared ---- */

static int prepare_search(struct sql_query *out, struct store *s, const char *text,
                          struct error *err)
{
    *out = (struct sql_query) { .store = s, .parameter = 1 };
    int rc = sqlite3_prepare_v2(s->db, text, -1, &out->stmt, NULL);
    return rc == SQLITE_OK ? 0 : sql_error(s, rc, err);
}

static void bind_query(struct sql_query *statement, const struct query *q)
{
    for (size_t i = 0; i < q->nr_bindings; i++) {
        if (q->bindings[i].text)
            sql_bind_text(statement, q->bindings[i].text);
        else
            sql_bind_int(statement, q->bindings[i].number);
    }
}

static bool is_of_measurements(const struct query *q)
{
    return q->of_benchmarks || q->of_outcomes;
}

/* ---- runs ---- */

static const char joins[] = "JOIN machine m ON m.id = r.machine JOIN build b ON b.id = r.build";

/* Newest first; a condition on runs alone is part of it. */
static void runs_sql(const struct query *q, struct strbuf *sql)
{
    bool whole = q->sql.length > 0 && !is_of_measurements(q);

    strbuf_addf(
        sql,
        "SELECT r.id FROM run r %s WHERE r.ended_ms > 0 AND r.kind <> 'trial' AND (? = 0 OR "
        "(r.started_ms, r.id) <= (SELECT started_ms, id FROM run WHERE id = ?))%s%s "
        "ORDER BY r.started_ms DESC, r.id DESC",
        joins, whole ? " AND " : "", whole ? q->sql.data : "");
}

/* Does a measurement of that run fit? */
static void measured_sql(const struct query *q, struct strbuf *sql)
{
    strbuf_addf(sql,
                "SELECT EXISTS (SELECT 1 FROM run r %s JOIN launch l ON l.run = r.id "
                "JOIN measurement x ON x.launch = l.id WHERE r.id = ? AND %s)",
                joins, q->sql.data);
}

/* 1: it does, 0: it does not. */
static int is_measured(struct sql_query *measured, const struct query *q, int64_t run,
                       struct error *err)
{
    measured->parameter = 1;
    sql_bind_int(measured, run);
    bind_query(measured, q);
    int rc = sql_step(measured, err);
    if (rc > 0)
        rc = sql_int(measured) != 0;
    sql_close(measured);
    return rc;
}

/* One run is looked at in any case, so that a list of parts comes to an end. */
static bool had_enough(const struct query_page *page, size_t searched, uint64_t began_ns)
{
    if (page->search && searched == page->search)
        return true;
    return page->ms && searched > 0 && clock_ns() - began_ns > (uint64_t)page->ms * 1000000;
}

/* `measured` is NULL where the runs alone decide. */
static int collect_runs(struct sql_query *runs, struct sql_query *measured, const struct query *q,
                        const struct query_page *page, struct query_found *out, struct error *err)
{
    uint64_t began_ns = clock_ns();
    size_t searched = 0;
    int rc;

    while ((rc = sql_step(runs, err)) > 0) {
        int64_t id = sql_int(runs);
        out->gave_up = measured && had_enough(page, searched, began_ns);
        if (out->gave_up || (page->limit && out->nr == page->limit)) {
            out->next = id;
            return 0;
        }
        searched++;
        int fits = measured ? is_measured(measured, q, id, err) : 1;
        if (fits < 0)
            return -1;
        if (!fits)
            continue;
        out->ids = array_grow(out->ids, out->nr, &out->capacity, sizeof(*out->ids));
        out->ids[out->nr++] = id;
    }
    return rc;
}

int query_runs(struct store *s, const struct query *q, const struct query_page *page,
               struct query_found *out, struct error *err)
{
    struct sql_query runs = { 0 }, measured = { 0 };
    struct strbuf sql;

    *out = (struct query_found) { .nr = 0 };
    strbuf_init(&sql);
    runs_sql(q, &sql);
    int rc = prepare_search(&runs, s, sql.data, err);
    strbuf_clear(&sql);
    if (rc == 0 && is_of_measurements(q)) {
        measured_sql(q, &sql);
        rc = prepare_search(&measured, s, sql.data, err);
    }
    strbuf_release(&sql);
    if (rc == 0) {
        sql_bind_int(&runs, page->from);
        sql_bind_int(&runs, page->from);
        if (!is_of_measurements(q))
            bind_query(&runs, q);
        rc = collect_runs(&runs, measured.stmt ? &measured : NULL, q, page, out, err);
    }
    sqlite3_finalize(runs.stmt);
    sqlite3_finalize(measured.stmt);
    return rc;
}

void query_found_release(struct query_found *found)
{
    free(found->ids);
    *found = (struct query_found) { .nr = 0 };
}

int query_load_runs(struct store *s, const int64_t *ids, size_t nr, struct records *out,
                    struct error *err)
{
    struct sql_query q;
    int rc = 0;

    if (open_runs(s, "WHERE r.id = ?", &q, err))
        return -1;
    for (size_t i = 0; rc == 0 && i < nr; i++) {
        sql_bind_int(&q, ids[i]);
        rc = sql_step(&q, err);
        if (rc == 0)
            rc = error_set(err, "%s: there is no run %" PRId64, s->path, ids[i]);
        else if (rc > 0)
            rc = read_run(&q, records_add_run(out), err);
        sql_close(&q);
        q.parameter = 1;
    }
    sql_close(&q);
    return rc;
}

int query_missing_run(struct store *s, const int64_t *ids, size_t nr, int64_t *missing,
                      struct error *err)
{
    struct sql_query q;
    int rc = 1;

    *missing = 0;
    if (sql_open(&q, s, "SELECT 1 FROM run WHERE id = ?", err))
        return -1;
    for (size_t i = 0; rc > 0 && i < nr; i++) {
        sql_bind_int(&q, ids[i]);
        rc = sql_step(&q, err);
        *missing = rc == 0 ? ids[i] : 0;
        sql_close(&q);
        q.parameter = 1;
    }
    sql_close(&q);
    return rc < 0 ? -1 : 0;
}

/* A number that is no number of samples is no reason to read them. */
static int64_t weight_of(int64_t measurements, int64_t samples)
{
    const int64_t most = INT64_C(1) << 50;

    samples = samples < 0 || samples > most ? most : samples;
    return measurements * (int64_t)sizeof(struct record) + samples * (int64_t)sizeof(uint64_t);
}

int query_weigh(struct store *s, const int64_t *ids, size_t nr, const struct store_filter *filter,
                int64_t *bytes, struct error *err)
{
    /* total(): no number is too large for it. One benchmark alone is found by the index of launch
     * and benchmark, for that is the order in which SQLite must go here. */
#define WEIGH "SELECT k.key, count(*), CAST(total(abs(x.nr_samples)) AS INTEGER) FROM "
    static const char all[] = WEIGH
        "launch l JOIN measurement x ON x.launch = l.id JOIN benchmark k "
        "ON k.id = x.benchmark WHERE l.run = ? GROUP BY x.benchmark";
    static const char one[] = WEIGH
        "benchmark k CROSS JOIN launch l CROSS JOIN measurement x "
        "ON x.launch = l.id AND x.benchmark = k.id WHERE l.run = ? AND k.key = ? "
        "GROUP BY x.benchmark";
#undef WEIGH
    bool alone = filter && filter->nr_keys == 1 && filter->nr_filters == 0;
    struct sql_query q;
    int rc = 0;

    *bytes = 0;
    if (sql_open(&q, s, alone ? one : all, err))
        return -1;
    for (size_t i = 0; rc == 0 && i < nr; i++) {
        sql_bind_int(&q, ids[i]);
        if (alone)
            sql_bind_text(&q, filter->keys[0]);
        while ((rc = sql_step(&q, err)) > 0) {
            const char *key = sql_text(&q);
            bool wanted = filter_wants(filter, key ? key : "");
            int64_t measurements = sql_int(&q), samples = sql_int(&q);
            if (wanted)
                *bytes += weight_of(measurements, filter && filter->without_samples ? 0 : samples);
        }
        sql_close(&q);
        q.parameter = 1;
    }
    sql_close(&q);
    return rc;
}

/* ---- benchmarks ---- */

static void keys_sql(const struct query *q, size_t nr, struct strbuf *sql)
{
    if (!q->of_runs && !q->of_outcomes) {
        strbuf_addf(sql,
                    "SELECT x.key FROM (SELECT id AS benchmark, key FROM benchmark) x "
                    "WHERE %s ORDER BY x.key",
                    q->sql.length ? q->sql.data : "1");
        return;
    }
    strbuf_addf(sql,
                "SELECT k.key FROM benchmark k WHERE k.id IN (SELECT x.benchmark FROM run r %s "
                "JOIN launch l ON l.run = r.id JOIN measurement x ON x.launch = l.id "
                "WHERE %s AND r.id IN (",
                joins, q->sql.data);
    for (size_t i = 0; i < nr; i++)
        strbuf_adds(sql, i ? ", ?" : "?");
    strbuf_adds(sql, ")) ORDER BY k.key");
}

int query_keys(struct store *s, const struct query *q, const int64_t *run_ids, size_t nr,
               struct string_list *keys, struct error *err)
{
    struct sql_query statement;
    struct strbuf sql;

    if (q->nr_bindings + nr > (size_t)sqlite3_limit(s->db, SQLITE_LIMIT_VARIABLE_NUMBER, -1))
        return error_set(err, "too many runs at once: %zu", nr);
    strbuf_init(&sql);
    keys_sql(q, nr, &sql);
    int rc = prepare_search(&statement, s, sql.data, err);
    strbuf_release(&sql);
    if (rc)
        return -1;
    bind_query(&statement, q);
    for (size_t i = 0; (q->of_runs || q->of_outcomes) && i < nr; i++)
        sql_bind_int(&statement, run_ids[i]);
    while ((rc = sql_step(&statement, err)) > 0) {
        const char *key = sql_text(&statement);
        string_list_add(keys, key ? key : "");
    }
    sqlite3_finalize(statement.stmt);
    return rc;
}

/* ---- fields ---- */

static int read_dim_names(struct store *s, struct string_list *names, struct error *err)
{
    static const char *const text = "SELECT DISTINCT name FROM benchmark_dim ORDER BY name";
    struct sql_query q;
    int rc;

    if (sql_open(&q, s, text, err))
        return -1;
    while ((rc = sql_step(&q, err)) > 0) {
        const char *name = sql_text(&q);
        string_list_add(names, name ? name : "");
    }
    sql_close(&q);
    *array_push(names) = NULL; /* ends the list for text_nearest() */
    names->nr--;
    return rc;
}

static int unknown_dim(const struct query_dim *dim, const struct string_list *names,
                       struct error *err)
{
    const char *nearest = query_nearest_field(dim->name, (const char *const *)names->items);

    return error_set(err,
                     "column %zu: there is no field \"%s\", and no benchmark has such a dim"
                     "%s%s%s",
                     dim->column, dim->name, nearest ? "; did you mean \"" : "",
                     nearest ? nearest : "", nearest ? "\"?" : "");
}

int query_check(const struct query *q, struct store *s, size_t *column, struct error *err)
{
    struct string_list names = { .nr = 0 };
    int rc = 0;

    if (q->nr_dims == 0)
        return 0;
    if (read_dim_names(s, &names, err))
        rc = -1;
    for (size_t i = 0; rc == 0 && i < q->nr_dims; i++) {
        if (string_list_has(&names, q->dims[i].name))
            continue;
        *column = q->dims[i].column;
        rc = unknown_dim(&q->dims[i], &names, err);
    }
    string_list_release(&names);
    return rc;
}

/* ---- changes ---- */

static uint64_t mix_digest(uint64_t digest, int64_t value)
{
    /* FNV-1a over the bytes of the number. */
    for (int i = 0; i < 64; i += 8)
        digest = (digest ^ ((uint64_t)value >> i & 0xff)) * UINT64_C(0x100000001b3);
    return digest;
}

/* What can change, and since which version of the schema it is there. */
static const struct {
    int since;
    const char *sql;
    size_t nr; /* numbers that it gives */
} state_parts[] = {
    { 0,
      "SELECT coalesce(max(id), 0), count(*), coalesce(max(ended_ms), 0), "
      "coalesce(sum(length(label)), 0), (SELECT count(*) FROM baseline), "
      "(SELECT coalesce(max(created_ms), 0) FROM baseline), (SELECT count(*) FROM ceiling), "
      "(SELECT coalesce(max(id), 0) FROM ceiling) FROM run WHERE ended_ms > 0",
      8 },
    { SCHEMA_VERDICTS,
      "SELECT count(*), coalesce(max(id), 0), coalesce(max(accepted_ms), 0) FROM acceptance", 3 },
    { SCHEMA_ANNOTATIONS, "SELECT count(*), coalesce(max(id), 0) FROM annotation", 2 },
    { SCHEMA_ANNOTATIONS,
      "SELECT count(*), coalesce(max(thinned_ms), 0) FROM run "
      "WHERE ended_ms > 0 AND thinned_ms > 0",
      2 },
};

int query_state(struct store *s, struct query_state *out, struct error *err)
{
    *out = (struct query_state) { .digest = UINT64_C(0xcbf29ce484222325) };
    for (size_t part = 0; part < sizeof(state_parts) / sizeof(state_parts[0]); part++) {
        struct sql_query q;
        if (s->version < state_parts[part].since)
            continue;
        if (sql_open(&q, s, state_parts[part].sql, err))
            return -1;
        int rc = sql_step(&q, err);
        for (size_t i = 0; rc > 0 && i < state_parts[part].nr; i++) {
            int64_t number = sql_int(&q);
            out->digest = mix_digest(out->digest, number);
            if (part == 0 && i < 2)
                *(i ? &out->runs : &out->newest) = number;
        }
        sql_close(&q);
        if (rc < 0)
            return -1;
    }
    return 0;
}

int query_newest(struct store *s, int64_t *newest, struct error *err)
{
    return sql_one_int(s, "SELECT coalesce(max(id), 0) FROM run WHERE ended_ms > 0", newest, err);
}

int query_changed(struct store *s, int64_t *counter, bool *changed, struct error *err)
{
    int64_t now;

    if (sql_one_int(s, "PRAGMA data_version", &now, err))
        return -1;
    *changed = now != *counter;
    *counter = now;
    return 0;
}
