/* SPDX-License-Identifier: MIT */
/* CUDA devices: a context, a stream of their own, memory. */
#include "device/device_cuda_base.h"

#include <atomic>
#include <stdlib.h>

extern "C" {
#include "base/memory.h"
#include "base/text.h"
}

static void cuda_close(struct device *d)
{
    struct cuda *cuda = cuda_of(d);

    cuda_graph_drop(cuda);
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

static int cuda_open(struct device *d, const char *argument, struct error *err)
{
    d->state = memory_zeroed(1, sizeof(struct cuda));
    int rc = cuda_find(d, cuda_of(d), argument, err);
    if (rc)
        free(d->state);
    return rc;
}

/* What kernels ask of a device they keep for the life of the process (permission for shared memory,
 * what code it has: kernels/cuda/launch.h), and on a second device it would be missing or wrong. */
static int cuda_take(const struct cuda *cuda, struct error *err)
{
    static std::atomic<int> taken = -1;
    int none = -1;

    if (taken.compare_exchange_strong(none, cuda->index) || none == cuda->index)
        return 0;
    return error_set(err,
                     "this process has used cuda:%d, and what its kernels have set up holds for "
                     "that one alone: use cuda:%d from a process of its own",
                     none, cuda->index);
}

/* Since CUDA 12 the context is made by cudaSetDevice(). */
static int cuda_start(struct device *d, struct error *err)
{
    struct cuda *cuda = cuda_of(d);

    if (cuda_take(cuda, err))
        return -1;
    const char *call = "cudaSetDevice";
    cudaError_t rc = cudaSetDevice(cuda->index);

    if (rc == cudaSuccess) {
        call = "cudaStreamCreate";
        rc = cudaStreamCreateWithFlags(&cuda->stream, cudaStreamNonBlocking);
    }
    if (device_cuda_failed(rc, call, __FILE__, __LINE__, err))
        return cuda_explain_start(rc, err);
    if (CUDA_TRY(cudaEventCreate(&cuda->start), err) || CUDA_TRY(cudaEventCreate(&cuda->stop), err))
        return -1;
    return 0;
}

/* A null pointer for 0 bytes would look like a failure. What another process is to open has a place
 * to itself: the driver puts small allocations together, a handle is of all that lies there, and
 * what takes multiples of 2 MiB is alone (CUDA's guide, "Interprocess Communication"). */
static size_t bytes_to_take(const struct device *d, size_t bytes)
{
    const size_t alone = (size_t)2 << 20;

    if (bytes == 0)
        bytes = 1;
    return d->shares && bytes <= SIZE_MAX - alone ? (bytes + alone - 1) / alone * alone : bytes;
}

static void *cuda_alloc(struct device *d, size_t bytes, struct error *err)
{
    void *memory = NULL;
    char text[TEXT_UNIT_SIZE];

    if (cuda_failed(d, cudaMalloc(&memory, bytes_to_take(d, bytes)), "cudaMalloc", __FILE__,
                    __LINE__, err)) {
        error_prefix(err, "cannot allocate %s on the device", text_bytes((double)bytes, text));
        return NULL;
    }
    return memory;
}

static void cuda_free(struct device *d, void *memory)
{
    (void)d;
    cudaFree(memory);
}

/* Copies go by the device's own stream: the legacy one is not ordered with it, and returns before
 * the last bytes have arrived. */
static int cuda_copy(struct device *d, void *to, const void *from, size_t bytes,
                     cudaMemcpyKind kind, struct error *err)
{
    CUDA_DO(d, cudaMemcpyAsync(to, from, bytes, kind, cuda_of(d)->stream), err);
    CUDA_DO(d, cudaStreamSynchronize(cuda_of(d)->stream), err);
    return 0;
}

static int cuda_upload(struct device *d, void *to, const void *from, size_t bytes,
                       struct error *err)
{
    return cuda_copy(d, to, from, bytes, cudaMemcpyHostToDevice, err);
}

static int cuda_download(struct device *d, void *to, const void *from, size_t bytes,
                         struct error *err)
{
    return cuda_copy(d, to, from, bytes, cudaMemcpyDeviceToHost, err);
}

static int64_t cuda_available(struct device *d)
{
    size_t available = 0, total = 0;
    struct error ignored;

    if (device_start(d, &ignored) || cudaMemGetInfo(&available, &total) != cudaSuccess)
        return 0;
    return (int64_t)available;
}

static void *cuda_stream(const struct device *d)
{
    return device_cuda_stream(d);
}

static int64_t cuda_cache_bytes(const struct device *d)
{
    return cuda_of(d)->properties.l2CacheSize;
}

extern "C" const struct device_class device_cuda_class;
const struct device_class device_cuda_class = {
    .name = "cuda",
    .clock = "cudaEvent",
    .open = cuda_open,
    .start = cuda_start,
    .close = cuda_close,
    .alloc = cuda_alloc,
    .free = cuda_free,
    .upload = cuda_upload,
    .download = cuda_download,
    .begin = cuda_begin,
    .end = cuda_end,
    .flush = cuda_flush,
    .time = cuda_time,
    .run = cuda_run,
    .available = cuda_available,
    .stream = cuda_stream,
    .cache_bytes = cuda_cache_bytes,
    .lending = &cuda_lending,
    .own_memory = true,
    .rotates = true,
    .has_roofs = true,
    .nvidia = true,
};
