/* SPDX-License-Identifier: MIT */
#include "base/file.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "store/keeping.h"
#include "store/place.h"
#include "store/rows.h"
#include "store/schema.h"
#include "store/untrusted.h"
#include "vfs/page_checksum.h"
#include "vfs/watch_log.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int connect_to(struct store *s, const char *name, int flags, struct error *err)
{
    int rc = page_checksum_register();

    if (rc == SQLITE_OK)
        rc = sqlite3_open_v2(name, &s->db, flags | SQLITE_OPEN_PRIVATECACHE, PAGE_CHECKSUM_VFS);
    if (rc != SQLITE_OK) {
        sql_error(s, rc, err);
        return -1;
    }
    sqlite3_extended_result_codes(s->db, 1);
    sqlite3_busy_timeout(s->db, SQL_BUSY_MS);
    rc = untrusted_settings(s->db);
    if (rc != SQLITE_OK)
        return sql_error(s, rc, err);
    untrusted_limit_steps(s);
    return 0;
}

/* Whoever closes last writes the log into the file: not into one that is not the log's own. One
 * that was moved takes it along. */
static void disconnect_database(struct store *s)
{
    char *now = NULL;

    if (s->db && s->leaves_log)
        sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    if (s->db && s->place.file.number != 0) {
        enum store_fate fate = store_fate(s);
        if (fate != STORE_IN_PLACE)
            sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        if (fate == STORE_MOVED || fate == STORE_REPLACED)
            place_follow(s, &now);
    }
    free(now);
    sql_release_cache(s);
    sqlite3_close(s->db);
    s->db = NULL;
    s->place = (struct place) { .page = 0 };
}

static int check_path(const struct store *s, struct error *err)
{
    if (s->path[0] == '\0')
        return error_set(err, "the name of the history file is empty");
    if (file_is_folder(s->path))
        return error_set(err, "%s: is a folder; name a file in it, such as %s/history.db", s->path,
                         s->path);
    int there = s->mode == STORE_WRITE ? 1 : file_look(s->path, err);
    if (there == 0)
        error_set(err, "%s: there is no history yet; `harness run` makes one", s->path);
    return there > 0 ? 0 : -1;
}

/* SQLite's log has the name of the file: whoever came by another name would not see it. */
static int check_names(const struct store *s, struct error *err)
{
    struct stat st;

    if (stat(s->path, &st) || st.st_nlink <= 1)
        return 0;
    return error_set(
        err,
        "%s: has %lu names (hard links), and its write-ahead log is found by one of "
        "them alone, so writers would spoil it; nothing was changed. Remove the others "
        "(`find -samefile FILE` lists them), or use symbolic links",
        s->path, (unsigned long)st.st_nlink);
}

/* SHARED is the usual way. IMMUTABLE needs no file beside the main one, and sees nothing else;
 * ALONE needs none either, and keeps all others out. */
enum reading { SHARED, IMMUTABLE, ALONE };

static int read_connection(struct store *s, enum reading how, struct error *err)
{
    bool empty, immutable = how == IMMUTABLE;
    char *name = immutable ? sql_immutable_name(s->path) : sql_plain_name(s->path);
    /* Read-write where that is permitted: only such a handle tidies up the files beside it. */
    int flags = immutable ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI : SQLITE_OPEN_READWRITE;
    int rc = connect_to(s, name, flags, err);

    s->immutable = immutable;
    s->alone = how == ALONE;
    free(name);
    if (rc == 0)
        sql_be_patient(s);
    if (rc == 0 && how == ALONE)
        rc = sql_execute(s, "PRAGMA locking_mode = EXCLUSIVE", err);
    if (rc || schema_recognise(s, &empty, err))
        return -1;
    if (empty)
        return schema_empty_error(s, err);
    if (schema_check_version(s, err) || schema_show_facts(s, err))
        return -1;
    return sql_execute(s, "PRAGMA query_only = ON", err);
}

/* Which lies beside what a link leads to. */
static void keep_damaged_log(struct store *s)
{
    char *real = place_true_path(s->path);

    watch_log_keep(real, &s->note);
    free(real);
}

