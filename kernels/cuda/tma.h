/* SPDX-License-Identifier: MIT */
/*
 * The bulk copy engine (sm_90): one thread starts a copy of a whole box of a tensor, or of bytes in
 * a row, between global and shared memory. Loads complete on an mbarrier (mbarrier.h); stores are
 * in groups of the thread that started them, which are waited for in order.
 *
 * A tensor is described on the host by a CUtensorMap (tma_matrix()), a parameter of the kernel:
 *
 *     __global__ void kernel(const __grid_constant__ CUtensorMap map)
 *
 * With swizzle, a row of the box is 128 bytes at most (64 bf16, 32 floats) and its 16-byte pieces
 * lie as cuda_swizzle<8> says, in groups of 8 rows that are aligned to 1024 bytes: what wgmma
 * reads. Elements outside of the tensor are read as zeros and not written; but a store cuts rows at
 * multiples of 16 bytes, so it writes beyond a last column that is none (seen on an H200).
 *
 * Source: PTX ISA, "Data Movement and Conversion Instructions: cp.async.bulk"; CUDA Driver API,
 * "Tensor Map Object Managment".
 */
#ifndef HARNESS_KERNELS_CUDA_TMA_H
#define HARNESS_KERNELS_CUDA_TMA_H

#include "kernels/cuda/mbarrier.h"

#include <cuda.h>

/* ---- On the host (tma.cu) ---- */

/* TMA_TF32: floats, rounded to tf32 as they are loaded (to nearest even, as seen on an H200). */
enum tma_element { TMA_BF16, TMA_FP32, TMA_TF32 };

/* A row-major matrix. Pointer and pitch are multiples of 16 bytes. */
struct tma_matrix {
    enum tma_element element;
    const void *data;
    int64_t rows, cols; /* elements */
    int64_t ld;         /* elements between rows */
    int box_rows, box_cols;
    bool swizzle; /* of 128 bytes: box_cols elements are 128 bytes */
};

/* Describes the matrix. cudaErrorInvalidValue where the rules above are broken,
 * cudaErrorCallRequiresNewerDriver where the driver knows no tensor maps. */
cudaError_t tma_describe(CUtensorMap *map, const struct tma_matrix *m);

/* `count` such matrices, `pitch` elements from one to the next (those bytes a multiple of 16, too):
 * a box is of one of them, and what lies outside of it is outside of the tensor. */
struct tma_matrices {
    struct tma_matrix each;
    int64_t count, pitch;
};

cudaError_t tma_describe_3d(CUtensorMap *map, const struct tma_matrices *m);

/* ---- On the device ---- */

__device__ __forceinline__ void tma_prefetch(const CUtensorMap *map)
{
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/* The box with its first element at (row, col) to `shared` (128-byte aligned; 1024 with swizzle).
 */
__device__ __forceinline__ void tma_load(void *shared, const CUtensorMap *map, cuda_mbarrier *full,
                                         int row, int col)
{
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
        " [%0], [%1, {%3, %4}], [%2];" ::"r"(cuda_shared_address(shared)),
        "l"(map), "r"(cuda_shared_address(full)), "r"(col), "r"(row)
        : "memory");
}

/* The same to the same place of all blocks of the cluster whose bit is set in `ranks`, completing
 * on the barrier in the same place of each. */
__device__ __forceinline__ void tma_load_to(void *shared, const CUtensorMap *map,
                                            cuda_mbarrier *full, int row, int col, uint16_t ranks)
{
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(cuda_shared_address(shared)),
        "l"(map), "r"(cuda_shared_address(full)), "r"(col), "r"(row), "h"(ranks)
        : "memory");
}

/* As tma_load(), of matrix `which`. */
__device__ __forceinline__ void tma_load_3d(void *shared, const CUtensorMap *map,
                                            cuda_mbarrier *full, int which, int row, int col)
{
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
        " [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(cuda_shared_address(shared)),
        "l"(map), "r"(cuda_shared_address(full)), "r"(col), "r"(row), "r"(which)
        : "memory");
}

/* The box at (row, col) from `shared`. The threads that wrote it have each done wgmma_publish(),
 * and met. */
__device__ __forceinline__ void tma_store(const CUtensorMap *map, const void *shared, int row,
                                          int col)
{
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
        "r"(cuda_shared_address(shared)), "r"(col), "r"(row)
        : "memory");
}

/* `bytes` (a multiple of 16; both sides aligned to 16) in a row. */
__device__ __forceinline__ void tma_load_bytes(void *shared, const void *from, unsigned bytes,
                                               cuda_mbarrier *full)
{
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
        " [%0], [%1], %2, [%3];" ::"r"(cuda_shared_address(shared)),
        "l"(from), "r"(bytes), "r"(cuda_shared_address(full))
        : "memory");
}

__device__ __forceinline__ void tma_store_bytes(void *to, const void *shared, unsigned bytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
                 "r"(cuda_shared_address(shared)), "r"(bytes)
                 : "memory");
}

/* Ends a group of stores of this thread. */
__device__ __forceinline__ void tma_store_commit(void)
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/* Until at most ALLOW groups of this thread still read their shared memory. */
template <int ALLOW> __device__ __forceinline__ void tma_store_wait_read(void)
{
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(ALLOW) : "memory");
}

/* Until at most ALLOW groups of this thread are not yet written. */
template <int ALLOW> __device__ __forceinline__ void tma_store_wait(void)
{
    asm volatile("cp.async.bulk.wait_group %0;" ::"n"(ALLOW) : "memory");
}

#endif
