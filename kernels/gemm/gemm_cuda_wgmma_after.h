/* SPDX-License-Identifier: MIT */
/*
 * What follows the products by wgmma in the registers of a warpgroup: bias, GELU and residual. No
 * instruction of sm_90a alone, so that the host layer runs it (tests/kernels/test_cuda_after.cc).
 *
 *     bias      a warp's lanes hold the tile's, loaded while the tile before is stored: 64 columns
 *               a register, lane l columns 2 l and 2 l + 1. On the way out four lanes of a row ask
 *               for columns 8 j ... 8 j + 7, each for two: a shuffle for two sums of two rows.
 *               So no load stands between the products and the stores.
 *     residual  pairs from L2, where they were asked for early: a tile's first part behind its last
 *               product, the others in front of the work on the part before
 *
 * Limit: about two instructions a sum for the bias, a dozen for GELU. The tiles that take turns
 * hide them behind the other warpgroup's products.
 */
#ifndef HARNESS_KERNELS_GEMM_GEMM_CUDA_WGMMA_AFTER_H
#define HARNESS_KERNELS_GEMM_GEMM_CUDA_WGMMA_AFTER_H

#include "kernels/cuda/async.h"
#include "kernels/cuda/bf16.h"
#include "kernels/cuda/math.h"
#include "kernels/cuda/reduce.h"

constexpr int WGMMA_THREADS = 128; /* of a warpgroup */

/* y = activation(x w^T + bias) + residual with tensor maps for x and w. */
template <class T> struct wgmma_args {
    int m, n, k;
    const T *bias;        /* or NULL */
    const void *residual; /* or NULL; of y's type */
    int64_t ldr;
    void *y;
    int64_t ldy;
    bool gelu, out_bf16;
    bool boxes;                      /* y can be stored in boxes */
    bool bias_pairs, residual_pairs; /* they can be read in aligned pairs */
    int rows, cols, band;            /* tiles, and rows of a band: gemm_tile_order() */
};

/* ---- Pairs ---- */

/* Two neighbours of a row, as they lie in memory. */
template <class V> struct wgmma_pair_of {
    using type = float2;
};

template <> struct wgmma_pair_of<bf16> {
    using type = uint32_t;
};

template <class V> using wgmma_pair = typename wgmma_pair_of<V>::type;

__device__ __forceinline__ float2 wgmma_floats(float2 pair)
{
    return pair;
}

__device__ __forceinline__ float2 wgmma_floats(uint32_t pair)
{
    return make_float2(cuda_bf16_low(pair), cuda_bf16_high(pair));
}

__device__ __forceinline__ float2 wgmma_pair_with(float low, float high)
{
    return make_float2(low, high);
}

__device__ __forceinline__ uint32_t wgmma_pair_with(bf16 low, bf16 high)
{
    return low.bits | (uint32_t)high.bits << 16;
}

/* What lane `lane` of the warp has. */
__device__ __forceinline__ uint32_t wgmma_pair_from(uint32_t pair, int lane)
{
    return __shfl_sync(0xffffffffu, pair, lane);
}

__device__ __forceinline__ float2 wgmma_pair_from(float2 pair, int lane)
{
    return make_float2(__shfl_sync(0xffffffffu, pair.x, lane),
                       __shfl_sync(0xffffffffu, pair.y, lane));
}

/* NR pairs, STEP elements from one to the next, of a row of which `left` exist (any number), zeros
 * else; `pairs`: aligned, and of a pair none or both exist. One branch for all: in a branch of its
 * own each would wait for its load. */
template <int STEP, class V, int NR>
__device__ __forceinline__ void wgmma_load_pairs(wgmma_pair<V> (&to)[NR], const V *from, int left,
                                                 bool pairs)
{
    if (pairs) {
#pragma unroll
        for (int i = 0; i < NR; i++)
            to[i] = left > STEP * i ? *reinterpret_cast<const wgmma_pair<V> *>(from + STEP * i)
                                    : wgmma_pair<V> {};
    } else {
#pragma unroll
        for (int i = 0; i < NR; i++)
            to[i] = wgmma_pair_with(left > STEP * i ? from[STEP * i] : V {},
                                    left > STEP * i + 1 ? from[STEP * i + 1] : V {});
    }
}

/* ---- Bias and residual of a tile ---- */

/* The bias of BN columns, in the registers of each warp. */
template <class T, int BN> struct wgmma_bias {
    static_assert(BN % 64 == 0, "two columns a lane");
    wgmma_pair<T> own[BN / 64] = {};

    /* The columns from `col` on. */
    __device__ __forceinline__ void load(const wgmma_args<T> &g, int col)
    {
        col += 2 * cuda_lane();
        if (g.bias != nullptr)
            wgmma_load_pairs<64>(own, g.bias + col, g.n - col, g.bias_pairs);
    }
    /* That of a lane's two columns from `column`, a multiple of 8, on. By all lanes. */
    __device__ __forceinline__ float2 of(int column) const
    {
        return wgmma_floats(wgmma_pair_from(own[column / 64], column % 64 / 2 + cuda_lane() % 4));
    }
};

