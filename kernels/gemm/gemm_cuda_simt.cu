/* SPDX-License-Identifier: MIT */
/*
 * The FMA units fed three levels deep: a tile a block in shared memory, a tile a warp, a tile of
 * 8 x 8 outputs (or so) a thread in registers.
 *
 *                k                          n
 *          +--+--+--+-          +---------------------+       128 x 128 a block, 8 warps
 *          |  |  |  |         k |          |          |       32 x 64 a warp, 4 x 8 lanes
 *    m 128 |16|  |  | ...       +----------+----------+       8 x 8 a thread: rows lane.row + 4 i,
 *          |  |  |  |           |   w, rows of k too  |         columns lane.col + 8 j
 *          +--+--+--+-          +---------------------+
 *
 * x and w are both contiguous along k, and stay so in shared memory: a thread reads 4 k of a row at
 * once and spends them on 8 rows or columns of the other factor, so that 16 reads of 16 bytes serve
 * 256 multiply-adds. Rows are swizzled, so that neighbouring lanes' rows fall on different banks.
 * cp.async brings the tiles four stages ahead, 16 bytes at a time (4 where rows are not aligned).
 * gemm/nn differs in w alone, whose rows are along n: 4 columns are read at once.
 *
 * Large products take 128 x 256 a block and 8 x 16 a thread, so that 24 reads serve 512
 * multiply-adds; few outputs take smaller tiles and slices of K (gemm_cuda_plan.h), up to 8 rows of
 * x gemm_cuda_small.h, which only streams w.
 *
 * Limit: the FMA units, 128 multiply-adds a cycle and SM (67 TFLOP/s on an H200 at 1980 MHz), less
 * the issue slots of what is no multiply-add: about 150 of 2200 instructions in the loop of the
 * largest tile.
 */
#include "kernels/gemm/gemm_cuda_launch.h"
#include "kernels/gemm/gemm_cuda_small.h"

/* Lanes of a warp, and depth of a stage: 4 pieces of 16 bytes. */
constexpr int LANES_M = 4, LANES_N = 8, DEPTH = 16, PIECES = DEPTH / 4, STAGES = 4;

/* BM x BN outputs a block, TM x TN a thread, RESIDENT blocks an SM. */
template <int BM, int BN, int TM, int TN, int RESIDENT> struct simt_tile {
    static constexpr int bm = BM, bn = BN, tm = TM, tn = TN, resident = RESIDENT;
    static constexpr int wm = LANES_M * TM, wn = LANES_N * TN; /* of a warp */
    static constexpr int warps_n = BN / wn, warps = BM / wm * warps_n, threads = CUDA_WARP * warps;
    static constexpr int x_bytes = BM * DEPTH * 4, w_bytes = BN * DEPTH * 4;
    static constexpr int stage_bytes = x_bytes + w_bytes;
    static constexpr int ring = STAGES * stage_bytes, strips = gemm_strips_bytes<warps, wm, wn>;
    static constexpr int shared = ring > strips ? ring : strips;
    static constexpr bool any_alignment = BM == BN; /* a large and a small one: enough for that */
    static_assert(BM % wm == 0 && BN % wn == 0 && TN % 4 == 0, "whole warps and vectors");
};

using simt_huge = simt_tile<128, 256, 8, 16, 1>;
using simt_large = simt_tile<128, 128, 8, 8, 2>;
using simt_medium = simt_tile<64, 64, 8, 4, 4>;
using simt_low = simt_tile<32, 64, 4, 4, 6>;

/* 128 multiply-adds a cycle at best, and what the reads of shared memory leave of that: of a full
 * SM, and of one that has a single block. */
template <class TILE> static constexpr struct gemm_cuda_shape simt_shape(double full, double single)
{
    constexpr double cycles = TILE::bm * TILE::bn * DEPTH / 128.0;

    return gemm_cuda_shape_of<TILE>(DEPTH, cycles / full, cycles / single);
}

