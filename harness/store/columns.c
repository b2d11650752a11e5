/* SPDX-License-Identifier: MIT */
#include "store/columns.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "core/names.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct column machine_columns[] = {
    COLUMN(COLUMN_NAME, machine, id, "fingerprint"),
    COLUMN(COLUMN_NAME, machine, class_name, "class"),
    COLUMN(COLUMN_CHARS, machine, cpu, "cpu"),
    COLUMN(COLUMN_INT, machine, cores, "cores"),
    COLUMN(COLUMN_INT, machine, threads, "threads"),
    COLUMN(COLUMN_CHARS, machine, isa, "isa"),
    COLUMN(COLUMN_COUNT, machine, l1d, "l1d"),
    COLUMN(COLUMN_COUNT, machine, l2, "l2"),
    COLUMN(COLUMN_COUNT, machine, l3, "l3"),
    COLUMN(COLUMN_INT, machine, l3_shared_by, "l3_shared_by"),
    COLUMN(COLUMN_COUNT, machine, memory, "memory"),
    COLUMN(COLUMN_CHARS, machine, gpu, "gpu"),
    COLUMN_END,
};

static const struct column build_columns[] = {
    COLUMN(COLUMN_CHARS, build, version, "version"),
    COLUMN(COLUMN_CHARS, build, commit, "commit_hash"),
    COLUMN(COLUMN_CHARS, build, branch, "branch"),
    COLUMN(COLUMN_BOOL, build, dirty, "dirty"),
    COLUMN(COLUMN_CHARS, build, compiler, "compiler"),
    COLUMN(COLUMN_CHARS, build, flags, "flags"),
    COLUMN(COLUMN_CHARS, build, build_type, "build_type"),
    COLUMN_END,
};

static const struct column run_columns[] = {
    COLUMN(COLUMN_NAME, run, uuid, "uuid"),
    COLUMN(COLUMN_DATE, run, started_ms, "started_ms"),
    COLUMN(COLUMN_DATE, run, ended_ms, "ended_ms"),
    COLUMN(COLUMN_CHARS, run, suite, "suite"),
    COLUMN(COLUMN_CHARS, run, label, "label"),
    COLUMN(COLUMN_STRING, run, environment, "environment"),
    COLUMN(COLUMN_STRING, run, settings, "settings"),
    COLUMN(COLUMN_RUN_KIND, run, kind, "kind"),
    COLUMN(COLUMN_CHARS, run, ab.id, "ab_id"),
    COLUMN(COLUMN_CHARS, run, ab.side, "ab_side"),
    COLUMN(COLUMN_UNSIGNED, run, ab.block, "ab_block"),
    COLUMN(COLUMN_CHARS, run, shard.sweep, "sweep"),
    COLUMN(COLUMN_UNSIGNED, run, shard.index, "shard"),
    COLUMN(COLUMN_UNSIGNED, run, shard.count, "shards"),
    COLUMN(COLUMN_CHARS, run, shard.plan, "shard_plan"),
    COLUMN_END,
};

static const struct column launch_columns[] = {
    COLUMN(COLUMN_INT, launch, seq, "seq"),
    COLUMN(COLUMN_DATE, launch, started_ms, "started_ms"),
    COLUMN(COLUMN_DATE, launch, ended_ms, "ended_ms"),
    COLUMN(COLUMN_INT, launch, exit_status, "exit_status"),
    COLUMN(COLUMN_STRING, launch, error_text, "error_text"),
    COLUMN_END,
};

static const struct column benchmark_columns[] = {
    COLUMN(COLUMN_NAME, benchmark_name, key, "key"),
    COLUMN(COLUMN_NAME, benchmark_name, kernel, "kernel"),
    COLUMN(COLUMN_NAME, benchmark_name, variant, "variant"),
    COLUMN(COLUMN_NAME, benchmark_name, math, "math"),
    COLUMN(COLUMN_NAME, benchmark_name, device, "device"),
    COLUMN(COLUMN_NAME, benchmark_name, cache, "cache"),
    COLUMN(COLUMN_NAME, benchmark_name, fill, "fill"),
    COLUMN_END,
};

