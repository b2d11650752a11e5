/* SPDX-License-Identifier: MIT */
/* How a product of packed panels is cut among threads. */
#ifndef HARNESS_KERNELS_GEMM_SHARE_H
#define HARNESS_KERNELS_GEMM_SHARE_H

#include <stdint.h>

/* A thread's share: rows [row, end) and columns [col, col_end), whole tiles and panels. */
struct gemm_share {
    int64_t row, end, col, col_end;
};

static inline int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static inline int64_t at_most(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Of thread t. Even parts of panels of `width`, or of tiles of `height` rows where those are
 * evener: the largest one takes longest. */
static inline struct gemm_share gemm_share_of(int64_t m, int64_t n, int64_t height, int64_t width,
                                              int64_t t, int64_t threads)
{
    const int64_t panels = ceil_div(n, width), tiles = ceil_div(m, height);
    const int64_t by_panels = ceil_div(panels, threads) * width * m;
    const int64_t by_rows = ceil_div(tiles, threads) * height * n;

    if (by_rows < by_panels)
        return (struct gemm_share) { tiles * t / threads * height,
                                     at_most(tiles * (t + 1) / threads * height, m), 0, n };
    return (struct gemm_share) { 0, m, panels * t / threads * width,
                                 at_most(panels * (t + 1) / threads * width, n) };
}

#endif
