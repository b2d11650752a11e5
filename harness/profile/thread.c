/* SPDX-License-Identifier: MIT */
/* A thread's buffer: what it alone fills and others read up to its count. Chunks of records, lists
 * of what few records have, what it saw of memory. */
#include "profile/profile_parts.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif

/* ---- lists ---- */

enum { FIRST_CHUNK = 64, MOST_CHUNK = 1 << 14 };

/* How many entries a chunk gets: twice those of the one before, as far as there is room. */
static uint32_t chunk_size(uint32_t previous, size_t room)
{
    size_t size = previous ? (size_t)previous * 2 : FIRST_CHUNK;

    size = size > MOST_CHUNK ? MOST_CHUNK : size;
    return (uint32_t)(size < room ? size : room);
}

/* The chunk behind the one that is full; NULL: there may be none. */
static struct prof_list_chunk *list_chunk_next(struct prof_list *list, size_t size, size_t most)
{
    struct prof_list_chunk *full = list->filling;
    struct prof_list_chunk **link = full ? &full->next : &list->first;

    if (!*link) {
        uint32_t base = full ? full->base + full->nr : 0;
        uint32_t nr = chunk_size(full ? full->nr : 0, most - base);
        struct prof_list_chunk *chunk = nr ? malloc(sizeof(*chunk) + nr * size) : NULL;
        if (chunk)
            *chunk = (struct prof_list_chunk) { .base = base, .nr = nr };
        *link = chunk;
    } /* analyzer: the list owns it, see release_list() */
    return *link;
}

static void *entry_of(const struct prof_list_chunk *chunk, size_t size, uint32_t index)
{
    return (char *)chunk->entries + (index - chunk->base) * size;
}

void *prof_list_slot(struct prof_list *list, size_t size, size_t most)
{
    struct prof_list_chunk *chunk = list->filling;

    if (list->full)
        return NULL;
    if (!chunk || list->nr - chunk->base == chunk->nr) {
        chunk = list_chunk_next(list, size, most);
        list->full = !chunk;
        if (!chunk)
            return NULL;
        list->filling = chunk;
    }
    return entry_of(chunk, size, list->nr);
}

void prof_list_publish(struct prof_list *list)
{
    __atomic_store_n(&list->nr, list->nr + 1, __ATOMIC_RELEASE);
}

const void *prof_list_at(const struct prof_list *list, size_t size, uint32_t index,
                         const struct prof_list_chunk **chunk)
{
    if (!*chunk || index < (*chunk)->base)
        *chunk = list->first;
    while (index - (*chunk)->base >= (*chunk)->nr)
        *chunk = (*chunk)->next;
    return entry_of(*chunk, size, index);
}

void prof_list_empty(struct prof_list *list)
{
    list->filling = NULL; /* the next one is the first again */
    list->full = false;
    __atomic_store_n(&list->nr, 0, __ATOMIC_RELAXED);
}