static int open_for_reading(struct store *s, struct error *err)
{
    bool foreign = false;

    if (place_look(s->path, s->mode, &foreign, &s->note, err))
        return -1;
    if (foreign) /* and stays where it is */
        return read_connection(s, IMMUTABLE, err);
    if (s->mode == STORE_LOOK)
        s->leaves_log = place_has_log(s->path);
    else
        keep_damaged_log(s);
    if (read_connection(s, SHARED, err) == 0)
        return 0;
    if (s->no_room) { /* for the index of the log, which can be in memory if nobody shares it */
        disconnect_database(s);
        return read_connection(s, ALONE, err);
    }
    /* On read-only media SQLite cannot make its lock file. */
    bool no_lock_file = s->failure == SQLITE_CANTOPEN || s->failure == SQLITE_READONLY;
    /* Without a log no process can be writing, and all results are in the main file. */
    if (!no_lock_file || access(s->path, R_OK) || place_has_log(s->path))
        return -1;
    disconnect_database(s);
    return read_connection(s, IMMUTABLE, err);
}

/* The pragma answers with the mode that holds from now on. */
static int switch_to_wal(struct store *s, struct error *err)
{
    struct sql_query q;

    if (sql_open(&q, s, "PRAGMA journal_mode = WAL", err))
        return -1;
    int rc = sql_step(&q, err);
    const char *mode = rc > 0 ? sql_text(&q) : NULL;
    bool is_wal = mode && strcmp(mode, "wal") == 0;
    sql_close(&q);
    if (rc < 0)
        return -1;
    if (is_wal)
        return 0;
    return error_set(err,
                     "%s: SQLite cannot keep its write-ahead log here (a network file system?). "
                     "Choose a local file with --db",
                     s->path);
}

/* ---- checksums for a file that was upgraded ---- */

enum { WATCHED_AT_ONCE = 64 << 20 }; /* bytes: a second or two, and as much room again */

/* The file without its log, and all others kept out until let_others_in(): an older harness would
 * write pages without checksums. Then the log again, for a VACUUM that a journal would roll back
 * leaves pages of both kinds. */
static int take_alone(struct store *s, struct error *err)
{
    return sql_execute(s,
                       "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE; "
                       "BEGIN EXCLUSIVE; COMMIT; PRAGMA journal_mode = WAL",
                       err);
}

/* SQLite leaves that way of locking with the log, and at the next look into the file. Each by
 * itself: where others have it open the first cannot be had. */
