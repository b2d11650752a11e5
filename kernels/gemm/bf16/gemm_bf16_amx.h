/* SPDX-License-Identifier: MIT */
/*
 * A tile of the result by matrix tiles (host/matrix_tiles.h): two of rows by three of columns, the
 * width of a panel, which are six of the eight there are.
 *
 *                    panel of b, pairs
 *                 +------+------+------+
 *     16 pairs of |  b7  |  b7  |  b7  |      a step: 2 tiles of a and 6 of b are loaded (each of b
 *     rows        +------+------+------+      twice) for 6 products, which take twice as long
 *       +------+  +------+------+------+
 *       |  a6  |  | acc0 | acc1 | acc2 |
 *       +------+  +------+------+------+
 *       |  a6  |  | acc3 | acc4 | acc5 |
 *       +------+  +------+------+------+
 *
 * a is bfloat16 as it lies in x, b as it was packed: nothing is widened. What is no whole tile is
 * put beside zeros before (left() and right() of gemm_bf16_operands.h). The sums go through memory,
 * since no vector can be made of a tile; bias and residual are added on their way to y.
 *
 * Limit: the tiles' 8192 products in 16 cycles. Never run: no machine at hand has tiles, so that
 * tests run a model of them (tests/kernels/amx_model.h).
 */
#ifndef HARNESS_KERNELS_GEMM_BF16_AMX_H
#define HARNESS_KERNELS_GEMM_BF16_AMX_H

#include "kernels/gemm/gemm_simd_tile.h"
#include "kernels/simd_amx.h"

#ifdef SIMD_AMX

/* One step for 16 rows: acc, acc + 1, acc + 2 += a b[0], b[1], b[2] of nv tiles. */
#define AMX_STEP(nv, first, second, third, a, a_row, b, b_row)                                     \
    do {                                                                                           \
        amx_load(6, (a), (a_row));                                                                 \
        amx_load(7, (b), (b_row));                                                                 \
        amx_dot(first, 6, 7);                                                                      \
        if ((nv) > 1) {                                                                            \
            amx_load(7, (b) + AMX_WORDS, (b_row));                                                 \
            amx_dot(second, 6, 7);                                                                 \
        }                                                                                          \
        if ((nv) > 2) {                                                                            \
            amx_load(7, (b) + 2 * AMX_WORDS, (b_row));                                             \
            amx_dot(third, 6, 7);                                                                  \
        }                                                                                          \
    } while (0)

/* To sums, whose rows are a panel wide. */
#define AMX_STORE(nv, first, second, third, sums)                                                  \
    do {                                                                                           \
        amx_store(first, (sums), GEMM_PANEL * sizeof(float));                                      \
        if ((nv) > 1)                                                                              \
            amx_store(second, (sums) + AMX_WORDS, GEMM_PANEL * sizeof(float));                     \
        if ((nv) > 2)                                                                              \
            amx_store(third, (sums) + 2 * AMX_WORDS, GEMM_PANEL * sizeof(float));                  \
    } while (0)

static void amx_products(const struct gemm_tile *t, bool two, int64_t nv, float *sums)
{
    const int64_t a_row = t->a_row * (int64_t)sizeof(float),
                  b_row = t->b_row * (int64_t)sizeof(float);

    amx_zero(0);
    amx_zero(1);
    amx_zero(2);
    amx_zero(3);
    amx_zero(4);
    amx_zero(5);
    for (int64_t p = 0; p < t->depth; p += AMX_WORDS) {
        const float *a = t->a + p, *b = t->b + p * t->b_row;
        AMX_STEP(nv, 0, 1, 2, a, a_row, b, b_row);
        if (two)
            AMX_STEP(nv, 3, 4, 5, a + AMX_ROWS * t->a_row, a_row, b, b_row);
    }
    AMX_STORE(nv, 0, 1, 2, sums);
    if (two)
        AMX_STORE(nv, 3, 4, 5, sums + AMX_ROWS * GEMM_PANEL);
}

/* y = sums + bias + add, of some columns. */
static void amx_finish(const struct gemm_tile *t, int64_t mr, const float *sums)
{
    for (int64_t i = 0; i < mr; i++)
        for (int64_t col = 0; col < t->cols; col += SIMD_WIDTH) {
            const int64_t lanes = t->cols - col;
            simd_float v = simd_load(sums + i * GEMM_PANEL + col);
            if (t->bias != NULL)
                v += simd_load_upto(t->bias + col, lanes);
            if (t->add != NULL)
                v += simd_load_upto(t->add + i * t->add_row + col, lanes);
            simd_store_upto(t->y + i * t->y_row + col, v, lanes);
        }
}

/* A tile of up to GEMM_ROWS rows; whole tiles of a are there to be read, and whole steps of b. */
static void amx_tile(const struct gemm_tile *t, int64_t mr)
{
    float sums[GEMM_ROWS * GEMM_PANEL] __attribute__((aligned(64)));

    amx_products(t, mr > AMX_ROWS, (t->cols + AMX_WORDS - 1) / AMX_WORDS, sums);
    amx_finish(t, mr, sums);
}

#endif

#endif
