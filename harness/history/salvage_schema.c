/* SPDX-License-Identifier: MIT */
/* What a stranger's file defines (triggers, views, columns that compute) is left behind: the copy
 * gets the definitions of harness, over the same pages. */
#include "base/memory.h"
#include "history/salvage_parts.h"
#include "store/schema.h"

#include <stdlib.h>
#include <string.h>

struct object {
    char *type, *name, *table, *sql; /* owned; sql may be NULL */
    int64_t root;
};

struct objects {
    struct object *items;
    size_t nr, capacity;
};

static void release_objects(struct objects *all)
{
    for (size_t i = 0; i < all->nr; i++) {
        free(all->items[i].type);
        free(all->items[i].name);
        free(all->items[i].table);
        free(all->items[i].sql);
    }
    array_release(all);
}

static char *text_of(sqlite3_stmt *row, int column)
{
    return memory_string((const char *)sqlite3_column_text(row, column));
}

static int read_objects(sqlite3 *db, struct objects *all)
{
    sqlite3_stmt *row = NULL;
    int rc = sqlite3_prepare_v2(db, "SELECT type, name, tbl_name, sql, rootpage FROM sqlite_schema",
                                -1, &row, NULL);

    if (rc != SQLITE_OK)
        return rc;
    while ((rc = sqlite3_step(row)) == SQLITE_ROW)
        if (sqlite3_column_type(row, 1) != SQLITE_NULL)
            *array_push(all) = (struct object) { text_of(row, 0), text_of(row, 1), text_of(row, 2),
                                                 text_of(row, 3), sqlite3_column_int64(row, 4) };
    sqlite3_finalize(row);
    return rc == SQLITE_DONE ? SQLITE_OK : rc; /* half of it would be the end of the other half */
}

static const struct object *find_object(const struct objects *all, const struct object *like)
{
    for (size_t i = 0; i < all->nr; i++)
        if (all->items[i].type && strcmp(all->items[i].type, like->type) == 0 &&
            strcmp(all->items[i].name, like->name) == 0 && all->items[i].root > 1)
            return &all->items[i];
    return NULL;
}

static int insert_object(sqlite3 *db, const struct object *own, int64_t root)
{
    static const char text[] =
        "INSERT INTO sqlite_schema (type, name, tbl_name, sql, rootpage) "
        "VALUES (?, ?, ?, ?, ?)";
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db, text, -1, &stmt, NULL);

    if (rc == SQLITE_OK) {
        sqlite3_bind_text(stmt, 1, own->type, -1, SQLITE_STATIC);
        sqlite3_bind_text(stmt, 2, own->name, -1, SQLITE_STATIC);
        sqlite3_bind_text(stmt, 3, own->table, -1, SQLITE_STATIC);
        sqlite3_bind_text(stmt, 4, own->sql, -1, SQLITE_STATIC);
        sqlite3_bind_int64(stmt, 5, root);
        rc = sqlite3_step(stmt) == SQLITE_DONE ? SQLITE_OK : SQLITE_ERROR;
    }
    sqlite3_finalize(stmt);
    return rc;
}

static int replace_all(sqlite3 *db, const struct objects *own, const struct objects *theirs,
                       size_t *kept)
{
    int rc = sqlite3_exec(db, "PRAGMA writable_schema = ON; BEGIN; DELETE FROM sqlite_schema", NULL,
                          NULL, NULL);

    *kept = 0;
    for (size_t i = 0; rc == SQLITE_OK && i < own->nr; i++) {
        const struct object *same = find_object(theirs, &own->items[i]);
        if (!same)
            continue;
        rc = insert_object(db, &own->items[i], same->root);
        ++*kept;
    }
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    return rc;
}

/* The objects of a new history, in memory. */
static int read_own(struct objects *own, struct error *err)
{
    struct store s = { .path = NULL, .mode = STORE_WRITE };
    char memory[] = ":memory:";

    s.path = memory;
    int rc = sqlite3_open(memory, &s.db) == SQLITE_OK ? schema_upgrade(&s, err) : -1;
    if (rc == 0 && read_objects(s.db, own) != SQLITE_OK)
        rc = -1;
    sql_release_cache(&s);
    sqlite3_close(s.db);
    return rc ? error_set(err, "the tables of a history cannot be made") : 0;
}

int salvage_clean_schema(sqlite3 *db, const char *path, struct salvaged *result, struct error *err)
{
    struct objects own = { 0 }, theirs = { 0 };
    size_t kept = 0;
    int rc = read_own(&own, err);

    if (rc == 0) {
        sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
        if (read_objects(db, &theirs) != SQLITE_OK ||
            replace_all(db, &own, &theirs, &kept) != SQLITE_OK)
            rc = error_set(err,
                           "%s: its table of contents is not that of a history and cannot be "
                           "mended (%s); nothing can be salvaged",
                           path, sqlite3_errmsg(db));
    }
    result->strange = (int64_t)(theirs.nr - (kept < theirs.nr ? kept : theirs.nr));
    release_objects(&own);
    release_objects(&theirs);
    return rc;
}
