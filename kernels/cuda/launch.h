/* SPDX-License-Identifier: MIT */
/*
 * Launching kernels and reaching shared memory, the same way for nvcc and for the host layer of
 * the tests (tests/cuda_host), where a CUDA thread is a fiber on the CPU.
 *
 *     template <int TILE> __global__ void kernel(struct arguments a) {
 *         struct layout &shared = cuda_shared<struct layout>();
 *     }
 *     cuda_launch<kernel<32>>(grid, 256, sizeof(struct layout), stream, a);
 *
 * All shared memory is dynamic: so the host layer can poison it and find accesses beyond its end.
 */
#ifndef HARNESS_KERNELS_CUDA_LAUNCH_H
#define HARNESS_KERNELS_CUDA_LAUNCH_H

#include <cuda_runtime.h>

#include <stddef.h>
#include <stdint.h>

#ifdef CUDA_HOST_LAYER
#include "cuda_host.h"
#endif

/* Shared memory that needs no permission first. */
enum { CUDA_SHARED_PLAIN = 48 * 1024 };

/* The whole dynamic shared memory of the block as a T; aligned to 128 bytes or better. */
template <class T> __device__ __forceinline__ T &cuda_shared(void)
{
#ifdef CUDA_HOST_LAYER
    return *static_cast<T *>(cuda_host_shared());
#else
    extern __shared__ __align__(1024) unsigned char cuda_shared_bytes[];
    return *reinterpret_cast<T *>(cuda_shared_bytes);
#endif
}

/* blockIdx.x, read anew at each call: what is computed from it need not wait in registers through
 * a long loop that could use them. */
__device__ __forceinline__ int cuda_block_again(void)
{
#ifdef __CUDA_ARCH__
    int index;
    asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(index));
    return index;
#else
    return (int)blockIdx.x;
#endif
}

/* Lets a kernel use more than 48 KiB, once for the life of the process. */
template <auto KERNEL> inline void cuda_allow_shared(size_t bytes)
{
    static const cudaError_t allowed =
        cudaFuncSetAttribute(reinterpret_cast<const void *>(KERNEL),
                             cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));

    (void)allowed; /* a launch that needed it fails and says so */
}

/* Enqueues KERNEL. Errors show in cudaGetLastError(), which the device looks at. A kernel is
 * always launched with the same amount of shared memory, or with less than 48 KiB. */
template <auto KERNEL, class... Arguments>
inline void cuda_launch(dim3 grid, dim3 block, size_t shared, cudaStream_t stream,
                        const Arguments &...arguments)
{
    cudaLaunchConfig_t config = {};

#ifdef CUDA_HOST_LAYER
    cuda_host_name_kernel(reinterpret_cast<const void *>(KERNEL), __PRETTY_FUNCTION__);
#endif
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    if (shared > CUDA_SHARED_PLAIN)
        cuda_allow_shared<KERNEL>(shared);
    cudaLaunchKernelEx(&config, KERNEL, arguments...);
}

/* The smallest number of pieces of `size` that cover `n`. */
template <class T> __host__ __device__ constexpr T cuda_pieces(T n, T size)
{
    return (n + size - 1) / size;
}

#endif
