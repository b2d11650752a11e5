/* SPDX-License-Identifier: MIT */
/* The variants' tables, and the share of each thread; the work is in layernorm_simd_block.h. */
#include "kernels/host.h"
#include "kernels/layernorm/layernorm_call.h"
#include "kernels/layernorm/layernorm_simd_block.h"
#include "kernels/simd.h"
#include "kernels/team.h"

#include <limits.h>

SIMD_DECLARE(host_share_fn, layernorm_rows);

/* In blocks of as many floats, but of the narrowest rows; 0: as many as are usual. */
struct blocked {
    const struct layernorm *l;
    int block;
};

#ifdef SIMD_ISA

/* The narrowest models' rows are short enough for loops of a known length to matter. */
SIMD_INLINE void cached(bool residual, const struct layernorm *l, int block, int64_t first,
                        int64_t end)
{
    const struct form narrow = { residual, .tile = NARROW_TILE, .block = BLOCK };
    const struct form usual = { residual, .tile = TILE, .block = BLOCK };
    const struct form any = { residual, .tile = TILE, .block = block > 0 ? block : BLOCK };

    if (l->width == NARROW)
        band(narrow, l, NARROW, first, end);
    else if (l->width == 64)
        band(usual, l, 64, first, end);
    else
        band(any, l, l->width, first, end);
}

/* Found by trial, on AMD's Zen 4: with vectors of a line, two outputs of two rows at a time were
 * written at 3/4 of the rate of those of one row. With smaller ones a single output gained by four
 * lines a turn. */
SIMD_INLINE void streamed(bool residual, const struct layernorm *l, int block, int64_t first,
                          int64_t end)
{
    const bool lines = SIMD_WIDTH == 16;
    const int usual = residual && lines ? BLOCK_LEAST : BLOCK;
    const struct form f = { residual, .past = true, .tile = residual || lines ? TILE : TILE_MOST,
                            .block = block > 0 ? block : usual };

    band(f, l, l->width, first, end);
}

SIMD_INLINE void rows_by(int block, const struct layernorm *l, int64_t first, int64_t end)
{
    bool past = past_caches(l);

    if (l->delta != NULL && past)
        streamed(true, l, block, first, end);
    else if (l->delta != NULL)
        cached(true, l, block, first, end);
    else if (past)
        streamed(false, l, block, first, end);
    else
        cached(false, l, block, first, end);
}

/* Of the usual block, which is known, the compiler makes better loops. */
static __attribute__((noinline)) void rows_of(const struct layernorm *l, int64_t first, int64_t end)
{
    rows_by(0, l, first, end);
}

static __attribute__((noinline)) void rows_in_blocks(const struct blocked *o, int64_t first,
                                                     int64_t end)
{
    rows_by(o->block, o->l, first, end);
}

void SIMD_NAME(layernorm_rows)(const void *operation)
{
    const struct blocked *o = operation;
    int64_t team = team_parts(), rows = o->l->rows;

#pragma omp for schedule(static) nowait
    for (int64_t t = 0; t < team; t++) {
        int64_t first = rows * t / team, end = rows * (t + 1) / team;
        if (o->block == 0)
            rows_of(o->l, first, end);
        else
            rows_in_blocks(o, first, end);
    }
    team_meet();
}

#else

static void run_blocks(const struct layernorm *l, int block)
{
    const struct blocked o = { l, block };

    host_share(SIMD_CHOOSE(layernorm_rows), &o, l->threads, 8.0 * (double)(l->rows * l->width));
}

void layernorm_rows_simd(const struct layernorm *l)
{
    run_blocks(l, 0);
}

static const char *const params[] = { "block=0,768,3072,6144", NULL };

static void launch(const struct call *call)
{
    struct layernorm l = layernorm_of(call);
    int64_t block = variant_param(call->variant, 0);

    run_blocks(&l, block < INT_MAX ? (int)block : INT_MAX);
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
        .params = params,
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
        .params = params,
    },
    { .name = NULL },
};

#endif
