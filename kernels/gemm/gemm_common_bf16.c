/* SPDX-License-Identifier: MIT */
/* How a product of bfloat16 is cut to the size of the caches, and the scratch of that. */
#include "kernels/gemm/bf16/gemm_bf16.h"
#include "kernels/gemm/gemm_simd_part.h"

enum { WIDEST_PANEL = 48 }; /* columns of a panel of any form */

int64_t gemm_bf16_lines(int64_t floats)
{
    return (floats + 15) / 16 * 16;
}

static int64_t between(int64_t least, int64_t n, int64_t most)
{
    return n < least ? least : n < most ? n : most;
}

/* Columns of b, of so many floats or pairs, that take a quarter of L2. */
static int64_t columns(int64_t depth)
{
    return gemm_cache_floats(2) / 4 / (depth < 1 ? 1 : depth);
}

/* Half of L2, in whole tiles of any instruction set. */
int64_t gemm_bf16_block(struct gemm_bf16_cut c, int64_t k)
{
    const int64_t whole = 48, rows = 2 * columns(k) / whole * whole;

    if (c.block > 0)
        return c.block;
    return rows < whole ? whole : rows;
}

int64_t gemm_bf16_group(struct gemm_bf16_cut c, int64_t depth, int64_t width)
{
    return between(1, c.group > 0 ? c.group : columns(depth) / width, GEMM_BF16_WIDEST / width);
}

/* Of a group of panels of any form. */
static int64_t group_floats(struct gemm_bf16_cut c, int64_t depth)
{
    const int64_t most = GEMM_BF16_WIDEST / WIDEST_PANEL;
    const int64_t fit = c.group > 0 ? between(1, c.group, most) * WIDEST_PANEL : columns(depth);

    return gemm_bf16_lines(depth) * between(WIDEST_PANEL, fit, GEMM_BF16_WIDEST);
}

/* Rows of x in the tile's form: of matrix tiles, which take no few rows, whole ones. */
static int64_t rows_of_x(int64_t m, int64_t block)
{
    const int64_t rows = m < block ? m : block;

    return rows > GEMM_BF16_FEW ? gemm_bf16_lines(rows) : rows;
}

size_t gemm_bf16_floats(struct gemm_bf16_cut c, int64_t m, int64_t k, int threads)
{
    const int64_t block = gemm_bf16_block(c, k);
    const int64_t widened = group_floats(c, k), pairs = group_floats(c, (k + 1) / 2);
    const int64_t panels = widened > pairs ? widened : pairs;

    return (size_t)threads * (size_t)(panels + gemm_bf16_lines(k) * rows_of_x(m, block));
}

size_t gemm_bf16_scratch(int64_t m, int64_t k, int threads)
{
    return gemm_bf16_floats((struct gemm_bf16_cut) { 0 }, m, k, threads);
}
