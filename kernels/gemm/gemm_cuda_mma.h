/* SPDX-License-Identifier: MIT */
/*
 * The linear layer on the tensor cores through mma.sync, for bf16 and for tf32: the same bytes move
 * the same way, only what a step multiplies differs.
 *
 *           128 bytes of k                n
 *          +--+--+--+--+        +----+----+----+----+      128 x 256 a block, 8 warps
 *          |  |  |  |  |      k | w, rows of k too  |      64 x 64 a warp: 4 x 8 mma of 16 x 8,
 *    m 128 |  |  |  |  | ...    +----+----+----+----+      128 sums a thread in registers
 *          |  |  |  |  |
 *          +--+--+--+--+        a stage: 4 steps of 32 bytes of k (16 bf16 or 8 tf32)
 *
 * Rows of 128 bytes lie in shared memory as 8 pieces of 16 bytes, swizzled so that the 8 rows that
 * an ldmatrix reads fall on different banks. cp.async brings stages ahead; the fragments of the
 * next step are loaded while those of this one are multiplied, across the border of stages too.
 *
 * Smaller tiles and slices of K for small products (gemm_cuda_plan.h), gemm_cuda_small.h for up to
 * 8 rows of x. Rows that are not 16-byte aligned take one tile whose bf16 goes through registers.
 */
#ifndef HARNESS_KERNELS_GEMM_GEMM_CUDA_MMA_H
#define HARNESS_KERNELS_GEMM_GEMM_CUDA_MMA_H

#include "kernels/cuda/mma.h"
#include "kernels/gemm/gemm_cuda_launch.h"
#include "kernels/gemm/gemm_cuda_small.h"

/* Of a row of a stage: pieces, and steps of two of them. */
constexpr int MMA_PIECES = 8, MMA_STEPS = MMA_PIECES / 2;

/* BM x BN outputs a block, WM x WN a warp, RESIDENT blocks an SM. */
template <int BM, int BN, int WM, int WN, int STAGES, int RESIDENT> struct mma_tile {
    static constexpr int bm = BM, bn = BN, wm = WM, wn = WN, stages = STAGES, resident = RESIDENT;
    static constexpr int mma_m = WM / 16, mma_n = WN / 8; /* of a warp */
    static constexpr int warps_n = BN / WN, warps = BM / WM * warps_n, threads = CUDA_WARP * warps;
    static constexpr int x_bytes = BM * MMA_PIECES * 16, stage_bytes = (BM + BN) * MMA_PIECES * 16;
    static constexpr int ring = STAGES * stage_bytes, strips = gemm_strips_bytes<warps, WM, WN>;
    static constexpr int shared = ring > strips ? ring : strips;
    static constexpr bool any_alignment = BM == 64; /* one is enough for that */
    static_assert(BM % WM == 0 && BN % WN == 0 && WM % 16 == 0 && WN % 32 == 0, "whole warps");
};

using mma_huge = mma_tile<128, 256, 64, 64, 3, 1>;
using mma_large = mma_tile<128, 128, 64, 64, 3, 2>;
using mma_medium = mma_tile<64, 64, 32, 32, 4, 3>;
using mma_low = mma_tile<32, 64, 16, 32, 4, 4>;

/* Steps of a whole stage, the same for both types: tf32 has half the depth at half the rate.
 * mma.sync reaches about 62 % of sm_90's 2048 multiply-adds of bf16 a cycle and SM, smaller warp
 * tiles less, as they load more fragments a product. */
template <class T>
inline constexpr struct gemm_cuda_shape mma_shapes[GEMM_CUDA_TILES] = {
    gemm_cuda_shape_of<mma_huge>(MMA_PIECES *cuda_wide<T>, 1650, 1700),
    gemm_cuda_shape_of<mma_large>(MMA_PIECES *cuda_wide<T>, 870, 1000),
    gemm_cuda_shape_of<mma_medium>(MMA_PIECES *cuda_wide<T>, 300, 400),
    gemm_cuda_shape_of<mma_low>(MMA_PIECES *cuda_wide<T>, 200, 350),
};

template <class TILE> struct mma_shared {
    alignas(128) unsigned char bytes[TILE::shared];
};

template <class TILE> struct mma_fragments {
    uint32_t x[TILE::mma_m][4], w[TILE::mma_n / 2][4]; /* w: two products' fragments at a time */
};

static __device__ __forceinline__ void mma_multiply(float (&c)[4], const uint32_t (&a)[4],
                                                    const uint32_t (&b)[2], bf16)
{
    mma_bf16(c, a, b);
}

static __device__ __forceinline__ void mma_multiply(float (&c)[4], const uint32_t (&a)[4],
                                                    const uint32_t (&b)[2], float)
{
    mma_tf32(c, a, b);
}

