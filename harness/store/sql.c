/* SPDX-License-Identifier: MIT */
#include "store/sql.h"

#include "base/memory.h"
#include "base/strbuf.h"
#include "store/untrusted.h"
#include "vfs/page_checksum.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NO_LOCKS                                                                                   \
    "the file system cannot lock it, so two writers would spoil it (a network file system?); "     \
    "nothing was changed. Choose a local file with --db, and bring results together with "         \
    "`harness history merge`"

/* Extended codes stand before the primary codes that they belong to. */
static const struct advice {
    int code;
    const char *text;
} advice[] = {
    { SQLITE_IOERR_LOCK, NO_LOCKS },
    { SQLITE_IOERR_RDLOCK, NO_LOCKS },
    { SQLITE_IOERR_CHECKRESERVEDLOCK, NO_LOCKS },
    { SQLITE_IOERR_SHMLOCK, NO_LOCKS },
    { SQLITE_IOERR_SHMOPEN, NO_LOCKS },
    { SQLITE_IOERR_SHMMAP, NO_LOCKS },
    { SQLITE_PROTOCOL, NO_LOCKS },
    { SQLITE_FULL,
      "the disk is full, so this was not stored; all that was stored before is safe. "
      "Free some space and run again" },
    { SQLITE_IOERR,
      "reading or writing failed, so this was not stored. Check the disk and its "
      "quota, then run `harness history verify`" },
    { SQLITE_READONLY,
      "it is read-only. Make the file and its folder writable, or choose another "
      "with --db" },
    { SQLITE_BUSY,
      "another process has kept it locked for too long. Wait for that process or "
      "stop it (`fuser FILE` names it)" },
    { SQLITE_LOCKED,
      "another process has kept it locked for too long. Wait for that process or "
      "stop it (`fuser FILE` names it)" },
    { SQLITE_CORRUPT,
      "the file is damaged and was left as it is. Keep a copy, restore a backup, "
      "or save what can be read: `harness history salvage FILE NEW`" },
    { SQLITE_NOTADB,
      "the file is not an SQLite database, or its start is damaged; it was left as "
      "it is. Choose another with --db" },
    { SQLITE_CANTOPEN,
      "it cannot be opened. The file and its folder must be readable and "
      "writable, because SQLite keeps two more files beside it" },
    { SQLITE_PERM, "permission denied. Make the file and its folder readable and writable" },
    { SQLITE_TOOBIG, "one value is larger than any that harness stores (64 MiB)" },
    { SQLITE_INTERRUPT,
      "reading it took far longer than a file of its size can need, so it is damaged, or was made "
      "to be so. Save what can be read: `harness history salvage FILE NEW`" },
};

/* "Disk full" of the files beside the database comes as an error of input or output. */
static bool is_no_room(int code, int system_error)
{
    return (code & 0xff) == SQLITE_FULL ||
           ((code & 0xff) == SQLITE_IOERR && (system_error == ENOSPC || system_error == EDQUOT));
}

static const char *advice_for(int code)
{
    for (size_t i = 0; i < sizeof(advice) / sizeof(advice[0]); i++)
        if (advice[i].code == code || advice[i].code == (code & 0xff))
            return advice[i].text;
    return NULL;
}

static bool has_system_error(int code)
{
    return code == SQLITE_IOERR || code == SQLITE_CANTOPEN;
}

static int damaged_page_error(const struct store *s, struct error *err)
{
    return error_set(err,
                     "%s: page %u is damaged (checksum): bytes of it have changed since harness "
                     "wrote it, on the disk or by another program; it was left as it is. `harness "
                     "history verify` says what lies there; restore a backup, or save the rest: "
                     "`harness history salvage FILE NEW`",
                     s->path, page_checksum_damaged_page(s->db));
}

/* Content that the disk does not give, or not as it was, is damaged like any. */
static int failure_of(int code)
{
    bool damaged = code == SQLITE_IOERR_DATA || code == SQLITE_IOERR_READ ||
                   code == SQLITE_IOERR_SHORT_READ || code == SQLITE_IOERR_CORRUPTFS;

    return damaged ? SQLITE_CORRUPT : code & 0xff;
}

int sql_error(struct store *s, int code, struct error *err)
{
    int reason = s->db ? sqlite3_system_errno(s->db) : 0;

    if ((code & 0xff) == SQLITE_BUSY && s->no_locks) {
        code = SQLITE_IOERR_LOCK; /* SQLite says "busy" of it, and keeps no reason */
        reason = ENOLCK;
    }
    s->no_locks = false;
    s->failure = failure_of(code);
    s->no_room = is_no_room(code, reason);
    if (code == SQLITE_IOERR_DATA)
        return damaged_page_error(s, err);
    const char *text = advice_for(s->no_room ? SQLITE_FULL : code);
    if (!text)
        return error_set(err, "%s: %s", s->path, s->db ? sqlite3_errmsg(s->db) : "no database");
    if (has_system_error(code & 0xff) && reason != 0)
        return error_set(err, "%s: %s (SQLite %d, %s: %s)", s->path, text, code,
                         sqlite3_errstr(code), strerror(reason));
    return error_set(err, "%s: %s (SQLite %d, %s)", s->path, text, code, sqlite3_errstr(code));
}

