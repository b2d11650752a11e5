/* SPDX-License-Identifier: MIT */
/* From the damaged file's tables into those of a new one. Every row passes the new file's types,
 * checks and references; one that does not is lost, not an error. */
#include "history/salvage_parts.h"
#include "store/columns.h"
#include "store/rows.h"

#include <stdio.h>
#include <string.h>

/* Behind the tables that they refer to. */
static const struct source {
    const char *name;
    bool by_key; /* without row numbers: read from both ends */
    const char *forwards, *backwards;
    const char *index_order; /* what of its rows an index or a key holds, in whose order; or NULL */
    const char *index_columns;
} sources[] = {
    { .name = "machine",
      .index_columns = "id, fingerprint, class, cpu, cores, threads, isa, l1d, l2, l3, "
                       "l3_shared_by, memory, gpu",
      .index_order = "fingerprint" },
    { .name = "build",
      .index_columns = "id, version, commit_hash, branch, dirty, compiler, flags, build_type",
      .index_order = "commit_hash" },
    { .name = "run" },
    { .name = "launch", .index_columns = "id, run, seq", .index_order = "run" },
    { .name = "benchmark", .index_columns = "id, key", .index_order = "key" },
    { .name = "measurement" },
    { .name = "ceiling" },
    { .name = "baseline" },
    { .name = "baseline_run",
      .by_key = true,
      .forwards = "baseline, run",
      .backwards = "baseline DESC, run DESC" },
    { .name = "annotation" },
    { .name = "comparison" },
    { .name = "verdict" },
    { .name = "acceptance" },
    { .name = "selftest" },
    { .name = "tuned" },
};

struct copying {
    struct salvage *s;
    const struct source *source;
    struct salvaged_table *table;
    sqlite3_stmt *insert;
    int first; /* column of the row that is the insert's first */
};

/* ---- columns ---- */

/* The first that is asked loads what the file defines. That could be loaded before, so a failure
 * that is no damage, of memory or the disk, does not say that an older file lacks the column. */
static int find_column(const struct salvage *s, const char *table, const char *column,
                       struct error *err)
{
    int rc =
        sqlite3_table_column_metadata(s->from, "main", table, column, NULL, NULL, NULL, NULL, NULL);

    if (rc == SQLITE_OK)
        return 1;
    bool lacks = (rc & 0xff) == SQLITE_ERROR || (rc & 0xff) == SQLITE_CORRUPT;
    return lacks ? 0 : salvage_unread(s->from, err);
}

/* "a, b, c" of those that both files have, and "?, ?, ?". */
static int list_columns(struct salvage *s, const char *table, struct strbuf *names,
                        struct strbuf *marks, struct error *err)
{
    struct strbuf sql;
    struct sql_query q;
    int rc;

    strbuf_init(&sql);
    strbuf_addf(&sql, "SELECT name FROM pragma_table_info('%s')", table);
    rc = sql_open(&q, s->to, sql.data, err);
    strbuf_release(&sql);
    if (rc)
        return -1;
    while ((rc = sql_step(&q, err)) > 0) {
        const char *name = sql_text(&q);
        int found = find_column(s, table, name, err);
        if (found < 0) {
            rc = -1;
            break;
        }
        if (!found)
            continue;
        strbuf_addf(names, "%s%s", names->length ? ", " : "", name);
        strbuf_adds(marks, marks->length ? ", ?" : "?");
    }
    sql_close(&q);
    return rc;
}

static int open_insert(struct copying *c, const char *columns, const char *marks, struct error *err)
{
    struct strbuf sql;

    strbuf_init(&sql);
    strbuf_addf(&sql, "INSERT INTO %s (%s) VALUES (%s)", c->source->name, columns, marks);
    int rc = sqlite3_prepare_v2(c->s->to->db, sql.data, -1, &c->insert, NULL);
    strbuf_release(&sql);
    return rc == SQLITE_OK ? 0 : sql_error(c->s->to, rc, err);
}

/* ---- rows ---- */

static int64_t bytes_of(sqlite3_stmt *row)
{
    int64_t bytes = 0;

    for (int i = 0; i < sqlite3_column_count(row); i++)
        if (sqlite3_column_type(row, i) == SQLITE_TEXT ||
            sqlite3_column_type(row, i) == SQLITE_BLOB)
            bytes += sqlite3_column_bytes(row, i);
    return bytes;
}

