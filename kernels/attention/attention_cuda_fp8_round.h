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
    unsigned char *to[3];   /* q, k, v */
    int64_t rows[3];        /* of a sequence, there */
    int64_t positions;      /* of a row of v */
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
constexpr int ATTENTION_FP8_COLS = 8;

template <int D>
__device__ __forceinline__ void attention_fp8_read(float (&x)[ATTENTION_FP8_COLS],
                                                   const attention_fp8_rounding &a, int which,
                                                   const attention_fp8_block &b, int i)
{
    constexpr int row = D / ATTENTION_FP8_COLS;
    int position = b.piece * ATTENTION_FP8_TOKENS + i / row;
    int col = b.head * D + i % row * ATTENTION_FP8_COLS;
    cuda_vector<bf16, ATTENTION_FP8_COLS> got = {};

    if (position < a.seq)
        got = cuda_load<ATTENTION_FP8_COLS>(a.x[which] +
                                            ((int64_t)b.sequence * a.seq + position) * a.ld + col);
    cuda_unpack(got, x);
}

/* No number is below zero here, so their bits are in the order of the numbers. */
template <int D>
__global__ void __launch_bounds__(ATTENTION_FP8_THREADS)
    attention_fp8_largest(attention_fp8_rounding a)
{
    const attention_fp8_block b = attention_fp8_block_of(a);
    constexpr int all = ATTENTION_FP8_TOKENS * D / ATTENTION_FP8_COLS;

#pragma unroll
    for (int which = 0; which < 3; which++) {
        float most = 0;
#pragma unroll
        for (int i = 0; i < all / ATTENTION_FP8_THREADS; i++) {
            float x[ATTENTION_FP8_COLS];
            attention_fp8_read<D>(x, a, which, b, (int)threadIdx.x + i * ATTENTION_FP8_THREADS);
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

/* A position of q (one a row) or k, or null where its rows end in front of it. */
template <int D>
__device__ __forceinline__ unsigned char *attention_fp8_place(const attention_fp8_rounding &a,
                                                              const attention_fp8_block &b,
                                                              int which, int position)
{
    const int beside = which == 1 ? attention_fp8_beside(D) : 1, part = ATTENTION_FP8_KEYS / beside;
    const int inside = position % ATTENTION_FP8_KEYS;
    const int64_t row = position / ATTENTION_FP8_KEYS * part + inside % part;

    return row >= a.rows[which]
               ? nullptr
               : a.to[which] +
                     ((b.sequence * a.rows[which] + row) * a.heads + b.head) * (beside * D) +
                     inside / part * D;
}

/* A piece of values as bytes: rows of positions. */
template <int D> struct attention_fp8_values {
    alignas(16) unsigned char row[ATTENTION_FP8_TOKENS][D];
};

template <int D>
__device__ __forceinline__ void attention_fp8_round_piece(const attention_fp8_rounding &a,
                                                          const attention_fp8_block &b,
                                                          attention_fp8_values<D> &s, int which)
{
    constexpr int row = D / ATTENTION_FP8_COLS;
    const float by = attention_fp8_times(a.largest[3 * (b.sequence * a.heads + b.head) + which]);

#pragma unroll
    for (int n = 0; n < ATTENTION_FP8_TOKENS * row / ATTENTION_FP8_THREADS; n++) {
        int i = (int)threadIdx.x + n * ATTENTION_FP8_THREADS;
        int col = i % row * ATTENTION_FP8_COLS;
        float x[ATTENTION_FP8_COLS];
        attention_fp8_read<D>(x, a, which, b, i);
        unsigned char *to =
            which == 2
                ? s.row[i / row]
                : attention_fp8_place<D>(a, b, which, b.piece * ATTENTION_FP8_TOKENS + i / row);
        if (to != nullptr)
            cuda_store(reinterpret_cast<uint32_t *>(to + col), attention_fp8_round(x, by));
    }
}

template <int D>
__global__ void __launch_bounds__(ATTENTION_FP8_THREADS)
    attention_fp8_rounded(attention_fp8_rounding a)
{
    attention_fp8_values<D> &s = cuda_shared<attention_fp8_values<D>>();
    const attention_fp8_block b = attention_fp8_block_of(a);

#pragma unroll
    for (int which = 0; which < 3; which++)
        attention_fp8_round_piece<D>(a, b, s, which);
    __syncthreads();
    constexpr int groups = ATTENTION_FP8_TOKENS / ATTENTION_FP8_GROUP;
    for (int i = (int)threadIdx.x; i < D * groups; i += ATTENTION_FP8_THREADS) {
        int col = i % D, group = i / D;
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
                       a.to[2] + (b.sequence * a.rows[2] + b.head * D + col) * a.positions + first),
                   words);
    }
}

template <int D>
inline void attention_fp8_round_heads(const struct attention_cuda *a, cudaStream_t stream)
{
    const attention_fp8_places p = attention_fp8_places_of(a->batch, a->seq, a->heads, D);
    const attention_fp8_bytes *const to_all[3] = { &p.q, &p.k, &p.v };
    unsigned char *to = static_cast<unsigned char *>(a->workspace);
    attention_fp8_rounding r = {};

    r.x[0] = static_cast<const bf16 *>(a->q), r.x[1] = static_cast<const bf16 *>(a->k);
    r.x[2] = static_cast<const bf16 *>(a->v), r.ld = a->ld;
    r.seq = (int)a->seq, r.heads = (int)a->heads;
    r.pieces = (int)cuda_pieces<int64_t>(p.k.rows * attention_fp8_beside(D), ATTENTION_FP8_TOKENS);
    r.largest = reinterpret_cast<unsigned *>(to + p.largest);
    for (int i = 0; i < 3; i++)
        r.to[i] = to + to_all[i]->at, r.rows[i] = to_all[i]->rows;
    r.positions = p.v.cols;
    const unsigned blocks = (unsigned)(a->batch * a->heads) * (unsigned)r.pieces;
    cudaMemsetAsync(to + p.largest, 0, p.q.at - p.largest, stream);
    cuda_launch<attention_fp8_largest<D>>(blocks, ATTENTION_FP8_THREADS, 0, stream, r);
    cuda_launch<attention_fp8_rounded<D>>(blocks, ATTENTION_FP8_THREADS,
                                          sizeof(attention_fp8_values<D>), stream, r);
}

inline void attention_fp8_round_all(const struct attention_cuda *a, cudaStream_t stream)
{
    if (a->headdim == 64)
        attention_fp8_round_heads<64>(a, stream);
    else
        attention_fp8_round_heads<128>(a, stream);
}

#endif
