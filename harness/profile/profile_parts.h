/* SPDX-License-Identifier: MIT */
/* The recorder's own structures. Not installed. */
#ifndef HARNESS_PROFILE_PROFILE_PARTS_H
#define HARNESS_PROFILE_PROFILE_PARTS_H

#include "profile/clock.h"
#include "profile/profile.h"

#include <pthread.h>
#include <stdbool.h>

/* Bits of prof_record.begun and prof_record.ended, of prof_state.following. */
enum { BEGUN_INSTANT = 1, BEGUN_MEMORY = 2, BEGUN_MARKED = 4, BEGUN_HOOKED = 8 };
enum { ENDED_UNWOUND = 1, ENDED_MARKED = 2 };
enum { FOLLOWING_MEMORY = 1, FOLLOWING_HOOKS = 2 };

/* In place of an index: there is none. */
#define PROF_NONE UINT32_MAX

/* One scope; a cache line. Its thread alone writes it. All but `end`, `ended` and `seen[1]` is
 * written before the thread's count covers it; `ended`, `seen[1]` and the extra part are written
 * before `end`, which is 0 until then. */
struct prof_record {
    const struct prof_site *site;
    uint64_t start, end; /* ticks */
    const char *backend;
    int64_t bytes;
    double flops;
    uint32_t parent;  /* the index of a record, or PROF_NONE */
    uint32_t seen[2]; /* BEGUN_MEMORY: what was live at begin and end, see prof_seen() */
    uint8_t device, begun, ended, unused;
};
_Static_assert(sizeof(void *) != 8 || sizeof(struct prof_record) == 64, "a cache line");

/* What few records have: `begun` and `ended` say which members are valid. */
struct prof_extra {
    void *stream, *marks[2]; /* marks: NULL once they are resolved or given up, by snapshots */
    struct prof_span gpu;    /* duration -1: none (yet) */
};

struct prof_chunk {
    struct prof_chunk *next;
    struct prof_extra *extras;
    struct prof_record *records;
    uint32_t base, nr;
};

/* Entries of one size, in chunks that stay where they are: one thread adds, others may read those
 * that `nr` covered when they loaded it. */
struct prof_list_chunk {
    struct prof_list_chunk *next;
    uint32_t base, nr;
    uint64_t entries[];
};
struct prof_list {
    struct prof_list_chunk *first, *filling;
    uint32_t nr; /* atomic */
    bool full;   /* and stays so */
};

/* A call of prof_memory(). */
struct prof_memory_sample {
    uint64_t time; /* ticks */
    int64_t live;
    int device;
};

/* What a thread saw of a device's memory, written down where it was not what the thread saw last.
 * So a scope costs no room of its own: it has what was live at its begin, at its end, and in
 * between. */
struct prof_seen {
    int64_t live;
    int64_t device;
};
struct prof_last_seen {
    int64_t live; /* INT64_MIN: nothing yet */
    uint32_t at;  /* index of that entry; PROF_NONE: it found no room */
};

/* Whose records a buffer holds, from one of them on: a thread that ends leaves its buffer to the
 * next that begins. Only the newest changes (its name, under the lock). */
struct prof_owner {
    struct prof_owner *before;
    uint32_t first; /* of its records */
    int64_t system_id;
    char name[32];
};

/* Ring mode: what a thread filled before the part in hand. Those that were open went on as the
 * first `carried` of the part in hand, in the same order; here they have no end. */
struct prof_lap {
    struct prof_chunk *chunks;
    uint32_t count;
    struct prof_list samples, seen;
    struct prof_owner *owner; /* the newest then, with those before it */
};

/* On cache lines of its own, as the state: what one thread writes all the time no other waits for.
 */
enum { PROF_LINE = 64 };

struct prof_thread {
    /* of the thread alone */
    struct prof_state *state;
    struct prof_record *current; /* innermost that is recorded and open */
    struct prof_chunk *chunk;    /* being filled */
    uint32_t current_index;      /* of `current`; PROF_NONE */
    uint32_t depth;
    uint32_t open;    /* of these, recorded: the outer ones */
    uint32_t carried; /* ring mode: records that began in an earlier part */
    bool skipping;    /* the outermost scope was not sampled */
    bool full;
    uint32_t most_records;          /* how far its owner may fill it */
    size_t most_samples, most_seen; /* likewise */
    uint64_t serial, draws;
    struct prof_last_seen last[PROF_DEVICES];

