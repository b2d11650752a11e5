/* SPDX-License-Identifier: MIT */
/*
 * The FMA units fed three levels deep: a tile a block in shared memory, a tile a warp, a tile of
 * 8 x 8 outputs (or less) a thread in registers.
 *
 *                 m                    n
 *           +-----------+        +-----------+        128 x 128 a block, 8 warps, two blocks an SM
 *         k |  |  |  |  |      k |     |     |        32 x 64 a warp, 4 x 8 lanes
 *           +-----------+        +-----------+        8 x 8 a thread: rows 4 lane.row + 16 r +
 * 0..3, |     x     |        |     w     |        columns 4 lane.col + 32 q + 0..3
 *
 * Both factors lie along m or n in shared memory, a k after the other: 4 reads of 16 bytes serve
 * 64 multiply-adds, and are under way while those of the k before are done. Where memory has k
 * contiguous, cp.async turns the tile, 4 bytes at a time (gemm_cuda_simt_copy.h); so rows need no
 * alignment. Stages of 16 k are copied three ahead.
 *
 * The registers' banks decide the order of the multiply-adds. A quarter of an SM reads one register
 * of even and one of odd number a cycle, and a multiply-add has three operands: one must be what
 * the one before it read at the same place, and the other two must differ in parity. A vector of
 * four lies in registers 4 r .. 4 r + 3, so w[col] has the parity of col, and so has x that of row:
 *
 *     a row of x stays while w walks over the columns, there and back;
 *     w[col] lies at col ^ 1, and the sums at col: they differ in parity at each step, and so do x
 *     and the sum where a walk ends and w stays
 *
 * (Factors that are read along k have the parity of k, both of them, which is half of the time that
 * of the sum: 1.4 cycles a multiply-add.)
 *
 * Limit: the FMA units, 128 multiply-adds a cycle and SM (67 TFLOP/s on an H100 at 1980 MHz), less
 * the issue slots of what is no multiply-add: about 180 of 1200 instructions in the loop of the
 * largest tile; and the copies of 4 bytes, of which a step of 128 x 128 has 128 a block, each
 * of four rows, in the queue of which its 512 reads wait as well.
 *
 * 8 x 16 a thread should have been faster by its instructions: 200 of 2250 that are no
 * multiply-add, and 13 % of those that are with operands that meet in a bank, instead of 18.
 * Measured on an H200 against cuBLAS in full float32, operands not in L2, 128 x 128 in 8 and 4
 * warps (TFLOP/s, and the share of cuBLAS's rate):
 *
 *     m x n x k           8 x 8          8 x 16         8 x 16, 256 x 128
 *       1024^3          36.7  1.08     33.0  0.97                           (slices of K)
 *       4096^3          46.6  0.92     43.4  0.86      45.8  0.91
 *       8192^3          47.5  0.93     44.0  0.86      46.6  0.91
 *       8192x3072x768   44.9  0.91     41.8  0.85      43.5  0.88
 *
 * Supposed: it has two warps a quarter of an SM instead of four, so that nobody computes while one
 * waits for its reads behind the copies of the other; with a quarter less to copy (256 x 128), or
 * the same by half as many rows a copy (16 lanes a row: 0.89), it lost less. 16 x 8 a thread
 * reached 0.80, and sums whose place in a vector is the column's own 0.79. Which registers the
 * compiler takes follows the order below: others that were compiled had more conflicts (184 of 1024
 * multiply-adds as it is, 270 with the columns outside, 393 by squares of 4 x 4).
 */
#ifndef HARNESS_KERNELS_GEMM_GEMM_CUDA_SIMT_H
#define HARNESS_KERNELS_GEMM_GEMM_CUDA_SIMT_H

#include "kernels/gemm/gemm_cuda_launch.h"
#include "kernels/gemm/gemm_cuda_simt_copy.h"

/* BM x BN outputs a block, TM x TN a thread, RESIDENT blocks an SM; STAGES of DEPTH along K, which
 * LANES_K neighbouring lanes copy at a time where they turn it. FLIP: w lies at its column
 * exclusive-or that (1; 0 shows what the registers' banks cost). */
template <int BM, int BN, int TM, int TN, int RESIDENT, int DEPTH = 16, int STAGES = 4,
          int LANES_K = 8, int FLIP = 1>
