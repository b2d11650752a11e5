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

/* Lets a kernel have clusters of more than 8 blocks, which not every device of sm_90 need have. */
template <auto KERNEL> inline void cuda_allow_cluster(void)
{
#ifndef CUDA_HOST_LAYER
    static const cudaError_t allowed = cudaFuncSetAttribute(
        reinterpret_cast<const void *>(KERNEL), cudaFuncAttributeNonPortableClusterSizeAllowed, 1);

    (void)allowed;
#endif
}

/* What a launch may ask for beyond its sizes. */
struct cuda_launch_options {
    int cluster = 1;          /* blocks along x that run as one cluster, see cluster.h */
    bool early = false;       /* may start before the kernel in front of it has ended, see pdl.h */
    bool cooperative = false; /* all blocks at the same time, or an error: they wait for others */
};

/* Whether KERNEL's code on this device can wait for the kernel in front of it: code for sm_90. That
 * for older architectures, which a newer one runs too, has no instruction for it. */
template <auto KERNEL> inline bool cuda_can_wait(void)
{
    static const bool can = [] {
        cudaFuncAttributes of = {};
        return cudaFuncGetAttributes(&of, reinterpret_cast<const void *>(KERNEL)) == cudaSuccess &&
               of.ptxVersion >= 90;
    }();

    return can;
}

/* Enqueues KERNEL. Errors show in cudaGetLastError(), which the device looks at. A kernel is
 * always launched with the same amount of shared memory, or with less than 48 KiB. */
template <auto KERNEL, class... Arguments>
inline void cuda_launch_with(const struct cuda_launch_options &options, dim3 grid, dim3 block,
                             size_t shared, cudaStream_t stream, const Arguments &...arguments)
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attributes[3] = {};

#ifdef CUDA_HOST_LAYER
    cuda_host_name_kernel(reinterpret_cast<const void *>(KERNEL), __PRETTY_FUNCTION__);
#endif
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    config.attrs = attributes;
    if (options.cluster > 1) {
        cudaLaunchAttribute *a = &attributes[config.numAttrs++];
        a->id = cudaLaunchAttributeClusterDimension;
        a->val.clusterDim.x = (unsigned)options.cluster;
        a->val.clusterDim.y = a->val.clusterDim.z = 1;
    }
    if (options.cooperative) {
        cudaLaunchAttribute *a = &attributes[config.numAttrs++];
        a->id = cudaLaunchAttributeCooperative;
        a->val.cooperative = 1;
    }
    if (options.early && cuda_can_wait<KERNEL>()) {
        cudaLaunchAttribute *a = &attributes[config.numAttrs++];
        a->id = cudaLaunchAttributeProgrammaticStreamSerialization;
        a->val.programmaticStreamSerializationAllowed = 1;
    }
    if (shared > CUDA_SHARED_PLAIN)
        cuda_allow_shared<KERNEL>(shared);
    if (options.cluster > 8)
        cuda_allow_cluster<KERNEL>();
    cudaLaunchKernelEx(&config, KERNEL, arguments...);
}

template <auto KERNEL, class... Arguments>
inline void cuda_launch(dim3 grid, dim3 block, size_t shared, cudaStream_t stream,
                        const Arguments &...arguments)
{
    cuda_launch_with<KERNEL>({}, grid, block, shared, stream, arguments...);
}

/* The smallest number of pieces of `size` that cover `n`. */
template <class T> __host__ __device__ constexpr T cuda_pieces(T n, T size)
{
    return (n + size - 1) / size;
}

#endif
