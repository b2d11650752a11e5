/* SPDX-License-Identifier: MIT */
/*
 * The stream of weights of gpt_cuda_decode.h: one thread has the copy engine fill a ring of chunks
 * in the order in which the warps read them, from the first layer to the head, as far ahead as the
 * ring goes. No barrier of the computation stops it. For .cu files.
 */
#ifndef HARNESS_MODELS_GPT_CUDA_DECODE_STREAM_H
#define HARNESS_MODELS_GPT_CUDA_DECODE_STREAM_H

#include "kernels/cuda/bulk.h"
#include "kernels/cuda/cache.h"
#include "kernels/cuda/reduce.h"
#include "kernels/cuda/vector.h"
#include "models/gpt_decode_layout.h"

/* What this block does of everything. */
struct gpt_decode_place {
    int rank, cluster;
    bool busy; /* the cluster has a head: that of its number */
    int qkv;   /* chunks a layer: rank, rank + 8, ... of the head's */
    struct gpt_decode_share units, rows;

    /* Chunks of a layer, and of the whole. */
    __device__ __forceinline__ int layer_chunks(void) const
    {
        return (busy ? qkv + 1 : 0) + 2 * units.count;
    }
};

template <class P>
__device__ __forceinline__ struct gpt_decode_place gpt_decode_place_of(
    const struct gpt_decode_body &b, int block)
{
    struct gpt_decode_place p;
    int busy_blocks = P::heads * P::blocks, blocks = b.clusters * P::blocks;

    p.rank = block % P::blocks;
    p.cluster = block / P::blocks;
    p.busy = p.cluster < P::heads;
    p.qkv = (P::qkv_chunks - p.rank + P::blocks - 1) / P::blocks;
    if (p.busy) {
        p.units = gpt_decode_share_of(b.busy_units, block, busy_blocks);
    } else {
        p.units = gpt_decode_share_of(P::unit_chunks - b.busy_units, block - busy_blocks,
                                      blocks - busy_blocks);
        p.units.first += b.busy_units;
    }
    p.rows = gpt_decode_share_of((b.vocab + 7) / 8, block, blocks);
    return p;
}

/* The element of a layer where the i-th of this block's chunks of q, k and v starts. */
template <class P>
__device__ __forceinline__ int64_t gpt_decode_qkv_at(const struct gpt_decode_place &p, int i)
{
    int chunk = p.rank + i * P::blocks, which = chunk / P::pieces;
    int row = which * P::width + p.cluster * P::head + chunk % P::pieces * 8;

    return P::at_qkv + (int64_t)row * P::width;
}

/* ---- Filling ---- */

template <class P> struct gpt_decode_filler {
    gpt_decode_shared<P> &s;
    cuda_ring_place<P::stages> at;

    __device__ __forceinline__ void put(const void *from, int bytes)
    {
        cuda_mbarrier_wait(&s.empty[at.stage], at.parity ^ 1);
        cuda_mbarrier_expect(&s.full[at.stage], (unsigned)bytes);
        cuda_bulk_load(s.ring[at.stage], from, (unsigned)bytes, &s.full[at.stage]);
        at.next();
    }
};

/* Biases and norms, which lie between the matrices, on their way to the L2. */
template <class P> __device__ __forceinline__ void gpt_decode_fetch_small(const bf16 *layer)
{
    constexpr unsigned bytes = 2 * P::width;

    cuda_bulk_prefetch(layer + P::at_ln1, 2 * bytes);
    cuda_bulk_prefetch(layer + P::at_qkv_bias, 3 * bytes);
    cuda_bulk_prefetch(layer + P::at_proj_bias, 3 * bytes);
    cuda_bulk_prefetch(layer + P::at_fc_bias, 4 * bytes);
    cuda_bulk_prefetch(layer + P::at_fc2_bias, bytes);
}

template <class P>
__device__ __forceinline__ void gpt_decode_fill_layer(gpt_decode_filler<P> &f,
                                                      const struct gpt_decode_body &b,
                                                      const struct gpt_decode_place &p, int l)
{
    const bf16 *layer = b.first + l * P::layer;
    const unsigned char *packed = b.packed + l * P::packed_layer;

    if (p.busy) {
        for (int i = 0; i < p.qkv; i++)
            f.put(layer + gpt_decode_qkv_at<P>(p, i), P::chunk);
        f.put(packed + (p.cluster * P::blocks + p.rank) * P::proj_chunk, P::proj_chunk);
    }
    for (int i = 0; i < p.units.count; i++)
        f.put(layer + P::at_fc + (int64_t)(p.units.first + i) * 8 * P::width, P::chunk);
    for (int i = 0; i < p.units.count; i++)
        f.put(packed + P::proj_layer + (int64_t)(p.units.first + i) * P::chunk, P::chunk);
}

