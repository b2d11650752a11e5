/* SPDX-License-Identifier: MIT */
/*
 * What a block of gpt_cuda_cluster.h computes by itself, out of its own shared memory: products of
 * 16 to 64 rows by mma.sync, and the attention of a head. For .cu files.
 */
#ifndef HARNESS_MODELS_GPT_CUDA_CLUSTER_PRODUCTS_H
#define HARNESS_MODELS_GPT_CUDA_CLUSTER_PRODUCTS_H

#include "kernels/cuda/math.h"
#include "kernels/cuda/mma.h"
#include "kernels/cuda/reduce.h"
#include "models/gpt_cluster_layout.h"

/* ---- Products ---- */

/* This lane's row of a tile of 16 x 16 of A (16 rows, k) for mma_load4(), and of B (16 n, k). */
__device__ __forceinline__ int gpt_cluster_a(int pitch)
{
    return cuda_lane() % 16 * pitch + 8 * (cuda_lane() / 16);
}

__device__ __forceinline__ int gpt_cluster_b(int pitch)
{
    return (cuda_lane() % 8 + 8 * (cuda_lane() / 16)) * pitch + 8 * (cuda_lane() / 8 % 2);
}

template <int HIGH, int WIDE> struct gpt_cluster_fragments {
    uint32_t a[HIGH][4], b[WIDE][4];

    __device__ __forceinline__ void load(const bf16 *const (&rows)[HIGH],
                                         const bf16 *const (&cols)[WIDE], int k)
    {
#pragma unroll
        for (int i = 0; i < HIGH; i++)
            mma_load4(a[i], rows[i] + k);
#pragma unroll
        for (int j = 0; j < WIDE; j++)
            mma_load4(b[j], cols[j] + k);
    }
    __device__ __forceinline__ void multiply(float (&sum)[HIGH][2 * WIDE][4]) const
    {
#pragma unroll
        for (int j = 0; j < 2 * WIDE; j++) {
            uint32_t pair[2] = { b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1] };
#pragma unroll
            for (int i = 0; i < HIGH; i++)
                mma_bf16(sum[i][j], a[i], pair);
        }
    }
};

/* This warp's share, of WARPS, of the product of TILES row tiles of `a` with PAIRS times 16 rows of
 * `b`, over K elements of either. Row tile i is where place(i) says. */
template <int TILES, int PAIRS, int K, int WARPS> struct gpt_cluster_product {
    static constexpr gpt_cluster_warps warps = gpt_cluster_divide(TILES, PAIRS, WARPS);
    static constexpr int HIGH = warps.high, WIDE = warps.wide;
    float sum[HIGH][2 * WIDE][4];

    __device__ __forceinline__ void zero(void)
    {
#pragma unroll
        for (int i = 0; i < HIGH * 2 * WIDE * 4; i++)
            sum[i / (8 * WIDE)][i / 4 % (2 * WIDE)][i % 4] = 0.0f;
    }
    static __device__ __forceinline__ int tile(int i)
    {
        return cuda_warp() % warps.down * HIGH + i;
    }
    static __device__ __forceinline__ int pair(int j)
    {
        return cuda_warp() / warps.down + j * warps.along;
    }

    template <class F>
    __device__ __forceinline__ void add(const bf16 *a, int pitch_a, const bf16 *b, int pitch_b,
                                        const F &place)
    {
        gpt_cluster_fragments<HIGH, WIDE> f[2];
        const bf16 *rows[HIGH], *cols[WIDE];

        if (cuda_warp() >= WARPS)
            return;
#pragma unroll
        for (int i = 0; i < HIGH; i++)
            rows[i] = a + GPT_CLUSTER_TILE * place(tile(i)) * pitch_a + gpt_cluster_a(pitch_a);
#pragma unroll
        for (int j = 0; j < WIDE; j++) /* beyond the last one it again, for nothing */
            cols[j] =
                b + 16 * (pair(j) < PAIRS ? pair(j) : PAIRS - 1) * pitch_b + gpt_cluster_b(pitch_b);
        f[0].load(rows, cols, 0);
#pragma unroll
        for (int k = 0; k < K; k += 16) {
            if (k + 16 < K)
                f[(k / 16 + 1) % 2].load(rows, cols, k + 16);
            f[k / 16 % 2].multiply(sum);
        }
    }

    /* store(row, col, first, second) of two neighbouring columns. */
    template <class F, class S>
    __device__ __forceinline__ void each(const F &place, const S &store) const
    {
        if (cuda_warp() >= WARPS)
            return;
#pragma unroll
        for (int i = 0; i < HIGH; i++)
#pragma unroll
            for (int j = 0; j < 2 * WIDE; j++)
#pragma unroll
                for (int e = 0; e < 4; e += 2) {
                    mma_at at = mma_c(cuda_lane(), e);
                    if (pair(j / 2) < PAIRS)
                        store(GPT_CLUSTER_TILE * place(tile(i)) + at.row,
                              16 * pair(j / 2) + j % 2 * 8 + at.col, sum[i][j][e],
                              sum[i][j][e + 1]);
                }
    }
};

__device__ __forceinline__ void gpt_cluster_put(bf16 *to, float first, float second)
{
    *reinterpret_cast<uint32_t *>(to) = cuda_bf16x2(first, second);
}

