/* SPDX-License-Identifier: MIT */
/* What the variants share on the host: from the arguments of gemm_cuda.h to those of a kernel. */
#ifndef HARNESS_KERNELS_GEMM_GEMM_CUDA_LAUNCH_H
#define HARNESS_KERNELS_GEMM_GEMM_CUDA_LAUNCH_H

#include "kernels/gemm/gemm_cuda.h"
#include "kernels/gemm/gemm_cuda_plan.h"
#include "kernels/gemm/gemm_cuda_tile.h"

/* Where the parts of the workspace are, see gemm_cuda_workspace(). */
unsigned *gemm_cuda_tickets(const struct gemm_cuda *g);
float *gemm_cuda_partials(const struct gemm_cuda *g);

/* The arguments of a prepared call of gemm/nn: w is [k,n]. */
struct gemm_cuda gemm_cuda_nn_of(const struct call *call);

/* A variant's supports(): false, and the reason, where sizes go beyond the kernels' integers or the
 * grid, or where the device cannot run what uses cp.async (sm_80) in `shared` bytes a block. */
bool gemm_cuda_supports(const struct kernel *k, const struct shape *s, const struct device *d,
                        size_t shared, struct error *why);

/* Whether x and w can be read 16 bytes at a time. w_cols: elements of a row of w. */
template <class T> bool gemm_cuda_wide(const struct gemm_cuda *g, int64_t w_cols)
{
    return cuda_aligned(static_cast<const T *>(g->x), g->ldx, cuda_wide<T>) &&
           cuda_aligned(static_cast<const T *>(g->w), g->ldw, cuda_wide<T>) &&
           g->k % cuda_wide<T> == 0 && w_cols % cuda_wide<T> == 0;
}

/* Whether y, bias and residual can be accessed in vectors of 16 bytes of y. */
template <class T, class OUT> bool gemm_cuda_vectors(const struct gemm_cuda *g)
{
    constexpr int width = cuda_wide<OUT>;

    return cuda_aligned(static_cast<const OUT *>(g->y), g->ldy, width) &&
           cuda_aligned(static_cast<const T *>(g->bias), 0, width) &&
           (g->residual == nullptr ||
            cuda_aligned(static_cast<const OUT *>(g->residual), g->ldr, width));
}

template <class T>
struct gemm_args<T> gemm_args_of(const struct gemm_cuda *g, const struct gemm_cuda_plan *plan) {
    struct gemm_args<T> a = {
    };

    a.m = (int)g->m, a.n = (int)g->n, a.k = (int)g->k;
    a.x = static_cast<const T *>(g->x), a.ldx = g->ldx;
    a.w = static_cast<const T *>(g->w), a.ldw = g->ldw;
    a.bias = static_cast<const T *>(g->bias);
    a.residual = g->residual, a.ldr = g->ldr;
    a.y = g->y, a.ldy = g->ldy;
    a.gelu = g->activation == GEMM_GELU;
    a.out_bf16 = g->out == DTYPE_BF16;
    a.vectors = a.out_bf16 ? gemm_cuda_vectors<T, bf16>(g) : gemm_cuda_vectors<T, float>(g);
    a.tiles_m = plan->tiles_m, a.tiles_n = plan->tiles_n, a.split = plan->split;
    a.early = g->early;
    a.tickets = gemm_cuda_tickets(g);
    a.partials = gemm_cuda_partials(g);
    return a;
}

/* A row of a table of variants. */
#define GEMM_CUDA_VARIANT(of, label, text, type, arithmetic, which, can, ready, run, done)         \
    {                                                                                              \
        .name = (label), .summary = (text), .kernel = &(of), .device = DEVICE_CUDA,                \
        .dtype = (type), .math = (arithmetic), .flags = (which), .supports = (can),                \
        .prepare = (ready), .launch = (run), .release = (done),                                    \
    }

/* Enqueues a tiled kernel for a plan. */
template <auto KERNEL, class TILE, class T>
void gemm_cuda_enqueue(const struct gemm_args<T> &a, cudaStream_t stream)
{
    unsigned blocks = (unsigned)a.tiles_m * (unsigned)a.tiles_n * (unsigned)a.split;

    cuda_launch_with<KERNEL>({ .early = a.early }, blocks, (unsigned)TILE::threads,
                             (size_t)TILE::shared, stream, a);
}

#endif
