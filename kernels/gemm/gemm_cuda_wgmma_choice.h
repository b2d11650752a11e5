/* SPDX-License-Identifier: MIT */
/*
 * Which tile of gemm_cuda_wgmma.h takes a product, and in how many blocks. No device code, so that
 * the host can check the choices against what was measured (tests/kernels/test_cuda_choice.cc).
 *
 * The model: rounds of blocks, each as long as its steps and its way out; with turns the way out
 * passes under the steps of the next. Steps get slower by a tenth as the SMs fill, since all of
 * them read from L2.
 */
#ifndef HARNESS_KERNELS_GEMM_GEMM_CUDA_WGMMA_CHOICE_H
#define HARNESS_KERNELS_GEMM_GEMM_CUDA_WGMMA_CHOICE_H

#include "kernels/gemm/gemm_cuda.h"

#include "kernels/cuda/launch.h"

#include <math.h>

/* Microseconds for a step (128 bytes of k) of a block, and for what is left of it. */
struct wgmma_shape {
    const char *name;
    int bm, bn, slices;
    bool turns; /* two warpgroups, of which one multiplies while the other stores */
    double step, out;
};

constexpr int WGMMA_TILES = 7;

/* As measured on an H200. A step of tf32 has half the depth and takes as long. */
inline constexpr struct wgmma_shape wgmma_shapes[WGMMA_TILES] = {
    { "huge", 128, 256, 1, false, 0.627, 3.34 },    { "wide", 128, 192, 1, false, 0.474, 3.10 },
    { "large", 128, 128, 1, false, 0.319, 2.07 },   { "medium", 64, 128, 1, false, 0.202, 1.46 },
    { "small", 64, 64, 1, false, 0.154, 1.23 },     { "halved", 64, 64, 2, false, 0.180, 2.24 },
    { "quartered", 64, 64, 4, false, 0.141, 3.58 },
};

/* Tiles, and blocks of the launch; band as in gemm_tile_order(); whether an early start helps. */
struct wgmma_plan {
    int tile, rows, cols, band, blocks;
    bool early;
};

constexpr int WGMMA_BAND_ROWS = 2048; /* of x: with as many of w, what runs at a time shares */

/* Steps of a block for a tile. */
inline int wgmma_steps(const struct gemm_cuda *g, const struct wgmma_shape *t, int depth)
{
    return (int)cuda_pieces<int64_t>(g->k, (int64_t)depth * t->slices);
}

/* For a tile, which the caller numbers. */
inline struct wgmma_plan wgmma_plan_for(const struct gemm_cuda *g, const struct wgmma_shape *t,
                                        int depth)
{
    struct wgmma_plan p = { 0,
                            (int)cuda_pieces<int64_t>(g->m, t->bm),
                            (int)cuda_pieces<int64_t>(g->n, t->bn),
                            WGMMA_BAND_ROWS / t->bm,
                            0,
                            true };
    int tiles = p.rows * p.cols;

    /* As few as are needed for as many rounds: idle SMs leave their power to the others. Slices
     * have a tile each. */
    p.blocks = t->slices > 1 ? tiles * t->slices : cuda_pieces(tiles, cuda_pieces(tiles, g->sms));
    /* Blocks that start early crowd on the SMs that the kernel before leaves idle. Where they are
     * long, that costs more than their start. */
    p.early = p.blocks > g->sms * 7 / 8 || wgmma_steps(g, t, depth) <= 32;
    return p;
}

/* Whether y can be stored in boxes. The copy engine clips them at 16 bytes, not at elements. */
inline bool wgmma_boxes_fit(const struct gemm_cuda *g)
{
    int64_t size = g->out == DTYPE_BF16 ? 2 : 4;

    return (uintptr_t)g->y % 16 == 0 && g->ldy * size % 16 == 0 && g->n * size % 16 == 0;
}

/* Microseconds, from the start of the first block on. */
inline double wgmma_cost(const struct gemm_cuda *g, const struct wgmma_shape *t,
                         const struct wgmma_plan *p, int depth)
{
    bool room = t->bn == 256; /* for long pieces of rows */
    double an_output = (g->activation == GEMM_GELU ? 6e-5 : 0) + (wgmma_boxes_fit(g) ? 0
                                                                  : room             ? 3e-5
                                                                                     : 8e-5);
    int sms = g->sms - (t->slices - 1) * 4; /* clusters do not fit everywhere */
    int blocks = p->rows * p->cols * t->slices;
    double filled = fmin(1, (double)blocks / sms);
    double steps = wgmma_steps(g, t, depth) * t->step * (1 + 0.1 * filled);
    double out = t->out + t->bm * t->bn * an_output, all = steps + out;

    return all + (cuda_pieces(blocks, sms) - 1) * (t->turns ? fmax(steps, all / 2) : all);
}

/* The cheapest; or the row g->tile of the table, from 1. */
inline struct wgmma_plan wgmma_plan_of(const struct gemm_cuda *g, int depth)
{
    struct wgmma_plan best = {};
    double least = INFINITY;

    for (int i = 0; i < WGMMA_TILES; i++) {
        if (wgmma_shapes[i].slices > cuda_pieces<int64_t>(g->k, depth))
            continue; /* none may be empty */
        struct wgmma_plan p = wgmma_plan_for(g, &wgmma_shapes[i], depth);
        double cost = g->tile == i + 1 ? 0 : wgmma_cost(g, &wgmma_shapes[i], &p, depth);
        if (cost >= least)
            continue;
        least = cost, best = p, best.tile = i;
    }
    return best;
}

#endif
