/* SPDX-License-Identifier: MIT */
/*
 * As pointwise_simd.c, of bfloat16: widened by the load, rounded by the store, fp32 in between.
 *
 * Limit: memory bandwidth at half the bytes out of cache; in cache the conversions, and one
 * exponential and one division a vector for the gelus.
 */
#include "kernels/host.h"
#include "kernels/pointwise/pointwise_call.h"
#include "kernels/simd.h"
#include "kernels/simd_bf16.h"
#include "kernels/simd_math.h"
#include "kernels/team.h"

SIMD_DECLARE_BF16(host_share_fn, pointwise_rows_bf16);

#ifdef SIMD_ISA

enum { PIECE = 4096 }; /* elements that a thread takes at once */

SIMD_INLINE simd_float even_or_odd(bool odd, simd_float pairs)
{
    return odd ? simd_pair_odd(pairs) : simd_pair_even(pairs);
}

/* y = gelu(x + operand), where either may be left out; n elements. Two vectors at a time as pairs,
 * whose conversions take half as many instructions. */
SIMD_INLINE void run(bool sum, bool gelu, const uint16_t *x, const uint16_t *operand, uint16_t *y,
                     int64_t n)
{
    int64_t j = 0;

    for (; j + 2 * SIMD_WIDTH <= n; j += 2 * SIMD_WIDTH) {
        const simd_float pairs = simd_bf16_load_pairs(x + j);
        const simd_float more = sum ? simd_bf16_load_pairs(operand + j) : simd_set(0);
        simd_float v[2];
        SIMD_UNROLL
        for (int odd = 0; odd < 2; odd++) {
            v[odd] = even_or_odd(odd, pairs);
            if (sum)
                v[odd] += even_or_odd(odd, more);
            if (gelu)
                v[odd] = simd_gelu(v[odd]);
        }
        simd_bf16_store_pairs(y + j, simd_bf16_pairs(v[0], v[1]));
    }
    for (; j < n; j += SIMD_WIDTH) {
        simd_float v = simd_bf16_load_upto(x + j, n - j);
        if (sum)
            v += simd_bf16_load_upto(operand + j, n - j);
        simd_bf16_store_upto(y + j, gelu ? simd_gelu(v) : v, n - j);
    }
}

static void piece(enum pointwise_op op, const uint16_t *x, const uint16_t *operand, uint16_t *y,
                  int64_t n)
{
    if (op == POINTWISE_GELU)
        run(false, true, x, operand, y, n);
    else if (op == POINTWISE_BIAS_GELU)
        run(true, true, x, operand, y, n);
    else
        run(true, false, x, operand, y, n);
}

void SIMD_NAME(pointwise_rows_bf16)(const void *operation)
{
    const struct pointwise *p = operation; /* whose pointers are to bfloat16 */
    const uint16_t *x = (const void *)p->x, *operand = (const void *)p->operand;
    uint16_t *y = (void *)p->y;
    bool by_row = p->op == POINTWISE_BIAS || p->op == POINTWISE_BIAS_GELU;
    bool whole = p->op == POINTWISE_RESIDUAL;
    int64_t total = p->rows * p->width, step = by_row ? p->width : PIECE;

#pragma omp for schedule(static) nowait
    for (int64_t i = 0; i < total; i += step)
        piece(p->op, x + i, whole ? operand + i : operand, y + i,
              total - i < step ? total - i : step);
    team_meet();
}

#else

static void launch(const struct call *call)
{
    const struct pointwise p = pointwise_of(call);

    host_share(SIMD_CHOOSE_BF16(pointwise_rows_bf16), &p, p.threads,
               4.0 * (double)(p.rows * p.width));
}

#define SIMD(of)                                                                                   \
    {                                                                                              \
        .name = "simd_bf16", .summary = "vectors, widened and rounded on the way; limit: memory",  \
        .kernel = &(of), .device = DEVICE_CPU, .dtype = DTYPE_BF16, .math = MATH_BF16,             \
        .supports = simd_supports, .launch = launch,                                               \
    }

const struct variant pointwise_simd_bf16[] = {
    SIMD(pointwise_gelu_kernel),
    SIMD(pointwise_bias_kernel),
    SIMD(pointwise_bias_gelu_kernel),
    SIMD(pointwise_residual_kernel),
    { .name = NULL },
};

#endif
