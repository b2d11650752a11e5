/* SPDX-License-Identifier: MIT */
/*
 * Tiles of the SIMT product on their way to shared memory, where they lie along m or n, a k after
 * the other.
 *
 * A factor that is contiguous along k is turned by cp.async of 4 bytes: LANES_K neighbouring lanes
 * take as many k of a row, whole sectors of memory, and the warp's 32 / LANES_K rows are
 * neighbours. Between two k lie 4 more floats than rows, so that lanes write to different banks:
 *
 *     LANES_K 8     bank 4 k + row, k to 7 and row to 3
 *     LANES_K 16    the same with row ^ 2 from k 8 on, k to 15 and row to 1: a lane of 16 k touches
 *                   half as many lines of memory
 *
 * Tiles that are there as a whole are copied without a question asked, the others row by row.
 */
#ifndef HARNESS_KERNELS_GEMM_GEMM_CUDA_SIMT_COPY_H
#define HARNESS_KERNELS_GEMM_GEMM_CUDA_SIMT_COPY_H

#include "kernels/gemm/gemm_cuda_tile.h"

#include <type_traits>

/* Lanes of a warp. */
constexpr int SIMT_LANES_M = 4, SIMT_LANES_N = 8;

/* A thread's share of [rows, k] tiles that are turned; FLIP: rows lie at row ^ FLIP. */
template <class TILE, int ROWS, int FLIP> struct simt_turner {
    static constexpr int lanes = TILE::lanes_k, at_once = TILE::threads / lanes;
    static constexpr int pitch = gemm_simt_pitch(ROWS);
    static_assert(ROWS % at_once == 0 && TILE::depth % lanes == 0, "even shares");
    static_assert(lanes == 8 || lanes == 16, "what banks are counted for");

    const float *from;
    int64_t ld;
    int place; /* bytes */

    __device__ __forceinline__ simt_turner(const float *matrix, int64_t rows_apart, int row, int k)
        : ld(rows_apart)
    {
        int r = (int)threadIdx.x / lanes, p = (int)threadIdx.x % lanes;

        from = matrix + (row + r) * rows_apart + k + p;
        place = 4 * gemm_simt_place(lanes, ROWS, r ^ FLIP, p);
    }

    /* Rows r, r + at_once, ... and k p, p + lanes, ...: piece `i` of the rows. */
    template <class VALID>
    __device__ __forceinline__ void piece(unsigned char *tile, int i, VALID valid) const
    {
        const float *row = from + i * at_once * ld;

#pragma unroll
        for (int k = 0; k < TILE::depth; k += lanes)
            cuda_async_copy<4>(tile + place + 4 * (k * pitch + i * at_once), row + k, valid(k));
    }

    __device__ __forceinline__ void copy(unsigned char *tile, int rows, int depth) const
    {
        int below = rows - (int)threadIdx.x / lanes, left = depth - (int)threadIdx.x % lanes;

        if (rows >= ROWS && depth >= TILE::depth) {
#pragma unroll
            for (int i = 0; i < ROWS / at_once; i++)
                piece(tile, i, [](int) { return true; });
            return;
        }
#pragma unroll 1
        for (int i = 0; i < ROWS / at_once; i++)
            piece(tile, i, [=](int k) { return i * at_once < below && k < left; });
    }

    __device__ __forceinline__ void advance(int steps)
    {
        from += steps * TILE::depth;
    }
};

/* The same of [k, columns], as it is. */
template <class TILE, bool WIDE> struct simt_straight {
    static constexpr int lanes = TILE::bn / 4, at_once = TILE::threads / lanes;
    static_assert(TILE::threads % lanes == 0 && TILE::depth % at_once == 0, "even shares");

    const float *from;
    int64_t ld;
    int place;

    __device__ __forceinline__ simt_straight(const float *w, int64_t pitch, int col, int k)
        : ld(pitch)
    {
        int p = (int)threadIdx.x / lanes, n = (int)threadIdx.x % lanes * 4;

        from = w + (k + p) * pitch + col + n;
        place = 4 * (p * gemm_simt_pitch(TILE::bn) + n);
    }

    __device__ __forceinline__ void copy(unsigned char *tile, int cols, int depth) const
    {
        int below = depth - (int)threadIdx.x / lanes;
        int left = cols - (int)threadIdx.x % lanes * 4;

#pragma unroll
        for (int k = 0; k < TILE::depth; k += at_once)
            gemm_copy_piece<WIDE>(tile + place + 4 * gemm_simt_pitch(TILE::bn) * k, from + k * ld,
                                  k < below ? left : 0);
    }

    __device__ __forceinline__ void advance(int steps)
    {
        from += steps * TILE::depth * ld;
    }
};

/* The copies of a thread, stage after stage. */
template <class TILE, bool NN, bool WIDE> struct simt_copies {
    simt_turner<TILE, TILE::bm, 0> x;
    std::conditional_t<NN, simt_straight<TILE, WIDE>, simt_turner<TILE, TILE::bn, TILE::flip>> w;
    int m, n, k; /* that exist from the corner of the next tiles on */

    __device__ __forceinline__ simt_copies(const gemm_args<float> &g, const gemm_work &at)
        : x(g.x, g.ldx, at.row, at.first * TILE::depth),
          w(g.w, g.ldw, at.col, at.first * TILE::depth), m(g.m - at.row), n(g.n - at.col),
          k(g.k - at.first * TILE::depth)
    {
    }

    /* Of the step `ahead` of the next one. */
    __device__ __forceinline__ void weights(unsigned char *stage, int ahead) const
    {
        auto of = w;

        of.advance(ahead);
        of.copy(stage + TILE::x_bytes, n, k - ahead * TILE::depth);
    }

    __device__ __forceinline__ void inputs(unsigned char *stage)
    {
        x.copy(stage, m, k);
        x.advance(1), w.advance(1), k -= TILE::depth;
    }

    __device__ __forceinline__ void next(unsigned char *stage)
    {
        weights(stage, 0);
        inputs(stage);
    }
};

#endif
