/* SPDX-License-Identifier: MIT */
/*
 * Where a 16-byte piece of a tile row lies in shared memory, so that the 8 rows of one ldmatrix
 * (and the 8 threads of one phase of a 16-byte store) fall on different banks.
 *
 * Shared memory has 32 banks of 4 bytes: a line of 128 bytes holds 8 pieces. With PIECES pieces a
 * row (a power of two), 8/PIECES rows share a line (one row where PIECES >= 8). Exclusive-or of the
 * piece with the line number modulo 8 sends the same piece of 8 neighbouring lines to 8 different
 * places:
 *
 *     PIECES 8, rows 0..3      0 1 2 3 4 5 6 7
 *                              1 0 3 2 5 4 7 6
 *                              2 3 0 1 6 7 4 5
 *                              3 2 1 0 7 6 5 4
 *
 * Within PIECES < 8 the exclusive-or takes the line number modulo PIECES, as the row's own place in
 * the line gives the other bits. It is its own inverse, and a bijection within each row.
 */
#ifndef HARNESS_KERNELS_CUDA_SWIZZLE_H
#define HARNESS_KERNELS_CUDA_SWIZZLE_H

/* The piece of its row at which (row, piece) lies. */
template <int PIECES> __host__ __device__ constexpr int cuda_swizzle(int row, int piece)
{
    static_assert(PIECES > 0 && (PIECES & (PIECES - 1)) == 0, "a power of two");
    constexpr int rows_a_line = PIECES >= 8 ? 1 : 8 / PIECES;
    constexpr int places = PIECES >= 8 ? 8 : PIECES;

    return piece ^ (row / rows_a_line % places);
}

/* Its distance in bytes from the tile's start. */
template <int PIECES> __host__ __device__ constexpr int cuda_swizzled_bytes(int row, int piece)
{
    return 16 * (row * PIECES + cuda_swizzle<PIECES>(row, piece));
}

#endif
