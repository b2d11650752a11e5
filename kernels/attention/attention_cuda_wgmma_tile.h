/* SPDX-License-Identifier: MIT */
/*
 * Sizes of the attention kernel for wgmma (attention_cuda_wgmma.h), and what a consumer, a warp
 * group of 64 queries, does with a tile of keys in its registers: products started, scores masked,
 * made weights, and packed as the next product's A; sums scaled and stored.
 */
#ifndef HARNESS_KERNELS_ATTENTION_ATTENTION_CUDA_WGMMA_TILE_H
#define HARNESS_KERNELS_ATTENTION_ATTENTION_CUDA_WGMMA_TILE_H

#include "kernels/attention/attention_cuda_fp8.h"
#include "kernels/attention/attention_cuda_wgmma_plan.h"
#include "kernels/cuda/bf16.h"
#include "kernels/cuda/mbarrier.h"
#include "kernels/cuda/mma.h"
#include "kernels/cuda/swizzle.h"
#include "kernels/cuda/wgmma_fp8.h"

/* By how much, in log2, scores may pass the maximum before sums are scaled. Weights of e4m3 have
 * the largest one at 2^8 instead, below the type's 448: so those down to 2^-14 of it keep all bits.
 */
constexpr float ATTENTION_SLACK = 8;

/* A tile of queries, and how many tiles of keys it sees; 0: there is none left. */
struct alignas(16) attention_task {
    attention_block at;
    int tiles;
};

/* KV_ROWS: of 128 bytes, of 64 columns of keys or values. */
template <int D_, bool CAUSAL_, attention_wgmma_knobs KNOBS_, int KV_ROWS = KNOBS_.keys>
struct attention_wgmma_tiling {
    static constexpr attention_wgmma_knobs KNOBS = KNOBS_;
    static constexpr bool CAUSAL = CAUSAL_, TURNS = KNOBS.turns, FP8 = false;
    static constexpr int D = D_, GROUPS = KNOBS.groups, KEYS = KNOBS.keys, STAGES = KNOBS.stages;
    static constexpr int GROUP = 128; /* threads of a warp group */
    static constexpr int ROWS = WGMMA_M * GROUPS, THREADS = GROUP * (GROUPS + 1);
    static constexpr int PRODUCER_REGISTERS = GROUPS == 3 ? 32 : 40;
    static constexpr int CONSUMER_REGISTERS = GROUPS == 3 ? 160 : 232;
    static constexpr int BESIDE = 1;      /* keys of a row */
    static constexpr int BLOCKS = D / 64; /* of 64 columns, 128 bytes a row, in a tile */
    static constexpr int Q_BLOCK = WGMMA_M * WGMMA_ROW_BYTES, KV_BLOCK = KV_ROWS * WGMMA_ROW_BYTES;
    static constexpr int Q_BYTES = BLOCKS * Q_BLOCK, KV_BYTES = BLOCKS * KV_BLOCK;
    /* Whether tiles in front of the last one reach over the diagonal, and a row may see nothing of
     * the last one. */
    static constexpr bool RAGGED = CAUSAL && KEYS % ROWS != 0;
    static constexpr int READERS = GROUPS * GROUP / CUDA_WARP; /* whose arrivals free a stage */

    static_assert(D == 64 || D == 128, "whole blocks of 64 columns, sums in registers");
    static_assert(GROUPS >= 1 && GROUPS <= 3, "the splits of registers that are written out");
    static_assert(GROUPS > 1 || !TURNS, "there is nobody to take turns with");
    static_assert(KEYS % 16 == 0, "whole steps of a product, and groups of swizzled rows");

    struct layout {
        unsigned char q[GROUPS][Q_BYTES];
        unsigned char k[STAGES][KV_BYTES], v[STAGES][KV_BYTES];
        attention_task task[GROUPS]; /* with the queries */
        cuda_mbarrier q_full[GROUPS], q_empty[GROUPS];
        cuda_mbarrier k_full[STAGES], k_empty[STAGES], v_full[STAGES], v_empty[STAGES];
    };
    static constexpr int SHARED = (int)sizeof(layout);

