/* SPDX-License-Identifier: MIT */
/* The variants' tables; the work is in layernorm_simd_block.h. */
#include "kernels/host.h"
#include "kernels/layernorm/layernorm_call.h"
#include "kernels/layernorm/layernorm_simd_block.h"
#include "kernels/simd.h"

#include <limits.h>

SIMD_DECLARE(host_share_fn, layernorm_rows);

/* In blocks of as many floats, but of the narrowest rows; 0: as many as are usual. */
struct blocked {
    const struct layernorm *l;
    int block;
};

#ifdef SIMD_ISA

/* Of the usual block, which is known, the compiler makes better loops. */
static __attribute__((noinline)) void rows_of(const struct layernorm *l, int block, int64_t first,
                                              int64_t end)
{
    (void)block;
    norm_rows(false, 0, l, first, end);
}

static __attribute__((noinline)) void rows_in_blocks(const struct layernorm *l, int block,
                                                     int64_t first, int64_t end)
{
    norm_rows(false, block, l, first, end);
}

void SIMD_NAME(layernorm_rows)(const void *operation)
{
    const struct blocked *o = operation;

    if (o->block == 0)
        norm_share(rows_of, o->l, 0);
    else
        norm_share(rows_in_blocks, o->l, o->block);
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
