/* SPDX-License-Identifier: MIT */
#include "history/verify.h"

#include "base/array.h"
#include "history/salvage_walk.h"
#include "store/rows.h"
#include "store/schema.h"
#include "vfs/page_checksum.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a file with more damaged pages (256 MiB of them) the rest is not looked at: somebody else made
 * it so, by a hole of any length. */
enum { PROBLEMS_SHOWN = 3, DAMAGED_MOST = 65536 };

struct checking {
    struct store *store;
    struct store_health *health;
    struct strbuf problems; /* the first few, as text */
    bool damaged_pages;
};

static void add_problem(struct checking *c, const char *text)
{
    if (c->health->problems++ < PROBLEMS_SHOWN)
        strbuf_addf(&c->problems, "%s%s", c->problems.length ? "; " : "", text);
}

/* ---- pages whose checksum does not hold, and the rows that lie there ---- */

struct pages {
    uint32_t *items;
    size_t nr, capacity;
};

static void add_page(void *context, uint32_t page)
{
    struct pages *pages = context;

    *array_push(pages) = page;
}

/* A walk reads each column, so it meets every page that has a piece of the table. */
static int pass_by(void *context, sqlite3_stmt *row, struct error *err)
{
    (void)context;
    (void)row;
    (void)err;
    return 0;
}

static void add_span(struct checking *c, const char *table, const struct salvaged_span *span)
{
    char text[160], last[32] = "the last";

    if (span->last != INT64_MAX)
        snprintf(last, sizeof(last), "%" PRId64, span->last);
    snprintf(text, sizeof(text),
             "page %" PRIu32 " is damaged (checksum): row%s %" PRId64 "%s%s of %.32s lie%s there",
             span->page, span->first == span->last ? "" : "s", span->first,
             span->first == span->last ? "" : " to ", span->first == span->last ? "" : last, table,
             span->first == span->last ? "s" : "");
    add_problem(c, text);
}

static void forget_page(struct pages *pages, uint32_t page)
{
    for (size_t i = 0; i < pages->nr; i++)
        if (pages->items[i] == page)
            pages->items[i] = 0;
}

static int name_rows(struct checking *c, const char *table, struct pages *pages, struct error *err)
{
    struct salvage_gaps gaps;

    if (salvage_walk(c->store->db, table, "rowid, *", pass_by, NULL, &gaps, err))
        return -1;
    for (int i = 0; i < gaps.nr_spans; i++) {
        add_span(c, table, &gaps.spans[i]);
        forget_page(pages, gaps.spans[i].page);
    }
    return 0;
}

static int name_all_rows(struct checking *c, struct pages *pages, struct error *err)
{
    static const char *const text =
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE '%WITHOUT ROWID%' "
        "AND name NOT LIKE 'sqlite%'";
    struct sql_query q;
    int rc;

    if (sql_open(&q, c->store, text, err))
        return -1;
    while ((rc = sql_step(&q, err)) > 0)
        if ((rc = name_rows(c, sql_text(&q), pages, err)) < 0)
            break;
    sql_close(&q);
    return rc;
}

/* Nothing else is looked at where pages are damaged: it would stop at the first of them. */
static int check_pages(struct checking *c, struct error *err)
{
    struct pages pages = { 0 };
    int rc = page_checksum_scan(c->store->db, DAMAGED_MOST, add_page, &pages);

    c->health->watched = page_checksum_is_on(c->store->db);
    rc = rc == SQLITE_OK ? 0 : sql_error(c->store, rc, err);
    c->damaged_pages = pages.nr > 0;
    if (pages.nr == DAMAGED_MOST)
        add_problem(c, "so many pages are damaged that the rest of the file was not looked at");
    if (rc == 0 && pages.nr > 0)
        rc = name_all_rows(c, &pages, err);
    for (size_t i = 0; rc == 0 && i < pages.nr; i++) {
        char text[120];
        snprintf(text, sizeof(text),
                 "page %" PRIu32
                 " is damaged (checksum): no rows lie there, it is of an index or "
                 "unused",
                 pages.items[i]);
        if (pages.items[i])
            add_problem(c, text);
    }
    array_release(&pages);
    return rc;
}

/* What could not be read, as `problem` says: that is the file's, unless no memory was left. */
static int take_problem(struct checking *c, const char *problem, struct error *err)
{
    struct store *s = c->store;

    if (s->failure == SQLITE_NOMEM || sqlite3_errcode(s->db) == SQLITE_NOMEM)
        return sql_error(s, SQLITE_NOMEM, err);
    add_problem(c, problem);
    return 0;
}

/* integrity_check answers with one row "ok", or one row a problem. */
static int check_integrity(struct checking *c, struct error *err)
{
    struct sql_query q;
    int rc;

    if (sql_open(&q, c->store, "PRAGMA integrity_check(100)", err))
        return -1;
    while ((rc = sql_step(&q, err)) > 0) {
        const char *text = sql_text(&q);
        if ((!text || strcmp(text, "ok") != 0) &&
            (rc = take_problem(c, text ? text : "no answer", err)) < 0)
            break;
    }
    sql_close(&q);
    return rc;
}

static int check_references(struct checking *c, struct error *err)
{
    struct sql_query q;
    int rc;

    if (sql_open(&q, c->store, "PRAGMA foreign_key_check", err))
        return -1;
    while ((rc = sql_step(&q, err)) > 0) {
        char text[160];
        const char *table = sql_text(&q);
        int64_t row = sql_int(&q);
        snprintf(text, sizeof(text), "row %" PRId64 " of %.64s refers to nothing", row,
                 table ? table : "?");
        add_problem(c, text);
    }
    sql_close(&q);
    return rc;
}

