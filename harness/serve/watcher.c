/* SPDX-License-Identifier: MIT */
#include "serve/watcher.h"

#include "base/access.h"
#include "base/array.h"
#include "base/monotonic.h"
#include "core/clock.h"
#include "query/query.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct watched_class {
    struct class_history_maker *maker;
    char machine_class[96];
    struct class_history *history; /* NULL: not made yet */
    bool failed;                   /* it cannot be made from what there is now */
    bool missed;                   /* somebody did not wait for it */
    bool busy;                     /* the watcher's thread is making it */
    size_t size;                   /* bytes of both, about */
    uint64_t asked;                /* when it was asked for, counted in requests */
    uint64_t state;                /* digest of the history that it was made from */
};

struct watcher {
    struct watcher_options options;
    struct store *store; /* of the thread */
    struct stat file;    /* that the store has open */
    struct query_state first;
    int64_t counter; /* of query_changed() */
    size_t dropped;  /* by the cache, when memory was given back last */
    pthread_t thread;
    bool has_thread;
    atomic_bool closing;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t wanted, made;
    uint64_t version;
    int64_t changed_ms;
    uint64_t told; /* digest of the history that readers have been told about */
    struct watched_class *kept[WATCHER_CLASSES_MAX];
    size_t nr;
    uint64_t asked; /* requests so far */
};

/* With the lock held. */
static void watcher_grow(struct watcher *k)
{
    k->version++;
    k->changed_ms = clock_epoch_ms();
}

static void watcher_tell_pages(struct watcher *k, int64_t newest)
{
    if (k->options.events && newest > 0) /* else all runs are gone: there is nothing new to show */
        events_tell(k->options.events, newest);
}

/* ---- in the watcher's thread ---- */

static void watcher_refresh(struct watcher *k, struct watched_class *kept,
                            const struct query_state *state)
{
    struct class_history *history = NULL;
    struct error err;
    int rc = class_history_make(kept->maker, k->store, &k->closing, &history, &err);

    size_t size = history ? class_history_size(history) : 0;

    pthread_mutex_lock(&k->lock);
    if (history) {
        class_history_drop(kept->history);
        kept->history = history;
        kept->size = size;
    }
    kept->failed = rc != 0; /* a damaged run: the page has no trends then */
    kept->state = state->digest;
    kept->busy = false;
    watcher_grow(k);
    bool missed = kept->missed;
    kept->missed = false;
    pthread_cond_broadcast(&k->made);
    pthread_mutex_unlock(&k->lock);
    if (missed && history)
        watcher_tell_pages(k, state->newest);
}

/* One that is older than what the file holds; NULL: none. */
static struct watched_class *watcher_find_stale(struct watcher *k, uint64_t state)
{
    struct watched_class *stale = NULL;

    pthread_mutex_lock(&k->lock);
    for (size_t i = 0; i < k->nr && !stale; i++)
        if (k->kept[i]->state != state)
            stale = k->kept[i];
    if (stale)
        stale->busy = true;
    pthread_mutex_unlock(&k->lock);
    return stale;
}

static void watcher_tell(struct watcher *k, const struct query_state *state)
{
    pthread_mutex_lock(&k->lock);
    bool changed = k->told != state->digest;
    k->told = state->digest;
    if (changed)
        watcher_grow(k);
    pthread_mutex_unlock(&k->lock);
    if (changed)
        watcher_tell_pages(k, state->newest);
}

static bool watcher_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static void watcher_close_all(struct watcher *k)
{
    handles_empty(k->options.handles);
    store_close(k->store);
    k->store = NULL;
}

/* A handle stays with the file that it has open, whatever takes that file's place; and one of a
 * medium that cannot be written to sees no change at all. What a checkpoint writes into the same
 * file looks like that, too: then it is opened once too often. */