/* Columns of OUT in 128 bytes: a part of a tile on its way out. */
template <class OUT> constexpr int wgmma_part = 128 / (int)sizeof(OUT);

/* The residual of a lane's two rows, 8 apart, for a part: 16 registers whatever its type. */
struct wgmma_residual {
    uint32_t words[2][8] = {};

    template <class OUT, class T>
    __device__ __forceinline__ void load(const wgmma_args<T> &g, int row, int col)
    {
        if (g.residual == nullptr)
            return;
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const OUT *from = static_cast<const OUT *>(g.residual) + (row + 8 * h) * g.ldr + col;
            int left = row + 8 * h < g.m ? g.n - col : 0;
            wgmma_pair<OUT> pairs[wgmma_part<OUT> / 8];
            wgmma_load_pairs<8>(pairs, from, left, g.residual_pairs);
#pragma unroll
            for (int j = 0; j < wgmma_part<OUT> / 8; j++)
                put(h, j, pairs[j]);
        }
    }
    /* The part whose first sum is for (row, col). */
    template <class T>
    __device__ __forceinline__ void load_any(const wgmma_args<T> &g, int row, int col)
    {
        if (sizeof(T) == 2 && g.out_bf16)
            load<bf16>(g, row, col);
        else
            load<float>(g, row, col);
    }
    __device__ __forceinline__ void put(int h, int j, uint32_t pair)
    {
        words[h][j] = pair;
    }
    __device__ __forceinline__ void put(int h, int j, float2 pair)
    {
        words[h][2 * j] = cuda_float_bits(pair.x), words[h][2 * j + 1] = cuda_float_bits(pair.y);
    }
    /* Row h, columns 8 j and the next. */
    template <class OUT> __device__ __forceinline__ float2 of(int h, int j) const
    {
        if constexpr (sizeof(OUT) == 2)
            return wgmma_floats(words[h][j]);
        else
            return make_float2(cuda_bits_float(words[h][2 * j]),
                               cuda_bits_float(words[h][2 * j + 1]));
    }
};

/* What follows the product of 64 rows at (row, col) will read: to L2, while the product runs. */
template <class TILE, class T>
__device__ __forceinline__ void wgmma_prefetch_out(const wgmma_args<T> &g, int row, int col)
{
    constexpr int line = 128;
    int t = (int)threadIdx.x % WGMMA_THREADS, size = g.out_bf16 ? 2 : 4;
    const char *residual = static_cast<const char *>(g.residual);

    row += t / 2;
    if (g.residual != nullptr && row < g.m)
        for (int at = t % 2 * line; at < min(TILE::bn, g.n - col) * size; at += 2 * line)
            cuda_prefetch(residual + (row * g.ldr + col) * size + at);
}

/* ---- The sums ---- */

/* A part of a thread's sums, from `column` of the tile on. */
template <class OUT, class T, int BN>
__device__ __forceinline__ void wgmma_finish(const wgmma_args<T> &g, float *f, int column,
                                             const wgmma_bias<T, BN> &bias,
                                             const wgmma_residual &residual)
{
    constexpr int sums = wgmma_part<OUT> / 2;

    if (g.bias != nullptr) {
#pragma unroll
        for (int j = 0; j < sums / 4; j++) {
            float2 b = bias.of(column + 8 * j);
            f[4 * j] += b.x, f[4 * j + 1] += b.y, f[4 * j + 2] += b.x, f[4 * j + 3] += b.y;
        }
    }
    if (g.gelu) {
#pragma unroll
        for (int i = 0; i < sums; i += 2)
            cuda_gelu_two(f[i], f[i + 1]);
    }
    if (g.residual != nullptr) {
#pragma unroll
        for (int j = 0; j < sums / 2; j++) {
            float2 r = residual.of<OUT>(j % 2, j / 2);
            f[2 * j] += r.x, f[2 * j + 1] += r.y;
        }
    }
}

/* Columns [from, to) of a tile, whole parts. (row, col) is what a thread's first sum of the tile is
 * for; `ahead` is the residual of the part at `from`, and becomes that of the part at `to`. */
template <class OUT, class T, int BN>
__device__ __forceinline__ void wgmma_finish_columns(const wgmma_args<T> &g, float (&d)[BN / 2],
                                                     const wgmma_bias<T, BN> &bias,
                                                     wgmma_residual &ahead, int from, int to,
                                                     int row, int col)
{
    constexpr int part = wgmma_part<OUT>;

#pragma unroll
    for (int c = 0; c < BN; c += part) {
        if (c < from || c >= to)
            continue;
        const wgmma_residual now = ahead;
        if (c + part < BN)
            ahead.load<OUT>(g, row, col + c + part);
        wgmma_finish<OUT>(g, d + c / 2, c, bias, now);
    }
}

#endif
