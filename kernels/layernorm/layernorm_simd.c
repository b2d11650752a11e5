/* SPDX-License-Identifier: MIT */
/* The variants' tables, and the share of each thread; the work is in layernorm_simd_block.h. */
#include "kernels/host.h"
#include "kernels/layernorm/layernorm_call.h"
#include "kernels/layernorm/layernorm_simd_block.h"
#include "kernels/simd.h"
#include "kernels/team.h"

SIMD_DECLARE(host_share_fn, layernorm_rows);

#ifdef SIMD_ISA

/* The narrowest models' rows are short enough for loops of a known length to matter. */
SIMD_INLINE void cached(bool residual, const struct layernorm *l, int64_t first, int64_t end)
{
    const struct form narrow = { residual, .tile = NARROW_TILE, .block = BLOCK };
    const struct form usual = { residual, .tile = TILE, .block = BLOCK };

    if (l->width == NARROW)
        band(narrow, l, NARROW, first, end);
    else if (l->width == 64)
        band(usual, l, 64, first, end);
    else
        band(usual, l, l->width, first, end);
}

/* Found by trial, on AMD's Zen 4: with vectors of a line, two outputs of two rows at a time were
 * written at 3/4 of the rate of those of one row. With smaller ones a single output gained by four
 * lines a turn. */
SIMD_INLINE void streamed(bool residual, const struct layernorm *l, int64_t first, int64_t end)
{
    const bool lines = SIMD_WIDTH == 16;
    const struct form f = { residual, .past = true, .tile = residual || lines ? TILE : TILE_MOST,
                            .block = residual && lines ? BLOCK_LEAST : BLOCK };

    band(f, l, l->width, first, end);
}

static void rows_of(const struct layernorm *l, int64_t first, int64_t end)
{
    bool past = past_caches(l);

    if (l->delta != NULL && past)
        streamed(true, l, first, end);
    else if (l->delta != NULL)
        cached(true, l, first, end);
    else if (past)
        streamed(false, l, first, end);
    else
        cached(false, l, first, end);
}

void SIMD_NAME(layernorm_rows)(const void *operation)
{
    const struct layernorm *l = operation;
    int64_t team = team_parts();

#pragma omp for schedule(static) nowait
    for (int64_t t = 0; t < team; t++) {
        int64_t first = l->rows * t / team, end = l->rows * (t + 1) / team;
        rows_of(l, first, end);
    }
    team_meet();
}

#else

void layernorm_rows_simd(const struct layernorm *l)
{
    host_share(SIMD_CHOOSE(layernorm_rows), l, l->threads, 8.0 * (double)(l->rows * l->width));
}

static void launch(const struct call *call)
{
    struct layernorm l = layernorm_of(call);

    layernorm_rows_simd(&l);
}

const struct variant layernorm_simd[] = {
    {
        .name = "simd",
        .summary = "sums of one block of rows while another is normalised, streaming stores; "
                   "limit: memory bandwidth",
        .kernel = &layernorm_plain_kernel,
        .device = DEVICE_CPU,
        .dtype = DTYPE_FP32,
        .math = MATH_FP32,
        .supports = simd_supports,
        .launch = launch,
    },
    {
        .name = "simd",
        .summary = "addition fused into the sums of one block while another is normalised, "
                   "streaming stores; limit: memory bandwidth",
        .kernel = &layernorm_residual_kernel,
        .device = DEVICE_CPU,
        .dtype = DTYPE_FP32,
        .math = MATH_FP32,
        .supports = simd_supports,
        .launch = launch,
    },
    { .name = NULL },
};

#endif
