/* SPDX-License-Identifier: MIT */
/* One term of a condition as SQL. Every piece of SQL here is a constant; what people typed becomes
 * a bound parameter. */
#include "query/query_parts.h"

#include "base/array.h"
#include "base/memory.h"
#include "base/text.h"
#include "core/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum kind { KIND_TEXT, KIND_PREFIX, KIND_NUMBER, KIND_DATE, KIND_FLAG, KIND_OUTCOME };

/* Benchmarks are looked for once, not for each measurement: the inner select depends on nothing. */
#define OF_BENCHMARK "x.benchmark IN (SELECT id FROM benchmark WHERE "

/* benchmark_name_fill() */
#define FILL_WORD "iif(fill = '' AND cache <> '', 'normal', fill)"

struct field {
    const char *name;
    enum kind kind;
    bool of_run;
    const char *before, *column, *after;
};

static const struct field fields[] = {
    { "key", KIND_TEXT, false, OF_BENCHMARK, "key", ")" },
    { "kernel", KIND_TEXT, false, OF_BENCHMARK, "kernel", ")" },
    { "variant", KIND_TEXT, false, OF_BENCHMARK, "variant", ")" },
    { "math", KIND_TEXT, false, OF_BENCHMARK, "math", ")" },
    { "device", KIND_TEXT, false, OF_BENCHMARK, "device", ")" },
    { "cache", KIND_TEXT, false, OF_BENCHMARK, "cache", ")" },
    { "fill", KIND_TEXT, false, OF_BENCHMARK, FILL_WORD, ")" },
    { "outcome", KIND_OUTCOME, false, "", "x.outcome", "" },
    { "run", KIND_NUMBER, true, "", "r.id", "" },
    { "id", KIND_NUMBER, true, "", "r.id", "" },
    { "label", KIND_TEXT, true, "", "r.label", "" },
    { "suite", KIND_TEXT, true, "", "r.suite", "" },
    { "branch", KIND_TEXT, true, "", "b.branch", "" },
    { "commit", KIND_PREFIX, true, "", "b.commit_hash", "" },
    { "dirty", KIND_FLAG, true, "", "b.dirty", "" },
    { "machine", KIND_TEXT, true, "", "m.class", "" },
    { "started", KIND_DATE, true, "", "r.started_ms", "" },
};

enum { NR_FIELDS = sizeof(fields) / sizeof(fields[0]) };

static const struct field dim_field = {
    "",      KIND_NUMBER,
    false,   "x.benchmark IN (SELECT benchmark FROM benchmark_dim WHERE name = ? AND ",
    "value", ")",
};

static const struct {
    const char *name, *number, *text;
} operators[QUERY_OPERATORS] = {
    [QUERY_EQ] = { "=", " = ?", " GLOB ?" }, [QUERY_NE] = { "!=", " <> ?", " NOT GLOB ?" },
    [QUERY_LT] = { "<", " < ?", NULL },      [QUERY_LE] = { "<=", " <= ?", NULL },
    [QUERY_GT] = { ">", " > ?", NULL },      [QUERY_GE] = { ">=", " >= ?", NULL },
};

const char *query_operator_name(enum query_operator op)
{
    return operators[op].name;
}

static const struct field *find_field(const char *name)
{
    for (size_t i = 0; i < NR_FIELDS; i++)
        if (strcmp(fields[i].name, name) == 0)
            return &fields[i];
    return NULL;
}

const char *query_nearest_field(const char *word, const char *const *more)
{
    const char *names[NR_FIELDS + 1] = { NULL };
    const char *nearest = more ? text_nearest(word, more) : NULL;

    for (size_t i = 0; i < NR_FIELDS; i++)
        names[i] = fields[i].name;
    return nearest ? nearest : text_nearest(word, names);
}

static struct query_binding *add_binding(struct query *q)
{
    q->bindings =
        array_grow(q->bindings, q->nr_bindings, &q->bindings_capacity, sizeof(*q->bindings));
    return &q->bindings[q->nr_bindings++];
}

static bool parse_number(const char *text, int64_t *number)
{
    char *end;

    errno = 0;
    long long value = strtoll(text, &end, 10);
    *number = value;
    return errno == 0 && end != text && !*end && !strchr(" \t\r\n", *text);
}

