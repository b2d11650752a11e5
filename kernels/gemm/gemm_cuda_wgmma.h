/* SPDX-License-Identifier: MIT */
/*
 * The linear layer on the tensor cores of sm_90 through wgmma, for bf16 and for tf32: the same
 * bytes move the same way, only what a step multiplies differs.
 *
 *             128 bytes of k            n 256
 *            +--+--+--+--+      +-----------------+    a warpgroup 64 x 256: 128 sums a thread
 *     m  64  |  |  |  |  |    k | w, rows of k    |    two of them a block, and one more warp,
 *      + 64  |  |  |  |  |      +-----------------+    whose first thread starts the copies
 *            +--+--+--+--+
 *
 * A ring of stages in shared memory, filled by the copy engine and read by wgmma where it lies. Per
 * stage, the barrier `full` gets one arrival (of the producer) and the bytes; `empty` gets one of
 * each consuming warp. Blocks are persistent: the producer runs ahead into the next tile while the
 * consumers store one. Where consumers take turns, each has a tile of its own, and one multiplies
 * while the other one stores:
 *
 *     group 0    multiply 0 | store 0 .. | multiply 2 | store 2
 *     group 1                 multiply 1 | store 1 .. | multiply 3 | store 3
 * All that needs no data is done while the kernel before still runs.
 *
 * One block an SM, whose ring has all the shared memory that there is: products of few tiles are
 * bound by the bytes under way (about 1.2 us from asking to having). For very few tiles of some
 * depth the blocks of a cluster take a slice of k each, and the first of them adds up what the
 * others write into its shared memory.
 *
 * Limit: the tensor cores' clock under the power limit (bf16 about 800 TFLOP/s); at depths of a few
 * hundred the writing of y; with few tiles what an SM gets out of L2 (64 bytes a cycle: 0.2 us for
 * a step of 64 x 128), and before that the latency of the first bytes.
 *
 * Measured on an H200 (2026-11-26), beside cuBLAS (with bias, GELU or residual: cuBLASLt) in the
 * same run, the tiles that gemm_cuda_wgmma_choice.h chooses:
 *
 *     2048^3, 4096^3     bf16 691, 770 TFLOP/s, ratio 0.99; tf32 373, 399, ratio 1.05, 1.03
 *     8192^3             bf16 684 TFLOP/s, ratio 1.03; tf32 343, ratio 1.01
 *     layers of a GPT    geometric means of the ratios, for 256, 1024 and 8192 rows:
 *                          bf16 alone 1.01 0.97 1.01, with GELU 1.03 0.95 1.02,
 *                               with a residual 1.04 1.00 0.98
 *                          tf32 alone 1.24 1.25 1.09, with GELU 1.50 1.38 1.32,
 *                               with a residual 1.30 1.05 0.88
 *
 * The times of all tiles are in tests/kernels/test_cuda_choice.cc. With turns, 8192 rows and k 768
 * take 7 to 17 % less time than with the same tile by two warpgroups together.
 *
 * Tried, and slower or no faster: pairs of blocks that multicast what they share; two blocks an SM
 * (of 128 x 128 and of 64 x 128); for 64 x 64, two or four warpgroups that take the steps in turn;
 * 128 x 192 whose way out has three buffers a warpgroup, for a stage less; 64 x 192 in two slices.
 */
#ifndef HARNESS_KERNELS_GEMM_GEMM_CUDA_WGMMA_H
#define HARNESS_KERNELS_GEMM_GEMM_CUDA_WGMMA_H

#include "kernels/cuda/cluster.h"
#include "kernels/cuda/pdl.h"
#include "kernels/gemm/gemm_cuda_maps.h"
#include "kernels/gemm/gemm_cuda_wgmma_out.h"

