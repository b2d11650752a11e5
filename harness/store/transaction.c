/* SPDX-License-Identifier: MIT */
/* Waiting for other writers, and transactions: begun where the file is still the one that was
 * opened, ended with its seal renewed. */
#include "store/keeping.h"
#include "store/place.h"

/* ---- waiting ---- */

static int patience_of(const struct store *s)
{
    if (s->patience_ms)
        return s->patience_ms;
    return keeping_has_run(s) ? SQL_BUSY_RUN_MS : SQL_BUSY_MS;
}

/* Others are through with most before that; to ask takes a process. */
enum { LOCKS_ASKED_MS = 100 };

/* Soon again at first, later seldom. */
static int wait_for_others(void *context, int count)
{
    static const int pauses[] = { 1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100 };
    enum { NR = sizeof(pauses) / sizeof(pauses[0]) };
    struct store *s = context;
    int pause = pauses[count < NR ? count : NR - 1];

    if (count == 0) {
        s->waited_ms = 0;
        s->no_locks = false;
    }
    if (s->waited_ms >= patience_of(s))
        return 0;
    if (s->waited_ms < LOCKS_ASKED_MS && s->waited_ms + pause >= LOCKS_ASKED_MS)
        s->no_locks = place_locks_are_refused(s->path);
    if (s->no_locks)
        return 0;
    if (s->on_wait && s->waited_ms < SQL_BUSY_TOLD_MS && s->waited_ms + pause >= SQL_BUSY_TOLD_MS)
        s->on_wait(s->path, patience_of(s) / 1000);
    s->waited_ms += pause;
    sqlite3_sleep(pause);
    return 1;
}

void sql_be_patient(struct store *s)
{
    sqlite3_busy_handler(s->db, wait_for_others, s);
}

/* ---- transactions ---- */

static int refuse_gone_file(struct store *s, struct error *err)
{
    sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    s->failure = SQLITE_READONLY;
    return error_set(err,
                     "%s: %s while it was in use, so this was written neither to the old nor to "
                     "the new one. Do it again (next time use `harness history move` or "
                     "`restore`)",
                     s->path, place_words(s->fate));
}

/* A seal that could not be asked for, for want of memory, is not another one. */
static int cannot_tell(struct store *s, struct error *err)
{
    s->fate = STORE_IN_PLACE;
    sql_error(s, SQLITE_NOMEM, err);
    sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return -1;
}

int sql_begin(struct store *s, struct error *err)
{
    if (s->mode != STORE_WRITE)
        return error_set(err, "%s: was opened for reading only", s->path);
    s->fate = STORE_IN_PLACE;
    if (sql_execute(s, "BEGIN IMMEDIATE", err))
        return -1;
    s->failure = SQLITE_OK;
    s->fate = place_fate(s);
    if (s->fate == STORE_OVERWRITTEN && s->failure == SQLITE_NOMEM)
        return cannot_tell(s, err);
    if (s->fate == STORE_IN_PLACE)
        place_follow_link(s);
    return s->fate == STORE_IN_PLACE ? 0 : refuse_gone_file(s, err);
}

static void synchronise_less(struct store *s)
{
    if (s->lasting)
        sqlite3_exec(s->db, "PRAGMA synchronous = NORMAL", NULL, NULL, NULL);
    s->lasting = false;
}

int sql_begin_lasting(struct store *s, struct error *err)
{
    s->lasting = true;
    if (sql_execute(s, "PRAGMA synchronous = FULL", err) == 0 && sql_begin(s, err) == 0)
        return 0;
    synchronise_less(s);
    return -1;
}

/* The seal is renewed where it is still that of the content which this handle knows: in another,
 * what it wrote would hang on rows that only have the same numbers. */
static int renew_seal(struct store *s, struct error *err)
{
    struct sql_query q;

    if (!s->place.sealed)
        return 0;
    if (sql_open(&q, s, "UPDATE seal SET before = now, now = randomblob(8) WHERE file = ?", err))
        return -1;
    sql_bind_blob(&q, s->place.life, SEAL_FILE);
    if (sql_run(&q, err))
        return -1;
    if (sqlite3_changes(s->db) == 1)
        return 0;
    s->fate = STORE_RESTORED;
    return refuse_gone_file(s, err);
}

int sql_end(struct store *s, int rc, struct error *err)
{
    if (rc == 0)
        rc = renew_seal(s, err);
    if (rc == 0)
        rc = sql_execute(s, "COMMIT", err);
    /* Some errors have ended the transaction already; then there is nothing to roll back. */
    if (rc && !sqlite3_get_autocommit(s->db))
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    synchronise_less(s);
    return rc ? -1 : 0;
}
