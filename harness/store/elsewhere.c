/* SPDX-License-Identifier: MIT */
#include "store/elsewhere.h"

#include "base/strbuf.h"
#include "store/keeping.h"
#include "store/place.h"
#include "store/schema.h"
#include "store/untrusted.h"
#include "store/write.h"

#include <stdlib.h>

static int renumber(struct store *to, const char *text, int64_t from, int64_t number,
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
static int write_all(struct store *to, const struct keeping *k, struct error *err)
{
    for (size_t i = 0; i < k->ceilings.nr; i++) {
        const struct kept_ceilings *c = &k->ceilings.items[i];
        if (write_ceilings(to, &c->machine, c->epoch, c->items, c->nr, err))
            return -1;
    }
    for (size_t i = 0; i < k->runs.nr; i++) {
        struct run run = k->runs.items[i]; /* borrows its texts */
        int64_t number = run.id;
        if (write_run(to, &run, err) ||
            renumber(to, "UPDATE run SET id = ? WHERE id = ?", run.id, number, err))
            return -1;
    }
    for (size_t i = 0; i < k->launches.nr; i++) {
        const struct kept_launch *l = &k->launches.items[i];
        int64_t id;
        if (write_launch(to, l->run, &l->launch, &id, err) ||
            renumber(to, "UPDATE launch SET id = ? WHERE id = ?", id, l->id, err))
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
        rc = sql_end(*to, write_all(*to, k, err), err);
    if (rc) {
        store_close(*to);
        *to = NULL;
    }
    return rc;
}

static void tell(struct store *s, const char *was, const char *now)
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

int store_go_elsewhere(struct store *s, struct error *err)
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
    tell(s, to->path, now);
    store_close(to);
    free(now);
    return 0;
}
