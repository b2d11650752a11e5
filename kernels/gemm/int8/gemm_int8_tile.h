/* SPDX-License-Identifier: MIT */
/*
 * A few rows of x through a packed panel. For files compiled with SIMD_ISA.
 *
 *      a panel    | scales | quads of terms 0..3 | quads of terms 4..7 | ...   one stream
 *                               |
 *      x          words of terms 0..3 for all lanes    two operations a vector of quads and row
 *
 * A row has two sums a vector (kernels/simd_int8.h), so that one row of three vectors has as many
 * chains as hide most of an instruction's time. They begin at -128 times the sum of the row's
 * terms, which takes the offset of the stored weights off again.
 *
 * Weights of 10 bits lie there in fours of quads, whose low bits follow them in one more:
 *
 *      a panel    | scales | quads 0 | quads 1 | quads 2 | quads 3 | low bits of these | quads 4
 * ...
 */
#ifndef HARNESS_KERNELS_GEMM_INT8_TILE_H
#define HARNESS_KERNELS_GEMM_INT8_TILE_H

#include "kernels/gemm/gemm_share.h"
#include "kernels/simd_int8.h"

#ifdef SIMD_ISA

enum {
#if defined(SIMD_ISA_avx512)
    INT8_VECTORS = 3,
#else
    INT8_VECTORS = 2,
#endif
    INT8_ROWS = 4,
    INT8_PANEL = INT8_VECTORS * SIMD_WIDTH, /* outputs */
    INT8_QUAD = 4,
    INT8_QUADS = SIMD_INT8_TERMS / INT8_QUAD, /* of a block, whose sums fit 32 bits */
    INT8_AHEAD = 8192,                        /* bytes between what is read and what is fetched */
    INT10_QUADS = SIMD_INT10_TERMS / INT8_QUAD,
    INT10_FOUR = 4, /* quads that share a quad of low bits */
};

/* Rows of x: what multiplies, what is begun with in each block, and what a step is worth. */
struct int8_rows {
    const int32_t *words; /* two a quad */
    int64_t words_row;
    const int32_t *sums; /* two a block */
    int64_t sums_row;
    const float *scale;
    const float *unit; /* a factor of each row that a tile leaves to its caller; NULL: all are 1 */
};

struct int8_panel {
    const float *scale;
    const uint8_t *quads;
    int64_t depth; /* in quads */
};

/* As the instructions' own type: of sums of another gcc keeps a second copy, in memory. */
typedef int32_t int8_sum __attribute__((vector_size(SIMD_WIDTH * sizeof(int32_t))));

/* a, b += x[:][quad] w[quad][:] */
SIMD_INLINE void int8_step(int mr, int nv, const int32_t *x, int64_t x_row, const uint8_t *w,
                           int8_sum a[INT8_ROWS][INT8_VECTORS], int8_sum b[INT8_ROWS][INT8_VECTORS])
{
    struct simd_int8 quads[INT8_VECTORS];

    SIMD_UNROLL
    for (int v = 0; v < nv; v++) {
        quads[v] = simd_int8_split(simd_int8_load(w + v * SIMD_WIDTH * INT8_QUAD));
        if (v * SIMD_WIDTH * INT8_QUAD % 64 == 0)
            __builtin_prefetch(w + v * SIMD_WIDTH * INT8_QUAD + INT8_AHEAD);
    }
    SIMD_UNROLL
    for (int i = 0; i < mr; i++) {
        const simd_int xa = simd_int8_set(x[i * x_row]), xb = simd_int8_set(x[i * x_row + 1]);
        SIMD_UNROLL
        for (int v = 0; v < nv; v++) {
            a[i][v] = (int8_sum)simd_int8_dot((simd_int)a[i][v], quads[v].a, xa);
            b[i][v] = (int8_sum)simd_int8_dot((simd_int)b[i][v], quads[v].b, xb);
        }
    }
}

/* The same for quad `i` of a four, from `w` on. */
SIMD_INLINE void int10_step(int mr, int nv, int i, const int32_t *x, int64_t x_row,
                            const uint8_t *w, int8_sum a[INT8_ROWS][INT8_VECTORS],
                            int8_sum b[INT8_ROWS][INT8_VECTORS])
{
    const uint8_t *at = w + i * nv * SIMD_WIDTH * INT8_QUAD;
    const uint8_t *low = w + INT10_FOUR * nv * SIMD_WIDTH * INT8_QUAD;

    SIMD_UNROLL
    for (int v = 0; v < nv; v++) {
        const int64_t lane = v * SIMD_WIDTH * INT8_QUAD;
        const struct simd_int10 quad =
            simd_int10_split(simd_int8_load(at + lane), simd_int8_load(low + lane), i);
        if (lane % 64 == 0) {
            __builtin_prefetch(at + lane + INT8_AHEAD);
            if (i == 0)
                __builtin_prefetch(low + lane + INT8_AHEAD);
        }
        SIMD_UNROLL
        for (int r = 0; r < mr; r++) {
            const simd_int xa = simd_int8_set(x[r * x_row]), xb = simd_int8_set(x[r * x_row + 1]);
            a[r][v] = (int8_sum)simd_int8_dot((simd_int)a[r][v], quad.most.a, xa);
            b[r][v] = (int8_sum)simd_int8_dot((simd_int)b[r][v], quad.most.b, xb);
            if (SIMD_INT10_APART)
                b[r][v] = (int8_sum)simd_int8_dot((simd_int)b[r][v], quad.low, xa);
        }
    }
}

