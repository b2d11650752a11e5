/* SPDX-License-Identifier: MIT */
/*
 * Who writes which logit. Rows of an odd length start anywhere, the copy engine wants 16 bytes and
 * the L2 sectors of 32: so each row has tiles of its own, `shift` columns further on than the
 * tile of products, where its sector starts.
 *
 *     tile t of w           |<-- advance -->|<-16->|      columns t advance ..
 *                                           |<-- tile t + 1 -->|
 *     row 0, shift 0        |===============|
 *     row 1, shift 15           ...........|===============|        the 16 columns that tiles
 *     row 2, shift 14          ...........|===============|         share are room for this
 *
 * What is in front of row's first sector belongs to tile 0, what is behind its last to the last.
 */
#ifndef HARNESS_KERNELS_GEMM_GEMM_CUDA_WGMMA_HEAD_MAPS_H
#define HARNESS_KERNELS_GEMM_GEMM_CUDA_WGMMA_HEAD_MAPS_H

#include "kernels/cuda/launch.h"

constexpr int HEAD_SECTOR = 16; /* elements of 2 bytes: an L2 sector */
constexpr int HEAD_PIECE = 8;   /* what the copy engine moves at least */

constexpr int HEAD_COLS = 208; /* of a tile of products */
constexpr int HEAD_ADVANCE = HEAD_COLS - HEAD_SECTOR;

static_assert(HEAD_ADVANCE % HEAD_SECTOR == 0, "whole sectors");

/* Columns of a row in front of its first sector; `start` is y's place within one, in elements. */
__host__ __device__ constexpr int head_shift(int start, int64_t row, int64_t ld)
{
    int in = (int)((row % HEAD_SECTOR) * (ld % HEAD_SECTOR) % HEAD_SECTOR);

    return (2 * HEAD_SECTOR - start - in) % HEAD_SECTOR;
}

__host__ __device__ constexpr int head_tiles(int n)
{
    return cuda_pieces(n, HEAD_ADVANCE);
}

/* What a row has of a tile: columns [first, first + 8 pieces) in whole pieces, [first + 8 pieces,
 * end) one by one, and of tile 0 [0, before) one by one. */
struct head_part {
    int first, pieces, end, before;
};

__host__ __device__ constexpr head_part head_part_of(int tile, int shift, int n)
{
    int first = tile * HEAD_ADVANCE + shift, left = n - first;
    int own = left < 0 ? 0 : left < HEAD_ADVANCE ? left : HEAD_ADVANCE;

    return { first, own / HEAD_PIECE, first + own, tile > 0 ? 0 : shift < n ? shift : n };
}

/* Where a row of the staging buffer has column `col` of the tile: what the row owns starts at
 * element 16, aligned as it is in memory. */
__host__ __device__ constexpr int head_place(int col, int shift)
{
    return HEAD_SECTOR + col - shift;
}

/* Bytes from row to row of the staging buffer: an odd number of pieces, so that 8 rows fall on
 * different banks. */
constexpr int HEAD_PITCH = ((HEAD_COLS + HEAD_SECTOR) / HEAD_PIECE | 1) * 16;

#endif
