/* SPDX-License-Identifier: MIT */
/*
 * The operations of gemm.h by somebody else's sgemm: OpenBLAS, BLIS, oneDNN.
 *
 * BLAS has no epilogue: bias and residual go into y first and the product is added (beta = 1); an
 * activation is a pass of its own afterwards, by vectors (simd_supports()). All of that is timed,
 * and one thread's (why: gemm_common_blas.c). gemm/nt and gemm/nn are the product alone.
 */
#ifndef HARNESS_KERNELS_GEMM_BLAS_H
#define HARNESS_KERNELS_GEMM_BLAS_H

#include "kernels/gemm/gemm.h"

/* c[m,n] = a[m,k] op(b) + beta c, row-major; b is [k,n], or [n,k] if transposed. */
struct gemm_blas {
    int64_t m, n, k;
    const float *a, *b;
    int64_t lda, ldb;
    bool transposed;
    float beta; /* 0: c may hold anything; 1 */
    float *c;
    int64_t ldc;
    int threads;
};

/* `library` is what the implementation needs to know of itself (its table of functions). */
typedef void gemm_blas_fn(const void *library, const struct gemm_blas *p);

void gemm_blas_linear(const struct gemm_linear *g, gemm_blas_fn *product, const void *library);
void gemm_blas_nn(const struct gemm_nn *g, gemm_blas_fn *product, const void *library);

/* launch() of variants: the call's product, whichever kernel it is. */
void gemm_blas_launch(const struct call *call, gemm_blas_fn *product, const void *library);

/* False where a dim, or batch x seq, is beyond a 32-bit int. */
bool gemm_blas_countable(const struct kernel *k, const struct shape *s, const char *library,
                         struct error *why);

/* A row of a variant's table, for GEMM_BLAS_KERNELS(). The file defines GEMM_BLAS_NAME, _SUMMARY,
 * _FLAGS and _RELEASE, and static supports(), prepare() and launch(). */
#define GEMM_BLAS_KERNELS(X) GEMM_LINEAR_KERNELS(X) X(gemm_nn_kernel)
#define GEMM_BLAS_ROW(of)                                                                          \
    {                                                                                              \
        .name = GEMM_BLAS_NAME,                                                                    \
        .summary = GEMM_BLAS_SUMMARY,                                                              \
        .kernel = &(of),                                                                           \
        .device = DEVICE_CPU,                                                                      \
        .dtype = DTYPE_FP32,                                                                       \
        .math = MATH_FP32,                                                                         \
        .flags = GEMM_BLAS_FLAGS,                                                                  \
        .supports = supports,                                                                      \
        .prepare = prepare,                                                                        \
        .launch = launch,                                                                          \
        .release = GEMM_BLAS_RELEASE,                                                              \
    },

#endif
