/* SPDX-License-Identifier: MIT */
extern "C" {
#include "measure/profiling_cuda.h"

#include "base/memory.h"
#include "core/clock.h"
#include "cupti/collect.h"
}

#include "device/device_cuda.h"

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define HAVE_NVTX 1
#endif
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

/* Events that are made and not in use. Making one takes microseconds: it is done before. */
struct event_pool {
    pthread_mutex_t lock;
    cudaEvent_t *items;
    size_t nr, capacity;
    size_t made; /* and not destroyed; there is room for so many */
};

struct profiling_cuda {
    struct prof_hooks hooks;
    cudaStream_t stream;
    struct event_pool pool;
    /* An event that has passed, and when, on CLOCK_MONOTONIC. It moves along with the marks: CUDA
     * tells spans as a float of ms, which has no microseconds left after some seconds. */
    cudaEvent_t zero;
    double zero_ns;
};

static int64_t monotonic_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- events, used again ---- */

/* One more, which is not in the pool. nullptr: CUDA or memory has none. */
static cudaEvent_t make_event(struct event_pool *pool)
{
    cudaEvent_t event;

    if (pool->made == pool->capacity) {
        size_t capacity = pool->capacity ? 2 * pool->capacity : 64;
        void *more = realloc(pool->items, capacity * sizeof(*pool->items));
        if (!more)
            return nullptr;
        pool->items = static_cast<cudaEvent_t *>(more);
        pool->capacity = capacity;
    }
    if (cudaEventCreate(&event) != cudaSuccess)
        return nullptr;
    pool->made++;
    return event;
}

static cudaEvent_t take_event(struct event_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    cudaEvent_t event = pool->nr ? pool->items[--pool->nr] : make_event(pool);
    pthread_mutex_unlock(&pool->lock);
    return event;
}

static void give_event(struct event_pool *pool, cudaEvent_t event)
{
    pthread_mutex_lock(&pool->lock);
    pool->items[pool->nr++] = event;
    pthread_mutex_unlock(&pool->lock);
}

extern "C" void profiling_cuda_reserve(struct profiling_cuda *p, size_t nr)
{
    pthread_mutex_lock(&p->pool.lock);
    while (p->pool.nr < nr) {
        cudaEvent_t event = make_event(&p->pool);
        if (!event)
            break; /* then some are made when they are needed */
        p->pool.items[p->pool.nr++] = event;
    }
    pthread_mutex_unlock(&p->pool.lock);
}

extern "C" size_t profiling_cuda_made(struct profiling_cuda *p)
{
    pthread_mutex_lock(&p->pool.lock);
    size_t made = p->pool.made;
    pthread_mutex_unlock(&p->pool.lock);
    return made;
}

/* ---- the hooks ---- */

static void *mark(void *context, int device, void *stream)
{
    struct profiling_cuda *p = static_cast<struct profiling_cuda *>(context);
    cudaEvent_t event = take_event(&p->pool);

    (void)device;
    if (!event)
        return nullptr;
    if (cudaEventRecord(event, stream ? static_cast<cudaStream_t>(stream) : p->stream) ==
        cudaSuccess)
        return event;
    give_event(&p->pool, event);
    return nullptr;
}

/* NAN: CUDA does not tell. Negative where `end` came first. */
static double elapsed_ns(cudaEvent_t begin, cudaEvent_t end)
{
    float ms = 0;

    if (cudaEventElapsedTime(&ms, begin, end) != cudaSuccess)
        return NAN;
    return static_cast<double>(ms) * 1e6;
}

/* From here on a float of ms is coarser than 8 ns. */
static const double far_ns = 1e8;

