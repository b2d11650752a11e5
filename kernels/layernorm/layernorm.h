/* SPDX-License-Identifier: MIT */
/*
 * Layer normalisation over the last axis, float32, eps = 1e-5:
 *
 *   y = (x - mean(x)) / sqrt(var(x) + eps) * gain + bias       var = mean of (x - mean)^2
 *
 *   layernorm/plain      x -> y
 *   layernorm/residual   s = x + delta (written too), y = norm(s)
 *
 * E[x^2] - E[x]^2 loses every digit where |mean| is large against the spread. The variance is taken
 * in two passes, or in one about a value near the mean, E[(x - c)^2] - (E[x] - c)^2, where that
 * loses none: layernorm_simd_block.h.
 *
 * Work: 8 FLOPs an element (residual 9), a convention; it is bandwidth that counts.
 */
#ifndef HARNESS_KERNELS_LAYERNORM_H
#define HARNESS_KERNELS_LAYERNORM_H

#include "core/kernel.h"

#include <stdint.h>

#define LAYERNORM_EPS 1e-5

/* All matrices are dense [rows, width]. */
struct layernorm {
    int64_t rows, width;
    const float *x;
    const float *delta;       /* NULL: plain; else the summand of the residual form */
    float *sum;               /* x + delta; may be x itself. Unused where delta is NULL */
    const float *gain, *bias; /* [width] */
    float *y;                 /* may be x itself where delta is NULL */
    int threads;              /* 0: a share of the caller's team, see kernels/host.h (simd only) */
};

typedef void layernorm_fn(const struct layernorm *l);

layernorm_fn layernorm_rows_naive, layernorm_rows_simd;

extern const struct kernel layernorm_plain_kernel,
    layernorm_residual_kernel; /* batch, seq, width */
extern const struct kernel *const layernorm_kernels[];

/* Positions in the layouts. */
enum {
    LAYERNORM_PLAIN_X,
    LAYERNORM_PLAIN_GAIN,
    LAYERNORM_PLAIN_BIAS,
    LAYERNORM_PLAIN_Y,
    LAYERNORM_PLAIN_NR
};
enum {
    LAYERNORM_RESIDUAL_X,
    LAYERNORM_RESIDUAL_DELTA,
    LAYERNORM_RESIDUAL_GAIN,
    LAYERNORM_RESIDUAL_BIAS,
    LAYERNORM_RESIDUAL_SUM,
    LAYERNORM_RESIDUAL_Y,
    LAYERNORM_RESIDUAL_NR
};

#endif
