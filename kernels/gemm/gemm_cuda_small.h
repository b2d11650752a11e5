/* SPDX-License-Identifier: MIT */
/*
 * The linear layer for up to 8 rows of x, as in decoding: there is hardly any arithmetic, so
 * everything is about reading w once at memory bandwidth.
 *
 *             k                        32 lanes x 16 bytes >
 *     x [ 1..8 rows ]          w  4 rows  |------|------|------|   a warp, or each of 2, 4 or 8
 *                                         |------|------|------|   warps a part of k
 *
 * A warp walks along k with four rows of w at once, so every lane has four reads of 16 bytes under
 * way and each piece of x, which stays in the L1 cache, serves four columns of y. Where n is too
 * small to fill the device, several warps of a block share the rows and add up at the end.
 *
 * Limit: memory bandwidth for w.
 */
#ifndef HARNESS_KERNELS_GEMM_GEMM_CUDA_SMALL_H
#define HARNESS_KERNELS_GEMM_GEMM_CUDA_SMALL_H

#include "kernels/gemm/gemm_cuda_launch.h"

constexpr int GEMM_SMALL_ROWS = 8; /* of x at most */
constexpr int GEMM_SMALL_COLS = 4; /* of y for a warp */
constexpr int GEMM_SMALL_WARPS = 8;
constexpr int GEMM_SMALL_WARPS_PER_SM = 16; /* 2 KiB each under way fill the memory's latency */

template <int SUMS> struct gemm_small_shared {
    float sum[GEMM_SMALL_WARPS][SUMS];
};

/* ROWS x COLS sums over the parts of k that belong to this lane; sum (c, r) at c * ROWS + r. Rows
 * and columns that do not exist are read as the last one that does. */
template <int ROWS, bool TF32, bool WIDE, class T>
__device__ __forceinline__ void gemm_small_sums(const struct gemm_args<T> &g, int col, int part,
                                                float (&sums)[ROWS * GEMM_SMALL_COLS])
{
    constexpr int width = WIDE ? cuda_wide<T> : 1;
    const T *w[GEMM_SMALL_COLS];
    int k = (part * CUDA_WARP + cuda_lane()) * width;

#pragma unroll
    for (int c = 0; c < GEMM_SMALL_COLS; c++)
        w[c] = g.w + (int64_t)min(col + c, g.n - 1) * g.ldw;
    if (k < g.k) /* the first reads of w, which need not wait: a launch ahead */
#pragma unroll
        for (int c = 0; c < GEMM_SMALL_COLS; c++)
            cuda_prefetch(w[c] + k);
    cuda_pdl_wait();
#pragma unroll(ROWS > 4 ? 1 : 2)
    for (; k < g.k; k += g.split * CUDA_WARP * width) {
        cuda_vector<T, width> right[GEMM_SMALL_COLS];
#pragma unroll
        for (int c = 0; c < GEMM_SMALL_COLS; c++)
            right[c] = cuda_load<width>(w[c] + k);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            auto left = cuda_load<width>(g.x + (int64_t)min(r, g.m - 1) * g.ldx + k);
#pragma unroll
            for (int c = 0; c < GEMM_SMALL_COLS; c++)
#pragma unroll
                for (int e = 0; e < width; e++) {
                    float a = cuda_float(left.at[e]), b = cuda_float(right[c].at[e]);
                    if constexpr (TF32)
                        a = cuda_bits_float(cuda_tf32(a)), b = cuda_bits_float(cuda_tf32(b));
                    sums[c * ROWS + r] = fmaf(a, b, sums[c * ROWS + r]);
                }
        }
    }
}

