/* SPDX-License-Identifier: MIT */
/*
 * What gemm_simd.c cuts a product by where nobody says it: the winners of kept races, and beyond
 * those the sizes of the caches.
 *
 * `harness tune` has found each row, by ci/tile_tables.py, which writes them from the races that
 * are kept (docs/performance/tiles, docs/tuning.md); they are not for editing. There is one where
 * the caches' sizes alone were more than 1 % behind, for products that raced and those between two
 * of the same winner: nothing is said of others. A row holds for any number of threads, so that a
 * result does not depend on them.
 */
#ifndef HARNESS_KERNELS_GEMM_SIMD_CHOICE_H
#define HARNESS_KERNELS_GEMM_SIMD_CHOICE_H

#include "kernels/simd.h"

#include <stdbool.h>
#include <stdint.h>

/* A product, and where it is computed. */
struct gemm_case {
    enum simd_isa isa; /* gemm_choice_isa() */
    bool nn;           /* gemm/nn, which packs its right factor; else a linear form */
    int64_t l1, l2;    /* KiB of a core's caches */
    int64_t rows, k;
};

/* The most terms of a slice and the most tiles of a part. 0: by the caches. */
struct gemm_choice {
    int64_t depth, height;
};

struct gemm_choice_row {
    enum simd_isa isa;
    bool nn;
    int64_t l1, l2;
    int64_t rows[2], k[2]; /* from, to */
    struct gemm_choice choice;
};

static const struct gemm_choice_row gemm_choice_rows[] = {
    /* tile_tables.py: rows */
    { SIMD_AVX512, false, 32, 1024, { 1, 1 }, { 3072, 3072 }, { 4096, 0 } },
    { SIMD_AVX512, false, 32, 1024, { 256, 256 }, { 48, 48 }, { 0, 2 } },
    { SIMD_AVX512, true, 32, 1024, { 64, 64 }, { 2048, 2048 }, { 2048, 0 } },
    { SIMD_AVX512, true, 32, 1024, { 1024, 1024 }, { 1024, 1024 }, { 0, 2 } },
    /* tile_tables.py: end */
    { .isa = SIMD_NR },
};

/* The set by whose code fp32 is multiplied: of all with AVX-512 it is the same. */
static inline enum simd_isa gemm_choice_isa(enum simd_isa isa)
{
    return isa > SIMD_AVX512 ? SIMD_AVX512 : isa;
}

static inline bool gemm_choice_here(const struct gemm_choice_row *row, const struct gemm_case *c)
{
    return row->isa == c->isa && row->l1 == c->l1 && row->l2 == c->l2;
}

/* Most rows are for another k. */
static inline bool gemm_choice_fits(const struct gemm_choice_row *row, const struct gemm_case *c)
{
    return row->k[0] <= c->k && c->k <= row->k[1] && row->rows[0] <= c->rows &&
           c->rows <= row->rows[1] && row->nn == c->nn && gemm_choice_here(row, c);
}

/* Of the first row that fits, up to one of no set. */
static inline struct gemm_choice gemm_choice_of(const struct gemm_choice_row *row,
                                                const struct gemm_case *c)
{
    while (row->isa != SIMD_NR && !gemm_choice_fits(row, c))
        row++;
    return row->choice;
}

#endif
