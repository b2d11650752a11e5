/* SPDX-License-Identifier: MIT */
/* The tiles that the wgmma and SIMT products choose, against times of all tiles on an H200.
 * Features: U-02. */
#include "kernels/gemm/gemm_cuda_plan.h"
#include "kernels/gemm/gemm_cuda_wgmma_choice.h"

extern "C" {
#include "testing.h"
}

/* Microseconds of each tile, in the order of wgmma_shapes; 0 where it was not measured. */
struct measured {
    int m, n, k;
    bool bf;
    double us[WGMMA_TILES];
};

/* 2026-11-26, by graphs of launches over operands that are not in L2. The slices, and in tf32 all
 * of 64 x 64, were taken by two warpgroups in turn then: where both were measured, that took a few
 * percent longer. */
static const struct measured table[] = {
    { 1024, 1024, 1024, true, { 0, 0, 8.64, 6.21, 8.49, 0, 0 } },
    { 1024, 1024, 1024, false, { 0, 0, 13.23, 9.46, 13.18, 23.89, 0 } },
    { 2048, 2048, 2048, true, { 25.5, 36.58, 25.71, 31.35, 46.58, 0, 0 } },
    { 2048, 2048, 2048, false, { 46.03, 65.32, 49.91, 63.46, 95.34, 0, 0 } },
    { 4096, 4096, 4096, true, { 174.03, 197.1, 180.19, 233.6, 347.54, 0, 0 } },
    { 4096, 4096, 4096, false, { 339.42, 399.68, 361.38, 487.2, 693.73, 986.3, 0 } },
    { 8192, 8192, 8192, true, { 1562.53, 1544.64, 1589.57, 2299.9, 3158.43, 4161.02, 0 } },
    { 8192, 8192, 8192, false, { 3204.38, 3194.02, 3218.98, 5307.3, 6452.32, 8280.26, 0 } },
    { 256, 768, 256, true, { 0, 0, 0, 0, 3.18, 4.25, 0 } },
    { 256, 768, 256, false, { 0, 0, 0, 0, 4.79, 5.34, 0 } },
    { 256, 256, 256, true, { 0, 0, 0, 0, 2.67, 3.47, 0 } },
    { 256, 256, 256, false, { 0, 0, 0, 0, 4.52, 4.85, 5.49 } },
    { 256, 1024, 256, true, { 0, 0, 0, 0, 2.99, 3.96, 0 } },
    { 256, 1024, 256, false, { 0, 0, 0, 0, 4.22, 4.92, 0 } },
    { 256, 256, 1024, true, { 0, 0, 0, 0, 4.7, 4.47, 4.8 } },
    { 256, 256, 1024, false, { 0, 0, 0, 0, 7.56, 5.99, 5.59 } },
    { 256, 2304, 768, true, { 0, 0, 6.72, 5.02, 6.58, 11.27, 0 } },
    { 256, 2304, 768, false, { 0, 0, 11.11, 7.64, 10.78, 15.01, 0 } },
    { 256, 3072, 768, true, { 0, 0, 6.81, 5.21, 6.53, 12.84, 0 } },
    { 256, 3072, 768, false, { 0, 0, 10.94, 8.05, 10.62, 16.73, 0 } },
    { 256, 768, 3072, true, { 0, 0, 0, 0, 9.34, 7.14, 11.1 } },
    { 256, 768, 3072, false, { 0, 0, 0, 0, 17.21, 11.62, 15.65 } },
    { 256, 768, 768, true, { 0, 0, 0, 0, 4.01, 4.34, 0 } },
    { 256, 768, 768, false, { 0, 0, 0, 0, 6.36, 5.58, 0 } },
    { 1024, 768, 256, true, { 0, 0, 0, 3.61, 4.51, 0, 0 } },
    { 1024, 768, 256, false, { 0, 0, 0, 5, 5.94, 0, 0 } },
    { 1024, 256, 256, true, { 0, 0, 0, 0, 2.9, 3.8, 0 } },
    { 1024, 256, 256, false, { 0, 0, 0, 0, 3.78, 4.48, 0 } },
    { 1024, 1024, 256, true, { 0, 0, 0, 3.73, 4.58, 0, 0 } },
    { 1024, 1024, 256, false, { 0, 0, 0, 5.02, 6.02, 0, 0 } },
    { 1024, 256, 1024, true, { 0, 0, 0, 0, 4.57, 4.74, 0 } },
    { 1024, 256, 1024, false, { 0, 0, 0, 0, 7.45, 6.37, 0 } },
    { 1024, 2304, 768, true, { 11.75, 9.6, 12.01, 11.64, 14.06, 0, 0 } },
    { 1024, 2304, 768, false, { 20.52, 16.43, 20.25, 20.17, 23.41, 0, 0 } },
    { 1024, 3072, 768, true, { 11.92, 9.6, 12.08, 11.74, 16.34, 0, 0 } },
    { 1024, 3072, 768, false, { 21.2, 16.99, 20.69, 20.92, 27.71, 0, 0 } },
    { 1024, 768, 3072, true, { 0, 0, 17.2, 11.81, 16.91, 21.65, 0 } },
    { 1024, 768, 3072, false, { 0, 0, 0, 21.58, 32.38, 35.58, 55.17 } },
    { 1024, 768, 768, true, { 0, 0, 6.76, 5.03, 6.65, 12.5, 0 } },
    { 1024, 768, 768, false, { 0, 0, 10.79, 7.81, 10.49, 16.26, 0 } },
    { 8192, 768, 256, true, { 11.85, 9.86, 9.93, 13.91, 18.92, 0, 0 } },
    { 8192, 768, 256, false, { 19.47, 15.96, 15.91, 21.19, 26.17, 0, 0 } },
    { 8192, 256, 256, true, { 7.07, 6.36, 5.56, 6.27, 7.58, 0, 0 } },
    { 8192, 256, 256, false, { 10.65, 10.36, 7.93, 8.68, 10.2, 0, 0 } },
    { 8192, 1024, 256, true, { 11.69, 13.21, 11.99, 0, 24.82, 0, 0 } },
    { 8192, 1024, 256, false, { 19.8, 22.62, 19.78, 27.44, 34.1, 0, 0 } },
    { 8192, 256, 1024, true, { 13.84, 14.68, 9.6, 10.62, 13.91, 0, 0 } },
    { 8192, 256, 1024, false, { 24.46, 29.02, 16.8, 18.66, 24.32, 0, 0 } },
    { 8192, 2304, 768, true, { 49.98, 46.79, 49.4, 61.7, 86.33, 0, 0 } },
    { 8192, 2304, 768, false, { 92.62, 87.54, 93.89, 117.31, 159.98, 0, 0 } },
    { 8192, 3072, 768, true, { 61.16, 63.27, 65.87, 84.03, 117.94, 0, 0 } },
    { 8192, 3072, 768, false, { 123.01, 127.3, 132.21, 162.74, 228, 0, 0 } },
    { 8192, 768, 3072, true, { 67.09, 53.74, 55.95, 65.7, 98.28, 0, 0 } },
    { 8192, 768, 3072, false, { 140.83, 109.39, 112.26, 141.86, 212.94, 307.52, 0 } },
    { 8192, 768, 768, true, { 23.27, 18.98, 19.6, 23.94, 34.04, 0, 0 } },
    { 8192, 768, 768, false, { 42.3, 33.72, 34.14, 42.89, 58.18, 0, 0 } },
    { 256, 50257, 256, true, { 25.88, 35.08, 0, 0, 0, 0, 0 } },
    { 256, 50257, 256, false, { 44.2, 59.56, 58.33, 0, 106.02, 0, 0 } },
    { 1024, 50257, 768, true, { 150.66, 191.52, 194.8, 214.51, 347.6, 0, 0 } },
    { 1024, 50257, 768, false, { 267.49, 331.81, 338.59, 369.34, 621.09, 0, 0 } },
};

