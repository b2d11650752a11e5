/* SPDX-License-Identifier: MIT */
#include "history/salvage.h"

#include "base/file.h"
#include "history/salvage_parts.h"
#include "history/temporary.h"
#include "history/verify.h"
#include "store/schema.h"
#include "store/untrusted.h"
#include "vfs/page_checksum.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A text is in the file once more for each index. */
enum { WRITTEN_AT_MOST = 4 };

enum {
    TURN = 1000,       /* instructions of SQLite's machine */
    BYTES_A_TURN = 80, /* 12 instructions a byte: a row needs two, or four from both ends */
    TURNS_LEAST = 200, /* in any file */
};

/* What went with a run or comparison by a cascade. */
static int count_saved(struct salvage *s, struct error *err)
{
    for (size_t i = 0; i < s->result->tables.nr; i++) {
        struct salvaged_table *t = &s->result->tables.items[i];
        char text[64];
        int64_t nr;
        snprintf(text, sizeof(text), "SELECT count(*) FROM %s", t->name);
        if (sql_one_int(s->to, text, &nr, err))
            return -1;
        t->lost += t->saved > nr ? t->saved - nr : 0;
        t->saved = nr;
    }
    return 0;
}

/* ---- an end to reading ---- */

static int takes_too_long(void *context)
{
    struct salvage *s = context;

    return ++s->turns > s->turns_most;
}

/* Pages that lead to each other, as somebody who means harm can arrange them, have more rows than
 * anybody can wait for. So reading `from` ends as damage does once it has taken far longer than a
 * file of its size can need; the count starts anew with each table. */
static void limit_reading(struct salvage *s, int64_t bytes)
{
    s->turns_most = TURNS_LEAST + bytes / BYTES_A_TURN;
    sqlite3_progress_handler(s->from, TURN, takes_too_long, s);
}

/* ---- the damaged file ---- */

static bool has_tables(sqlite3 *db)
{
    sqlite3_stmt *stmt = NULL;
    bool found = sqlite3_prepare_v2(db,
                                    "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND "
                                    "name IN ('run', 'launch', 'benchmark', 'measurement')",
                                    -1, &stmt, NULL) == SQLITE_OK &&
                 sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_int(stmt, 0) == 4;

    sqlite3_finalize(stmt);
    return found;
}

static void close_copy(struct salvage *s)
{
    sqlite3_close(s->from);
    s->from = NULL;
}

/* Leaves none where it cannot be opened. */
static void open_copy(struct salvage *s, const char *copy)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_PRIVATECACHE;
    int64_t size = salvage_size(copy);

    if (page_checksum_register() != SQLITE_OK ||
        sqlite3_open_v2(copy, &s->from, flags, PAGE_CHECKSUM_VFS) != SQLITE_OK) {
        close_copy(s);
        return;
    }
    limit_reading(s, size);
    untrusted_settings(s->from);
    if (size < UNTRUSTED_VALUE_MAX)
        sqlite3_limit(s->from, SQLITE_LIMIT_LENGTH, (int)size);
    s->bytes_left = WRITTEN_AT_MOST * size;
}

/* A sound database of somebody else is not for us to mend. */
static bool is_foreign(sqlite3 *db)
{
    sqlite3_stmt *stmt = NULL;
    bool readable = sqlite3_prepare_v2(db, "SELECT count(*) FROM sqlite_schema", -1, &stmt, NULL) ==
                        SQLITE_OK &&
                    sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_int(stmt, 0) > 0;

    sqlite3_finalize(stmt);
    return readable && !has_tables(db);
}

/* Does the copy define what a history of its version does, and nothing else? */
static bool has_own_schema(struct salvage *s, const char *copy)
{
    struct store look = { .db = s->from, .path = memory_string(copy), .mode = STORE_READ };
    struct error ignored;
    bool own = has_tables(s->from) && schema_check_version(&look, &ignored) == 0;

    sql_release_cache(&look);
    free(look.path);
    return own;
}

