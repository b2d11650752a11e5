/* SPDX-License-Identifier: MIT */
/* From the arguments of gemm_cuda.h to a launch of gemm_cuda_wgmma.h: the tile that
 * gemm_cuda_wgmma_choice.h chooses, the tensor maps. */
#ifndef HARNESS_KERNELS_GEMM_GEMM_CUDA_WGMMA_PLAN_H
#define HARNESS_KERNELS_GEMM_GEMM_CUDA_WGMMA_PLAN_H

#include "kernels/gemm/gemm_cuda_launch.h"
#include "kernels/gemm/gemm_cuda_wgmma.h"
#include "kernels/gemm/gemm_cuda_wgmma_choice.h"

template <class T>
struct wgmma_args<T> wgmma_args_of(const struct gemm_cuda *g, const struct wgmma_plan *p) {
    bool bf = g->out == DTYPE_BF16;
    int size = bf ? 2 : 4, pair = 2 * size;
    struct wgmma_args<T> a = {
    };

    a.m = (int)g->m, a.n = (int)g->n, a.k = (int)g->k;
    a.bias = static_cast<const T *>(g->bias);
    a.residual = g->residual, a.ldr = g->ldr;
    a.y = g->y, a.ldy = g->ldy;
    a.gelu = g->activation == GEMM_GELU, a.out_bf16 = bf;
    a.boxes = wgmma_boxes_fit(g);
    a.bias_pairs = g->n % 2 == 0 && (uintptr_t)g->bias % (2 * sizeof(T)) == 0;
    a.residual_pairs =
        g->n % 2 == 0 && g->ldr % 2 == 0 && (uintptr_t)g->residual % (uintptr_t)pair == 0;
    a.rows = p->rows, a.cols = p->cols, a.band = p->band;
    return a;
}

template <class T, class TILE>
cudaError_t wgmma_maps_of(struct wgmma_maps *maps, const struct gemm_cuda *g,
                          const struct wgmma_args<T> *a)
{
    const enum tma_element in = sizeof(T) == 2 ? TMA_BF16 : TMA_TF32;
    const enum tma_element out = a->out_bf16 ? TMA_BF16 : TMA_FP32;
    const struct tma_matrix x = { in, g->x, g->m, g->k, g->ldx, TILE::bm, wgmma_depth<T>, true };
    const struct tma_matrix w = { in, g->w, g->n, g->k, g->ldw, TILE::bn, wgmma_depth<T>, true };
    const struct tma_matrix y = {
        out, g->y, g->m, g->n, g->ldy, WGMMA_M, WGMMA_ROW_BYTES / (a->out_bf16 ? 2 : 4), true
    };
    cudaError_t rc = tma_describe(&maps->x, &x);

    if (rc == cudaSuccess)
        rc = tma_describe(&maps->w, &w);
    if (rc == cudaSuccess && a->boxes)
        rc = tma_describe(&maps->y, &y);
    return rc;
}

/* Where there are no tensor maps, y is spoiled: nobody can be told here. */
template <class T, class TILE>
void wgmma_enqueue_tile(const struct gemm_cuda *g, const struct wgmma_plan *p, cudaStream_t stream)
{
    const struct wgmma_args<T> a = wgmma_args_of<T>(g, p);
    const size_t size = a.out_bf16 ? 2 : 4;
    struct wgmma_maps maps = {};

    if (wgmma_maps_of<T, TILE>(&maps, g, &a) != cudaSuccess) {
        cudaMemset2DAsync(g->y, (size_t)g->ldy * size, 0xff, (size_t)g->n * size, (size_t)g->m,
                          stream);
        return;
    }
    cuda_launch_with<gemm_wgmma_kernel<T, TILE>>(
        { .cluster = TILE::slices, .early = g->early && p->early }, (unsigned)p->blocks,
        (unsigned)TILE::threads, sizeof(struct wgmma_shared<TILE>), stream, maps, a);
}

typedef void wgmma_enqueue_fn(const struct gemm_cuda *, const struct wgmma_plan *, cudaStream_t);

/* Whether a row of a table describes TILE. */
template <class TILE> constexpr bool wgmma_describes(const struct wgmma_shape &s)
{
    return s.bm == TILE::bm && s.bn == TILE::bn && s.slices == TILE::slices &&
           s.turns == TILE::turns;
}

/* Tiles in the order of a table. */
template <class... TILES> struct wgmma_list {
    static constexpr int nr = sizeof...(TILES);

    static constexpr bool described_by(const struct wgmma_shape *shape)
    {
        return (... && wgmma_describes<TILES>(*shape++));
    }
    template <class T>
    static constexpr wgmma_enqueue_fn *enqueue[nr] = { wgmma_enqueue_tile<T, TILES>... };
};

using wgmma_tiles = wgmma_list<wgmma_huge, wgmma_wide, wgmma_large, wgmma_turns, wgmma_medium,
                               wgmma_small, wgmma_halved, wgmma_quartered>;

static_assert(wgmma_tiles::nr == WGMMA_TILES && wgmma_tiles::described_by(wgmma_shapes),
              "in the same order");

/* gemm_linear_cuda_wgmma_bf16 (T bf16) and gemm_linear_cuda_wgmma_tf32 (T float). */
template <class T> void wgmma_enqueue(const struct gemm_cuda *g, cudaStream_t stream)
{
    const struct wgmma_plan p = wgmma_plan_of(g, wgmma_depth<T>);

    wgmma_tiles::enqueue<T>[p.tile](g, &p, stream);
}

/* A variant's launch(). */
template <class T> void wgmma_launch(const struct call *call)
{
    struct gemm_cuda g = gemm_cuda_of(call);

    g.early = true;
    wgmma_enqueue<T>(&g, device_cuda_stream(call->device));
}

/* A variant's supports(). */
template <class T>
bool wgmma_supports(const struct kernel *k, const struct shape *s, const struct device *d,
                    struct error *why)
{
    const cudaDeviceProp *p = device_cuda_properties(d);
    int64_t depth = kernel_dim(k, s, "k", 1);

    if (p->major != 9 || p->minor != 0)
        return error_set(why, "needs compute capability 9.0 (wgmma), this is %d.%d", p->major,
                         p->minor) == 0;
    if (depth % cuda_wide<T> != 0)
        return error_set(why,
                         "rows of k = %lld are no multiple of 16 bytes, as tensor maps must be",
                         (long long)depth) == 0;
    return gemm_cuda_supports(k, s, d, sizeof(struct wgmma_shared<wgmma_huge>), why);
}

#endif
