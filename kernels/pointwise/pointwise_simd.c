/* SPDX-License-Identifier: MIT */
/*
 * A matrix is one long run, cut for the threads:
 *
 *   gelu, residual:   |---- thread 0 ----|---- thread 1 ----|   any place will do
 *   bias, bias_gelu:  |row|row|row|row|--|--|row|row|row|row|   each row beside the same bias
 *
 * Limit: memory bandwidth out of cache; in cache one exponential and one division a vector for
 * the gelus (see kernels/simd_math.h).
 */
#include "kernels/host.h"
#include "kernels/pointwise/pointwise_call.h"
#include "kernels/simd.h"
#include "kernels/simd_math.h"

SIMD_DECLARE(host_share_fn, pointwise_rows);

#ifdef SIMD_ISA

/* y = gelu(x + operand), where either may be left out; n elements. */
SIMD_INLINE void run(bool sum, bool gelu, const float *x, const float *operand, float *y, int64_t n)
{
    for (int64_t j = 0; j < n; j += SIMD_WIDTH) {
        simd_float v = simd_load_upto(x + j, n - j);
        if (sum)
            v += simd_load_upto(operand + j, n - j);
        if (gelu)
            v = simd_gelu(v);
        simd_store_upto(y + j, v, n - j);
    }
}

static void piece(enum pointwise_op op, const float *x, const float *operand, float *y, int64_t n)
{
    switch (op) {
    case POINTWISE_GELU:
        run(false, true, x, operand, y, n);
        break;
    case POINTWISE_BIAS_GELU:
        run(true, true, x, operand, y, n);
        break;
    case POINTWISE_BIAS:
    case POINTWISE_RESIDUAL:
        run(true, false, x, operand, y, n);
        break;
    }
}

void SIMD_NAME(pointwise_rows)(const void *operation)
{
    const struct pointwise *p = operation;
    bool by_row = p->op == POINTWISE_BIAS || p->op == POINTWISE_BIAS_GELU;
    bool whole = p->op == POINTWISE_RESIDUAL;
    int64_t total = p->rows * p->width;
    int64_t step = by_row ? p->width : 4096;

#pragma omp for schedule(static)
    for (int64_t i = 0; i < total; i += step) {
        int64_t n = total - i < step ? total - i : step;
        piece(p->op, p->x + i, whole ? p->operand + i : p->operand, p->y + i, n);
    }
}

#else

void pointwise_rows_simd(const struct pointwise *p)
{
    host_share(SIMD_CHOOSE(pointwise_rows), p, p->threads, 8.0 * (double)(p->rows * p->width));
}

static void launch(const struct call *call)
{
    struct pointwise p = pointwise_of(call);

    pointwise_rows_simd(&p);
}

#define SIMD(of)                                                                                   \
    POINTWISE_VARIANT(of, "simd", "vectors, OpenMP; limit: memory, or one exponential a vector",   \
                      0, simd_supports, launch)

const struct variant pointwise_simd[] = {
    SIMD(pointwise_gelu_kernel),
    SIMD(pointwise_bias_kernel),
    SIMD(pointwise_bias_gelu_kernel),
    SIMD(pointwise_residual_kernel),
    { .name = NULL },
};

#endif