/* The ] that closes the set at `open`; NULL if none does, then the [ stands for itself. */
static const char *set_end(const char *open)
{
    const char *first = open + 1 + (open[1] == '!' || open[1] == '^');

    return *first ? strchr(first + 1, ']') : NULL;
}

/* A glob as SQLite takes it: "not" in a set is ^, and a lone [ is a set of itself. */
static char *sqlite_glob(const char *text, bool beginning)
{
    struct strbuf glob;
    bool wild = strpbrk(text, "*?[") != NULL;

    strbuf_init(&glob);
    for (const char *c = text; *c; c++) {
        const char *end = *c == '[' ? set_end(c) : NULL;
        if (end) {
            bool negated = c[1] == '!';
            strbuf_adds(&glob, negated ? "[^" : "[");
            strbuf_add(&glob, c + 1 + negated, (size_t)(end - c - negated));
            c = end;
        } else {
            strbuf_adds(&glob, *c == '[' ? "[[]" : (char[]) { *c, '\0' });
        }
    }
    if (beginning && !wild)
        strbuf_addc(&glob, '*');
    return strbuf_detach(&glob);
}

static bool parse_flag(const char *text, int64_t *flag)
{
    static const char *const words[] = { "no", "yes", "false", "true", "0", "1" };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcasecmp(text, words[i]) == 0) {
            *flag = (int64_t)i % 2;
            return true;
        }
    return false;
}

/* A day or minute as [low, high) in ms since the epoch, UTC. */
static bool parse_time(const char *text, int64_t *low, int64_t *high)
{
    static const struct {
        const char *format;
        int64_t ms;
    } forms[] = { { "%Y-%m-%d", 86400000 }, { "%Y-%m-%dT%H:%M", 60000 } };

    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        struct tm given = { 0 };
        const char *end = strptime(text, forms[i].format, &given);
        if (!end || *end)
            continue;
        struct tm date = given;
        time_t seconds = timegm(&date);
        if (date.tm_mday != given.tm_mday) /* timegm() makes 3 March of 31 February */
            return false;
        *low = (int64_t)seconds * 1000;
        *high = *low + forms[i].ms;
        return true;
    }
    return false;
}

static int add_text(struct query *q, const struct field *f, enum query_operator op,
                    const char *value)
{
    strbuf_addf(&q->sql, "%s%s", f->column, operators[op].text);
    add_binding(q)->text = sqlite_glob(value, f->kind == KIND_PREFIX);
    return 0;
}

static void add_comparison(struct query *q, const char *column, enum query_operator op,
                           int64_t number)
{
    strbuf_addf(&q->sql, "%s%s", column, operators[op].number);
    add_binding(q)->number = number;
}

static int add_number(struct query *q, const struct field *f, enum query_operator op,
                      const char *value, struct error *err)
{
    int64_t number;

    if (!parse_number(value, &number))
        return error_set(err, "\"%s\" is no whole number", value);
    add_comparison(q, f->column, op, number);
    return 0;
}

/* A day is from its first to its last moment. */
static int add_time(struct query *q, const struct field *f, enum query_operator op,
                    const char *value, struct error *err)
{
    int64_t low, high;

    if (!parse_time(value, &low, &high))
        return error_set(err, "\"%s\" is no day such as 2026-11-01, or 2026-11-01T13:30", value);
    if (op == QUERY_EQ || op == QUERY_NE) {
        strbuf_addf(&q->sql, "%s(", op == QUERY_NE ? "NOT " : "");
        add_comparison(q, f->column, QUERY_GE, low);
        strbuf_adds(&q->sql, " AND ");
        add_comparison(q, f->column, QUERY_LT, high);
        strbuf_addc(&q->sql, ')');
        return 0;
    }
    bool at_end = op == QUERY_GT || op == QUERY_LE;
    add_comparison(q, f->column,
                   op == QUERY_GT   ? QUERY_GE
                   : op == QUERY_LE ? QUERY_LT
                                    : op,
                   at_end ? high : low);
    return 0;
}

static int add_flag(struct query *q, const struct field *f, enum query_operator op,
                    const char *value, struct error *err)
{
    int64_t flag;

    if (!parse_flag(value, &flag))
        return error_set(err, "%s is yes or no, not \"%s\"", f->name, value);
    add_comparison(q, f->column, op, flag);
    return 0;
}

