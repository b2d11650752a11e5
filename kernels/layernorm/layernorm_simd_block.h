/* SPDX-License-Identifier: MIT */
/*
 * Layer normalisation of rows of floats or of bfloat16, block by block; included by
 * layernorm_simd.c and layernorm_simd_bf16.c for each instruction set. Two blocks are in work at a
 * time, some vectors of each in turns, so that the transfers, the additions and the stores are
 * spread over the whole time:
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
#include "kernels/layernorm/layernorm_simd_element.h"
#include "kernels/simd.h"
#include "kernels/team.h"

#include <limits.h>

/* What the threads of a team share: in blocks of as many words, but of the narrowest rows; 0: of as
 * many as are usual. */
struct blocked {
    const struct layernorm *l;
    int block;
};

/* As the variant of a call says, by its first parameter. */
static inline struct blocked blocked_of(const struct call *call, const struct layernorm *l)
{
    int64_t block = variant_param(call->variant, 0);

    return (struct blocked) { l, block < INT_MAX ? (int)block : INT_MAX };
}

#ifdef SIMD_ISA

enum {
    ROWS = SIMD_WIDTH, /* most of a block */
    CHAINS = 2,        /* of additions that do not wait for each other */
    TILE = 4,          /* vectors of a turn, usually */
    TILE_MOST = 8,
    SHORT = 48, /* a width that has loops of its own: of three vectors, without a rest */
    SHORT_TILE = 3,
    BLOCK = 1536, /* floats of a block: two, and the results of one, stay in L1 */
    BLOCK_NARROW = 3072,
    BLOCK_SMALL = 768,   /* of two inputs and two outputs */
    BLOCK_LARGE = 12288, /* of wide rows: out of L2 */
    BLOCK_LEAST = 1024,  /* fewer rows at a time: longer runs of each output */
    AHEAD = 4096,        /* words between what is read and what is fetched: 300 ns and more */
    EXACT = 4            /* most of (mean - centre)^2 / variance that one pass is good for */
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
static bool past_caches(bool narrow, const struct layernorm *l)
{
    const int64_t vector = in_word(narrow) * SIMD_WIDTH;
    double words = (double)(l->rows * l->width) / (double)in_word(narrow);
    double bytes = (l->delta != NULL ? 16.0 : 8.0) * words;
    const float *sum = l->delta != NULL ? l->sum : l->y;
    uintptr_t boundary = (uintptr_t)l->y | (uintptr_t)sum;

    return l->width % vector == 0 && boundary % sizeof(simd_float) == 0 && l->y != l->x &&
           sum != l->x && sum != l->delta && host_beyond_caches(bytes);
}

/* Of the vector from column j on. */
SIMD_INLINE int64_t lanes_at(struct form f, const struct layernorm *l, int64_t j)
{
    return f.past || l->width - j >= SIMD_WIDTH ? SIMD_WIDTH : l->width - j;
}

/* A vector's distances from the mean; lanes past the row's end are at none. */
SIMD_INLINE simd_float distances(bool narrow, const struct layernorm *l, int64_t j, float mean)
{
    const struct form f = { .residual = l->delta != NULL, .narrow = narrow };
    int64_t lanes = l->width - j;
    simd_float d;

    values(f, 1, l, j, lanes, &d);
    d -= simd_set(mean);
    return lanes < SIMD_WIDTH ? simd_fill_first(simd_set(0), lanes, d) : d;
}

/* mean and variance of one row, in two passes; *mean is about right. */
static __attribute__((noinline)) void moments(bool narrow, const struct layernorm *row, float *mean,
                                              float *variance)
{
    simd_float sum = simd_set(0), squares = simd_set(0);

    for (int64_t j = 0; j < row->width; j += SIMD_WIDTH)
        sum += distances(narrow, row, j, *mean);
    *mean += simd_sum(sum) / (float)row->width;
    for (int64_t j = 0; j < row->width; j += SIMD_WIDTH) {
        simd_float d = distances(narrow, row, j, *mean);
        squares = simd_fma(d, d, squares);
    }
    *variance = simd_sum(squares) / (float)row->width;
}

/* scale and shift of a block's rows. Once a block: the loops have the registers to themselves. */
static __attribute__((noinline)) void finish(struct form f, const struct layernorm *l,
                                             struct block *b)
{
    const float *x = keeps(f) ? l->sum : l->x;
    const float *delta = f.residual && !keeps(f) ? l->delta : NULL;
    const simd_float of_width = simd_set(1 / (float)l->width);
    simd_float off = simd_sum_each(b->part) * of_width, square; /* E[d] and E[d^2] */
    float offs[ROWS], squares[ROWS], means[ROWS], variances[ROWS];

