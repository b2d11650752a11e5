/* SPDX-License-Identifier: MIT */
/*
 * Layer normalisation of rows, block by block; included by layernorm_simd.c for each instruction
 * set. Two blocks are in work at a time, some vectors of each in turns, so that the transfers, the
 * additions and the stores are spread over the whole time:
 *
 *   block b      |nn  |nn  |nn  |    n: (x scale + shift) gain + bias -> y
 *   block b + 1  |  gg|  gg|  gg|    g: x - centre and its squares, summed lane by lane
 *
 * A load from L1 takes as long as a multiplication, so the sums are gathered along a row, where
 * they stay in registers, and the rows are normalised a tile of columns at a time, where gain and
 * bias do. The lanes' sums and squares of a block's rows are added up by one simd_sum_each() or
 * two, and the divisions and roots are one vector operation for all of them.
 *
 * The sums are of d = x - centre, the mean of four of the row's values, and the variance is
 * E[d^2] - E[d]^2: where E[d]^2 <= EXACT variance, that has at most EXACT + 1 times the rounding
 * errors of its terms. A row whose four values lie further off is read twice more, for the mean of
 * (x - mean)^2. What a row gives does not depend on its neighbours.
 *
 * Where the outputs go beyond the caches they are streamed past them (`past`), and the input is
 * fetched ahead into L2. Gain and bias are then loaded anew for each row, since wide rows come one
 * or two to a block.
 *
 * Limit: the bandwidth of a copy, out of cache; in L2 the two loads and the store of each vector
 * beside the two transfers: a loop of these alone takes 1.2 times as long as a copy.
 */
#ifndef HARNESS_KERNELS_LAYERNORM_SIMD_BLOCK_H
#define HARNESS_KERNELS_LAYERNORM_SIMD_BLOCK_H

#include "kernels/host.h"
#include "kernels/layernorm/layernorm.h"
#include "kernels/simd.h"

#ifdef SIMD_ISA

enum {
    ROWS = SIMD_WIDTH, /* most of a block */
    CHAINS = 2,        /* of additions that do not wait for each other */
    TILE = 4,          /* vectors of a turn, usually */
    TILE_MOST = 8,
    NARROW = 48, /* a width that has loops of its own: of three vectors, without a rest */
    NARROW_TILE = 3,
    BLOCK = 1536,       /* floats of a block: two, and the results of one, stay in L1 */
    BLOCK_LEAST = 1024, /* fewer rows at a time: longer runs of each output */
    AHEAD = 4096,       /* floats between what is read and what is fetched: 300 ns and more */
    EXACT = 4           /* most of (mean - centre)^2 / variance that one pass is good for */
};

/* How an operation is done; known where a function is inlined. */
struct form {
    bool residual, past;
    int tile, block; /* vectors of a turn; floats of a block */
};

/* Rows that follow each other: (x - mean) / deviation is x scale + shift. */
struct block {
    int64_t first, rows;
    int64_t apart;             /* ROWS, or half of it where the rows are that few */
    simd_float part[2 * ROWS]; /* each lane's sum of a row's values; `apart` on, of the squares */
    float centre[ROWS], scale[ROWS], shift[ROWS];
};

/* The sums of a block in the making: of a row up to column j. */
struct gather {
    struct block *block;
    int64_t row, at, j; /* at: where the row begins */
    float centre;
    simd_float sum[CHAINS], squares[CHAINS];
};

/* Whole vectors on their boundaries, and not in the inputs' place: a streaming store would throw
 * the line out that has just been read. */
static bool past_caches(const struct layernorm *l)
{
    double bytes = (l->delta != NULL ? 16.0 : 8.0) * (double)(l->rows * l->width);
    const float *sum = l->delta != NULL ? l->sum : l->y;
    uintptr_t boundary = (uintptr_t)l->y | (uintptr_t)sum;

    return l->width % SIMD_WIDTH == 0 && boundary % sizeof(simd_float) == 0 && l->y != l->x &&
           sum != l->x && sum != l->delta && host_beyond_caches(bytes);
}

/* Of the vector from column j on. */
SIMD_INLINE int64_t lanes_at(struct form f, const struct layernorm *l, int64_t j)
{
    return f.past || l->width - j >= SIMD_WIDTH ? SIMD_WIDTH : l->width - j;
}

/* The first `lanes` lanes of x, or of x + delta. */
SIMD_INLINE simd_float value(bool residual, const struct layernorm *l, int64_t at, int64_t lanes)
{
    simd_float v = simd_load_upto(l->x + at, lanes);

    if (residual)
        v += simd_load_upto(l->delta + at, lanes);
    return v;
}

/* The same once gather has kept it; the sum may be in the place of x. */
SIMD_INLINE simd_float value_again(struct form f, const struct layernorm *l, int64_t at,
                                   int64_t lanes)
{
    return f.residual && !f.past ? simd_load_upto(l->sum + at, lanes)
                                 : value(f.residual, l, at, lanes);
}

