/* SPDX-License-Identifier: MIT */
/*
 * Things that are costly to make, by name, made once however many ask for them at the same time.
 * What was not asked for longest goes when there is too much. Safe between threads.
 */
#ifndef HARNESS_SERVE_CACHE_H
#define HARNESS_SERVE_CACHE_H

#include <stddef.h>

/* Things are shared: whoever gets one holds it, and drops it. */
struct cache_kind {
    void (*keep)(void *thing);
    void (*drop)(void *thing);
    size_t (*size)(const void *thing); /* bytes; at least 1 */
};

struct cache;

struct cache *cache_create(const struct cache_kind *kind, size_t limit);
void cache_free(struct cache *cache); /* NULL is fine; nobody may be in cache_get() */

/* The thing of that name, made by `make` if it is not there; drop it. NULL where make() gave NULL;
 * that is not kept, so the next one tries again. Others who ask for the same wait meanwhile; make()
 * must not ask for its own name. */
void *cache_get(struct cache *cache, const char *name, void *(*make)(void *context), void *context);

#endif
