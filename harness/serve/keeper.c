/* SPDX-License-Identifier: MIT */
#include "serve/keeper.h"

#include "base/array.h"
#include "base/file.h"
#include "core/clock.h"
#include "serve/waiting.h"
#include "store/query.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct kept {
    struct past_maker *maker;
    char machine_class[96];
    struct past *past; /* NULL: not made yet */
    bool failed;       /* it cannot be made from what there is now */
    bool missed;       /* somebody did not wait for it */
    bool busy;         /* the keeper's thread is making it */
    size_t size;       /* bytes of both, about */
    uint64_t asked;    /* when, in requests for a past */
    uint64_t state;    /* digest of the history that it was made from */
};

struct keeper {
    struct keeper_options options;
    struct store *store; /* of the thread */
    struct stat file;    /* that the store has open */
    struct query_state first;
    int64_t counter; /* of query_changed() */
    pthread_t thread;
    bool has_thread;
    atomic_bool closing, opened;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t wanted, made;
    uint64_t version;
    int64_t changed_ms;
    uint64_t told; /* digest of the history that readers have been told about */
    struct kept *kept[KEEPER_CLASSES_MAX];
    size_t nr;
    uint64_t asked; /* requests for a past */
};

/* With the lock held. */
static void grow(struct keeper *k)
{
    k->version++;
    k->changed_ms = clock_epoch_ms();
}

/* ---- in the keeper's thread ---- */

static void refresh(struct keeper *k, struct kept *kept, const struct query_state *state)
{
    struct past *past = NULL;
    struct error err;
    int rc = past_make(kept->maker, k->store, &k->closing, &past, &err);

    size_t size = past ? past_size(past) : 0;

    pthread_mutex_lock(&k->lock);
    if (past) {
        past_drop(kept->past);
        kept->past = past;
        kept->size = size;
    }
    kept->failed = rc != 0; /* a damaged run: the page has no trends then */
    kept->state = state->digest;
    kept->busy = false;
    grow(k);
    bool missed = kept->missed;
    kept->missed = false;
    pthread_cond_broadcast(&k->made);
    pthread_mutex_unlock(&k->lock);
    if (missed && past && k->options.tell)
        k->options.tell(k->options.context, state->newest);
}

/* The one whose past is older than the history; NULL: none. */
static struct kept *find_stale(struct keeper *k, uint64_t state)
{
    struct kept *stale = NULL;

    pthread_mutex_lock(&k->lock);
    for (size_t i = 0; i < k->nr && !stale; i++)
        if (k->kept[i]->state != state)
            stale = k->kept[i];
    if (stale)
        stale->busy = true;
    pthread_mutex_unlock(&k->lock);
    return stale;
}

