/* SPDX-License-Identifier: MIT */
extern "C" {
#include "measure/profiling_cuda.h"

#include "base/memory.h"
#include "core/clock.h"
}

#include "device/device_cuda.h"

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define HAVE_NVTX 1
#endif
#include <stdlib.h>
#include <time.h>

struct profiling_cuda {
    struct prof_hooks hooks;
    cudaStream_t stream;
    cudaEvent_t zero; /* an event that has passed ... */
    int64_t zero_ns;  /* ... at this time of CLOCK_MONOTONIC */
};

static int64_t monotonic_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void *mark(void *context, int device, void *stream)
{
    const struct profiling_cuda *p = static_cast<const struct profiling_cuda *>(context);
    cudaEvent_t event;

    (void)device;
    if (cudaEventCreate(&event) != cudaSuccess)
        return nullptr;
    if (cudaEventRecord(event, stream ? static_cast<cudaStream_t>(stream) : p->stream) ==
        cudaSuccess)
        return event;
    cudaEventDestroy(event);
    return nullptr;
}

static int64_t elapsed_ns(cudaEvent_t begin, cudaEvent_t end)
{
    float ms = 0;

    if (cudaEventElapsedTime(&ms, begin, end) != cudaSuccess)
        return -1;
    return static_cast<int64_t>(static_cast<double>(ms) * 1e6 + 0.5);
}

static int resolve(void *context, void *begin, void *end, struct prof_span *span)
{
    const struct profiling_cuda *p = static_cast<const struct profiling_cuda *>(context);
    cudaEvent_t from = static_cast<cudaEvent_t>(begin), to = static_cast<cudaEvent_t>(end);
    cudaError_t rc = cudaEventQuery(to);

    if (rc != cudaSuccess)
        return rc == cudaErrorNotReady ? 1 : -1;
    span->duration_ns = elapsed_ns(from, to);
    int64_t since = elapsed_ns(p->zero, from);
    span->start_ns = since < 0 ? -1 : p->zero_ns + since;
    return span->duration_ns < 0 ? -1 : 0;
}

static void forget(void *context, void *event)
{
    (void)context;
    cudaEventDestroy(static_cast<cudaEvent_t>(event));
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
        cudaEvent_t event;
        if (CUDA_TRY(cudaEventCreate(&event), err))
            return -1;
        int64_t before = monotonic_ns();
        int rc = CUDA_TRY(cudaEventRecord(event, p->stream), err) ||
                 CUDA_TRY(cudaEventSynchronize(event), err);
        int64_t waited = monotonic_ns() - before;
        if (rc || waited >= shortest) {
            cudaEventDestroy(event);
            if (rc)
                return -1;
            continue;
        }
        shortest = waited;
        if (p->zero)
            cudaEventDestroy(p->zero);
        p->zero = event;
        p->zero_ns = before + waited / 2;
    }
    return 0;
}

extern "C" struct profiling_cuda *profiling_cuda_open(const struct device *d, struct error *err)
{
    struct profiling_cuda *p = static_cast<struct profiling_cuda *>(memory_zeroed(1, sizeof(*p)));

    p->stream = device_cuda_stream(d);
    p->hooks.context = p;
    p->hooks.mark = mark;
    p->hooks.resolve = resolve;
    p->hooks.forget = forget;
#ifdef HAVE_NVTX
    p->hooks.push = push;
    p->hooks.pop = pop;
#endif
    if (set_zero(p, err) == 0)
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
    if (p && p->zero)
        cudaEventDestroy(p->zero);
    free(p);
}
