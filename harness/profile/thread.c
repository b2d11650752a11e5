/* SPDX-License-Identifier: MIT */
/* A thread's buffer: chunks of records that it alone fills, and that others read up to its count.
 */
#include "profile/internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif

enum { SLOTS = 4 };

static uint64_t last_token;
static __thread uint64_t own_token;

/* The buffers that the thread used last, by the number of their profiler. */
static __thread struct {
    struct prof_thread *thread;
    unsigned id;
} slots[SLOTS];

static int64_t system_thread(uint64_t token)
{
#if defined(__linux__)
    (void)token;
    return syscall(SYS_gettid);
#else
    return (int64_t)token;
#endif
}

void *prof_zeroed(size_t size)
{
    void *memory = NULL;

    if (posix_memalign(&memory, PROF_LINE, size) != 0)
        return NULL;
    return memset(memory, 0, size);
}

static struct prof_thread *thread_create(struct prof_state *state)
{
    struct prof_thread *t = prof_zeroed(sizeof(*t));

    if (!t)
        return NULL;
    t->state = state;
    t->token = own_token;
    t->serial = state->nr_threads++;
    t->system_id = system_thread(own_token);
    t->generation = state->generation;
    t->current_index = PROF_NONE;
    prof_seen_empty(t);
    *state->last = t;
    state->last = &t->next;
    return t;
}

static struct prof_thread *find_or_create(struct prof_state *state)
{
    struct prof_thread *t;

    if (!own_token)
        own_token = __atomic_add_fetch(&last_token, 1, __ATOMIC_RELAXED);
    pthread_mutex_lock(&state->lock);
    for (t = state->threads; t && t->token != own_token; t = t->next)
        continue;
    if (!t)
        t = thread_create(state);
    pthread_mutex_unlock(&state->lock);
    return t;
}

struct prof_thread *prof_thread_of(struct prof *prof)
{
    unsigned i = prof->id % SLOTS;

    if (__builtin_expect(slots[i].thread && slots[i].id == prof->id, 1))
        return slots[i].thread;
    struct prof_state *state = prof_state_of(prof);
    struct prof_thread *t = state ? find_or_create(state) : NULL;
    if (t) {
        slots[i].thread = t;
        slots[i].id = prof->id;
    }
    return t;
}

static struct prof_chunk *chunk_create(uint32_t base, uint32_t nr)
{
    struct prof_chunk *chunk = calloc(1, sizeof(*chunk));

    if (!chunk)
        return NULL;
    /* Not zeroed: pages are touched when they are used. */
    void *records = NULL;
    if (posix_memalign(&records, PROF_LINE, nr * sizeof(*chunk->records)) == 0)
        chunk->records = records;
    chunk->extras = malloc(nr * sizeof(*chunk->extras));
    chunk->base = base;
    chunk->nr = nr;
    if (chunk->records && chunk->extras)
        return chunk;
    free(chunk->records);
    free(chunk->extras);
    free(chunk);
    return NULL;
}

/* The chunk behind the one that is full; NULL: there may be none. */
static struct prof_chunk *chunk_next(struct prof_thread *t)
{
    struct prof_chunk *full = t->chunk;
    struct prof_chunk **link = full ? &full->next : &t->chunks;

    if (!*link) {
        uint32_t base = full ? full->base + full->nr : 0;
        uint32_t nr = prof_chunk_size(full ? full->nr : 0, t->state->most_records - base);
        *link = nr && !t->full ? chunk_create(base, nr) : NULL;
        /* analyzer: the list owns it, and the thread the list */
        t->full = !*link; /* and stays so: what is inside a dropped scope is dropped */
    }
    return *link;
}

struct prof_record *prof_thread_take(struct prof_thread *t)
{
    struct prof_chunk *chunk = t->chunk;
    uint32_t index = t->count;

    if (__builtin_expect(!chunk || index - chunk->base == chunk->nr, 0)) {
        chunk = chunk_next(t);
        if (!chunk)
            return NULL;
        t->chunk = chunk;
    }
    return &chunk->records[index - chunk->base];
}

struct prof_record *prof_thread_find(const struct prof_thread *t, uint32_t index)
{
    const struct prof_chunk *chunk = t->chunks;

    while (index - chunk->base >= chunk->nr)
        chunk = chunk->next;
    return &chunk->records[index - chunk->base];
}

static bool holds(const struct prof_chunk *chunk, const struct prof_record *r)
{
    return (uintptr_t)r - (uintptr_t)chunk->records < chunk->nr * sizeof(*r);
}

struct prof_extra *prof_extra_of(const struct prof_thread *t, const struct prof_record *r)
{
    /* The current chunk or, for scopes long open, one before it. */
    const struct prof_chunk *chunk = holds(t->chunk, r) ? t->chunk : t->chunks;

    while (!holds(chunk, r))
        chunk = chunk->next;
    return &chunk->extras[r - chunk->records];
}

static void reset(struct prof_thread *t)
{
    prof_follow_forget(t);
    t->current = NULL;
    t->current_index = PROF_NONE;
    t->chunk = NULL; /* the next one is the first again */
    prof_list_empty(&t->samples);
    prof_seen_empty(t);
    __atomic_store_n(&t->count, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&t->dropped, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&t->skipped, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&t->lost_samples, 0, __ATOMIC_RELAXED);
    t->full = false;
    t->generation = t->state->generation;
}

void prof_thread_start_over(struct prof_thread *t)
{
    pthread_mutex_lock(&t->state->lock);
    reset(t);
    pthread_mutex_unlock(&t->state->lock);
}

void prof_thread_free(struct prof_thread *t)
{
    prof_follow_forget(t);
    while (t->chunks) {
        struct prof_chunk *chunk = t->chunks;
        t->chunks = chunk->next;
        free(chunk->records);
        free(chunk->extras);
        free(chunk);
    }
    prof_list_release(&t->samples);
    prof_list_release(&t->seen);
    free(t);
}
