/* SPDX-License-Identifier: MIT */
#include "store/schema.h"

#include "base/resource.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "store/place.h"
#include "store/untrusted.h"
#include "vfs/page.h"

#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Script n turns version n into n + 1. Only ever append. */
static const char *const script_names[] = {
    "store/schema.sql",   "store/schema_2.sql", "store/schema_3.sql", "store/schema_4.sql",
    "store/schema_5.sql", "store/schema_6.sql", "store/schema_7.sql", "store/schema_8.sql",
};

enum { SCHEMA_NEWEST = sizeof(script_names) / sizeof(script_names[0]) };
/* The oldest version that can be read as it is: later scripts only added tables and columns. */
enum { SCHEMA_READABLE = 1 };

bool store_is_database(const char *path)
{
    char head[sizeof(PAGE_MAGIC)] = "";
    FILE *file = fopen(path, "rb");
    bool is = file && fread(head, 1, sizeof(head), file) == sizeof(head) &&
              memcmp(head, PAGE_MAGIC, sizeof(head)) == 0;

    if (file)
        fclose(file);
    return is;
}

/* Through SQLite's own file handle: closing another descriptor of this file would drop the locks
 * that other handles of this process hold on it. */
static int read_header(struct store *s, unsigned char header[HEADER_SIZE], int64_t *size,
                       struct error *err)
{
    sqlite3_file *file = NULL;
    sqlite3_int64 length = 0;

    int rc = sqlite3_file_control(s->db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (rc == SQLITE_OK)
        rc = file->pMethods->xFileSize(file, &length);
    if (rc == SQLITE_OK)
        rc = file->pMethods->xRead(file, header, HEADER_SIZE, 0);
    *size = length;
    if (rc == SQLITE_IOERR_SHORT_READ) /* the rest is zeroed */
        rc = SQLITE_OK;
    return rc == SQLITE_OK ? 0 : sql_error(s, rc, err);
}

/* The journal's first bytes. Source: sqlite.org/fileformat2.html, 3 (the rollback journal). */
enum {
    JOURNAL_HEAD = 28,
    JOURNAL_BEFORE = 16,    /* 4 bytes: pages of the file before the transaction */
    JOURNAL_PAGE_SIZE = 24, /* 4 bytes */
};

static int look_at_journal(const char *path, unsigned char head[JOURNAL_HEAD])
{
    struct strbuf name;

    strbuf_init(&name);
    strbuf_addf(&name, "%s-journal", path);
    int fd = open(name.data, O_RDONLY | O_CLOEXEC);
    strbuf_release(&name);
    if (fd < 0)
        return -1;
    ssize_t nr = pread(fd, head, JOURNAL_HEAD, 0);
    close(fd);
    return nr == JOURNAL_HEAD ? 0 : -1;
}

/* A file without a start, and a journal that says there was nothing before: a history was being
 * made when the power went. To undo that, which is what the journal is for, loses nothing, whoever
 * it was. A file with anybody's start is not touched. */
static bool is_half_made(const struct store *s, const unsigned char header[HEADER_SIZE])
{
    static const unsigned char magic[] = { 0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7 };
    unsigned char head[JOURNAL_HEAD];

    for (int i = 0; i < HEADER_SIZE; i++)
        if (header[i])
            return false;
    return look_at_journal(s->path, head) == 0 && memcmp(head, magic, sizeof(magic)) == 0 &&
           page_get(head + JOURNAL_BEFORE, 4) == 0 &&
           page_get(head + JOURNAL_PAGE_SIZE, 4) == PAGE_USUAL;
}

/* SQLite undoes it with the first look at the tables. */
static int recover_header(struct store *s, unsigned char header[HEADER_SIZE], int64_t *size,
                          struct error *err)
{
    int64_t version;

