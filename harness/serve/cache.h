/* SPDX-License-Identifier: MIT */
/*
 * Things of any kind that are costly to make, by name, made once however many ask for them at the
 * same time. All together they keep to one number of bytes: what was not asked for longest goes
 * when there is too much, what belongs to an older version of the history goes at once, and what is
 * larger than all of the room is handed out and not kept. Safe between threads.
 */
#ifndef HARNESS_SERVE_CACHE_H
#define HARNESS_SERVE_CACHE_H

#include <stddef.h>
#include <stdint.h>

/* Things are shared: whoever gets one holds it, and drops it. */
struct cache_kind {
    void (*keep)(void *thing);
    void (*drop)(void *thing);
    size_t (*size)(void *thing); /* bytes that it may come to hold; at least 1 */
};

struct cache;

struct cache_name {
    const char *text;
    uint64_t version; /* of what it is made from: grows */
};

struct cache *cache_create(size_t limit);
void cache_free(struct cache *cache); /* NULL is fine; nobody may be in cache_get() */

/* The thing of that name, made by `make` if it is not there; drop it. NULL where make() gave NULL;
 * that is not kept, so the next one tries again. Others who ask for the same wait meanwhile; make()
 * must not ask for its own name. */
void *cache_get(struct cache *cache, const struct cache_kind *kind, struct cache_name name,
                void *(*make)(void *context), void *context);

/* Lets go of all that is older. */
void cache_forget(struct cache *cache, uint64_t version);
/* Leaves so much of the limit for what others hold. */
void cache_reserve(struct cache *cache, size_t bytes);
/* Bytes that are kept; what it let go of since the beginning. */
size_t cache_size(struct cache *cache);
size_t cache_dropped(struct cache *cache);

#endif
