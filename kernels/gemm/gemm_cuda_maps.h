/* SPDX-License-Identifier: MIT */
/*
 * Index arithmetic of the tiled products on CUDA: which tile a block computes, which part of K,
 * which stage of the ring a step uses, which row of a tile a lane points ldmatrix at. Plain
 * functions of integers, tested for all their values in tests/kernels/test_cuda_maps.cc.
 */
#ifndef HARNESS_KERNELS_GEMM_GEMM_CUDA_MAPS_H
#define HARNESS_KERNELS_GEMM_GEMM_CUDA_MAPS_H

#include "kernels/cuda/swizzle.h"

#include <cuda_runtime.h>

#include <stdint.h>

struct gemm_tile_at {
    int row, col; /* in tiles */
};

/*
 * The order of tiles, for blocks that run at about the same time to share rows of x and of w in
 * the L2 cache: bands of `band` tile rows, within a band column after column.
 *
 *     band 2      0 2 4 6
 *                 1 3 5 7
 *                 8 9 ...     a last band may be narrower
 *
 * tiles_m * tiles_n fits into an int.
 */
__host__ __device__ constexpr gemm_tile_at gemm_tile_order(int index, int tiles_m, int tiles_n,
                                                           int band)
{
    int height = band < tiles_m ? band : tiles_m;
    int first = index / (height * tiles_n) * height;
    int rows = tiles_m - first < height ? tiles_m - first : height;
    int within = index - first * tiles_n;

    return { first + within % rows, within / rows };
}

/* Slice `index` of `split` starts at this one of `steps` steps; slice `split` starts at the end.
 * Slices differ by one step at most, and none is empty as long as split <= steps. */
__host__ __device__ constexpr int gemm_slice_start(int index, int split, int steps)
{
    return (int)((int64_t)steps * index / split);
}

/* Stage of the step after the one that uses `stage`. */
template <int STAGES> __host__ __device__ constexpr int gemm_next_stage(int stage)
{
    return stage + 1 == STAGES ? 0 : stage + 1;
}

struct gemm_piece_at {
    int row, piece;
};

/* Where lane l points one ldmatrix of four 8-row matrices of 16-byte pieces, so that register j is
 * register j of an A fragment: rows 0..15, pieces 0 and 1 (see kernels/cuda/mma.h). */
__host__ __device__ constexpr gemm_piece_at gemm_load_a(int lane)
{
    return { lane % 16, lane / 16 };
}

/* The same for B, which lies as rows of n: registers 0 and 1 are b[0], b[1] of the columns n 0..7,
 * registers 2 and 3 those of n 8..15. */
__host__ __device__ constexpr gemm_piece_at gemm_load_b(int lane)
{
    return { lane % 8 + lane / 16 * 8, lane / 8 % 2 };
}

/*
 * A row of up to 256 bytes that starts `begin` bytes behind a multiple of 16, stored by 16 lanes:
 * each may have a whole aligned piece, and an element of the ends; distances from that multiple, -1
 * for none.
 */
struct gemm_row_part {
    int piece, element;
};

__host__ __device__ constexpr gemm_row_part gemm_row_part_of(int lane, int begin, int bytes,
                                                             int size)
{
    int end = begin + bytes, piece = 16 * lane;
    int at = lane < 8 ? begin + lane * size : end / 16 * 16 + (lane - 8) * size;
    bool head = lane < 8 && begin > 0 && at < 16, tail = lane >= 8 && (begin == 0 || at >= 16);

    return { piece >= begin && piece + 16 <= end ? piece : -1,
             (head || tail) && at < end ? at : -1 };
}

/*
 * Where a lane of a SIMT warp stands: 4 x 8 lanes, `row` from bits 0 and 4 of its number and `col`
 * from bits 1 to 3. A 16-byte access to shared memory is served in groups of neighbouring lanes:
 * so each group needs few different rows and columns, and the rest is broadcast.
 */
struct gemm_lane_at {
    int row, col;
};

__host__ __device__ constexpr gemm_lane_at gemm_simt_lane(int lane)
{
    return { (lane & 1) | (lane >> 4 << 1), lane >> 1 & 7 };
}

/* Floats from a k to the next in a tile of `rows` rows that lies along them. */
__host__ __device__ constexpr int gemm_simt_pitch(int rows)
{
    return rows + 4;
}

/* In what the place of a row differs from the row, where `lanes` neighbouring lanes (8 or 16) copy
 * as many k of it: nothing but bits within four rows that are read at once. */
__host__ __device__ constexpr int gemm_simt_turned(int lanes, int k)
{
    return lanes == 16 ? k / 8 % 2 * 2 : 0;
}

/* Where such a lane writes, in floats. */
__host__ __device__ constexpr int gemm_simt_place(int lanes, int rows, int row, int k)
{
    return k * gemm_simt_pitch(rows) + (row ^ gemm_simt_turned(lanes, k));
}

#endif
