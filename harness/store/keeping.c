/* SPDX-License-Identifier: MIT */
#include "store/keeping.h"

#include "base/memory.h"
#include "base/strbuf.h"
#include "store/place.h"
#include "store/schema.h"
#include "store/untrusted.h"
#include "store/write.h"

#include <stdlib.h>
#include <string.h>

struct kept_launch {
    int64_t run, id;
    struct launch launch;
};

struct kept_measurement {
    int64_t run, launch;
    struct measurement m;
};

struct kept_ceilings {
    struct machine machine;
    char *epoch;
    struct ceiling *items;
    size_t nr;
};

struct keeping {
    ARRAY(struct run) runs;
    ARRAY(struct kept_launch) launches;
    ARRAY(struct kept_measurement) measurements;
    ARRAY(struct kept_ceilings) ceilings;
};

/* ---- what is kept ---- */

static struct keeping *keeping_of(struct store *s)
{
    if (!s->keeping)
        s->keeping = memory_zeroed(1, sizeof(*s->keeping));
    return s->keeping;
}

void keeping_run(struct store *s, const struct run *run)
{
    run_copy(array_push(&keeping_of(s)->runs), run);
}

static void copy_launch(struct launch *to, const struct launch *from)
{
    *to = *from;
    to->error_text = memory_string(from->error_text);
}

void keeping_launch(struct store *s, int64_t run, int64_t id, const struct launch *launch)
{
    struct kept_launch *kept = array_push(&keeping_of(s)->launches);

    kept->run = run;
    kept->id = id;
    copy_launch(&kept->launch, launch);
}

static struct kept_launch *find_launch(struct keeping *k, int64_t id)
{
    for (size_t i = k ? k->launches.nr : 0; i-- > 0;)
        if (k->launches.items[i].id == id)
            return &k->launches.items[i];
    return NULL;
}

void keeping_launch_end(struct store *s, int64_t id, const struct launch *launch)
{
    struct kept_launch *kept = find_launch(s->keeping, id);

    if (!kept)
        return;
    kept->launch.ended_ms = launch->ended_ms;
    kept->launch.exit_status = launch->exit_status;
    free(kept->launch.error_text);
    kept->launch.error_text = memory_string(launch->error_text);
}

void keeping_measurement(struct store *s, int64_t launch, const struct measurement *m)
{
    struct kept_launch *of = find_launch(s->keeping, launch);

    if (!of)
        return;
    struct kept_measurement *kept = array_push(&s->keeping->measurements);
    kept->run = of->run;
    kept->launch = launch;
    measurement_copy(&kept->m, m);
}

void keeping_ceilings(struct store *s, const struct machine *machine, const char *epoch,
                      const struct ceiling *ceilings, size_t nr)
{
    struct kept_ceilings *kept = array_push(&keeping_of(s)->ceilings);

    kept->machine = *machine;
    kept->epoch = memory_string(epoch);
    kept->items = memory_resize(NULL, nr, sizeof(*ceilings));
    kept->nr = nr;
    if (nr)
        memcpy(kept->items, ceilings, nr * sizeof(*ceilings));
}

/* ---- what need not be kept ---- */

static void forget_measurements(struct keeping *k, int64_t run)
{
    size_t left = 0;

    for (size_t i = 0; i < k->measurements.nr; i++) {
        if (k->measurements.items[i].run == run)
            measurement_release(&k->measurements.items[i].m);
        else
            k->measurements.items[left++] = k->measurements.items[i];
    }
    k->measurements.nr = left;
}

static void forget_launches(struct keeping *k, int64_t run)
{
    size_t left = 0;

    for (size_t i = 0; i < k->launches.nr; i++) {
        if (k->launches.items[i].run == run)
            launch_release(&k->launches.items[i].launch);
        else
            k->launches.items[left++] = k->launches.items[i];
    }
    k->launches.nr = left;
}

void keeping_forget(struct store *s, int64_t run)
{
    struct keeping *k = s->keeping;
    size_t left = 0;

    if (!k)
        return;
    forget_measurements(k, run);
    forget_launches(k, run);
    for (size_t i = 0; i < k->runs.nr; i++) {
        if (k->runs.items[i].id == run)
            run_release(&k->runs.items[i]);
        else
            k->runs.items[left++] = k->runs.items[i];
    }
    k->runs.nr = left;
}

void keeping_free(struct store *s)
{
    struct keeping *k = s->keeping;

    if (!k)
        return;
    while (k->runs.nr > 0)
        keeping_forget(s, k->runs.items[0].id);
    for (size_t i = 0; i < k->ceilings.nr; i++) {
        free(k->ceilings.items[i].epoch);
        free(k->ceilings.items[i].items);
    }
    array_release(&k->runs);
    array_release(&k->launches);
    array_release(&k->measurements);
    array_release(&k->ceilings);
    free(k);
    s->keeping = NULL;
}

/* ---- into a new file ---- */

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

bool keeping_has_run(const struct store *s)
{
    return s->keeping && s->keeping->runs.nr > 0;
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

int keeping_go_elsewhere(struct store *s, struct error *err)
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
