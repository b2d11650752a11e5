/* SPDX-License-Identifier: MIT */
/*
 * The textbook loops, one output after the other.
 *
 *        k              k              n
 *     +-----+        +-----+       +-------+
 *   m |-----|   x  n |-----|  = m  |   .   |      each output: one row of x with one row of w
 *     +-----+        +-----+       +-------+
 *
 * Limit: one multiply-add waits for the one before (4 cycles), so a few percent of the FMA peak.
 */
#include "kernels/gemm/gemm_call.h"
#include "kernels/pointwise/pointwise.h"

void gemm_linear_naive(const struct gemm_linear *g)
{
#pragma omp parallel for num_threads(g->threads)
    for (int64_t i = 0; i < g->m; i++) {
        for (int64_t j = 0; j < g->n; j++) {
            float sum = 0;
            for (int64_t p = 0; p < g->k; p++)
                sum += g->x[i * g->ldx + p] * g->w[j * g->k + p];
            if (g->bias != NULL)
                sum += g->bias[j];
            if (g->activation == GEMM_GELU)
                sum = pointwise_gelu_float(sum);
            if (g->residual != NULL)
                sum += g->residual[i * g->ldr + j];
            g->y[i * g->ldy + j] = sum;
        }
    }
}

void gemm_nn_naive(const struct gemm_nn *g)
{
#pragma omp parallel for num_threads(g->threads)
    for (int64_t i = 0; i < g->m; i++) {
        for (int64_t j = 0; j < g->n; j++) {
            float sum = 0;
            for (int64_t p = 0; p < g->k; p++)
                sum += g->a[i * g->lda + p] * g->b[p * g->ldb + j];
            g->c[i * g->ldc + j] = sum;
        }
    }
}

static void linear_launch(const struct call *call)
{
    struct gemm_linear g = gemm_linear_of(call);

    gemm_linear_naive(&g);
}

static void nn_launch(const struct call *call)
{
    struct gemm_nn g = gemm_nn_of(call);

    gemm_nn_naive(&g);
}

#define LINEAR(of)                                                                                 \
    {                                                                                              \
        .name = "naive",                                                                           \
        .summary = "three loops; limit: the latency of one multiply-add",                          \
        .kernel = &(of),                                                                           \
        .device = DEVICE_CPU,                                                                      \
        .dtype = DTYPE_FP32,                                                                       \
        .math = MATH_FP32,                                                                         \
        .flags = VARIANT_PLAIN,                                                                    \
        .launch = linear_launch,                                                                   \
    },

const struct variant gemm_naive[] = {
    GEMM_LINEAR_KERNELS(LINEAR) /* and gemm/nn */
    {
        .name = "naive",
        .summary = "three loops; limit: the latency of one multiply-add",
        .kernel = &gemm_nn_kernel,
        .device = DEVICE_CPU,
        .dtype = DTYPE_FP32,
        .math = MATH_FP32,
        .flags = VARIANT_PLAIN,
        .launch = nn_launch,
    },
    { .name = NULL },
};
