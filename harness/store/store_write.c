/* SPDX-License-Identifier: MIT */
#include "base/memory.h"
#include "stats/random.h"
#include "store/keeping.h"
#include "store/place.h"
#include "store/rows.h"
#include "store/schema.h"
#include "store/untrusted.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- into a new file, where the old one is gone ---- */

static int renumber_rows(struct store *to, const char *text, int64_t from, int64_t number,
                         struct error *err)
{
    struct sql_query q;

    if (from == number)
        return 0;
    if (sql_open(&q, to, text, err))
        return -1;
    sql_bind_int(&q, number);
    sql_bind_int(&q, from);
    return sql_run(&q, err);
}

/* Under the numbers that the caller knows. */
static int write_kept(struct store *to, const struct keeping *k, struct error *err)
{
    for (size_t i = 0; i < k->roofs.nr; i++) {
        const struct kept_roofs *c = &k->roofs.items[i];
        if (write_roofs(to, &c->machine, c->epoch, c->items, c->nr, err))
            return -1;
    }
    for (size_t i = 0; i < k->runs.nr; i++) {
        struct run run = k->runs.items[i]; /* borrows its texts */
        int64_t number = run.id;
        if (write_run(to, &run, err) ||
            renumber_rows(to, "UPDATE run SET id = ? WHERE id = ?", run.id, number, err))
            return -1;
    }
    for (size_t i = 0; i < k->launches.nr; i++) {
        const struct kept_launch *l = &k->launches.items[i];
        int64_t id;
        if (write_launch(to, l->run, &l->launch, &id, err) ||
            renumber_rows(to, "UPDATE launch SET id = ? WHERE id = ?", id, l->id, err))
            return -1;
    }
    for (size_t i = 0; i < k->measurements.nr; i++)
        if (write_measurement(to, k->measurements.items[i].launch, &k->measurements.items[i].m,
                              err))
            return -1;
    return 0;
}

static int write_new(struct store **to, const char *path, const struct keeping *k,
                     struct error *err)
{
    if (store_open(to, path, STORE_WRITE, err))
        return -1;
    int rc = sql_begin_lasting(*to, err);
    if (rc == 0)
        rc = sql_end(*to, write_kept(*to, k, err), err);
    if (rc) {
        store_close(*to);
        *to = NULL;
    }
    return rc;
}

static void note_elsewhere(struct store *s, const char *was, const char *now)
{
    strbuf_addf(&s->note, "%s%s %s while this was measured; nothing more was written to it",
                s->note.length ? "\n" : "", was, place_words(s->fate));
    if (now)
        strbuf_addf(&s->note, " (it is %s now)", now);
    strbuf_addf(&s->note,
                ". All that was measured is kept in %s: `harness history merge --db %s %s` brings "
                "it in",
                s->path, was, s->path);
}

/* The handle's own connection becomes that of the new file. */
static void take_over(struct store *s, struct store *to)
{
    struct store old = *s;

    s->db = to->db;
    s->path = to->path;
    s->cache = to->cache;
    s->place = to->place;
    s->version = to->version;
    s->failure = 0;
    s->elsewhere = true;
    sql_be_patient(s);
    to->db = old.db;
    to->path = old.path;
    to->cache = old.cache;
    to->place = old.place;
    to->fate = old.fate;
    s->outermost = to->outermost = NULL;
    untrusted_limit_steps(s); /* each connection knows whose it is */
    untrusted_limit_steps(to);
    sql_be_patient(to);
}

/* What a file that was copied over shows at first may also look like damage. */
static bool is_gone(struct store *s)
{
    if (s->failure == SQLITE_BUSY || s->failure == SQLITE_LOCKED)
        return true;
    if (s->fate == STORE_IN_PLACE && (s->failure == SQLITE_CORRUPT || s->failure == SQLITE_NOTADB ||
                                      s->failure == SQLITE_IOERR || s->failure == SQLITE_READONLY ||
                                      s->failure == SQLITE_CANTOPEN || s->failure == SQLITE_SCHEMA))
        s->fate = place_fate(s);
    return s->fate != STORE_IN_PLACE;
}

/* After a write was refused: where the file is no longer the one that was opened, or somebody has
 * kept it locked for too long, and there is something to keep, the handle goes on in a new file
 * beside it, which then has all of it under the same numbers; 0, and the write is to be done again.
 * Else -1, with `err` as it was, or the reason why nothing can be kept. */
