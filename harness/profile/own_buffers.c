/* SPDX-License-Identifier: MIT */
/* Which buffer is whose: those of a thread by the profilers it records for, given back when it
 * ends; and what becomes of all in a child that a process forks. */
#include "profile/profile_parts.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS = 4 };

/* The buffers that the thread used last, by the number of their profiler. */
static __thread struct {
    struct prof_thread *thread;
    unsigned id;
} slots[SLOTS];

/* All that it has. */
struct own_buffer {
    struct own_buffer *next;
    struct prof_thread *thread;
    unsigned id;
};
static __thread struct own_buffer *own_buffers;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t ending; /* of a thread */
static bool has_ending;

/* ---- threads that end ---- */

static void leave_buffer(struct prof_state *state, struct prof_thread *t)
{
    prof_thread_leave(t);
    pthread_mutex_lock(&state->lock);
    t->next_idle = state->idle;
    state->idle = t;
    pthread_mutex_unlock(&state->lock);
}

static void end_thread(void *unused)
{
    (void)unused;
    prof_registry_lock();
    while (own_buffers) {
        struct own_buffer *own = own_buffers;
        struct prof_state *state = prof_registry_find(own->id);
        own_buffers = own->next;
        if (state)
            leave_buffer(state, own->thread);
        free(own);
    }
    prof_registry_unlock();
    for (int i = 0; i < SLOTS; i++)
        slots[i].thread = NULL; /* another destructor may still record */
}

/* ---- processes that fork ---- */

static void before_fork(void)
{
    prof_global_lock();
    prof_registry_lock();
    for (struct prof_state *s = prof_registry_first(); s; s = s->next_state)
        pthread_mutex_lock(&s->lock);
}

static void unlock_all(void)
{
    for (struct prof_state *s = prof_registry_first(); s; s = s->next_state)
        pthread_mutex_unlock(&s->lock);
    prof_registry_unlock();
    prof_global_unlock();
}

/* Of the threads one is left, which forked. It begins anew; buffers of the others may be used
 * again. A GPU's context does not come along. */
static void begin_child(struct prof_state *state)
{
    const struct prof_thread *mine = NULL;

    for (struct own_buffer *own = own_buffers; own; own = own->next)
        mine = own->id == state->id ? own->thread : mine;
    __atomic_store_n(&state->hooks, NULL, __ATOMIC_RELEASE);
    __atomic_fetch_and(&state->following, ~(uint32_t)FOLLOWING_HOOKS, __ATOMIC_RELEASE);
    pthread_mutex_init(&state->reading, NULL);
    state->readers = 0;
    prof_state_begin(state);
    state->idle = NULL;
    for (struct prof_thread *t = state->threads; t; t = t->next) {
        if (t == mine) {
            prof_thread_after_fork(t);
            continue;
        }
        t->next_idle = state->idle;
        state->idle = t;
    }
}

static void in_child(void)
{
    for (struct prof_state *s = prof_registry_first(); s; s = s->next_state)
        begin_child(s);
    unlock_all();
}

static void register_handlers(void)
{
    has_ending = pthread_key_create(&ending, end_thread) == 0;
    pthread_atfork(before_fork, unlock_all, in_child);
}

/* ---- both ---- */

/* Forgets those of profilers that were freed. */
static void prune_own_buffers(void)
{
    struct own_buffer **link = &own_buffers;

    prof_registry_lock();
    while (*link) {
        struct own_buffer *own = *link;
        if (prof_registry_find(own->id)) {
            link = &own->next;
            continue;
        }
        *link = own->next;
        free(own);
    }
    prof_registry_unlock();
}

static struct prof_thread *take_buffer(struct prof_state *state)
{
    struct own_buffer *own = malloc(sizeof(*own));

    if (!own)
        return NULL;
    pthread_once(&once, register_handlers);
    prune_own_buffers();
    pthread_mutex_lock(&state->lock);
    struct prof_thread *t = prof_thread_take_buffer(state);
    pthread_mutex_unlock(&state->lock);
    if (!t) {
        free(own);
        return NULL;
    }
    *own = (struct own_buffer) { own_buffers, t, state->id };
    own_buffers = own;
    if (has_ending)
        pthread_setspecific(ending, own); /* any but NULL: that it is called */
    return t;
}

static struct prof_thread *find_buffer(struct prof_state *state)
{
    for (struct own_buffer *own = own_buffers; own; own = own->next) {
        if (own->id == state->id)
            return own->thread;
    }
    return take_buffer(state);
}

struct prof_thread *prof_thread_of(struct prof *prof)
{
    unsigned i = prof->id % SLOTS;

    if (__builtin_expect(slots[i].thread && slots[i].id == prof->id, 1))
        return slots[i].thread;
    struct prof_state *state = prof_state_of(prof);
    struct prof_thread *t = state ? find_buffer(state) : NULL;
    if (t) {
        slots[i].thread = t;
        slots[i].id = prof->id;
    }
    return t;
}

int prof_thread_name(struct prof *prof, const char *name)
{
    struct prof_thread *t = prof_thread_of(prof);

    if (!t)
        return -1;
    pthread_mutex_lock(&t->state->lock);
    memset(t->owner->name, 0, sizeof(t->owner->name));
    memcpy(t->owner->name, name, strnlen(name, sizeof(t->owner->name) - 1));
    pthread_mutex_unlock(&t->state->lock);
    return 0;
}
