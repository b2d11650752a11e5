/* SPDX-License-Identifier: MIT */
/*
 * What attention in e4m3 has in front of it: queries, keys and values of each head of each sequence
 * to bytes, with a factor each, by two small kernels:
 *
 *     largest    the largest |x| of q, k and v of every head       reads all three
 *     rounded    q, k as they lie, in bytes: x 448 / largest       reads them again, writes half
 *                v transposed, a row a column of the head
 *
 * Products of bytes take both factors along K, so the product of weights and values wants V^T. The
 * weights come out of the scores' registers: a thread has columns 2t, 2t + 1 of each 8, and A wants
 * columns 4t .. 4t + 3 of each 16. It does not matter in which order keys are added up, so values
 * lie in the order in which the weights are:
 *
 *     place 4 t + j of 16 (t 0..3)     is key   8 (j / 2) + 2 t + j % 2
 *
 * Values behind the end of the sequence are zeros, to whole groups of 16: what is NaN there would
 * be NaN with a weight of zero.
 *
 * Limit: memory. 5 bytes an element of the three, 15 x headdim a query, beside 4 x headdim x seq
 * FLOPs: at 4 TB/s and 1,000 TFLOP/s 900 / seq of the time of the products without a mask.
 *
 * Source of the order of keys: J. Shah et al., "FlashAttention-3", 2024, section 3.3.
 */
#ifndef HARNESS_KERNELS_ATTENTION_ATTENTION_CUDA_FP8_H
#define HARNESS_KERNELS_ATTENTION_ATTENTION_CUDA_FP8_H

#include "kernels/attention/attention_cuda.h"
#include "kernels/cuda/fp8.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/tma.h"

constexpr int ATTENTION_FP8_D = 128;    /* headdim */
constexpr int ATTENTION_FP8_GROUP = 16; /* keys that are reordered together */

/* Which key of its group lies at a place. */
__host__ __device__ constexpr int attention_fp8_key(int place)
{
    return 8 * (place % 4 / 2) + 2 * (place / 4) + place % 2;
}

/* Where things lie in the workspace; bytes. */
struct attention_fp8_places {
    size_t largest, q, k, v, all;
    int64_t positions; /* of a row of v */
};

inline attention_fp8_places attention_fp8_places_of(int64_t batch, int64_t seq, int64_t heads)
{
    attention_fp8_places p = {};
    size_t rows = (size_t)(batch * heads * ATTENTION_FP8_D), line = 256;

    p.positions = cuda_pieces<int64_t>(seq, ATTENTION_FP8_GROUP) * ATTENTION_FP8_GROUP;
    p.largest = line; /* in front: the queue of tiles */
    p.q = p.largest + cuda_pieces<size_t>((size_t)(batch * heads) * 3 * sizeof(float), line) * line;
    p.k = p.q + cuda_pieces<size_t>(rows * (size_t)seq, line) * line;
    p.v = p.k + cuda_pieces<size_t>(rows * (size_t)seq, line) * line;
    p.all = p.v + rows * (size_t)p.positions;
    return p;
}

/* Describes what the kernels leave in the workspace, in elements of two bytes and boxes of 64 of
 * them: q or k, of rows of positions, or values, of rows of columns of heads. */
inline cudaError_t attention_fp8_describe(CUtensorMap *map, const struct attention_cuda *a,
                                          size_t at, int box_rows, bool values)
{
    const attention_fp8_places p = attention_fp8_places_of(a->batch, a->seq, a->heads);
    const int64_t width = a->heads * a->headdim;
    const int64_t rows = values ? width : a->seq, cols = values ? p.positions : width;
    const struct tma_matrix each = {
        .element = TMA_BF16,
        .data = static_cast<const unsigned char *>(a->workspace) + at,
        .rows = rows,
        .cols = cols / 2,
        .ld = cols / 2,
        .box_rows = box_rows,
        .box_cols = 64,
        .swizzle = true,
    };
    const struct tma_matrices sequences = { each, a->batch, rows * cols / 2 };

    return tma_describe_3d(map, &sequences);
}

#endif
