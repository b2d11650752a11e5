/* SPDX-License-Identifier: MIT */
#include "serve/cache.h"

#include "base/memory.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* In a ring, the one asked for last first; behind a table of buckets by name. */
struct entry {
    char *name;
    uint64_t version, digest;
    const struct cache_kind *kind;
    void *thing; /* NULL while it is being made */
    size_t size;
    struct entry *next; /* in its bucket */
    struct entry *newer, *older;
};

enum { BUCKETS = 1024 };

struct cache {
    size_t limit, reserved, size, dropped;
    uint64_t version; /* the newest that was asked for */
    pthread_mutex_t lock;
    pthread_cond_t made; /* or given up */
    struct entry *buckets[BUCKETS];
    struct entry *newest, *oldest;
};

struct cache *cache_create(size_t limit)
{
    struct cache *cache = memory_zeroed(1, sizeof(*cache));

    cache->limit = limit;
    pthread_mutex_init(&cache->lock, NULL);
    pthread_cond_init(&cache->made, NULL);
    return cache;
}

static uint64_t digest_of(const struct cache_name *name)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325) ^ name->version;

    for (const char *at = name->text; *at; at++)
        digest = (digest ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
    return digest;
}

static struct entry *find(struct cache *cache, const struct cache_name *name, uint64_t digest)
{
    struct entry *e = cache->buckets[digest % BUCKETS];

    while (e &&
           (e->digest != digest || e->version != name->version || strcmp(e->name, name->text) != 0))
        e = e->next;
    return e;
}

static void unlink_age(struct cache *cache, struct entry *e)
{
    *(e->newer ? &e->newer->older : &cache->newest) = e->older;
    *(e->older ? &e->older->newer : &cache->oldest) = e->newer;
}

static void make_newest(struct cache *cache, struct entry *e)
{
    e->newer = NULL;
    e->older = cache->newest;
    *(e->older ? &e->older->newer : &cache->oldest) = e;
    cache->newest = e;
}

static struct entry *add(struct cache *cache, const struct cache_kind *kind,
                         const struct cache_name *name, uint64_t digest)
{
    struct entry *e = memory_zeroed(1, sizeof(*e));
    struct entry **bucket = &cache->buckets[digest % BUCKETS];

    e->name = memory_string(name->text);
    e->version = name->version;
    e->kind = kind;
    e->digest = digest;
    e->next = *bucket;
    *bucket = e;
    make_newest(cache, e);
    return e;
}

static void discard(struct cache *cache, struct entry *e)
{
    struct entry **at = &cache->buckets[e->digest % BUCKETS];

    while (*at != e)
        at = &(*at)->next;
    *at = e->next;
    unlink_age(cache, e);
    cache->size -= e->size;
    cache->dropped += e->size;
    if (e->thing)
        e->kind->drop(e->thing);
    free(e->name);
    free(e);
}

/* At least a quarter is left, whatever others hold. */
static size_t room(const struct cache *cache)
{
    size_t least = cache->limit / 4;

    return cache->reserved < cache->limit - least ? cache->limit - cache->reserved : least;
}

static void make_room(struct cache *cache)
{
    for (struct entry *e = cache->oldest, *newer; e && cache->size > room(cache); e = newer) {
        newer = e->newer;
        if (e->thing)
            discard(cache, e);
    }
}

/* Nobody asks for these any more; what is being made goes when it is. */
static void drop_older(struct cache *cache, uint64_t version)
{
    if (version <= cache->version)
        return;
    cache->version = version;
    for (struct entry *e = cache->oldest, *newer; e; e = newer) {
        newer = e->newer;
        if (e->thing && e->version < version)
            discard(cache, e);
    }
}

static void *hold(struct cache *cache, struct entry *e)
{
    unlink_age(cache, e);
    make_newest(cache, e);
    e->kind->keep(e->thing);
    return e->thing;
}

/* Puts what was made into its place, or leaves it to who asked for it. */
static void settle(struct cache *cache, struct entry *e, void *thing)
{
    if (!thing) {
        discard(cache, e);
        return;
    }
    e->thing = thing;
    /* A small thing may have a long name. */
    e->size = e->kind->size(thing) + sizeof(*e) + strlen(e->name);
    cache->size += e->size;
    hold(cache, e);
    if (e->version < cache->version || e->size > room(cache))
        discard(cache, e);
    make_room(cache);
}

void *cache_get(struct cache *cache, const struct cache_kind *kind, struct cache_name name,
                void *(*make)(void *context), void *context)
{
    uint64_t digest = digest_of(&name);
    struct entry *e;
    void *thing = NULL;

    pthread_mutex_lock(&cache->lock);
    drop_older(cache, name.version);
    while ((e = find(cache, &name, digest)) && !e->thing)
        pthread_cond_wait(&cache->made, &cache->lock);
    if (e) {
        thing = hold(cache, e);
        pthread_mutex_unlock(&cache->lock);
        return thing;
    }
    e = add(cache, kind, &name, digest);
    pthread_mutex_unlock(&cache->lock);
    thing = make(context);
    pthread_mutex_lock(&cache->lock);
    settle(cache, e, thing);
    pthread_cond_broadcast(&cache->made);
    pthread_mutex_unlock(&cache->lock);
    return thing;
}

void cache_forget(struct cache *cache, uint64_t version)
{
    pthread_mutex_lock(&cache->lock);
    drop_older(cache, version);
    pthread_mutex_unlock(&cache->lock);
}

void cache_reserve(struct cache *cache, size_t bytes)
{
    pthread_mutex_lock(&cache->lock);
    cache->reserved = bytes;
    make_room(cache);
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
    for (struct entry *e = cache->oldest, *newer; e; e = newer) {
        newer = e->newer;
        discard(cache, e);
    }
    pthread_cond_destroy(&cache->made);
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}