/*
 * BM x BN outputs a block; STAGING bytes of a warpgroup's way out. Of two consumers, each quarter
 * of an SM has three warps, which start with 168 registers a thread: the producer gives most of its
 * own to the others (that goes by whole groups). With one consumer a warp more is the producer.
 *
 * Or a cluster of SLICES, each of which takes a part of k. Or two consumers that take TURNS: each
 * has a whole tile, as PARTS of 64 rows, and multiplies while the other one stores.
 */
template <int BM, int BN, int STAGES, int STAGING, int SLICES = 1, bool TURNS = false>
struct wgmma_tile {
    static constexpr int bm = BM, bn = BN, stages = STAGES, slices = SLICES;
    static constexpr bool turns = TURNS;
    static constexpr int groups = TURNS ? 2 : BM / WGMMA_M, warps = 4 * groups; /* that multiply */
    static constexpr int parts = TURNS ? BM / WGMMA_M : 1;
    static constexpr int readers = TURNS ? 4 : warps; /* warps that multiply a stage */
    static constexpr bool divided = groups == 2;
    static constexpr int raised = divided ? 232 : 0, lowered = divided ? 40 : 0; /* registers */
    static constexpr int threads = CUDA_WARP * (warps + (divided ? 4 : 1));
    static constexpr int sums = BN / 2, staging = STAGING;
    static constexpr int x_bytes = BM * WGMMA_ROW_BYTES, w_bytes = BN * WGMMA_ROW_BYTES;
    static constexpr int stage_bytes = x_bytes + w_bytes;
    static_assert(BM % WGMMA_M == 0 && STAGES >= 2, "what the kernel does");
    static_assert(STAGING % WGMMA_GROUP_BYTES == 0 && STAGING >= WGMMA_M * 144, "a box, a strip");
    static_assert(parts * sums <= 128, "registers");
    static_assert(groups == 1 || (groups == 2 && SLICES == 1), "one warpgroup adds up");
    static constexpr int others_bytes = (SLICES - 1) * BM * BN * 4; /* sums of the other slices */
};

using wgmma_huge = wgmma_tile<128, 256, 4, 17 * 1024>;
using wgmma_wide = wgmma_tile<128, 192, 5, 9 * 1024>;
using wgmma_large = wgmma_tile<128, 128, 6, 16 * 1024>;
using wgmma_turns = wgmma_tile<128, 128, 6, 16 * 1024, 1, true>;
using wgmma_medium = wgmma_tile<64, 128, 8, 17 * 1024>;
using wgmma_small = wgmma_tile<64, 64, 12, 9 * 1024>;
using wgmma_halved = wgmma_tile<64, 64, 12, 9 * 1024, 2>;
using wgmma_quartered = wgmma_tile<64, 64, 10, 9 * 1024, 4>;

template <class TILE> struct wgmma_shared {
    alignas(WGMMA_GROUP_BYTES) unsigned char ring[TILE::stages][TILE::stage_bytes];
    alignas(WGMMA_GROUP_BYTES) unsigned char staging[TILE::groups][TILE::staging];
    unsigned char others[TILE::others_bytes > 0 ? TILE::others_bytes : 16];
    cuda_mbarrier full[TILE::stages], empty[TILE::stages];
};

/* Elements of T in a row of a stage. */
template <class T> constexpr int wgmma_depth = WGMMA_ROW_BYTES / (int)sizeof(T);

struct wgmma_place {
    int row, col;
};

template <class TILE, class T>
__device__ __forceinline__ wgmma_place wgmma_place_of(const wgmma_args<T> &g, int index)
{
    gemm_tile_at at = gemm_tile_order(index, g.rows, g.cols, g.band);

    return { at.row * TILE::bm, at.col * TILE::bn };
}

/* The part of k that a block multiplies. None is empty: k has as many steps as slices, or more. */
struct wgmma_span {
    int first, last;
};