    struct state {
        float o[D / 2];
        float most[2], sum[2]; /* of rows l / 4 and l / 4 + 8 of a warp's 16; sums: own columns */
    };
    using scores = float[KEYS / 2];
    using weights = uint32_t[KEYS / 16][4];
};

/* The same of e4m3: Q and K have one block of columns, and V^T a row of KEYS bytes for each column
 * of the head; of 64 columns a row of K has two keys (attention_cuda_fp8.h), so both are D rows. A
 * map counts bytes in pairs, as elements of two bytes. */
template <int D_, bool CAUSAL_, attention_wgmma_knobs KNOBS_>
struct attention_fp8_tiling : attention_wgmma_tiling<64, CAUSAL_, KNOBS_, D_> {
    static constexpr bool FP8 = true;
    static constexpr int D = D_, KEYS = KNOBS_.keys, BESIDE = attention_fp8_beside(D);

    static_assert(D == 64 || D == 128, "whole rows of 128 bytes");
    static_assert(KEYS == ATTENTION_FP8_KEYS && KEYS == WGMMA_ROW_BYTES,
                  "a row of V^T is a tile's");

    struct state {
        float o[D / 2];
        float most[2], sum[2];
    };
    using weights = uint32_t[KEYS / 32][4];
};

/* What the kernel gets beside the tensors' maps. */
struct attention_wgmma_work {
    bf16 *out;
    int64_t ldo;
    int seq, heads;
    float scale; /* of scores, in units of log2 */
    attention_order order;
    unsigned *queue;      /* null: each block has its turns in the order */
    const float *largest; /* of e4m3: of q, k and v of each head of each sequence; else null */
};

/* By what the scores of these queries are multiplied, and their values, beside `scale`: of e4m3
 * what was divided out of both factors. */
template <class C>
__device__ __forceinline__ const float *attention_largest(const attention_wgmma_work &a,
                                                          const attention_block &b)
{
    return a.largest + 3 * (b.token / a.seq * a.heads + b.head / C::D);
}

template <class C>
__device__ __forceinline__ float attention_scale_of(const attention_wgmma_work &a,
                                                    const attention_block &b)
{
    if constexpr (C::FP8) {
        const float *largest = attention_largest<C>(a, b);
        return a.scale * (largest[0] * (1 / CUDA_E4M3_MAX)) * (largest[1] * (1 / CUDA_E4M3_MAX));
    } else {
        return a.scale;
    }
}

template <class C>
__device__ __forceinline__ float attention_value_of(const attention_wgmma_work &a,
                                                    const attention_block &b)
{
    if constexpr (C::FP8)
        return attention_largest<C>(a, b)[2] * (1 / CUDA_E4M3_MAX);
    else
        return 1.0f;
}

/* The same in all lanes, and known to be: branches and addresses made of it need no lanes. */
__device__ __forceinline__ int attention_uniform(int x)
{
    return __shfl_sync(0xffffffffu, x, 0);
}

/* Keeps what is computed from values in front of this line behind it, and the values alive up to
 * here: the unit writes (and reads) registers until its wait, of which the compiler knows nothing.
 */
template <int N> __device__ __forceinline__ void attention_hold(float (&x)[N])
{
#pragma unroll
    for (int i = 0; i < N; i++)
        asm volatile("" : "+f"(x[i])::"memory");
}

