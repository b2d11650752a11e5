/* SPDX-License-Identifier: MIT */
/*
 * Which tile and how many slices of K: chosen on the host for every launch, from the sizes and the
 * number of SMs alone, so that the same product always runs the same way.
 *
 * A tile is described by the steps (of bk along K) that an SM gets done. The model: blocks are
 * dealt evenly; the SM with the most of them works in rounds of `resident` blocks, and a round
 * takes what its arithmetic takes or what a lone block's latency takes, whichever is longer, and
 * its epilogue. Slices of K cost writing and reading the partial sums. The numbers come from
 * counting instructions, or from times (simt); they put tiles in order, no more.
 */
#ifndef HARNESS_KERNELS_GEMM_GEMM_CUDA_PLAN_H
#define HARNESS_KERNELS_GEMM_GEMM_CUDA_PLAN_H

#include "kernels/gemm/gemm_cuda.h"

#include <stddef.h>
#include <stdint.h>

/* What a plan may ask of the workspace, see gemm_cuda_workspace(): blocks of a sliced product (each
 * with partial sums, each tile with a counter), and elements of a tile that may be sliced. */
constexpr int GEMM_CUDA_SPLIT_BLOCKS_PER_SM = 2, GEMM_CUDA_SPLIT_ELEMENTS = 128 * 128;

struct gemm_cuda_shape {
    int bm, bn, bk;     /* of a tile; a step is bk deep */
    size_t shared;      /* bytes a block */
    int resident;       /* blocks that an SM holds at a time */
    double step;        /* cycles that a step takes of an SM that is full */
    double lone;        /* cycles from step to step where the block has the SM for itself */
    bool any_alignment; /* there is an instantiation for rows that are not 16-byte aligned */
    bool may_split;     /* its partial sums fit into the workspace */
};

template <class TILE>
constexpr struct gemm_cuda_shape gemm_cuda_shape_of(int depth, double step, double lone)
{
    return { .bm = TILE::bm,
             .bn = TILE::bn,
             .bk = depth,
             .shared = TILE::shared,
             .resident = TILE::resident,
             .step = step,
             .lone = lone,
             .any_alignment = TILE::any_alignment,
             .may_split = TILE::bm * TILE::bn <= GEMM_CUDA_SPLIT_ELEMENTS };
}

/* Rows of a table, from the largest tile to the smallest. */
constexpr int GEMM_CUDA_TILES = 4, GEMM_SIMT_TILES = 3;

extern const struct gemm_cuda_shape gemm_cuda_simt_tiles[GEMM_SIMT_TILES];

struct gemm_cuda_plan {
    int tile; /* index of the table given */
    int tiles_m, tiles_n, split;
};

/* The cheapest by the model of those the device has the shared memory for, or what g->tile and
 * g->split ask for. `aligned`: x and w can be read
 * 16 bytes at a time. */
struct gemm_cuda_plan gemm_cuda_plan_of(const struct gemm_cuda *g,
                                        const struct gemm_cuda_shape *table, int nr, bool aligned);

#endif