struct simt_tile {
    static constexpr int bm = BM, bn = BN, tm = TM, tn = TN, resident = RESIDENT;
    static constexpr int depth = DEPTH, stages = STAGES, lanes_k = LANES_K, flip = FLIP;
    static constexpr int wm = SIMT_LANES_M * TM, wn = SIMT_LANES_N * TN; /* of a warp */
    static constexpr int warps_n = BN / wn, warps = BM / wm * warps_n, threads = CUDA_WARP * warps;
    static constexpr int x_bytes = gemm_simt_pitch(BM) * DEPTH * 4;
    static constexpr int stage_bytes = x_bytes + gemm_simt_pitch(BN) * DEPTH * 4;
    static constexpr int ring = STAGES * stage_bytes, strips = gemm_strips_bytes<warps, wm, wn>;
    static constexpr int shared = ring > strips ? ring : strips;
    static constexpr bool any_alignment = BM == BN; /* a large and a small one: enough for that */
    static_assert(BM % wm == 0 && BN % wn == 0 && TM % 4 == 0 && TN % 4 == 0, "whole vectors");
    static_assert(STAGES >= 3, "one is read, one has arrived, one is under way");
};

template <class TILE> struct simt_shared {
    alignas(128) unsigned char bytes[TILE::shared];
};

/* Where a thread's outputs are within the block's tile. */
template <class TILE> struct simt_place {
    int row, col; /* of its warp */
    gemm_lane_at lane;
    __device__ __forceinline__ simt_place() : lane(gemm_simt_lane(cuda_lane()))
    {
        row = cuda_warp() / TILE::warps_n * TILE::wm;
        col = cuda_warp() % TILE::warps_n * TILE::wn;
    }
};

template <class TILE> using simt_sums = float[TILE::tm * TILE::tn / 4][4];

/* What a thread needs for a k. */
template <class TILE> struct simt_fragments {
    cuda_vector<float, 4> x[TILE::tm / 4], w[TILE::tn / 4];

    __device__ __forceinline__ void read(const unsigned char *stage, const simt_place<TILE> &at,
                                         int k)
    {
        const float *rows = reinterpret_cast<const float *>(stage) + at.row + 4 * at.lane.row;
        const float *columns =
            reinterpret_cast<const float *>(stage + TILE::x_bytes) + at.col + 4 * at.lane.col;

#pragma unroll
        for (int r = 0; r < TILE::tm / 4; r++)
            x[r] = cuda_load<4>(rows + k * gemm_simt_pitch(TILE::bm) + 4 * SIMT_LANES_M * r);
#pragma unroll
        for (int q = 0; q < TILE::tn / 4; q++)
            w[q] = cuda_load<4>(columns + k * gemm_simt_pitch(TILE::bn) + 4 * SIMT_LANES_N * q);
    }
};

/* Where a column's sum is among its four: gemm/nn copies w's columns to where they are, and flips
 * the sums instead. */
template <class TILE, bool NN> constexpr int simt_flip_sums = NN ? TILE::flip : 0;

/* sums += x w^T for a k. */
template <class TILE, bool NN>
static __device__ __forceinline__ void simt_multiply(const simt_fragments<TILE> &f, int k,
                                                     simt_sums<TILE> &sums)
{
    constexpr int flip = simt_flip_sums<TILE, NN>;
    int turned = gemm_simt_turned(TILE::lanes_k, k), place = NN ? 0 : TILE::flip ^ turned;

#pragma unroll
    for (int i = 0; i < TILE::tm; i++) {
        float x = f.x[i / 4].at[i % 4 ^ turned];
#pragma unroll
        for (int t = 0; t < TILE::tn; t++) {
            int j = i % 2 ? TILE::tn - 1 - t : t;
            float &sum = sums[(i * TILE::tn + j) / 4][j % 4 ^ flip];
            sum = fmaf(x, f.w[j / 4].at[j % 4 ^ place], sum);
        }
    }
}

/* A step: its last k is read already when the next step has arrived and all are done with the
 * stage of the step before, which is filled again. f[0] is of the first k, of the next step in the
 * end. */
template <class TILE, bool NN, bool WIDE>
static __device__ __forceinline__ void simt_step(unsigned char *stages, int at,
                                                 const simt_place<TILE> &place, bool more,
                                                 simt_copies<TILE, NN, WIDE> &copies,
                                                 simt_fragments<TILE> (&f)[2],
                                                 simt_sums<TILE> &sums)
{
    int next = gemm_next_stage<TILE::stages>(at), fill = (at ? at : TILE::stages) - 1;

#pragma unroll
    for (int k = 0; k < TILE::depth - 1; k++) {
        f[(k + 1) % 2].read(stages + at * TILE::stage_bytes, place, k + 1);
        simt_multiply<TILE, NN>(f[k % 2], k, sums);
    }
    cuda_async_wait<TILE::stages - 3>();
    __syncthreads();
    f[0].read(stages + next * TILE::stage_bytes, place, 0);
    if (more)
        copies.next(stages + fill * TILE::stage_bytes);
    cuda_async_commit();
    simt_multiply<TILE, NN>(f[1], TILE::depth - 1, sums);
}

