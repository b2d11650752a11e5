/* SPDX-License-Identifier: MIT */
/*
 * cp.async (sm_80): global to shared memory without a register in between, in groups that are
 * waited for in order. What has been copied is seen by the copying thread after
 * cuda_async_wait(), by the block after a barrier behind that.
 */
#ifndef HARNESS_KERNELS_CUDA_ASYNC_H
#define HARNESS_KERNELS_CUDA_ASYNC_H

#include "kernels/cuda/launch.h"

/* The address of shared memory as PTX counts it. */
__device__ __forceinline__ uint32_t cuda_shared_address(const void *shared)
{
#ifdef __CUDA_ARCH__
    return static_cast<uint32_t>(__cvta_generic_to_shared(shared));
#else
    (void)shared;
    return 0;
#endif
}

/* Copies BYTES (4, 8 or 16; both pointers aligned to it), or writes zeros where !valid; then `from`
 * is not read and may point anywhere. */
template <int BYTES>
__device__ __forceinline__ void cuda_async_copy(void *shared, const void *from, bool valid)
{
    static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "what cp.async copies");
    unsigned size = valid ? BYTES : 0;
#if defined(__CUDA_ARCH__)
    if constexpr (BYTES == 16)
        asm volatile(
            "cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(cuda_shared_address(shared)),
            "l"(from), "r"(size)
            : "memory");
    else
        asm volatile(
            "cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(cuda_shared_address(shared)),
            "l"(from), "n"(BYTES), "r"(size)
            : "memory");
#elif defined(CUDA_HOST_LAYER)
    cuda_host_cp_async(shared, from, BYTES, size);
#else
    (void)shared, (void)from, (void)size;
#endif
}

/* Asks for a line to come to the L2 cache; `from` is an address of global memory. */
__device__ __forceinline__ void cuda_prefetch(const void *from)
{
#ifdef __CUDA_ARCH__
    asm volatile("prefetch.global.L2 [%0];" ::"l"(from));
#else
    (void)from;
#endif
}

/* Ends a group: all copies of this thread since the last one. */
__device__ __forceinline__ void cuda_async_commit(void)
{
#if defined(__CUDA_ARCH__)
    asm volatile("cp.async.commit_group;" ::: "memory");
#elif defined(CUDA_HOST_LAYER)
    cuda_host_cp_commit();
#endif
}

/* Waits until at most ALLOW groups of this thread are under way. */
template <int ALLOW> __device__ __forceinline__ void cuda_async_wait(void)
{
#if defined(__CUDA_ARCH__)
    asm volatile("cp.async.wait_group %0;" ::"n"(ALLOW) : "memory");
#elif defined(CUDA_HOST_LAYER)
    cuda_host_cp_wait(ALLOW);
#endif
}

#endif
