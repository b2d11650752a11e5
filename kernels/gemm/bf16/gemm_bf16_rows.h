/* SPDX-License-Identifier: MIT */
/*
 * Few rows of x through a packed panel, which is widened in registers: a decode step, where all
 * time goes into reading b, and reads half of it. For files compiled with SIMD_ISA.
 *
 *      pairs of b   | b1 b0 | b3 b2 | ...     one load: two terms of a vector of columns
 *                        |
 *                   << 16 -> b0 b2 ...  x x[i][2p]      two operations to widen and, for each row,
 *                   & ~0  -> b1 b3 ...  x x[i][2p + 1]  two multiply-adds
 *
 * Even and odd terms have sums of their own, so that chains are as many as hide an FMA's time. b is
 * asked for far ahead: with three times as many instructions a byte as in fp32, the processor
 * itself looks a third as far (measured: 1.4 times the rate of fp32 without, 1.8 to 2.3 with it).
 * Pairs that are multiplied as they lie take as many instructions a byte as fp32, and asking costs:
 * on AMD's Zen 4 products of 1 to 4 rows took 1.1 to 1.25 times as long from L3, and no less from
 * memory.
 */
#ifndef HARNESS_KERNELS_GEMM_BF16_ROWS_H
#define HARNESS_KERNELS_GEMM_BF16_ROWS_H

#include "kernels/gemm/bf16/gemm_bf16_operands.h"

#ifdef SIMD_ISA

enum {
    FEW_ROWS = GEMM_BF16_FEW, /* 2 x 4 x 3 sums are as many as a tile has */
    FEW_AHEAD = 2048,         /* words between what is read and what is fetched */
};

/* acc[even, odd] += x[:][p, p + 1] b[p, p + 1][:] */
SIMD_INLINE void few_step(int mr, int nv, const float *x, int64_t x_row, const float *b,
                          simd_float acc[2][FEW_ROWS][GEMM_VECTORS])
{
    SIMD_UNROLL
    for (int v = 0; v < nv; v++) {
        const simd_float pairs = simd_load(b + v * SIMD_WIDTH);
        const simd_float even = simd_pair_even(pairs), odd = simd_pair_odd(pairs);
        __builtin_prefetch(b + v * SIMD_WIDTH + FEW_AHEAD);
        SIMD_UNROLL
        for (int i = 0; i < mr; i++) {
            acc[0][i][v] = simd_fma(simd_set(x[i * x_row]), even, acc[0][i][v]);
            acc[1][i][v] = simd_fma(simd_set(x[i * x_row + 1]), odd, acc[1][i][v]);
        }
    }
}

/* The sums of all k terms to y. */
SIMD_INLINE void few_rows(int mr, int nv, const struct operand *x, const float *b, int64_t k,
                          float *y, int64_t y_row)
{
    simd_float acc[2][FEW_ROWS][GEMM_VECTORS];
    const float *a = x->at;

    SIMD_UNROLL
    for (int half = 0; half < 2; half++)
        gemm_zero(mr, nv, acc[half]);
    for (int64_t p = 0; p + 2 <= k; p += 2, a += 2, b += nv * SIMD_WIDTH)
        few_step(mr, nv, a, x->row, b, acc);
    SIMD_UNROLL
    for (int i = 0; i < mr; i++) {
        SIMD_UNROLL
        for (int v = 0; v < nv; v++) {
            simd_float sum = acc[0][i][v] + acc[1][i][v];
            if (k % 2 != 0)
                sum = simd_fma(simd_set(a[i * x->row]),
                               simd_pair_even(simd_load(b + v * SIMD_WIDTH)), sum);
            simd_store(y + i * y_row + v * SIMD_WIDTH, sum);
        }
    }
}

#define FEW_DEFINE(mr, nv)                                                                         \
    static void few_##mr##x##nv(const struct operand *x, const float *b, int64_t k, float *y,      \
                                int64_t y_row)                                                     \
    {                                                                                              \
        few_rows(mr, nv, x, b, k, y, y_row);                                                       \
    }
#define FEW_EACH(X, nv)   X(1, nv) X(2, nv) X(3, nv) X(4, nv)
#define FEW_ENTRY(mr, nv) [(nv)-1][(mr)-1] = few_##mr##x##nv,
#if defined(SIMD_ISA_avx512) || defined(__aarch64__)
#define FEW_ALL(X) FEW_EACH(X, 1) FEW_EACH(X, 2) FEW_EACH(X, 3)
#else
#define FEW_ALL(X) FEW_EACH(X, 1) FEW_EACH(X, 2)
#endif
FEW_ALL(FEW_DEFINE)

typedef void few_fn(const struct operand *x, const float *b, int64_t k, float *y, int64_t y_row);

static few_fn *const few[GEMM_VECTORS][FEW_ROWS] = { FEW_ALL(FEW_ENTRY) };

#endif

#endif
