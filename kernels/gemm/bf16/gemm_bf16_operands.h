/* SPDX-License-Identifier: MIT */
/*
 * The two factors in the form that the register tile takes (kernels/gemm/gemm_simd_tile.h, the one
 * of fp32); for files compiled with SIMD_ISA. `GEMM_PAIRS` is 1 where the processor multiplies
 * pairs:
 *
 *                     GEMM_PAIRS 0                       GEMM_PAIRS 1
 *   a step of a tile  one term, simd_fma()               two terms, simd_dot_pairs()
 *   x                 floats, [rows][k]                  bfloat16, [rows][pairs of k]
 *   a panel of b      floats, widened once for all       pairs, as they were packed
 *                     rows of a block (into L2)
 *
 * What is in that form already is used where it lies.
 */
#ifndef HARNESS_KERNELS_GEMM_BF16_OPERANDS_H
#define HARNESS_KERNELS_GEMM_BF16_OPERANDS_H

#include "kernels/gemm/bf16/gemm_bf16.h"
#include "kernels/gemm/gemm_share.h"
#include "kernels/simd_bf16.h"
#include "kernels/simd_math.h"

#ifdef SIMD_ISA

#if defined(SIMD_ISA_avx512_bf16)
enum { GEMM_PAIRS = 1 };
/* The tile's text knows one operation. Here its floats are pairs, and it is theirs. */
#define simd_fma simd_dot_pairs
#include "kernels/gemm/gemm_simd_tile.h"
#undef simd_fma
#else
enum { GEMM_PAIRS = 0 };
#include "kernels/gemm/gemm_simd_tile.h"
#endif

/* A factor for the tile: rows `row` floats apart. */
struct operand {
    const float *at;
    int64_t row;
};

/* Steps of a tile. */
static inline int64_t depth_of(const struct gemm_bf16 *g)
{
    return GEMM_PAIRS ? ceil_div(g->k, 2) : g->k;
}

/* Of the panel from column `col` on: whole vectors. */
static inline int64_t width_of(const struct gemm_bf16 *g, int64_t col)
{
    return at_most(GEMM_PANEL, ceil_div(g->n - col, SIMD_WIDTH) * SIMD_WIDTH);
}

/* Where the packed panel begins. */
static inline const float *packed_at(const struct gemm_bf16 *g, int64_t col)
{
    return g->packed + col * ceil_div(g->k, 2);
}

static inline const void *x_at(const struct gemm_bf16 *g, int64_t row)
{
    const size_t size = g->x_type == DTYPE_BF16 ? sizeof(uint16_t) : sizeof(float);

    return (const char *)g->x + (size_t)(row * g->ldx) * size;
}

#if defined(SIMD_ISA_avx512_bf16)

/* Whether x is in the tile's form where it lies. */
static bool in_form(const struct gemm_bf16 *g)
{
    return g->x_type == DTYPE_BF16 && g->k % 2 == 0 && g->ldx % 2 == 0 &&
           (uintptr_t)g->x % sizeof(float) == 0;
}

/* Rows [row, row + rows) of x as pairs; an odd one out is beside a 0. */
static struct operand left(const struct gemm_bf16 *g, int64_t row, int64_t rows, float *to)
{
    const int64_t pairs = depth_of(g);

    if (in_form(g))
        return (struct operand) { x_at(g, row), g->ldx / 2 };
    for (int64_t i = 0; i < rows; i++) {
        uint16_t *y = (uint16_t *)(void *)(to + i * pairs);
        y[2 * pairs - 1] = 0;
        if (g->x_type == DTYPE_FP32)
            simd_bf16_narrow(x_at(g, row + i), g->k, y);
        else
            memcpy(y, x_at(g, row + i), (size_t)g->k * sizeof(*y));
    }
    return (struct operand) { to, pairs };
}

/* The panel from column `col` on. */
static struct operand right(const struct gemm_bf16 *g, int64_t col, float *to)
{
    const int64_t width = width_of(g, col), cols = at_most(GEMM_PANEL, g->n - col);

    if (g->packed != NULL)
        return (struct operand) { packed_at(g, col), width };
    for (int64_t p = 0; p < g->k; p += 2) {
        const uint16_t *even = g->rows + p * g->ldb + col, *odd = even + g->ldb;
        for (int64_t j = 0; j < width; j += SIMD_WIDTH) {
            simd_float above = p + 1 < g->k ? simd_bf16_load_upto(odd + j, cols - j) : simd_set(0);
            simd_store(to + p / 2 * width + j,
                       simd_pairs(simd_bf16_load_upto(even + j, cols - j), above));
        }
    }
    return (struct operand) { to, width };
}

#else

static bool in_form(const struct gemm_bf16 *g)
{
    return g->x_type == DTYPE_FP32;
}

/* Rows [row, row + rows) of x as floats. */
static struct operand left(const struct gemm_bf16 *g, int64_t row, int64_t rows, float *to)
{
    if (in_form(g))
        return (struct operand) { x_at(g, row), g->ldx };
    for (int64_t i = 0; i < rows; i++)
        simd_bf16_widen(x_at(g, row + i), g->k, to + i * g->k);
    return (struct operand) { to, g->k };
}

/* Pairs of rows to rows. */
static void widen_pairs(const float *from, int64_t k, int64_t width, float *to)
{
    for (int64_t p = 0; p < k; p += 2, from += width, to += 2 * width)
        for (int64_t j = 0; j < width; j += SIMD_WIDTH) {
            const simd_float pairs = simd_load(from + j);
            simd_store(to + j, simd_pair_even(pairs));
            if (p + 1 < k)
                simd_store(to + width + j, simd_pair_odd(pairs));
        }
}

/* The panel from column `col` on, widened to `to`. */
static struct operand right(const struct gemm_bf16 *g, int64_t col, float *to)
{
    const int64_t width = width_of(g, col), cols = at_most(GEMM_PANEL, g->n - col);

    if (g->packed != NULL)
        widen_pairs(packed_at(g, col), g->k, width, to);
    for (int64_t p = 0; g->packed == NULL && p < g->k; p++)
        for (int64_t j = 0; j < width; j += SIMD_WIDTH)
            simd_store(to + p * width + j,
                       simd_bf16_load_upto(g->rows + p * g->ldb + col + j, cols - j));
    return (struct operand) { to, width };
}

#endif

#endif

#endif