static struct gemm_cuda product_of(const struct measured *row)
{
    struct gemm_cuda g = {};

    g.m = row->m, g.n = row->n, g.k = row->k;
    g.ldx = g.ldw = g.k, g.ldy = g.n;
    g.out = row->bf ? DTYPE_BF16 : DTYPE_FP32;
    g.sms = 132;
    return g;
}

static void chosen_tiles_are_among_the_fastest(void **test_state)
{
    (void)test_state;
    for (const struct measured &row : table) {
        struct gemm_cuda g = product_of(&row);
        int chosen = wgmma_plan_of(&g, row.bf ? 64 : 32).tile;
        double best = INFINITY;

        for (double us : row.us)
            best = us > 0 && us < best ? us : best;
        if (row.us[chosen] <= 0 || row.us[chosen] > 1.05 * best)
            fail_msg("%s %d x %d x %d: tile %d takes %g us, the best %g", row.bf ? "bf16" : "tf32",
                     row.m, row.n, row.k, chosen, row.us[chosen], best);
    }
}

/* For all sizes: blocks for each tile and no more, a slice for each, and steps in each slice. */
static void plans_hold_their_product(void **test_state)
{
    static const int sizes[] = { 1, 8, 63, 64, 65, 200, 256, 1000, 3072, 50257 };
    struct gemm_cuda g = {};

    (void)test_state;
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
static void only_long_blocks_start_late(void **test_state)
{
    static const struct measured rows[] = { { 1024, 768, 3072, true, {} },
                                            { 1024, 768, 3072, false, {} },
                                            { 256, 768, 3072, true, {} },
                                            { 1024, 1024, 1024, false, {} },
                                            { 8192, 8192, 8192, true, {} } };
    static const bool early[] = { false, false, true, true, true };

    (void)test_state;
    for (int i = 0; i < 5; i++) {
        struct gemm_cuda g = product_of(&rows[i]);
        assert_int_equal(wgmma_plan_of(&g, rows[i].bf ? 64 : 32).early, early[i]);
    }
}

/* ---- SIMT ---- */

/* Microseconds of 128 x 128, 64 x 64 and 32 x 64, 0 where it was not measured, the first in so many
 * slices, the others in one. The small ones by 8 lanes a row then. */
static void chosen_simt_tiles_are_the_fastest(void **test_state)
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

    (void)test_state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chosen_tiles_are_among_the_fastest),
        cmocka_unit_test(plans_hold_their_product),
        cmocka_unit_test(only_long_blocks_start_late),
        cmocka_unit_test(chosen_simt_tiles_are_the_fastest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
