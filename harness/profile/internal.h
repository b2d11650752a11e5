/* SPDX-License-Identifier: MIT */
/* The recorder's own structures. Not installed. */
#ifndef HARNESS_PROFILE_INTERNAL_H
#define HARNESS_PROFILE_INTERNAL_H

#include "profile/clock.h"
#include "profile/profile.h"

#include <pthread.h>
#include <stdbool.h>

/* Bits of prof_record.begun and prof_record.ended. */
enum { BEGUN_INSTANT = 1, BEGUN_MEMORY = 2, BEGUN_MARKED = 4, BEGUN_PUSHED = 8 };
enum { ENDED_UNWOUND = 1, ENDED_MARKED = 2 };

/* One scope; a cache line. Its thread alone writes it. All but `end` and `ended` is written before
 * the thread's count covers it; `ended` and the extra part are written before `end`, which is 0
 * until then. */
struct prof_record {
    const struct prof_site *site;
    uint64_t start, end; /* ticks */
    struct prof_record *parent;
    const char *backend;
    int64_t bytes;
    double flops;
    uint32_t index;
    uint8_t device, begun, ended, unused;
};
_Static_assert(sizeof(void *) != 8 || sizeof(struct prof_record) == 64, "a cache line");

/* What few records have: `begun` and `ended` say which members are valid. */
struct prof_extra {
    int64_t live, peak;
    int64_t outer_peak;      /* in the scope around, when this one began */
    void *stream, *marks[2]; /* marks: NULL once they are resolved or given up, by snapshots */
    struct prof_span gpu;    /* duration -1: none (yet) */
};

struct prof_chunk {
    struct prof_chunk *next;
    struct prof_extra *extras;
    struct prof_record *records;
    uint32_t base, nr;
};

struct prof_memory_sample {
    uint64_t time; /* ticks */
    int64_t live;
    int device;
};
struct prof_sample_chunk {
    struct prof_sample_chunk *next;
    uint32_t base, nr;
    struct prof_memory_sample samples[];
};

/* On cache lines of its own, as the state: what one thread writes all the time no other waits for.
 */
enum { PROF_LINE = 64 };

struct prof_thread {
    /* of the thread alone */
    struct prof_state *state;
    struct prof_record *current; /* innermost that is recorded and open */
    struct prof_chunk *chunk;    /* being filled */
    struct prof_sample_chunk *sample_chunk;
    uint32_t depth;
    bool skipping; /* the outermost scope was not sampled */
    bool full;
    uint64_t draws;
    int64_t peak[PROF_DEVICES]; /* in the innermost scope so far; INT64_MIN: none seen */

    /* read by others: atomically, or under the state's lock where said */
    uint32_t count, sample_count;
    uint64_t dropped, skipped, lost_samples;
    uint32_t generation;       /* written under the lock */
    struct prof_chunk *chunks; /* written before the count */
    struct prof_sample_chunk *sample_chunks;
    struct prof_thread *next; /* lock, as the rest */
    uint64_t token, serial;
    int64_t system_id;
    char name[32];
} __attribute__((aligned(PROF_LINE)));

struct prof_named {
    struct prof_named *next;
    struct prof_site site;
    char name[];
};

struct prof_state {
    uint32_t generation; /* atomic; written under the lock */
    uint32_t following;  /* atomic: 1 once memory was counted, as long as there are hooks */
    uint64_t threshold;  /* atomic: of 2^64 draws, those below are sampled; UINT64_MAX: all */
    uint64_t seed;       /* atomic */
    size_t most_records;
    const struct prof_hooks *hooks;                                 /* atomic */
    int64_t live[PROF_DEVICES] __attribute__((aligned(PROF_LINE))); /* atomic */
    int64_t peak[PROF_DEVICES];                                     /* atomic */

    pthread_mutex_t lock;
    struct prof_thread *threads, **last;
    uint64_t nr_threads;
    struct prof_named *named;
    struct prof_anchor start, cleared;
    int64_t cleared_epoch;
    double rate;
};

/* The state, made on the first call for the global instance. NULL: no memory. */
struct prof_state *prof_state_of(struct prof *prof);
struct prof_state *prof_state_create(const struct prof_options *options);
void prof_state_free(struct prof_state *state);

/* `size` zeroed bytes on cache lines of their own; free() them. NULL: no memory. */
void *prof_zeroed(size_t size);
/* The calling thread's buffer, made on its first call. NULL: no memory. */
struct prof_thread *prof_thread_of(struct prof *prof);
/* Empties it for the next generation, where prof_clear() began one. By the thread itself. */
void prof_thread_start_over(struct prof_thread *t);
void prof_thread_free(struct prof_thread *t);
/* A slot, not published yet; NULL: full. */
struct prof_record *prof_thread_take(struct prof_thread *t);
void prof_thread_sample(struct prof_thread *t, int device, int64_t live);
struct prof_extra *prof_extra_of(const struct prof_thread *t, const struct prof_record *r);

/* Reading up to a count that was loaded: a link is looked at only where it was written before. */
static inline struct prof_chunk *prof_chunk_first(const struct prof_thread *t, uint32_t count)
{
    return count ? t->chunks : NULL;
}
static inline struct prof_chunk *prof_chunk_after(const struct prof_chunk *chunk, uint32_t count)
{
    return count - chunk->base > chunk->nr ? chunk->next : NULL;
}
static inline struct prof_sample_chunk *prof_sample_chunk_first(const struct prof_thread *t,
                                                                uint32_t count)
{
    return count ? t->sample_chunks : NULL;
}
static inline struct prof_sample_chunk *prof_sample_chunk_after(
    const struct prof_sample_chunk *chunk, uint32_t count)
{
    return count - chunk->base > chunk->nr ? chunk->next : NULL;
}

/* The slow parts of a scope: memory, marks, ranges. */
void prof_follow_begin(struct prof_thread *t, struct prof_record *r, void *stream);
void prof_follow_end(struct prof_thread *t, struct prof_record *r);
/* Gives back the marks of all records. Under the lock. */
void prof_follow_forget(struct prof_thread *t);

static inline void prof_thread_refresh(struct prof_thread *t)
{
    uint32_t generation = __atomic_load_n(&t->state->generation, __ATOMIC_ACQUIRE);

    if (__builtin_expect(t->depth == 0 && generation != t->generation, 0))
        prof_thread_start_over(t);
}

#endif
