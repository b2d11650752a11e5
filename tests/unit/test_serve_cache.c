/* SPDX-License-Identifier: MIT */
/* S1-23: what the live page keeps: each thing made once, and never more than there is room for. */
#include "testing.h"

#include "base/memory.h"
#include "serve/cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

struct thing {
    atomic_int *alive;
    atomic_int holders;
};

struct making {
    atomic_int *alive;
    atomic_int made;
    bool fails, slow;
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

static size_t size_of(const void *thing)
{
    (void)thing;
    return 1;
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
    atomic_init(&thing->holders, 1);
    atomic_fetch_add(m->alive, 1);
    return thing;
}

static void test_made_once(void **state)
{
    atomic_int alive = 0;
    struct making m = { .alive = &alive };
    struct cache *cache = cache_create(&kind, 1 << 20);

    (void)state;
    void *a = cache_get(cache, "a", make, &m), *again = cache_get(cache, "a", make, &m);
    assert_ptr_equal(a, again);
    assert_int_equal(m.made, 1);
    void *b = cache_get(cache, "b", make, &m);
    assert_ptr_not_equal(a, b);
    cache_free(cache);
    assert_int_equal(alive, 2); /* those who hold it still have it */
    drop(a);
    drop(again);
    drop(b);
    assert_int_equal(alive, 0);
}

static void test_failures_are_not_kept(void **state)
{
    atomic_int alive = 0;
    struct making m = { .alive = &alive, .fails = true };
    struct cache *cache = cache_create(&kind, 1 << 20);

    (void)state;
    assert_null(cache_get(cache, "a", make, &m));
    m.fails = false;
    drop(cache_get(cache, "a", make, &m));
    assert_int_equal(m.made, 2);
    cache_free(cache);
    assert_int_equal(alive, 0);
}

/* Whoever asks chooses the names: they count, too. */
static void test_names_take_room(void **state)
{
    enum { LENGTH = 4000, ROOM = 100000 };
    atomic_int alive = 0;
    struct making m = { .alive = &alive };
    struct cache *cache = cache_create(&kind, ROOM);
    char name[LENGTH + 1];

    (void)state;
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof(name), "%0*d", LENGTH, i);
        drop(cache_get(cache, name, make, &m));
        assert_true(alive * LENGTH <= ROOM);
    }
    drop(cache_get(cache, name, make, &m)); /* the newest is still there */
    assert_int_equal(m.made, 1000);
    cache_free(cache);
    assert_int_equal(alive, 0);
}

struct asker {
    struct cache *cache;
    struct making *making;
};

static void *ask(void *context)
{
    struct asker *asker = context;

    drop(cache_get(asker->cache, "a", make, asker->making));
    return NULL;
}

static void test_many_ask_at_once(void **state)
{
    enum { THREADS = 8 };
    atomic_int alive = 0;
    struct making m = { .alive = &alive, .slow = true };
    struct asker asker = { cache_create(&kind, 1 << 20), &m };
    pthread_t threads[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask, &asker), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(m.made, 1);
    cache_free(asker.cache);
    assert_int_equal(alive, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_made_once),
        cmocka_unit_test(test_failures_are_not_kept),
        cmocka_unit_test(test_names_take_room),
        cmocka_unit_test(test_many_ask_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