    if (sql_one_int(s, "PRAGMA schema_version", &version, err))
        return -1;
    memset(header, 0, HEADER_SIZE);
    return read_header(s, header, size, err);
}

static int check_holes(const struct store *s, struct error *err)
{
    char length[TEXT_UNIT_SIZE], bytes[TEXT_UNIT_SIZE];
    struct stat st;

    if (stat(s->path, &st) || st.st_size <= untrusted_length_most(&st))
        return 0;
    return error_set(err,
                     "%s: is %s long and has %s in it, the rest are holes, so this is no history "
                     "as harness makes it, and nothing was read from it. `harness history salvage "
                     "FILE NEW` takes the measurements out of it",
                     s->path, text_bytes((double)st.st_size, length),
                     text_bytes((double)st.st_blocks * 512, bytes));
}

int schema_recognise(struct store *s, bool *empty, struct error *err)
{
    unsigned char header[HEADER_SIZE] = { 0 };
    int64_t size;

    if (read_header(s, header, &size, err))
        return -1;
    if (size > 0 && is_half_made(s, header) && recover_header(s, header, &size, err))
        return -1;
    *empty = size == 0;
    if (*empty)
        return 0;
    if (memcmp(header, PAGE_MAGIC, sizeof(PAGE_MAGIC)) != 0)
        return sql_error(s, SQLITE_NOTADB, err);
    if (page_get(header + HEADER_APPLICATION_ID, 4) == SCHEMA_APPLICATION_ID)
        return check_holes(s, err);
    return error_set(err,
                     "%s: this is an SQLite database, but not a history of harness; nothing was "
                     "changed. Choose another file with --db",
                     s->path);
}

static int newer_error(const struct store *s, int64_t version, int known, struct error *err)
{
    return error_set(err,
                     "%s: was written by a newer harness (schema %" PRId64
                     ", this one knows up "
                     "to %d); nothing was changed. Update harness or choose another with --db",
                     s->path, version, known);
}

static int find_scripts(const char *scripts[SCHEMA_NEWEST], struct error *err)
{
    for (int i = 0; i < SCHEMA_NEWEST; i++) {
        const struct resource *script = resource_find(script_names[i]);
        if (!script)
            return error_set(err, "this harness was built without %s", script_names[i]);
        scripts[i] = script->data;
    }
    return 0;
}

/* ---- is it a schema of ours? ---- */

/* By type, then name: both lists in one order, byte by byte. */
static const char objects_query[] =
    "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE type <> 'table' OR "
    "name NOT IN ('sqlite_stat1', 'sqlite_stat4') ORDER BY type, name, tbl_name";

static const char *object_text(sqlite3_stmt *row, int nth)
{
    const char *text = row ? (const char *)sqlite3_column_text(row, nth) : NULL;

    return text ? text : "";
}

/* Equal but for white space between words. */
static bool same_sql(const char *a, const char *b)
{
    for (;; a++, b++) {
        if (isspace((unsigned char)*a) && isspace((unsigned char)*b)) {
            while (isspace((unsigned char)a[1]))
                a++;
            while (isspace((unsigned char)b[1]))
                b++;
        } else if (*a != *b) {
            return false;
        }
        if (*a == '\0')
            return true;
    }
}

static int order_objects(sqlite3_stmt *a, sqlite3_stmt *b)
{
    int by_type = strcmp(object_text(a, 0), object_text(b, 0));

    return by_type ? by_type : strcmp(object_text(a, 1), object_text(b, 1));
}

static int strange_error(const struct store *s, const char *what, sqlite3_stmt *row,
                         struct error *err)
{
    return error_set(err,
                     "%s: %s %.20s \"%.60s\", so this is no history as harness makes it, and "
                     "nothing was read from it. `harness history salvage FILE NEW` takes the "
                     "measurements out of it and leaves the rest behind",
                     s->path, what, object_text(row, 0), object_text(row, 1));
}

/* That says nothing of the file. */
static int own_tables_error(struct store *s, sqlite3 *own, struct error *err)
{
    s->failure = sqlite3_errcode(own) & 0xff;
    return error_set(err, "the tables of a history cannot be made: %s", sqlite3_errmsg(own));
}

/* What theirs has in another way than our own; NULL: nothing. `row`: which of the two tells it. */
static const char *object_difference(sqlite3_stmt *own, sqlite3_stmt *theirs, bool ours_ended,
                                     bool theirs_ended, sqlite3_stmt **row)
{
    int first = ours_ended ? 1 : theirs_ended ? -1 : order_objects(own, theirs);

    *row = first < 0 ? own : theirs;
    if (first != 0)
        return first > 0 ? "it has a strange" : "it lacks the";
    bool same = strcmp(object_text(own, 2), object_text(theirs, 2)) == 0 &&
                same_sql(object_text(own, 3), object_text(theirs, 3));
    return same ? NULL : "it has another";
}

/* Both stand before their first rows. */
static int compare_objects(struct store *s, sqlite3_stmt *own, sqlite3_stmt *theirs,
                           struct error *err)
{
    sqlite3 *db = sqlite3_db_handle(own);
    sqlite3_stmt *row;