/* 1: stored, 0: the new file does not take it, or pages are read again and again. */
static int insert_row(struct copying *c, sqlite3_stmt *row, struct error *err)
{
    int nr = sqlite3_column_count(row) - c->first;
    int64_t bytes = bytes_of(row);

    if (bytes > c->s->bytes_left)
        return 0;
    int rc = SQLITE_OK;
    for (int i = 0; rc == SQLITE_OK && i < nr; i++)
        rc = sqlite3_bind_value(c->insert, i + 1, sqlite3_column_value(row, i + c->first));
    if (rc == SQLITE_OK)
        rc = sqlite3_step(c->insert);
    sqlite3_reset(c->insert);
    if (rc == SQLITE_DONE) {
        c->s->bytes_left -= bytes;
        return 1;
    }
    if ((rc & 0xff) == SQLITE_CONSTRAINT || (rc & 0xff) == SQLITE_MISMATCH || rc == SQLITE_TOOBIG)
        return 0;
    return sql_error(c->s->to, rc, err);
}

static int take_row(void *context, sqlite3_stmt *row, struct error *err)
{
    struct copying *c = context;
    int rc = insert_row(c, row, err);

    c->table->saved += rc > 0;
    c->table->lost += rc == 0;
    return rc < 0 ? -1 : 0;
}

/* From both ends rows come twice: those that are there are no loss. */
static int take_again(void *context, sqlite3_stmt *row, struct error *err)
{
    struct copying *c = context;
    int rc = insert_row(c, row, err);

    c->table->saved += rc > 0;
    return rc < 0 ? -1 : 0;
}

static int copy_by_number(struct copying *c, const char *columns, struct error *err)
{
    struct salvage_gaps gaps;
    struct strbuf with_number;

    strbuf_init(&with_number);
    strbuf_addf(&with_number, "rowid, %s", columns);
    c->first = 1;
    int rc = salvage_walk(c->s->from, c->source->name, with_number.data, take_row, c, &gaps, err);
    strbuf_release(&with_number);
    c->table->lost += gaps.rows;
    c->table->more |= gaps.open;
    memcpy(c->table->spans, gaps.spans, sizeof(gaps.spans));
    c->table->nr_spans = gaps.nr_spans;
    return rc;
}

static int copy_by_key(struct copying *c, const char *columns, struct error *err)
{
    struct strbuf select;
    bool damaged;

    strbuf_init(&select);
    strbuf_addf(&select, "SELECT %s FROM %s", columns, c->source->name);
    c->first = 0;
    int rc = salvage_both_ways(c->s->from, select.data, c->source->forwards, c->source->backwards,
                               take_again, c, &damaged, err);
    strbuf_release(&select);
    c->table->more |= damaged;
    return rc;
}

/* ---- what an index still knows ---- */

/* The launch was, and its place is known; how it went is not. */
static int open_launch_insert(struct copying *c, struct error *err)
{
    static const char text[] =
        "INSERT INTO launch (id, run, seq, started_ms, ended_ms, exit_status, error_text) "
        "SELECT ?1, ?2, ?3, started_ms, ended_ms, 0, 'restored by a salvage: its times are the "
        "run''s' FROM run WHERE id = ?2";
    int rc = sqlite3_prepare_v2(c->s->to->db, text, -1, &c->insert, NULL);

    return rc == SQLITE_OK ? 0 : sql_error(c->s->to, rc, err);
}

static void count_restored(struct salvaged_table *table)
{
    table->saved++;
    table->restored++;
    table->lost -= table->lost > 0;
}

static int take_restored(void *context, sqlite3_stmt *row, struct error *err)
{
    struct copying *c = context;
    int rc = insert_row(c, row, err);

    if (rc > 0 && sqlite3_changes(c->s->to->db) == 1)
        count_restored(c->table);
    return rc < 0 ? -1 : 0;
}

/* A benchmark is its key; dims are put in below. */
static int take_benchmark(void *context, sqlite3_stmt *row, struct error *err)
{
    static const char *const extra[] = { "id", NULL };
    struct copying *c = context;
    const char *key = (const char *)sqlite3_column_text(row, 1);
    struct benchmark_name name;
    struct error ignored;
    struct sql_query q;

    if (!key || benchmark_name_parse(key, &name, &ignored))
        return 0;
    if (table_open_insert(&table_benchmark, c->s->to, extra, &q, err))
        return -1;
    sql_bind_int(&q, sqlite3_column_int64(row, 0));
    table_bind(&table_benchmark, &q, &name);
    int rc = sqlite3_step(q.stmt);
    sql_close(&q);
    if ((rc & 0xff) == SQLITE_CONSTRAINT) /* it was saved as it is */
        return 0;
    if (rc != SQLITE_DONE)
        return sql_error(c->s->to, rc, err);
    count_restored(c->table);
    return 0;
}

