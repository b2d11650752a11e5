/* SPDX-License-Identifier: MIT */
/*
 * CUDA devices. For now: found, described and given memory, with an event clock; kernels for it
 * come with the CUDA backend. No driver or no device is one clear line from open().
 */
#include "core/device_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern "C" {
#include "base/text.h"
}

struct cuda {
    int index;
    cudaStream_t stream;
    cudaEvent_t start, stop;
    cudaDeviceProp properties;
    void *evict; /* twice the L2, overwritten to empty it */
    size_t evict_bytes;
};

int device_cuda_failed(cudaError_t rc, const char *call, const char *file, int line,
                       struct error *err)
{
    const char *slash = strrchr(file, '/');

    if (rc == cudaSuccess)
        return 0;
    return error_set(err, "%s:%d: %s: %s", slash ? slash + 1 : file, line, call,
                     cudaGetErrorString(rc));
}

#define TRY(call, err)                                                                             \
    do {                                                                                           \
        if (CUDA_TRY(call, err))                                                                   \
            return -1;                                                                             \
    } while (0)

cudaStream_t device_cuda_stream(const struct device *d)
{
    return ((const struct cuda *)d->state)->stream;
}

const cudaDeviceProp *device_cuda_properties(const struct device *d)
{
    return &((const struct cuda *)d->state)->properties;
}

static int describe(struct device *d, struct cuda *cuda, struct error *err)
{
    cudaDeviceProp &p = cuda->properties;

    TRY(cudaGetDeviceProperties(&p, cuda->index), err);
    cuda->evict_bytes = 2 * (size_t)p.l2CacheSize;
    snprintf(d->label, sizeof(d->label), "cuda");
    snprintf(d->describe, sizeof(d->describe), "%s, compute %d.%d, %d SMs, L2 %d MiB", p.name,
             p.major, p.minor, p.multiProcessorCount, p.l2CacheSize >> 20);
    d->clock_step = 500; /* documented resolution of events */
    return 0;
}

static void cuda_close(struct device *d)
{
    struct cuda *cuda = (struct cuda *)d->state;

    if (cuda->evict)
        cudaFree(cuda->evict);
    if (cuda->start)
        cudaEventDestroy(cuda->start);
    if (cuda->stop)
        cudaEventDestroy(cuda->stop);
    if (cuda->stream)
        cudaStreamDestroy(cuda->stream);
    free(cuda);
}

static int set_up(struct device *d, struct cuda *cuda, struct error *err)
{
    TRY(cudaSetDevice(cuda->index), err);
    TRY(cudaStreamCreate(&cuda->stream), err);
    TRY(cudaEventCreate(&cuda->start), err);
    TRY(cudaEventCreate(&cuda->stop), err);
    return describe(d, cuda, err);
}

static int cuda_open(struct device *d, const char *argument, struct error *err)
{
    int nr = 0;
    int64_t index = 0;

    TRY(cudaGetDeviceCount(&nr), err);
    if (nr == 0)
        return error_set(err, "no CUDA device");
    if (*argument && text_parse_int(argument, 0, nr - 1, "device index", &index, err))
        return -1;
    struct cuda *cuda = (struct cuda *)calloc(1, sizeof(*cuda));
    if (!cuda)
        return error_set(err, "out of memory");
    cuda->index = (int)index;
    d->state = cuda;
    if (set_up(d, cuda, err)) {
        cuda_close(d);
        return -1;
    }
    return 0;
}

static void *cuda_alloc(struct device *d, size_t bytes, struct error *err)
{
    (void)d;
    void *memory = NULL;
    char text[TEXT_UNIT_SIZE];

    if (CUDA_TRY(cudaMalloc(&memory, bytes), err)) {
        error_prefix(err, "cannot allocate %s", text_bytes((double)bytes, text));
        return NULL;
    }
    return memory;
}

static void cuda_free(struct device *d, void *memory)
{
    (void)d;
    cudaFree(memory);
}

static int cuda_upload(struct device *d, void *to, const void *from, size_t bytes,
                       struct error *err)
{
    (void)d;
    TRY(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), err);
    return 0;
}

static int cuda_download(struct device *d, void *to, const void *from, size_t bytes,
                         struct error *err)
{
    (void)d;
    TRY(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), err);
    return 0;
}

static void cuda_flush(struct device *d)
{
    struct cuda *cuda = (struct cuda *)d->state;

    if (!cuda->evict && cudaMalloc(&cuda->evict, cuda->evict_bytes) != cudaSuccess)
        return;
    cudaMemsetAsync(cuda->evict, 0, cuda->evict_bytes, cuda->stream);
    cudaStreamSynchronize(cuda->stream);
}

static int cuda_time(struct device *d, const struct call *call, unsigned batch, uint64_t *ns,
                     struct error *err)
{
    struct cuda *cuda = (struct cuda *)d->state;
    float ms = 0;

    TRY(cudaEventRecord(cuda->start, cuda->stream), err);
    for (unsigned i = 0; i < batch; i++)
        call->variant->launch(call);
    TRY(cudaEventRecord(cuda->stop, cuda->stream), err);
    TRY(cudaDeviceSynchronize(), err);
    TRY(cudaEventElapsedTime(&ms, cuda->start, cuda->stop), err);
    *ns = (uint64_t)((double)ms * 1e6);
    return 0;
}

static int cuda_run(struct device *d, const struct call *call, struct error *err)
{
    (void)d;
    call->variant->launch(call);
    TRY(cudaGetLastError(), err);
    TRY(cudaDeviceSynchronize(), err);
    return 0;
}

static int64_t cuda_available(struct device *d)
{
    (void)d;
    size_t available = 0, total = 0;

    return cudaMemGetInfo(&available, &total) == cudaSuccess ? (int64_t)available : 0;
}

/* C++ has designated initialisers only from 2020 on: the order is that of the struct. */
extern "C" const struct device_class device_cuda_class;
const struct device_class device_cuda_class = {
    "cuda",      "cudaEvent",   cuda_open,  cuda_close, cuda_alloc, cuda_free,
    cuda_upload, cuda_download, cuda_flush, cuda_time,  cuda_run,   cuda_available,
};
