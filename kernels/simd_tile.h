/* SPDX-License-Identifier: MIT */
/*
 * The register tile that all matrix products are made of; for files compiled with SIMD_ISA.
 *
 *                     nv vectors
 *                  +----+----+----+
 *      b[p][:]     | b0 | b1 | b2 |        one row of b a step, loaded once
 *                  +----+----+----+
 *      a[i][p] --> |    |    |    |  mr    each a broadcast, used nv times
 *          .       |  acc[i][v]   |  rows  all accumulators stay in registers
 *                  +----+----+----+
 *
 * mr x nv multiply-adds for mr + nv loads: with 8 x 3 (AVX-512) or 6 x 2 (AVX2, portable) the
 * loads fit beside the FMA units, whose peak is the limit.
 *
 * Element a[i][p] lies at a + i * a_row + p * a_step, row p of b at b + p * b_step. Lanes of the
 * last vector of b from `cols` on read as 0 (nothing beyond is touched) where `part` is set.
 */
#ifndef HARNESS_KERNELS_SIMD_TILE_H
#define HARNESS_KERNELS_SIMD_TILE_H

#include "kernels/simd.h"

#ifdef SIMD_ISA

#if defined(SIMD_ISA_avx512)
enum { TILE_ROWS = 8, TILE_VECTORS = 3 };
#else
enum { TILE_ROWS = 6, TILE_VECTORS = 2 };
#endif

struct tile {
    const float *a;
    int64_t a_row, a_step;
    const float *b;
    int64_t b_step;
    int64_t depth;
    int64_t cols; /* of b: at most nv * SIMD_WIDTH */
};

/* acc[i][v] = the product; mr, nv, part and the steps of t are constants where it is inlined. */
SIMD_INLINE void tile_product(int mr, int nv, bool part, const struct tile *t,
                              simd_float acc[TILE_ROWS][TILE_VECTORS])
{
    const float *a = t->a, *b = t->b;
    int64_t last = t->cols - (nv - 1) * SIMD_WIDTH;

    SIMD_UNROLL
    for (int i = 0; i < mr; i++) {
        SIMD_UNROLL
        for (int v = 0; v < nv; v++)
            acc[i][v] = simd_set(0);
    }
    for (int64_t p = 0; p < t->depth; p++) {
        simd_float row[TILE_VECTORS];
        SIMD_UNROLL
        for (int v = 0; v < nv; v++)
            row[v] = part && v == nv - 1 ? simd_load_part(b + v * SIMD_WIDTH, last)
                                         : simd_load(b + v * SIMD_WIDTH);
        SIMD_UNROLL
        for (int i = 0; i < mr; i++) {
            simd_float x = simd_set(a[i * t->a_row]);
            SIMD_UNROLL
            for (int v = 0; v < nv; v++)
                acc[i][v] = simd_fma(x, row[v], acc[i][v]);
        }
        a += t->a_step;
        b += t->b_step;
    }
}

/* The product to `to`, rows `ld` floats apart; all nv vectors of each row are written. */
SIMD_INLINE void tile_to(int mr, int nv, const struct tile *t, float *to, int64_t ld)
{
    simd_float acc[TILE_ROWS][TILE_VECTORS];

    tile_product(mr, nv, false, t, acc);
    SIMD_UNROLL
    for (int i = 0; i < mr; i++) {
        SIMD_UNROLL
        for (int v = 0; v < nv; v++)
            simd_store(to + i * ld + v * SIMD_WIDTH, acc[i][v]);
    }
}

/* The same where mr is known only at run time, 1..TILE_ROWS. */
SIMD_INLINE void tile_rows_to(int mr, int nv, const struct tile *t, float *to, int64_t ld)
{
    switch (mr) {
    case 1:
        tile_to(1, nv, t, to, ld);
        break;
    case 2:
        tile_to(2, nv, t, to, ld);
        break;
    case 3:
        tile_to(3, nv, t, to, ld);
        break;
    case 4:
        tile_to(4, nv, t, to, ld);
        break;
    case 5:
        tile_to(5, nv, t, to, ld);
        break;
#if defined(SIMD_ISA_avx512)
    case 6:
        tile_to(6, nv, t, to, ld);
        break;
    case 7:
        tile_to(7, nv, t, to, ld);
        break;
#endif
    default:
        tile_to(TILE_ROWS, nv, t, to, ld);
        break;
    }
}

#endif

#endif
