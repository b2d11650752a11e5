/* SPDX-License-Identifier: MIT */
/*
 * Inside store/ only: which member of a struct is which column, one row each. Inserts, selects,
 * binds and reads all follow these tables, so a new fact is a line of SQL and a row here.
 */
#ifndef HARNESS_STORE_COLUMNS_H
#define HARNESS_STORE_COLUMNS_H

#include "base/strbuf.h"
#include "store/sql.h"

enum column_type {
    COLUMN_INT,      /* int */
    COLUMN_INT64,    /* int64_t */
    COLUMN_UNSIGNED, /* unsigned */
    COLUMN_BOOL,     /* bool */
    COLUMN_REAL,     /* double */
    COLUMN_CHARS,    /* char[size] */
    COLUMN_STRING,   /* char *, owned, may be NULL */
    COLUMN_OUTCOME,  /* enum outcome, by name */
    COLUMN_STOP,     /* enum stop_rule, by name */
};

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
    table_measurement, table_ceiling, table_comparison, table_verdict, table_acceptance,
    table_selftest;

/* Appends ", a.x, a.y" for alias "a". */
void table_add_columns(const struct table *t, const char *alias, struct strbuf *sql);
/* Opens "INSERT INTO t (extra..., columns...) VALUES (?...)"; bind the extras, then the object. */
int table_open_insert(const struct table *t, struct store *s, const char *const *extra,
                      struct sql_query *q, struct error *err);
/* Opens "SELECT t.id, t.columns... FROM t tail". */
int table_open_select(const struct table *t, struct store *s, const char *tail, struct sql_query *q,
                      struct error *err);
void table_bind(const struct table *t, struct sql_query *q, const void *object);
/* Reads the next columns into the object. -1 if a value does not fit its member. */
int table_read(const struct table *t, struct sql_query *q, void *object, struct error *err);
/* A table without other columns than the object's. */
int table_insert(const struct table *t, struct store *s, const void *object, int64_t *id,
                 struct error *err);
/* The row equal to the object, inserted if there is none. */
int table_intern(const struct table *t, struct store *s, const void *object, int64_t *id,
                 struct error *err);

#endif