const struct gemm_cuda_shape gemm_cuda_simt_tiles[] = {
    simt_shape<simt_huge>(0.86, 0.86),
    simt_shape<simt_large>(0.82, 0.70),
    simt_shape<simt_medium>(0.70, 0.45),
    simt_shape<simt_low>(0.60, 0.40),
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

using simt_piece = cuda_vector<float, 4>;

/* Piece of row first + lanes * i, contiguous along k. */
static __device__ __forceinline__ simt_piece simt_read(const unsigned char *tile, int first,
                                                       int lanes, int i, int piece)
{
    return *reinterpret_cast<const simt_piece *>(tile + gemm_simt_bytes(first, lanes, i, piece));
}

/* sums += x w^T for four k, w contiguous along k: a row of w at a time. */
template <class TILE>
static __device__ __forceinline__ void simt_multiply_linear(
    const unsigned char *w, const simt_place<TILE> &at, int piece, const simt_piece (&x)[TILE::tm],
    float (&sums)[TILE::tm * TILE::tn / 4][4])
{
#pragma unroll
    for (int j = 0; j < TILE::tn; j++) {
        simt_piece right = simt_read(w, at.col + at.lane.col, LANES_N, j, piece);
#pragma unroll
        for (int p = 0; p < 4; p++)
#pragma unroll
            for (int i = 0; i < TILE::tm; i++) {
                float &sum = sums[(i * TILE::tn + j) / 4][j % 4];
                sum = fmaf(x[i].at[p], right.at[p], sum);
            }
    }
}

/* The same for w contiguous along n: four columns of a k at a time. */
template <class TILE>
static __device__ __forceinline__ void simt_multiply_nn(const unsigned char *w,
                                                        const simt_place<TILE> &at, int piece,
                                                        const simt_piece (&x)[TILE::tm],
                                                        float (&sums)[TILE::tm * TILE::tn / 4][4])
{
#pragma unroll
    for (int p = 0; p < 4; p++) {
        const float *row = reinterpret_cast<const float *>(w) + (4 * piece + p) * TILE::bn;
#pragma unroll
        for (int j = 0; j < TILE::tn / 4; j++) {
            simt_piece right = cuda_load<4>(row + at.col + 4 * at.lane.col + 4 * LANES_N * j);
#pragma unroll
            for (int i = 0; i < TILE::tm; i++)
#pragma unroll
                for (int e = 0; e < 4; e++) {
                    float &sum = sums[i * TILE::tn / 4 + j][e];
                    sum = fmaf(x[i].at[p], right.at[e], sum);
                }
        }
    }
}

template <class TILE, bool NN>
static __device__ __forceinline__ void simt_step(const unsigned char *stage,
                                                 const simt_place<TILE> &at,
                                                 float (&sums)[TILE::tm * TILE::tn / 4][4])
{
    const unsigned char *w = stage + TILE::x_bytes;

#pragma unroll(NN || TILE::resident == 1 ? PIECES : 1)
    for (int piece = 0; piece < PIECES; piece++) {
        simt_piece x[TILE::tm];
#pragma unroll
        for (int i = 0; i < TILE::tm; i++)
            x[i] = simt_read(stage, at.row + at.lane.row, LANES_M, i, piece);
        if constexpr (NN)
            simt_multiply_nn<TILE>(w, at, piece, x, sums);
        else
            simt_multiply_linear<TILE>(w, at, piece, x, sums);
    }
}

/* The copies of a thread, stage after stage. */
template <class TILE, bool NN, bool WIDE> struct simt_copies {
    using of_x = gemm_copier<float, TILE::bm, PIECES, TILE::threads, true, WIDE>;
    using of_w = gemm_copier<float, NN ? DEPTH : TILE::bn, NN ? TILE::bn / 4 : PIECES,
                             TILE::threads, !NN, WIDE>;
    of_x x;
    of_w w;
    int m, n, k; /* that exist from the corner of the next tiles on */

    __device__ __forceinline__ simt_copies(const gemm_args<float> &g, const gemm_work &at)
        : x(g.x, g.ldx, at.row, at.first * DEPTH),
          w(g.w, g.ldw, NN ? at.first * DEPTH : at.col, NN ? at.col : at.first * DEPTH),
          m(g.m - at.row), n(g.n - at.col), k(g.k - at.first * DEPTH)
    {
    }

    __device__ __forceinline__ int64_t along_w(int steps) const
    {
        return steps * (NN ? DEPTH * w.ld : DEPTH);
    }

    /* Of the step `ahead` of the next one. */
    __device__ __forceinline__ void weights(unsigned char *stage, int ahead) const
    {
        of_w of = w;
        int left = k - ahead * DEPTH;

        of.from += along_w(ahead);
        of.copy(stage + TILE::x_bytes, NN ? left : n, NN ? n : left);
    }

    __device__ __forceinline__ void inputs(unsigned char *stage)
    {
        x.copy(stage, m, k);
        x.from += DEPTH, k -= DEPTH;
        w.from += along_w(1);
    }

    __device__ __forceinline__ void next(unsigned char *stage)
    {
        weights(stage, 0);
        inputs(stage);
    }
};

/* All steps of a slice, the copies STAGES - 1 steps ahead; the first weights are asked for before
 * the kernel waits for the one that makes x (but gemm/nn: its registers are too few). */
template <class TILE, bool NN, bool WIDE>
static __device__ __forceinline__ void simt_steps(unsigned char *stages, const gemm_args<float> &g,
                                                  const gemm_work &work,
                                                  float (&sums)[TILE::tm * TILE::tn / 4][4])
{
    simt_copies<TILE, NN, WIDE> copies(g, work);
    simt_place<TILE> at;
    int read = 0, fill = STAGES - 1;

#pragma unroll 1
    for (int s = 0; !NN && s < STAGES - 1 && s < work.steps; s++)
        copies.weights(stages + s * TILE::stage_bytes, s);
    cuda_pdl_wait();
#pragma unroll 1
    for (int s = 0; s < STAGES - 1; s++) {
        if (s < work.steps && NN)
            copies.next(stages + s * TILE::stage_bytes);
        else if (s < work.steps)
            copies.inputs(stages + s * TILE::stage_bytes);
        cuda_async_commit();
    }
#pragma unroll 1
    for (int s = 0; s < work.steps; s++) {
        cuda_async_wait<STAGES - 2>();
        __syncthreads(); /* step s is there for all, and all are done with the stage to fill */
        if (s + STAGES - 1 < work.steps)
            copies.next(stages + fill * TILE::stage_bytes);
        cuda_async_commit();
        simt_step<TILE, NN>(stages + read * TILE::stage_bytes, at, sums);
        read = gemm_next_stage<STAGES>(read), fill = gemm_next_stage<STAGES>(fill);
    }
    cuda_async_wait<0>();
    __syncthreads();
}

template <class TILE, bool NN>
static __device__ __forceinline__ void simt_store(unsigned char *stages, const gemm_args<float> &g,
                                                  int row, int col,
                                                  const float (&sums)[TILE::tm * TILE::tn / 4][4])
{
    constexpr int pitch = gemm_strip_pitch<TILE::wn>;
    simt_place<TILE> at;
    float *strip = reinterpret_cast<float *>(stages) + cuda_warp() * TILE::wm * pitch;
    float *mine = strip + at.lane.row * pitch + (NN ? 4 : 1) * at.lane.col;

#pragma unroll
    for (int i = 0; i < TILE::tm; i++) {
#pragma unroll
        for (int j = 0; j < TILE::tn; j++) {
            int c = NN ? 4 * LANES_N * (j / 4) + j % 4 : LANES_N * j;
            mine[LANES_M * i * pitch + c] = sums[(i * TILE::tn + j) / 4][j % 4];
        }
    }
    gemm_store_strip<TILE::wm, TILE::wn>(g, strip, row + at.row, col + at.col);
}

template <class TILE, bool NN, bool WIDE>
__global__ void __launch_bounds__(TILE::threads, TILE::resident)
    gemm_simt_kernel(const gemm_args<float> g)
{
    unsigned char *stages = cuda_shared<simt_shared<TILE>>().bytes;
    float sums[TILE::tm * TILE::tn / 4][4] = {};

    cuda_pdl_launch();
    simt_steps<TILE, NN, WIDE>(stages, g, gemm_work_of(g, TILE::bm, TILE::bn, DEPTH), sums);
    gemm_work work = gemm_work_of(g, TILE::bm, TILE::bn, DEPTH);
    if (g.split > 1 && !gemm_join_slices<TILE::threads>(g, work.tile, work.slice, sums))
        return;
    simt_store<TILE, NN>(stages, g, work.row, work.col, sums);
}

template <class TILE, bool NN>
static void simt_enqueue_tile(const gemm_args<float> &a, bool wide, cudaStream_t stream)
{
    if (wide)
        gemm_cuda_enqueue<gemm_simt_kernel<TILE, NN, true>, TILE>(a, stream);
    else if constexpr (TILE::any_alignment)
        gemm_cuda_enqueue<gemm_simt_kernel<TILE, NN, false>, TILE>(a, stream);
}

template <bool NN> static void simt_enqueue(const struct gemm_cuda *g, cudaStream_t stream)
{
    static void (*const tiles[])(const gemm_args<float> &, bool, cudaStream_t) = {
        simt_enqueue_tile<simt_huge, NN>,
        simt_enqueue_tile<simt_large, NN>,
        simt_enqueue_tile<simt_medium, NN>,
        simt_enqueue_tile<simt_low, NN>,
    };
    bool wide = gemm_cuda_wide<float>(g, NN ? g->n : g->k);
    struct gemm_cuda_plan plan = gemm_cuda_plan_of(g, gemm_cuda_simt_tiles, GEMM_CUDA_TILES, wide);

    tiles[plan.tile](gemm_args_of<float>(g, &plan), wide, stream);
}

void gemm_linear_cuda_simt(const struct gemm_cuda *g, cudaStream_t stream)
{
    if (g->m <= GEMM_SMALL_ROWS)
        gemm_small_enqueue<float, false>(g, stream);
    else
        simt_enqueue<false>(g, stream);
}

void gemm_nn_cuda_simt(const struct gemm_cuda *g, cudaStream_t stream)
{
    simt_enqueue<true>(g, stream);
}

static bool supports(const struct kernel *k, const struct shape *s, const struct device *d,
                     struct error *why)
{
    return gemm_cuda_supports(k, s, d, simt_medium::shared, why);
}

static void linear_launch(const struct call *call)
{
    struct gemm_cuda g = gemm_cuda_of(call);

    gemm_linear_cuda_simt(&g, device_cuda_stream(call->device));
}

static void nn_launch(const struct call *call)
{
    struct gemm_cuda g = gemm_cuda_nn_of(call);

    gemm_nn_cuda_simt(&g, device_cuda_stream(call->device));
}

#define LINEAR(of)                                                                                 \
    GEMM_CUDA_VARIANT(                                                                             \
        of, "cuda_simt", "8x8 a thread, cp.async stages, slices of K; limit: the FMA units",       \
        DTYPE_FP32, MATH_FP32, 0, supports, gemm_cuda_prepare, linear_launch, gemm_cuda_release),

extern "C" const struct variant gemm_cuda_simt[];
const struct variant gemm_cuda_simt[] = {
    GEMM_LINEAR_KERNELS(LINEAR) /* and gemm/nn */
    GEMM_CUDA_VARIANT(gemm_nn_kernel, "cuda_simt",
                      "8x8 a thread, cp.async stages, slices of K; limit: the FMA units",
                      DTYPE_FP32, MATH_FP32, 0, supports, gemm_cuda_prepare, nn_launch,
                      gemm_cuda_release),
    {},
};
