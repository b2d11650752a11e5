/* SPDX-License-Identifier: MIT */
/*
 * The register tile of gemm's products; for files compiled with SIMD_ISA.
 *
 *                     nv vectors
 *                  +----+----+----+
 *      b[p][:]     | b0 | b1 | b2 |        one row of a panel a step, loaded once
 *                  +----+----+----+
 *      a[i][p] --> |    |    |    |  mr    each a broadcast, used nv times
 *          .       |  acc[i][v]   |  rows  all accumulators stay in registers
 *                  +----+----+----+
 *
 * mr x nv multiply-adds for mr + nv loads: with 8 x 3 (32 registers) or 6 x 2 (16 registers) the
 * loads fit beside the FMA units, whose peak is the limit. Few rows have too few accumulators to
 * hide the time of an FMA: they keep 2 or 4 sets, for every 2nd or 4th step, and add those up at
 * the end (`ways`). What follows the product is applied to the registers before they are stored.
 */
#ifndef HARNESS_KERNELS_GEMM_SIMD_TILE_H
#define HARNESS_KERNELS_GEMM_SIMD_TILE_H

#include "kernels/simd.h"

#ifdef SIMD_ISA

/* GEMM_EACH_ROWS(X, nv): X(mr, nv) for each mr up to GEMM_ROWS. */
#define GEMM_SIX_ROWS(X, nv) X(1, nv) X(2, nv) X(3, nv) X(4, nv) X(5, nv) X(6, nv)
#if defined(SIMD_AMX) /* whose tile is another one: bf16/gemm_bf16_amx.h */
enum { GEMM_ROWS = 32, GEMM_VECTORS = 3 };
#elif defined(SIMD_ISA_avx512) || defined(__aarch64__)
enum { GEMM_ROWS = 8, GEMM_VECTORS = 3 };
#define GEMM_EACH_ROWS(X, nv) GEMM_SIX_ROWS(X, nv) X(7, nv) X(8, nv)
#define GEMM_EACH_TILE(X)     GEMM_EACH_ROWS(X, 1) GEMM_EACH_ROWS(X, 2) GEMM_EACH_ROWS(X, 3)
#else
enum { GEMM_ROWS = 6, GEMM_VECTORS = 2 };
#define GEMM_EACH_TILE(X) GEMM_SIX_ROWS(X, 1) GEMM_SIX_ROWS(X, 2)
#endif

enum {
    GEMM_PANEL = GEMM_VECTORS * SIMD_WIDTH,
    GEMM_LINE = 16,     /* floats in a cache line */
    GEMM_UNROLL = 4,    /* steps of a turn of the loop; a multiple of all ways */
    GEMM_DEEP = 192,    /* from this depth on y is asked for: else the last tile's is still there */
    GEMM_REACH = 3,     /* rows of a within an instruction's reach of one address */
    GEMM_ADDRESSES = 3, /* for all GEMM_ROWS */
    GEMM_AHEAD = 2048,  /* floats between what is read of b and what is asked for */
};

/* y = a b + bias + add */
struct gemm_tile {
    const float *a; /* [mr, depth] */
    int64_t a_row;
    const float *b; /* [depth, nv vectors], read in full */
    int64_t b_row;
    int64_t depth, cols;
    bool far;          /* b is one run beyond L2, read this once */
    const float *bias; /* [cols], or NULL */
    const float *add;  /* [mr, cols], or NULL; may be y */
    int64_t add_row;
    float *y; /* [mr, cols] */
    int64_t y_row;
};

SIMD_INLINE void gemm_zero(int rows, int nv, simd_float acc[][GEMM_VECTORS])
{
    SIMD_UNROLL
    for (int i = 0; i < rows; i++) {
        SIMD_UNROLL
        for (int v = 0; v < nv; v++)
            acc[i][v] = simd_set(0);
    }
}

#ifndef SIMD_AMX

/* Keeps the compiler from deriving it from another one by an offset of its own: those offsets
 * would need more registers than there are. */
SIMD_INLINE const float *gemm_address(const float *p)
{
    __asm__("" : "+r"(p));
    return p;
}

/* acc += a[:][p] b[p][:]; b is that row, a row i of a is in reach of a[i / GEMM_REACH]. */
SIMD_INLINE void gemm_step(int mr, int nv, const float *const a[GEMM_ADDRESSES], int64_t a_row,
                           int64_t p, const float *b, simd_float acc[][GEMM_VECTORS])
{
    simd_float row[GEMM_VECTORS];

    SIMD_UNROLL
    for (int v = 0; v < nv; v++)
        row[v] = simd_load(b + v * SIMD_WIDTH);
    SIMD_UNROLL
    for (int i = 0; i < mr; i++) {
        simd_float x = simd_set(a[i / GEMM_REACH][i % GEMM_REACH * a_row + p]);
        SIMD_UNROLL
        for (int v = 0; v < nv; v++)
            acc[i][v] = simd_fma(x, row[v], acc[i][v]);
    }
}