template <class T, class TILE> __device__ __forceinline__ wgmma_span wgmma_span_of(int k)
{
    if constexpr (TILE::slices > 1) {
        int steps = cuda_pieces(k, wgmma_depth<T>), slice = (int)cuda_cluster_rank();
        int first = gemm_slice_start(slice, TILE::slices, steps) * wgmma_depth<T>;
        int last = gemm_slice_start(slice + 1, TILE::slices, steps) * wgmma_depth<T>;
        return { first, min(last, k) };
    }
    return { 0, k };
}

/* Nothing in front of cuda_pdl_wait() touches what another kernel may still write or read. In a
 * cluster, that all blocks run is waited for by wgmma_join() only. */
template <class TILE>
__device__ __forceinline__ void wgmma_start(wgmma_shared<TILE> &shared, const wgmma_maps &maps)
{
    if (threadIdx.x == 0) {
        tma_prefetch(&maps.x);
        tma_prefetch(&maps.w);
        for (int s = 0; s < TILE::stages; s++) {
            cuda_mbarrier_init(&shared.full[s], 1);
            cuda_mbarrier_init(&shared.empty[s], TILE::readers);
        }
        cuda_mbarrier_publish();
    }
    __syncthreads();
    if constexpr (TILE::slices > 1)
        cuda_cluster_arrive();
    cuda_pdl_launch();
    cuda_pdl_wait();
}

/* ---- The producer: one thread ---- */

/* The copies of a block, stage after stage, tile after tile. */
template <class T, class TILE> struct wgmma_feeder {
    cuda_ring_place<TILE::stages> ring;
    wgmma_place at;
    wgmma_span span;
    int tile = (int)blockIdx.x / TILE::slices, k;

    __device__ __forceinline__ explicit wgmma_feeder(const wgmma_args<T> &g)
        : span(wgmma_span_of<T, TILE>(g.k)), k(span.first)
    {
    }
    __device__ __forceinline__ bool more(const wgmma_args<T> &g) const
    {
        return tile < g.rows * g.cols;
    }

    /* Waits until the next stage is free, and fills it. */
    __device__ __forceinline__ void next(wgmma_shared<TILE> &shared, const wgmma_maps &maps,
                                         const wgmma_args<T> &g)
    {
        cuda_mbarrier *full = &shared.full[ring.stage], *empty = &shared.empty[ring.stage];
        unsigned char *x = shared.ring[ring.stage], *w = x + TILE::x_bytes;

        if (k == span.first)
            at = wgmma_place_of<TILE>(g, tile);
        cuda_mbarrier_wait(empty, ring.parity ^ 1);
        cuda_mbarrier_expect(full, TILE::stage_bytes);
        tma_load(x, &maps.x, full, at.row, k);
        tma_load(w, &maps.w, full, at.col, k);
        ring.next();
        k += wgmma_depth<T>;
        if (k >= span.last)
            k = span.first, tile += (int)gridDim.x / TILE::slices;
    }
};

/* ---- The consumers: warpgroups ---- */

template <int N>
__device__ __forceinline__ void wgmma_step(float (&d)[N], uint64_t x, uint64_t w, int add, bf16)
{
    wgmma_bf16<2 * N>(d, x, w, add);
}

template <int N>
__device__ __forceinline__ void wgmma_step(float (&d)[N], uint64_t x, uint64_t w, int add, float)
{
    wgmma_tf32<2 * N>(d, x, w, add);
}

/* Nothing that uses the sums moves in front of this, nothing that made them behind it. */
template <int N> __device__ __forceinline__ void wgmma_keep(float (&d)[N])
{
#pragma unroll
    for (int i = 0; i < N; i++)
        asm volatile("" : "+f"(d[i])::"memory");
}

/* A warp has read a stage. */
template <class TILE>
__device__ __forceinline__ void wgmma_done(wgmma_shared<TILE> &shared, int stage)
{
    if (cuda_lane() == 0)
        cuda_mbarrier_arrive(&shared.empty[stage]);
}

/* What warpgroup `group` multiplies: 64 rows, from `row` on, of all tiles of the block, or every
 * other tile. The place of the tile and the bias of its columns are known before its turn comes. */