    /* read by others: atomically, or under the state's lock where said */
    uint32_t count;
    uint64_t dropped, skipped, lost_samples;
    uint32_t generation;            /* written under the lock */
    struct prof_chunk *chunks;      /* written before the count */
    struct prof_list samples, seen; /* of struct prof_memory_sample, struct prof_seen */
    struct prof_thread *next;       /* lock, as the rest */
    struct prof_thread *next_idle;
    struct prof_owner *owner; /* the newest */
    struct prof_lap before;   /* ring mode; likewise */
    uint64_t passed;   /* recorded in all parts before the one in hand, each once; likewise */
    uint64_t replaced; /* of those, gone; likewise */
} __attribute__((aligned(PROF_LINE)));

/* What a thread emptied while a snapshot was reading it; freed behind the last reader. */
struct prof_retired {
    struct prof_retired *next;
    struct prof_chunk *chunks;
    uint32_t count;
    struct prof_list_chunk *samples, *seen;
    struct prof_owner *owner;
};

/* Sites of names that are known at run time only: a hash table of `size` places. */
struct prof_named {
    struct prof_site site;
    char name[];
};
struct prof_sites {
    struct prof_named **places;
    size_t nr, size;
};

struct prof_state {
    uint32_t generation; /* atomic; written under the lock */
    uint32_t following;  /* atomic: memory once it was counted, hooks while there are any */
    uint64_t threshold;  /* atomic: of 2^64 draws, those below are sampled; UINT64_MAX: all */
    uint64_t seed;       /* atomic */
    size_t most_records;
    bool ring;
    const struct prof_hooks *hooks;                                 /* atomic */
    int64_t live[PROF_DEVICES] __attribute__((aligned(PROF_LINE))); /* atomic */
    int64_t peak[PROF_DEVICES];                                     /* atomic */

    pthread_mutex_t lock;
    struct prof_thread *threads, **last;
    struct prof_thread *idle; /* of threads that have ended, to be used again */
    size_t nr_buffers;
    uint64_t nr_threads; /* that have ever recorded */
    unsigned readers;    /* snapshots that are reading buffers now */
    struct prof_retired *retired;
    struct prof_sites sites;
    struct prof_anchor start, cleared;
    int64_t cleared_epoch;
    double rate;
    unsigned id; /* of its profiler */
    struct prof_state *next_state;
    pthread_mutex_t reading; /* one snapshot at a time: it changes marks. Taken before the lock */
};

/* The state, made on the first call for the global instance. NULL: no memory. */
struct prof_state *prof_state_of(struct prof *prof);

/* `size` zeroed bytes on cache lines of their own; free() them. NULL: no memory. */
void *prof_zeroed(size_t size);
/* The calling thread's buffer, made on its first call. NULL: no memory. */
struct prof_thread *prof_thread_of(struct prof *prof);
/* Empties it for the next generation, where prof_clear() began one. By the thread itself. */
void prof_thread_start_over(struct prof_thread *t);
/* One that has ended leaves its buffer, or appends a new one to the state's, which is locked. For
 * the calling thread. NULL: no memory. */
struct prof_thread *prof_thread_take_buffer(struct prof_state *state);
/* The calling thread ends, and with it what is open. */
void prof_thread_leave(struct prof_thread *t);
/* After a fork, in the child: the calling thread's begins anew. The state is locked. */
void prof_thread_after_fork(struct prof_thread *t);
void prof_thread_free(struct prof_thread *t);
/* Behind the last reader; the state is locked. */
void prof_retired_free(struct prof_state *state);

/* Profilers by their numbers, for threads that end and processes that fork. The lock of the
 * registry is taken before that of a state. */
void prof_registry_add(struct prof_state *state);
void prof_registry_remove(struct prof_state *state);
void prof_registry_lock(void);
void prof_registry_unlock(void);
/* Of a locked registry; NULL: it was freed, or there is none. `next_state` has the others. */
struct prof_state *prof_registry_find(unsigned id);
struct prof_state *prof_registry_first(void);
/* While the global instance gets its state. Taken before the registry's. */
void prof_global_lock(void);
void prof_global_unlock(void);
/* Time and peaks begin anew; the state is locked. */
void prof_state_begin(struct prof_state *state);

