/* SPDX-License-Identifier: MIT */
#include "history/restore.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/options.h"
#include "history/temporary.h"
#include "history/verify.h"
#include "store/place.h"
#include "store/schema.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int count_content(struct store *s, struct store_content *content, struct error *err)
{
    return sql_one_int(s, "SELECT count(*) FROM run", &content->runs, err) ||
                   sql_one_int(s, "SELECT count(*) FROM measurement", &content->measurements, err)
               ? -1
               : 0;
}

/* ---- all rows in place of all rows ---- */

/* The seal is of the file, not of its content; sqlite_sequence stays, so that the numbers of what
 * goes are not given again. Tables come after those that they refer to. */
#define CONTENT_TABLES                                                                             \
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'seal' AND "                  \
    "name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid"

static int list_tables(struct store *s, struct string_list *names, struct error *err)
{
    struct sql_query q;
    int rc;

    if (sql_open(&q, s, CONTENT_TABLES, err))
        return -1;
    while ((rc = sql_step(&q, err)) > 0)
        string_list_add(names, sql_text(&q));
    sql_close(&q);
    return rc;
}

static int clear_table(struct store *s, const char *name, struct error *err)
{
    char text[160];

    snprintf(text, sizeof(text), "DELETE FROM \"%.120s\"", name);
    return sql_execute(s, text, err);
}

static void insert_text(const char *name, int columns, struct strbuf *text)
{
    strbuf_clear(text);
    strbuf_addf(text, "INSERT INTO \"%s\" VALUES (?", name);
    for (int i = 1; i < columns; i++)
        strbuf_adds(text, ", ?");
    strbuf_adds(text, ")");
}

static int copy_row(struct store *to, const char *insert, const struct sql_query *row,
                    struct error *err)
{
    struct sql_query q;

    if (sql_open(&q, to, insert, err))
        return -1;
    for (int i = 0; i < sqlite3_column_count(row->stmt); i++) {
        int rc = sqlite3_bind_value(q.stmt, i + 1, sqlite3_column_value(row->stmt, i));
        if (q.rc == SQLITE_OK)
            q.rc = rc;
    }
    return sql_run(&q, err);
}

static int copy_table(struct store *to, struct store *from, const char *name, struct error *err)
{
    struct strbuf text;
    struct sql_query q;
    int rc;

    strbuf_init(&text);
    strbuf_addf(&text, "SELECT * FROM \"%s\"", name);
    rc = sql_open(&q, from, text.data, err);
    if (rc == 0) {
        insert_text(name, sqlite3_column_count(q.stmt), &text);
        while ((rc = sql_step(&q, err)) > 0)
            if ((rc = copy_row(to, text.data, &q, err)) < 0)
                break;
        sql_close(&q);
    }
    strbuf_release(&text);
    return rc;
}

static int replace_content(struct store *to, struct store *from, struct error *err)
{
    struct string_list tables = { 0 };
    int rc = list_tables(to, &tables, err);

    for (size_t i = tables.nr; rc == 0 && i-- > 0;)
        rc = clear_table(to, tables.items[i], err);
    for (size_t i = 0; rc == 0 && i < tables.nr; i++)
        rc = copy_table(to, from, tables.items[i], err);
    string_list_release(&tables);
    return rc ? rc : place_new_life(to, err);
}

/* ---- one that is of an older version ---- */

/* Rows of one version only fit into tables of the same. */
static int open_upgraded(struct store *from, const char *called, struct temporary *copy,
                         struct store **out, struct error *err)
{
    if (temporary_make(copy, called, TEMPORARY_RESTORED, err) ||
        temporary_fill(from, copy->name.data, copy->name.data, err))
        return -1;
    return store_open(out, copy->name.data, STORE_WRITE, err);
}

static int exchange_all(struct store *to, struct store *from, struct error *err)
{
    if (sql_begin_lasting(to, err))
        return -1;
    return sql_end(to, replace_content(to, from, err), err);
}

static int copy_content(struct store *to, struct store *from, struct error *err)
{
    struct store *upgraded = NULL;
    struct temporary copy;

    if (from->version == to->version)
        return exchange_all(to, from, err);
    int rc = open_upgraded(from, to->path, &copy, &upgraded, err);
    if (rc == 0)
        rc = exchange_all(to, upgraded, err);
    store_close(upgraded);
    temporary_release(&copy);
    return rc;
}

/* ---- what is there ---- */

/* Only what cannot be read as a history goes: one that is locked, or out of reach, stays. */
static bool is_beyond_use(int failure)
{
    static const int content[] = { SQLITE_OK /* not SQLite's own error */,
                                   SQLITE_CORRUPT,
                                   SQLITE_NOTADB,
                                   SQLITE_ERROR,
                                   SQLITE_FORMAT,
                                   SQLITE_TOOBIG,
                                   SQLITE_INTERRUPT /* pages without end */ };

    for (size_t i = 0; i < sizeof(content) / sizeof(content[0]); i++)
        if (failure == content[i])
            return true;
    return false;
}