/* By one thread. */
template <class P>
__device__ __forceinline__ void gpt_decode_fill(gpt_decode_shared<P> &s,
                                                const struct gpt_decode_body &b,
                                                const struct gpt_decode_place &p)
{
    gpt_decode_filler<P> f = { s, {} };

    for (int l = 0; l < b.layers; l++) {
        if (p.rank == 0 && l % b.clusters == p.cluster)
            gpt_decode_fetch_small<P>(b.first + l * P::layer);
        gpt_decode_fill_layer<P>(f, b, p, l);
    }
    for (int i = 0; i < p.rows.count; i++) {
        int first = (p.rows.first + i) * 8, rows = b.vocab - first < 8 ? b.vocab - first : 8;
        f.put(b.lm_head + (int64_t)first * P::width, rows * 2 * P::width);
    }
}

/* ---- Reading ---- */

/* A warp's way through the chunks. Each warp gives each of them back. */
template <class P> struct gpt_decode_reader {
    gpt_decode_shared<P> &s;
    int next; /* chunk, from the start of the kernel: the first one not given back */

    __device__ __forceinline__ const unsigned char *wait(int chunk) const
    {
        int stage = chunk % P::stages;

        cuda_mbarrier_wait(&s.full[stage], (unsigned)(chunk / P::stages) & 1);
        return s.ring[stage];
    }
    /* Also by a warp that has not read it: else it could give back one that is not yet filled. By
     * the lane that waited: the others may be late, and find the next round filled. */
    __device__ __forceinline__ void give_back_to(int chunk)
    {
        __syncwarp();
        if (cuda_lane() == 0)
            for (int i = next; i < chunk; i++) {
                wait(i);
                cuda_mbarrier_arrive(&s.empty[i % P::stages]);
            }
        next = chunk;
    }
};

/* sum += w x over 8 weights, odd and even ones by themselves. */
__device__ __forceinline__ void gpt_decode_add(float (&sum)[2], uint4 w, const float (&x)[8])
{
    uint32_t word[4] = { w.x, w.y, w.z, w.w };

#pragma unroll
    for (int i = 0; i < 4; i++) {
        sum[0] = fmaf(cuda_bf16_low(word[i]), x[2 * i], sum[0]);
        sum[1] = fmaf(cuda_bf16_high(word[i]), x[2 * i + 1], sum[1]);
    }
}

/* A row of C, in the lanes as pieces of the rows of weights are. */
template <class P> struct gpt_decode_row {
    float at[P::spans][8];

    static __device__ __forceinline__ int piece(int span)
    {
        return 32 * span + cuda_lane();
    }
    static __device__ __forceinline__ bool has(int span)
    {
        return P::row_pieces % 32 == 0 || piece(span) < P::row_pieces;
    }
};

/* x w of N rows of weights; all lanes get them. */
template <class P, int N>
__device__ __forceinline__ void gpt_decode_dots(const gpt_decode_row<P> &x,
                                                const unsigned char *const (&row)[N],
                                                float (&dot)[N])
{
    float sum[N][2] = {};

#pragma unroll
    for (int i = 0; i < P::spans; i++)
#pragma unroll
        for (int n = 0; n < N; n++) {
            const uint4 *w = reinterpret_cast<const uint4 *>(row[n]);
            gpt_decode_add(sum[n], x.has(i) ? w[x.piece(i)] : uint4 {}, x.at[i]);
        }
#pragma unroll
    for (int n = 0; n < N; n++)
        dot[n] = cuda_warp_sum(sum[n][0] + sum[n][1]);
}

/* use(row, x w) for rows `row`, row + warps, ... of the chunks from `base` on, N of them at once.
 */
template <class P, int N, class F>
__device__ __forceinline__ void gpt_decode_round(const gpt_decode_reader<P> &r,
                                                 const gpt_decode_row<P> &x, int base, int row,
                                                 const F &use)
{
    const unsigned char *at[N];
    float dot[N] = {};

#pragma unroll
    for (int n = 0; n < N; n++) {
        int of = row + n * P::warps;
        at[n] = r.wait(base + of / 8) + of % 8 * 2 * P::width;
    }
    if constexpr (!(P::left_out & GPT_DECODE_NO_PRODUCT))
        gpt_decode_dots<P>(x, at, dot);
#pragma unroll
    for (int n = 0; n < N; n++)
        use(row + n * P::warps, dot[n]);
}

/* use(row, x w) for this warp's rows of the next `chunks` chunks, by all lanes. Rows from `rows` on
 * are none. A warp has one, two or three in nearly all sections, and then takes them at once. */
template <class P, class F>
__device__ __forceinline__ void gpt_decode_rows(gpt_decode_reader<P> &r, const gpt_decode_row<P> &x,
                                                int chunks, int rows, const F &use)
{
    int base = r.next, row = cuda_warp(), left = (rows - row + P::warps - 1) / P::warps;

    while (left > 0) {
        int now = left == 1 ? 1 : left % 2 ? 3 : 2;
        if (now == 3)
            gpt_decode_round<P, 3>(r, x, base, row, use);
        else if (now == 2)
            gpt_decode_round<P, 2>(r, x, base, row, use);
        else
            gpt_decode_round<P, 1>(r, x, base, row, use);
        left -= now;
        row += now * P::warps;
        r.give_back_to(base + (row / 8 < chunks ? row / 8 : chunks));
    }
    r.give_back_to(base + chunks);
}

#endif
