/* SPDX-License-Identifier: MIT */
/* The tiles that the wgmma and SIMT products choose, against times of all tiles on an H200.
 * Features: U-02. */
#include "kernels/gemm/gemm_cuda_plan.h"
#include "kernels/gemm/gemm_cuda_wgmma_choice.h"

extern "C" {
#include "testing.h"
}

enum way { PLAIN, BIAS, GELU, RESIDUAL }; /* the last two have a bias, too */

/* Microseconds of each tile, in the order of wgmma_shapes; 0 where it takes 1.3 times as long as
 * the best, or more, or was not measured. */
struct measured {
    int m, n, k;
    bool bf;
    enum way way;
    double us[WGMMA_TILES];
};

/* 2026-11-26, by graphs of launches over operands that are not in L2. */
static const struct measured table[] = {
    { 1024, 1024, 1024, true, PLAIN, { 0, 0, 0, 0, 6.32 } },
    { 1024, 1024, 1024, true, BIAS, { 0, 0, 0, 0, 6.33 } },
    { 1024, 1024, 1024, true, GELU, { 0, 0, 0, 0, 6.7 } },
    { 1024, 1024, 1024, true, RESIDUAL, { 0, 0, 0, 0, 7.11 } },
    { 4096, 4096, 4096, true, PLAIN, { 175.7, 198.8, 183.8, 178.5 } },
    { 4096, 4096, 4096, true, BIAS, { 189.1, 215.2, 194.1, 184.6, 234.3 } },
    { 4096, 4096, 4096, true, GELU, { 203.9, 229.7, 208.5, 185.2, 239 } },
    { 4096, 4096, 4096, true, RESIDUAL, { 201.6, 230.8, 215.9, 205.1, 258.4 } },
    { 8192, 8192, 8192, true, PLAIN, { 1637, 1612, 1651, 1608 } },
    { 8192, 8192, 8192, true, BIAS, { 1649, 1635, 1671, 1630 } },
    { 8192, 8192, 8192, true, GELU, { 1695, 1676, 1726, 1637 } },
    { 8192, 8192, 8192, true, RESIDUAL, { 1991, 1965, 1992, 1855 } },
    { 8192, 2304, 768, true, PLAIN, { 59.33, 55.31, 57.77, 48.02 } },
    { 8192, 2304, 768, true, BIAS, { 63.27, 58.51, 62.38, 49.88 } },
    { 8192, 2304, 768, true, GELU, { 69.08, 62.17, 67.3, 57.75 } },
    { 8192, 2304, 768, true, RESIDUAL, { 68.45, 63.1, 65.7, 60.54 } },
    { 8192, 3072, 768, true, PLAIN, { 62.65, 63.43, 66.81, 56.11 } },
    { 8192, 3072, 768, true, BIAS, { 65.16, 66.21, 70.44, 57.66 } },
    { 8192, 3072, 768, true, GELU, { 78.45, 77.18, 81.88, 69.81 } },
    { 8192, 3072, 768, true, RESIDUAL, { 80.64, 80.06, 84.48, 75.46 } },
    { 8192, 768, 3072, true, PLAIN, { 73.91, 58.47, 58.95, 57.05, 68.31 } },
    { 8192, 768, 3072, true, BIAS, { 72.59, 57.81, 58.76, 56.7, 68.49 } },
    { 8192, 768, 3072, true, GELU, { 70.49, 56.48, 59.16, 56.27, 70.67 } },
    { 8192, 768, 3072, true, RESIDUAL, { 71.04, 58.4, 61.46, 60.68, 71.74 } },
    { 8192, 768, 768, true, PLAIN, { 0, 20.13, 20.22, 18.24 } },
    { 8192, 768, 768, true, BIAS, { 0, 19.7, 20.39, 18.2 } },
    { 8192, 768, 768, true, GELU, { 26.51, 20.79, 22.16, 21.04, 26.7 } },
    { 8192, 768, 768, true, RESIDUAL, { 25.71, 21.34, 22.63, 22.87 } },
    { 1024, 2304, 768, true, PLAIN, { 11.84, 9.8, 12.25, 11.38, 11.63 } },
    { 1024, 2304, 768, true, BIAS, { 11.77, 9.86, 12.49, 11.41, 12.48 } },
    { 1024, 2304, 768, true, GELU, { 13.7, 10.97, 0, 13.03, 14.09 } },
    { 1024, 2304, 768, true, RESIDUAL, { 13.49, 11.44, 14.16, 13.95, 14.59 } },
    { 1024, 3072, 768, true, PLAIN, { 12.26, 9.99, 12.39, 11.59, 11.8 } },
    { 1024, 3072, 768, true, BIAS, { 12.28, 10.26, 12.86, 11.84, 12.86 } },
    { 1024, 3072, 768, true, GELU, { 13.97, 11.14, 0, 13.32, 14.41 } },
    { 1024, 3072, 768, true, RESIDUAL, { 14.19, 12.39, 14.86, 14.65, 14.94 } },
    { 1024, 768, 3072, true, PLAIN, { 0, 0, 0, 0, 11.15 } },
    { 1024, 768, 3072, true, BIAS, { 0, 0, 0, 0, 11.33 } },
    { 1024, 768, 3072, true, GELU, { 0, 0, 0, 0, 11.95 } },
    { 1024, 768, 3072, true, RESIDUAL, { 0, 0, 0, 0, 12.08 } },
    { 1024, 768, 768, true, PLAIN, { 0, 0, 0, 0, 5.07 } },
    { 1024, 768, 768, true, BIAS, { 0, 0, 0, 0, 5.11 } },
    { 1024, 768, 768, true, GELU, { 0, 0, 0, 0, 5.76 } },
    { 1024, 768, 768, true, RESIDUAL, { 0, 0, 0, 0, 5.9 } },
    { 256, 2304, 768, true, PLAIN, { 0, 0, 0, 0, 5.085 } },
    { 256, 2304, 768, true, BIAS, { 0, 0, 0, 0, 5.07 } },
    { 256, 2304, 768, true, GELU, { 0, 0, 0, 0, 5.7 } },
    { 256, 2304, 768, true, RESIDUAL, { 0, 0, 7.78, 0, 6.01 } },
    { 256, 3072, 768, true, PLAIN, { 0, 0, 0, 0, 5.3 } },
    { 256, 3072, 768, true, BIAS, { 0, 0, 0, 0, 5.3 } },
    { 256, 3072, 768, true, GELU, { 0, 0, 0, 0, 5.88 } },
    { 256, 3072, 768, true, RESIDUAL, { 0, 0, 7.89, 0, 6.28 } },
    { 256, 768, 3072, true, PLAIN, { 0, 0, 0, 0, 0, 0, 7 } },
    { 256, 768, 3072, true, BIAS, { 0, 0, 0, 0, 0, 0, 6.99 } },
    { 256, 768, 3072, true, GELU, { 0, 0, 0, 0, 0, 0, 7.36 } },
    { 256, 768, 3072, true, RESIDUAL, { 0, 0, 0, 0, 0, 0, 7.35 } },
    { 256, 768, 768, true, PLAIN, { 0, 0, 0, 0, 4.67, 4.075, 4.25 } },
    { 256, 768, 768, true, BIAS, { 0, 0, 0, 0, 4.71, 4.12, 4.29 } },
    { 256, 768, 768, true, GELU, { 0, 0, 0, 0, 5.32, 4.4, 4.54 } },
    { 256, 768, 768, true, RESIDUAL, { 0, 0, 0, 0, 5.39, 4.5, 4.37 } },
    { 256, 768, 256, true, PLAIN, { 0, 0, 0, 0, 3.685, 3.18, 3.9 } },
    { 256, 768, 256, true, BIAS, { 0, 0, 0, 0, 3.35, 2.87, 3.5 } },
    { 256, 768, 256, true, GELU, { 0, 0, 0, 0, 3.91, 3.17, 3.74 } },
    { 256, 768, 256, true, RESIDUAL, { 0, 0, 0, 0, 4.1, 3.46, 3.7 } },
    { 256, 1024, 256, true, PLAIN, { 0, 0, 0, 0, 3.86, 3.32, 4.095 } },
    { 256, 1024, 256, true, BIAS, { 0, 0, 0, 0, 3.5, 3.01, 3.69 } },
    { 256, 1024, 256, true, GELU, { 0, 0, 0, 0, 4.05, 3.28, 3.95 } },
    { 256, 1024, 256, true, RESIDUAL, { 0, 0, 0, 0, 4.11, 3.43, 3.8 } },
    { 256, 256, 1024, true, PLAIN, { 0, 0, 0, 0, 5.345, 4.67, 4.275, 4.545 } },
    { 256, 256, 1024, true, BIAS, { 0, 0, 0, 0, 5.24, 4.6, 4.2, 4.47 } },
    { 256, 256, 1024, true, GELU, { 0, 0, 0, 0, 0, 4.85, 4.45, 4.75 } },
    { 256, 256, 1024, true, RESIDUAL, { 0, 0, 0, 0, 0, 4.89, 4.25, 4.52 } },
    { 2048, 2048, 2048, true, PLAIN, { 24.88, 0, 25.48, 24.89, 30.28 } },
    { 256, 256, 256, true, PLAIN, { 0, 0, 0, 0, 3.95, 3.25, 3.88 } },
    { 1024, 768, 256, true, PLAIN, { 0, 0, 4.49, 0, 3.64 } },
    { 1024, 256, 256, true, PLAIN, { 0, 0, 0, 0, 3.39, 2.97, 3.61 } },
    { 1024, 1024, 256, true, PLAIN, { 0, 0, 4.5, 0, 3.78 } },
    { 1024, 256, 1024, true, PLAIN, { 0, 0, 0, 0, 5.24, 4.63, 4.66 } },
    { 8192, 768, 256, true, PLAIN, { 12.21, 10.17, 10.36, 10.23 } },
    { 8192, 256, 256, true, PLAIN, { 0, 6.78, 5.74, 6.29, 6.24 } },
    { 8192, 1024, 256, true, PLAIN, { 12.12, 13.76, 12.43, 11.07 } },
    { 8192, 256, 1024, true, PLAIN, { 0, 0, 9.81, 10.42, 10.55 } },
    { 256, 50257, 256, true, PLAIN, { 27.47, 35.62, 34.24, 32.78 } },
    { 1024, 50257, 768, true, PLAIN, { 158.3, 191.3, 187.1, 167 } },
    { 1024, 1024, 1024, false, PLAIN, { 0, 0, 0, 0, 9.575 } },
    { 1024, 1024, 1024, false, BIAS, { 0, 0, 0, 0, 9.63 } },
    { 1024, 1024, 1024, false, GELU, { 0, 0, 0, 0, 10.19 } },
    { 1024, 1024, 1024, false, RESIDUAL, { 0, 0, 0, 0, 12.26 } },
    { 4096, 4096, 4096, false, PLAIN, { 344.5, 406, 366.5, 358.4 } },
    { 4096, 4096, 4096, false, BIAS, { 376, 434.3, 382.7, 370.4, 456.1 } },
    { 4096, 4096, 4096, false, GELU, { 399.5, 453.2, 401.6, 380, 475.7 } },
    { 4096, 4096, 4096, false, RESIDUAL, { 422.1, 473.3, 430.7, 408 } },
    { 8192, 8192, 8192, false, PLAIN, { 3256, 3209, 3268, 3203 } },
    { 8192, 8192, 8192, false, BIAS, { 3828, 3777, 3645, 3520 } },
    { 8192, 8192, 8192, false, GELU, { 3293, 3270, 3310, 3216 } },
    { 8192, 8192, 8192, false, RESIDUAL, { 3491, 3456, 3525, 3435 } },
    { 8192, 2304, 768, false, PLAIN, { 116.6, 108.9, 111.4, 94.4 } },
    { 8192, 2304, 768, false, BIAS, { 126.5, 117.3, 119.1, 100.2 } },
    { 8192, 2304, 768, false, GELU, { 118.8, 109, 108, 95.58 } },
    { 8192, 2304, 768, false, RESIDUAL, { 145.5, 134, 133.2, 128.7 } },
    { 8192, 3072, 768, false, PLAIN, { 118.9, 121.8, 125.7, 108.9 } },
    { 8192, 3072, 768, false, BIAS, { 123.2, 126.8, 131.6, 111.5 } },
    { 8192, 3072, 768, false, GELU, { 142.7, 143.9, 143.3, 123.9 } },
    { 8192, 3072, 768, false, RESIDUAL, { 178.2, 177.8, 176.1, 165.3 } },
    { 8192, 768, 3072, false, PLAIN, { 135.8, 107.5, 110.3, 110.6 } },
    { 8192, 768, 3072, false, BIAS, { 144.6, 112.8, 113.7, 113.5, 142.4 } },
    { 8192, 768, 3072, false, GELU, { 148.3, 114.5, 115.7, 114.3, 143.7 } },
    { 8192, 768, 3072, false, RESIDUAL, { 162.6, 126.8, 132.9, 132.9 } },
    { 8192, 768, 768, false, PLAIN, { 0, 37.64, 36.92, 34.2 } },
    { 8192, 768, 768, false, BIAS, { 0, 37.08, 36.54, 33.7 } },
    { 8192, 768, 768, false, GELU, { 0, 37.74, 37.68, 35.91 } },
    { 8192, 768, 768, false, RESIDUAL, { 55.16, 44.74, 46.04, 48.31, 56.39 } },
    { 1024, 2304, 768, false, PLAIN, { 20.53, 17.24, 21.09, 19.92, 20.26 } },
    { 1024, 2304, 768, false, BIAS, { 20.49, 16.69, 21.04, 19.99, 20.64 } },
    { 1024, 2304, 768, false, GELU, { 22.37, 17.5, 22, 21.04, 21.98 } },
    { 1024, 2304, 768, false, RESIDUAL, { 26.65, 21.41, 25.98, 25.89, 27.1 } },
    { 1024, 3072, 768, false, PLAIN, { 21.16, 17.68, 21.14, 19.96, 20.54 } },
    { 1024, 3072, 768, false, BIAS, { 20.99, 17.25, 21.29, 20.22, 21.09 } },
    { 1024, 3072, 768, false, GELU, { 22.91, 18.14, 22.43, 21.56, 22.41 } },
    { 1024, 3072, 768, false, RESIDUAL, { 28.02, 23.3, 27.01, 29.03, 28.32 } },
    { 1024, 768, 3072, false, PLAIN, { 0, 0, 0, 0, 20.44 } },
    { 1024, 768, 3072, false, BIAS, { 0, 0, 0, 0, 20.49 } },
    { 1024, 768, 3072, false, GELU, { 0, 0, 0, 0, 21.1 } },
    { 1024, 768, 3072, false, RESIDUAL, { 0, 0, 0, 0, 23.2 } },
    { 1024, 768, 768, false, PLAIN, { 0, 0, 0, 0, 7.945 } },
    { 1024, 768, 768, false, BIAS, { 0, 0, 0, 0, 8.05 } },
    { 1024, 768, 768, false, GELU, { 0, 0, 0, 0, 8.61 } },
    { 1024, 768, 768, false, RESIDUAL, { 0, 0, 0, 0, 10.34 } },
    { 256, 2304, 768, false, PLAIN, { 0, 0, 0, 0, 7.825 } },
    { 256, 2304, 768, false, BIAS, { 0, 0, 0, 0, 7.71 } },
    { 256, 2304, 768, false, GELU, { 0, 0, 0, 0, 8.29 } },
    { 256, 2304, 768, false, RESIDUAL, { 0, 0, 0, 0, 9.87 } },
    { 256, 3072, 768, false, PLAIN, { 0, 0, 0, 0, 8.235 } },
    { 256, 3072, 768, false, BIAS, { 0, 0, 0, 0, 8.32 } },
    { 256, 3072, 768, false, GELU, { 0, 0, 0, 0, 8.88 } },
    { 256, 3072, 768, false, RESIDUAL, { 0, 0, 0, 0, 10.65 } },
    { 256, 768, 3072, false, PLAIN, { 0, 0, 0, 0, 0, 0, 11.32 } },
    { 256, 768, 3072, false, BIAS, { 0, 0, 0, 0, 0, 0, 11.33 } },
    { 256, 768, 3072, false, GELU, { 0, 0, 0, 0, 0, 0, 11.54 } },
    { 256, 768, 3072, false, RESIDUAL, { 0, 0, 0, 0, 0, 0, 11.93 } },
    { 256, 768, 768, false, PLAIN, { 0, 0, 0, 0, 7.085, 6.285, 5.545 } },
    { 256, 768, 768, false, BIAS, { 0, 0, 0, 0, 0, 6.31, 5.55 } },
    { 256, 768, 768, false, GELU, { 0, 0, 0, 0, 0, 6.51, 5.74 } },
    { 256, 768, 768, false, RESIDUAL, { 0, 0, 0, 0, 0, 7.06, 6.2 } },
    { 256, 768, 256, false, PLAIN, { 0, 0, 0, 0, 5.3, 4.41, 4.885 } },
    { 256, 768, 256, false, BIAS, { 0, 0, 0, 0, 4.8, 3.93, 4.33 } },
    { 256, 768, 256, false, GELU, { 0, 0, 0, 0, 5.33, 4.14, 4.54 } },
    { 256, 768, 256, false, RESIDUAL, { 0, 0, 0, 0, 0, 4.85, 4.95 } },
    { 256, 1024, 256, false, PLAIN, { 0, 0, 0, 0, 4.92, 4.105, 4.67 } },
    { 256, 1024, 256, false, BIAS, { 0, 0, 0, 0, 4.82, 3.93, 4.47 } },
    { 256, 1024, 256, false, GELU, { 0, 0, 0, 0, 5.34, 4.12, 4.66 } },
    { 256, 1024, 256, false, RESIDUAL, { 0, 0, 0, 0, 0, 4.88, 5.14 } },
    { 256, 256, 1024, false, PLAIN, { 0, 0, 0, 0, 0, 0, 5.925, 5.605 } },
    { 256, 256, 1024, false, BIAS, { 0, 0, 0, 0, 0, 0, 5.7, 5.45 } },
    { 256, 256, 1024, false, GELU, { 0, 0, 0, 0, 0, 0, 5.92, 5.68 } },
    { 256, 256, 1024, false, RESIDUAL, { 0, 0, 0, 0, 0, 0, 6.28, 5.93 } },
    { 2048, 2048, 2048, false, PLAIN, { 46.05, 0, 49.78, 48.26 } },
    { 256, 256, 256, false, PLAIN, { 0, 0, 0, 0, 4.87, 4.02, 4.2 } },
    { 1024, 768, 256, false, PLAIN, { 0, 0, 6.52, 0, 5.11 } },
    { 1024, 256, 256, false, PLAIN, { 0, 0, 0, 0, 4.65, 3.93, 4.46 } },
    { 1024, 1024, 256, false, PLAIN, { 0, 0, 6.62, 0, 5.15 } },
    { 1024, 256, 1024, false, PLAIN, { 0, 0, 0, 0, 0, 7.38, 6.31 } },
    { 8192, 768, 256, false, PLAIN, { 20.25, 16.64, 16.32, 15.85 } },
    { 8192, 256, 256, false, PLAIN, { 0, 0, 8.18, 8.8, 8.81 } },
    { 8192, 1024, 256, false, PLAIN, { 20.11, 23.18, 20.41, 18.35 } },
    { 8192, 256, 1024, false, PLAIN, { 0, 0, 16.92, 17.63, 18.6 } },
    { 256, 50257, 256, false, PLAIN, { 48.78, 62.64, 61.75, 59.9 } },
    { 1024, 50257, 768, false, PLAIN, { 291, 346.8, 341.8, 306.8 } },
};