    for (;;) {
        int a = sqlite3_step(own), b = sqlite3_step(theirs);
        if (a != SQLITE_ROW && a != SQLITE_DONE)
            return own_tables_error(s, db, err);
        if (b != SQLITE_ROW && b != SQLITE_DONE)
            return sql_error(s, sqlite3_extended_errcode(s->db), err);
        if (a != SQLITE_ROW && b != SQLITE_ROW)
            return 0;
        const char *what = object_difference(own, theirs, a != SQLITE_ROW, b != SQLITE_ROW, &row);
        if (what && sqlite3_errcode(db) == SQLITE_NOMEM) /* then a text was none, and differs */
            return own_tables_error(s, db, err);
        if (what && sqlite3_errcode(s->db) == SQLITE_NOMEM)
            return sql_error(s, SQLITE_NOMEM, err);
        if (what)
            return strange_error(s, what, row, err);
    }
}

/* What the scripts make, in memory. */
static int make_own(const char *const *scripts, int nr, sqlite3 **db)
{
    int rc = sqlite3_open(":memory:", db);

    for (int i = 0; rc == SQLITE_OK && i < nr; i++)
        rc = sqlite3_exec(*db, scripts[i], NULL, NULL, NULL);
    return rc;
}

/* What the file's tables, indices and whatever else it defines are, held against what the scripts
 * [0, nr) make: -1 with the first object that is strange or missing. Statistics that `ANALYZE`
 * leaves are let be. */
static int compare_with_scripts(struct store *s, const char *const *scripts, int nr,
                                struct error *err)
{
    sqlite3_stmt *own = NULL, *theirs = NULL;
    sqlite3 *db = NULL;
    int rc = -1;

