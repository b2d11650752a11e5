/* SPDX-License-Identifier: MIT */
/*
 * Clusters (sm_90): blocks that run at the same time on neighbouring SMs and reach each other's
 * shared memory. The launch says how many (cuda_launch_with, launch.h).
 *
 * Source: PTX ISA, "barrier.cluster", "mapa", "ld.shared::cluster", "st.async".
 */
#ifndef HARNESS_KERNELS_CUDA_CLUSTER_H
#define HARNESS_KERNELS_CUDA_CLUSTER_H

#include "kernels/cuda/async.h"

#ifdef CUDA_HOST_LAYER
#include <string.h>
#endif

/* This block within its cluster. */
__device__ __forceinline__ unsigned cuda_cluster_rank(void)
{
#ifndef CUDA_HOST_LAYER
    unsigned rank;

    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
#else
    return cuda_host_cluster_rank();
#endif
}

/* All threads of all blocks of the cluster: what each wrote before, shared memory of others too, is
 * seen by all behind it. No block may end while others still reach its shared memory. */
__device__ __forceinline__ void cuda_cluster_arrive(void)
{
#ifndef CUDA_HOST_LAYER
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#else
    cuda_host_cluster_arrive();
#endif
}

__device__ __forceinline__ void cuda_cluster_wait(void)
{
#ifndef CUDA_HOST_LAYER
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#else
    cuda_host_cluster_wait();
#endif
}

__device__ __forceinline__ void cuda_cluster_barrier(void)
{
    cuda_cluster_arrive();
    cuda_cluster_wait();
}

/* As ld and st of shared::cluster count. */
#ifdef CUDA_HOST_LAYER
using cuda_cluster_place = uintptr_t;
#else
using cuda_cluster_place = uint32_t;
#endif

/* The address of what lies at `shared` in block `rank`. */
__device__ __forceinline__ cuda_cluster_place cuda_cluster_address(const void *shared,
                                                                   unsigned rank)
{
#ifndef CUDA_HOST_LAYER
    uint32_t there;

    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(there)
                 : "r"(cuda_shared_address(shared)), "r"(rank));
    return there;
#else
    return (uintptr_t)cuda_host_cluster_map(shared, rank);
#endif
}

__device__ __forceinline__ uint4 cuda_cluster_load16(cuda_cluster_place address)
{
#ifndef CUDA_HOST_LAYER
    uint4 v;

    asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "r"(address)
                 : "memory");
    return v;
#else
    return *reinterpret_cast<const uint4 *>(address);
#endif
}

__device__ __forceinline__ void cuda_cluster_store16(cuda_cluster_place address, uint4 v)
{
#ifndef CUDA_HOST_LAYER
    asm volatile("st.shared::cluster.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(v.x),
                 "r"(v.y), "r"(v.z), "r"(v.w)
                 : "memory");
#else
    *reinterpret_cast<uint4 *>(address) = v;
#endif
}

/* The same without waiting for it: the mbarrier at `barrier`, in the block that is written to,
 * counts the 16 bytes when they are there, and who waits for it sees them. */
__device__ __forceinline__ void cuda_cluster_send16(cuda_cluster_place address, uint4 v,
                                                    cuda_cluster_place barrier)
{
#ifndef CUDA_HOST_LAYER
    asm volatile(
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32"
        " [%0], {%1, %2, %3, %4}, [%5];" ::"r"(address),
        "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "r"(barrier)
        : "memory");
#else
    *reinterpret_cast<uint4 *>(address) = v;
    cuda_host_mbarrier_complete(reinterpret_cast<void *>(barrier), sizeof(v));
#endif
}

/* The same of 8 and of 4 bytes, aligned to as many. */
__device__ __forceinline__ void cuda_cluster_send8(cuda_cluster_place address, float first,
                                                   float second, cuda_cluster_place barrier)
{
#ifndef CUDA_HOST_LAYER
    asm volatile(
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.f32 [%0], {%1, %2}, [%3];" ::"r"(
            address),
        "f"(first), "f"(second), "r"(barrier)
        : "memory");
#else
    reinterpret_cast<float *>(address)[0] = first;
    reinterpret_cast<float *>(address)[1] = second;
    cuda_host_mbarrier_complete(reinterpret_cast<void *>(barrier), 2 * sizeof(float));
#endif
}

__device__ __forceinline__ void cuda_cluster_send4(cuda_cluster_place address, float value,
                                                   cuda_cluster_place barrier)
{
#ifndef CUDA_HOST_LAYER
    asm volatile(
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];" ::"r"(address),
        "f"(value), "r"(barrier)
        : "memory");
#else
    *reinterpret_cast<float *>(address) = value;
    cuda_host_mbarrier_complete(reinterpret_cast<void *>(barrier), sizeof(float));
#endif
}

/* `bytes` (a multiple of 16; both sides aligned to 16) of this block's shared memory by the copy
 * engine, by one thread: the mbarrier counts them as above. What ordinary stores have written needs
 * cuda_cluster_publish() first. */
__device__ __forceinline__ void cuda_cluster_copy(cuda_cluster_place address, const void *from,
                                                  unsigned bytes, cuda_cluster_place barrier)
{
#ifndef CUDA_HOST_LAYER
    asm volatile(
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
        " [%0], [%1], %2, [%3];" ::"r"(address),
        "r"(cuda_shared_address(from)), "r"(bytes), "r"(barrier)
        : "memory");
#else
    memcpy(reinterpret_cast<void *>(address), from, bytes);
    cuda_host_mbarrier_complete(reinterpret_cast<void *>(barrier), bytes);
#endif
}

/* Between ordinary stores to shared memory, of this or another block, and what reads it by copies
 * or by wgmma: each thread that has stored, in front of the barrier, or that reads, behind it. */
__device__ __forceinline__ void cuda_cluster_publish(void)
{
#ifndef CUDA_HOST_LAYER
    asm volatile("fence.proxy.async;" ::: "memory");
#endif
}

#endif
