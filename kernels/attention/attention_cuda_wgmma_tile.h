/* SPDX-License-Identifier: MIT */
/*
 * Sizes of the attention kernel for wgmma (attention_cuda_wgmma.h), and what a consumer, a warp
 * group of 64 queries, does with a tile of keys in its registers: products started, scores masked,
 * made weights, and packed as the next product's A; sums scaled and stored.
 */
#ifndef HARNESS_KERNELS_ATTENTION_ATTENTION_CUDA_WGMMA_TILE_H
#define HARNESS_KERNELS_ATTENTION_ATTENTION_CUDA_WGMMA_TILE_H

#include "kernels/attention/attention_cuda_wgmma_plan.h"
#include "kernels/cuda/bf16.h"
#include "kernels/cuda/mbarrier.h"
#include "kernels/cuda/mma.h"
#include "kernels/cuda/swizzle.h"
#include "kernels/cuda/wgmma.h"

/* By how much, in log2, scores may pass the maximum before sums are scaled. */
constexpr float ATTENTION_SLACK = 8;

/* A tile of queries, and how many tiles of keys it sees; 0: there is none left. */
struct alignas(16) attention_task {
    attention_block at;
    int tiles;
};

template <int D_, bool CAUSAL_, attention_wgmma_knobs KNOBS_> struct attention_wgmma_tiling {
    static constexpr attention_wgmma_knobs KNOBS = KNOBS_;
    static constexpr bool CAUSAL = CAUSAL_, TURNS = KNOBS.turns;
    static constexpr int D = D_, GROUPS = KNOBS.groups, KEYS = KNOBS.keys, STAGES = KNOBS.stages;
    static constexpr int GROUP = 128; /* threads of a warp group */
    static constexpr int ROWS = WGMMA_M * GROUPS, THREADS = GROUP * (GROUPS + 1);
    static constexpr int PRODUCER_REGISTERS = GROUPS == 3 ? 32 : 40;
    static constexpr int CONSUMER_REGISTERS = GROUPS == 3 ? 160 : 232;
    static constexpr int BLOCKS = D / 64; /* of 64 columns, 128 bytes a row, in a tile */
    static constexpr int Q_BLOCK = WGMMA_M * WGMMA_ROW_BYTES, KV_BLOCK = KEYS * WGMMA_ROW_BYTES;
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

/* What the kernel gets beside the tensors' maps. */
struct attention_wgmma_work {
    bf16 *out;
    int64_t ldo;
    int seq, heads;
    float scale; /* of scores, in units of log2 */
    attention_order order;
    unsigned *queue; /* null: each block has its turns in the order */
};

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
#pragma unroll
    for (int step = 0; step < C::D / 16; step++) {
        int block = step / 4, inside = step % 4 * WGMMA_K_BYTES;
        wgmma_bf16<C::KEYS>(s, q + (uint64_t)((block * C::Q_BLOCK + inside) >> 4),
                            k + (uint64_t)((block * C::KV_BLOCK + inside) >> 4), step > 0);
    }
    wgmma_commit();
}

/* Starts O += P V. */
template <class C>
__device__ __forceinline__ void attention_add(float (&o)[C::D / 2], const typename C::weights &p,
                                              uint64_t v)
{
#pragma unroll
    for (int step = 0; step < C::KEYS / 16; step++)
        wgmma_bf16<C::D, true>(o, p[step], v + (uint64_t)((step * 16 * WGMMA_ROW_BYTES) >> 4), 1);
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
        if (score > before + ATTENTION_SLACK)
            most[half] = score;
        /* A row that sees nothing yet has weights and a factor of zero. */
        base[half] = C::RAGGED && most[half] == -INFINITY ? 0.0f : most[half];
        factor[half] = cuda_exp2(before - base[half]);
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

/* Elements 8 step .. of D are A of step `step`. */
template <class C>
__device__ __forceinline__ void attention_pack(typename C::weights &p, const typename C::scores &s)
{
#pragma unroll
    for (int i = 0; i < C::KEYS / 4; i++)
        p[i / 4][i % 4] = cuda_bf16x2(s[2 * i], s[2 * i + 1]);
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
        float factor = 1.0f / cuda_warp_sum<4>(sum[half]);
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
