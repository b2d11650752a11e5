/* SPDX-License-Identifier: MIT */
/*
 * A head of attention_simd.c's prefill and the copies of its keys and values; for files compiled
 * with SIMD_ISA.
 *
 *     keys      panel 0              panel 1          V/3 panels of two or three vectors
 *            +---------------+    +----------+
 *       d    | K[j][d] lanes |    |          |        headdim rows each; 0 beyond the last key
 *            +---------------+    +----------+
 */
#ifndef HARNESS_KERNELS_ATTENTION_ATTENTION_SIMD_HEAD_H
#define HARNESS_KERNELS_ATTENTION_ATTENTION_SIMD_HEAD_H

#include "kernels/attention/attention_call.h"
#include "kernels/simd_tile.h"

#include <math.h>
#include <omp.h>

enum {
    GROUP = TILE_ROWS,     /* queries of a register tile */
    WIDEST = TILE_VECTORS, /* vectors of keys beside them, at most: a panel */
    KEYS = 192,            /* in a tile, at most */
    TOGETHER = 2,          /* groups that take a panel one after the other */
    BLOCK = ATTENTION_SIMD_QUERIES / (TOGETHER * GROUP) * TOGETHER, /* groups that share a tile */
    VALUE_VECTORS = 2,                                              /* of the output at a time */
    PANELS = KEYS / (WIDEST * SIMD_WIDTH),                          /* in a tile */
    SHARES = (GROUP + SIMD_WIDTH - 1) / SIMD_WIDTH * SIMD_WIDTH,
};

/* One head of one sequence, and this thread's copies of its keys and values. */
struct head {
    const float *q, *k, *v; /* position 0 */
    int64_t ld;
    float *out;
    int64_t ldo;
    int64_t seq, headdim;
    bool causal;
    float scale;    /* of scores, in units of log2: log2(e) / sqrt(headdim) */
    int64_t panels; /* of keys; the first `wide` ones have one vector more than `narrow` */
    int64_t narrow, wide;
    float *keys;   /* transposed: [panel][headdim][lanes of the panel] */
    float *values; /* [position][width] */
    int64_t width; /* headdim in whole vectors */
    float *acc;    /* [BLOCK * GROUP][width], then GROUP rows for a copy of queries */
};

static inline int64_t at_most(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* A number of lanes to one within a vector. */
static inline int64_t within(int64_t lanes)
{
    return lanes < 0 ? 0 : at_most(lanes, SIMD_WIDTH);
}

static inline int64_t vectors_of(int64_t floats)
{
    return (floats + SIMD_WIDTH - 1) / SIMD_WIDTH;
}

/* The first key of a panel; vectors of keys are dealt to the panels evenly. */
static inline int64_t panel_start(const struct head *h, int64_t panel)
{
    return (panel * h->narrow + at_most(panel, h->wide)) * SIMD_WIDTH;
}

static inline void transpose_square(const float *x, int64_t ldx, float *y, int64_t ldy)
{
    simd_float row[SIMD_WIDTH];

    SIMD_UNROLL
    for (int i = 0; i < SIMD_WIDTH; i++)
        row[i] = simd_load(x + i * ldx);
    simd_transpose(row);
    SIMD_UNROLL
    for (int i = 0; i < SIMD_WIDTH; i++)
        simd_store(y + i * ldy, row[i]);
}

/* The same where there are only `rows` rows and `cols` columns: zeros for the rest, whose columns
 * are not written. */
static void transpose_part(const float *x, int64_t ldx, int64_t rows, int64_t cols, float *y,
                           int64_t ldy)
{
    simd_float row[SIMD_WIDTH];

    for (int i = 0; i < SIMD_WIDTH; i++)
        row[i] = i < rows ? simd_load_upto(x + i * ldx, cols) : simd_set(0);
    simd_transpose(row);
    for (int i = 0; i < SIMD_WIDTH && i < cols; i++)
        simd_store(y + i * ldy, row[i]);
}

/* Keys [from, from + SIMD_WIDTH) to columns of a panel whose rows are `ld` long. */
static void transpose_keys(const struct head *h, int64_t from, float *to, int64_t ld)
{
    const float *k = h->k + from * h->ld;

    for (int64_t d = 0; d < h->headdim; d += SIMD_WIDTH) {
        if (from + SIMD_WIDTH <= h->seq && d + SIMD_WIDTH <= h->headdim)
            transpose_square(k + d, h->ld, to + d * ld, ld);
        else
            transpose_part(k + d, h->ld, h->seq - from, h->headdim - d, to + d * ld, ld);
    }
}

/* Copies the keys and values of positions 0 .. end, keys by whole panels. */
static void pack(const struct head *h, int64_t end)
{
    for (int64_t panel = 0; panel < h->panels && panel_start(h, panel) < end; panel++) {
        int64_t start = panel_start(h, panel), lanes = panel_start(h, panel + 1) - start;
        for (int64_t j = 0; j < lanes; j += SIMD_WIDTH)
            transpose_keys(h, start + j, h->keys + start * h->headdim + j, lanes);
    }
    for (int64_t i = 0; i < end; i++)
        for (int64_t d = 0; d < h->headdim; d += SIMD_WIDTH)
            simd_store(h->values + i * h->width + d,
                       simd_load_upto(h->v + i * h->ld + d, h->headdim - d));
}

static struct head head_of(const struct attention *a, int64_t task)
{
    int64_t b = task / a->heads, h = task % a->heads;
    int64_t at = b * a->seq * a->ld + h * a->headdim;
    int64_t vectors = vectors_of(a->seq), panels = (vectors + WIDEST - 1) / WIDEST;
    int64_t width = vectors_of(a->headdim) * SIMD_WIDTH;
    size_t each = attention_simd_scratch(a->seq, a->headdim);
    float *scratch = a->scratch + each * (size_t)omp_get_thread_num();

    return (struct head) {
        .q = a->q + at,
        .k = a->k + at,
        .v = a->v + at,
        .ld = a->ld,
        .out = a->out + b * a->seq * a->ldo + h * a->headdim,
        .ldo = a->ldo,
        .seq = a->seq,
        .headdim = a->headdim,
        .causal = a->causal,
        .scale = (float)(1.4426950408889634 / sqrt((double)a->headdim)),
        .panels = panels,
        .narrow = vectors / panels,
        .wide = vectors % panels,
        .keys = scratch,
        .values = scratch + vectors * SIMD_WIDTH * width,
        .width = width,
        .acc = scratch + (vectors * SIMD_WIDTH + a->seq) * width,
    };
}

#endif