/* What the matrix unit wants of four registers of T. */
static __device__ __forceinline__ void mma_round(uint32_t (&)[4], bf16)
{
}

static __device__ __forceinline__ void mma_round(uint32_t (&r)[4], float)
{
#pragma unroll
    for (int i = 0; i < 4; i++)
        r[i] = cuda_tf32(cuda_bits_float(r[i]));
}

/* Fragments of rows [row, row + 16) of a tile for a step. */
static __device__ __forceinline__ void mma_load_rows(uint32_t (&to)[4], const unsigned char *tile,
                                                     gemm_piece_at lane, int row, int step)
{
    mma_load4(to, tile + cuda_swizzled_bytes<MMA_PIECES>(row + lane.row, 2 * step + lane.piece));
}

template <class TILE>
static __device__ __forceinline__ void mma_load(mma_fragments<TILE> &f, const unsigned char *stage,
                                                int step)
{
    gemm_piece_at a = gemm_load_a(cuda_lane()), b = gemm_load_b(cuda_lane());
    int row = cuda_warp() / TILE::warps_n * TILE::wm, col = cuda_warp() % TILE::warps_n * TILE::wn;

#pragma unroll
    for (int i = 0; i < TILE::mma_m; i++)
        mma_load_rows(f.x[i], stage, a, row + 16 * i, step);
#pragma unroll
    for (int j = 0; j < TILE::mma_n / 2; j++)
        mma_load_rows(f.w[j], stage + TILE::x_bytes, b, col + 16 * j, step);
}

template <class T, class TILE>
static __device__ __forceinline__ void mma_step(mma_fragments<TILE> &f,
                                                float (&sums)[TILE::mma_m * TILE::mma_n][4])
{
#pragma unroll
    for (int i = 0; i < TILE::mma_m; i++)
        mma_round(f.x[i], T {});
#pragma unroll
    for (int j = 0; j < TILE::mma_n; j++) {
        if (j % 2 == 0)
            mma_round(f.w[j / 2], T {});
        uint32_t w[2] = { f.w[j / 2][j % 2 * 2], f.w[j / 2][j % 2 * 2 + 1] };
#pragma unroll
        for (int i = 0; i < TILE::mma_m; i++)
            mma_multiply(sums[i * TILE::mma_n + j], f.x[i], w, T {});
    }
}

/* The copies of a thread, stage after stage. */
template <class T, class TILE, bool WIDE> struct mma_copies {
    gemm_copier<T, TILE::bm, MMA_PIECES, TILE::threads, true, WIDE> x;
    gemm_copier<T, TILE::bn, MMA_PIECES, TILE::threads, true, WIDE> w;
    int m, n, k; /* that exist from the corner of the next tiles on */
    static constexpr int depth = MMA_PIECES * cuda_wide<T>;

    __device__ __forceinline__ mma_copies(const gemm_args<T> &g, const gemm_work &at)
        : x(g.x, g.ldx, at.row, at.first * depth), w(g.w, g.ldw, at.col, at.first * depth),
          m(g.m - at.row), n(g.n - at.col), k(g.k - at.first * depth)
    {
    }

    /* Of the step `ahead` of the next one. */
    __device__ __forceinline__ void weights(unsigned char *stage, int ahead) const
    {
        auto of = w;

        of.from += ahead * depth;
        of.copy(stage + TILE::x_bytes, n, k - ahead * depth);
    }

    __device__ __forceinline__ void inputs(unsigned char *stage)
    {
        x.copy(stage, m, k);
        x.from += depth, w.from += depth, k -= depth;
    }

    __device__ __forceinline__ void next(unsigned char *stage)
    {
        weights(stage, 0);
        inputs(stage);
    }
};

/*
 * All stages of a slice. Stage s is read while s + stages - 1 is under way. The last step of a
 * stage waits for the next one and loads its first fragments; behind that barrier all warps have
 * read the whole stage before, whose place the copies of the next turn take. (The last turn loads
 * fragments that nobody uses, of a stage that may never have been filled.) The first weights are
 * asked for before the kernel waits for the one that makes x.
 */