template <class T, class TILE> struct wgmma_own {
    int tile, stride, row;
    wgmma_place at;
    wgmma_bias<T, TILE::bn> bias;

    __device__ __forceinline__ wgmma_own(const wgmma_args<T> &g, int group)
        : tile((int)blockIdx.x / TILE::slices), stride((int)gridDim.x), row(group * WGMMA_M)
    {
        if (TILE::turns)
            tile += group * stride, stride *= 2, row = 0;
        look(g);
    }
    __device__ __forceinline__ bool more(const wgmma_args<T> &g) const
    {
        return tile < g.rows * g.cols;
    }
    __device__ __forceinline__ void look(const wgmma_args<T> &g)
    {
        if (!more(g))
            return;
        at = wgmma_place_of<TILE>(g, tile);
        bias.load(g, at.col);
    }
    __device__ __forceinline__ void next(const wgmma_args<T> &g)
    {
        tile += stride;
        look(g);
    }
};

constexpr int WGMMA_TURN = 3; /* barriers: the turn of group 0, of group 1 */

/* Until the other group has started its last product, so that it is the one to end first and the
 * two do not come to store at the same time. */
template <class TILE> __device__ __forceinline__ void wgmma_take_turn(int group, int tile)
{
    if (TILE::turns && tile >= (int)gridDim.x) /* but for a block's first tile */
        asm volatile("bar.sync %0, %1;" ::"r"(WGMMA_TURN + group), "n"(2 * WGMMA_THREADS)
                     : "memory");
}

template <class TILE>
__device__ __forceinline__ void wgmma_pass_turn(int group, int tile, int tiles)
{
    if (TILE::turns && tile + (int)gridDim.x < tiles) /* the other one's */
        asm volatile("bar.arrive %0, %1;" ::"r"(WGMMA_TURN + 1 - group), "n"(2 * WGMMA_THREADS)
                     : "memory");
}

/* The sums of a thread: PARTS times 64 rows. */
template <class TILE> using wgmma_sums = float[TILE::parts][TILE::sums];

/* The products of a stage, whose matrices are `x` and `w`. */
template <class T, class TILE>
__device__ __forceinline__ void wgmma_step_all(wgmma_sums<TILE> &d, uint64_t x, uint64_t w,
                                               bool first)
{
    constexpr int k = WGMMA_K_BYTES >> 4, part = WGMMA_M * WGMMA_ROW_BYTES >> 4;

#pragma unroll
    for (int i = 0; i < WGMMA_ROW_BYTES / WGMMA_K_BYTES; i++)
#pragma unroll
        for (int p = 0; p < TILE::parts; p++)
            wgmma_step(d[p], x + p * part + i * k, w + i * k, i > 0 || !first, T {});
    wgmma_commit();
}

/* The sums of a tile: the products of a stage are under way while the next one is waited for; then
 * those of the stage before are done. `row`: of the tile, the group's first. */
template <class T, class TILE>
__device__ __forceinline__ void wgmma_multiply(wgmma_shared<TILE> &shared, int row,
                                               const wgmma_span &span,
                                               cuda_ring_place<TILE::stages> &place,
                                               wgmma_sums<TILE> &d)
{
    int before = 0;

#pragma unroll 1
    for (int k = span.first; k < span.last; k += wgmma_depth<T>) {
        uint32_t ring = cuda_shared_address(shared.ring[place.stage]);

        cuda_mbarrier_wait(&shared.full[place.stage], place.parity);
        wgmma_fence();
        wgmma_step_all<T, TILE>(d, wgmma_matrix(ring + (uint32_t)(row * WGMMA_ROW_BYTES)),
                                wgmma_matrix(ring + TILE::x_bytes), k == span.first);
        wgmma_wait<1>();
        if (k > span.first)
            wgmma_done(shared, before);
        before = place.stage;
        place.next();
    }
}

