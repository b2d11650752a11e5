/* SPDX-License-Identifier: MIT */
#include "store/verdicts.h"

#include "base/array.h"
#include "base/text.h"
#include "stats/random.h"
#include "store/columns.h"
#include "store/schema.h"

#include <inttypes.h>
#include <stdlib.h>

static const struct column comparison_columns[] = {
    COLUMN(COLUMN_NAME, store_comparison, uuid, "uuid"),
    COLUMN(COLUMN_DATE, store_comparison, decided_ms, "decided_ms"),
    COLUMN(COLUMN_INT, store_comparison, rule, "rule"),
    COLUMN(COLUMN_CHARS, store_comparison, version, "version"),
    COLUMN(COLUMN_STRING, store_comparison, base, "base"),
    COLUMN(COLUMN_STRING, store_comparison, head, "head"),
    COLUMN(COLUMN_STRING, store_comparison, base_commit, "base_commit"),
    COLUMN(COLUMN_STRING, store_comparison, head_commit, "head_commit"),
    COLUMN(COLUMN_JSON, store_comparison, settings, "settings"),
    COLUMN(COLUMN_INT, store_comparison, exit_status, "exit_status"),
    COLUMN(COLUMN_DATE, store_comparison, head_ms, "head_ms"),
    COLUMN_END,
};

static const struct column verdict_columns[] = {
    COLUMN(COLUMN_STRING, store_verdict, key, "key"),
    COLUMN(COLUMN_STRING, store_verdict, machine, "machine"),
    COLUMN(COLUMN_STRING, store_verdict, metric, "metric"),
    COLUMN(COLUMN_STRING, store_verdict, verdict, "verdict"),
    COLUMN(COLUMN_JSON, store_verdict, result, "result"),
    COLUMN(COLUMN_JSON, store_verdict, evidence, "evidence"),
    COLUMN_END,
};

const struct table table_comparison = { "comparison", comparison_columns };
const struct table table_verdict = { "verdict", verdict_columns };

/* ---- writing ---- */

static int insert_verdict(struct store *s, int64_t comparison, const struct store_verdict *v,
                          struct error *err)
{
    static const char *const extra[] = { "comparison", NULL };
    struct sql_query q;

    if (table_open_insert(&table_verdict, s, extra, &q, err))
        return -1;
    sql_bind_int(&q, comparison);
    table_bind(&table_verdict, &q, v);
    return sql_run(&q, err);
}

static int insert_comparison(struct store *s, struct store_comparison *c, struct error *err)
{
    if (table_insert(&table_comparison, s, c, &c->id, err))
        return -1;
    for (size_t i = 0; i < c->nr; i++)
        if (insert_verdict(s, c->id, &c->items[i], err))
            return -1;
    return 0;
}

int store_comparison_add(struct store *s, struct store_comparison *c, struct error *err)
{
    if (c->uuid[0] == '\0')
        random_uuid(c->uuid);
    if (sql_begin_lasting(s, err))
        return -1;
    return sql_end(s, insert_comparison(s, c, err), err);
}

struct store_verdict *store_comparison_push(struct store_comparison *c)
{
    return array_push(c);
}

/* ---- reading ---- */

int store_comparison_list(struct store *s, size_t limit, struct store_comparisons *out,
                          struct error *err)
{
    struct sql_query q;
    int rc;

    if (s->version < SCHEMA_VERDICTS)
        return 0;
    if (table_open_select(&table_comparison, s,
                          "ORDER BY decided_ms DESC, comparison.id DESC LIMIT ?", &q, err))
        return -1;
    sql_bind_int(&q, limit ? (int64_t)limit : -1);
    while ((rc = sql_step(&q, err)) > 0) {
        struct store_comparison *c = array_push(out);
        c->id = sql_int(&q);
        if ((rc = table_read(&table_comparison, &q, c, err)) < 0)
            break;
    }
    sql_close(&q);
    return rc;
}

static int read_head(struct store *s, int64_t id, struct store_comparison *out, struct error *err)
{
    struct sql_query q;

    if (table_open_select(&table_comparison, s, "WHERE comparison.id = ?", &q, err))
        return -1;
    sql_bind_int(&q, id);
    int rc = sql_step(&q, err);
    if (rc > 0) {
        out->id = sql_int(&q);
        rc = table_read(&table_comparison, &q, out, err);
    } else if (rc == 0) {
        rc = error_set(
            err, "%s: there is no comparison %" PRId64 "; `harness history verdicts` lists them",
            s->path, id);
    }
    sql_close(&q);
    return rc;
}

static int read_rows(struct store *s, struct store_comparison *out, struct error *err)
{
    struct sql_query q;
    int rc;

    if (table_open_select(&table_verdict, s, "WHERE verdict.comparison = ? ORDER BY verdict.id", &q,
                          err))
        return -1;
    sql_bind_int(&q, out->id);
    while ((rc = sql_step(&q, err)) > 0) {
        (void)sql_int(&q); /* its number is nobody's business */
        if ((rc = table_read(&table_verdict, &q, store_comparison_push(out), err)) < 0)
            break;
    }
    sql_close(&q);
    return rc;
}

int store_comparison_load(struct store *s, int64_t id, struct store_comparison *out,
                          struct error *err)
{
    *out = (struct store_comparison) { 0 };
    if (s->version < SCHEMA_VERDICTS)
        return error_set(err, "%s: no comparison has been recorded yet", s->path);
    return read_head(s, id, out, err) || read_rows(s, out, err) ? -1 : 0;
}