/* A vector's distances from the mean; lanes past the row's end are at none. */
SIMD_INLINE simd_float distances(const struct layernorm *l, int64_t j, float mean)
{
    int64_t lanes = l->width - j;
    simd_float d = value(l->delta != NULL, l, j, lanes) - simd_set(mean);

    return lanes < SIMD_WIDTH ? simd_fill_first(simd_set(0), lanes, d) : d;
}

/* mean and variance of one row, in two passes; *mean is about right. */
static __attribute__((noinline)) void moments(const struct layernorm *row, float *mean,
                                              float *variance)
{
    simd_float sum = simd_set(0), squares = simd_set(0);

    for (int64_t j = 0; j < row->width; j += SIMD_WIDTH)
        sum += distances(row, j, *mean);
    *mean += simd_sum(sum) / (float)row->width;
    for (int64_t j = 0; j < row->width; j += SIMD_WIDTH) {
        simd_float d = distances(row, j, *mean);
        squares = simd_fma(d, d, squares);
    }
    *variance = simd_sum(squares) / (float)row->width;
}

/* scale and shift of a block's rows. Once a block: the loops have the registers to themselves. */
static __attribute__((noinline)) void finish(struct form f, const struct layernorm *l,
                                             struct block *b)
{
    const float *x = f.residual && !f.past ? l->sum : l->x;
    const float *delta = f.residual && f.past ? l->delta : NULL;
    const simd_float of_width = simd_set(1 / (float)l->width);
    simd_float off = simd_sum_each(b->part) * of_width, square; /* E[d] and E[d^2] */
    float offs[ROWS], squares[ROWS], means[ROWS], variances[ROWS];

    simd_store(offs, off);
    if (b->apart == ROWS) {
        square = simd_sum_each(b->part + ROWS) * of_width;
    } else {
        square = simd_load_part(offs + ROWS / 2, ROWS / 2);
        off = simd_load_part(offs, ROWS / 2);
    }
    simd_float mean = simd_load(b->centre) + off, variance = square - off * off;
    if (simd_any_above(off * off - simd_set(EXACT) * variance, 0) ||
        simd_any_above(square, 0x1p100F)) {
        simd_store(squares, square);
        simd_store(means, mean);
        simd_store(variances, variance);
        for (int64_t i = 0; i < b->rows; i++) {
            int64_t at = (b->first + i) * l->width;
            if (offs[i] * offs[i] > EXACT * variances[i] || squares[i] > 0x1p100F)
                moments(&(struct layernorm) { .x = x + at,
                                              .delta = delta != NULL ? delta + at : NULL,
                                              .width = l->width },
                        &means[i], &variances[i]);
        }
        mean = simd_load(means);
        variance = simd_load(variances);
    }
    simd_float scale = simd_set(1) / simd_sqrt(variance + simd_set((float)LAYERNORM_EPS));
    simd_store(b->scale, scale);
    simd_store(b->shift, simd_set(0) - mean * scale);
}

/* Of four values spread over a row. */
SIMD_INLINE float centre_of(bool residual, const struct layernorm *l, int64_t row)
{
    float sum = 0;

    SIMD_UNROLL
    for (int k = 0; k < 4; k++) {
        int64_t at = row + l->width * k / 4;
        sum += residual ? l->x[at] + l->delta[at] : l->x[at];
    }
    return sum / 4;
}

/* Begins with the next row, if there is one. */
SIMD_INLINE void gather_row(struct form f, const struct layernorm *l, struct gather *g)
{
    SIMD_UNROLL
    for (int c = 0; c < CHAINS; c++)
        g->sum[c] = g->squares[c] = simd_set(0);
    g->j = 0;
    if (g->row < g->block->rows)
        g->block->centre[g->row] = g->centre = centre_of(f.residual, l, g->at);
}

/* nv vectors; with lanes < SIMD_WIDTH only the first lanes of one. Lanes past the end add 0. */
SIMD_INLINE void gather(struct form f, int nv, int64_t lanes, const struct layernorm *l,
                        struct gather *g)
{
    SIMD_UNROLL
    for (int k = 0; k < nv; k++) {
        int64_t at = g->at + g->j + k * SIMD_WIDTH;
        simd_float v = value(f.residual, l, at, lanes);
        if (f.past) {
            __builtin_prefetch(l->x + at + AHEAD, 0, 2);
            if (f.residual)
                __builtin_prefetch(l->delta + at + AHEAD, 0, 2);
        } else if (f.residual) {
            simd_store_upto(l->sum + at, v, lanes);
        }
        v -= simd_set(g->centre);
        if (lanes < SIMD_WIDTH)
            v = simd_fill_first(simd_set(0), lanes, v);
        g->sum[k % CHAINS] += v;
        g->squares[k % CHAINS] = simd_fma(v, v, g->squares[k % CHAINS]);
    }
    g->j += nv * SIMD_WIDTH;
}

