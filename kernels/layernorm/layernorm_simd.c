/* SPDX-License-Identifier: MIT */
/* The variants' tables; the work is in layernorm_simd_block.h. */
#include "kernels/host.h"
#include "kernels/layernorm/layernorm_call.h"
#include "kernels/layernorm/layernorm_simd_block.h"
#include "kernels/simd.h"

SIMD_DECLARE(host_share_fn, layernorm_rows);

#ifdef SIMD_ISA

static __attribute__((noinline)) void rows_of(const struct layernorm *l, int block, int64_t first,
                                              int64_t end)
{
    norm_rows(false, block, l, first, end);
}

void SIMD_NAME(layernorm_rows)(const void *operation)
{
    norm_share(rows_of, operation);
}

#else

static void run(const struct blocked *o)
{
    host_share(SIMD_CHOOSE(layernorm_rows), o, o->l->threads,
               8.0 * (double)(o->l->rows * o->l->width));
}

void layernorm_rows_simd(const struct layernorm *l)
{
    run(&(struct blocked) { l, 0 });
}

static const char *const params[] = { "block=0,768,1536,3072,12288", NULL };

static void launch(const struct call *call)
{
    const struct layernorm l = layernorm_of(call);
    const struct blocked o = blocked_of(call, &l);

    run(&o);
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
