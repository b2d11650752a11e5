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

#if defined(SIMD_AMX)
#include "kernels/gemm/bf16/gemm_bf16_amx.h"
enum { GEMM_PAIRS = 1, GEMM_STEP = AMX_WORDS, GEMM_WHOLE = AMX_ROWS };
#elif defined(SIMD_ISA_avx512_bf16)
enum { GEMM_PAIRS = 1, GEMM_STEP = 1, GEMM_WHOLE = 1 };
/* The tile's text knows one operation. Here its floats are pairs, and it is theirs. */
#define simd_fma simd_dot_pairs
#include "kernels/gemm/gemm_simd_tile.h"
#undef simd_fma
#else
enum { GEMM_PAIRS = 0, GEMM_STEP = 1, GEMM_WHOLE = 1 };
#include "kernels/gemm/gemm_simd_tile.h"
#endif

/* A factor for the tile: rows `row` floats apart. */
struct operand {
    const float *at;
    int64_t row;
};

/* Terms or pairs that go through a tile. */
static inline int64_t depth_of(const struct gemm_bf16 *g)
{
    return GEMM_PAIRS ? ceil_div(ceil_div(g->k, 2), GEMM_STEP) * GEMM_STEP : g->k;
}

/* Of the panel from column `col` on: whole vectors. */
static inline int64_t width_of(const struct gemm_bf16 *g, int64_t col)
{
    return at_most(GEMM_PANEL, ceil_div(g->n - col, SIMD_WIDTH) * SIMD_WIDTH);
}

/* mr rows of `t` through its panel; between begin_tiles() and end_tiles() of the same thread. */
static inline void run_tile(const struct gemm_tile *t, int64_t mr)
{
#if defined(SIMD_AMX)
    amx_tile(t, mr);
#else
    gemm_tiles[(t->cols - 1) / SIMD_WIDTH][mr - 1](t);
#endif
}

static inline void begin_tiles(void)
{
#if defined(SIMD_AMX)
    amx_begin();
#endif
}

static inline void end_tiles(void)
{
#if defined(SIMD_AMX)
    amx_end();
#endif
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

#if defined(SIMD_AMX) || defined(SIMD_ISA_avx512_bf16)

/* Whether x is in the tile's form where it lies, but for rows that are no whole tile. */
static bool in_form(const struct gemm_bf16 *g)
{
    return g->x_type == DTYPE_BF16 && g->k % (2 * GEMM_STEP) == 0 && g->ldx % 2 == 0 &&
           (uintptr_t)g->x % sizeof(float) == 0;
}

/* Rows [row, row + rows) of x as pairs; what is none of them is 0. */
static struct operand left(const struct gemm_bf16 *g, int64_t row, int64_t rows, float *to)
{
    const int64_t pairs = depth_of(g), missing = ceil_div(rows, GEMM_WHOLE) * GEMM_WHOLE - rows;

    if (in_form(g) && missing == 0)
        return (struct operand) { x_at(g, row), g->ldx / 2 };
    memset(to + rows * pairs, 0, (size_t)(missing * pairs) * sizeof(*to));
    for (int64_t i = 0; i < rows; i++) {
        uint16_t *y = (uint16_t *)(void *)(to + i * pairs);
        memset(y + g->k, 0, (size_t)(2 * pairs - g->k) * sizeof(*y));
        if (g->x_type == DTYPE_FP32)
            simd_bf16_narrow(x_at(g, row + i), g->k, y);
        else
            memcpy(y, x_at(g, row + i), (size_t)g->k * sizeof(*y));
    }
    return (struct operand) { to, pairs };
}

/* The panel from column `col` on; whole steps. */
static struct operand right(const struct gemm_bf16 *g, int64_t col, float *to)
{
    const int64_t width = width_of(g, col), cols = at_most(GEMM_PANEL, g->n - col);
    const int64_t pairs = ceil_div(g->k, 2), missing = depth_of(g) - pairs;

    if (g->packed != NULL && missing == 0)
        return (struct operand) { packed_at(g, col), width };
    memset(to + pairs * width, 0, (size_t)(missing * width) * sizeof(*to));
    if (g->packed != NULL) {
        memcpy(to, packed_at(g, col), (size_t)(pairs * width) * sizeof(*to));
        return (struct operand) { to, width };
    }
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