static void tell(struct keeper *k, const struct query_state *state)
{
    pthread_mutex_lock(&k->lock);
    bool changed = k->told != state->digest;
    k->told = state->digest;
    if (changed)
        grow(k);
    pthread_mutex_unlock(&k->lock);
    if (changed && k->options.tell)
        k->options.tell(k->options.context, state->newest);
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static void close_all(struct keeper *k)
{
    if (k->options.empty)
        k->options.empty(k->options.context);
    store_close(k->store);
    k->store = NULL;
}

/* A handle stays with the file that it has open, whatever takes that file's place; and one of a
 * medium that cannot be written to sees no change at all. What a checkpoint writes into the same
 * file looks like that, too: then it is opened once too often. */
static void follow_file(struct keeper *k)
{
    struct stat file;
    struct store *store;
    struct error ignored; /* it is gone, or not whole yet: the next look will see */

    if (stat(k->options.path, &file) || (k->store && same_file(&file, &k->file)))
        return;
    if (k->options.public_only && !file_is_public(k->options.path))
        return;
    if (k->store && store_fate(k->store) == STORE_OVERWRITTEN)
        close_all(k);
    if (store_open(&store, k->options.path, STORE_READ, &ignored))
        return;
    store_close(k->store);
    k->store = store;
    k->file = file;
    k->counter = -1;
    if (k->options.renew)
        k->options.renew(k->options.context);
    pthread_mutex_lock(&k->lock);
    grow(k);
    pthread_mutex_unlock(&k->lock);
}

static void read_state(struct keeper *k, struct query_state *state)
{
    struct query_state now;
    struct error ignored;
    bool changed;

    if (query_changed(k->store, &k->counter, &changed, &ignored) || !changed)
        return;
    if (query_state(k->store, &now, &ignored) == 0)
        *state = now;
    else
        k->counter = -1; /* the change is still to be seen */
}

static void look(struct keeper *k, struct query_state *state)
{
    follow_file(k);
    if (!k->store)
        return; /* what was copied there cannot be read: perhaps it can at the next look */
    read_state(k, state);
    for (struct kept *stale; !atomic_load(&k->closing) && (stale = find_stale(k, state->digest));)
        refresh(k, stale, state);
    if (!atomic_load(&k->closing))
        tell(k, state);
}

static void pause_until_wanted(struct keeper *k)
{
    struct timespec until = waiting_until(KEEPER_LOOK_MS);

    pthread_mutex_lock(&k->lock);
    if (!atomic_load(&k->closing))
        pthread_cond_timedwait(&k->wanted, &k->lock, &until);
    pthread_mutex_unlock(&k->lock);
}

/* ---- in any thread ---- */

uint64_t keeper_version(struct keeper *k)
{
    pthread_mutex_lock(&k->lock);
    uint64_t version = k->version;
    pthread_mutex_unlock(&k->lock);
    return version;
}

size_t keeper_size(struct keeper *k)
{
    size_t size = 0;

    pthread_mutex_lock(&k->lock);
    for (size_t i = 0; i < k->nr; i++)
        size += k->kept[i]->size;
    pthread_mutex_unlock(&k->lock);
    return size;
}

int64_t keeper_changed_ms(struct keeper *k)
{
    pthread_mutex_lock(&k->lock);
    int64_t ms = k->changed_ms;
    pthread_mutex_unlock(&k->lock);
    return ms;
}

static void release_kept(struct kept *kept)
{
    past_drop(kept->past);
    past_maker_free(kept->maker);
    free(kept);
}

/* With the lock held: room for one more, that of the one asked for longest ago. */
static struct kept **find_room(struct keeper *k)
{
    size_t oldest = KEEPER_CLASSES_MAX;

    if (k->nr < KEEPER_CLASSES_MAX)
        return &k->kept[k->nr++];
    for (size_t i = 0; i < k->nr; i++)
        if (!k->kept[i]->busy &&
            (oldest == KEEPER_CLASSES_MAX || k->kept[i]->asked < k->kept[oldest]->asked))
            oldest = i;
    release_kept(k->kept[oldest]); /* one at most is busy */
    return &k->kept[oldest];
}

/* With the lock held. It may be gone as soon as the lock is. */
static struct kept *find_or_want(struct keeper *k, const char *machine_class)
{
    k->asked++;
    for (size_t i = 0; i < k->nr; i++) {
        if (strcmp(k->kept[i]->machine_class, machine_class) != 0)
            continue;
        k->kept[i]->asked = k->asked;
        return k->kept[i];
    }
    struct kept *kept = memory_zeroed(1, sizeof(*kept));
    kept->maker = past_maker_create(machine_class, k->options.window);
    kept->asked = k->asked;
    snprintf(kept->machine_class, sizeof(kept->machine_class), "%s", machine_class);
    *find_room(k) = kept;
    pthread_cond_signal(&k->wanted);
    return kept;
}

/* With the lock held, which it gives away while it waits. */
static struct kept *wait_for_past(struct keeper *k, const char *machine_class, int patience_ms)
{
    struct timespec until = waiting_until(patience_ms);
    struct kept *kept = find_or_want(k, machine_class);
    int rc = 0;

    while (!kept->past && !kept->failed && rc != ETIMEDOUT && !atomic_load(&k->closing)) {
        rc = pthread_cond_timedwait(&k->made, &k->lock, &until);
        kept = find_or_want(k, machine_class);
    }
    return kept;
}

struct past *keeper_past(struct keeper *k, const char *machine_class, bool *failed)
{
    pthread_mutex_lock(&k->lock);
    struct kept *kept = wait_for_past(k, machine_class, KEEPER_PATIENCE_MS);
    struct past *past = kept->past ? past_keep(kept->past) : NULL;
    *failed = !past && kept->failed;
    if (!past && !kept->failed)
        kept->missed = true;
    pthread_mutex_unlock(&k->lock);
    return past;
}

/* Somebody is about to ask for it, and should not have to wait. */
static void make_newest(struct keeper *k, const char *machine_class)
{
    if (!machine_class[0])
        return; /* the history is empty */
    pthread_mutex_lock(&k->lock);
    wait_for_past(k, machine_class, KEEPER_START_MS);
    pthread_mutex_unlock(&k->lock);
}

/* Before there is a thread that uses the store. */
static void find_newest(struct keeper *k, char *machine_class, size_t size)
{
    struct records newest = { 0 };
    struct error ignored;

    machine_class[0] = '\0';
    if (k->first.newest && query_load_runs(k->store, &k->first.newest, 1, &newest, &ignored) == 0)
        snprintf(machine_class, size, "%s", newest.runs[0].machine.class_name);
    records_release(&newest);
}

static void *keep(void *context)
{
    struct keeper *k = context;
    struct query_state state = k->first;

    while (!atomic_load(&k->closing)) {
        look(k, &state);
        if (k->options.tidy && atomic_load(&k->opened) && !atomic_load(&k->closing))
            k->options.tidy(k->options.context);
        pause_until_wanted(k);
    }
    return NULL;
}

/* Signals are for the thread that opens it. */
static int start(struct keeper *k, struct error *err)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    k->has_thread = pthread_create(&k->thread, NULL, keep, k) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return k->has_thread ? 0 : error_set(err, "cannot start a thread");
}

