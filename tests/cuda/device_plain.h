/* SPDX-License-Identifier: MIT */
/* What the programs that bring up whole models share: launches of plain kernels, random numbers,
 * and arrays on the device. */
#ifndef HARNESS_TESTS_CUDA_DEVICE_PLAIN_H
#define HARNESS_TESTS_CUDA_DEVICE_PLAIN_H

#include "kernels/cuda/launch.h"

#include "device_memory.h"

#include <stddef.h>
#include <stdint.h>

template <auto KERNEL, class... A> static void plain(int threads, const A &...a)
{
    cuda_launch<KERNEL>((unsigned)((threads + 127) / 128), 128, 0, nullptr, a...);
    must(cudaGetLastError(), "a plain kernel");
}

static inline float uniform(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (float)(state >> 40) / 16777216.0f;
}

template <class T> static T *device_array(size_t n, const T *from)
{
    T *p = nullptr;
    must(cudaMalloc(&p, n * sizeof(T)), "cudaMalloc");
    if (from)
        must(cudaMemcpyAsync(p, from, n * sizeof(T), cudaMemcpyHostToDevice, nullptr), "copy in");
    else
        must(cudaMemsetAsync(p, 0xff, n * sizeof(T), nullptr), "poison");
    must(cudaStreamSynchronize(nullptr), "copy in");
    return p;
}

#endif