    if (b->apart == ROWS) {
        square = simd_sum_each(b->part + ROWS) * of_width;
    } else {
        square = simd_upper_half(off);
        off = simd_lower_half(off);
    }
    simd_float mean = simd_load(b->centre) + off, variance = square - off * off;
    if (simd_any_above(off * off - simd_set(EXACT) * variance, 0) ||
        simd_any_above(square, 0x1p100F)) {
        simd_store(offs, off);
        simd_store(squares, square);
        simd_store(means, mean);
        simd_store(variances, variance);
        for (int64_t i = 0; i < b->rows; i++) {
            int64_t at = (b->first + i) * l->width;
            if (offs[i] * offs[i] > EXACT * variances[i] || squares[i] > 0x1p100F)
                moments(f.narrow,
                        &(struct layernorm) { .x = element(f.narrow, x, at),
                                              .delta = delta != NULL ? element(f.narrow, delta, at)
                                                                     : NULL,
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

/* Of four values spread over a row, or about that. */
SIMD_INLINE float centre_of(struct form f, const struct layernorm *l, int64_t row)
{
    const bool exact = l->width < 8; /* else one is behind each of them */
    float sum = 0;

    SIMD_UNROLL
    for (int k = 0; k < 4; k++) {
        int64_t at = row + l->width * k / 4;
        const float x = about(f.narrow, exact, l->x, at);
        sum += f.residual ? x + about(f.narrow, exact, l->delta, at) : x;
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
        g->block->centre[g->row] = g->centre = centre_of(f, l, g->at);
}

/* Asks for what is read some time later. */
SIMD_INLINE void ask_ahead(struct form f, const struct layernorm *l, int64_t at)
{
    const int64_t later = at + AHEAD * in_word(f.narrow);

    __builtin_prefetch(element(f.narrow, l->x, later), 0, 2);
    if (f.residual)
        __builtin_prefetch(element(f.narrow, l->delta, later), 0, 2);
}

/* nv vectors; with lanes < SIMD_WIDTH only the first lanes of one. Lanes past the end add 0. */
SIMD_INLINE void gather(struct form f, int nv, int64_t lanes, const struct layernorm *l,
                        struct gather *g)
{
    SIMD_UNROLL
    for (int k = 0; k < nv; k++) {
        const int some = together(f, nv, k);
        int64_t at = g->at + g->j + k * SIMD_WIDTH;
        simd_float v[2];
        if (some == 0)
            continue;
        values(f, some, l, at, lanes, v);
        if (f.past)
            ask_ahead(f, l, at);
        else if (keeps(f))
            store(f, some, l->sum, at, lanes, v);
        SIMD_UNROLL
        for (int i = 0; i < some; i++) {
            v[i] -= simd_set(g->centre);
            if (lanes < SIMD_WIDTH)
                v[i] = simd_fill_first(simd_set(0), lanes, v[i]);
            g->sum[(k + i) % CHAINS] += v[i];
            g->squares[(k + i) % CHAINS] = simd_fma(v[i], v[i], g->squares[(k + i) % CHAINS]);
        }
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
            const int some = together(f, nv, k);
            if (some == 0)
                continue;
            values_again(f, some, l, at + k * SIMD_WIDTH, lanes, v + k);
            if (f.residual && !keeps(f))
                store(f, some, l->sum, at + k * SIMD_WIDTH, lanes, v + k);
        }
        SIMD_UNROLL
        for (int k = 0; k < nv; k++) {
            const int64_t c = j + k * SIMD_WIDTH;
            v[k] = f.past ? normalised(v[k], scale, shift, simd_load(l->gain + c),
                                       simd_load(l->bias + c))
                          : normalised(v[k], scale, shift, gain[k], bias[k]);
            if (together(f, nv, k) == 1)
                store(f, 1, l->y, at + k * SIMD_WIDTH, lanes, v + k);
            else if (k % 2 != 0)
                store(f, 2, l->y, at + (k - 1) * SIMD_WIDTH, lanes, v + k - 1);
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
    for (; f.narrow && j + 2 * SIMD_WIDTH <= l->width; j += 2 * SIMD_WIDTH)
        columns(f, 2, SIMD_WIDTH, l, ready, j, &g);
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

/* Words of a block in the caches, by races on a Zen 4 (docs/tuning.md). What stays in L1 would be a
 * row or two of wide ones, which then wait for their sums, divisions and roots one by one: there a
 * block is of many rows, and is read twice out of L2. So is bfloat16's at every width: of half the
 * bytes, and of twice the work. */
SIMD_INLINE int cached_block(struct form f, int64_t width)
{
    const bool lines = SIMD_WIDTH == 16;
    const int64_t wide = f.residual ? 320 : lines ? 1024 : 256;

    if (f.narrow || width >= wide)
        return BLOCK_LARGE;
    return f.residual && lines ? BLOCK_SMALL : BLOCK;
}

/* Where f says no block it is the usual one. The narrowest models' rows are short enough for loops
 * of a known length to matter. */
SIMD_INLINE void cached(struct form f, const struct layernorm *l, int64_t first, int64_t end)
{
    struct form brief = f; /* of pairs, one may only be left over at a row's end */
    struct form any = f;

    any.block = f.block > 0 ? f.block : cached_block(f, l->width);
    f.block = brief.block = f.narrow ? BLOCK_NARROW : BLOCK;
    f.tile = any.tile = TILE;
    brief.tile = f.narrow && SHORT_TILE * SIMD_WIDTH != SHORT ? TILE : SHORT_TILE;
    if (l->width == SHORT)
        band(brief, l, SHORT, first, end);
    else if (l->width == 64)
        band(f, l, 64, first, end);
    else
        band(any, l, l->width, first, end);
}

/* Found by trial, on AMD's Zen 4: with vectors of a line, two outputs of two rows at a time were
 * written at 3/4 of the rate of those of one row. With smaller ones a single output gained by four
 * lines a turn. */
SIMD_INLINE void streamed(struct form f, const struct layernorm *l, int64_t first, int64_t end)
{
    const bool lines = SIMD_WIDTH == 16;
    const int usual = f.residual && lines ? BLOCK_LEAST : BLOCK;

    f.past = true;
    f.tile = f.residual || lines ? TILE : TILE_MOST;
    f.block = f.block > 0 ? f.block : usual;
    band(f, l, l->width, first, end);
}

/* In blocks of as many words; 0: of as many as are usual. */
SIMD_INLINE void norm_rows(bool narrow, int block, const struct layernorm *l, int64_t first,
                           int64_t end)
{
    const struct form plain = { .narrow = narrow, .block = block };
    const struct form residual = { true, .narrow = narrow, .block = block };
    bool past = past_caches(narrow, l);

    if (l->delta != NULL && past)
        streamed(residual, l, first, end);
    else if (l->delta != NULL)
        cached(residual, l, first, end);
    else if (past)
        streamed(plain, l, first, end);
    else
        cached(plain, l, first, end);
}

/* norm_rows() of one type, in a function of its own: within the loop of a team its own loops would
 * lack registers. */
typedef void norm_rows_fn(const struct layernorm *l, int block, int64_t first, int64_t end);

/* The share of each thread of a team. */
SIMD_INLINE void norm_share(norm_rows_fn *rows, const struct blocked *o)
{
    const struct layernorm *l = o->l;
    int64_t team = team_parts();

#pragma omp for schedule(static) nowait
    for (int64_t t = 0; t < team; t++)
        rows(l, o->block, l->rows * t / team, l->rows * (t + 1) / team);
    team_meet();
}

#endif

#endif
