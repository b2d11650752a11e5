/* SPDX-License-Identifier: MIT */
/*
 * Inside store/ only: which member of a struct is which column, one row each. Inserts, selects,
 * binds and reads all follow these tables, so a new fact is a line of SQL and a row here.
 */
#ifndef HARNESS_STORE_COLUMNS_H
#define HARNESS_STORE_COLUMNS_H

#include "base/strbuf.h"
#include "store/sql.h"

/* What the members of records may hold, once read, is in core/names.h: a name, number or date
 * beyond that refuses the row; words get '?' for what cannot be shown, and an amount that is none
 * counts as not known, with a note in store->odd, so that `history verify` can name it. Both are
 * written as they are read. */
enum column_type {
    COLUMN_INT,      /* int */
    COLUMN_COUNT,    /* int64_t, fact_is_count() */
    COLUMN_DATE,     /* int64_t, fact_is_date() */
    COLUMN_UNSIGNED, /* unsigned */
    COLUMN_BOOL,     /* bool */
    COLUMN_REAL,     /* double, whatever it is: errors may be infinite */
    COLUMN_AMOUNT,   /* double, fact_is_amount() */
    COLUMN_NAME,     /* char[size], name_is_line() */
    COLUMN_CHARS,    /* char[size]: a line of words */
    COLUMN_STRING,   /* char *, UTF-8, owned, may be NULL */
    COLUMN_JSON,     /* the same, and JSON: who only reads it parses it later; table_check() does */
    COLUMN_OUTCOME,  /* enum outcome, by name */
    COLUMN_STOP,     /* enum stop_rule, by name */
    COLUMN_RUN_KIND, /* enum run_kind, by name; RUN_KIND_NR: an older program wrote the row */
};

/* Bytes of a text that is no line: messages, JSON. */
enum { READ_TEXT_MAX = 4 << 20 };

struct column {
    const char *name;
    enum column_type type;
    size_t offset, size;
};

#define COLUMN(type_, struct_, member_, name_)                                                     \
    {                                                                                              \
        .name = (name_), .type = (type_), .offset = offsetof(struct struct_, member_),             \
        .size = sizeof(((struct struct_ *)0)->member_),                                            \
    }
#define COLUMN_END                                                                                 \
    {                                                                                              \
        .name = NULL                                                                               \
    }

struct table {
    const char *name;
    const struct column *columns; /* ended by a NULL name */
};

extern const struct table table_machine, table_build, table_run, table_launch, table_benchmark,
    table_measurement, table_roof, table_comparison, table_verdict, table_acceptance,
    table_selftest, table_tuned;

/* Appends ", a.x, a.y" for alias "a". */
void table_add_columns(const struct table *t, const char *alias, struct strbuf *sql);
/* Opens "INSERT INTO t (extra..., columns...) VALUES (?...)"; bind the extras, then the object. */
int table_open_insert(const struct table *t, struct store *s, const char *const *extra,
                      struct sql_query *q, struct error *err);
/* Opens "SELECT t.id, t.columns... FROM t tail". */
int table_open_select(const struct table *t, struct store *s, const char *tail, struct sql_query *q,
                      struct error *err);
void table_bind(const struct table *t, struct sql_query *q, const void *object);
/* Would reading refuse what is written? -1 then. */
int table_check_object(const struct table *t, const struct store *s, const void *object,
                       struct error *err);
/* Reads the next columns into the object. -1 if a value does not fit its member. */
int table_read(const struct table *t, struct sql_query *q, void *object, struct error *err);
/* The same, and nothing is kept; what must be JSON is parsed. */
int table_check(const struct table *t, struct sql_query *q, struct error *err);
/* A table without other columns than the object's. */
int table_insert(const struct table *t, struct store *s, const void *object, int64_t *id,
                 struct error *err);
/* The row equal to the object, inserted if there is none. */
int table_intern(const struct table *t, struct store *s, const void *object, int64_t *id,
                 struct error *err);

#endif