static struct gemm_cuda product_of(const struct measured *row)
{
    static const char something[16] = {};
    struct gemm_cuda g = {};

    g.m = row->m, g.n = row->n, g.k = row->k;
    g.ldx = g.ldw = g.k, g.ldy = g.ldr = g.n;
    g.bias = row->way == PLAIN ? nullptr : something;
    g.residual = row->way == RESIDUAL ? something : nullptr;
    g.activation = row->way == GELU ? GEMM_GELU : GEMM_IDENTITY;
    g.out = row->bf ? DTYPE_BF16 : DTYPE_FP32;
    g.sms = 132;
    return g;
}

/* Time of the tile that is chosen, of that of the fastest; infinite where that was not measured. */
static double loss_of(const struct measured *row)
{
    struct gemm_cuda g = product_of(row);
    double us = row->us[wgmma_plan_of(&g, row->bf ? 64 : 32).tile], best = INFINITY;

    for (double other : row->us)
        best = other > 0 ? fmin(best, other) : best;
    return us > 0 ? us / best : INFINITY;
}

TEST(chosen_tiles_are_among_the_fastest)
{
    double sum = 0, nr = sizeof(table) / sizeof(table[0]);

    for (const struct measured &row : table) {
        double loss = loss_of(&row);
        if (loss > 1.05)
            fail_msg("%s %d x %d x %d, way %d: %g of the best time", row.bf ? "bf16" : "tf32",
                     row.m, row.n, row.k, (int)row.way, loss);
        sum += log(loss);
    }
    if (exp(sum / nr) > 1.003)
        fail_msg("%g of the best times (geometric mean)", exp(sum / nr));
}