template <class T, class TILE, bool WIDE>
static __device__ __forceinline__ void mma_stages(unsigned char *ring, const gemm_args<T> &g,
                                                  const gemm_work &work,
                                                  float (&sums)[TILE::mma_m * TILE::mma_n][4])
{
    mma_copies<T, TILE, WIDE> copies(g, work);
    mma_fragments<TILE> fragments[2];
    int read = 0, fill = TILE::stages - 1;

#pragma unroll 1
    for (int s = 0; s < TILE::stages - 1 && s < work.steps; s++)
        copies.weights(ring + s * TILE::stage_bytes, s);
    cuda_pdl_wait();
#pragma unroll 1
    for (int s = 0; s < TILE::stages - 1; s++) {
        if (s < work.steps)
            copies.inputs(ring + s * TILE::stage_bytes);
        cuda_async_commit();
    }
    cuda_async_wait<TILE::stages - 2>();
    __syncthreads();
    mma_load<TILE>(fragments[0], ring, 0);
#pragma unroll 1
    for (int s = 0; s < work.steps; s++) {
#pragma unroll
        for (int step = 0; step < MMA_STEPS; step++) {
            if (step == MMA_STEPS - 1) {
                cuda_async_wait<TILE::stages - 2>();
                __syncthreads();
                read = gemm_next_stage<TILE::stages>(read);
            }
            mma_load<TILE>(fragments[(step + 1) % 2], ring + read * TILE::stage_bytes,
                           (step + 1) % MMA_STEPS);
            if (step == 0) {
                if (s + TILE::stages - 1 < work.steps)
                    copies.next(ring + fill * TILE::stage_bytes);
                cuda_async_commit();
                fill = gemm_next_stage<TILE::stages>(fill);
            }
            mma_step<T, TILE>(fragments[step % 2], sums);
        }
    }
    cuda_async_wait<0>();
    __syncthreads();
}

template <class T, class TILE>
static __device__ __forceinline__ void mma_store(unsigned char *ring, const gemm_args<T> &g,
                                                 const gemm_work &work,
                                                 const float (&sums)[TILE::mma_m * TILE::mma_n][4])
{
    constexpr int pitch = gemm_strip_pitch<TILE::wn>;
    int row = cuda_warp() / TILE::warps_n * TILE::wm, col = cuda_warp() % TILE::warps_n * TILE::wn;
    float *strip = reinterpret_cast<float *>(ring) + cuda_warp() * TILE::wm * pitch;

#pragma unroll
    for (int i = 0; i < TILE::mma_m * TILE::mma_n; i++)
#pragma unroll
        for (int e = 0; e < 4; e += 2) {
            mma_at at = mma_c(cuda_lane(), e);
            int r = i / TILE::mma_n * 16 + at.row, c = i % TILE::mma_n * 8 + at.col;
            *reinterpret_cast<float2 *>(strip + r * pitch + c) =
                make_float2(sums[i][e], sums[i][e + 1]);
        }
    gemm_store_strip<TILE::wm, TILE::wn>(g, strip, work.row + row, work.col + col);
}

template <class T, class TILE, bool WIDE>
__global__ void __launch_bounds__(TILE::threads, TILE::resident)
    gemm_mma_kernel(const gemm_args<T> g)
{
    constexpr int depth = MMA_PIECES * cuda_wide<T>;
    unsigned char *ring = cuda_shared<mma_shared<TILE>>().bytes;
    float sums[TILE::mma_m * TILE::mma_n][4] = {};

    cuda_pdl_launch();
    mma_stages<T, TILE, WIDE>(ring, g, gemm_work_of(g, TILE::bm, TILE::bn, depth), sums);
    gemm_work work = gemm_work_of(g, TILE::bm, TILE::bn, depth);
    if (g.split > 1 && !gemm_join_slices<TILE::threads>(g, work.tile, work.slice, sums))
        return;
    mma_store<T, TILE>(ring, g, work, sums);
}

template <class T, class TILE>
static void mma_enqueue_tile(const gemm_args<T> &a, bool wide, cudaStream_t stream)
{
    if (wide)
        gemm_cuda_enqueue<gemm_mma_kernel<T, TILE, true>, TILE>(a, stream);
    else if constexpr (TILE::any_alignment)
        gemm_cuda_enqueue<gemm_mma_kernel<T, TILE, false>, TILE>(a, stream);
}

/* gemm_linear_cuda_bf16 (T bf16) and gemm_linear_cuda_tf32 (T float). */
template <class T> static void mma_enqueue(const struct gemm_cuda *g, cudaStream_t stream)
{
    static void (*const tiles[])(const gemm_args<T> &, bool, cudaStream_t) = {
        mma_enqueue_tile<T, mma_huge>,
        mma_enqueue_tile<T, mma_large>,
        mma_enqueue_tile<T, mma_medium>,
        mma_enqueue_tile<T, mma_low>,
    };

    if (g->m <= GEMM_SMALL_ROWS) {
        gemm_small_enqueue<T, sizeof(T) == 4>(g, stream);
        return;
    }
    bool wide = gemm_cuda_wide<T>(g, g->k);
    struct gemm_cuda_plan plan = gemm_cuda_plan_of(g, mma_shapes<T>, GEMM_CUDA_TILES, wide);
    tiles[plan.tile](gemm_args_of<T>(g, &plan), wide, stream);
}

#endif
