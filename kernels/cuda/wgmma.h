/* SPDX-License-Identifier: MIT */
/*
 * wgmma, the asynchronous matrix product of a warpgroup (4 warps): sm_90a alone, so only for files
 * that are compiled for it (ARCH 90a, see cmake/HarnessCuda.cmake). There is no model of it on the
 * host layer.
 *
 * A is 64 x K, B is K x 256, both in shared memory with K running fastest, a row of 128 bytes (64
 * bf16, 32 tf32), swizzled in groups of 8 rows (cuda_swizzle<8>): 1024 bytes a group, aligned to
 * 1024. One product takes 32 bytes of K: K = 16 for bf16, 8 for tf32; the next one starts 32 bytes
 * on. D is 64 x 256 in registers, 128 floats a thread.
 *
 * Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions".
 */
#ifndef HARNESS_KERNELS_CUDA_WGMMA_H
#define HARNESS_KERNELS_CUDA_WGMMA_H

#include "kernels/cuda/async.h"

constexpr int WGMMA_M = 64, WGMMA_N = 256, WGMMA_SUMS = WGMMA_M * WGMMA_N / 128;
constexpr int WGMMA_ROW_BYTES = 128, WGMMA_K_BYTES = 32;

/* Of a matrix at a shared-memory address as PTX counts it: bits 0-13 the address, 32-45 the bytes
 * from one group of 8 rows to the next, both over 16; 62-63 the swizzle, 1 for 128 bytes. The bits
 * 16-29 (leading dimension) have no meaning in this layout. */
__host__ __device__ constexpr uint64_t wgmma_matrix(uint32_t address)
{
    return (uint64_t)(address & 0x3ffffu) >> 4 | (uint64_t)(8 * WGMMA_ROW_BYTES >> 4) << 32 |
           (uint64_t)1 << 62;
}

/* Shared memory that was written by ordinary stores becomes visible to wgmma: each writing thread,
 * before the barrier. */
__device__ __forceinline__ void wgmma_publish(void)
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* Before the first product, and wherever the registers of D were touched in between. */
__device__ __forceinline__ void wgmma_fence(void)
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void wgmma_commit(void)
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int ALLOW> __device__ __forceinline__ void wgmma_wait(void)
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(ALLOW) : "memory");
}

/* clang-format off */
#define WGMMA_D8(d, i)                                                                             \
    "+f"((d)[i]), "+f"((d)[(i) + 1]), "+f"((d)[(i) + 2]), "+f"((d)[(i) + 3]),                      \
    "+f"((d)[(i) + 4]), "+f"((d)[(i) + 5]), "+f"((d)[(i) + 6]), "+f"((d)[(i) + 7])
#define WGMMA_D32(d, i)                                                                            \
    WGMMA_D8(d, i), WGMMA_D8(d, (i) + 8), WGMMA_D8(d, (i) + 16), WGMMA_D8(d, (i) + 24)
#define WGMMA_N256                                                                                 \
    "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"                                      \
    "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"                             \
    "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"                             \
    "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63,"                             \
    "%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,"                             \
    "%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95,"                             \
    "%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,"                 \
    "%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127}"
/* clang-format on */

/* d += a b, D 64 x 256 in float. BF16: K = 16 of bf16; else K = 8 of tf32 (whose lower bits are
 * cut off). */
template <bool BF16>
__device__ __forceinline__ void wgmma_256(float (&d)[WGMMA_SUMS], uint64_t a, uint64_t b)
{
    if constexpr (BF16)
        asm volatile(
            "{ .reg .pred add; setp.eq.u32 add, 0, 0;"
            "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 " WGMMA_N256
            ", %128, %129, add, 1, 1, 0, 0; }"
            : WGMMA_D32(d, 0), WGMMA_D32(d, 32), WGMMA_D32(d, 64), WGMMA_D32(d, 96)
            : "l"(a), "l"(b));
    else
        asm volatile(
            "{ .reg .pred add; setp.eq.u32 add, 0, 0;"
            "wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 " WGMMA_N256
            ", %128, %129, add, 1, 1; }"
            : WGMMA_D32(d, 0), WGMMA_D32(d, 32), WGMMA_D32(d, 64), WGMMA_D32(d, 96)
            : "l"(a), "l"(b));
}

#endif
