/* SPDX-License-Identifier: MIT */
/* The one kernel that device_method times by itself and harness by the plugin beside it: rows of
 * numbers, copied. Of one number it is as good as nothing, of 64 Mi it is the memory's rate. */
#ifndef HARNESS_TESTS_CUDA_METHOD_COPY_H
#define HARNESS_TESTS_CUDA_METHOD_COPY_H

#include <cuda_runtime.h>
#include <stdint.h>

enum { METHOD_THREADS = 256 };

/* 256 MiB are the larger one, in rows so that an oracle can look at some of them. */
static const int64_t method_sizes[] = { 1, 1, 65536, 1024 };

static __global__ void method_copy_kernel(float *to, const float *from, int64_t nr)
{
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < nr;
         i += (int64_t)gridDim.x * blockDim.x)
        to[i] = from[i];
}

static inline void method_copy(float *to, const float *from, int64_t nr, cudaStream_t stream)
{
    const int64_t wanted = (nr + METHOD_THREADS - 1) / METHOD_THREADS, most = 1 << 16;
    cudaLaunchConfig_t config = {};

    config.gridDim = dim3((unsigned)(wanted < most ? wanted : most));
    config.blockDim = dim3(METHOD_THREADS);
    config.stream = stream;
    cudaLaunchKernelEx(&config, method_copy_kernel, to, from, nr);
}

#endif
