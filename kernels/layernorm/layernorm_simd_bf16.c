/* SPDX-License-Identifier: MIT */
/*
 * Layer normalisation of bfloat16: as fp32's, but for what is loaded and stored
 * (layernorm_simd_block.h). Moments are of fp32 sums, and the only rounding to bfloat16 is that of
 * what is stored.
 *
 * Limit: out of cache the bandwidth of a copy, at half the bytes of fp32; in cache the conversions
 * beside the arithmetic.
 */
#include "kernels/host.h"
#include "kernels/layernorm/layernorm_call.h"
#include "kernels/layernorm/layernorm_simd_block.h"
#include "kernels/simd.h"

/* Where a row's gain and bias of column j lie in the call's state. */
typedef int64_t layernorm_place_fn(int64_t width, int64_t j);

SIMD_DECLARE_BF16(host_share_fn, layernorm_rows_bf16);
SIMD_DECLARE_BF16(layernorm_place_fn, layernorm_place);

#ifdef SIMD_ISA

int64_t SIMD_NAME(layernorm_place)(int64_t width, int64_t j)
{
    return narrow_place(width, j);
}

static __attribute__((noinline)) void rows_of(const struct layernorm *l, int block, int64_t first,
                                              int64_t end)
{
    norm_rows(true, block, l, first, end);
}

void SIMD_NAME(layernorm_rows_bf16)(const void *operation)
{
    norm_share(rows_of, operation);
}

#else

/* In the call's state: gain and bias as floats, in the order of the instruction set's pairs. */
static int prepare(struct call *call, struct error *err)
{
    const struct layernorm l = layernorm_of(call);
    const int first = l.delta != NULL ? (int)LAYERNORM_RESIDUAL_GAIN : (int)LAYERNORM_PLAIN_GAIN;

    if (host_state(call, 2 * (size_t)l.width, err) != 0)
        return -1;
    for (int64_t i = 0; i < 2; i++) /* the bias follows the gain in the layouts */
        for (int64_t j = 0; j < l.width; j++)
            ((float *)call->state)[i * l.width + SIMD_CHOOSE_BF16(layernorm_place)(l.width, j)] =
                (float)tensor_get(&call->tensor[first + i], j);
    return 0;
}

static void launch(const struct call *call)
{
    struct layernorm l = layernorm_of(call);
    const struct blocked o = blocked_of(call, &l);

    l.gain = call->state;
    l.bias = l.gain + l.width;
    host_share(SIMD_CHOOSE_BF16(layernorm_rows_bf16), &o, l.threads,
               4.0 * (double)(l.rows * l.width));
}

static const char *const params[] = { "block=0,768,1536,3072,12288", NULL };

#define SIMD(of)                                                                                   \
    {                                                                                              \
        .name = "simd_bf16",                                                                       \
        .summary =                                                                                 \
            "as simd, widened by the load and rounded by the store, streaming stores; "            \
            "limit: memory bandwidth",                                                             \
        .kernel = &(of), .device = DEVICE_CPU, .dtype = DTYPE_BF16, .math = MATH_BF16,             \
        .supports = simd_supports, .prepare = prepare, .launch = launch,                           \
        .release = host_state_release, .params = params,                                           \
    }

const struct variant layernorm_simd_bf16[] = {
    SIMD(layernorm_plain_kernel),
    SIMD(layernorm_residual_kernel),
    { .name = NULL },
};

#endif
