/* SPDX-License-Identifier: MIT */
#include "serve/cache.h"

#include "base/memory.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* In a ring, the one asked for last first; behind a table of buckets by name. */
struct cache_entry {
    char *name;
    uint64_t version, digest;
    const struct cache_kind *kind;
    void *thing; /* NULL while it is being made */
    size_t size;
    struct cache_entry *next; /* in its bucket */
    struct cache_entry *newer, *older;
};

enum { BUCKETS = 1024 };

struct cache {
    size_t limit, reserved, size, dropped;
    uint64_t version; /* the newest that was asked for */
    pthread_mutex_t lock;
    pthread_cond_t made; /* or given up */
    struct cache_entry *buckets[BUCKETS];
    struct cache_entry *newest, *oldest;
};

struct cache *cache_create(size_t limit)
{
    struct cache *cache = memory_zeroed(1, sizeof(*cache));

    cache->limit = limit;
    pthread_mutex_init(&cache->lock, NULL);
    pthread_cond_init(&cache->made, NULL);
    return cache;
}

static uint64_t cache_digest(const struct cache_name *name)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325) ^ name->version;

    for (const char *at = name->text; *at; at++)
        digest = (digest ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
    return digest;
}

static struct cache_entry *cache_find(struct cache *cache, const struct cache_name *name,
                                      uint64_t digest)
{
    struct cache_entry *e = cache->buckets[digest % BUCKETS];

    while (e &&
           (e->digest != digest || e->version != name->version || strcmp(e->name, name->text) != 0))
        e = e->next;
    return e;
}

static void cache_unlink(struct cache *cache, struct cache_entry *e)
{
    *(e->newer ? &e->newer->older : &cache->newest) = e->older;
    *(e->older ? &e->older->newer : &cache->oldest) = e->newer;
}

static void cache_make_newest(struct cache *cache, struct cache_entry *e)
{
    e->newer = NULL;
    e->older = cache->newest;
    *(e->older ? &e->older->newer : &cache->oldest) = e;
    cache->newest = e;
}

static struct cache_entry *cache_add(struct cache *cache, const struct cache_kind *kind,
                                     const struct cache_name *name, uint64_t digest)
{
    struct cache_entry *e = memory_zeroed(1, sizeof(*e));
    struct cache_entry **bucket = &cache->buckets[digest % BUCKETS];

    e->name = memory_string(name->text);
    e->version = name->version;
    e->kind = kind;
    e->digest = digest;
    e->next = *bucket;
    *bucket = e;
    cache_make_newest(cache, e);
    return e;
}

static void cache_discard(struct cache *cache, struct cache_entry *e)
{
    struct cache_entry **at = &cache->buckets[e->digest % BUCKETS];

    while (*at != e)
        at = &(*at)->next;
    *at = e->next;
    cache_unlink(cache, e);
    cache->size -= e->size;
    cache->dropped += e->size;
    if (e->thing)
        e->kind->drop(e->thing);
    free(e->name);
    free(e);
}

/* At least a quarter is left, whatever others hold. */
static size_t cache_room(const struct cache *cache)
{
    size_t least = cache->limit / 4;

    return cache->reserved < cache->limit - least ? cache->limit - cache->reserved : least;
}

static void cache_make_room(struct cache *cache)
{
    for (struct cache_entry *e = cache->oldest, *newer; e && cache->size > cache_room(cache);
         e = newer) {
        newer = e->newer;
        if (e->thing)
            cache_discard(cache, e);
    }
}

/* Nobody asks for these any more; what is being made goes when it is. */
static void cache_drop_older(struct cache *cache, uint64_t version)
{
    if (version <= cache->version)
        return;
    cache->version = version;
    for (struct cache_entry *e = cache->oldest, *newer; e; e = newer) {
        newer = e->newer;
        if (e->thing && e->version < version)
            cache_discard(cache, e);
    }
}

static void *cache_hold(struct cache *cache, struct cache_entry *e)
{
    cache_unlink(cache, e);
    cache_make_newest(cache, e);
    e->kind->keep(e->thing);
    return e->thing;
}

/* Puts what was made into its place, or leaves it to who asked for it. */
static void cache_settle(struct cache *cache, struct cache_entry *e, void *thing)
{
    if (!thing) {
        cache_discard(cache, e);
        return;
    }
    e->thing = thing;
    /* A small thing may have a long name. */
    e->size = e->kind->size(thing) + sizeof(*e) + strlen(e->name);
    cache->size += e->size;
    cache_hold(cache, e);
    if (e->version < cache->version || e->size > cache_room(cache))
        cache_discard(cache, e);
    cache_make_room(cache);
}

void *cache_get(struct cache *cache, const struct cache_kind *kind, struct cache_name name,
                void *(*make)(void *context), void *context)
{
    uint64_t digest = cache_digest(&name);
    struct cache_entry *e;
    void *thing = NULL;

    pthread_mutex_lock(&cache->lock);
    cache_drop_older(cache, name.version);
    while ((e = cache_find(cache, &name, digest)) && !e->thing)
        pthread_cond_wait(&cache->made, &cache->lock);
    if (e) {
        thing = cache_hold(cache, e);
        pthread_mutex_unlock(&cache->lock);
        return thing;
    }
    e = cache_add(cache, kind, &name, digest);
    pthread_mutex_unlock(&cache->lock);
    thing = make(context);
    pthread_mutex_lock(&cache->lock);
    cache_settle(cache, e, thing);
    pthread_cond_broadcast(&cache->made);
    pthread_mutex_unlock(&cache->lock);
    return thing;
}

void cache_forget(struct cache *cache, uint64_t version)
{
    pthread_mutex_lock(&cache->lock);
    cache_drop_older(cache, version);
    pthread_mutex_unlock(&cache->lock);
}

void cache_reserve(struct cache *cache, size_t bytes)
{
    pthread_mutex_lock(&cache->lock);
    cache->reserved = bytes;
    cache_make_room(cache);
    pthread_mutex_unlock(&cache->lock);
}

size_t cache_size(struct cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    size_t size = cache->size;
    pthread_mutex_unlock(&cache->lock);
    return size;
}

size_t cache_dropped(struct cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    size_t dropped = cache->dropped;
    pthread_mutex_unlock(&cache->lock);
    return dropped;
}

void cache_free(struct cache *cache)
{
    if (!cache)
        return;
    for (struct cache_entry *e = cache->oldest, *newer; e; e = newer) {
        newer = e->newer;
        cache_discard(cache, e);
    }
    pthread_cond_destroy(&cache->made);
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}