/* For all sizes: blocks for each tile and no more, a slice for each, and steps in each slice. */
TEST(plans_hold_their_product)
{
    static const int sizes[] = { 1, 8, 63, 64, 65, 200, 256, 1000, 3072, 50257 };
    struct gemm_cuda g = {};

    g.out = DTYPE_BF16, g.sms = 132;
    for (int m : sizes)
        for (int n : sizes)
            for (int k : sizes)
                for (int tile = 0; tile <= WGMMA_TILES; tile++) {
                    g.m = m, g.n = g.ldy = n, g.k = k, g.tile = tile;
                    struct wgmma_plan p = wgmma_plan_of(&g, 64);
                    const struct wgmma_shape *t = &wgmma_shapes[p.tile];
                    int blocks = p.rows * p.cols * t->slices;
                    assert_in_range(p.rows * t->bm, m, m + t->bm - 1);
                    assert_in_range(p.cols * t->bn, n, n + t->bn - 1);
                    assert_in_range(p.blocks, 1, blocks);
                    assert_in_range(t->slices, 1, cuda_pieces(k, 64));
                    assert_true(t->slices > 1 ? p.blocks == blocks : p.blocks <= g.sms);
                    if (tile > 0 && wgmma_shapes[tile - 1].slices <= cuda_pieces(k, 64))
                        assert_int_equal(p.tile, tile - 1);
                }
}