static int go_elsewhere(struct store *s, struct error *err)
{
    struct store *to;
    struct strbuf path;
    char *now = NULL;

    if (!keeping_has_run(s) || s->elsewhere || !is_gone(s))
        return -1;
    strbuf_init(&path);
    place_name(s->path, "kept", &path);
    int rc = write_new(&to, path.data, s->keeping, err);
    strbuf_release(&path);
    if (rc)
        return error_prefix(err,
                            "%s is not the file that was opened, and what was measured cannot "
                            "be kept beside it",
                            s->path);
    if (s->fate == STORE_MOVED || s->fate == STORE_REPLACED)
        place_follow(s, &now);
    take_over(s, to);
    note_elsewhere(s, to->path, now);
    store_close(to);
    free(now);
    return 0;
}

/* ---- a run as it is measured ---- */

int store_begin_run(struct store *s, struct run *run, struct error *err)
{
    if (run->uuid[0] == '\0')
        random_uuid(run->uuid);
    if (sql_begin(s, err) || sql_end(s, write_run(s, run, err), err))
        return -1;
    keeping_run(s, run);
    return 0;
}

/* Runs an UPDATE or DELETE that must meet exactly one row. */
static int change_one(struct store *s, struct sql_query *q, const char *what, int64_t id,
                      struct error *err)
{
    if (sql_run(q, err))
        return -1;
    if (sqlite3_changes(s->db) == 1)
        return 0;
    return error_set(err, "%s: there is no %s %" PRId64, s->path, what, id);
}

static int update_run(struct store *s, int64_t run_id, int64_t ended_ms, struct error *err)
{
    struct sql_query q;

    if (sql_open(&q, s, "UPDATE run SET ended_ms = ? WHERE id = ?", err))
        return -1;
    sql_bind_int(&q, ended_ms);
    sql_bind_int(&q, run_id);
    return change_one(s, &q, "run", run_id, err);
}

static int end_run(struct store *s, int64_t run_id, int64_t ended_ms, struct error *err)
{
    if (sql_begin_lasting(s, err))
        return -1;
    return sql_end(s, update_run(s, run_id, ended_ms, err), err);
}

int store_end_run(struct store *s, int64_t run_id, int64_t ended_ms, struct error *err)
{
    if (end_run(s, run_id, ended_ms, err) &&
        (go_elsewhere(s, err) || end_run(s, run_id, ended_ms, err)))
        return -1;
    keeping_forget(s, run_id);
    /* A courtesy to those who look at the main file alone: it may fail, because others read the
     * file, and the run is stored all the same. */
    sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    return 0;
}

static int begin_launch(struct store *s, int64_t run_id, const struct launch *launch, int64_t *id,
                        struct error *err)
{
    if (sql_begin(s, err))
        return -1;
    return sql_end(s, write_launch(s, run_id, launch, id, err), err);
}

int store_begin_launch(struct store *s, int64_t run_id, const struct launch *launch,
                       int64_t *launch_id, struct error *err)
{
    if (begin_launch(s, run_id, launch, launch_id, err) &&
        (go_elsewhere(s, err) || begin_launch(s, run_id, launch, launch_id, err)))
        return -1;
    keeping_launch(s, run_id, *launch_id, launch);
    return 0;
}

static int find_launch(struct store *s, int64_t run_id, int seq, int64_t *launch_id,
                       struct error *err)
{
    struct sql_query q;

    if (sql_open(&q, s, "SELECT id FROM launch WHERE run = ? AND seq = ?", err))
        return -1;
    sql_bind_int(&q, run_id);
    sql_bind_int(&q, seq);
    int rc = sql_step(&q, err);
    if (rc > 0)
        *launch_id = sql_int(&q);
    sql_close(&q);
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    return error_set(err, "%s: run %" PRId64 " has no launch %d", s->path, run_id, seq);
}

int store_find_launch(struct store *s, int64_t run_id, int seq, int64_t *launch_id,
                      struct error *err)
{
    if (find_launch(s, run_id, seq, launch_id, err) &&
        (go_elsewhere(s, err) || find_launch(s, run_id, seq, launch_id, err)))
        return -1;
    return 0;
}

static int update_launch(struct store *s, int64_t launch_id, const struct launch *launch,
                         struct error *err)
{
    static const char *const text =
        "UPDATE launch SET ended_ms = ?, exit_status = ?, error_text = ? WHERE id = ?";
    struct sql_query q;

