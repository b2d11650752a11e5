/* SPDX-License-Identifier: MIT */
/*
 * The products of gpt_cuda_cluster.h with all of h or of u by wgmma: their 64 rows are just its M.
 * Two warpgroups have half of the columns each. For .cu files that are compiled for sm_90a.
 *
 * Limit: shared memory, 128 bytes a cycle: each warpgroup reads all of A.
 */
#ifndef HARNESS_MODELS_GPT_CUDA_CLUSTER_WGMMA_H
#define HARNESS_MODELS_GPT_CUDA_CLUSTER_WGMMA_H

#include "kernels/cuda/bf16.h"
#include "kernels/cuda/reduce.h"
#include "models/gpt_cluster_layout.h"

#ifndef CUDA_HOST_LAYER
#include "kernels/cuda/wgmma.h"

/* clang-format off */
#define GPT_CLUSTER_0_7   "%0,%1,%2,%3,%4,%5,%6,%7"
#define GPT_CLUSTER_0_11  GPT_CLUSTER_0_7 ",%8,%9,%10,%11"
#define GPT_CLUSTER_0_15  GPT_CLUSTER_0_11 ",%12,%13,%14,%15"
#define GPT_CLUSTER_0_23  GPT_CLUSTER_0_15 ",%16,%17,%18,%19,%20,%21,%22,%23"
#define GPT_CLUSTER_0_47  WGMMA_0_31                                                               \
    ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47"
/* clang-format on */

/* d = a b, or d += a b with `add`: the shapes that wgmma.h has not written out. */
template <int N>
__device__ __forceinline__ void gpt_cluster_step(float (&d)[N / 2], uint64_t a, uint64_t b, int add)
{
    if constexpr (N == 16)
        asm volatile(
            WGMMA_TEXT("m64n16k16", "bf16.bf16", GPT_CLUSTER_0_7, "%8", "%9", "%10", ", 0, 0")
            : WGMMA_D8(d, 0)
            : "l"(a), "l"(b), "r"(add));
    else if constexpr (N == 24)
        asm volatile(
            WGMMA_TEXT("m64n24k16", "bf16.bf16", GPT_CLUSTER_0_11, "%12", "%13", "%14", ", 0, 0")
            : WGMMA_D8(d, 0), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11])
            : "l"(a), "l"(b), "r"(add));
    else if constexpr (N == 32)
        asm volatile(
            WGMMA_TEXT("m64n32k16", "bf16.bf16", GPT_CLUSTER_0_15, "%16", "%17", "%18", ", 0, 0")
            : WGMMA_D8(d, 0), WGMMA_D8(d, 8)
            : "l"(a), "l"(b), "r"(add));
    else if constexpr (N == 48)
        asm volatile(
            WGMMA_TEXT("m64n48k16", "bf16.bf16", GPT_CLUSTER_0_23, "%24", "%25", "%26", ", 0, 0")
            : WGMMA_D8(d, 0), WGMMA_D8(d, 8), WGMMA_D8(d, 16)
            : "l"(a), "l"(b), "r"(add));
    else if constexpr (N == 96)
        asm volatile(
            WGMMA_TEXT("m64n96k16", "bf16.bf16", GPT_CLUSTER_0_47, "%48", "%49", "%50", ", 0, 0")
            : WGMMA_D32(d, 0), WGMMA_D8(d, 32), WGMMA_D8(d, 40)
            : "l"(a), "l"(b), "r"(add));
    else
        wgmma_bf16<N>(d, a, b, add);
}

#endif

/* This warpgroup's half of the product of 64 rows with N rows of `b`, over K elements of either;
 * both swizzled, gpt_cluster_swizzled(). */
template <int N, int K> struct gpt_cluster_half {
    static constexpr int HALF = N / 2, SUMS = HALF / 2;
    static constexpr int ROW_BYTES = 128, K_BYTES = 32;
    static constexpr int A_CHUNK = GPT_CLUSTER_ROWS * ROW_BYTES, B_CHUNK = N * ROW_BYTES;
    float sum[SUMS];

    static_assert(N % 16 == 0 && K % 16 == 0, "groups of 8 rows, whole steps");

    static __device__ __forceinline__ int group(void)
    {
        return cuda_warp() / 4;
    }
#ifndef CUDA_HOST_LAYER
    __device__ __forceinline__ void multiply(const void *a, const void *b, bool more)
    {
        uint64_t x = wgmma_matrix(cuda_shared_address(a));
        uint64_t w = wgmma_matrix(cuda_shared_address(b) + (uint32_t)(group() * HALF * ROW_BYTES));

        __syncwarp();
        wgmma_fence();
#pragma unroll
        for (int i = 0; i < K / 16; i++)
            gpt_cluster_step<HALF>(sum, x + (uint64_t)((i / 4 * A_CHUNK + i % 4 * K_BYTES) >> 4),
                                   w + (uint64_t)((i / 4 * B_CHUNK + i % 4 * K_BYTES) >> 4),
                                   i > 0 || more);
        wgmma_commit();
        wgmma_wait<0>();
#pragma unroll
        for (int i = 0; i < SUMS; i++) /* nothing that uses them moves in front of this */
            asm volatile("" : "+f"(sum[i])::"memory");
    }
#else
    /* What this thread gets of it, for tests of all that is around. */
    void multiply(const void *a, const void *b, bool more)
    {
        const bf16 *x = static_cast<const bf16 *>(a), *w = static_cast<const bf16 *>(b);
        int i = 0;

        each([&](int row, int col, float, float) {
            for (int c = 0; c < 2; c++, i++) {
                float s = more ? sum[i] : 0.0f;
                for (int k = 0; k < K; k++)
                    s += cuda_float(x[gpt_cluster_swizzled(GPT_CLUSTER_ROWS, row, k)]) *
                         cuda_float(w[gpt_cluster_swizzled(N, col + c, k)]);
                sum[i] = s;
            }
        });
    }
#endif

    /* store(row, col, first, second) of two neighbouring columns. */
    template <class S> __device__ __forceinline__ void each(const S &store) const
    {
        int row = 16 * (cuda_warp() % 4) + cuda_lane() / 4;

#pragma unroll
        for (int i = 0; i < SUMS; i += 2)
            store(row + 8 * (i / 2 % 2), HALF * group() + 8 * (i / 4) + 2 * (cuda_lane() % 4),
                  sum[i], sum[i + 1]);
    }
};

#endif