/* A tile's vectors of the block in the making, or what the row has left, which is little. */
SIMD_INLINE void gather_turn(struct form f, const struct layernorm *l, struct gather *g)
{
    if (g->row >= g->block->rows)
        return;
    if (g->j + f.tile * SIMD_WIDTH <= l->width)
        gather(f, f.tile, SIMD_WIDTH, l, g);
    else
        while (g->j < l->width)
            gather(f, 1, lanes_at(f, l, g->j), l, g);
    if (g->j < l->width)
        return;
    g->block->part[g->row] = g->sum[0] + g->sum[1];
    g->block->part[g->row + g->block->apart] = g->squares[0] + g->squares[1];
    g->row++;
    g->at += l->width;
    if (g->row == g->block->rows)
        finish(f, l, g->block);
    gather_row(f, l, g);
}

/* v normalised: not fused first, so that where x is the mean both products are rounded alike. */
SIMD_INLINE simd_float normalised(simd_float v, simd_float scale, simd_float shift, simd_float gain,
                                  simd_float bias)
{
    v = simd_product(v, scale) + shift;
    return simd_fma(v, gain, bias);
}

/* nv vectors of all rows from column j on, in turns with the block in the making. */
SIMD_INLINE void columns(struct form f, int nv, int64_t lanes, const struct layernorm *l,
                         const struct block *b, int64_t j, struct gather *g)
{
    simd_float gain[TILE_MOST], bias[TILE_MOST], v[TILE_MOST];

    SIMD_UNROLL
    for (int k = 0; k < nv; k++) {
        gain[k] = simd_load_upto(l->gain + j + k * SIMD_WIDTH, lanes);
        bias[k] = simd_load_upto(l->bias + j + k * SIMD_WIDTH, lanes);
    }
    for (int64_t i = 0, at = b->first * l->width + j; i < b->rows; i++, at += l->width) {
        const simd_float scale = simd_set(b->scale[i]), shift = simd_set(b->shift[i]);
        SIMD_UNROLL
        for (int k = 0; k < nv; k++) {
            v[k] = value_again(f, l, at + k * SIMD_WIDTH, lanes);
            if (f.past && f.residual)
                simd_stream(l->sum + at + k * SIMD_WIDTH, v[k]);
        }
        SIMD_UNROLL
        for (int k = 0; k < nv; k++) {
            if (f.past) {
                int64_t c = j + k * SIMD_WIDTH;
                simd_stream(
                    l->y + at + k * SIMD_WIDTH,
                    normalised(v[k], scale, shift, simd_load(l->gain + c), simd_load(l->bias + c)));
            } else {
                simd_store_upto(l->y + at + k * SIMD_WIDTH,
                                normalised(v[k], scale, shift, gain[k], bias[k]), lanes);
            }
        }
        gather_turn(f, l, g);
    }
}

/* The first block, with none to normalise meanwhile. */
static __attribute__((noinline)) void gather_block(struct form f, const struct layernorm *l,
                                                   struct block *first)
{
    struct gather g = { .block = first, .at = first->first * l->width };

    f.tile = TILE;
    gather_row(f, l, &g);
    while (g.row < first->rows)
        gather_turn(f, l, &g);
}

/* Normalises the one block and gathers the other, which has no more rows: so many turns do. */
SIMD_INLINE void step(struct form f, const struct layernorm *l, const struct block *ready,
                      struct block *next)
{
    struct gather g = { .block = next, .at = next->first * l->width };
    int64_t j = 0;

    gather_row(f, l, &g);
    for (; j + f.tile * SIMD_WIDTH <= l->width; j += f.tile * SIMD_WIDTH)
        columns(f, f.tile, SIMD_WIDTH, l, ready, j, &g);
    for (; j < l->width; j += SIMD_WIDTH)
        columns(f, 1, lanes_at(f, l, j), l, ready, j, &g);
}

/* Rows [first, end), block by block. */
SIMD_INLINE void band(struct form f, const struct layernorm *op, int64_t width, int64_t first,
                      int64_t end)
{
    struct layernorm l = *op; /* a copy, which no store can change */
    int64_t rows = f.block / width;
    struct block block[2] = { 0 };
    struct block *ready = &block[0], *next = &block[1];

    l.width = width;
    rows = rows < 1 ? 1 : rows < ROWS ? rows : ROWS;
    for (int64_t at = first; at < end || ready->rows > 0; at += rows) {
        struct block *done = ready;
        next->first = at;
        next->rows = at >= end ? 0 : end - at < rows ? end - at : rows;
        next->apart = rows > ROWS / 2 ? ROWS : ROWS / 2;
        if (at == first)
            gather_block(f, &l, next);
        else
            step(f, &l, ready, next);
        ready = next;
        next = done;
    }
    if (f.past)
        simd_fence();
}

#endif

#endif