static int open_cleaned(struct salvage *s, const char *copy, struct error *err)
{
    if (has_own_schema(s, copy))
        return 0;
    sqlite3_exec(s->from, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
    if (salvage_clean_schema(s->from, copy, s->result, err))
        return -1;
    close_copy(s);
    open_copy(s, copy);
    return 0;
}

/* The first page may be right but for a byte that does not matter. */
static bool open_with_trusted_start(struct salvage *s, const char *copy)
{
    struct error ignored;

    close_copy(s);
    if (salvage_trust_start(copy, &ignored))
        return false;
    open_copy(s, copy);
    return has_own_schema(s, copy);
}

static int open_damaged(struct salvage *s, const char *from, const char *copy, struct error *err)
{
    open_copy(s, copy);
    if (has_tables(s->from))
        return open_cleaned(s, copy, err);
    if (is_foreign(s->from))
        return error_set(err, "%s: this is an SQLite database, but not a history of harness", from);
    if (open_with_trusted_start(s, copy))
        return 0;
    close_copy(s);
    if (salvage_replace_start(copy, err))
        return -1;
    s->result->start_replaced = true;
    open_copy(s, copy);
    if (has_tables(s->from))
        return 0;
    return error_set(err,
                     "%s: the start of the file is lost, and with it where each table is; "
                     "nothing can be salvaged",
                     from);
}

/* Only what is in the file itself can be mended there. */
static int rebuild_trees(struct salvage *s, const char *copy, struct error *err)
{
    sqlite3_exec(s->from, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
    if (salvage_rebuild_trees(s->from, copy, s->result, err))
        return -1;
    close_copy(s);
    open_copy(s, copy);
    return s->from ? 0 : error_set(err, "%s: the copy to read from cannot be opened", copy);
}

/* ---- the new file ---- */

static int check_new(struct store *to, struct error *err)
{
    struct store_health health;

    if (store_verify_readable(to, &health, err))
        return error_prefix(err, "what was salvaged is not sound");
    /* One file, as a backup. */
    return sql_execute(to, "PRAGMA journal_mode = DELETE", err);
}

static int fill_new(struct salvage *s, struct error *err)
{
    if (sql_begin(s->to, err))
        return -1;
    int rc = salvage_tables(s, err);
    if (rc == 0)
        rc = schema_keep_facts(s->to, err); /* it may have been an older file */
    if (rc == 0)
        rc = salvage_sift(s, err);
    if (rc == 0)
        rc = count_saved(s, err);
    if (sql_end(s->to, rc, err))
        return -1;
    return check_new(s->to, err);
}

static int salvage_into(struct salvage *s, const char *from, const char *copy, const char *partial,
                        struct error *err)
{
    int rc = salvage_copy(from, copy, s->result, err);

    if (rc == 0)
        rc = open_damaged(s, from, copy, err);
    if (rc == 0)
        rc = rebuild_trees(s, copy, err);
    if (rc == 0)
        rc = store_open(&s->to, partial, STORE_WRITE, err);
    if (rc == 0) {
        sqlite3_progress_handler(s->to->db, 0, NULL, NULL); /* it is ours */
        rc = fill_new(s, err);
    }
    store_close(s->to);
    close_copy(s);
    return rc;
}

/* A file of each kind, beside the one that is wanted. */
static int salvage_beside(struct salvage *s, const char *from, const char *to, struct error *err)
{
    struct temporary copy, partial;
    int rc = temporary_make(&copy, to, TEMPORARY_DAMAGED, err);

    if (rc == 0) {
        rc = temporary_make(&partial, to, TEMPORARY_SALVAGED, err);
        if (rc == 0)
            temporary_stand_for(&partial, from);
        if (rc == 0)
            rc = salvage_into(s, from, copy.name.data, partial.name.data, err);
        if (rc == 0)
            rc = temporary_publish(&partial, to, err);
        temporary_release(&partial);
    }
    temporary_release(&copy);
    return rc;
}

int store_salvage(const char *from, const char *to, struct salvaged *out, struct error *err)
{
    struct salvage s = { .result = out };

    *out = (struct salvaged) { .cut_off = false };
    int there = file_look(from, err);
    if (there <= 0)
        return there ? -1 : error_set(err, "%s: there is no such file", from);
    if (file_exists(to))
        return error_set(err, "%s: exists already; a salvage does not replace files", to);
    if (file_make_parent(to, err))
        return -1;
    return salvage_beside(&s, from, to, err);
}

void salvaged_release(struct salvaged *out)
{
    array_release(&out->tables);
}
