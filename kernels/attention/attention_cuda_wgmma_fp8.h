/* SPDX-License-Identifier: MIT */
/*
 * What attention in e4m3 takes for which shape (attention_cuda_wgmma_fp8.cu): the number of columns
 * has one tiling, and tiles come from a queue or in turns, as in attention_cuda_wgmma_plan.h.
 */
#ifndef HARNESS_KERNELS_ATTENTION_ATTENTION_CUDA_WGMMA_FP8_H
#define HARNESS_KERNELS_ATTENTION_ATTENTION_CUDA_WGMMA_FP8_H

#include "kernels/attention/attention_cuda.h"
#include "kernels/attention/attention_cuda_wgmma_plan.h"

/* For headdim 64 and 128; the workspace is that of attention_fp8_places_of(). */
attention_cuda_fn attention_prefill_cuda_wgmma_fp8;

/* Queries of a tile. */
constexpr int attention_fp8_tile_rows(int64_t headdim)
{
    return 64 * (headdim == 64 ? ATTENTION_BYTES_NARROW : ATTENTION_BYTES).groups;
}

/* `heads`: of all sequences; `blocks`: SMs. */
constexpr attention_plan attention_fp8_plan_of(int64_t headdim, bool causal, int64_t heads,
                                               int64_t seq, int blocks)
{
    return { headdim == 64 ? NARROW : SQUARE,
             causal && attention_queues(heads, seq, attention_fp8_tile_rows(headdim), blocks) };
}

#endif