/* Until the products of the last stage are done, too. */
template <class TILE>
__device__ __forceinline__ void wgmma_multiplied(wgmma_shared<TILE> &shared,
                                                 const cuda_ring_place<TILE::stages> &place,
                                                 wgmma_sums<TILE> &d)
{
    wgmma_wait<0>();
    wgmma_done(shared, (place.stage + TILE::stages - 1) % TILE::stages);
#pragma unroll
    for (int p = 0; p < TILE::parts; p++)
        wgmma_keep(d[p]);
}

/* Adds what `nr` others have left at `from`, in their order. */
template <int N>
__device__ __forceinline__ void wgmma_add(float (&d)[N], const unsigned char *from, int nr)
{
    constexpr int pieces = N / 4, pitch = WGMMA_THREADS * 16;

#pragma unroll
    for (int i = 0; i < nr * pieces; i++) {
        float4 v = *reinterpret_cast<const float4 *>(from + i * pitch);
        float *to = d + i % pieces * 4;
        to[0] += v.x, to[1] += v.y, to[2] += v.z, to[3] += v.w;
    }
}

/* Adds up the sums of the slices in block 0, always in the same order; true there. The first phase
 * of the cluster's barrier is that all blocks run (most likely over long since), the second that
 * all sums have come. */
template <class TILE>
__device__ __forceinline__ bool wgmma_join(wgmma_shared<TILE> &shared, float (&d)[TILE::sums])
{
    constexpr int pieces = TILE::sums / 4, pitch = WGMMA_THREADS * 16;
    int rank = (int)cuda_cluster_rank();
    unsigned char *all = shared.others + (int)threadIdx.x * 16;

    __syncwarp();
    cuda_cluster_wait();
    if (rank > 0) {
        uint32_t to = cuda_cluster_address(all, 0) + (uint32_t)((rank - 1) * pieces * pitch);
#pragma unroll
        for (int i = 0; i < pieces; i++)
            cuda_cluster_store16(
                to + (uint32_t)(i * pitch),
                make_uint4(cuda_float_bits(d[4 * i]), cuda_float_bits(d[4 * i + 1]),
                           cuda_float_bits(d[4 * i + 2]), cuda_float_bits(d[4 * i + 3])));
    }
    cuda_cluster_barrier();
    if (rank == 0)
        wgmma_add(d, all, TILE::slices - 1);
    return rank == 0;
}

template <class TILE, class T>
__device__ __forceinline__ void wgmma_store(const wgmma_maps &maps, const wgmma_args<T> &g,
                                            float (&d)[TILE::sums],
                                            const wgmma_bias<T, TILE::bn> &bias,
                                            wgmma_residual &ahead, unsigned char *staging,
                                            int group, int row, int col)
{
    if constexpr (sizeof(T) == 2) {
        if (g.out_bf16 && g.boxes)
            wgmma_store_boxes<bf16, TILE>(&maps.y, g, d, bias, ahead, staging, group, row, col);
        else if (g.out_bf16)
            wgmma_store_rows<bf16, TILE>(g, d, bias, ahead, staging, row, col);
    }
    if (!g.out_bf16 && g.boxes)
        wgmma_store_boxes<float, TILE>(&maps.y, g, d, bias, ahead, staging, group, row, col);
    else if (!g.out_bf16)
        wgmma_store_rows<float, TILE>(g, d, bias, ahead, staging, row, col);
}

/* Where a thread's first sum of a warpgroup's is. */
__device__ __forceinline__ wgmma_place wgmma_first_sum(void)
{
    int lane = cuda_lane();

    return { cuda_warp() % 4 * 16 + lane / 4, lane % 4 * 2 };
}