    if (sql_open(&q, s, text, err))
        return -1;
    sql_bind_int(&q, launch->ended_ms);
    sql_bind_int(&q, launch->exit_status);
    sql_bind_text(&q, launch->error_text);
    sql_bind_int(&q, launch_id);
    return change_one(s, &q, "launch", launch_id, err);
}

static int end_launch(struct store *s, int64_t launch_id, const struct launch *launch,
                      struct error *err)
{
    if (sql_begin(s, err))
        return -1;
    return sql_end(s, update_launch(s, launch_id, launch, err), err);
}

int store_end_launch(struct store *s, int64_t launch_id, const struct launch *launch,
                     struct error *err)
{
    if (end_launch(s, launch_id, launch, err) &&
        (go_elsewhere(s, err) || end_launch(s, launch_id, launch, err)))
        return -1;
    keeping_launch_end(s, launch_id, launch);
    return 0;
}

static int add_measurement(struct store *s, int64_t launch_id, const struct measurement *m,
                           struct error *err)
{
    if (sql_begin(s, err))
        return -1;
    return sql_end(s, write_measurement(s, launch_id, m, err), err);
}

int store_add_measurement(struct store *s, int64_t launch_id, const struct measurement *m,
                          struct error *err)
{
    if (add_measurement(s, launch_id, m, err) &&
        (go_elsewhere(s, err) || add_measurement(s, launch_id, m, err)))
        return -1;
    keeping_measurement(s, launch_id, m);
    return 0;
}

int store_add_roofs(struct store *s, const struct machine *machine, const char *epoch,
                    const struct roof *roofs, size_t nr, struct error *err)
{
    if (sql_begin_lasting(s, err) ||
        sql_end(s, write_roofs(s, machine, epoch, roofs, nr, err), err))
        return -1;
    keeping_roofs(s, machine, epoch, roofs, nr);
    return 0;
}

/* ---- whole runs from elsewhere, in one transaction ---- */

static int by_launch(const void *x, const void *y)
{
    const struct record *const *a = x, *const *b = y;
    int order = ((*a)->launch_seq > (*b)->launch_seq) - ((*a)->launch_seq < (*b)->launch_seq);

    /* They lie in one array: their addresses keep the order of insertion. */
    return order ? order : (*a > *b) - (*a < *b);
}

static const struct record **sort_launches(const struct records *records, int run, size_t *nr)
{
    const struct record **sorted =
        memory_zeroed(records->nr + 1, sizeof(*sorted)); /* NOLINT(bugprone-sizeof-expression) */

    *nr = 0;
    for (size_t i = 0; i < records->nr; i++)
        if (records->items[i].run == run)
            sorted[(*nr)++] = &records->items[i];
    qsort(sorted, *nr, sizeof(*sorted), by_launch);
    return sorted;
}

static int write_first(struct store *s, const struct run *run, const struct record *first,
                       int64_t *id, struct error *err)
{
    const struct launch launch = {
        .seq = first->launch_seq,
        .started_ms = first->m.started_ms ? first->m.started_ms : run->started_ms,
        .ended_ms = run->ended_ms,
    };

    return write_launch(s, run->id, &launch, id, err);
}

static int write_all(struct store *s, struct run *run, const struct record *const *sorted,
                     size_t nr, struct error *err)
{
    int64_t launch = 0;

    if (write_run(s, run, err))
        return -1;
    for (size_t i = 0; i < nr; i++) {
        bool next = i == 0 || sorted[i]->launch_seq != sorted[i - 1]->launch_seq;
        if ((next && write_first(s, run, sorted[i], &launch, err)) ||
            write_measurement(s, launch, &sorted[i]->m, err))
            return -1;
    }
    return 0;
}

int store_add_run(struct store *s, struct records *records, int run, bool *added, struct error *err)
{
    struct run *r = &records->runs[run];
    size_t nr;

    *added = false;
    if (sql_begin_lasting(s, err))
        return -1;
    const struct record **sorted = sort_launches(records, run, &nr);
    int rc = row_of_run(s, r->uuid, &r->id, err);
    bool is_new = rc == 0;
    if (is_new)
        rc = write_all(s, r, sorted, nr, err);
    free(sorted);
    rc = sql_end(s, rc < 0 ? -1 : 0, err);
    *added = rc == 0 && is_new;
    return rc;
}