static void let_others_in(struct store *s)
{
    sqlite3_exec(s->db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
    sqlite3_exec(s->db, "PRAGMA locking_mode = NORMAL; SELECT count(*) FROM sqlite_schema", NULL,
                 NULL, NULL);
}

static int rewrite_alone(struct store *s, struct error *err)
{
    int patience = s->patience_ms;

    store_set_patience(s, 1); /* nobody is waited for */
    int rc = take_alone(s, err);
    if (rc == 0)
        rc = store_vacuum(s, err);
    let_others_in(s);
    store_set_patience(s, patience);
    return rc;
}

/* Files of older versions have none. That they get some is no reason not to go on without. */
static void add_checksums(struct store *s)
{
    struct store_room room;
    struct error reason;
    int rc = store_room(s, &room, &reason);

    if (rc == 0 && room.size >= WATCHED_AT_ONCE)
        rc = error_set(&reason, "%s: it is too long to be written anew at once", s->path);
    if (rc == 0)
        rc = rewrite_alone(s, &reason);
    if (rc)
        strbuf_addf(&s->note,
                    "%s%s: was upgraded and has no checksums, so a bit that changes in it may go "
                    "unseen: `harness history prune --vacuum` gives it some (not done now: %s)",
                    s->note.length ? "\n" : "", s->path, reason.message);
    s->failure = SQLITE_OK;
}

/* The tables come before the log, so that the first bytes of the file tell what it is. */
static int make_ready(struct store *s, struct error *err)
{
    if (schema_upgrade(s, err))
        return -1;
    if (s->upgraded && !page_checksum_is_on(s->db))
        add_checksums(s);
    s->upgraded = false;
    return switch_to_wal(s, err);
}

/* Between the rollback journal and the log SQLite needs the file for itself, and answers "busy" at
 * once, without the busy handler, where two processes could wait for each other. So we wait. */
static int make_ready_in_turn(struct store *s, struct error *err)
{
    int waited = 0;

    while (s->failure = 0, make_ready(s, err)) {
        if (s->failure != SQLITE_BUSY || waited >= SQL_BUSY_MS)
            return -1;
        waited += sqlite3_sleep(5 + (int)getpid() % 7); /* not all in step */
    }
    return 0;
}

static int open_for_writing(struct store *s, struct error *err)
{
    bool empty, foreign = false;

    if (check_names(s, err) || file_make_parent(s->path, err) ||
        place_look(s->path, s->mode, &foreign, &s->note, err))
        return -1;
    if (foreign)
        return error_set(err,
                         "%s: the log beside it belongs to another file, and its folder cannot be "
                         "written to",
                         s->path);
    keep_damaged_log(s);
    char *name = sql_plain_name(s->path);
    int rc = connect_to(s, name, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, err);
    free(name);
    if (rc == 0)
        sql_be_patient(s);
    if (rc || schema_recognise(s, &empty, err))
        return -1;
    if (sqlite3_db_readonly(s->db, "main") == 1)
        return sql_error(s, SQLITE_READONLY, err);
    if (empty && (rc = page_checksum_new_file(s->db)) != SQLITE_OK)
        return sql_error(s, rc, err);
    /* A new file and an upgrade are on the disk before anything is said to be in them. */
    if (sql_execute(s, "PRAGMA foreign_keys = ON; PRAGMA synchronous = EXTRA", err) ||
        make_ready_in_turn(s, err))
        return -1;
    return sql_execute(s, "PRAGMA synchronous = NORMAL", err);
}

static void tell_note(struct store *s)
{
    char *note = s->tell.note ? store_take_note(s) : NULL;

    if (note)
        s->tell.note(s->tell.context, note);
    free(note);
}

int store_open_or_why(struct store **out, const char *path, enum store_mode mode,
                      const struct store_teller *tell, int *failure, struct error *err)
{
    struct store *s = memory_zeroed(1, sizeof(*s));
    struct error ignored; /* whoever reads a damaged row is told */

    s->path = memory_string(path);
    s->mode = mode;
    if (tell)
        s->tell = *tell;
    strbuf_init(&s->note);
    int rc = check_path(s, err);
    if (rc == 0)
        rc = mode == STORE_WRITE ? open_for_writing(s, err) : open_for_reading(s, err);
    if (rc == 0)
        place_remember(s);
    *failure = s->failure;
    tell_note(s);
    if (rc == 0)
        read_number_kinds(s, &ignored);
    if (rc) {
        store_close(s);
        s = NULL;
    }
    *out = s;
    return rc;
}

int store_open_telling(struct store **out, const char *path, enum store_mode mode,
                       const struct store_teller *tell, struct error *err)
{
    int ignored;

    return store_open_or_why(out, path, mode, tell, &ignored, err);
}

int store_open(struct store **out, const char *path, enum store_mode mode, struct error *err)
{
    return store_open_telling(out, path, mode, NULL, err);
}

void store_close(struct store *s)
{
    if (!s)
        return;
    disconnect_database(s);
    keeping_free(s);
    strbuf_release(&s->note);
    free(s->path);
    free(s);
}

void store_set_patience(struct store *s, int ms)
{
    s->patience_ms = ms;
}

void store_tell_waits(struct store *s, store_wait_fn *tell)
{
    s->on_wait = tell;
}

void store_set_stop(struct store *s, int (*stop)(void *context), void *context)
{
    s->stop = stop;
    s->stop_context = context;
}

bool store_is_alone(const struct store *s)
{
    return s->alone;
}

const char *store_path(const struct store *s)
{
    return s->path;
}

char *store_take_note(struct store *s)
{
    char *note = s->note.length ? strbuf_detach(&s->note) : NULL;

    if (note)
        strbuf_init(&s->note);
    return note;
}

bool store_is_elsewhere(const struct store *s)
{
    return s->elsewhere;
}

enum store_fate store_fate(struct store *s)
{
    enum { LOOKS = 3, PAUSE_MS = 2 };
    enum store_fate fate = place_fate(s);

    for (int i = 1; fate == STORE_OVERWRITTEN && i < LOOKS; i++) {
        sqlite3_sleep(PAUSE_MS);
        fate = place_fate(s);
    }
    return fate;
}

/* ---- how large it is, and how it becomes smaller ---- */

int store_room(struct store *s, struct store_room *room, struct error *err)
{
    int64_t page, pages, unused;

    if (sql_one_int(s, "PRAGMA page_size", &page, err) ||
        sql_one_int(s, "PRAGMA page_count", &pages, err) ||
        sql_one_int(s, "PRAGMA freelist_count", &unused, err))
        return -1;
    *room = (struct store_room) { pages * page, unused * page };
    return 0;
}

int store_vacuum(struct store *s, struct error *err)
{
    int rc = page_checksum_with_vacuum(s->db);

    if (rc != SQLITE_OK)
        return sql_error(s, rc, err);
    if (sql_execute(s, "VACUUM", err))
        return -1;
    /* Into the file and cut to its length; readers may keep it from that until they are done. */
    sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    return 0;
}
