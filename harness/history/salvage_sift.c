/* SPDX-License-Identifier: MIT */
/* Rows that are there, but not what a history holds. */
#include "core/names.h"
#include "history/salvage_parts.h"
#include "store/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ids {
    int64_t *items;
    size_t nr, capacity;
};

static struct salvaged_table *find_table(struct salvaged *result, const char *name)
{
    for (size_t i = 0; i < result->tables.nr; i++)
        if (strcmp(result->tables.items[i].name, name) == 0)
            return &result->tables.items[i];
    return NULL;
}

/* ---- which ---- */

/* *odd (may be NULL): those that can be read, but hold what they cannot be. */
static int bad_rows(struct store *s, const struct table *t, struct ids *bad, struct ids *odd,
                    struct error *err)
{
    struct sql_query q;
    int rc;

    if (table_open_select(t, s, "", &q, err))
        return -1;
    while ((rc = sql_step(&q, err)) > 0) {
        struct error ignored;
        int64_t id = sql_int(&q);
        s->odd = NULL;
        if (table_check(t, &q, &ignored))
            *array_push(bad) = id;
        else if (s->odd && odd)
            *array_push(odd) = id;
    }
    sql_close(&q);
    return rc;
}

/* With the machine and the build that they name. */
static int bad_runs(struct store *s, struct ids *bad, struct error *err)
{
    struct sql_query q;
    int rc;

    if (open_runs(s, "", &q, err))
        return -1;
    while ((rc = sql_step(&q, err)) > 0) {
        struct run run = { .id = 0 };
        struct error ignored;
        if (read_run(&q, &run, &ignored))
            *array_push(bad) = run.id;
        run_release(&run);
    }
    sql_close(&q);
    return rc;
}

static int bad_baselines(struct store *s, struct ids *bad, struct error *err)
{
    struct sql_query q;
    int rc;

    if (sql_open(&q, s, "SELECT id, name FROM baseline", err))
        return -1;
    while ((rc = sql_step(&q, err)) > 0) {
        struct error ignored;
        int64_t id = sql_int(&q);
        if (name_check_baseline(sql_text(&q), STORE_NAME_SIZE, &ignored))
            *array_push(bad) = id;
    }
    sql_close(&q);
    return rc;
}

/* *odd: those that only have a number or words that cannot be. */
static int bad_measurements(struct store *s, struct ids *bad, struct ids *odd, struct error *err)
{
    struct sql_query q;
    int rc;

    if (sql_open(&q, s, "SELECT id FROM measurement ORDER BY id", err))
        return -1;
    while ((rc = sql_step(&q, err)) > 0) {
        struct measurement m = { .nr_samples = 0 };
        struct error ignored;
        int64_t id = sql_int(&q);
        s->odd = NULL;
        if (read_measurement(s, id, &m, &ignored))
            *array_push(bad) = id;
        else if (s->odd)
            *array_push(odd) = id;
        measurement_release(&m);
    }
    sql_close(&q);
    return rc;
}

/* ---- taking out ---- */

/* `text` changes what belongs to one number; `table` NULL: nothing is lost by that. */
static int change_ids(struct salvage *s, const char *table, const char *text, const struct ids *bad,
                      struct error *err)
{
    struct salvaged_table *counts = table ? find_table(s->result, table) : NULL;

    for (size_t i = 0; i < bad->nr; i++) {
        struct sql_query q;
        if (sql_open(&q, s->to, text, err))
            return -1;
        sql_bind_int(&q, bad->items[i]);
        if (sql_run(&q, err))
            return -1;
        int nr = counts ? sqlite3_changes(s->to->db) : 0;
        if (counts) {
            counts->saved -= nr;
            counts->lost += nr;
        }
    }
    return 0;
}

static int mend_member(struct store *s, const struct table *t, const struct column *c, int64_t id,
                       struct error *err)
{
    char select[128], update[128];
    struct sql_query q;

    snprintf(select, sizeof(select), "SELECT %.32s FROM %.32s WHERE id = ?", c->name, t->name);
    snprintf(update, sizeof(update), "UPDATE OR IGNORE %.32s SET %.32s = ? WHERE id = ?", t->name,
             c->name);
    if (sql_open(&q, s, select, err))
        return -1;
    sql_bind_int(&q, id);
    int rc = sql_step(&q, err);
    char *words = rc > 0 ? read_words(&q) : NULL;
    sql_close(&q);
    if (words && (rc = sql_open(&q, s, update, err)) == 0) {
        sql_bind_text(&q, words);
        sql_bind_int(&q, id);
        rc = sql_run(&q, err);
    }
    free(words);
    return rc;
}

/* Words get '?' for what cannot be shown, unless there is such a row then (builds, machines). */
static int mend_words(struct store *s, const struct table *t, const struct ids *odd,
                      struct error *err)
{
    for (size_t i = 0; i < odd->nr; i++)
        for (const struct column *c = t->columns; c->name; c++)
            if (c->type == COLUMN_CHARS && mend_member(s, t, c, odd->items[i], err))
                return -1;
    return 0;
}