/* g.split: warps that share four columns of y, a power of two. */
template <int ROWS, bool TF32, bool WIDE, class T>
__global__ void __launch_bounds__(GEMM_SMALL_WARPS *CUDA_WARP, 2)
    gemm_small_kernel(const gemm_args<T> g)
{
    constexpr int nr = ROWS * GEMM_SMALL_COLS, lanes = CUDA_WARP / nr; /* lanes with the same sum */
    auto &shared = cuda_shared<gemm_small_shared<nr>>();
    int part = cuda_warp() % g.split, group = cuda_warp() / g.split;
    int64_t first = (int64_t)blockIdx.x * (GEMM_SMALL_WARPS / g.split) + group;
    int col = (int)min(first * GEMM_SMALL_COLS, (int64_t)g.n);
    int mine = cuda_lane() / lanes, at_col = col + mine / ROWS, at_row = mine % ROWS;
    float sums[nr] = {}, total[1];

    cuda_pdl_launch();
    gemm_small_sums<ROWS, TF32, WIDE>(g, col, part, sums);
    total[0] = cuda_warp_sums(sums);
    if (g.split > 1) {
        shared.sum[cuda_warp()][mine] = total[0];
        __syncthreads();
        total[0] = 0;
        for (int i = 0; i < g.split; i++)
            total[0] += shared.sum[group * g.split + i][mine];
    }
    if (part > 0 || cuda_lane() % lanes != 0 || at_col >= g.n || at_row >= g.m)
        return;
    if constexpr (sizeof(T) == 2) {
        if (g.out_bf16) {
            gemm_finish<bf16>(g, at_row, at_col, total);
            return;
        }
    }
    gemm_finish<float>(g, at_row, at_col, total);
}

/* Warps that share columns: as many as it takes to fill the device, or as k has parts. */
inline int gemm_small_split(int64_t n, int64_t k, int width, int sms)
{
    int64_t groups = cuda_pieces<int64_t>(n, GEMM_SMALL_COLS);
    int64_t parts = cuda_pieces<int64_t>(k, (int64_t)CUDA_WARP * width);
    int split = 1;

    while (split < GEMM_SMALL_WARPS && split < parts &&
           groups * split < (int64_t)sms * GEMM_SMALL_WARPS_PER_SM)
        split *= 2;
    return split;
}

template <int ROWS, class T, bool TF32>
static void gemm_small_enqueue_rows(const struct gemm_args<T> &a, bool wide, cudaStream_t stream)
{
    constexpr size_t shared = sizeof(gemm_small_shared<ROWS * GEMM_SMALL_COLS>);
    constexpr unsigned threads = GEMM_SMALL_WARPS * CUDA_WARP;
    int cols = GEMM_SMALL_WARPS / a.split * GEMM_SMALL_COLS;
    unsigned blocks = (unsigned)cuda_pieces(a.n, cols);

    if (wide)
        cuda_launch_with<gemm_small_kernel<ROWS, TF32, true, T>>({ .early = a.early }, blocks,
                                                                 threads, shared, stream, a);
    else
        cuda_launch_with<gemm_small_kernel<ROWS, TF32, false, T>>({ .early = a.early }, blocks,
                                                                  threads, shared, stream, a);
}

/* g->m <= GEMM_SMALL_ROWS. TF32: x and w are rounded to it. */
template <class T, bool TF32>
static void gemm_small_enqueue(const struct gemm_cuda *g, cudaStream_t stream)
{
    bool wide = gemm_cuda_wide<T>(g, g->k);
    int width = wide ? cuda_wide<T> : 1;
    struct gemm_cuda_plan plan = { 0, 1, 1, gemm_small_split(g->n, g->k, width, g->sms) };
    struct gemm_args<T> a = gemm_args_of<T>(g, &plan);

    if (a.m == 1)
        gemm_small_enqueue_rows<1, T, TF32>(a, wide, stream);
    else if (a.m == 2)
        gemm_small_enqueue_rows<2, T, TF32>(a, wide, stream);
    else if (a.m <= 4)
        gemm_small_enqueue_rows<4, T, TF32>(a, wide, stream);
    else
        gemm_small_enqueue_rows<8, T, TF32>(a, wide, stream);
}

#endif