    if (make_own(scripts, nr, &db) != SQLITE_OK ||
        sqlite3_prepare_v2(db, objects_query, -1, &own, NULL) != SQLITE_OK)
        own_tables_error(s, db, err);
    else if (sqlite3_prepare_v2(s->db, objects_query, -1, &theirs, NULL) != SQLITE_OK)
        sql_error(s, sqlite3_extended_errcode(s->db), err);
    else
        rc = compare_objects(s, own, theirs, err);
    sqlite3_finalize(own);
    sqlite3_finalize(theirs);
    sqlite3_close(db);
    return rc;
}

/* One state of version and tables, whoever upgrades meanwhile. Versions that are none are left to
 * the caller. */
static int compare_within(struct store *s, int64_t *version, struct error *err)
{
    const char *scripts[SCHEMA_NEWEST];

    if (sql_one_int(s, "PRAGMA user_version", version, err))
        return -1;
    if (*version < 0 || *version > SCHEMA_NEWEST)
        return 0;
    return find_scripts(scripts, err) || compare_with_scripts(s, scripts, (int)*version, err) ? -1
                                                                                              : 0;
}

static int compare_schema(struct store *s, int64_t *version, struct error *err)
{
    if (sql_execute(s, "BEGIN", err))
        return -1;
    int rc = compare_within(s, version, err);
    sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return rc;
}

int schema_empty_error(const struct store *s, struct error *err)
{
    return error_set(err, "%s: is empty; `harness run` makes a history of it", s->path);
}

int schema_check_version(struct store *s, struct error *err)
{
    int64_t version, pages;

    if (compare_schema(s, &version, err))
        return -1;
    if (version > SCHEMA_NEWEST)
        return newer_error(s, version, SCHEMA_NEWEST, err);
    if (version == 0 && sql_one_int(s, "PRAGMA page_count", &pages, err) == 0 && pages == 0)
        return schema_empty_error(s, err); /* a journal has undone what was there */
    if (version < SCHEMA_READABLE)
        return error_set(err,
                         "%s: was written by an older harness (schema %" PRId64
                         " of %d). It is "
                         "upgraded when something is written to it: `harness run` or `harness "
                         "baseline save` with this --db",
                         s->path, version, SCHEMA_NEWEST);
    s->version = version;
    return 0;
}

static int check_references(struct store *s, struct error *err)
{
    struct sql_query q;

    if (sql_open(&q, s, "PRAGMA foreign_key_check", err))
        return -1;
    int rc = sql_step(&q, err);
    if (rc > 0)
        rc = error_set(err, "%s: rows of %s would lose what they refer to; nothing was upgraded",
                       s->path, sql_text(&q));
    sql_close(&q);
    return rc;
}

static int apply_scripts(struct store *s, const char *const *scripts, int nr, struct error *err)
{
    char versions[128];
    int64_t version;

    if (sql_one_int(s, "PRAGMA user_version", &version, err))
        return -1;
    if (version < 0 || version > nr)
        return newer_error(s, version, nr, err);
    for (int i = (int)version; i < nr; i++)
        if (sql_execute(s, scripts[i], err))
            return error_prefix(err, "upgrading from schema %d to %d", i, i + 1);
    snprintf(versions, sizeof(versions), "PRAGMA application_id = %d; PRAGMA user_version = %d",
             SCHEMA_APPLICATION_ID, nr);
    if (sql_execute(s, versions, err))
        return -1;
    return check_references(s, err);
}

int schema_apply(struct store *s, const char *const *scripts, int nr, struct error *err)
{
    if (sql_execute(s, "BEGIN EXCLUSIVE", err))
        return -1;
    return sql_end(s, apply_scripts(s, scripts, nr, err), err);
}

/* ---- facts of rows of before they had columns ---- */

static int run_resource(struct store *s, const char *name, struct error *err)
{
    const struct resource *script = resource_find(name);

    return script ? sql_execute(s, script->data, err)
                  : error_set(err, "this harness was built without %s", name);
}

/* Columns that came later, as older tables would have them. */
static int show_numbers(struct store *s, struct error *err)
{
    return sql_execute(s,
                       "CREATE TEMP VIEW measurement AS "
                       "SELECT m.*, NULL AS numbers FROM main.measurement m",
                       err);
}

static int show_fill(struct store *s, struct error *err)
{
    return sql_execute(s,
                       "CREATE TEMP VIEW benchmark AS "
                       "SELECT b.*, '' AS fill FROM main.benchmark b",
                       err);
}

static int show_seen(struct store *s, struct error *err)
{
    return sql_execute(s,
                       "CREATE TEMP VIEW comparison AS "
                       "SELECT c.*, 0 AS head_ms FROM main.comparison c;"
                       "CREATE TEMP VIEW acceptance AS "
                       "SELECT a.*, 0 AS seen_ms FROM main.acceptance a",
                       err);
}

int schema_show_facts(struct store *s, struct error *err)
{
    if (s->version >= SCHEMA_SEEN)
        return 0;
    if (sql_execute(s, "PRAGMA temp_store = MEMORY", err) ||
        (s->version >= SCHEMA_VERDICTS && show_seen(s, err)))
        return -1;
    if (s->version >= SCHEMA_FILL)
        return 0;
    if (show_fill(s, err))
        return -1;
    if (s->version >= SCHEMA_FACTS)
        return s->version >= SCHEMA_NUMBERS ? 0 : show_numbers(s, err);
    return run_resource(s, "store/facts.sql", err) || run_resource(s, "store/facts_show.sql", err)
               ? -1
               : 0;
}

int schema_keep_facts(struct store *s, struct error *err)
{
    return run_resource(s, "store/facts.sql", err) || run_resource(s, "store/facts_keep.sql", err)
               ? -1
               : 0;
}

static int keep_facts_sealed(struct store *s, struct error *err)
{
    place_find_seal(s);
    return schema_keep_facts(s, err);
}

/* An older program that had the file open when it was upgraded may have begun runs since. */
static int keep_late_facts(struct store *s, struct error *err)
{
    int64_t late;

    if (sql_one_int(s, "SELECT EXISTS (SELECT 1 FROM run WHERE kind = '')", &late, err))
        return -1;
    if (!late)
        return 0;
    return sql_begin(s, err) || sql_end(s, keep_facts_sealed(s, err), err) ? -1 : 0;
}

static int upgrade_schema(struct store *s, const char *const *scripts, struct error *err)
{
    int64_t version;

    place_find_seal(s);
    if (sql_one_int(s, "PRAGMA user_version", &version, err) ||
        apply_scripts(s, scripts, SCHEMA_NEWEST, err))
        return -1;
    return version > 0 && version < SCHEMA_FACTS ? schema_keep_facts(s, err) : 0;
}

int schema_upgrade(struct store *s, struct error *err)
{
    const char *scripts[SCHEMA_NEWEST];
    int64_t version;

    if (compare_schema(s, &version, err))
        return -1;
    s->version = SCHEMA_NEWEST;
    if (version == SCHEMA_NEWEST) /* the common case takes no lock */
        return keep_late_facts(s, err);
    /* Exclusive, because the first writer of a new file is not in WAL mode yet. */
    if (find_scripts(scripts, err) || sql_execute(s, "BEGIN EXCLUSIVE", err) ||
        sql_end(s, upgrade_schema(s, scripts, err), err))
        return -1;
    s->upgraded |= version > 0;
    return 0;
}
