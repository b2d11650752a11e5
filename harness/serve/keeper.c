/* SPDX-License-Identifier: MIT */
#include "serve/keeper.h"

#include "base/array.h"
#include "core/clock.h"
#include "serve/waiting.h"
#include "store/query.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLASSES_MAX = 8 }; /* whose past is kept at once */

struct kept {
    struct past_maker *maker;
    char machine_class[96];
    struct past *past; /* NULL: not made yet */
    bool failed;       /* it cannot be made from what there is now */
    bool missed;       /* somebody did not wait for it */
    uint64_t state;    /* digest of the history that it was made from */
};

struct keeper {
    struct keeper_options options;
    struct store *store; /* of the thread */
    struct query_state first;
    int64_t counter; /* of query_changed() */
    pthread_t thread;
    bool has_thread;
    atomic_bool closing;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t wanted, made;
    uint64_t version;
    int64_t changed_ms;
    uint64_t told; /* digest of the history that readers have been told about */
    struct kept *kept[CLASSES_MAX];
    size_t nr;
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

    pthread_mutex_lock(&k->lock);
    if (past) {
        past_drop(kept->past);
        kept->past = past;
    }
    kept->failed = rc != 0; /* a damaged run: the page has no trends then */
    kept->state = state->digest;
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

static void look(struct keeper *k, struct query_state *state)
{
    struct query_state now;
    struct error err;
    bool changed;

    if (query_changed(k->store, &k->counter, &changed, &err) == 0 && changed &&
        query_state(k->store, &now, &err) == 0)
        *state = now;
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

int64_t keeper_changed_ms(struct keeper *k)
{
    pthread_mutex_lock(&k->lock);
    int64_t ms = k->changed_ms;
    pthread_mutex_unlock(&k->lock);
    return ms;
}

/* With the lock held. */
static struct kept *find_or_want(struct keeper *k, const char *machine_class)
{
    for (size_t i = 0; i < k->nr; i++)
        if (strcmp(k->kept[i]->machine_class, machine_class) == 0)
            return k->kept[i];
    if (k->nr == CLASSES_MAX)
        return NULL;
    struct kept *kept = memory_zeroed(1, sizeof(*kept));
    kept->maker = past_maker_create(machine_class, k->options.window);
    snprintf(kept->machine_class, sizeof(kept->machine_class), "%s", machine_class);
    k->kept[k->nr++] = kept;
    pthread_cond_signal(&k->wanted);
    return kept;
}

struct past *keeper_past(struct keeper *k, const char *machine_class)
{
    struct timespec until = waiting_until(KEEPER_PATIENCE_MS);
    int rc = 0;

    pthread_mutex_lock(&k->lock);
    struct kept *kept = find_or_want(k, machine_class);
    while (kept && !kept->past && !kept->failed && rc != ETIMEDOUT && !atomic_load(&k->closing))
        rc = pthread_cond_timedwait(&k->made, &k->lock, &until);
    struct past *past = kept && kept->past ? past_keep(kept->past) : NULL;
    if (kept && !past && !kept->failed)
        kept->missed = true;
    pthread_mutex_unlock(&k->lock);
    return past;
}

/* Somebody is about to ask for it. */
static void want_newest(struct keeper *k)
{
    struct records newest = { 0 };
    struct error ignored; /* the history is empty */

    if (query_load_runs(k->store, &k->first.newest, 1, &newest, &ignored) == 0) {
        pthread_mutex_lock(&k->lock);
        find_or_want(k, newest.runs[0].machine.class_name);
        pthread_mutex_unlock(&k->lock);
    }
    records_release(&newest);
}

static void *keep(void *context)
{
    struct keeper *k = context;
    struct query_state state = k->first;

    want_newest(k);
    while (!atomic_load(&k->closing)) {
        look(k, &state);
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
    bool ignored;

    *out = NULL;
    k->options = *options;
    grow(k);
    pthread_mutex_init(&k->lock, NULL);
    waiting_init(&k->wanted);
    waiting_init(&k->made);
    int rc = store_open(&k->store, options->path, STORE_READ, err);
    if (rc == 0)
        rc = query_changed(k->store, &k->counter, &ignored, err);
    if (rc == 0)
        rc = query_state(k->store, &k->first, err);
    if (rc == 0) {
        k->told = k->first.digest;
        rc = start(k, err);
    }
    if (rc) {
        keeper_close(k);
        return -1;
    }
    *out = k;
    return 0;
}

static void release_kept(struct kept *kept)
{
    past_drop(kept->past);
    past_maker_free(kept->maker);
    free(kept);
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