static const struct column measurement_columns[] = {
    COLUMN(COLUMN_OUTCOME, measurement, outcome, "outcome"),
    COLUMN(COLUMN_STRING, measurement, message, "message"),
    COLUMN(COLUMN_BOOL, measurement, vendor, "vendor"),
    COLUMN(COLUMN_REAL, measurement, max_error, "max_error"),
    COLUMN(COLUMN_AMOUNT, measurement, tolerance, "tolerance"),
    COLUMN(COLUMN_AMOUNT, measurement, checked, "checked"),
    COLUMN(COLUMN_AMOUNT, measurement, flops, "flops"),
    COLUMN(COLUMN_AMOUNT, measurement, bytes, "bytes"),
    COLUMN(COLUMN_AMOUNT, measurement, tokens, "tokens"),
    COLUMN(COLUMN_COUNT, measurement, footprint, "footprint"),
    COLUMN(COLUMN_UNSIGNED, measurement, batch, "batch"),
    COLUMN(COLUMN_STOP, measurement, stop, "stop"),
    COLUMN(COLUMN_UNSIGNED, measurement, warmups, "warmups"),
    COLUMN(COLUMN_CHARS, measurement, clock, "clock"),
    COLUMN(COLUMN_DATE, measurement, started_ms, "started_ms"),
    COLUMN(COLUMN_AMOUNT, measurement, seconds, "seconds"),
    COLUMN_END,
};

static const struct column roof_columns[] = {
    COLUMN(COLUMN_NAME, roof, device, "device"),
    COLUMN(COLUMN_NAME, roof, name, "name"),
    COLUMN(COLUMN_NAME, roof, unit, "unit"),
    COLUMN(COLUMN_AMOUNT, roof, value, "value"),
    COLUMN(COLUMN_AMOUNT, roof, low, "low"),
    COLUMN(COLUMN_AMOUNT, roof, high, "high"),
    COLUMN(COLUMN_AMOUNT, roof, spec, "spec"),
    COLUMN(COLUMN_DATE, roof, measured_ms, "measured_ms"),
    COLUMN_END,
};

const struct table table_machine = { "machine", machine_columns };
const struct table table_build = { "build", build_columns };
const struct table table_run = { "run", run_columns };
const struct table table_launch = { "launch", launch_columns };
const struct table table_benchmark = { "benchmark", benchmark_columns };
const struct table table_measurement = { "measurement", measurement_columns };
const struct table table_roof = { "ceiling", roof_columns };

void table_add_columns(const struct table *t, const char *alias, struct strbuf *sql)
{
    for (const struct column *c = t->columns; c->name; c++)
        strbuf_addf(sql, ", %s.%s", alias, c->name);
}

int table_open_insert(const struct table *t, struct store *s, const char *const *extra,
                      struct sql_query *q, struct error *err)
{
    struct strbuf sql, values;
    const char *separator = "";

    strbuf_init(&sql);
    strbuf_init(&values);
    strbuf_addf(&sql, "INSERT INTO %s (", t->name);
    for (; extra && *extra; extra++, separator = ", ") {
        strbuf_addf(&sql, "%s%s", separator, *extra);
        strbuf_addf(&values, "%s?", separator);
    }
    for (const struct column *c = t->columns; c->name; c++, separator = ", ") {
        strbuf_addf(&sql, "%s%s", separator, c->name);
        strbuf_addf(&values, "%s?", separator);
    }
    strbuf_addf(&sql, ") VALUES (%s)", values.data);
    int rc = sql_open(q, s, sql.data, err);
    strbuf_release(&values);
    strbuf_release(&sql);
    return rc;
}

int table_open_select(const struct table *t, struct store *s, const char *tail, struct sql_query *q,
                      struct error *err)
{
    struct strbuf sql;

    strbuf_init(&sql);
    strbuf_addf(&sql, "SELECT %s.id", t->name);
    table_add_columns(t, t->name, &sql);
    strbuf_addf(&sql, " FROM %s %s", t->name, tail);
    int rc = sql_open(q, s, sql.data, err);
    strbuf_release(&sql);
    return rc;
}

/* As they will be read: what came from outside, or was cut in the middle of a character, would else
 * be found by `history verify`. */
static void bind_words(struct sql_query *q, const char *words)
{
    char *mended;

    if (name_is_line(words)) {
        sql_bind_text(q, words);
        return;
    }
    mended = memory_string(words);
    name_mend(mended);
    sql_bind_copy(q, mended);
    free(mended);
}

