/* SPDX-License-Identifier: MIT */
/*
 * Inside store/ only: the handle, and the few wrappers through which all SQL goes.
 *
 *     struct sql_query q;
 *     if (sql_open(&q, s, "SELECT id, name FROM baseline WHERE id > ?", err))
 *         return -1;
 *     sql_bind_int(&q, 7);
 *     while ((rc = sql_step(&q, err)) > 0)
 *         use(sql_int(&q), sql_text(&q));
 *     sql_close(&q);
 *
 * Parameters are bound and columns are read from left to right. Statements stay prepared, by
 * their text; one text is open once at a time.
 */
#ifndef HARNESS_STORE_SQL_H
#define HARNESS_STORE_SQL_H

#include "base/array.h"
#include "base/strbuf.h"
#include "store/store.h"
#include "vfs/seal.h"

#include <sqlite3.h>
#include <sys/types.h>

/* How long writers wait for each other; with a run in hand longer, for it is not easily had again.
 */
enum { SQL_BUSY_MS = 60000, SQL_BUSY_RUN_MS = 300000, SQL_BUSY_TOLD_MS = 5000 };

struct sql_cached {
    char *text;
    sqlite3_stmt *stmt;
};

/* The file, log and index that a handle has open, by number, and the seal (store/place.h). */
struct place_file {
    dev_t device;
    ino_t number;
};

struct place {
    struct place_file file, log, index;
    int64_t page_size;
    bool sealed, known; /* there is one; and it was read where the file has it: */
    uint32_t page;
    struct seal seal;
    unsigned char life[SEAL_FILE]; /* as the seal names it; store_restore() begins another */
};

struct keeping; /* store/keeping.h */

struct store {
    sqlite3 *db;
    char *path;
    enum store_mode mode;
    bool immutable;             /* read-only media: no locks, no files beside it */
    bool alone;                 /* no room beside it: all others are kept out */
    bool leaves_log;            /* the last to close it does not write the log into it */
    int64_t version;            /* of its schema; with STORE_READ it may be an older one */
    bool upgraded;              /* it was an older one, until it was opened */
    int failure;                /* SQLite's primary code of the newest error; of what cannot be
                                 * read as it was written: SQLITE_CORRUPT */
    bool no_room;               /* it came from a full disk */
    sqlite3_stmt *outermost;    /* untrusted_limit_steps(): the query that is running, */
    int64_t turns, turns_most;  /* what it has taken, and may take */
    int (*stop)(void *context); /* store_set_stop(): asked at each turn; NULL: nobody is */
    void *stop_context;
    const char *odd; /* the newest column whose value was read as another, see columns.h */
    struct place place;
    enum store_fate fate;     /* as the newest transaction that was refused found it */
    struct strbuf note;       /* for people: what was put aside, or kept elsewhere */
    struct store_teller tell; /* of that, as soon as it is open */
    struct keeping *keeping;
    int patience_ms; /* of store_set_patience(); 0: as usual */
    int waited_ms;   /* for the lock in hand */
    bool no_locks;   /* the file system refuses it, so that waiting is of no use */
    store_wait_fn *on_wait;
    bool elsewhere; /* the handle writes to a new file beside the one that was opened */
    bool lasting;   /* the transaction that is open began with sql_begin_lasting() */
    ARRAY(struct sql_cached) cache;
};

struct sql_query {
    struct store *store;
    sqlite3_stmt *stmt;
    int parameter, column; /* next ones */
    int rc;                /* first failed bind */
};

int sql_open(struct sql_query *q, struct store *s, const char *text, struct error *err);
void sql_bind_int(struct sql_query *q, int64_t value);
void sql_bind_real(struct sql_query *q, double value);     /* NaN becomes NULL */
void sql_bind_text(struct sql_query *q, const char *text); /* NULL becomes NULL */
void sql_bind_copy(struct sql_query *q, const char *text); /* which need not live on */
void sql_bind_blob(struct sql_query *q, const void *bytes, size_t length);
/* Texts and blobs that are bound must live until here. 1: a row, 0: no more, -1: error. */
int sql_step(struct sql_query *q, struct error *err);
int64_t sql_int(struct sql_query *q);
double sql_real(struct sql_query *q);      /* NULL becomes NaN */
const char *sql_text(struct sql_query *q); /* NULL if NULL; valid until the next step */
const void *sql_blob(struct sql_query *q, size_t *length);
void sql_close(struct sql_query *q);

/* Steps a statement that gives no rows, and closes it. */
int sql_run(struct sql_query *q, struct error *err);
/* Statements without parameters, separated by semicolons. */
int sql_execute(struct store *s, const char *script, struct error *err);
/* The first column of the first row; an error if there is no row. */
int sql_one_int(struct store *s, const char *text, int64_t *value, struct error *err);
int64_t sql_last_id(const struct store *s);
void sql_release_cache(struct store *s);

/* A write transaction around several statements: `return sql_end(s, body(), err)` commits if the
 * body gave 0, else rolls back and keeps the body's message. */
int sql_begin(struct store *s, struct error *err);
/* The same where somebody is told "done" when it is committed: the log is synchronised through it,
 * so it, and all that was committed before it, survives a power cut from then on. SQLite takes the
 * level of synchronisation between transactions only (sqlite.org/pragma.html#pragma_synchronous),
 * so this is told at the beginning. */
int sql_begin_lasting(struct store *s, struct error *err);
int sql_end(struct store *s, int rc, struct error *err);

/* A path that SQLite takes for no URI; free() it. */
char *sql_plain_name(const char *path);
/* The file without its log and without locks, as SQLite takes it (a URI); free() it. */
char *sql_immutable_name(const char *path);

/* From now on the handle waits for others by its own patience. */
void sql_be_patient(struct store *s);

/* Turns SQLite's code into a message for a stranger; returns -1. */
int sql_error(struct store *s, int code, struct error *err);

#endif
