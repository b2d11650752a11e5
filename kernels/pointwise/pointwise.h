/* SPDX-License-Identifier: MIT */
/*
 * Element by element over dense [rows, width] matrices, float32:
 *
 *   pointwise/gelu        y = gelu(x)
 *   pointwise/bias        y = x + bias            bias[width], the same for every row
 *   pointwise/bias_gelu   y = gelu(x + bias)
 *   pointwise/residual    y = x + delta           delta[rows, width]
 *
 * gelu(x) = x/2 (1 + tanh(u)), u = sqrt(2/pi) (x + 0.044715 x^3): the tanh form of Hendrycks and
 * Gimpel (2016), as GPT-2 and minGPT use it. Work: 8 FLOPs a gelu (the tanh as one), 1 an addition.
 */
#ifndef HARNESS_KERNELS_POINTWISE_H
#define HARNESS_KERNELS_POINTWISE_H

#include "core/kernel.h"

#include <stdint.h>

enum pointwise_op { POINTWISE_GELU, POINTWISE_BIAS, POINTWISE_BIAS_GELU, POINTWISE_RESIDUAL };

struct pointwise {
    enum pointwise_op op;
    int64_t rows, width;
    const float *x;
    const float *operand; /* bias [width] or delta [rows, width]; unused by POINTWISE_GELU */
    float *y;             /* may be x or delta itself */
    int threads;          /* 0: a share of the caller's team, see kernels/host.h (simd only) */
};

typedef void pointwise_fn(const struct pointwise *p);

pointwise_fn pointwise_rows_naive, pointwise_rows_simd;

/* gelu of one number, by libm's tanh. */
float pointwise_gelu_float(float x);
double pointwise_gelu_double(double x);

/* dims batch, seq, width for all */
extern const struct kernel pointwise_gelu_kernel, pointwise_bias_kernel, pointwise_bias_gelu_kernel,
    pointwise_residual_kernel;
extern const struct kernel *const pointwise_kernels[];

#endif