/* Long blocks beside idle SMs do not start early (measured: 0.6 to 2 us), others do. */
TEST(only_long_blocks_start_late)
{
    static const struct measured rows[] = { { 1024, 768, 3072, true, PLAIN, {} },
                                            { 1024, 768, 3072, false, PLAIN, {} },
                                            { 256, 768, 3072, true, PLAIN, {} },
                                            { 1024, 1024, 1024, false, PLAIN, {} },
                                            { 8192, 8192, 8192, true, PLAIN, {} } };
    static const bool early[] = { false, false, true, true, true };

    for (int i = 0; i < 5; i++) {
        struct gemm_cuda g = product_of(&rows[i]);
        assert_int_equal(wgmma_plan_of(&g, rows[i].bf ? 64 : 32).early, early[i]);
    }
}

/* ---- SIMT ---- */

/* Microseconds of 128 x 128, 64 x 64 and 32 x 64, 0 where it was not measured, the first in so many
 * slices, the others in one. The small ones by 8 lanes a row then. */
TEST(chosen_simt_tiles_are_the_fastest)
{
    static const struct {
        int m, n, k, slices;
        double us[GEMM_SIMT_TILES];
    } rows[] = {
        { 1024, 1024, 1024, 4, { 58.55, 104.67, 112.06 } },
        { 2048, 2048, 2048, 1, { 377.88, 453.18, 586.29 } },
        { 4096, 4096, 4096, 1, { 2952.45, 0, 0 } },
        { 8192, 8192, 8192, 1, { 23163.97, 0, 0 } },
        { 256, 3072, 768, 5, { 42.18, 73.72, 63.42 } },
        { 1024, 3072, 768, 1, { 146.07, 132.94, 166.93 } },
        { 8192, 3072, 768, 1, { 861.58, 0, 0 } },
    };

    for (const auto &row : rows) {
        struct gemm_cuda g = {};
        g.m = row.m, g.n = row.n, g.k = row.k;
        g.sms = 132, g.shared = 227 * 1024, g.workspace = &g;
        gemm_cuda_plan p = gemm_cuda_plan_of(&g, gemm_cuda_simt_tiles, GEMM_SIMT_TILES, true);
        for (double us : row.us)
            assert_true(us == 0 || row.us[p.tile] <= us);
        assert_int_equal(p.split, p.tile == 0 ? row.slices : 1);
    }
}

RUN_TESTS(NULL, NULL)