static int find_or_prepare(struct store *s, const char *text, sqlite3_stmt **stmt)
{
    for (size_t i = 0; i < s->cache.nr; i++) {
        if (strcmp(s->cache.items[i].text, text) == 0) {
            *stmt = s->cache.items[i].stmt;
            return SQLITE_OK;
        }
    }
    int rc = sqlite3_prepare_v3(s->db, text, -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL);
    if (rc != SQLITE_OK)
        return rc;
    *array_push(&s->cache) = (struct sql_cached) { memory_string(text), *stmt };
    return SQLITE_OK;
}

void sql_release_cache(struct store *s)
{
    for (size_t i = 0; i < s->cache.nr; i++) {
        sqlite3_finalize(s->cache.items[i].stmt);
        free(s->cache.items[i].text);
    }
    array_release(&s->cache);
}

int sql_open(struct sql_query *q, struct store *s, const char *text, struct error *err)
{
    *q = (struct sql_query) { .store = s, .parameter = 1 };
    int rc = find_or_prepare(s, text, &q->stmt);
    if (rc != SQLITE_OK)
        return sql_error(s, rc, err);
    untrusted_begin(s, q->stmt);
    return 0;
}

static void finish_bind(struct sql_query *q, int rc)
{
    q->parameter++;
    if (q->rc == SQLITE_OK)
        q->rc = rc;
}

void sql_bind_int(struct sql_query *q, int64_t value)
{
    finish_bind(q, sqlite3_bind_int64(q->stmt, q->parameter, value));
}

void sql_bind_real(struct sql_query *q, double value)
{
    finish_bind(q, sqlite3_bind_double(q->stmt, q->parameter, value));
}

void sql_bind_text(struct sql_query *q, const char *text)
{
    finish_bind(q, sqlite3_bind_text(q->stmt, q->parameter, text, -1, SQLITE_STATIC));
}

void sql_bind_copy(struct sql_query *q, const char *text)
{
    finish_bind(q, sqlite3_bind_text(q->stmt, q->parameter, text, -1, SQLITE_TRANSIENT));
}

void sql_bind_blob(struct sql_query *q, const void *bytes, size_t length)
{
    finish_bind(q, sqlite3_bind_blob64(q->stmt, q->parameter, bytes, length, SQLITE_STATIC));
}

int sql_step(struct sql_query *q, struct error *err)
{
    q->column = 0;
    if (q->rc != SQLITE_OK)
        return sql_error(q->store, q->rc, err);
    int rc = sqlite3_step(q->stmt);
    if (rc == SQLITE_ROW)
        return 1;
    return rc == SQLITE_DONE ? 0 : sql_error(q->store, sqlite3_extended_errcode(q->store->db), err);
}

int64_t sql_int(struct sql_query *q)
{
    return sqlite3_column_int64(q->stmt, q->column++);
}

double sql_real(struct sql_query *q)
{
    int column = q->column++;

    if (sqlite3_column_type(q->stmt, column) == SQLITE_NULL)
        return NAN;
    return sqlite3_column_double(q->stmt, column);
}

const char *sql_text(struct sql_query *q)
{
    return (const char *)sqlite3_column_text(q->stmt, q->column++);
}

const void *sql_blob(struct sql_query *q, size_t *length)
{
    int column = q->column++;
    const void *bytes = sqlite3_column_blob(q->stmt, column);

    *length = (size_t)sqlite3_column_bytes(q->stmt, column);
    return bytes;
}

void sql_close(struct sql_query *q)
{
    sqlite3_reset(q->stmt);
    sqlite3_clear_bindings(q->stmt);
}

int sql_run(struct sql_query *q, struct error *err)
{
    int rc = sql_step(q, err);

    sql_close(q);
    return rc < 0 ? -1 : 0;
}

int sql_execute(struct store *s, const char *script, struct error *err)
{
    untrusted_begin(s, NULL);
    int rc = sqlite3_exec(s->db, script, NULL, NULL, NULL);
    return rc == SQLITE_OK ? 0 : sql_error(s, sqlite3_extended_errcode(s->db), err);
}

int sql_one_int(struct store *s, const char *text, int64_t *value, struct error *err)
{
    struct sql_query q;

    if (sql_open(&q, s, text, err))
        return -1;
    int rc = sql_step(&q, err);
    if (rc > 0)
        *value = sql_int(&q);
    sql_close(&q);
    if (rc == 0)
        return error_set(err, "%s: no answer to \"%s\"", s->path, text);
    return rc < 0 ? -1 : 0;
}

int64_t sql_last_id(const struct store *s)
{
    return sqlite3_last_insert_rowid(s->db);
}

/* "./" saves names that begin with "file:". */
char *sql_plain_name(const char *path)
{
    struct strbuf name;

    strbuf_init(&name);
    if (path[0] != '/')
        strbuf_adds(&name, "./");
    strbuf_adds(&name, path);
    return strbuf_detach(&name);
}

/* sqlite.org/uri.html: '%', '?' and '#' are written in hex. */
char *sql_immutable_name(const char *path)
{
    struct strbuf name;

    strbuf_init(&name);
    strbuf_adds(&name, path[0] == '/' ? "file://" : "file:./");
    for (; *path; path++) {
        if (strchr("%?#", *path))
            strbuf_addf(&name, "%%%02x", (unsigned)(unsigned char)*path);
        else
            strbuf_addc(&name, *path);
    }
    strbuf_adds(&name, "?immutable=1");
    return strbuf_detach(&name);
}
