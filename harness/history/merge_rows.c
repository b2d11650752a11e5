/* SPDX-License-Identifier: MIT */
/* What the parts of a merge share: conflicts, and rows that go from one file into another without
 * being taken apart. */
#include "base/memory.h"
#include "core/names.h"
#include "history/merge_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void merge_conflict(struct merge *m, const char *format, ...)
{
    char line[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    string_list_add(&m->result->conflicts, line);
}

static const char *const no_extra[] = { NULL };

static void add_names(const struct table *t, const char *const *extra, const char *separator,
                      const char *after, struct strbuf *sql)
{
    const char *between = "";

    for (; *extra; extra++, between = separator)
        strbuf_addf(sql, "%s%s%s", between, *extra, after);
    for (const struct column *c = t->columns; c->name; c++, between = separator)
        strbuf_addf(sql, "%s%s%s", between, c->name, after);
}

int rows_open_select(const struct table *t, struct store *s, const char *const *extra,
                     const char *tail, struct sql_query *q, struct error *err)
{
    struct strbuf sql;

    strbuf_init(&sql);
    strbuf_adds(&sql, "SELECT ");
    add_names(t, extra ? extra : no_extra, ", ", "", &sql);
    strbuf_addf(&sql, " FROM %s %s", t->name, tail);
    int rc = sql_open(q, s, sql.data, err);
    strbuf_release(&sql);
    return rc;
}

/* "a IS ?1 AND b IS ?2": unlike "=" it also finds what is NULL. */
static void add_equal(const struct table *t, const char *const *extra, struct strbuf *sql)
{
    int parameter = 1;

    for (; *extra; extra++, parameter++)
        strbuf_addf(sql, "%s%s IS ?%d", parameter > 1 ? " AND " : "", *extra, parameter);
    for (const struct column *c = t->columns; c->name; c++, parameter++)
        strbuf_addf(sql, "%s%s IS ?%d", parameter > 1 ? " AND " : "", c->name, parameter);
}

static int nr_columns(const struct table *t, const char *const *extra)
{
    int nr = 0;

    while (*extra++)
        nr++;
    for (const struct column *c = t->columns; c->name; c++)
        nr++;
    return nr;
}

int rows_open_insert_new(const struct table *t, struct store *s, const char *const *extra,
                         struct sql_query *q, struct error *err)
{
    struct strbuf sql;

    if (!extra)
        extra = no_extra;
    strbuf_init(&sql);
    strbuf_addf(&sql, "INSERT INTO %s (", t->name);
    add_names(t, extra, ", ", "", &sql);
    strbuf_adds(&sql, ") SELECT ");
    for (int i = 1, nr = nr_columns(t, extra); i <= nr; i++)
        strbuf_addf(&sql, "%s?%d", i > 1 ? ", " : "", i);
    strbuf_addf(&sql, " WHERE NOT EXISTS (SELECT 1 FROM %s WHERE ", t->name);
    add_equal(t, extra, &sql);
    strbuf_adds(&sql, ")");
    int rc = sql_open(q, s, sql.data, err);
    strbuf_release(&sql);
    return rc;
}

int rows_check(const struct table *t, const struct sql_query *q, int first, struct error *err)
{
    struct sql_query row = *q;

    row.column = first;
    return table_check(t, &row, err);
}

void rows_copy(struct sql_query *to, const struct sql_query *from, int first, int end)
{
    for (int i = first; i < end; i++) {
        int rc = sqlite3_bind_value(to->stmt, to->parameter++, sqlite3_column_value(from->stmt, i));
        if (to->rc == SQLITE_OK)
            to->rc = rc;
    }
}

/* ---- values that reading takes for others ---- */

static bool is_no_amount(const struct column *c, sqlite3_stmt *stmt, int column)
{
    return c->type == COLUMN_AMOUNT && sqlite3_column_type(stmt, column) != SQLITE_NULL &&
           !fact_is_amount(sqlite3_column_double(stmt, column));
}

/* Words with '?' in them; NULL where they are a line as they are. free() it. */
static char *mended_words(const struct column *c, sqlite3_stmt *stmt, int column)
{
    bool are_words = c->type == COLUMN_CHARS && sqlite3_column_type(stmt, column) == SQLITE_TEXT;
    const char *text = are_words ? (const char *)sqlite3_column_text(stmt, column) : NULL;

    if (!text || name_is_line(text))
        return NULL;
    char *words = memory_string(text);
    name_mend(words);
    return words;
}

static void copy_as_read(const struct column *c, struct sql_query *to, const struct sql_query *from,
                         int column)
{
    char *words = mended_words(c, from->stmt, column);

    if (words)
        sql_bind_copy(to, words);
    else if (is_no_amount(c, from->stmt, column))
        sql_bind_real(to, NAN);
    else
        rows_copy(to, from, column, column + 1);
    free(words);
}

void rows_copy_table(const struct table *t, struct sql_query *to, const struct sql_query *from,
                     int first)
{
    for (const struct column *c = t->columns; c->name; c++)
        copy_as_read(c, to, from, first++);
}

/* ---- hashes ---- */

/* FNV-1a. */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t nr)
{
    const unsigned char *p = bytes;

    for (size_t i = 0; i < nr; i++)
        hash = (hash ^ p[i]) * 0x100000001b3U;
    return hash;
}

static uint64_t hash_column(uint64_t hash, sqlite3_stmt *stmt, int column)
{
    int type = sqlite3_column_type(stmt, column);
    int64_t number;
    double real;

    hash = hash_bytes(hash, &type, sizeof(type));
    switch (type) {
    case SQLITE_INTEGER:
        number = sqlite3_column_int64(stmt, column);
        return hash_bytes(hash, &number, sizeof(number));
    case SQLITE_FLOAT:
        real = sqlite3_column_double(stmt, column);
        return hash_bytes(hash, &real, sizeof(real));
    case SQLITE_NULL:
        return hash;
    default: /* a text's bytes are those of a blob */
        return hash_bytes(hash, sqlite3_column_blob(stmt, column),
                          (size_t)sqlite3_column_bytes(stmt, column));
    }
}

static const uint64_t hash_basis = 0xcbf29ce484222325U;

static uint64_t hash_null(uint64_t hash)
{
    const int type = SQLITE_NULL;

    return hash_bytes(hash, &type, sizeof(type));
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    const int type = SQLITE_TEXT;

    return hash_bytes(hash_bytes(hash, &type, sizeof(type)), text, strlen(text));
}

uint64_t rows_hash_text(uint64_t hash, const char *text)
{
    hash ^= hash_basis;
    return text ? hash_text(hash, text) : hash_null(hash);
}

uint64_t rows_hash(uint64_t hash, const struct sql_query *q, int first, int end)
{
    hash ^= hash_basis;
    for (int i = first; i < end; i++)
        hash = hash_column(hash, q->stmt, i);
    return hash;
}

static uint64_t hash_as_read(uint64_t hash, const struct column *c, sqlite3_stmt *stmt, int column)
{
    char *words = mended_words(c, stmt, column);

    if (words)
        hash = hash_text(hash, words);
    else if (is_no_amount(c, stmt, column))
        hash = hash_null(hash);
    else
        hash = hash_column(hash, stmt, column);
    free(words);
    return hash;
}

uint64_t rows_hash_table(const struct table *t, uint64_t hash, const struct sql_query *q, int first)
{
    hash ^= hash_basis;
    for (const struct column *c = t->columns; c->name; c++)
        hash = hash_as_read(hash, c, q->stmt, first++);
    return hash;
}