/* Copies the first steps; the weights are asked for before the kernel waits for the one that makes
 * x. */
template <class TILE, bool NN, bool WIDE>
static __device__ __forceinline__ void simt_begin(unsigned char *stages,
                                                  simt_copies<TILE, NN, WIDE> &copies, int steps)
{
#pragma unroll 1
    for (int s = 0; s < TILE::stages - 1 && s < steps; s++)
        copies.weights(stages + s * TILE::stage_bytes, s);
    cuda_pdl_wait();
#pragma unroll 1
    for (int s = 0; s < TILE::stages - 1; s++) {
        if (s < steps)
            copies.inputs(stages + s * TILE::stage_bytes);
        cuda_async_commit();
    }
}

/* All steps of a slice, the copies STAGES - 1 steps ahead. */
template <class TILE, bool NN, bool WIDE>
static __device__ __forceinline__ void simt_steps(unsigned char *stages, const gemm_args<float> &g,
                                                  const gemm_work &work, simt_sums<TILE> &sums)
{
    simt_copies<TILE, NN, WIDE> copies(g, work);
    simt_place<TILE> place;
    simt_fragments<TILE> f[2];
    int at = 0;

    simt_begin<TILE, NN, WIDE>(stages, copies, work.steps);
    cuda_async_wait<TILE::stages - 2>();
    __syncthreads();
    f[0].read(stages, place, 0);
#pragma unroll 1
    for (int s = 0; s < work.steps; s++) {
        bool more = s + TILE::stages - 1 < work.steps;
        simt_step<TILE, NN, WIDE>(stages, at, place, more, copies, f, sums);
        at = gemm_next_stage<TILE::stages>(at);
    }
    cuda_async_wait<0>();
    __syncthreads();
}

template <class TILE, bool NN>
static __device__ __forceinline__ void simt_store(unsigned char *stages, const gemm_args<float> &g,
                                                  int row, int col, const simt_sums<TILE> &sums)
{
    constexpr int pitch = gemm_strip_pitch<TILE::wn>, quads = TILE::tn / 4;
    simt_place<TILE> at;
    float *strip = reinterpret_cast<float *>(stages) + cuda_warp() * TILE::wm * pitch;
    float *mine = strip + 4 * (at.lane.row * pitch + at.lane.col);

#pragma unroll
    for (int i = 0; i < TILE::tm * quads; i++) {
        int r = i / quads, q = i % quads;
        float *to = mine + (r / 4 * 4 * SIMT_LANES_M + r % 4) * pitch + 4 * SIMT_LANES_N * q;
        if constexpr (simt_flip_sums<TILE, NN> == 0)
            cuda_store(to, cuda_pack<float>(sums[i]));
        else /* one by one, so that the vectors of registers remain those of the order above */
            to[0] = sums[i][1], to[1] = sums[i][0], to[2] = sums[i][3], to[3] = sums[i][2];
    }
    gemm_store_strip<TILE::wm, TILE::wn>(g, strip, row + at.row, col + at.col);
}

template <class TILE, bool NN, bool WIDE>
__global__ void __launch_bounds__(TILE::threads, TILE::resident)
    gemm_simt_kernel(const gemm_args<float> g)
{
    unsigned char *stages = cuda_shared<simt_shared<TILE>>().bytes;
    simt_sums<TILE> sums = {};

    cuda_pdl_launch();
    simt_steps<TILE, NN, WIDE>(stages, g, gemm_work_of(g, TILE::bm, TILE::bn, TILE::depth), sums);
    gemm_work work = gemm_work_of(g, TILE::bm, TILE::bn, TILE::depth);
    if (g.split > 1 && !gemm_join_slices<TILE::threads>(g, work.tile, work.slice, sums))
        return;
    simt_store<TILE, NN>(stages, g, work.row, work.col, sums);
}

/* gemm/linear takes rows of any alignment as they come. */
template <class TILE, bool NN>
static void simt_enqueue_tile(const gemm_args<float> &a, bool wide, cudaStream_t stream)
{
    if (wide || !NN)
        gemm_cuda_enqueue<gemm_simt_kernel<TILE, NN, true>, TILE>(a, stream);
    else if constexpr (NN && TILE::any_alignment)
        gemm_cuda_enqueue<gemm_simt_kernel<TILE, NN, false>, TILE>(a, stream);
}

#endif