static int resolve(void *context, void *begin, void *end, struct prof_span *span)
{
    struct profiling_cuda *p = static_cast<struct profiling_cuda *>(context);
    cudaEvent_t from = static_cast<cudaEvent_t>(begin), to = static_cast<cudaEvent_t>(end);
    cudaError_t rc = device_cuda_event_state(to);

    if (rc != cudaSuccess)
        return rc == cudaErrorNotReady ? 1 : -1;
    double duration = elapsed_ns(from, to), since = elapsed_ns(p->zero, from);
    if (!(duration >= 0))
        return -1;
    span->duration_ns = static_cast<int64_t>(duration + 0.5);
    /* Marks of another thread may be older than the one that zero is by now. */
    span->start_ns = isnan(since) ? -1 : static_cast<int64_t>(p->zero_ns + since + 0.5);
    if (since > far_ns) { /* forget() knows that it is ours now */
        give_event(&p->pool, p->zero);
        p->zero = from;
        p->zero_ns += since;
    }
    return 0;
}

static void forget(void *context, void *event)
{
    struct profiling_cuda *p = static_cast<struct profiling_cuda *>(context);

    if (event != p->zero)
        give_event(&p->pool, static_cast<cudaEvent_t>(event));
}

static int64_t number(void *context, int device, void *stream)
{
    const struct profiling_cuda *p = static_cast<const struct profiling_cuda *>(context);

    (void)device;
    return activity_stream(stream ? stream : static_cast<void *>(p->stream));
}

#ifdef HAVE_NVTX
static void push(void *context, const char *name)
{
    (void)context;
    nvtxRangePushA(name);
}

static void pop(void *context)
{
    (void)context;
    nvtxRangePop();
}
#endif

/* The middle of the shortest of a few waits for an event is when it passed. */
static int set_zero(struct profiling_cuda *p, struct error *err)
{
    enum { TRIES = 5 };
    int64_t shortest = INT64_MAX;

    for (int i = 0; i < TRIES; i++) {
        cudaEvent_t event = take_event(&p->pool);
        if (!event)
            return error_set(err, "no memory for an event of CUDA");
        int64_t before = monotonic_ns();
        int rc = CUDA_TRY(cudaEventRecord(event, p->stream), err) ||
                 CUDA_TRY(cudaEventSynchronize(event), err);
        int64_t waited = monotonic_ns() - before;
        if (rc || waited >= shortest) {
            give_event(&p->pool, event);
            if (rc)
                return -1;
            continue;
        }
        shortest = waited;
        if (p->zero)
            give_event(&p->pool, p->zero);
        p->zero = event;
        p->zero_ns = static_cast<double>(before + waited / 2);
    }
    return 0;
}

extern "C" struct profiling_cuda *profiling_cuda_open(const struct device *d, bool timed,
                                                      struct error *err)
{
    struct profiling_cuda *p = static_cast<struct profiling_cuda *>(memory_zeroed(1, sizeof(*p)));

    p->stream = device_cuda_stream(d);
    pthread_mutex_init(&p->pool.lock, nullptr);
    p->hooks.context = p;
    if (timed) {
        p->hooks.mark = mark;
        p->hooks.resolve = resolve;
        p->hooks.forget = forget;
    }
    p->hooks.number = number;
#ifdef HAVE_NVTX
    p->hooks.push = push;
    p->hooks.pop = pop;
#endif
    if (!timed || set_zero(p, err) == 0)
        return p;
    profiling_cuda_close(p);
    return nullptr;
}

extern "C" const struct prof_hooks *profiling_cuda_hooks(const struct profiling_cuda *p)
{
    return &p->hooks;
}

extern "C" int profiling_cuda_index(const struct device *d)
{
    return device_cuda_index(d);
}

extern "C" int profiling_cuda_launch(const struct call *call, struct error *err)
{
    call->variant->launch(call);
    return CUDA_TRY(cudaGetLastError(), err) || CUDA_TRY(cudaDeviceSynchronize(), err) ? -1 : 0;
}

extern "C" void profiling_cuda_close(struct profiling_cuda *p)
{
    if (!p)
        return;
    if (p->zero)
        cudaEventDestroy(p->zero);
    for (size_t i = 0; i < p->pool.nr; i++)
        cudaEventDestroy(p->pool.items[i]);
    free(p->pool.items);
    pthread_mutex_destroy(&p->pool.lock);
    free(p);
}
