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
    uint64_t digest;
    void *thing; /* NULL while it is being made */
    size_t size;
    struct entry *next; /* in its bucket */
    struct entry *newer, *older;
};

enum { BUCKETS = 1024 };

struct cache {
    const struct cache_kind *kind;
    size_t limit, size;
    pthread_mutex_t lock;
    pthread_cond_t made; /* or given up */
    struct entry *buckets[BUCKETS];
    struct entry *newest, *oldest;
};

struct cache *cache_create(const struct cache_kind *kind, size_t limit)
{
    struct cache *cache = memory_zeroed(1, sizeof(*cache));

    cache->kind = kind;
    cache->limit = limit;
    pthread_mutex_init(&cache->lock, NULL);
    pthread_cond_init(&cache->made, NULL);
    return cache;
}

static uint64_t digest_of(const char *name)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325);

    for (; *name; name++)
        digest = (digest ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return digest;
}

static struct entry *find(struct cache *cache, const char *name, uint64_t digest)
{
    struct entry *e = cache->buckets[digest % BUCKETS];

    while (e && (e->digest != digest || strcmp(e->name, name) != 0))
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

static struct entry *add(struct cache *cache, const char *name, uint64_t digest)
{
    struct entry *e = memory_zeroed(1, sizeof(*e));
    struct entry **bucket = &cache->buckets[digest % BUCKETS];

    e->name = memory_string(name);
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
    if (e->thing)
        cache->kind->drop(e->thing);
    free(e->name);
    free(e);
}

/* The newest stays however large it is: somebody is about to ask for it again. */
static void make_room(struct cache *cache)
{
    for (struct entry *e = cache->oldest, *newer; e && cache->size > cache->limit; e = newer) {
        newer = e->newer;
        if (e->thing && newer)
            discard(cache, e);
    }
}

static void *hold(struct cache *cache, struct entry *e)
{
    unlink_age(cache, e);
    make_newest(cache, e);
    cache->kind->keep(e->thing);
    return e->thing;
}

void *cache_get(struct cache *cache, const char *name, void *(*make)(void *context), void *context)
{
    uint64_t digest = digest_of(name);
    struct entry *e;
    void *thing = NULL;

    pthread_mutex_lock(&cache->lock);
    while ((e = find(cache, name, digest)) && !e->thing)
        pthread_cond_wait(&cache->made, &cache->lock);
    if (e) {
        thing = hold(cache, e);
        pthread_mutex_unlock(&cache->lock);
        return thing;
    }
    e = add(cache, name, digest);
    pthread_mutex_unlock(&cache->lock);
    thing = make(context);
    pthread_mutex_lock(&cache->lock);
    if (thing) {
        e->thing = thing;
        /* A small thing may have a long name. */
        e->size = cache->kind->size(thing) + sizeof(*e) + strlen(e->name);
        cache->size += e->size;
        hold(cache, e);
        make_room(cache);
    } else {
        discard(cache, e);
    }
    pthread_cond_broadcast(&cache->made);
    pthread_mutex_unlock(&cache->lock);
    return thing;
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