static void bind_member(const struct column *c, struct sql_query *q, const void *member)
{
    switch (c->type) {
    case COLUMN_INT:
        sql_bind_int(q, *(const int *)member);
        return;
    case COLUMN_COUNT:
    case COLUMN_DATE:
        sql_bind_int(q, *(const int64_t *)member);
        return;
    case COLUMN_UNSIGNED:
        sql_bind_int(q, *(const unsigned *)member);
        return;
    case COLUMN_BOOL:
        sql_bind_int(q, *(const bool *)member);
        return;
    case COLUMN_REAL:
        sql_bind_real(q, *(const double *)member);
        return;
    case COLUMN_AMOUNT:
        sql_bind_real(q, fact_is_amount(*(const double *)member) ? *(const double *)member : NAN);
        return;
    case COLUMN_NAME:
        sql_bind_text(q, member);
        return;
    case COLUMN_CHARS:
        bind_words(q, member);
        return;
    case COLUMN_STRING:
    case COLUMN_JSON:
        sql_bind_text(q, *(char *const *)member);
        return;
    case COLUMN_OUTCOME:
        sql_bind_text(q, outcome_name(*(const enum outcome *)member));
        return;
    case COLUMN_STOP:
        sql_bind_text(q, stop_rule_name(*(const enum stop_rule *)member));
        return;
    case COLUMN_RUN_KIND:
        sql_bind_text(q, run_kind_name(*(const enum run_kind *)member));
        return;
    }
}

void table_bind(const struct table *t, struct sql_query *q, const void *object)
{
    for (const struct column *c = t->columns; c->name; c++)
        bind_member(c, q, (const char *)object + c->offset);
}

static bool value_fits(const struct column *c, const void *member)
{
    switch (c->type) {
    case COLUMN_COUNT:
        return fact_is_count(*(const int64_t *)member);
    case COLUMN_DATE:
        return fact_is_date(*(const int64_t *)member);
    case COLUMN_NAME:
        return name_is_line(member);
    default:
        return true;
    }
}

int table_check_object(const struct table *t, const struct store *s, const void *object,
                       struct error *err)
{
    for (const struct column *c = t->columns; c->name; c++)
        if (!value_fits(c, (const char *)object + c->offset))
            return error_set(
                err,
                "%s: not stored: %s.%s is not what it can be (a line of text, a number "
                "up to 2^53, a date up to the year 9999)",
                s->path, t->name, c->name);
    return 0;
}

static bool read_integer(const struct column *c, int64_t value, void *member)
{
    switch (c->type) {
    case COLUMN_INT:
        *(int *)member = (int)value;
        return value >= INT_MIN && value <= INT_MAX;
    case COLUMN_UNSIGNED:
        *(unsigned *)member = (unsigned)value;
        return value >= 0 && value <= UINT_MAX;
    case COLUMN_BOOL:
        *(bool *)member = value != 0;
        return value == 0 || value == 1;
    case COLUMN_DATE:
        *(int64_t *)member = value;
        return fact_is_date(value);
    default:
        *(int64_t *)member = value;
        return fact_is_count(value);
    }
}

static void read_amount(const struct column *c, struct sql_query *q, double *member)
{
    *member = sql_real(q);
    if (c->type != COLUMN_AMOUNT || fact_is_amount(*member))
        return;
    *member = NAN;
    q->store->odd = c->name;
}

static bool read_line(const struct column *c, const char *text, struct store *s, char *member)
{
    snprintf(member, c->size, "%s", text ? text : "");
    if (!text || strlen(text) >= c->size)
        return false;
    if (c->type == COLUMN_NAME)
        return name_is_line(text);
    if (name_mend(member))
        s->odd = c->name;
    return true;
}

static bool read_text(const struct column *c, const char *text, struct store *s, void *member)
{
    int found;

    switch (c->type) {
    case COLUMN_STRING:
    case COLUMN_JSON:
        if (text && strlen(text) > READ_TEXT_MAX)
            return false;
        *(char **)member = memory_string(text);
        if (text)
            utf8_mend(*(char **)member);
        return true;
    case COLUMN_OUTCOME:
        found = text ? outcome_find(text) : -1;
        *(enum outcome *)member = found < 0 ? OUTCOME_FAILED : (enum outcome)found;
        return found >= 0;
    case COLUMN_STOP:
        found = text ? stop_rule_find(text) : -1;
        *(enum stop_rule *)member = found < 0 ? STOP_NONE : (enum stop_rule)found;
        return found >= 0;
    case COLUMN_RUN_KIND:
        found = text && *text ? run_kind_find(text) : text ? RUN_KIND_NR : -1;
        *(enum run_kind *)member = found < 0 ? RUN_MEASURED : (enum run_kind)found;
        return found >= 0;
    default:
        return read_line(c, text, s, member);
    }
}

