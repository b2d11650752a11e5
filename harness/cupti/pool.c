/* SPDX-License-Identifier: MIT */
#include "cupti/pool.h"

#include <stdlib.h>
#include <string.h>

/* ABSENT has no memory yet; FREE may be taken; LENT is with CUPTI; FULL waits for pool_drain(). */
enum { ABSENT, FREE, LENT, FULL };

enum { ALIGNMENT = 64 };

/* Small enough to be left out where memory is short: then fewer buffers do. */
static void add_to_pool(struct pool *pool, struct pool_place *place)
{
    place->bytes = aligned_alloc(ALIGNMENT, pool->bytes);
    if (!place->bytes)
        return;
    memset(place->bytes, 0, pool->bytes); /* its pages are there before CUPTI writes */
    atomic_store_explicit(&place->state, FREE, memory_order_release);
}

void pool_init(struct pool *pool, size_t bytes, unsigned buffers, unsigned most)
{
    *pool = (struct pool) { .bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT };
    pool->nr_places = most < POOL_MOST ? most : POOL_MOST;
    for (unsigned i = 0; i < buffers && i < pool->nr_places; i++)
        add_to_pool(pool, &pool->places[i]);
}

void pool_release(struct pool *pool)
{
    for (unsigned i = 0; i < pool->nr_places; i++)
        if (atomic_load_explicit(&pool->places[i].state, memory_order_acquire) != LENT)
            free(pool->places[i].bytes);
    *pool = (struct pool) { 0 };
}

uint8_t *pool_take(struct pool *pool)
{
    for (unsigned i = 0; i < pool->nr_places; i++) {
        struct pool_place *place = &pool->places[i];
        int expected = FREE;
        if (atomic_compare_exchange_strong_explicit(&place->state, &expected, LENT,
                                                    memory_order_acquire, memory_order_relaxed))
            return place->bytes;
    }
    atomic_fetch_add_explicit(&pool->nr_refused, 1, memory_order_relaxed);
    return NULL;
}

void pool_give(struct pool *pool, uint8_t *buffer, size_t valid)
{
    for (unsigned i = 0; i < pool->nr_places; i++) {
        struct pool_place *place = &pool->places[i];
        /* The bytes of a place that is not out may be in the other thread's hands. */
        if (atomic_load_explicit(&place->state, memory_order_acquire) != LENT ||
            place->bytes != buffer)
            continue;
        place->valid = valid < pool->bytes ? valid : pool->bytes;
        atomic_store_explicit(&place->state, FULL, memory_order_release);
        return;
    }
}

unsigned pool_drain(struct pool *pool, pool_use_fn *use, void *ctx)
{
    unsigned nr = 0;

    for (unsigned i = 0; i < pool->nr_places; i++) {
        struct pool_place *place = &pool->places[i];
        if (atomic_load_explicit(&place->state, memory_order_acquire) != FULL)
            continue;
        use(ctx, place->bytes, place->valid);
        atomic_store_explicit(&place->state, FREE, memory_order_release);
        nr++;
    }
    return nr;
}

static unsigned count_places(const struct pool *pool, int state)
{
    unsigned nr = 0;

    for (unsigned i = 0; i < pool->nr_places; i++)
        nr += atomic_load_explicit(&pool->places[i].state, memory_order_relaxed) == state;
    return nr;
}

unsigned pool_buffers(const struct pool *pool)
{
    return pool->nr_places - count_places(pool, ABSENT);
}

void pool_grow(struct pool *pool)
{
    unsigned free_ones = count_places(pool, FREE);

    for (unsigned i = 0; i < pool->nr_places && free_ones * 4 < pool_buffers(pool); i++) {
        struct pool_place *place = &pool->places[i];
        if (atomic_load_explicit(&place->state, memory_order_relaxed) != ABSENT)
            continue;
        add_to_pool(pool, place);
        free_ones++;
    }
}
