/* SPDX-License-Identifier: MIT */
/* Queries, keys and values to e4m3, as attention_cuda_fp8.h has it: its two kernels. */
#ifndef HARNESS_KERNELS_ATTENTION_ATTENTION_CUDA_FP8_ROUND_H
#define HARNESS_KERNELS_ATTENTION_ATTENTION_CUDA_FP8_ROUND_H

#include "kernels/attention/attention_cuda_flash.h"
#include "kernels/attention/attention_cuda_fp8.h"
#include "kernels/cuda/vector.h"

constexpr int ATTENTION_FP8_TOKENS = 64, ATTENTION_FP8_THREADS = 256;

/* A block has ATTENTION_FP8_TOKENS positions of a head of a sequence. */
struct attention_fp8_rounding {
    const bf16 *x[3]; /* q, k, v */
    int64_t ld;
    int seq, heads, pieces; /* pieces of positions */
    unsigned *largest;      /* [batch][heads][3]: bits of a float */
    unsigned char *to[3]; /* q, k [token][heads x headdim]; v [batch][heads x headdim][positions] */
    int64_t positions;
};

struct attention_fp8_block {
    int piece, head, sequence;
};

__device__ __forceinline__ attention_fp8_block
attention_fp8_block_of(const attention_fp8_rounding &a)
{
    unsigned of = blockIdx.x / (unsigned)a.pieces, heads = (unsigned)a.heads;

    return { (int)(blockIdx.x % (unsigned)a.pieces), (int)(of % heads), (int)(of / heads) };
}

/* 16 bytes of thread `i` of a piece: 8 columns of a position. Zeros behind the end. */
constexpr int ATTENTION_FP8_COLS = 8, ATTENTION_FP8_ROW = ATTENTION_FP8_D / ATTENTION_FP8_COLS;

__device__ __forceinline__ void attention_fp8_read(float (&x)[ATTENTION_FP8_COLS],
                                                   const attention_fp8_rounding &a, int which,
                                                   const attention_fp8_block &b, int i)
{
    int position = b.piece * ATTENTION_FP8_TOKENS + i / ATTENTION_FP8_ROW;
    int col = b.head * ATTENTION_FP8_D + i % ATTENTION_FP8_ROW * ATTENTION_FP8_COLS;
    cuda_vector<bf16, ATTENTION_FP8_COLS> got = {};

    if (position < a.seq)
        got = cuda_load<ATTENTION_FP8_COLS>(a.x[which] +
                                            ((int64_t)b.sequence * a.seq + position) * a.ld + col);
    cuda_unpack(got, x);
}

/* No number is below zero here, so their bits are in the order of the numbers. */
__global__ void __launch_bounds__(ATTENTION_FP8_THREADS)
    attention_fp8_largest(attention_fp8_rounding a)
{
    const attention_fp8_block b = attention_fp8_block_of(a);
    constexpr int all = ATTENTION_FP8_TOKENS * ATTENTION_FP8_ROW;

#pragma unroll
    for (int which = 0; which < 3; which++) {
        float most = 0;
#pragma unroll
        for (int i = 0; i < all / ATTENTION_FP8_THREADS; i++) {
            float x[ATTENTION_FP8_COLS];
            attention_fp8_read(x, a, which, b, (int)threadIdx.x + i * ATTENTION_FP8_THREADS);
#pragma unroll
            for (float each : x)
                most = fmaxf(most, fabsf(each));
        }
        most = cuda_warp_max(most);
        if (cuda_lane() == 0)
            atomicMax(&a.largest[3 * (b.sequence * a.heads + b.head) + which],
                      cuda_float_bits(most));
    }
}

__device__ __forceinline__ float attention_fp8_times(unsigned largest)
{
    return largest == 0 ? 0.0f : CUDA_E4M3_MAX / cuda_bits_float(largest);
}

/* 8 bytes of a thread, in the order of the columns. */
__device__ __forceinline__ cuda_vector<uint32_t, 2> attention_fp8_round(
    const float (&x)[ATTENTION_FP8_COLS], float by)
{
    return { { cuda_e4m3x4(x[0] * by, x[1] * by, x[2] * by, x[3] * by),
               cuda_e4m3x4(x[4] * by, x[5] * by, x[6] * by, x[7] * by) } };
}

