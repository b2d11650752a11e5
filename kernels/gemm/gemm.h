/* SPDX-License-Identifier: MIT */
/*
 * Matrix products. Row-major float32; "ld" is the distance between rows in floats.
 *
 *   gemm/linear            y[m,n] = x[m,k] w[n,k]^T + bias[n]     nn.Linear, K contiguous in both
 *   gemm/linear_gelu       y = gelu(x w^T + bias)                  a GPT's fc; tanh of the GELU
 *   gemm/linear_residual   y = x w^T + bias + residual[m,n]        a GPT's proj
 *   gemm/nt                y = x w^T                               a GPT's head; what BLAS has too
 *   gemm/nn                c[m,n] = a[m,k] b[k,n]                  nothing packed before
 *
 * Work: 2 m n k FLOPs (what follows the product is not counted); bytes: every operand once.
 *
 * The entry points below are what the variants time and what the GPT models are composed of. Each
 * opens its own parallel region of `threads` threads (or joins the caller's) and allocates nothing.
 */
#ifndef HARNESS_KERNELS_GEMM_H
#define HARNESS_KERNELS_GEMM_H

#include "core/kernel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gemm_activation { GEMM_IDENTITY, GEMM_GELU };

/* y = activation(x w^T + bias) + residual */
struct gemm_linear {
    int64_t m, n, k;
    const float *x; /* [m,k] */
    int64_t ldx;
    const float *w;        /* [n,k] dense; for gemm_linear_simd the panels of gemm_pack() */
    const float *bias;     /* [n], or NULL */
    const float *residual; /* [m,n], added after the activation, or NULL. May be y itself where
                              the activation is GEMM_IDENTITY (x += proj(...) in place) */
    int64_t ldr;
    enum gemm_activation activation;
    float *y; /* [m,n]; overlaps nothing but `residual` as said above */
    int64_t ldy;
    float *scratch; /* gemm_int8_scratch() floats where w is of int8; else not used */
    bool streaming; /* y is far larger than the caches: write around them (logits) */
    int threads;    /* 0: a share of the caller's team, see kernels/host.h (simd only) */
    /* Of simd alone; 0: by the caches. The most terms of a slice, and the most tiles (8 rows) of a
     * part. */
    int64_t depth, height;
};

/* c = a b */
struct gemm_nn {
    int64_t m, n, k;
    const float *a; /* [m,k] */
    int64_t lda;
    const float *b; /* [k,n] */
    int64_t ldb;
    float *c; /* [m,n] */
    int64_t ldc;
    float *scratch;        /* gemm_packed_size(n, k) floats, 64-byte aligned; only simd uses it */
    int threads;           /* as above */
    int64_t depth, height; /* as above */
};

/* What a kernel of the linear form does with the product: its `config`. */
struct gemm_epilogue {
    enum gemm_activation activation;
    bool bias, residual;
};

typedef void gemm_linear_fn(const struct gemm_linear *g);
typedef void gemm_nn_fn(const struct gemm_nn *g);

gemm_linear_fn gemm_linear_naive, gemm_linear_simd;
gemm_nn_fn gemm_nn_naive, gemm_nn_simd;

/* Only where the build has OpenBLAS's header (HARNESS_HAVE_OPENBLAS in CMake), and after
 * openblas_open() of kernels/openblas.h. Bias, activation and residual are part of it. */
gemm_linear_fn gemm_linear_openblas;
gemm_nn_fn gemm_nn_openblas;

/* Packing for gemm_linear_simd. The layout depends on the instruction set in use (kernels/simd.h):
 * panels of gemm_panel_width() outputs, K-major, so that element w[j][p] lies at
 *     (j / width) * width * k + p * (width of its panel) + j % width
 * What is left of n is a panel of gemm_last_width() outputs (0: nothing left), padded with zeros to
 * whole vectors. `packed` is 64-byte aligned. */
int64_t gemm_panel_width(void);
int64_t gemm_last_width(int64_t n);
size_t gemm_packed_size(int64_t n, int64_t k); /* in floats */
void gemm_pack(const float *w, int64_t n, int64_t k, float *packed, int threads);

/* Dims batch, seq, n, k for all; m = batch * seq. */
extern const struct kernel gemm_linear_kernel, gemm_linear_gelu_kernel, gemm_linear_residual_kernel,
    gemm_nt_kernel, gemm_nn_kernel;
/* The linear forms, for tables of variants that do all of them. */
#define GEMM_LINEAR_KERNELS(X)                                                                     \
    X(gemm_linear_kernel)                                                                          \
    X(gemm_linear_gelu_kernel) X(gemm_linear_residual_kernel) X(gemm_nt_kernel)
extern const struct kernel *const gemm_kernels[];

/* Positions in the layouts; gemm/nt ends before the bias, and gemm/linear_residual alone has a
 * residual. */
enum {
    GEMM_LINEAR_X,
    GEMM_LINEAR_W,
    GEMM_LINEAR_Y,
    GEMM_LINEAR_BIAS,
    GEMM_LINEAR_RESIDUAL,
    GEMM_LINEAR_NR
};
enum { GEMM_NN_A, GEMM_NN_B, GEMM_NN_C, GEMM_NN_NR };

#endif