/* ---- Attention of one head ---- */

/* A warp's 16 queries, which are row tile t, against the keys of the tiles 0..t: scores and
 * weights stay in registers, and all keys are there at once, so that the softmax is a plain one.
 * wide [64][qkv_row] holds q, k and v; the result takes the place of q, which no other warp reads.
 */
template <class P> struct gpt_cluster_attention {
    static constexpr int STEPS = P::head / 16, KEYS = GPT_CLUSTER_ROWS / 8;
    float score[KEYS][4], sum[2], out[2 * STEPS][4];

    __device__ __forceinline__ void scores(const bf16 *wide, int t)
    {
        uint32_t q[STEPS][4], k[4];

#pragma unroll
        for (int d = 0; d < STEPS; d++)
            mma_load4(q[d], wide + GPT_CLUSTER_TILE * t * P::qkv_row + gpt_cluster_a(P::qkv_row) +
                                16 * d);
#pragma unroll
        for (int j = 0; j < KEYS / 2; j++) {
#pragma unroll
            for (int e = 0; e < 8; e++)
                score[2 * j + e / 4][e % 4] = 0.0f;
            if (j > t)
                continue;
#pragma unroll
            for (int d = 0; d < STEPS; d++) {
                mma_load4(k, wide + 16 * j * P::qkv_row + gpt_cluster_b(P::qkv_row) + P::head +
                                 16 * d);
                uint32_t low[2] = { k[0], k[1] }, high[2] = { k[2], k[3] };
                mma_bf16(score[2 * j], q[d], low);
                mma_bf16(score[2 * j + 1], q[d], high);
            }
        }
    }

    /* score = 2^((score - maximum of the row) scale), 0 beyond the diagonal. A lane has columns of
     * two rows, four lanes a row. Tiles behind the diagonal one are left as they are. */
    __device__ __forceinline__ void weights(int t, float scale)
    {
        float most[2] = { -INFINITY, -INFINITY };

#pragma unroll
        for (int i = 0; i < KEYS * 4; i++) {
            mma_at at = mma_c(cuda_lane(), i % 4);
            float &x = score[i / 4][i % 4];
            if (i / 8 == t && i / 4 % 2 * 8 + at.col > at.row)
                x = -INFINITY;
            if (i / 8 <= t)
                most[i % 4 / 2] = fmaxf(most[i % 4 / 2], x);
        }
#pragma unroll
        for (int i = 0; i < 2; i++) {
            most[i] = cuda_warp_max<4>(most[i]) * scale;
            sum[i] = 0.0f;
        }
#pragma unroll
        for (int i = 0; i < KEYS * 4; i++) {
            float &x = score[i / 4][i % 4];
            if (i / 8 > t)
                continue;
            x = cuda_exp2(fmaf(x, scale, -most[i % 4 / 2]));
            sum[i % 4 / 2] += x;
        }
#pragma unroll
        for (int i = 0; i < 2; i++)
            sum[i] = cuda_warp_sum<4>(sum[i]);
    }

    /* The layout of two n tiles of C is that of A over their 16 columns. */
    __device__ __forceinline__ void values(const bf16 *wide, int t)
    {
        int lane = cuda_lane();
        const bf16 *row = wide + (lane % 16) * P::qkv_row + 2 * P::head + 8 * (lane / 16);

#pragma unroll
        for (int i = 0; i < 2 * STEPS * 4; i++)
            out[i / 4][i % 4] = 0.0f;
#pragma unroll
        for (int j = 0; j < KEYS / 2; j++) {
            if (j > t)
                continue;
            const float(&a)[4] = score[2 * j], (&b)[4] = score[2 * j + 1];
            uint32_t p[4] = { cuda_bf16x2(a[0], a[1]), cuda_bf16x2(a[2], a[3]),
                              cuda_bf16x2(b[0], b[1]), cuda_bf16x2(b[2], b[3]) };
#pragma unroll
            for (int d = 0; d < STEPS; d++) {
                uint32_t v[4];
                mma_load4_transposed(v, row + 16 * j * P::qkv_row + 16 * d);
                uint32_t low[2] = { v[0], v[1] }, high[2] = { v[2], v[3] };
                mma_bf16(out[2 * d], p, low);
                mma_bf16(out[2 * d + 1], p, high);
            }
        }
    }

    __device__ __forceinline__ void run(bf16 *wide, int t)
    {
        scores(wide, t);
        weights(t, 1.442695041f * (P::head == 16 ? 0.25f : 0.1767766953f));
        values(wide, t);
        float inverse[2] = { cuda_reciprocal(sum[0]), cuda_reciprocal(sum[1]) };
#pragma unroll
        for (int i = 0; i < 2 * STEPS * 4; i += 2) {
            mma_at at = mma_c(cuda_lane(), i % 4);
            float scale = inverse[i % 4 / 2];
            gpt_cluster_put(wide + (GPT_CLUSTER_TILE * t + at.row) * P::qkv_row + i / 4 * 8 +
                                at.col,
                            out[i / 4][i % 4] * scale, out[i / 4][i % 4 + 1] * scale);
        }
    }
};

#endif