/* A piece of values as bytes: rows of positions, a word longer than they are, so that the columns
 * that a warp reads next to each other lie in different banks. */
struct attention_fp8_values {
    alignas(16) unsigned char row[ATTENTION_FP8_TOKENS][ATTENTION_FP8_D + 16];
};

__global__ void __launch_bounds__(ATTENTION_FP8_THREADS)
    attention_fp8_rounded(attention_fp8_rounding a)
{
    attention_fp8_values &s = cuda_shared<attention_fp8_values>();
    const attention_fp8_block b = attention_fp8_block_of(a);
    constexpr int each = ATTENTION_FP8_TOKENS * ATTENTION_FP8_ROW / ATTENTION_FP8_THREADS;
    const int64_t width = (int64_t)a.heads * ATTENTION_FP8_D;

#pragma unroll
    for (int which = 0; which < 3; which++) {
        float by = attention_fp8_times(a.largest[3 * (b.sequence * a.heads + b.head) + which]);
#pragma unroll
        for (int n = 0; n < each; n++) {
            int i = (int)threadIdx.x + n * ATTENTION_FP8_THREADS, row = i / ATTENTION_FP8_ROW;
            int col = i % ATTENTION_FP8_ROW * ATTENTION_FP8_COLS;
            int position = b.piece * ATTENTION_FP8_TOKENS + row;
            float x[ATTENTION_FP8_COLS];
            attention_fp8_read(x, a, which, b, i);
            unsigned char *to = which == 2 ? &s.row[row][col]
                                           : a.to[which] +
                                                 ((int64_t)b.sequence * a.seq + position) * width +
                                                 b.head * ATTENTION_FP8_D + col;
            if (which == 2 || position < a.seq)
                cuda_store(reinterpret_cast<uint32_t *>(to), attention_fp8_round(x, by));
        }
    }
    __syncthreads();
    constexpr int groups = ATTENTION_FP8_TOKENS / ATTENTION_FP8_GROUP;
    for (int i = (int)threadIdx.x; i < ATTENTION_FP8_D * groups; i += ATTENTION_FP8_THREADS) {
        int col = i % ATTENTION_FP8_D, group = i / ATTENTION_FP8_D;
        int64_t first = (int64_t)b.piece * ATTENTION_FP8_TOKENS + group * ATTENTION_FP8_GROUP;
        cuda_vector<uint32_t, 4> words = {};
        if (first >= a.positions)
            continue;
#pragma unroll
        for (int place = 0; place < ATTENTION_FP8_GROUP; place++)
            words.at[place / 4] |=
                (uint32_t)s.row[group * ATTENTION_FP8_GROUP + attention_fp8_key(place)][col]
                << 8 * (place % 4);
        cuda_store(reinterpret_cast<uint32_t *>(
                       a.to[2] +
                       (b.sequence * width + b.head * ATTENTION_FP8_D + col) * a.positions + first),
                   words);
    }
}

inline void attention_fp8_round_all(const struct attention_cuda *a, cudaStream_t stream)
{
    const attention_fp8_places p = attention_fp8_places_of(a->batch, a->seq, a->heads);
    unsigned char *to = static_cast<unsigned char *>(a->workspace);
    attention_fp8_rounding r = {};

    r.x[0] = static_cast<const bf16 *>(a->q), r.x[1] = static_cast<const bf16 *>(a->k);
    r.x[2] = static_cast<const bf16 *>(a->v), r.ld = a->ld;
    r.seq = (int)a->seq, r.heads = (int)a->heads;
    r.pieces = (int)cuda_pieces<int64_t>(a->seq, ATTENTION_FP8_TOKENS);
    r.largest = reinterpret_cast<unsigned *>(to + p.largest);
    r.to[0] = to + p.q, r.to[1] = to + p.k, r.to[2] = to + p.v, r.positions = p.positions;
    const unsigned blocks = (unsigned)(a->batch * a->heads) * (unsigned)r.pieces;
    cudaMemsetAsync(to + p.largest, 0, p.q - p.largest, stream);
    cuda_launch<attention_fp8_largest>(blocks, ATTENTION_FP8_THREADS, 0, stream, r);
    cuda_launch<attention_fp8_rounded>(blocks, ATTENTION_FP8_THREADS, sizeof(attention_fp8_values),
                                       stream, r);
}

#endif
