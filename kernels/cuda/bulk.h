/* SPDX-License-Identifier: MIT */
/*
 * Bytes in a row by the copy engine (sm_90): one thread starts a copy of any length from global to
 * shared memory, which ends on an mbarrier (mbarrier.h), or has the L2 fetch them ahead of time.
 * Boxes of tensors are in tma.h.
 *
 * Source: PTX ISA, "Data Movement and Conversion Instructions: cp.async.bulk",
 * "cp.async.bulk.prefetch".
 */
#ifndef HARNESS_KERNELS_CUDA_BULK_H
#define HARNESS_KERNELS_CUDA_BULK_H

#include "kernels/cuda/mbarrier.h"

/* `bytes` (a multiple of 16; both sides aligned to 16); `full` of this block counts them. */
__device__ __forceinline__ void cuda_bulk_load(void *shared, const void *from, unsigned bytes,
                                               cuda_mbarrier *full)
{
#ifndef CUDA_HOST_LAYER
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
        " [%0], [%1], %2, [%3];" ::"r"(cuda_shared_address(shared)),
        "l"(from), "r"(bytes), "r"(cuda_shared_address(full))
        : "memory");
#else
    cuda_host_bulk_copy(shared, from, bytes, full);
#endif
}

/* A hint; the same rules. */
__device__ __forceinline__ void cuda_bulk_prefetch(const void *from, unsigned bytes)
{
#ifndef CUDA_HOST_LAYER
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes));
#else
    (void)from, (void)bytes;
#endif
}

#endif
