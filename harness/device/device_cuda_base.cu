/* SPDX-License-Identifier: MIT */
/* What the files of the CUDA device share: its errors, and what others may ask of it. */
#include "device/device_cuda_base.h"

#include <string.h>

int device_cuda_failed(cudaError_t rc, const char *call, const char *file, int line,
                       struct error *err)
{
    const char *slash = strrchr(file, '/');

    if (rc == cudaSuccess)
        return 0;
    return error_set(err, "%s:%d: %s: %s", slash ? slash + 1 : file, line, call,
                     cudaGetErrorString(rc));
}

/* `before` is what was the last error when it was asked: that of somebody else stays. */
static cudaError_t without_trace(cudaError_t before, cudaError_t answer)
{
    if (answer == cudaErrorNotReady && before == cudaSuccess)
        cudaGetLastError();
    return answer;
}

cudaError_t device_cuda_event_state(cudaEvent_t event)
{
    cudaError_t before = cudaPeekAtLastError();

    return without_trace(before, cudaEventQuery(event));
}

cudaError_t device_cuda_stream_state(cudaStream_t stream)
{
    cudaError_t before = cudaPeekAtLastError();

    return without_trace(before, cudaStreamQuery(stream));
}

/* An error that is still there after it has been read has spoiled the context: illegal addresses,
 * failed assertions, time-outs, ECC. */
static bool has_stuck(const struct cuda *cuda)
{
    cudaGetLastError();
    cudaError_t now = device_cuda_stream_state(cuda->stream);
    return now != cudaSuccess && now != cudaErrorNotReady;
}

int cuda_failed(struct device *d, cudaError_t rc, const char *call, const char *file, int line,
                struct error *err)
{
    if (rc == cudaSuccess)
        return 0;
    device_cuda_failed(rc, call, file, line, err);
    d->broken = d->broken || has_stuck(cuda_of(d));
    return -1;
}

cudaStream_t device_cuda_stream(const struct device *d)
{
    return cuda_of(d)->stream;
}

const cudaDeviceProp *device_cuda_properties(const struct device *d)
{
    return &cuda_of(d)->properties;
}

int device_cuda_index(const struct device *d)
{
    return cuda_of(d)->index;
}