/* Quads [0, nr) of a block, from `at` on. */
SIMD_INLINE void int8_quads(int bits, int mr, int nv, const int32_t *x, int64_t x_row,
                            const uint8_t *at, int64_t nr, int8_sum a[INT8_ROWS][INT8_VECTORS],
                            int8_sum b[INT8_ROWS][INT8_VECTORS])
{
    const int64_t step = nv * SIMD_WIDTH * INT8_QUAD;

    if (bits == 8) {
        for (int64_t q = 0; q < nr; q++, x += 2, at += step)
            int8_step(mr, nv, x, x_row, at, a, b);
        return;
    }
    for (int64_t q = 0; q < nr;
         q += INT10_FOUR, x += 2 * INT10_FOUR, at += (INT10_FOUR + 1) * step) {
        SIMD_UNROLL
        for (int i = 0; i < INT10_FOUR; i++)
            int10_step(mr, nv, i, x + 2 * i, x_row, at, a, b);
    }
}

/* What a block adds to y: that of quads [quad, end). */
SIMD_INLINE void int8_block(int bits, int mr, int nv, const struct int8_rows *x,
                            const struct int8_panel *w, int64_t quad, int64_t end, float *y,
                            int64_t y_row)
{
    int8_sum a[INT8_ROWS][INT8_VECTORS], b[INT8_ROWS][INT8_VECTORS];
    const int64_t most = bits == 8 ? INT8_QUADS : INT10_QUADS;
    const int64_t stored = bits == 8 ? quad : quad / INT10_FOUR * (INT10_FOUR + 1);
    const int32_t *sums = x->sums + quad / most * 2, *words = x->words + 2 * quad;
    const uint8_t *at = w->quads + stored * nv * SIMD_WIDTH * INT8_QUAD;
    const int64_t words_row = x->words_row;

    SIMD_UNROLL
    for (int i = 0; i < mr; i++) {
        SIMD_UNROLL
        for (int v = 0; v < nv; v++) {
            a[i][v] = (int8_sum)simd_int8_set(sums[i * x->sums_row]);
            b[i][v] = (int8_sum)simd_int8_set(sums[i * x->sums_row + 1]);
        }
    }
    int8_quads(bits, mr, nv, words, words_row, at, end - quad, a, b);
    SIMD_UNROLL
    for (int i = 0; i < mr; i++) {
        SIMD_UNROLL
        for (int v = 0; v < nv; v++) {
            float *to = y + i * y_row + v * SIMD_WIDTH;
            simd_float part =
                simd_int8_fold((struct simd_int8) { (simd_int)a[i][v], (simd_int)b[i][v] }) *
                (simd_set(x->scale[i]) * simd_load(w->scale + v * SIMD_WIDTH));
            if (quad > 0)
                part += simd_load(to);
            simd_store(to, part);
        }
    }
}

/* Whole vectors of sums to y. */
SIMD_INLINE void int8_tile(int bits, int mr, int nv, const struct int8_rows *x,
                           const struct int8_panel *w, float *y, int64_t y_row)
{
    const int64_t most = bits == 8 ? INT8_QUADS : INT10_QUADS;

    for (int64_t quad = 0; quad < w->depth; quad += most)
        int8_block(bits, mr, nv, x, w, quad, at_most(quad + most, w->depth), y, y_row);
}

typedef void int8_tile_fn(const struct int8_rows *x, const struct int8_panel *w, float *y,
                          int64_t y_row);

#define INT8_DEFINE(bits, mr, nv)                                                                  \
    static void int##bits##_tile_##mr##x##nv(const struct int8_rows *x,                            \
                                             const struct int8_panel *w, float *y, int64_t y_row)  \
    {                                                                                              \
        int8_tile(bits, mr, nv, x, w, y, y_row);                                                   \
    }
#define INT8_EACH(X, bits, nv)   X(bits, 1, nv) X(bits, 2, nv) X(bits, 3, nv) X(bits, 4, nv)
#define INT8_ENTRY(bits, mr, nv) [(nv)-1][(mr)-1] = int##bits##_tile_##mr##x##nv,
#if defined(SIMD_ISA_avx512)
#define INT8_ALL(X, bits) INT8_EACH(X, bits, 1) INT8_EACH(X, bits, 2) INT8_EACH(X, bits, 3)
#else
#define INT8_ALL(X, bits) INT8_EACH(X, bits, 1) INT8_EACH(X, bits, 2)
#endif
INT8_ALL(INT8_DEFINE, 8)
INT8_ALL(INT8_DEFINE, 10)

typedef int8_tile_fn *int8_tile_table[INT8_VECTORS][INT8_ROWS];

static const int8_tile_table int8_tiles = { INT8_ALL(INT8_ENTRY, 8) };
static const int8_tile_table int10_tiles = { INT8_ALL(INT8_ENTRY, 10) };

#endif

#endif
