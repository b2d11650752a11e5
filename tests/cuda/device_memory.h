/* SPDX-License-Identifier: MIT */
/* What the programs on a device have in common: calls that must succeed, and memory on both sides.
 */
#ifndef HARNESS_TESTS_CUDA_DEVICE_MEMORY_H
#define HARNESS_TESTS_CUDA_DEVICE_MEMORY_H

#include <cuda_runtime.h>

#include <stdio.h>
#include <stdlib.h>
#include <vector>

#ifdef CUDA_WATCHDOG
#include "kernels/cuda/mbarrier.h"
#endif

inline int probes_wrong; /* of all parts of the program */

static inline void must(cudaError_t rc, const char *what)
{
    if (rc == cudaSuccess)
        return;
    printf("%s: %s; nothing further can be said\n", what, cudaGetErrorString(rc));
#ifdef CUDA_WATCHDOG
    cuda_watchdog_say();
#endif
    fflush(stdout);
    _Exit(3);
}

static inline void finish(const char *what)
{
    must(cudaGetLastError(), what);
    must(cudaDeviceSynchronize(), what);
}

/* Device memory with a copy on the host. */
template <class T> struct both {
    std::vector<T> host;
    T *device;

    explicit both(size_t nr) : host(nr), device(nullptr)
    {
        must(cudaMalloc(&device, nr * sizeof(T)), "cudaMalloc");
        must(cudaMemset(device, 0xff, nr * sizeof(T)), "cudaMemset");
    }
    both(const both &) = delete;
    both &operator=(const both &) = delete;
    ~both(void)
    {
        cudaFree(device);
    }
    void up(void)
    {
        must(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice),
             "to the device");
    }
    void down(void)
    {
        must(cudaMemcpy(host.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost),
             "from the device");
    }
};

#endif