static int sift_runs(struct salvage *s, struct error *err)
{
    struct ids runs = { 0 }, launches = { 0 };
    int rc = bad_runs(s->to, &runs, err);

    if (rc == 0)
        rc = change_ids(s, "baseline_run", "DELETE FROM baseline_run WHERE run = ?", &runs, err);
    if (rc == 0)
        rc = change_ids(s, "run", "DELETE FROM run WHERE id = ?", &runs, err);
    if (rc == 0)
        rc = bad_rows(s->to, &table_launch, &launches, NULL, err);
    if (rc == 0)
        rc = change_ids(s, "launch", "DELETE FROM launch WHERE id = ?", &launches, err);
    array_release(&runs);
    array_release(&launches);
    return rc;
}

#define TEXT(x)    #x
#define TEXT_OF(x) TEXT(x)
#define MOST       TEXT_OF(FACT_AMOUNT_MAX)

#define IS_AMOUNT(column) #column " BETWEEN 0 AND " MOST
#define AMOUNT(column)    #column " = iif(" IS_AMOUNT(column) ", " #column ", NULL), "

static int sift_measurements(struct salvage *s, struct error *err)
{
    static const char numbers[] =
        "UPDATE measurement SET " AMOUNT(flops) AMOUNT(bytes) AMOUNT(tokens) AMOUNT(seconds)
            AMOUNT(tolerance) AMOUNT(checked) "telemetry = (SELECT json_group_object(key, value) FROM "
                            "json_each(telemetry) WHERE type IN ('integer', 'real') AND "
                            "value BETWEEN -" MOST " AND " MOST ") WHERE id = ?";
    struct ids benchmarks = { 0 }, measurements = { 0 }, odd = { 0 };
    int rc = bad_rows(s->to, &table_benchmark, &benchmarks, NULL, err);

    if (rc == 0)
        rc = change_ids(s, "measurement", "DELETE FROM measurement WHERE benchmark = ?",
                        &benchmarks, err);
    if (rc == 0)
        rc = change_ids(s, "benchmark", "DELETE FROM benchmark WHERE id = ?", &benchmarks, err);
    if (rc == 0)
        rc = bad_measurements(s->to, &measurements, &odd, err);
    if (rc == 0)
        rc = change_ids(s, "measurement", "DELETE FROM measurement WHERE id = ?", &measurements,
                        err);
    if (rc == 0)
        rc = change_ids(s, NULL, numbers, &odd, err);
    if (rc == 0)
        rc = mend_words(s->to, &table_measurement, &odd, err);
    array_release(&benchmarks);
    array_release(&measurements);
    array_release(&odd);
    return rc;
}

static int sift_table(struct salvage *s, const struct table *t, struct error *err)
{
    struct ids bad = { 0 }, odd = { 0 };
    char text[64];
    int rc = bad_rows(s->to, t, &bad, &odd, err);

    snprintf(text, sizeof(text), "DELETE FROM %s WHERE id = ?", t->name);
    if (rc == 0)
        rc = change_ids(s, t->name, text, &bad, err);
    if (rc == 0)
        rc = mend_words(s->to, t, &odd, err);
    array_release(&bad);
    array_release(&odd);
    return rc;
}

/* What nobody refers to: machines go after their roofs. Of runs and machines those are gone by now
 * that cannot be read. */
static int sift_tables(struct salvage *s, struct error *err)
{
    static const struct table *const tables[] = {
        &table_roof,    &table_machine,    &table_build,    &table_run,  &table_comparison,
        &table_verdict, &table_acceptance, &table_selftest, &table_tuned
    };
    struct ids machines = { 0 };
    int rc = bad_rows(s->to, &table_machine, &machines, NULL, err);

    if (rc == 0)
        rc = change_ids(s, "ceiling", "DELETE FROM ceiling WHERE machine = ?", &machines, err);
    if (rc == 0)
        rc = change_ids(s, "machine", "DELETE FROM machine WHERE id = ?", &machines, err);
    for (size_t i = 0; rc == 0 && i < sizeof(tables) / sizeof(tables[0]); i++)
        rc = sift_table(s, tables[i], err);
    array_release(&machines);
    return rc;
}

static int sift_by_text(struct salvage *s, struct error *err)
{
    static const struct {
        const char *table, *text;
    } texts[] = {
        { "baseline", "DELETE FROM baseline WHERE id NOT IN (SELECT baseline FROM baseline_run)" },
        { "ceiling", "UPDATE ceiling SET " AMOUNT(value) AMOUNT(low) AMOUNT(high)
                         AMOUNT(spec) "unit = unit WHERE NOT (" IS_AMOUNT(value) " AND " IS_AMOUNT(
                             low) " AND " IS_AMOUNT(high) " AND " IS_AMOUNT(spec) ")" },
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (sql_execute(s->to, texts[i].text, err))
            return -1;
        if (strncmp(texts[i].text, "DELETE", 6) != 0)
            continue;
        find_table(s->result, texts[i].table)->saved -= sqlite3_changes(s->to->db);
        find_table(s->result, texts[i].table)->lost += sqlite3_changes(s->to->db);
    }
    return 0;
}

int salvage_sift(struct salvage *s, struct error *err)
{
    struct ids names = { 0 };
    int rc = sift_runs(s, err) || sift_measurements(s, err) || sift_tables(s, err) ? -1 : 0;

    if (rc == 0)
        rc = bad_baselines(s->to, &names, err);
    if (rc == 0)
        rc = change_ids(s, "baseline", "DELETE FROM baseline WHERE id = ?", &names, err);
    if (rc == 0)
        rc = sift_by_text(s, err);
    array_release(&names);
    return rc;
}