/* Asks for the lines of y, to write to them. */
SIMD_INLINE void gemm_ask(int mr, int nv, const struct gemm_tile *t)
{
    SIMD_UNROLL
    for (int i = 0; i < mr; i++) {
        SIMD_UNROLL
        for (int col = 0; col < nv * SIMD_WIDTH; col += GEMM_LINE)
            __builtin_prefetch(t->y + i * t->y_row + col, 1);
    }
}

/* Asks for what of b comes soon. The processor looks ahead by itself as far as it has room for
 * instructions: with one row far enough, with more, which have more of them a byte, not. */
SIMD_INLINE void gemm_ask_ahead(int nv, const float *b)
{
    SIMD_UNROLL
    for (int col = 0; col < nv * SIMD_WIDTH; col += GEMM_LINE)
        __builtin_prefetch(b + col + GEMM_AHEAD);
}

SIMD_INLINE void gemm_product(int mr, int nv, int ways, bool ask, const struct gemm_tile *t,
                              simd_float acc[][GEMM_VECTORS])
{
    const float *a[GEMM_ADDRESSES], *b = t->b;
    const int64_t a_row = t->a_row, b_row = t->b_row;
    int64_t left = t->depth;

    SIMD_UNROLL
    for (int i = 0; i < GEMM_ADDRESSES; i++)
        a[i] = i * GEMM_REACH < mr ? gemm_address(t->a + i * GEMM_REACH * a_row) : t->a;
    gemm_zero(mr * ways, nv, acc);
    for (; left >= GEMM_UNROLL; left -= GEMM_UNROLL) {
        SIMD_UNROLL
        for (int u = 0; u < GEMM_UNROLL; u++, b += b_row) {
            if (ask)
                gemm_ask_ahead(nv, b);
            gemm_step(mr, nv, a, a_row, u, b, acc + u % ways * mr);
        }
        SIMD_UNROLL
        for (int i = 0; i < GEMM_ADDRESSES; i++)
            a[i] += GEMM_UNROLL;
    }
    for (int64_t u = 0; u < left; u++, b += b_row)
        gemm_step(mr, nv, a, a_row, u, b, acc);
    SIMD_UNROLL
    for (int i = mr; i < mr * ways; i++) {
        SIMD_UNROLL
        for (int v = 0; v < nv; v++)
            acc[i % mr][v] += acc[i][v];
    }
}

/* Vector v of all rows, of which `lanes` are there, to memory. */
SIMD_INLINE void gemm_finish(int mr, int v, int64_t lanes, const struct gemm_tile *t,
                             simd_float acc[][GEMM_VECTORS])
{
    int64_t col = v * SIMD_WIDTH;

    if (t->bias != NULL) {
        simd_float bias = simd_load_upto(t->bias + col, lanes);
        SIMD_UNROLL
        for (int i = 0; i < mr; i++)
            acc[i][v] += bias;
    }
    if (t->add != NULL) {
        SIMD_UNROLL
        for (int i = 0; i < mr; i++)
            acc[i][v] += simd_load_upto(t->add + i * t->add_row + col, lanes);
    }
    SIMD_UNROLL
    for (int i = 0; i < mr; i++)
        simd_store_upto(t->y + i * t->y_row + col, acc[i][v], lanes);
}

/* The tile of mr rows and nv vectors; mr and nv are constants where it is inlined. */
SIMD_INLINE void gemm_tile(int mr, int nv, const struct gemm_tile *t)
{
    const int ways = 4 * mr <= GEMM_ROWS ? 4 : 2 * mr <= GEMM_ROWS ? 2 : 1;
    simd_float acc[GEMM_ROWS][GEMM_VECTORS];

    if (t->depth >= GEMM_DEEP)
        gemm_ask(mr, nv, t);
    if (mr > 1 && t->far)
        gemm_product(mr, nv, ways, true, t, acc);
    else
        gemm_product(mr, nv, ways, false, t, acc);
    SIMD_UNROLL
    for (int v = 0; v < nv; v++) {
        if (v < nv - 1 || t->cols >= nv * SIMD_WIDTH)
            gemm_finish(mr, v, SIMD_WIDTH, t, acc);
        else
            gemm_finish(mr, v, t->cols - v * SIMD_WIDTH, t, acc);
    }
}

#define GEMM_TILE_DEFINE(mr, nv)                                                                   \
    static void gemm_tile_##mr##x##nv(const struct gemm_tile *t)                                   \
    {                                                                                              \
        gemm_tile(mr, nv, t);                                                                      \
    }
GEMM_EACH_TILE(GEMM_TILE_DEFINE)

typedef void gemm_tile_fn(const struct gemm_tile *t);

#define GEMM_TILE_ENTRY(mr, nv) [(nv)-1][(mr)-1] = gemm_tile_##mr##x##nv,
static gemm_tile_fn *const gemm_tiles[GEMM_VECTORS][GEMM_ROWS] = { GEMM_EACH_TILE(
    GEMM_TILE_ENTRY) };

#endif

#endif

#endif