static void watcher_follow_file(struct watcher *k)
{
    struct stat file;
    struct store *store;
    struct error ignored; /* it is gone, or not whole yet: the next look will see */

    if (stat(k->options.path, &file) || (k->store && watcher_same_file(&file, &k->file)))
        return;
    if (k->options.public_only && !access_is_public(k->options.path))
        return;
    if (k->store && store_fate(k->store) == STORE_OVERWRITTEN)
        watcher_close_all(k);
    if (store_open_telling(&store, k->options.path, STORE_READ, &k->options.tell, &ignored))
        return;
    store_close(k->store);
    k->store = store;
    k->file = file;
    k->counter = -1;
    handles_renew(k->options.handles);
    pthread_mutex_lock(&k->lock);
    watcher_grow(k);
    pthread_mutex_unlock(&k->lock);
}

static void watcher_read_state(struct watcher *k, struct query_state *state)
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

static void watcher_look(struct watcher *k, struct query_state *state)
{
    watcher_follow_file(k);
    if (!k->store)
        return; /* what was copied there cannot be read: perhaps it can at the next look */
    watcher_read_state(k, state);
    for (struct watched_class *stale;
         !atomic_load(&k->closing) && (stale = watcher_find_stale(k, state->digest));)
        watcher_refresh(k, stale, state);
    if (!atomic_load(&k->closing))
        watcher_tell(k, state);
}

static void watcher_pause(struct watcher *k)
{
    struct timespec until = monotonic_until(WATCHER_LOOK_MS);

    pthread_mutex_lock(&k->lock);
    if (!atomic_load(&k->closing))
        pthread_cond_timedwait(&k->wanted, &k->lock, &until);
    pthread_mutex_unlock(&k->lock);
}

/* ---- in any thread ---- */

uint64_t watcher_version(struct watcher *k)
{
    pthread_mutex_lock(&k->lock);
    uint64_t version = k->version;
    pthread_mutex_unlock(&k->lock);
    return version;
}

/* Bytes of the histories that are kept, and of what the next ones are made from. */
static size_t watcher_size(struct watcher *k)
{
    size_t size = 0;

    pthread_mutex_lock(&k->lock);
    for (size_t i = 0; i < k->nr; i++)
        size += k->kept[i]->size;
    pthread_mutex_unlock(&k->lock);
    return size;
}

int64_t watcher_changed_ms(struct watcher *k)
{
    pthread_mutex_lock(&k->lock);
    int64_t ms = k->changed_ms;
    pthread_mutex_unlock(&k->lock);
    return ms;
}

static void watched_class_free(struct watched_class *kept)
{
    class_history_drop(kept->history);
    class_history_maker_free(kept->maker);
    free(kept);
}

/* With the lock held: room for one more, that of the one asked for longest ago. */
static struct watched_class **watcher_find_room(struct watcher *k)
{
    size_t oldest = WATCHER_CLASSES_MAX;

    if (k->nr < WATCHER_CLASSES_MAX)
        return &k->kept[k->nr++];
    for (size_t i = 0; i < k->nr; i++)
        if (!k->kept[i]->busy &&
            (oldest == WATCHER_CLASSES_MAX || k->kept[i]->asked < k->kept[oldest]->asked))
            oldest = i;
    watched_class_free(k->kept[oldest]); /* one at most is busy */
    return &k->kept[oldest];
}

/* With the lock held. It may be gone as soon as the lock is. */
static struct watched_class *watcher_find(struct watcher *k, const char *machine_class)
{
    k->asked++;
    for (size_t i = 0; i < k->nr; i++) {
        if (strcmp(k->kept[i]->machine_class, machine_class) != 0)
            continue;
        k->kept[i]->asked = k->asked;
        return k->kept[i];
    }
    struct watched_class *kept = memory_zeroed(1, sizeof(*kept));
    kept->maker = class_history_maker_create(machine_class, k->options.window);
    kept->asked = k->asked;
    snprintf(kept->machine_class, sizeof(kept->machine_class), "%s", machine_class);
    *watcher_find_room(k) = kept;
    pthread_cond_signal(&k->wanted);
    return kept;
}

/* With the lock held, which it gives away while it waits. */
static struct watched_class *watcher_wait(struct watcher *k, const char *machine_class,
                                          int patience_ms)
{
    struct timespec until = monotonic_until(patience_ms);
    struct watched_class *kept = watcher_find(k, machine_class);
    int rc = 0;

    while (!kept->history && !kept->failed && rc != ETIMEDOUT && !atomic_load(&k->closing)) {
        rc = pthread_cond_timedwait(&k->made, &k->lock, &until);
        kept = watcher_find(k, machine_class);
    }
    return kept;
}