int keeper_open(const struct keeper_options *options, struct keeper **out, struct error *err)
{
    struct keeper *k = memory_zeroed(1, sizeof(*k));
    char machine_class[sizeof(((struct kept *)0)->machine_class)];
    bool ignored;

    *out = NULL;
    k->options = *options;
    grow(k);
    pthread_mutex_init(&k->lock, NULL);
    waiting_init(&k->wanted);
    waiting_init(&k->made);
    if (stat(options->path, &k->file)) /* before it is opened: what comes later is a change */
        k->file = (struct stat) { 0 };
    int rc = store_open(&k->store, options->path, STORE_READ, err);
    if (rc == 0)
        rc = query_changed(k->store, &k->counter, &ignored, err);
    if (rc == 0)
        rc = query_state(k->store, &k->first, err);
    if (rc == 0) {
        k->told = k->first.digest;
        find_newest(k, machine_class, sizeof(machine_class));
        if (options->tell)
            options->tell(options->context, k->first.newest);
        rc = start(k, err);
    }
    if (rc) {
        keeper_close(k);
        return -1;
    }
    make_newest(k, machine_class);
    *out = k;
    atomic_store(&k->opened, true);
    return 0;
}

void keeper_close(struct keeper *k)
{
    if (!k)
        return;
    pthread_mutex_lock(&k->lock);
    atomic_store(&k->closing, true);
    pthread_cond_broadcast(&k->wanted);
    pthread_cond_broadcast(&k->made);
    pthread_mutex_unlock(&k->lock);
    if (k->has_thread)
        pthread_join(k->thread, NULL);
    for (size_t i = 0; i < k->nr; i++)
        release_kept(k->kept[i]);
    pthread_cond_destroy(&k->made);
    pthread_cond_destroy(&k->wanted);
    pthread_mutex_destroy(&k->lock);
    store_close(k->store);
    free(k);
}