template <int N> __device__ __forceinline__ void attention_hold(uint32_t (&x)[N][4])
{
#pragma unroll
    for (int i = 0; i < N; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
            asm volatile("" : "+r"(x[i][j])::"memory");
}

/* What the sums are made of is computed in front of the wait behind this line: ptxas would move the
 * wait up, and the exponentials out of the shadow of the products, but not over a store that
 * depends on them. No sum is negative, so nothing is stored. (A trap in its place would do the
 * same, and have ptxas ignore setmaxnreg.) */
__device__ __forceinline__ void attention_in_front(const float (&sum)[2])
{
    asm volatile(
        "{ .reg .pred negative; setp.lt.f32 negative, %0, 0f00000000;"
        "@negative st.shared.f32 [%1], %0; }" ::"f"(sum[0] + sum[1]),
        "r"(0)
        : "memory");
}

/* Starts S = Q K^T. q and k are descriptors of the group's first rows. */
template <class C>
__device__ __forceinline__ void attention_score(typename C::scores &s, uint64_t q, uint64_t k)
{
    if constexpr (C::FP8) {
        constexpr int keys = C::KEYS / C::BESIDE;
#pragma unroll
        for (int step = 0; step < WGMMA_ROW_BYTES / WGMMA_K_BYTES; step++) {
            int inside = step * WGMMA_K_BYTES, part = inside / C::D, first = inside % C::D;
            uint64_t q_at = q + (uint64_t)(first >> 4), k_at = k + (uint64_t)(inside >> 4);
            float(&at)[keys / 2] = reinterpret_cast<float(&)[keys / 2]>(s[part * (keys / 2)]);
            wgmma_e4m3<keys>(at, q_at, k_at, first > 0);
        }
    } else {
#pragma unroll
        for (int step = 0; step < C::D / 16; step++) {
            int block = step / 4, inside = step % 4 * WGMMA_K_BYTES;
            uint64_t q_at = q + (uint64_t)((block * C::Q_BLOCK + inside) >> 4);
            uint64_t k_at = k + (uint64_t)((block * C::KV_BLOCK + inside) >> 4);
            wgmma_bf16<C::KEYS>(s, q_at, k_at, step > 0);
        }
    }
    wgmma_commit();
}

/* Starts O += P V. */
template <class C>
__device__ __forceinline__ void attention_add(float (&o)[C::D / 2], const typename C::weights &p,
                                              uint64_t v)
{
    constexpr int steps = C::FP8 ? C::KEYS / 32 : C::KEYS / 16;

#pragma unroll
    for (int step = 0; step < steps; step++)
        if constexpr (C::FP8)
            wgmma_e4m3<C::D>(o, p[step], v + (uint64_t)(step * WGMMA_K_BYTES >> 4), 1);
        else
            wgmma_bf16<C::D, true>(o, p[step], v + (uint64_t)((step * 16 * WGMMA_ROW_BYTES) >> 4),
                                   1);
    wgmma_commit();
}

/* Hides keys from `keys` on, and under the diagonal keys behind their query; the thread's first row
 * is query `query`, both counted from the tile's first key. */
template <class C>
__device__ __forceinline__ void attention_mask(typename C::scores &s, int keys, int query)
{
    const int col = 2 * (cuda_lane() % 4);

#pragma unroll
    for (int i = 0; i < C::KEYS / 2; i++) {
        int key = 8 * (i / 4) + i % 2, row = i / 2 % 2 * 8;
        if (C::CAUSAL ? key - row > query - col : key >= keys - col)
            s[i] = -INFINITY;
    }
}

/* Moves the maxima of both rows up to the scores, where these pass them by more than the slack.
 * Returns the factors for the sums so far. */
template <class C>
__device__ __forceinline__ void attention_raise_rows(float (&factor)[2], float (&base)[2],
                                                     float (&most)[2], const typename C::scores &s,
                                                     float scale)
{
#pragma unroll
    for (int half = 0; half < 2; half++) {
        float even = s[2 * half], odd = s[2 * half + 1];
#pragma unroll
        for (int i = 4 + 2 * half; i < C::KEYS / 2; i += 4) {
            even = fmaxf(even, s[i]);
            odd = fmaxf(odd, s[i + 1]);
        }
        float before = most[half], score = cuda_warp_max<4>(fmaxf(even, odd)) * scale;
        if (score > before + (C::FP8 ? 0.0f : ATTENTION_SLACK))
            most[half] = score;
        /* A row that sees nothing yet has weights and a factor of zero. */
        base[half] = C::RAGGED && most[half] == -INFINITY ? 0.0f : most[half];
        factor[half] = cuda_exp2(before - base[half]);
        if constexpr (C::FP8)
            base[half] -= ATTENTION_SLACK;
    }
}

/* Scores to weights, which are added to the sums. */
template <class C>
__device__ __forceinline__ void attention_weigh(typename C::scores &s, float (&sum)[2],
                                                const float (&base)[2], float scale)
{
#pragma unroll
    for (int i = 0; i < C::KEYS / 2; i++) {
        s[i] = cuda_exp2(fmaf(s[i], scale, -base[i / 2 % 2]));
        sum[i / 2 % 2] += s[i];
    }
}

/* Elements 8 step .. of D are A of step `step`; of e4m3 elements 16 step .., in the order of
 * attention_cuda_fp8.h: of two times 8 columns the thread's pairs are four bytes. */
template <class C>
__device__ __forceinline__ void attention_pack(typename C::weights &p, const typename C::scores &s)
{
    if constexpr (C::FP8) {
#pragma unroll
        for (int i = 0; i < C::KEYS / 8; i++) {
            const float *near = &s[16 * (i / 4) + 8 * (i / 2 % 2) + 2 * (i % 2)], *far = near + 4;
            p[i / 4][i % 4] = cuda_e4m3x4(near[0], near[1], far[0], far[1]);
        }
    } else {
#pragma unroll
        for (int i = 0; i < C::KEYS / 4; i++)
            p[i / 4][i % 4] = cuda_bf16x2(s[2 * i], s[2 * i + 1]);
    }
}

/* Most tiles leave the maxima of all of a warp's rows where they are. */
template <int N>
__device__ __forceinline__ void attention_scale(float (&o)[N], const float (&factor)[2])
{
    if (__any_sync(0xffffffffu, factor[0] != 1.0f || factor[1] != 1.0f)) {
#pragma unroll
        for (int i = 0; i < N; i++)
            o[i] *= factor[i / 2 % 2];
    }
}

/* Of 4 words a lane of 4 neighbours, word i of lane j goes to word j of lane i. */
__device__ __forceinline__ void attention_exchange(uint32_t (&w)[4])
{
#pragma unroll
    for (int bit = 1; bit <= 2; bit *= 2) {
        bool upper = (cuda_lane() & bit) != 0;
#pragma unroll
        for (int i = 0; i < 2; i++) {
            uint32_t &low = w[bit == 1 ? 2 * i : i], &high = w[bit == 1 ? 2 * i + 1 : i + 2];
            uint32_t got = __shfl_xor_sync(0xffffffffu, upper ? low : high, bit);
            (upper ? low : high) = got;
        }
    }
}

/* O / sum to global memory: after the exchange a lane has 8 columns, 4 lanes 64 bytes of a row. O
 * starts again at zero. */
template <class C>
__device__ __forceinline__ void attention_finish(float (&o)[C::D / 2], const float (&sum)[2],
                                                 const attention_wgmma_work &a,
                                                 const attention_block &b, int row)
{
#pragma unroll
    for (int half = 0; half < 2; half++) {
        float factor = attention_value_of<C>(a, b) / cuda_warp_sum<4>(sum[half]);
        int query = b.first + row + 8 * half;
        bf16 *to = attention_at(a.out, a.ldo, b, query) + 8 * (cuda_lane() % 4);
#pragma unroll
        for (int group = 0; group < C::D / 32; group++) {
            uint32_t w[4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const float *pair = &o[16 * group + 4 * i + 2 * half];
                w[i] = cuda_bf16x2(pair[0] * factor, pair[1] * factor);
            }
            attention_exchange(w);
            if (query < a.seq)
                *reinterpret_cast<uint4 *>(to + 32 * group) = make_uint4(w[0], w[1], w[2], w[3]);
        }
    }
#pragma unroll
    for (int i = 0; i < C::D / 2; i++)
        o[i] = 0;
}

#endif