struct class_history *watcher_history(struct watcher *k, const char *machine_class, bool *failed)
{
    pthread_mutex_lock(&k->lock);
    struct watched_class *kept = watcher_wait(k, machine_class, WATCHER_PATIENCE_MS);
    struct class_history *history = kept->history ? class_history_keep(kept->history) : NULL;
    *failed = !history && kept->failed;
    if (!history && !kept->failed)
        kept->missed = true;
    pthread_mutex_unlock(&k->lock);
    return history;
}

/* Somebody is about to ask for it, and should not have to wait. */
static void watcher_make_newest(struct watcher *k, const char *machine_class)
{
    if (!machine_class[0])
        return; /* the history is empty */
    pthread_mutex_lock(&k->lock);
    watcher_wait(k, machine_class, WATCHER_START_MS);
    pthread_mutex_unlock(&k->lock);
}

/* Before there is a thread that uses the store. */
static void watcher_find_newest(struct watcher *k, char *machine_class, size_t size)
{
    struct records newest = { 0 };
    struct error ignored;

    machine_class[0] = '\0';
    if (k->first.newest && query_load_runs(k->store, &k->first.newest, 1, &newest, &ignored) == 0)
        snprintf(machine_class, size, "%s", newest.runs[0].machine.class_name);
    records_release(&newest);
}

/* What was let go of goes back to the system: else what is held is the most that ever was. */
static void watcher_tidy(struct watcher *k)
{
    struct cache *cache = k->options.cache;

    if (!cache)
        return;
    cache_forget(cache, watcher_version(k));
    cache_reserve(cache, watcher_size(k));
    size_t dropped = cache_dropped(cache);
    if (dropped - k->dropped < WATCHER_TRIM)
        return;
    k->dropped = dropped;
    malloc_trim(0);
}

static void *watcher_run(void *context)
{
    struct watcher *k = context;
    struct query_state state = k->first;

    while (!atomic_load(&k->closing)) {
        watcher_look(k, &state);
        if (!atomic_load(&k->closing))
            watcher_tidy(k);
        watcher_pause(k);
    }
    return NULL;
}

/* Signals are for the thread that opens it. */
static int watcher_start(struct watcher *k, struct error *err)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    k->has_thread = pthread_create(&k->thread, NULL, watcher_run, k) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return k->has_thread ? 0 : error_set(err, "cannot start a thread");
}

int watcher_open(const struct watcher_options *options, struct watcher **out, struct error *err)
{
    struct watcher *k = memory_zeroed(1, sizeof(*k));
    char machine_class[sizeof(((struct watched_class *)0)->machine_class)];
    bool ignored;

    *out = NULL;
    k->options = *options;
    watcher_grow(k);
    pthread_mutex_init(&k->lock, NULL);
    monotonic_condition_init(&k->wanted);
    monotonic_condition_init(&k->made);
    if (stat(options->path, &k->file)) /* before it is opened: what comes later is a change */
        k->file = (struct stat) { 0 };
    int rc = store_open_telling(&k->store, options->path, STORE_READ, &options->tell, err);
    if (rc == 0)
        rc = query_changed(k->store, &k->counter, &ignored, err);
    if (rc == 0)
        rc = query_state(k->store, &k->first, err);
    if (rc == 0) {
        k->told = k->first.digest;
        watcher_find_newest(k, machine_class, sizeof(machine_class));
        watcher_tell_pages(k, k->first.newest);
        rc = watcher_start(k, err);
    }
    if (rc) {
        watcher_close(k);
        return -1;
    }
    watcher_make_newest(k, machine_class);
    *out = k;
    return 0;
}

void watcher_close(struct watcher *k)
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
        watched_class_free(k->kept[i]);
    pthread_cond_destroy(&k->made);
    pthread_cond_destroy(&k->wanted);
    pthread_mutex_destroy(&k->lock);
    store_close(k->store);
    free(k);
}