static int open_restoring(struct copying *c, struct error *err)
{
    struct strbuf marks;

    if (strcmp(c->source->name, "launch") == 0)
        return open_launch_insert(c, err);
    strbuf_init(&marks);
    strbuf_addc(&marks, '?');
    for (const char *p = c->source->index_columns; (p = strchr(p, ',')); p++)
        strbuf_adds(&marks, ", ?");
    int rc = open_insert(c, c->source->index_columns, marks.data, err);
    strbuf_release(&marks);
    return rc;
}

static int restore_from_index(struct copying *c, struct error *err)
{
    bool benchmarks = strcmp(c->source->name, "benchmark") == 0, ignored;
    struct strbuf select, backwards;

    strbuf_init(&select);
    strbuf_init(&backwards);
    strbuf_addf(&select, "SELECT %s FROM %s", c->source->index_columns, c->source->name);
    strbuf_addf(&backwards, "%s DESC", c->source->index_order);
    c->first = 0;
    int rc = benchmarks ? 0 : open_restoring(c, err);
    if (rc == 0)
        rc = salvage_both_ways(c->s->from, select.data, c->source->index_order, backwards.data,
                               benchmarks ? take_benchmark : take_restored, c, &ignored, err);
    strbuf_release(&select);
    strbuf_release(&backwards);
    return rc;
}

/* ---- one table ---- */

static void close_insert(struct copying *c)
{
    sqlite3_finalize(c->insert);
    c->insert = NULL;
}

static int copy_rows(struct copying *c, struct error *err)
{
    struct strbuf names, marks;

    strbuf_init(&names);
    strbuf_init(&marks);
    int rc = list_columns(c->s, c->source->name, &names, &marks, err);
    if (rc == 0 && names.length) { /* an older file lacks some tables */
        rc = open_insert(c, names.data, marks.data, err);
        if (rc == 0)
            rc = c->source->by_key ? copy_by_key(c, names.data, err)
                                   : copy_by_number(c, names.data, err);
    }
    strbuf_release(&names);
    strbuf_release(&marks);
    close_insert(c);
    return rc;
}

/* An index may know of more rows than were found. */
static void count_known(struct copying *c)
{
    sqlite3_stmt *stmt = NULL;
    char text[64];

    /* Not count(*), which SQLite counts in one instruction: that has no end on a hostile file. */
    snprintf(text, sizeof(text), "SELECT count(1) FROM %s", c->source->name);
    if (sqlite3_prepare_v2(c->s->from, text, -1, &stmt, NULL) == SQLITE_OK &&
        sqlite3_step(stmt) == SQLITE_ROW) {
        int64_t missing = sqlite3_column_int64(stmt, 0) - c->table->saved;
        if (missing > c->table->lost)
            c->table->lost = missing;
    }
    sqlite3_finalize(stmt);
}

static bool is_foreign(const struct salvaged *result, const char *name)
{
    for (int i = 0; i < result->nr_foreign; i++)
        if (strcmp(result->foreign[i].name, name) == 0)
            return true;
    return false;
}

static int copy_table(struct salvage *s, const struct source *source, struct error *err)
{
    struct salvaged_table *table = array_push(&s->result->tables);
    struct copying c = { .s = s, .source = source, .table = table };

    table->name = source->name;
    s->turns = 0;
    if (is_foreign(s->result, source->name)) {
        table->more = true;
        return 0;
    }
    int rc = copy_rows(&c, err);
    if (rc == 0)
        count_known(&c);
    if (rc == 0 && source->index_order && (table->lost > 0 || table->more)) {
        rc = restore_from_index(&c, err);
        close_insert(&c);
    }
    return rc;
}

/* The dims of benchmarks follow from their keys, so they are never lost. */
static int restore_dims(struct store *s, struct error *err)
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

int salvage_tables(struct salvage *s, struct error *err)
{
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
        if (copy_table(s, &sources[i], err))
            return -1;
    return restore_dims(s->to, err);
}