static void add_odd(struct checking *c, const char *table, int64_t row)
{
    char text[160];

    snprintf(text, sizeof(text), "%s of %s %" PRId64 " holds a number or words that it cannot be",
             c->store->odd, table, row);
    add_problem(c, text);
    c->health->odd++;
}

/* Rows that can be read, but hold what harness would not write. */
static int check_rows(struct checking *c, const struct table *t, struct error *err)
{
    struct sql_query q;
    int rc;

    if (table_open_select(t, c->store, "", &q, err))
        return -1;
    while ((rc = sql_step(&q, err)) > 0) {
        struct error problem;
        int64_t id = sql_int(&q);
        c->store->odd = NULL;
        if (table_check(t, &q, &problem)) {
            error_prefix(&problem, "%s %" PRId64, t->name, id);
            if ((rc = take_problem(c, problem.message, err)) < 0)
                break;
        } else if (c->store->odd) {
            add_odd(c, t->name, id);
        }
    }
    sql_close(&q);
    return rc;
}

static int check_tables(struct checking *c, struct error *err)
{
    static const struct table *const first[] = { &table_machine, &table_build,     &table_run,
                                                 &table_launch,  &table_benchmark, &table_roof };
    static const struct table *const verdicts[] = { &table_comparison, &table_verdict,
                                                    &table_acceptance, &table_selftest };

    for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
        if (check_rows(c, first[i], err))
            return -1;
    for (size_t i = 0; c->store->version >= SCHEMA_VERDICTS && i < 4; i++)
        if (check_rows(c, verdicts[i], err))
            return -1;
    return c->store->version >= SCHEMA_TUNED ? check_rows(c, &table_tuned, err) : 0;
}

/* Names of baselines, and the dims of benchmarks. */
static int check_names(struct checking *c, struct error *err)
{
    struct store_baselines baselines = { 0 };
    struct error problem;
    struct scan *scan = scan_create(c->store, NULL, SCAN_BY_LAUNCH, &problem);
    int rc = scan ? 0 : take_problem(c, problem.message, err);

    scan_free(scan);
    if (rc == 0 && store_baseline_list(c->store, &baselines, &problem))
        rc = take_problem(c, problem.message, err);
    store_baselines_release(&baselines);
    return rc;
}

static int check_measurements(struct checking *c, struct error *err)
{
    struct sql_query q;
    int rc;

    if (sql_open(&q, c->store, "SELECT id FROM measurement ORDER BY id", err))
        return -1;
    while ((rc = sql_step(&q, err)) > 0) {
        struct measurement m = { .nr_samples = 0 };
        struct error problem;
        int64_t id = sql_int(&q);
        c->store->odd = NULL;
        if (read_measurement(c->store, id, &m, &problem))
            rc = take_problem(c, problem.message, err);
        else if (c->store->odd)
            add_odd(c, "measurement", id);
        c->health->measurements++;
        c->health->samples += (int64_t)m.nr_samples;
        measurement_release(&m);
        if (rc < 0)
            break;
    }
    sql_close(&q);
    return rc;
}

static int check_all(struct checking *c, struct error *err)
{
    struct store *s = c->store;

    if (check_pages(c, err))
        return -1;
    if (c->health->problems > 0)
        return 0;
    if (check_integrity(c, err) || check_references(c, err))
        return -1;
    /* Not count(*), which has no end where pages lead to each other. */
    if (sql_one_int(s, "SELECT count(1) FROM run", &c->health->runs, err) ||
        sql_one_int(s, "SELECT count(1) FROM launch", &c->health->launches, err))
        return -1;
    if (check_tables(c, err) || check_measurements(c, err))
        return -1;
    return check_names(c, err);
}

static int check_in_transaction(struct checking *c, struct error *err)
{
    struct store *s = c->store;

    /* A page that the power has torn lies whole in the log, and is mended from there. */
    sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    int rc = sql_execute(s, "BEGIN", err);
    if (rc == 0)
        rc = check_all(c, err);
    if (!sqlite3_get_autocommit(s->db))
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return rc;
}

static int problems_error(const struct checking *c, struct error *err)
{
    int64_t nr = c->health->problems;

    return error_set(err,
                     "%s: %" PRId64
                     " problem%s: %s. %sKeep a copy of the file, then restore a "
                     "backup or save what can be read: `harness history salvage FILE NEW`",
                     c->store->path, nr, nr == 1 ? "" : "s", c->problems.data,
                     c->damaged_pages ? "Bytes changed on the disk, or another program wrote them. "
                                      : "");
}

static int verify_store(struct store *s, bool odd_is_fine, struct store_health *health,
                        struct error *err)
{
    struct checking c = { .store = s, .health = health };

    *health = (struct store_health) { 0 };
    s->failure = SQLITE_OK;
    strbuf_init(&c.problems);
    int rc = check_in_transaction(&c, err);
    if (rc == 0 && health->problems > (odd_is_fine ? health->odd : 0))
        rc = problems_error(&c, err);
    strbuf_release(&c.problems);
    return rc;
}

int store_verify(struct store *s, struct store_health *health, struct error *err)
{
    return verify_store(s, false, health, err);
}

int store_verify_readable(struct store *s, struct store_health *health, struct error *err)
{
    return verify_store(s, true, health, err);
}
