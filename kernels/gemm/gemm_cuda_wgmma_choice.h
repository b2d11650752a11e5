/* SPDX-License-Identifier: MIT */
/*
 * Which tile of gemm_cuda_wgmma.h takes a product, and in how many blocks. No device code, so that
 * the host can check the choices against what was measured (tests/kernels/test_cuda_choice.cc).
 *
 * The model: a start, then rounds of blocks, each as long as its steps and its way out; with turns
 * the way out passes under the steps of the next. Steps get slower by a tenth as the SMs fill,
 * since all of them read from L2. The ways out take as long as a warpgroup has sums, which is all
 * of a tile with turns and 64 rows of it else.
 *
 * What it chooses for 168 measured products takes 0.1 % longer than the best tile (geometric mean),
 * at most 4 % (8192 x 768 x 3072 with a residual: turns, where wide is faster). At 8192^3 the power
 * limit makes huge, wide and turns the same but for 2 %.
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

constexpr int WGMMA_TILES = 8;

/* As measured on an H200. A step of tf32 has half the depth and takes as long. */
inline constexpr struct wgmma_shape wgmma_shapes[WGMMA_TILES] = {
    { "huge", 128, 256, 1, false, 0.632, 3.00 },  { "wide", 128, 192, 1, false, 0.482, 2.01 },
    { "large", 128, 128, 1, false, 0.335, 1.46 }, { "turns", 128, 128, 1, true, 0.313, 3.20 },
    { "medium", 64, 128, 1, false, 0.202, 0.92 }, { "small", 64, 64, 1, false, 0.167, 0.39 },
    { "halved", 64, 64, 2, false, 0.154, 1.56 },  { "quartered", 64, 64, 4, false, 0.138, 2.56 },
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

constexpr double WGMMA_START = 2; /* microseconds until the first bytes are there */

/* Microseconds of a tile's way out. With turns a bias costs nothing that is not hidden, but what is
 * read of a residual comes to a single warpgroup. */
inline double wgmma_way_out(const struct gemm_cuda *g, const struct wgmma_shape *t)
{
    bool room = t->bn == 256; /* for long pieces of rows */
    double bias = g->bias == nullptr || t->turns ? 0 : 12e-5, byte = t->turns ? 12e-5 : 5e-5;
    double gelu = g->activation == GEMM_GELU ? 5e-5 : 0;
    double residual = g->residual == nullptr ? 0 : g->out == DTYPE_BF16 ? 2 * byte : 4 * byte;
    double rows = wgmma_boxes_fit(g) ? 0 : room ? 15e-5 : 60e-5;

    return t->out + (t->turns ? t->bm : 64) * t->bn * (bias + gelu + residual + rows);
}

/* Microseconds, from the launch on. */
inline double wgmma_cost(const struct gemm_cuda *g, const struct wgmma_shape *t,
                         const struct wgmma_plan *p, int depth)
{
    int sms = g->sms - (t->slices - 1) * 4; /* clusters do not fit everywhere */
    int blocks = p->rows * p->cols * t->slices;
    double filled = fmin(1, (double)blocks / sms);
    double beside = t->turns && depth < 64 ? 1.035 : 1; /* floats stored under the steps */
    double steps = wgmma_steps(g, t, depth) * t->step * (1 + 0.1 * filled) * beside;
    double all = steps + wgmma_way_out(g, t), more = t->turns ? fmax(steps, all / 2) : all;

    return WGMMA_START + all + (cuda_pieces(blocks, sms) - 1) * more;
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
