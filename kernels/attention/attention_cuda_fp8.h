/* SPDX-License-Identifier: MIT */
/*
 * What attention in e4m3 has in front of it: queries, keys and values of each head of each sequence
 * to bytes, with a factor each, by two small kernels:
 *
 *     largest    the largest |x| of q, k and v of every head       reads all three
 *     rounded    q, k as they lie, in bytes: x 448 / largest       reads them again, writes half
 *                v transposed, a row a column of the head
 *
 * What the products read lies in rows of 128 bytes. A head of 64 columns fills half of one. So rows
 * of keys have two: of each 128 keys the first 64, and beside each the one that is 64 further on,
 * whose scores are a product of their own, 64 bytes on. Of queries, whose rows are the product's,
 * the next head's come along, and nobody looks at them.
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

constexpr int ATTENTION_FP8_KEYS = 128; /* of a tile */
constexpr int ATTENTION_FP8_GROUP = 16; /* keys that are reordered together */

/* Keys of a row: of 64 columns two, of 128 one. */
__host__ __device__ constexpr int attention_fp8_beside(int64_t headdim)
{
    return headdim == 64 ? 2 : 1;
}

/* Which key of its group lies at a place. */
__host__ __device__ constexpr int attention_fp8_key(int place)
{
    return 8 * (place % 4 / 2) + 2 * (place / 4) + place % 2;
}

/* What the kernels leave of q, k or v: a matrix a sequence, one behind the other. */
struct attention_fp8_bytes {
    size_t at;          /* in the workspace */
    int64_t rows, cols; /* bytes */
};

/* Where things lie in the workspace; rows of q and k are positions, of v columns of the heads. */
struct attention_fp8_places {
    size_t largest, all;
    attention_fp8_bytes q, k, v;
};

inline attention_fp8_places attention_fp8_places_of(int64_t batch, int64_t seq, int64_t heads,
                                                    int64_t headdim)
{
    constexpr size_t line = 256;
    const int64_t width = heads * headdim, beside = attention_fp8_beside(headdim);
    const int64_t whole = cuda_pieces<int64_t>(seq, ATTENTION_FP8_KEYS) * ATTENTION_FP8_KEYS;
    attention_fp8_places p = {};

    p.largest = line; /* in front: the queue of tiles */
    p.all = p.largest + (size_t)(batch * heads) * 3 * sizeof(float);
    p.q = { 0, seq, width };
    p.k = { 0, beside == 1 ? seq : whole / beside, width * beside };
    p.v = { 0, width, cuda_pieces<int64_t>(seq, ATTENTION_FP8_GROUP) * ATTENTION_FP8_GROUP };
    for (attention_fp8_bytes *m : { &p.q, &p.k, &p.v }) {
        m->at = cuda_pieces<size_t>(p.all, line) * line;
        p.all = m->at + (size_t)(batch * m->rows * m->cols);
    }
    return p;
}

/* Describes such matrices, in elements of two bytes and boxes of 64 of them. */
inline cudaError_t attention_fp8_describe(CUtensorMap *map, const struct attention_cuda *a,
                                          const attention_fp8_bytes &m, int box_rows)
{
    const struct tma_matrix each = {
        .element = TMA_BF16,
        .data = static_cast<const unsigned char *>(a->workspace) + m.at,
        .rows = m.rows,
        .cols = m.cols / 2,
        .ld = m.cols / 2,
        .box_rows = box_rows,
        .box_cols = 64,
        .swizzle = true,
    };
    const struct tma_matrices sequences = { each, a->batch, m.rows * m.cols / 2 };

    return tma_describe_3d(map, &sequences);
}

#endif