/* Verdicts, each with its comparison. */
static int open_verdicts(struct store *s, const char *tail, struct sql_query *q, struct error *err)
{
    struct strbuf sql;

    strbuf_init(&sql);
    strbuf_adds(&sql, "SELECT c.id");
    table_add_columns(&table_comparison, "c", &sql);
    table_add_columns(&table_verdict, "v", &sql);
    strbuf_addf(&sql, " FROM verdict v JOIN comparison c ON c.id = v.comparison %s", tail);
    int rc = sql_open(q, s, sql.data, err);
    strbuf_release(&sql);
    return rc;
}

/* The comparison with that row alone, at the end of the list. */
static int read_verdict(struct sql_query *q, struct store_comparisons *out, struct error *err)
{
    struct store_comparison *c = array_push(out);

    c->id = sql_int(q);
    struct store_verdict *v = store_comparison_push(c);
    return table_read(&table_comparison, q, c, err) < 0 || table_read(&table_verdict, q, v, err) < 0
               ? -1
               : 0;
}

int store_verdict_newest(struct store *s, const char *const *filters, size_t nr, const char *metric,
                         struct store_comparisons *out, struct error *err)
{
    /* By when it was decided: numbers are in the order of arrival, and a merge brings old ones. */
    static const char *const tail =
        "WHERE v.id IN (SELECT id FROM (SELECT o.id AS id, row_number() OVER (PARTITION BY o.key, "
        "o.machine, o.metric ORDER BY d.decided_ms DESC, o.id DESC) AS nth "
        "FROM verdict o JOIN comparison d ON d.id = o.comparison "
        "WHERE ?1 IS NULL OR o.metric = ?1) WHERE nth = 1) ORDER BY c.decided_ms, v.id";
    struct sql_query q;
    int rc;

    if (s->version < SCHEMA_VERDICTS)
        return 0;
    if (open_verdicts(s, tail, &q, err))
        return -1;
    sql_bind_text(&q, metric);
    while ((rc = sql_step(&q, err)) > 0) {
        if ((rc = read_verdict(&q, out, err)) < 0)
            break;
        const struct store_comparison *c = &out->items[out->nr - 1];
        if (!text_filters_take(filters, nr, c->items[0].key))
            store_comparison_release(&out->items[--out->nr]);
    }
    sql_close(&q);
    return rc;
}

int store_verdict_seen(struct store *s, const struct acceptance *a, const char *machine,
                       struct store_comparisons *out, struct error *err)
{
    static const char *const tail =
        "WHERE v.key = ? AND v.metric = ? AND v.machine = ? AND c.head_ms = ? "
        "AND c.head_commit = ? AND c.decided_ms <= ? ORDER BY v.id";
    struct sql_query q;
    int rc;

    if (s->version < SCHEMA_VERDICTS || !a->seen_ms)
        return 0;
    if (open_verdicts(s, tail, &q, err))
        return -1;
    sql_bind_text(&q, a->key);
    sql_bind_text(&q, a->metric);
    sql_bind_text(&q, machine);
    sql_bind_int(&q, a->seen_ms);
    sql_bind_text(&q, a->commit);
    sql_bind_int(&q, a->accepted_ms);
    while ((rc = sql_step(&q, err)) > 0)
        if ((rc = read_verdict(&q, out, err)) < 0)
            break;
    sql_close(&q);
    return rc;
}

/* ---- release ---- */

static void verdict_release(struct store_verdict *v)
{
    free(v->key);
    free(v->machine);
    free(v->metric);
    free(v->verdict);
    free(v->result);
    free(v->evidence);
}

void store_comparison_release(struct store_comparison *c)
{
    for (size_t i = 0; i < c->nr; i++)
        verdict_release(&c->items[i]);
    array_release(c);
    free(c->base);
    free(c->head);
    free(c->base_commit);
    free(c->head_commit);
    free(c->settings);
    *c = (struct store_comparison) { 0 };
}

void store_comparisons_release(struct store_comparisons *list)
{
    for (size_t i = 0; i < list->nr; i++)
        store_comparison_release(&list->items[i]);
    array_release(list);
}

/* ---- accepted changes ---- */

static const struct column acceptance_columns[] = {
    COLUMN(COLUMN_STRING, acceptance, key, "key"),
    COLUMN(COLUMN_STRING, acceptance, metric, "metric"),
    COLUMN(COLUMN_STRING, acceptance, machine, "machine"),
    COLUMN(COLUMN_STRING, acceptance, commit, "commit_hash"),
    COLUMN(COLUMN_REAL, acceptance, change, "change"),
    COLUMN(COLUMN_STRING, acceptance, reason, "reason"),
    COLUMN(COLUMN_STRING, acceptance, author, "author"),
    COLUMN(COLUMN_DATE, acceptance, accepted_ms, "accepted_ms"),
    COLUMN(COLUMN_DATE, acceptance, seen_ms, "seen_ms"),
    COLUMN_END,
};

const struct table table_acceptance = { "acceptance", acceptance_columns };

int store_acceptance_add(struct store *s, struct acceptance *items, size_t nr, struct error *err)
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
        struct acceptance *a = array_push(out);
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
        struct acceptance *a = &list->items[i];
        free(a->key);
        free(a->metric);
        free(a->machine);
        free(a->commit);
        free(a->reason);
        free(a->author);
    }
    array_release(list);
}

/* ---- self-tests ---- */

static const struct column selftest_columns[] = {
    COLUMN(COLUMN_NAME, store_selftest, machine, "machine"),
    COLUMN(COLUMN_NAME, store_selftest, device, "device"),
    COLUMN(COLUMN_NAME, store_selftest, kind, "kind"),
    COLUMN(COLUMN_DATE, store_selftest, tested_ms, "tested_ms"),
    COLUMN(COLUMN_INT, store_selftest, rule, "rule"),
    COLUMN(COLUMN_JSON, store_selftest, result, "result"),
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