static int add_outcome(struct query *q, const struct field *f, enum query_operator op,
                       const char *value, struct error *err)
{
    char name[16];

    snprintf(name, sizeof(name), "%s", value);
    for (char *c = name; *c; c++)
        if (*c >= 'a' && *c <= 'z')
            *c = (char)(*c - 'a' + 'A');
    if (outcome_find(name) < 0)
        return error_set(err, "an outcome is OK, UNSUPPORTED, WRONG or FAILED, not \"%s\"", value);
    strbuf_addf(&q->sql, "%s%s", f->column, operators[op].number);
    add_binding(q)->text = memory_string(name);
    return 0;
}

static int add_value(struct query *q, const struct field *f, enum query_operator op,
                     const char *value, struct error *err)
{
    switch (f->kind) {
    case KIND_NUMBER:
        return add_number(q, f, op, value, err);
    case KIND_DATE:
        return add_time(q, f, op, value, err);
    case KIND_FLAG:
        return add_flag(q, f, op, value, err);
    case KIND_OUTCOME:
        return add_outcome(q, f, op, value, err);
    case KIND_TEXT:
    case KIND_PREFIX:
        break;
    }
    return add_text(q, f, op, value);
}

static int check_operator(const struct field *f, const struct query_term *t, size_t *at,
                          struct error *err)
{
    bool ordered = f->kind == KIND_NUMBER || f->kind == KIND_DATE;

    *at = t->op_at;
    if (t->op > QUERY_NE && !ordered)
        return error_set(err, "%s is only compared by = and !=", t->field);
    *at = t->values[t->nr - 1].at;
    if (t->op > QUERY_NE && t->nr > 1)
        return error_set(err, "several values go with = and != only");
    return 0;
}

/* A name that is no field of ours is a dim, if the value can be one's. */
static int check_dim(const struct query_term *t, size_t *at, struct error *err)
{
    int64_t ignored;

    *at = t->at;
    if (strlen(t->field) < sizeof(((struct query_dim *)0)->name) &&
        parse_number(t->values[0].text, &ignored))
        return 0;
    const char *nearest = query_nearest_field(t->field, NULL);
    return error_set(err, "there is no field \"%s\"%s%s%s", t->field,
                     nearest ? "; did you mean \""
                             : ". Fields: key kernel variant math device "
                               "cache fill outcome run label suite branch commit "
                               "dirty machine started, and every dim",
                     nearest ? nearest : "", nearest ? "\"? (A dim takes whole numbers.)" : "");
}

static void note_dim(struct query *q, const struct query_term *t)
{
    q->dims = array_grow(q->dims, q->nr_dims, &q->dims_capacity, sizeof(*q->dims));
    struct query_dim *dim = &q->dims[q->nr_dims++];
    memcpy(dim->name, t->field, strlen(t->field) + 1); /* it fits: check_dim() */
    dim->column = t->at;                               /* made a column by query_parse() */
    add_binding(q)->text = memory_string(dim->name);
}

int query_term_add(struct query *q, const struct query_term *t, size_t *at, struct error *err)
{
    const struct field *f = find_field(t->field);

    if (!f && check_dim(t, at, err))
        return -1;
    const struct field *given = f ? f : &dim_field;
    if (check_operator(given, t, at, err))
        return -1;
    q->of_runs = q->of_runs || given->of_run;
    q->of_outcomes = q->of_outcomes || given->kind == KIND_OUTCOME;
    q->of_benchmarks = q->of_benchmarks || (!given->of_run && given->kind != KIND_OUTCOME);
    strbuf_addf(&q->sql, "(%s", given->before);
    if (!f)
        note_dim(q, t);
    strbuf_addc(&q->sql, '(');
    for (size_t i = 0; i < t->nr; i++) {
        *at = t->values[i].at;
        if (i > 0)
            strbuf_adds(&q->sql, t->op == QUERY_NE ? " AND " : " OR ");
        if (add_value(q, given, t->op, t->values[i].text, err))
            return -1;
    }
    strbuf_addf(&q->sql, ")%s)", given->after);
    return 0;
}
