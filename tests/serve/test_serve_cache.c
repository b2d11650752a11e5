/* SPDX-License-Identifier: MIT */
/* S1-23: what the live page keeps: each thing made once, and never more than there is room for. */
#include "testing.h"

#include "base/memory.h"
#include "serve/cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct thing {
    atomic_int *alive;
    atomic_int holders;
    size_t size;
};

struct making {
    atomic_int *alive;
    atomic_int made;
    bool fails, slow;
    size_t size; /* of each; 0: 1 */
};

static void keep(void *context)
{
    struct thing *thing = context;

    atomic_fetch_add(&thing->holders, 1);
}

static void drop(void *context)
{
    struct thing *thing = context;

    if (atomic_fetch_sub(&thing->holders, 1) > 1)
        return;
    atomic_fetch_sub(thing->alive, 1);
    free(thing);
}

static size_t size_of(void *thing)
{
    return ((struct thing *)thing)->size;
}

static const struct cache_kind kind = { keep, drop, size_of };

static void *make(void *context)
{
    struct making *m = context;

    atomic_fetch_add(&m->made, 1);
    if (m->slow)
        usleep(50000);
    if (m->fails)
        return NULL;
    struct thing *thing = memory_zeroed(1, sizeof(*thing));
    thing->alive = m->alive;
    thing->size = m->size ? m->size : 1;
    atomic_init(&thing->holders, 1);
    atomic_fetch_add(m->alive, 1);
    return thing;
}

static void *get_version(struct cache *cache, const char *text, uint64_t version, struct making *m)
{
    return cache_get(cache, &kind, (struct cache_name) { text, version }, make, m);
}

static void *get(struct cache *cache, const char *text, struct making *m)
{
    return get_version(cache, text, 1, m);
}

TEST(test_made_once)
{
    atomic_int alive = 0;
    struct making m = { .alive = &alive };
    struct cache *cache = cache_create(1 << 20);

    void *a = get(cache, "a", &m), *again = get(cache, "a", &m);
    assert_ptr_equal(a, again);
    assert_int_equal(m.made, 1);
    void *b = get(cache, "b", &m);
    assert_ptr_not_equal(a, b);
    cache_free(cache);
    assert_int_equal(alive, 2); /* those who hold it still have it */
    drop(a);
    drop(again);
    drop(b);
    assert_int_equal(alive, 0);
}

TEST(test_failures_are_not_kept)
{
    atomic_int alive = 0;
    struct making m = { .alive = &alive, .fails = true };
    struct cache *cache = cache_create(1 << 20);

    assert_null(get(cache, "a", &m));
    m.fails = false;
    drop(get(cache, "a", &m));
    assert_int_equal(m.made, 2);
    cache_free(cache);
    assert_int_equal(alive, 0);
}

/* Whoever asks chooses the names: they count, too. */
TEST(test_names_take_room)
{
    enum { LENGTH = 4000, ROOM = 100000 };
    atomic_int alive = 0;
    struct making m = { .alive = &alive };
    struct cache *cache = cache_create(ROOM);
    char name[LENGTH + 1];

    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof(name), "%0*d", LENGTH, i);
        drop(get(cache, name, &m));
        assert_true(alive * LENGTH <= ROOM);
    }
    drop(get(cache, name, &m)); /* the newest is still there */
    assert_int_equal(m.made, 1000);
    cache_free(cache);
    assert_int_equal(alive, 0);
}

/* However large, however many: together they never hold more than the budget. */
TEST(test_the_budget_is_kept)
{
    enum { BUDGET = 1 << 20 };
    static const size_t sizes[] = { 1000, 100000, 3, 700000, 400000, 5 << 20, 250000 };
    atomic_int alive = 0;
    struct making m = { .alive = &alive };
    struct cache *cache = cache_create(BUDGET);
    char name[32];

    for (int i = 0; i < 500; i++) {
        m.size = sizes[(size_t)i % (sizeof(sizes) / sizeof(sizes[0]))];
        snprintf(name, sizeof(name), "%d", i);
        struct thing *thing = get(cache, name, &m);
        assert_int_equal(thing->size, m.size); /* who asks gets it in any case */
        drop(thing);
        assert_true(cache_size(cache) <= BUDGET);
    }
    assert_true(cache_size(cache) > BUDGET / 4);
    cache_reserve(cache, BUDGET / 2); /* what others hold counts */
    assert_true(cache_size(cache) <= BUDGET / 2);
    cache_reserve(cache, 10 * (size_t)BUDGET);
    assert_true(cache_size(cache) <= BUDGET / 4);
    cache_free(cache);
    assert_int_equal(alive, 0);
}

/* A history that changed makes all of before useless: it goes at once, not when room is short. */
TEST(test_older_versions_go)
{
    atomic_int alive = 0;
    struct making m = { .alive = &alive };
    struct cache *cache = cache_create(1 << 20);

    drop(get_version(cache, "a", 1, &m));
    drop(get_version(cache, "b", 1, &m));
    drop(get_version(cache, "a", 2, &m));
    assert_int_equal(alive, 1);
    drop(get_version(cache, "a", 1, &m)); /* of one who was late: not kept */
    assert_int_equal(alive, 1);
    drop(get_version(cache, "a", 2, &m));
    assert_int_equal(m.made, 4);
    cache_forget(cache, 3);
    assert_int_equal(alive, 0);
    assert_int_equal(cache_size(cache), 0);
    assert_true(cache_dropped(cache) > 0);
    cache_free(cache);
}

struct asker {
    struct cache *cache;
    struct making *making;
};

static void *ask(void *context)
{
    struct asker *asker = context;

    drop(get(asker->cache, "a", asker->making));
    return NULL;
}

TEST(test_many_ask_at_once)
{
    enum { THREADS = 8 };
    atomic_int alive = 0;
    struct making m = { .alive = &alive, .slow = true };
    struct asker asker = { cache_create(1 << 20), &m };
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask, &asker), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(m.made, 1);
    cache_free(asker.cache);
    assert_int_equal(alive, 0);
}

RUN_TESTS(NULL, NULL)
