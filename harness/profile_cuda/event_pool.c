/* SPDX-License-Identifier: MIT */
#include "profile_cuda/event_pool.h"

#include "base/memory.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 1024 };

static const struct {
    const char *name;
    size_t at;
} event_symbols[] = {
    { "cuEventCreate", offsetof(struct event_calls, create) },
    { "cuEventRecord", offsetof(struct event_calls, record) },
    { "cuEventQuery", offsetof(struct event_calls, query) },
    { "cuEventElapsedTime", offsetof(struct event_calls, elapsed) },
    { "cuEventDestroy_v2", offsetof(struct event_calls, destroy) },
    { "cuCtxSynchronize", offsetof(struct event_calls, synchronise) },
};

static int event_pool_load(struct event_pool *pool, struct error *why)
{
    const char *named = getenv("HARNESS_LIBCUDA");
    const char *name = named && named[0] ? named : "libcuda.so.1";
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);

    if (!library)
        return error_set(why, "no CUDA driver: %s", dlerror());
    for (size_t i = 0; i < sizeof(event_symbols) / sizeof(event_symbols[0]); i++) {
        void *symbol = dlsym(library, event_symbols[i].name);
        if (!symbol) {
            dlclose(library);
            return error_set(why, "%s has no %s", name, event_symbols[i].name);
        }
        memcpy((char *)&pool->call + event_symbols[i].at, &symbol, sizeof(symbol));
    }
    pool->library = library; /* stays in the process: events and contexts are its own */
    return 0;
}

/* Under the lock, or before anyone else knows the pool. Room for one more. */
static void event_pool_grow(struct event_pool *pool)
{
    if (pool->nr_idle < pool->capacity)
        return;
    size_t capacity = pool->capacity ? 2 * pool->capacity : FIRST_CAPACITY;
    void **idle = memory_zeroed(capacity, sizeof(*idle));
    if (pool->nr_idle)
        memcpy(idle, pool->idle, pool->nr_idle * sizeof(*idle));
    free(pool->idle);
    pool->idle = idle;
    pool->capacity = capacity;
}

/* NULL: the driver makes none, as where the thread has no context yet. */
static void *event_pool_make(struct event_pool *pool)
{
    void *event = NULL;

    if (pool->call.create(&event, 0) != CUDA_DONE)
        return NULL;
    pool->nr_made++;
    return event;
}

int event_pool_open(struct event_pool *pool, size_t events, struct error *why)
{
    *pool = (struct event_pool) { .library = NULL };
    pthread_mutex_init(&pool->lock, NULL);
    if (event_pool_load(pool, why))
        return -1;
    while (pool->nr_idle < events) {
        void *event = event_pool_make(pool);
        if (!event)
            break; /* no context yet: they are made as they are asked for */
        event_pool_grow(pool);
        pool->idle[pool->nr_idle++] = event;
    }
    return 0;
}

void event_pool_release(struct event_pool *pool)
{
    for (size_t i = 0; i < pool->nr_idle; i++)
        pool->call.destroy(pool->idle[i]);
    free(pool->idle);
    pthread_mutex_destroy(&pool->lock);
    *pool = (struct event_pool) { .library = NULL };
}

void event_pool_give_back(struct event_pool *pool, void *event)
{
    pthread_mutex_lock(&pool->lock);
    event_pool_grow(pool);
    pool->idle[pool->nr_idle++] = event;
    pthread_mutex_unlock(&pool->lock);
}

static void *event_pool_take(struct event_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    void *event = pool->nr_idle ? pool->idle[--pool->nr_idle] : event_pool_make(pool);
    pool->nr_refused += !event;
    pthread_mutex_unlock(&pool->lock);
    return event;
}

void *event_pool_mark(struct event_pool *pool, void *stream)
{
    void *event = pool->library ? event_pool_take(pool) : NULL;

    if (event && pool->call.record(event, stream) != CUDA_DONE) {
        event_pool_give_back(pool, event);
        pthread_mutex_lock(&pool->lock);
        pool->nr_refused++;
        pthread_mutex_unlock(&pool->lock);
        return NULL;
    }
    return event;
}

/* Of two events close to each other: a float has enough digits for that, and not for hours. */
int event_pool_span(struct event_pool *pool, void *begin, void *end, int64_t *ns)
{
    float ms = 0;
    int code = pool->call.query(end);

    if (code == CUDA_NOT_READY)
        return 1;
    if (code != CUDA_DONE || pool->call.elapsed(&ms, begin, end) != CUDA_DONE || !(ms >= 0))
        return -1;
    *ns = llround((double)ms * 1e6);
    return 0;
}

int event_pool_synchronise(struct event_pool *pool)
{
    return pool->library ? pool->call.synchronise() : CUDA_DONE;
}