/* The site of a name, made if need be; the state is locked. NULL: no memory. */
const struct prof_site *prof_sites_find(struct prof_sites *sites, const char *name);
void prof_sites_release(struct prof_sites *sites);
/* Ring mode: the part in hand becomes the one before, and what is open goes on in a new one. False:
 * no ring, or no memory, and nothing has changed. By the thread itself. */
bool prof_ring_turn(struct prof_thread *t);
/* The record of a scope that is open, at a depth that is recorded. */
struct prof_record *prof_ring_open(const struct prof_thread *t, uint32_t depth);
/* What a thread keeps in one part. */
size_t prof_thread_room(const struct prof_state *state);
/* Gives a part back, or leaves it to the snapshots that are reading; the state is locked. */
void prof_lap_release(struct prof_state *state, struct prof_lap *lap);
/* Gives the marks of all records back; the state is locked. */
void prof_thread_forget(const struct prof_state *state, struct prof_chunk *chunks, uint32_t count);
void prof_list_empty(struct prof_list *list);
/* What it saw of memory begins anew. */
void prof_seen_empty(struct prof_thread *t);

/* The slot of index `t->count`, not published yet; NULL: full. */
struct prof_record *prof_thread_take(struct prof_thread *t);
struct prof_extra *prof_extra_of(const struct prof_thread *t, const struct prof_record *r);

/* The record of an index that is PROF_NONE (then NULL) or below the count. */
struct prof_record *prof_thread_find(const struct prof_thread *t, uint32_t index);
static inline struct prof_record *prof_thread_record(const struct prof_thread *t, uint32_t index)
{
    const struct prof_chunk *chunk = t->chunk;

    if (index == PROF_NONE)
        return NULL;
    if (__builtin_expect(index - chunk->base < chunk->nr, 1))
        return &chunk->records[index - chunk->base];
    return prof_thread_find(t, index);
}

/* Reading up to a count that was loaded: a link is looked at only where it was written before. */
static inline struct prof_chunk *prof_chunk_first(struct prof_chunk *chunks, uint32_t count)
{
    return count ? chunks : NULL;
}
static inline struct prof_chunk *prof_chunk_after(const struct prof_chunk *chunk, uint32_t count)
{
    return count - chunk->base > chunk->nr ? chunk->next : NULL;
}

/* The slot of entry `list->nr`, of `size` bytes; NULL: no memory, or `most` are there. */
void *prof_list_slot(struct prof_list *list, size_t size, size_t most);
void prof_list_publish(struct prof_list *list);
/* Entry `index`, which was published. `chunk` remembers where the last one was: first NULL. */
const void *prof_list_at(const struct prof_list *list, size_t size, uint32_t index,
                         const struct prof_list_chunk **chunk);

/* What is live on the device, as an index into the thread's `seen`; PROF_NONE: no room. */
uint32_t prof_seen_add(struct prof_thread *t, int device, int64_t live);
static inline uint32_t prof_seen_value(struct prof_thread *t, int device, int64_t live)
{
    const struct prof_last_seen *last = &t->last[device];

    return __builtin_expect(last->live == live, 1) ? last->at : prof_seen_add(t, device, live);
}
static inline uint32_t prof_seen(struct prof_thread *t, int device)
{
    return prof_seen_value(t, device, __atomic_load_n(&t->state->live[device], __ATOMIC_RELAXED));
}
/* What a record that has ended saw of its device. False: nothing, or it found no room. `chunk` as
 * in prof_list_at(). */
bool prof_seen_between(const struct prof_list *seen, const struct prof_record *r,
                       const struct prof_list_chunk **chunk, int64_t *live, int64_t *peak);

static inline const struct prof_hooks *prof_hooks_of(const struct prof_thread *t)
{
    return __atomic_load_n(&t->state->hooks, __ATOMIC_ACQUIRE);
}

static inline void prof_thread_refresh(struct prof_thread *t)
{
    uint32_t generation = __atomic_load_n(&t->state->generation, __ATOMIC_ACQUIRE);

    if (__builtin_expect(t->depth == 0 && generation != t->generation, 0))
        prof_thread_start_over(t);
}

#endif