static bool read_member(const struct column *c, struct sql_query *q, void *member)
{
    bool is_int;

    switch (c->type) {
    case COLUMN_INT:
    case COLUMN_COUNT:
    case COLUMN_DATE:
    case COLUMN_UNSIGNED:
    case COLUMN_BOOL:
        is_int = sqlite3_column_type(q->stmt, q->column) == SQLITE_INTEGER;
        return read_integer(c, sql_int(q), member) && is_int;
    case COLUMN_REAL:
    case COLUMN_AMOUNT:
        read_amount(c, q, member);
        return true;
    default:
        return read_text(c, sql_text(q), q->store, member);
    }
}

int table_read(const struct table *t, struct sql_query *q, void *object, struct error *err)
{
    int rc = 0;

    /* Reads on after a bad value, so that the object is whole and can be released. */
    for (const struct column *c = t->columns; c->name; c++)
        if (!read_member(c, q, (char *)object + c->offset))
            rc = error_set(err,
                           "%s: %s.%s holds a value that this harness does not know; the file is "
                           "damaged or was edited. Run `harness history verify`",
                           q->store->path, t->name, c->name);
    return rc;
}

/* Bytes of an object of the table. */
static size_t size_of(const struct table *t)
{
    size_t size = 0;

    for (const struct column *c = t->columns; c->name; c++)
        if (c->offset + c->size > size)
            size = c->offset + c->size;
    return size;
}

static bool is_json(const char *text)
{
    struct error ignored;
    cJSON *json = text ? json_parse(text, strlen(text), "", &ignored) : NULL;

    cJSON_Delete(json);
    return json != NULL;
}

static int check_json(const struct table *t, const struct column *c, const struct store *s,
                      const char *text, struct error *err)
{
    if (c->type != COLUMN_JSON || is_json(text))
        return 0;
    return error_set(err,
                     "%s: %s.%s holds what is no JSON; the file is damaged or was edited. Run "
                     "`harness history verify`",
                     s->path, t->name, c->name);
}

int table_check(const struct table *t, struct sql_query *q, struct error *err)
{
    char *object = memory_zeroed(size_of(t), 1);
    int rc = table_read(t, q, object, err);

    for (const struct column *c = t->columns; c->name; c++) {
        if (c->type != COLUMN_STRING && c->type != COLUMN_JSON)
            continue;
        char *text = *(char **)(void *)(object + c->offset);
        if (rc == 0)
            rc = check_json(t, c, q->store, text, err);
        free(text);
    }
    free(object);
    return rc;
}

static int find_equal(const struct table *t, struct store *s, const void *object, int64_t *id,
                      struct error *err)
{
    struct sql_query q;
    struct strbuf sql;
    const char *separator = "";

    strbuf_init(&sql);
    strbuf_addf(&sql, "SELECT id FROM %s WHERE ", t->name);
    for (const struct column *c = t->columns; c->name; c++, separator = " AND ")
        strbuf_addf(&sql, "%s%s = ?", separator, c->name);
    int rc = sql_open(&q, s, sql.data, err);
    strbuf_release(&sql);
    if (rc)
        return -1;
    table_bind(t, &q, object);
    rc = sql_step(&q, err);
    if (rc > 0)
        *id = sql_int(&q);
    sql_close(&q);
    return rc;
}

int table_insert(const struct table *t, struct store *s, const void *object, int64_t *id,
                 struct error *err)
{
    struct sql_query q;

    if (table_open_insert(t, s, NULL, &q, err))
        return -1;
    table_bind(t, &q, object);
    if (sql_run(&q, err))
        return -1;
    *id = sql_last_id(s);
    return 0;
}

int table_intern(const struct table *t, struct store *s, const void *object, int64_t *id,
                 struct error *err)
{
    int rc = find_equal(t, s, object, id, err);

    if (rc != 0)
        return rc < 0 ? -1 : 0;
    return table_insert(t, s, object, id, err);
}
