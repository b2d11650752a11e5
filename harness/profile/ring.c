/* SPDX-License-Identifier: MIT */
/*
 * Ring mode: a thread fills one part of its buffer while the one before is kept; when it is full,
 * the older of both goes, and its memory is filled next. So the last half of the room is there
 * whole at any time, and nothing grows. Scopes that are open then are copied to the new part as its
 * first records.
 */
#include "profile/profile_parts.h"

#include <stdlib.h>

struct prof_record *prof_ring_open(const struct prof_thread *t, uint32_t depth)
{
    struct prof_record *r = t->current;

    for (uint32_t at = t->open; r && at > depth + 1; at--)
        r = prof_thread_record(t, r->parent);
    return r;
}

/* The open records, the outermost first. */
static void ring_gather_open(const struct prof_thread *t, struct prof_record **list,
                             struct prof_extra **extras)
{
    struct prof_record *r = t->current;

    for (uint32_t k = t->open; k-- > 0; r = prof_thread_record(t, r->parent)) {
        list[k] = r;
        extras[k] = r->begun & BEGUN_MARKED ? prof_extra_of(t, r) : NULL;
    }
}

/* As the next record of the new part; its marks are its own then. */
static bool ring_carry(struct prof_thread *t, const struct prof_record *from,
                       struct prof_extra *extra, uint32_t k)
{
    struct prof_record *r = prof_thread_take(t);

    if (!r)
        return false;
    *r = *from;
    r->parent = k ? k - 1 : PROF_NONE;
    r->end = 0;
    if (extra) {
        *prof_extra_of(t, r) = *extra;
        extra->marks[0] = NULL;
    }
    if (r->begun & BEGUN_MEMORY)
        r->seen[0] = prof_seen(t, r->device); /* what it saw before is gone with its part */
    t->current = r;
    t->current_index = k;
    __atomic_store_n(&t->count, t->count + 1, __ATOMIC_RELEASE);
    return true;
}

/* The memory of the part that goes is the new one's, unless a snapshot is reading it. */
static void ring_swap(struct prof_thread *t, struct prof_owner *owner)
{
    struct prof_lap done = { t->chunks, t->count, t->samples, t->seen, t->owner };
    struct prof_lap gone = t->before;
    struct prof_lap fresh = { .count = 0 };

    if (!t->state->readers) { /* its records are forgotten, its memory stays */
        fresh.chunks = gone.chunks;
        fresh.samples.first = gone.samples.first;
        fresh.seen.first = gone.seen.first;
        prof_thread_forget(t->state, gone.chunks, gone.count);
        gone = (struct prof_lap) { .owner = gone.owner };
    }
    prof_lap_release(t->state, &gone);
    *owner = *t->owner;
    owner->before = NULL;
    owner->first = 0;
    t->before = done;
    t->chunks = fresh.chunks;
    t->chunk = NULL;
    t->samples.first = fresh.samples.first;
    t->seen.first = fresh.seen.first;
    t->owner = owner;
    prof_list_empty(&t->samples);
    prof_seen_empty(t);
    __atomic_store_n(&t->count, 0, __ATOMIC_RELAXED);
    t->full = false;
}

/* Counts each record once: what is carried on was counted where it began. */
static void ring_count(struct prof_thread *t)
{
    uint64_t own = t->count - t->carried;

    /* All that was passed before is gone now, but for what was carried into the part in hand. */
    t->replaced = t->passed - t->carried;
    t->passed += own;
    t->carried = t->open;
}

bool prof_ring_turn(struct prof_thread *t)
{
    uint32_t open = t->open;
    bool carried = true;

    /* Scopes deeper in each other than half a part: no part would have room for what is inside. */
    if (!t->state->ring || open > prof_thread_room(t->state) / 2)
        return false;
    struct prof_owner *owner = malloc(sizeof(*owner));
    struct prof_record **list = malloc((open + 1) * sizeof(struct prof_record *));
    struct prof_extra **extras = malloc((open + 1) * sizeof(struct prof_extra *));
    bool has_room = owner && list && extras;
    if (has_room) {
        pthread_mutex_lock(&t->state->lock);
        ring_gather_open(t, list, extras);
        ring_count(t);
        ring_swap(t, owner);
        t->current = NULL;
        t->current_index = PROF_NONE;
        for (uint32_t k = 0; k < open && carried; k++)
            carried = ring_carry(t, list[k], extras[k], k);
        t->open = t->carried = t->count;
        pthread_mutex_unlock(&t->state->lock);
    } else {
        free(owner);
    }
    free(list);
    free(extras);
    return has_room && carried;
}
