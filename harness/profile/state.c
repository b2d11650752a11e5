/* SPDX-License-Identifier: MIT */
/* Profilers: made, switched, emptied; what is set for all threads, and which buffer is whose. */
#include "profile/profile_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEFAULT_RECORDS = 1 << 20 };

struct prof prof_global_instance = { 0, 0, NULL };

static unsigned last_id; /* the global instance has 0 */
static pthread_once_t clock_once = PTHREAD_ONCE_INIT;

static int64_t epoch_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static uint64_t threshold_of(double rate)
{
    return rate >= 1 ? UINT64_MAX : (uint64_t)(rate * 0x1p64);
}

static struct prof_state *create_state(const struct prof_options *options, unsigned id)
{
    struct prof_state *state = prof_zeroed(sizeof(*state));

    if (!state)
        return NULL;
    pthread_once(&clock_once, prof_clock_init);
    pthread_mutex_init(&state->lock, NULL);
    pthread_mutex_init(&state->reading, NULL);
    state->id = id;
    state->last = &state->threads;
    state->most_records = options && options->records ? options->records : DEFAULT_RECORDS;
    if (state->most_records > UINT32_MAX)
        state->most_records = UINT32_MAX;
    state->ring = options && options->ring;
    state->rate = options && options->rate > 0 ? options->rate : 1;
    state->threshold = threshold_of(state->rate);
    state->seed = options ? options->seed : 0;
    state->start = state->cleared = prof_clock_anchor();
    state->cleared_epoch = epoch_ns();
    prof_registry_add(state);
    return state;
}

static void free_state(struct prof_state *state)
{
    if (!state)
        return;
    prof_registry_remove(state);
    while (state->threads) {
        struct prof_thread *t = state->threads;
        state->threads = t->next;
        prof_thread_free(t);
    }
    prof_retired_free(state);
    prof_sites_release(&state->sites);
    pthread_mutex_destroy(&state->reading);
    pthread_mutex_destroy(&state->lock);
    free(state);
}

struct prof_state *prof_state_of(struct prof *prof)
{
    struct prof_state *state = __atomic_load_n(&prof->state, __ATOMIC_ACQUIRE);

    if (state)
        return state;
    prof_global_lock();
    state = prof->state;
    if (!state) {
        state = create_state(NULL, prof->id);
        __atomic_store_n(&prof->state, state, __ATOMIC_RELEASE);
    }
    prof_global_unlock();
    return state;
}

struct prof *prof_create(const struct prof_options *options)
{
    struct prof *prof = NULL;

    if (options && !(options->rate >= 0 && options->rate <= 1)) {
        errno = EINVAL;
        return NULL;
    }
    prof = calloc(1, sizeof(*prof));
    if (!prof)
        return NULL;
    prof->id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
    prof->state = create_state(options, prof->id);
    if (!prof->state) {
        free(prof);
        return NULL;
    }
    return prof;
}

void prof_free(struct prof *prof)
{
    if (!prof)
        return;
    free_state(prof->state);
    free(prof);
}

int prof_set_on(struct prof *prof, int on)
{
    if (on && !prof_state_of(prof))
        return -1;
    __atomic_store_n(&prof->on, on != 0, __ATOMIC_RELEASE);
    return 0;
}

int prof_set_sampling(struct prof *prof, double rate, uint64_t seed)
{
    struct prof_state *state = prof_state_of(prof);

    if (!state)
        return -1;
    if (!(rate >= 0 && rate <= 1)) {
        errno = EINVAL;
        return -1;
    }
    pthread_mutex_lock(&state->lock);
    state->rate = rate;
    __atomic_store_n(&state->seed, seed, __ATOMIC_RELAXED);
    __atomic_store_n(&state->threshold, threshold_of(rate), __ATOMIC_RELAXED);
    pthread_mutex_unlock(&state->lock);
    return 0;
}

void prof_state_begin(struct prof_state *state)
{
    state->cleared = prof_clock_anchor();
    state->cleared_epoch = epoch_ns();
    for (int d = 0; d < PROF_DEVICES; d++)
        __atomic_store_n(&state->peak[d], __atomic_load_n(&state->live[d], __ATOMIC_RELAXED),
                         __ATOMIC_RELAXED);
    __atomic_add_fetch(&state->generation, 1, __ATOMIC_RELEASE);
}

/* Threads see the new generation at their next outermost scope and empty their buffers themselves;
 * until then snapshots pass them over. */
void prof_clear(struct prof *prof)
{
    struct prof_state *state = prof_state_of(prof);

    if (!state)
        return;
    pthread_mutex_lock(&state->lock);
    prof_state_begin(state);
    pthread_mutex_unlock(&state->lock);
}

int prof_count(struct prof *prof, struct prof_counts *counts)
{
    struct prof_state *state = prof_state_of(prof);

    *counts = (struct prof_counts) { 0 };
    if (!state)
        return -1;
    pthread_mutex_lock(&state->lock);
    for (const struct prof_thread *t = state->threads; t; t = t->next) {
        if (t->generation != state->generation)
            continue;
        counts->recorded += t->passed + __atomic_load_n(&t->count, __ATOMIC_ACQUIRE) - t->carried;
        counts->replaced += t->replaced;
        counts->skipped += __atomic_load_n(&t->skipped, __ATOMIC_RELAXED);
        counts->dropped += __atomic_load_n(&t->dropped, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&state->lock);
    return 0;
}

int prof_set_hooks(struct prof *prof, const struct prof_hooks *hooks)
{
    struct prof_state *state = prof_state_of(prof);

    if (!state)
        return -1;
    __atomic_store_n(&state->hooks, hooks, __ATOMIC_RELEASE);
    if (hooks)
        __atomic_fetch_or(&state->following, FOLLOWING_HOOKS, __ATOMIC_RELEASE);
    else
        __atomic_fetch_and(&state->following, ~(uint32_t)FOLLOWING_HOOKS, __ATOMIC_RELEASE);
    return 0;
}

const struct prof_site *prof_site_named(struct prof *prof, const char *name)
{
    struct prof_state *state = prof_state_of(prof);

    if (!state)
        return NULL;
    pthread_mutex_lock(&state->lock);
    const struct prof_site *site = prof_sites_find(&state->sites, name);
    pthread_mutex_unlock(&state->lock);
    return site;
}