static int open_present(const char *path, const struct store_teller *tell, struct store **s,
                        bool *beyond, struct error *err)
{
    struct store_health health;
    int failure = 0;

    *beyond = false;
    if (store_open_or_why(s, path, STORE_WRITE, tell, &failure, err)) {
        *beyond = is_beyond_use(failure);
        return -1;
    }
    if (store_verify_readable(*s, &health, err) == 0)
        return 0;
    /* Without memory SQLite finds problems where there are none. */
    *beyond =
        (health.problems > 0 && (*s)->failure != SQLITE_NOMEM) || is_beyond_use((*s)->failure);
    store_close(*s);
    *s = NULL;
    return -1;
}

/* With the log that it may be mended by. */
static int put_aside(const char *path, struct strbuf *kept, struct error *err)
{
    static const char *const ends[] = { "-shm", "-wal", "-journal", "" };
    struct strbuf from, to;
    int rc = 0;

    strbuf_init(&from);
    strbuf_init(&to);
    place_name(path, "before", kept);
    int folder = place_lock_folder(path);
    for (size_t i = 0; rc == 0 && i < sizeof(ends) / sizeof(ends[0]); i++) {
        strbuf_clear(&from);
        strbuf_clear(&to);
        strbuf_addf(&from, "%s%s", path, ends[i]);
        strbuf_addf(&to, "%s%s", kept->data, ends[i]);
        if (rename(from.data, to.data) && errno != ENOENT)
            rc = error_set(err, "%s: cannot be put aside: %s", from.data, strerror(errno));
    }
    if (folder >= 0)
        close(folder);
    strbuf_release(&from);
    strbuf_release(&to);
    return rc;
}

static int restore_into(const char *path, struct store *from, struct store_restored *out,
                        struct error *err)
{
    struct store *to = NULL;
    bool beyond = false;
    struct stat st;

    out->was_there = lstat(path, &st) == 0;
    if (out->was_there && st.st_size > 0 && open_present(path, &from->tell, &to, &beyond, err) &&
        !beyond)
        return -1;
    if (!to) {
        out->aside = out->was_there;
        if (out->aside && put_aside(path, &out->kept, err))
            return -1;
        return temporary_backup(from, path, out->aside ? out->kept.data : from->path, err);
    }
    int rc = count_content(to, &out->before, err);
    if (rc == 0)
        rc = copy_content(to, from, err);
    store_close(to);
    return rc;
}

/* SQLite has the log of a file beside the file, not beside a link to it. So what a link leads to is
 * restored, or put aside with its log, and the link stays. */
static char *behind_link(const char *path)
{
    struct stat st;
    bool link = lstat(path, &st) == 0 && S_ISLNK(st.st_mode);

    return link ? place_true_path(path) : memory_string(path);
}

int store_restore(const char *path, const char *backup, const struct store_teller *tell,
                  struct store_restored *out, struct error *err)
{
    struct store_health health;
    struct store *from;

    *out = (struct store_restored) { .was_there = false };
    strbuf_init(&out->kept);
    if (file_is_same(path, backup))
        return error_set(err, "%s: is the history itself", backup);
    if (store_open_telling(&from, backup, STORE_READ, tell, err))
        return -1;
    int rc = store_verify_readable(from, &health, err);
    if (rc)
        error_prefix(err, "nothing was restored");
    if (rc == 0)
        rc = count_content(from, &out->now, err);
    char *real = behind_link(path);
    if (rc == 0)
        rc = restore_into(real, from, out, err);
    free(real);
    store_close(from);
    return rc;
}

void store_restored_release(struct store_restored *out)
{
    strbuf_release(&out->kept);
}

/* ---- moving ---- */

/* Alone with the file, without a log, until it is closed. With less than full synchronisation a cut
 * could leave the end of the journal's head without its beginning, which would undo all. */
static int keep_others_out(struct store *s, struct error *err)
{
    enum { PATIENCE_MS = 2000 };

    store_set_patience(s, PATIENCE_MS);
    if (sql_execute(s,
                    "PRAGMA synchronous = EXTRA; PRAGMA locking_mode = EXCLUSIVE; "
                    "PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE; COMMIT",
                    err) == 0)
        return 0;
    if (s->failure == SQLITE_BUSY || s->failure == SQLITE_LOCKED)
        return error_set(err,
                         "%s: others have it open (`fuser FILE` names them); nothing was moved. "
                         "Stop them, or make a copy: `harness history backup`",
                         s->path);
    return -1;
}

static int give_path(struct store *s, const char *to, struct error *err)
{
    if (temporary_give_name(s->path, to, err) == 0)
        return file_sync_folder(s->path, err);
    if (errno != EXDEV)
        return -1;
    if (store_backup(s, to, err)) /* another file system */
        return -1;
    if (unlink(s->path))
        return error_set(err, "%s: is copied to %s, but cannot be removed: %s", s->path, to,
                         strerror(errno));
    return file_sync_folder(s->path, err);
}

int store_move(const char *path, const char *to, const struct store_teller *tell, struct error *err)
{
    struct store *s;
    struct stat st;

    if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
        return error_set(err, "%s: is a link; name the file that it leads to", path);
    int there = file_look(path, err);
    if (there <= 0)
        return there ? -1 : error_set(err, "%s: there is no history", path);
    if (lstat(to, &st) == 0)
        return error_set(err, "%s: exists already; moving does not replace files", to);
    if (file_make_parent(to, err) || store_open_telling(&s, path, STORE_WRITE, tell, err))
        return -1;
    int rc = keep_others_out(s, err);
    if (rc == 0)
        rc = give_path(s, to, err);
    store_close(s);
    return rc;
}
