/* SPDX-License-Identifier: MIT */
/*
 * One token's attention to the cache of a head by the blocks of a cluster (gpt_cuda_decode.h). A
 * warp has each (8 warps)-th position; its keys and values come by copies of its own that start a
 * layer ahead. Softmax in powers of 2 by the largest score that a warp, a block, and then the
 * cluster has seen. For .cu files.
 */
#ifndef HARNESS_MODELS_GPT_CUDA_DECODE_ATTENTION_H
#define HARNESS_MODELS_GPT_CUDA_DECODE_ATTENTION_H

#include "kernels/cuda/cluster.h"
#include "kernels/cuda/math.h"
#include "models/gpt_cuda_decode_stream.h"

constexpr float GPT_DECODE_LEAST = -1e30f; /* below any score; its power of 2 is 0 */

/* The position of a slot of this warp. */
template <class P> __device__ __forceinline__ int gpt_decode_position(int rank, int slot)
{
    return (slot * P::warps + cuda_warp()) * P::blocks + rank;
}

/* Starts the copies of this warp's positions of a layer but the token's own; zeros behind. */
template <class P>
__device__ __forceinline__ void gpt_decode_fetch_cache(gpt_decode_shared<P> &s,
                                                       const struct gpt_decode_body &b,
                                                       const struct gpt_decode_place &p, int layer)
{
    int64_t before = (int64_t)layer * b.seq * P::width + p.cluster * P::head;
    auto &cache = s.cache[cuda_warp()];

    __syncwarp(); /* all lanes have read the last layer's */
#pragma unroll
    for (int i = cuda_lane(); i < 2 * P::slots * P::pieces; i += 32) {
        int slot = i / (2 * P::pieces), value = i / P::pieces % 2, piece = i % P::pieces;
        int position = gpt_decode_position<P>(p.rank, slot);
        bool there = position < b.seq - 1 && !(P::left_out & GPT_DECODE_NO_CACHE);
        const bf16 *from = (value ? b.v : b.k) + before + (int64_t)position * P::width + 8 * piece;
        cuda_async_copy<16>(cache[slot][value] + 16 * piece, there ? from : b.k, there);
    }
    cuda_async_commit();
}

/* The token's own key and value, by the warp that has its position. */
template <class P>
__device__ __forceinline__ void gpt_decode_take_own(gpt_decode_shared<P> &s, int seq, int rank)
{
    int of = (seq - 1) / P::blocks, lane = cuda_lane();
    bool mine = (seq - 1) % P::blocks == rank && of % P::warps == cuda_warp();

    if (mine && lane < 2 * P::pieces) {
        const float *from = s.qkv[1 + lane / P::pieces] + lane % P::pieces * 8;
        cuda_vector<bf16, 8> v;
        for (int i = 0; i < 8; i++)
            v.at[i] = cuda_from<bf16>(from[i]);
        cuda_store(reinterpret_cast<bf16 *>(s.cache[cuda_warp()][of / P::warps][lane / P::pieces]) +
                       lane % P::pieces * 8,
                   v);
    }
    __syncwarp();
}

/* Over the lanes that hold the same piece of different positions. */
template <class P, class F> __device__ __forceinline__ float gpt_decode_over(float x, const F &join)
{
#pragma unroll
    for (int lanes = P::pieces; lanes < 32; lanes *= 2)
        x = join(x, __shfl_xor_sync(0xffffffffu, x, lanes));
    return x;
}

/* The same of sums of v, each exchange of which leaves a lane half of them, while it has more than
 * one: those from `first` on. */
template <class P, int N, int LANES = 16>
__device__ __forceinline__ void gpt_decode_spread(const float (&v)[N], int first, float *to)
{
    if constexpr (LANES < P::pieces) {
#pragma unroll
        for (int i = 0; i < N; i++)
            to[first + i] = v[i];
    } else if constexpr (N == 1) {
        float all[1] = { v[0] + __shfl_xor_sync(0xffffffffu, v[0], LANES) };
        gpt_decode_spread<P, 1, LANES / 2>(all, first, to);
    } else {
        bool upper = (cuda_lane() & LANES) != 0;
        float mine[N / 2];
#pragma unroll
        for (int i = 0; i < N / 2; i++) {
            float other = upper ? v[i] : v[i + N / 2];
            mine[i] = upper ? v[i + N / 2] : v[i];
            mine[i] += __shfl_xor_sync(0xffffffffu, other, LANES);
        }
        gpt_decode_spread<P, N / 2, LANES / 2>(mine, upper ? first + N / 2 : first, to);
    }
}

