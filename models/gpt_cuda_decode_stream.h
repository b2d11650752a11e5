/* SPDX-License-Identifier: MIT */
/*
 * The stream of weights of gpt_cuda_decode.h: one thread has the copy engine fill a ring of chunks
 * in the order in which the warps read them, from the first layer to the head, as far ahead as the
 * ring goes. No barrier of the computation stops it.
 *
 * Warps wait for, and give back, sections of a few chunks: a wait takes as long as the products of
 * half a row. A warp has neighbouring rows of a section, 1, 2, 4 or 8 of them, and sums them at
 * once (cuda_warp_sums()), so that a group of lanes has each row's sum, and does all that follows.
 * For .cu files.
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

    /* Of a layer, that are not empty. */
    __device__ __forceinline__ int layer_sections(void) const
    {
        return (busy ? (qkv > 0) + 1 : 0) + (units.count > 0 ? 2 : 0);
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

/* Fills section after section. A section's copies complete on one barrier, so that a warp waits
 * once for all of it, and each warp gives it back as a whole. */
template <class P> struct gpt_decode_filler {
    gpt_decode_shared<P> &s;
    int chunk, section; /* the next ones */
    int freed, end;     /* sections that are given back, and the first chunk behind them */

    /* Room for `count` chunks, and for one more section. */
    __device__ __forceinline__ void room(int count)
    {
        while (chunk + count - end > P::stages || section - freed >= GPT_DECODE_SECTIONS) {
            int of = freed % GPT_DECODE_SECTIONS;
            cuda_mbarrier_wait(&s.empty[of], (unsigned)(freed / GPT_DECODE_SECTIONS) & 1);
            end = s.ends[of];
            freed++;
        }
    }
    /* `count` chunks of which the i-th lies at from(i), `bytes` in all. */
    template <class F> __device__ __forceinline__ void put(int count, int bytes, const F &from)
    {
        cuda_mbarrier *full = &s.full[section % GPT_DECODE_SECTIONS];

        if (count == 0)
            return;
        room(count);
        cuda_mbarrier_expect(full, (unsigned)bytes);
#pragma unroll 1
        for (int left = bytes, i = 0; i < count; i++, left -= P::chunk)
            cuda_bulk_load(s.ring[(chunk + i) % P::stages], from(i),
                           (unsigned)(left < P::chunk ? left : P::chunk), full);
        chunk += count;
        s.ends[section % GPT_DECODE_SECTIONS] = chunk;
        section++;
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
        f.put(p.qkv, p.qkv * P::chunk,
              [&](int i) { return (const void *)(layer + gpt_decode_qkv_at<P>(p, i)); });
        f.put(1, P::proj_chunk, [&](int) {
            return (const void *)(packed + (p.cluster * P::blocks + p.rank) * P::proj_chunk);
        });
    }
    f.put(p.units.count, p.units.count * P::chunk, [&](int i) {
        return (const void *)(layer + P::at_fc + (int64_t)(p.units.first + i) * 8 * P::width);
    });
    f.put(p.units.count, p.units.count * P::chunk, [&](int i) {
        return (const void *)(packed + P::proj_layer + (int64_t)(p.units.first + i) * P::chunk);
    });
}

/* By one thread. */
template <class P>
__device__ __forceinline__ void gpt_decode_fill(gpt_decode_shared<P> &s,
                                                const struct gpt_decode_body &b,
                                                const struct gpt_decode_place &p)
{
    gpt_decode_filler<P> f = { s, 0, 0, 0, 0 };

    for (int l = 0; l < b.layers; l++) {
        if (p.rank == 0 && l % b.clusters == p.cluster)
            gpt_decode_fetch_small<P>(b.first + l * P::layer);
        gpt_decode_fill_layer<P>(f, b, p, l);
    }
    for (int i = 0; i < p.rows.count; i += P::head_chunks) {
        int first = (p.rows.first + i) * 8, left = p.rows.count - i;
        int count = left < P::head_chunks ? left : P::head_chunks;
        int rows = b.vocab - first < 8 * count ? b.vocab - first : 8 * count;
        f.put(count, rows * 2 * P::width, [&](int at) {
            return (const void *)(b.lm_head + (int64_t)(first + 8 * at) * P::width);
        });
    }
}

/* ---- Reading ---- */

/* A warp's way through the sections. Each warp waits for each of them, in order, and gives it
 * back: so a barrier is never more than a round ahead of the parity that is asked for. */
template <class P> struct gpt_decode_reader {
    gpt_decode_shared<P> &s;
    int chunk, section; /* the first ones not given back */

    __device__ __forceinline__ void wait(void) const
    {
        cuda_mbarrier_wait(&s.full[section % GPT_DECODE_SECTIONS],
                           (unsigned)(section / GPT_DECODE_SECTIONS) & 1);
    }
    __device__ __forceinline__ const unsigned char *at(int i) const
    {
        return s.ring[(chunk + i) % P::stages];
    }
    /* All lanes have read its `count` chunks. */
    __device__ __forceinline__ void give_back(int count)
    {
        __syncwarp();
        if (cuda_lane() == 0)
            cuda_mbarrier_arrive(&s.empty[section % GPT_DECODE_SECTIONS]);
        chunk += count;
        section++;
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
    float origin; /* its first element */

    static __device__ __forceinline__ int piece(int span)
    {
        return 32 * span + cuda_lane();
    }
    static __device__ __forceinline__ bool has(int span)
    {
        return P::row_pieces % 32 == 0 || piece(span) < P::row_pieces;
    }
};

/* How many rows of weights a warp takes at once, of a section with so many: neighbouring ones, a
 * power of two that does for all. A group of 32 / N lanes gets the sum of one of them. */
template <class P> __device__ __forceinline__ int gpt_decode_at_once(int rows)
{
    return rows <= P::warps ? 1 : rows <= 2 * P::warps ? 2 : rows <= 4 * P::warps ? 4 : 8;
}

/* The row of a section whose sum this lane gets. */
template <class P> __device__ __forceinline__ int gpt_decode_row_of_lane(int at_once)
{
    return cuda_warp() * at_once + cuda_lane() * at_once / 32;
}

/* x w of N rows of weights, of which a lane gets one. */
template <class P, int N>
__device__ __forceinline__ float gpt_decode_dots(const gpt_decode_row<P> &x,
                                                 const unsigned char *const (&row)[N])
{
    float sum[N][2] = {}, all[N];

#pragma unroll
    for (int i = 0; i < P::spans; i++)
#pragma unroll
        for (int n = 0; n < N; n++) {
            const uint4 *w = reinterpret_cast<const uint4 *>(row[n]);
            gpt_decode_add(sum[n], x.has(i) ? w[x.piece(i)] : uint4 {}, x.at[i]);
        }
#pragma unroll
    for (int n = 0; n < N; n++)
        all[n] = sum[n][0] + sum[n][1];
    return cuda_warp_sums<N>(all);
}

/* The same of this warp's N rows of the section, which is there. */
template <class P, int N>
__device__ __forceinline__ float gpt_decode_products(const gpt_decode_reader<P> &r,
                                                     const gpt_decode_row<P> &x)
{
    const unsigned char *at[N];

#pragma unroll
    for (int n = 0; n < N; n++) {
        int row = cuda_warp() * N + n;
        at[n] = r.at(row / 8) + row % 8 * 2 * P::width;
    }
    return gpt_decode_dots<P>(x, at);
}

/* As gpt_decode_at_once() says, at most N. */
template <class P, int N>
__device__ __forceinline__ float gpt_decode_most(const gpt_decode_reader<P> &r,
                                                 const gpt_decode_row<P> &x, int rows)
{
    if constexpr (N > 1)
        if (rows <= N / 2 * P::warps)
            return gpt_decode_most<P, N / 2>(r, x, rows);
    return gpt_decode_products<P, N>(r, x);
}

/* The next section, of `chunks` chunks with `rows` rows: this lane's row times x, if it has one,
 * then the section is given back. MOST: chunks that a section of this sort has. */
template <class P, int MOST>
__device__ __forceinline__ float gpt_decode_rows(gpt_decode_reader<P> &r,
                                                 const gpt_decode_row<P> &x, int chunks)
{
    constexpr int each = (8 * MOST + P::warps - 1) / P::warps;
    constexpr int most = each <= 1 ? 1 : each <= 2 ? 2 : each <= 4 ? 4 : 8;
    float dot = 0.0f;

    static_assert(each <= 8, "sums of a lane");
    r.wait();
    if (!(P::left_out & GPT_DECODE_NO_PRODUCT) &&
        cuda_warp() * gpt_decode_at_once<P>(8 * chunks) < 8 * chunks)
        dot = gpt_decode_most<P, most>(r, x, 8 * chunks);
    r.give_back(chunks);
    return dot;
}

#endif