static void release_list(struct prof_list_chunk *chunk)
{
    while (chunk) {
        struct prof_list_chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
}

/* ---- what it saw of memory ---- */

/* A record looks twice, at its begin and at its end, and a call once: so much room is enough for
 * all records and for as many calls as make samples. */
enum { SEEN_A_RECORD = 3 };

static size_t most_seen(const struct prof_state *state)
{
    size_t room = prof_thread_room(state);

    return room < (PROF_NONE - 1) / SEEN_A_RECORD ? SEEN_A_RECORD * room : PROF_NONE - 1;
}

/* A ring has two parts: one is filled, the one before is kept. */
size_t prof_thread_room(const struct prof_state *state)
{
    return state->ring ? (state->most_records + 1) / 2 : state->most_records;
}

/* `more` behind those that are there, as far as indices reach. */
static size_t room_behind(uint32_t nr, size_t more)
{
    return more < PROF_NONE - nr ? nr + more : PROF_NONE;
}

uint32_t prof_seen_add(struct prof_thread *t, int device, int64_t live)
{
    struct prof_last_seen *last = &t->last[device];
    struct prof_seen *entry = prof_list_slot(&t->seen, sizeof(*entry), t->most_seen);

    if (!entry) {
        *last = (struct prof_last_seen) { INT64_MIN, PROF_NONE };
        return PROF_NONE;
    }
    *entry = (struct prof_seen) { live, device };
    *last = (struct prof_last_seen) { live, t->seen.nr };
    prof_list_publish(&t->seen);
    return last->at;
}

void prof_seen_empty(struct prof_thread *t)
{
    prof_list_empty(&t->seen);
    for (int d = 0; d < PROF_DEVICES; d++)
        t->last[d] = (struct prof_last_seen) { INT64_MIN, PROF_NONE };
}

bool prof_seen_between(const struct prof_list *seen, const struct prof_record *r,
                       const struct prof_list_chunk **chunk, int64_t *live, int64_t *peak)
{
    *peak = INT64_MIN;
    /* What was not there yet when the snapshot began, a scope that ended meanwhile has seen. */
    if (!(r->begun & BEGUN_MEMORY) || r->seen[0] >= seen->nr || r->seen[1] >= seen->nr)
        return false;
    for (uint32_t i = r->seen[0]; i <= r->seen[1]; i++) {
        const struct prof_seen *entry = prof_list_at(seen, sizeof(*entry), i, chunk);
        if (entry->device != r->device)
            continue;
        *live = entry->live;
        *peak = entry->live > *peak ? entry->live : *peak;
    }
    return true;
}

/* ---- the buffer ---- */

void *prof_zeroed(size_t size)
{
    void *memory = NULL;

    if (posix_memalign(&memory, PROF_LINE, size) != 0)
        return NULL;
    return memset(memory, 0, size);
}

static int64_t system_thread(void)
{
#if defined(__linux__)
    return syscall(SYS_gettid);
#else
    static int64_t last;
    return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
#endif
}

/* How far the owner may fill it, behind what is there. A ring's parts are filled whoever comes. */
static void set_room(struct prof_thread *t, uint32_t records, uint32_t samples, uint32_t seen)
{
    t->most_records = (uint32_t)room_behind(records, prof_thread_room(t->state));
    t->most_samples = room_behind(samples, prof_thread_room(t->state));
    t->most_seen = room_behind(seen, most_seen(t->state));
}

/* The calling thread fills the buffer from here on. */
static void own_buffer(struct prof_thread *t, struct prof_owner *owner)
{
    *owner = (struct prof_owner) { t->owner, t->count, system_thread(), "" };
    t->owner = owner;
    t->serial = t->state->nr_threads++;
    t->draws = 0;
    t->depth = 0;
    t->skipping = false;
    t->full = t->samples.full = t->seen.full = false;
    set_room(t, t->state->ring ? 0 : t->count, t->state->ring ? 0 : t->samples.nr,
             t->state->ring ? 0 : t->seen.nr);
}

static struct prof_thread *create_buffer(struct prof_state *state)
{
    struct prof_thread *t = prof_zeroed(sizeof(*t));

    if (!t)
        return NULL;
    t->state = state;
    t->generation = state->generation;
    t->current_index = PROF_NONE;
    prof_seen_empty(t);
    *state->last = t;
    state->last = &t->next;
    state->nr_buffers++;
    return t;
}

static void reset_thread(struct prof_thread *t);

/* One whose indices are not near their end. NULL: there is none. */
static struct prof_thread *take_idle_buffer(struct prof_state *state)
{
    for (struct prof_thread **link = &state->idle; *link; link = &(*link)->next_idle) {
        struct prof_thread *t = *link;
        if (t->generation == state->generation &&
            (t->count > PROF_NONE / 2 || t->seen.nr > PROF_NONE / 2))
            continue;
        *link = t->next_idle;
        if (t->generation != state->generation)
            reset_thread(t);
        return t;
    }
    return NULL;
}

struct prof_thread *prof_thread_take_buffer(struct prof_state *state)
{
    struct prof_owner *owner = malloc(sizeof(*owner));
    struct prof_thread *t = owner ? take_idle_buffer(state) : NULL;

    if (owner && !t)
        t = create_buffer(state);
    if (!t) {
        free(owner);
        return NULL;
    }
    /* One that recorded nothing is not remembered. */
    if (t->owner && t->owner->first == t->count && state->readers == 0) {
        struct prof_owner *idle = t->owner;
        t->owner = idle->before;
        free(idle);
    }
    own_buffer(t, owner);
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
        uint32_t nr = chunk_size(full ? full->nr : 0, t->most_records - base);
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

static bool chunk_holds(const struct prof_chunk *chunk, const struct prof_record *r)
{
    return (uintptr_t)r - (uintptr_t)chunk->records < chunk->nr * sizeof(*r);
}

struct prof_extra *prof_extra_of(const struct prof_thread *t, const struct prof_record *r)
{
    /* The current chunk or, for scopes long open, one before it. */
    const struct prof_chunk *chunk = chunk_holds(t->chunk, r) ? t->chunk : t->chunks;

    while (!chunk_holds(chunk, r))
        chunk = chunk->next;
    return &chunk->extras[r - chunk->records];
}

static void forget_marks(const struct prof_hooks *hooks, const struct prof_record *r,
                         struct prof_extra *extra)
{
    for (int i = 0; i < (r->ended & ENDED_MARKED ? 2 : 1); i++) {
        if (extra->marks[i] && hooks && hooks->forget)
            hooks->forget(hooks->context, extra->marks[i]);
        extra->marks[i] = NULL;
    }
}

void prof_thread_forget(const struct prof_state *state, struct prof_chunk *chunks, uint32_t count)
{
    const struct prof_hooks *hooks = __atomic_load_n(&state->hooks, __ATOMIC_ACQUIRE);

    for (struct prof_chunk *chunk = prof_chunk_first(chunks, count); chunk;
         chunk = prof_chunk_after(chunk, count)) {
        for (uint32_t i = 0; i < chunk->nr && chunk->base + i < count; i++) {
            if (chunk->records[i].begun & BEGUN_MARKED)
                forget_marks(hooks, &chunk->records[i], &chunk->extras[i]);
        }
    }
}

static void release_chunks(struct prof_chunk *chunk)
{
    while (chunk) {
        struct prof_chunk *next = chunk->next;
        free(chunk->records);
        free(chunk->extras);
        free(chunk);
        chunk = next;
    }
}

static void release_owners(struct prof_owner *owner)
{
    while (owner) {
        struct prof_owner *before = owner->before;
        free(owner);
        owner = before;
    }
}

/* A snapshot is reading: what is there stays for it, and the thread gets new memory. Without any
 * for the note itself, what is there is lost, since nobody can say when it is read. */
static void retire_records(struct prof_thread *t)
{
    struct prof_retired *retired = malloc(sizeof(*retired));

    if (retired) {
        *retired = (struct prof_retired) { t->state->retired, t->chunks,     t->count,
                                           t->samples.first,  t->seen.first, NULL };
        t->state->retired = retired;
        if (t->owner)
            retired->owner = t->owner->before;
    }
    t->chunks = NULL;
    t->samples.first = t->seen.first = NULL;
}

void prof_retired_free(struct prof_state *state)
{
    while (state->retired) {
        struct prof_retired *retired = state->retired;
        state->retired = retired->next;
        prof_thread_forget(state, retired->chunks, retired->count);
        release_chunks(retired->chunks);
        release_list(retired->samples);
        release_list(retired->seen);
        release_owners(retired->owner);
        free(retired);
    }
}

void prof_lap_release(struct prof_state *state, struct prof_lap *lap)
{
    struct prof_retired *retired = state->readers ? malloc(sizeof(*retired)) : NULL;

    if (retired) {
        *retired = (struct prof_retired) { state->retired,     lap->chunks,     lap->count,
                                           lap->samples.first, lap->seen.first, lap->owner };
        state->retired = retired;
    } else if (!state->readers) { /* without memory for the note it is lost, see above */
        prof_thread_forget(state, lap->chunks, lap->count);
        release_chunks(lap->chunks);
        release_list(lap->samples.first);
        release_list(lap->seen.first);
        release_owners(lap->owner);
    }
    *lap = (struct prof_lap) { .count = 0 };
}

/* Under the lock. */
static void reset_thread(struct prof_thread *t)
{
    if (t->state->readers) {
        retire_records(t);
    } else {
        prof_thread_forget(t->state, t->chunks, t->count);
        if (t->owner)
            release_owners(t->owner->before);
    }
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
    set_room(t, 0, 0, 0);
    prof_lap_release(t->state, &t->before);
    t->passed = t->replaced = 0;
    t->open = t->carried = 0;
    if (t->owner) {
        t->owner->before = NULL;
        t->owner->first = 0;
    }
    t->generation = t->state->generation;
}

void prof_thread_start_over(struct prof_thread *t)
{
    pthread_mutex_lock(&t->state->lock);
    reset_thread(t);
    pthread_mutex_unlock(&t->state->lock);
}

/* Scopes that it was in do not end in the child: their begin is another process'. */
void prof_thread_after_fork(struct prof_thread *t)
{
    reset_thread(t);
    t->depth = 0;
    t->skipping = false;
    t->owner->system_id = system_thread();
}

/* Nobody is told: who owns a GPU is not asked by a thread that is about to be gone. */
void prof_thread_leave(struct prof_thread *t)
{
    uint64_t now = prof_clock_ticks();

    while (t->current) {
        struct prof_record *r = t->current;
        if (r->begun & BEGUN_MEMORY)
            r->seen[1] = prof_seen(t, r->device);
        r->ended |= ENDED_UNWOUND;
        t->current_index = r->parent;
        t->current = prof_thread_record(t, r->parent);
        __atomic_store_n(&r->end, now, __ATOMIC_RELEASE);
    }
    t->depth = t->open = 0;
}

void prof_thread_free(struct prof_thread *t)
{
    prof_lap_release(t->state, &t->before);
    prof_thread_forget(t->state, t->chunks, t->count);
    release_chunks(t->chunks);
    release_list(t->samples.first);
    release_list(t->seen.first);
    release_owners(t->owner);
    free(t);
}