/* This warp's part: sums of values, largest score, sum of powers, into s.part. */
template <class P>
__device__ __forceinline__ void gpt_decode_warp_part(gpt_decode_shared<P> &s, int seq, int rank)
{
    int of = cuda_lane() / P::pieces, piece = cuda_lane() % P::pieces;
    const auto &cache = s.cache[cuda_warp()];
    const float scale = 1.44269504f * rsqrtf((float)P::head);
    auto most_of = [](float x, float y) { return fmaxf(x, y); };
    auto sum_of = [](float x, float y) { return x + y; };
    float q[8], score[P::steps], most = GPT_DECODE_LEAST, powers = 0.0f, out[8] = {};

#pragma unroll
    for (int i = 0; i < 8; i++)
        q[i] = s.qkv[0][8 * piece + i] * scale;
#pragma unroll
    for (int t = 0; t < P::steps; t++) {
        int slot = t * P::per_step + of;
        float sum[2] = {};
        gpt_decode_add(sum, *reinterpret_cast<const uint4 *>(cache[slot][0] + 16 * piece), q);
        bool there = gpt_decode_position<P>(rank, slot) < seq;
        float dot = cuda_warp_sum<P::pieces>(sum[0] + sum[1]);
        score[t] = there ? dot : GPT_DECODE_LEAST;
        most = fmaxf(most, score[t]);
    }
    most = gpt_decode_over<P>(most, most_of);
#pragma unroll
    for (int t = 0; t < P::steps; t++) {
        int slot = t * P::per_step + of;
        bool there = gpt_decode_position<P>(rank, slot) < seq;
        float power = there ? cuda_exp2(score[t] - most) : 0.0f, v[8];
        cuda_unpack(cuda_load<8>(reinterpret_cast<const bf16 *>(cache[slot][1]) + 8 * piece), v);
        powers += power;
#pragma unroll
        for (int i = 0; i < 8; i++)
            out[i] = fmaf(power, v[i], out[i]);
    }
    powers = gpt_decode_over<P>(powers, sum_of);
    gpt_decode_spread<P>(out, 0, s.part[cuda_warp()] + 8 * piece);
    if (cuda_lane() == 0) {
        s.part_most[cuda_warp()][0] = most;
        s.part_most[cuda_warp()][1] = powers;
    }
}

/* The warps' parts of this block as one, of which each warp sends to some of the blocks. */
template <class P>
__device__ __forceinline__ void gpt_decode_send_part(gpt_decode_shared<P> &s, int rank)
{
    float most = GPT_DECODE_LEAST, powers = 0.0f, out[2] = {};
    int pair = cuda_lane() < P::head / 2 ? cuda_lane() : 0;

    if (cuda_warp() >= P::blocks)
        return;
#pragma unroll
    for (int w = 0; w < P::warps; w++)
        most = fmaxf(most, s.part_most[w][0]);
#pragma unroll
    for (int w = 0; w < P::warps; w++) {
        float by = cuda_exp2(s.part_most[w][0] - most);
        powers = fmaf(by, s.part_most[w][1], powers);
        out[0] = fmaf(by, s.part[w][2 * pair], out[0]);
        out[1] = fmaf(by, s.part[w][2 * pair + 1], out[1]);
    }
    for (int to = cuda_warp(); to < P::blocks; to += P::warps) {
        cuda_cluster_place barrier = cuda_cluster_address(&s.got_heads, (unsigned)to);
        if (cuda_lane() < P::head / 2)
            cuda_cluster_send8(cuda_cluster_address(s.heads[rank] + 2 * pair, (unsigned)to), out[0],
                               out[1], barrier);
        if (cuda_lane() == 0)
            cuda_cluster_send8(cuda_cluster_address(s.most[rank], (unsigned)to), most, powers,
                               barrier);
    }
}

/* The 8 values of the head's output that piece `piece` of a row of proj is for. */
template <class P>
__device__ __forceinline__ void gpt_decode_join_parts(const gpt_decode_shared<P> &s, int piece,
                                                      float (&out)[8])
{
    float most = GPT_DECODE_LEAST, powers = 0.0f, by[P::blocks];

#pragma unroll
    for (int r = 0; r < P::blocks; r++)
        most = fmaxf(most, s.most[r][0]);
#pragma unroll
    for (int r = 0; r < P::blocks; r++) {
        by[r] = cuda_exp2(s.most[r][0] - most);
        powers = fmaf(by[r], s.most[r][1], powers);
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
        out[i] = 0.0f;
#pragma unroll
    for (int r = 0; r < P::blocks; r++)
#pragma unroll
        for (int i = 0; i < 8; i++)
            out[i] = fmaf(by[r], s.heads[r][8 * piece + i], out[i]);
    float scale = cuda_reciprocal(powers);
#pragma unroll
    for (int i = 0; i < 8; i++)
        out[i] *= scale;
}

#endif
