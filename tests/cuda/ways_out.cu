/* SPDX-License-Identifier: MIT */
/*
 * The ways by which products store logits, one a kernel: the kernels of kernels/gemm themselves,
 * with arguments that the compiler knows, so that what the other ways need is not in the machine
 * code. machine_code.py counts instructions an output in it; nobody runs it.
 *
 *     way_wgmma<T, TILE, OUT, boxes>    sm_90, k of any size (gemm_cuda_wgmma_out.h): by rows of
 * any pitch, or by boxes where it is a multiple of 16 bytes way_mma<T, TILE, OUT> mma.sync, rows of
 * any pitch (gemm_cuda_tile.h) way_simt<TILE>                    fp32, the same
 *
 * The head of bf16 with k up to 256 has one way, and is counted where it is. gemm_cuda_small.h, of
 * up to 8 rows, has an output a warp behind all of its weights.
 */
#include "kernels/gemm/gemm_cuda_mma.h"
#include "kernels/gemm/gemm_cuda_simt.h"
#include "kernels/gemm/gemm_cuda_wgmma.h"

/* Sums alone: no bias, no GELU, no residual. */
template <class OUT, class ARGS> static __device__ __forceinline__ ARGS sums_alone(ARGS g)
{
    g.bias = nullptr;
    g.residual = nullptr;
    g.gelu = false;
    g.out_bf16 = sizeof(OUT) == 2;
    return g;
}

template <class T, class TILE, class OUT, bool BOXES>
__global__ void __launch_bounds__(TILE::threads, 1)
    way_wgmma(const __grid_constant__ wgmma_maps maps, const __grid_constant__ wgmma_args<T> all)
{
    wgmma_shared<TILE> &shared = cuda_shared<wgmma_shared<TILE>>();
    wgmma_args<T> g = sums_alone<OUT>(all);
    int warp = __shfl_sync(0xffffffffu, cuda_warp(), 0);

    g.boxes = BOXES;
    wgmma_start(shared, maps);
    if (warp < TILE::warps) {
        if constexpr (TILE::divided)
            wgmma_raise_registers<TILE::raised>();
        wgmma_consume<T, TILE>(shared, maps, g, warp / 4);
    } else if constexpr (TILE::divided) {
        wgmma_lower_registers<TILE::lowered>();
    }
}

/* Of a whole k, as logits have tiles enough for all SMs; and of a pitch that is not whole vectors.
 */
template <class OUT, class T>
static __device__ __forceinline__ gemm_args<T> whole(const gemm_args<T> &all)
{
    gemm_args<T> g = sums_alone<OUT>(all);

    g.vectors = false;
    g.split = 1;
    return g;
}

template <class T, class TILE, class OUT>
__global__ void __launch_bounds__(TILE::threads, TILE::resident) way_mma(const gemm_args<T> all)
{
    constexpr int depth = MMA_PIECES * cuda_wide<T>;
    unsigned char *ring = cuda_shared<mma_shared<TILE>>().bytes;
    float sums[TILE::mma_m * TILE::mma_n][4] = {};
    const gemm_args<T> g = whole<OUT>(all);

    cuda_pdl_launch();
    mma_stages<T, TILE, true>(ring, g, gemm_work_of(g, TILE::bm, TILE::bn, depth), sums);
    mma_store<T, TILE>(ring, g, gemm_work_of(g, TILE::bm, TILE::bn, depth), sums);
}

template <class TILE>
__global__ void __launch_bounds__(TILE::threads, TILE::resident)
    way_simt(const gemm_args<float> all)
{
    unsigned char *stages = cuda_shared<simt_shared<TILE>>().bytes;
    simt_sums<TILE> sums = {};
    const gemm_args<float> g = whole<float>(all);

    cuda_pdl_launch();
    simt_steps<TILE, false, true>(stages, g, gemm_work_of(g, TILE::bm, TILE::bn, TILE::depth),
                                  sums);
    gemm_work work = gemm_work_of(g, TILE::bm, TILE::bn, TILE::depth);
    simt_store<TILE, false>(stages, g, work.row, work.col, sums);
}

/* The tiles that gemm_cuda_wgmma_choice.h takes for 50257 columns; the largest of the others. */
using simt_large = simt_tile<128, 128, 8, 8, 2>; /* of gemm_cuda_simt.cu */

const void *const *ways_out(void);
const void *const *ways_out(void)
{
    static const void *const all[] = {
        (const void *)way_wgmma<bf16, wgmma_huge, bf16, false>,
        (const void *)way_wgmma<bf16, wgmma_medium, bf16, false>,
        (const void *)way_wgmma<float, wgmma_huge, float, false>,
        (const void *)way_wgmma<float, wgmma_turns, float, false>,
        (const void *)way_wgmma<float, wgmma_medium, float, false>,
        (const void *)way_wgmma<bf16, wgmma_huge, bf16, true>,
        (const void *)way_wgmma<float, wgmma_huge, float, true>,
        (const void *)way_mma<bf16, mma_huge, bf16>,
        (const void *)way_mma<float, mma_huge, float>,
        (const void *)way_simt<simt_large>,
    };

    return all;
}