/* A tile, and on to the next one of the group's, of which bias comes while this one is stored. */
template <class T, class TILE>
__device__ __forceinline__ void wgmma_one_tile(wgmma_shared<TILE> &shared, const wgmma_maps &maps,
                                               const wgmma_args<T> &g, int group,
                                               wgmma_own<T, TILE> &own,
                                               cuda_ring_place<TILE::stages> &place,
                                               wgmma_sums<TILE> &d)
{
    const int row = own.at.row + own.row, col = own.at.col;
    const wgmma_place first = wgmma_first_sum();
    const wgmma_bias<T, TILE::bn> bias = own.bias;
    wgmma_residual ahead;

#pragma unroll
    for (int p = 0; p < TILE::parts; p++)
        wgmma_prefetch_out<TILE>(g, row + p * WGMMA_M, col);
    wgmma_take_turn<TILE>(group, own.tile);
    wgmma_multiply<T, TILE>(shared, own.row, wgmma_span_of<T, TILE>(g.k), place, d);
    wgmma_pass_turn<TILE>(group, own.tile, g.rows * g.cols);
    if (TILE::slices == 1 || cuda_cluster_rank() == 0)
        ahead.load_any(g, row + first.row, col + first.col);
    wgmma_multiplied<TILE>(shared, place, d);
    if constexpr (TILE::slices > 1)
        if (!wgmma_join<TILE>(shared, d[0]))
            return;
    own.next(g);
#pragma unroll
    for (int p = 0; p < TILE::parts; p++) {
        if (p > 0)
            ahead.load_any(g, row + p * WGMMA_M + first.row, col + first.col);
        wgmma_store<TILE>(maps, g, d[p], bias, ahead, shared.staging[group], group,
                          row + p * WGMMA_M, col);
    }
}

template <class T, class TILE>
__device__ __forceinline__ void wgmma_consume(wgmma_shared<TILE> &shared, const wgmma_maps &maps,
                                              const wgmma_args<T> &g, int group)
{
    const int steps = cuda_pieces(g.k, wgmma_depth<T>);
    wgmma_own<T, TILE> own(g, group);
    cuda_ring_place<TILE::stages> place;
    float d[TILE::parts][TILE::sums] = {};

#pragma unroll
    for (int p = 0; p < TILE::parts; p++)
        wgmma_keep(d[p]); /* zeros, but nothing that can be made again between two products */
    if (TILE::turns && group == 1)
        place.advance(steps);
    if constexpr (TILE::slices > 1) { /* there are as many clusters as tiles */
        wgmma_one_tile<T, TILE>(shared, maps, g, group, own, place, d);
    } else {
#pragma unroll 1
        while (own.more(g)) {
            wgmma_one_tile<T, TILE>(shared, maps, g, group, own, place, d);
            if (TILE::turns)
                place.advance(steps); /* the other one's tile */
        }
    }
    if (g.boxes && threadIdx.x % WGMMA_THREADS == 0)
        tma_store_wait<0>(); /* they read this block's shared memory */
}

template <class T, class TILE>
__global__ void __launch_bounds__(TILE::threads, 1)
    gemm_wgmma_kernel(const __grid_constant__ wgmma_maps maps,
                      const __grid_constant__ wgmma_args<T> g)
{
    wgmma_shared<TILE> &shared = cuda_shared<wgmma_shared<TILE>>();
    int warp = __shfl_sync(0xffffffffu, cuda_warp(), 0); /* known to be the same for all lanes */

    wgmma_start(shared, maps);
    if (warp < TILE::warps) {
        if constexpr (TILE::divided)
            wgmma_raise_registers<TILE::raised>();
        wgmma_consume<T, TILE>(shared, maps, g, warp / 4);
    } else { /* these branches have registers of their own, and do not meet again */
        if constexpr (TILE::divided)
            wgmma_lower_registers<TILE::lowered>();
        if (warp == TILE::warps && cuda_lane() == 0) {
            wgmma_feeder<T, TILE> feeder(g);
            while (feeder.more(g))
                feeder.next(shared, maps, g);
        }
        __syncwarp();
        if constexpr (TILE::slices > 1) { /* the two of wgmma_join() */
            cuda_cluster_wait();
            cuda_cluster_barrier();
        }
    }
}

#endif
