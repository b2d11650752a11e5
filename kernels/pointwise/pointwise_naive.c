/* SPDX-License-Identifier: MIT */
/*
 * One element after the other, tanh from libm. Limit: tanhf for the gelus, the memory for the
 * sums, which the compiler turns into vectors by itself.
 */
#include "kernels/pointwise/pointwise_call.h"

static void one_row(const struct pointwise *p, int64_t row)
{
    const float *x = p->x + row * p->width;
    float *y = p->y + row * p->width;

    switch (p->op) {
    case POINTWISE_GELU:
        for (int64_t j = 0; j < p->width; j++)
            y[j] = pointwise_gelu_float(x[j]);
        break;
    case POINTWISE_BIAS:
        for (int64_t j = 0; j < p->width; j++)
            y[j] = x[j] + p->operand[j];
        break;
    case POINTWISE_BIAS_GELU:
        for (int64_t j = 0; j < p->width; j++)
            y[j] = pointwise_gelu_float(x[j] + p->operand[j]);
        break;
    case POINTWISE_RESIDUAL:
        for (int64_t j = 0; j < p->width; j++)
            y[j] = x[j] + p->operand[row * p->width + j];
        break;
    }
}

void pointwise_rows_naive(const struct pointwise *p)
{
#pragma omp parallel for num_threads(p->threads)
    for (int64_t row = 0; row < p->rows; row++)
        one_row(p, row);
}

static void launch(const struct call *call)
{
    struct pointwise p = pointwise_of(call);

    pointwise_rows_naive(&p);
}

#define NAIVE(of)                                                                                  \
    POINTWISE_VARIANT(of, "naive", "one element after the other; limit: libm's tanhf",             \
                      VARIANT_PLAIN, NULL, launch)

const struct variant pointwise_naive[] = {
    NAIVE(pointwise_gelu_kernel),
    NAIVE(pointwise_bias_kernel),
    NAIVE(pointwise_bias_gelu_kernel),
    NAIVE(pointwise_residual_kernel),
    { .name = NULL },
};
