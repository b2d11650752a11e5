/* SPDX-License-Identifier: MIT */
/*
 * Layer normalisation where the outputs go beyond the caches; included by layernorm_simd.c for each
 * instruction set.
 *
 * A streaming store alone takes a core nearly as long as the copy of its line, so the stores must
 * be spread over all that is done. Each row is read twice, the second time from L1, once for its
 * moments and once to be normalised, and the two are done to different blocks of rows in turns,
 * CHUNK vectors of each, while the input further ahead is fetched into L2:
 *
 *   block b      |nnnn|    |nnnn|    |    n: (x scale + shift) gain + bias -> y
 *   block b + 1  |    |mmmm|    |mmmm|    m: mean and squares, lane by lane
 *
 * The moments take one pass: a chunk in registers gives each lane's mean and the sum of the squares
 * of the distances from it, and two such pairs are joined as Chan, Golub and LeVeque (1983) do. As
 * in two passes no large numbers cancel.
 *
 * Limit: the bandwidth of a copy with streaming stores.
 */
#ifndef HARNESS_KERNELS_LAYERNORM_SIMD_STREAM_H
#define HARNESS_KERNELS_LAYERNORM_SIMD_STREAM_H

#include "kernels/host.h"
#include "kernels/layernorm/layernorm.h"
#include "kernels/simd.h"

#ifdef SIMD_ISA

enum {
    STREAM_CHUNK = 8,    /* vectors that are in registers at once */
    STREAM_BLOCK = 1024, /* floats of a block: two of them, of two matrices, stay in L1 */
    STREAM_AHEAD = 4096  /* floats between what is read and what is fetched: 300 ns and more */
};

/* Of each lane of a row, so far: the mean, and the sum of the squared distances from it. */
struct stream_lanes {
    simd_float mean, squares;
};

/* Rows that follow each other: (x - mean) / deviation is x scale + shift. */
struct stream_block {
    int64_t first, rows;
    struct stream_lanes lanes[SIMD_WIDTH];
    float scale[SIMD_WIDTH], shift[SIMD_WIDTH];
};

/* A row of each of two blocks; where one begins, or -1 if there is none. */
struct stream_pair {
    simd_float scale, shift;   /* of the one that is ready */
    struct stream_lanes lanes; /* of the next one, after `seen` vectors */
    int64_t ready, next;
    float seen;
};

/* Outputs beyond the caches, whole vectors, on their boundaries, and not in the inputs' place: a
 * streaming store would throw the line out that has just been read. */
static bool stream_fits(const struct layernorm *l)
{
    double bytes = (l->delta != NULL ? 16.0 : 8.0) * (double)(l->rows * l->width);
    const float *sum = l->delta != NULL ? l->sum : l->y;
    uintptr_t boundary = (uintptr_t)l->y | (uintptr_t)sum;

    return l->width % SIMD_WIDTH == 0 && boundary % sizeof(simd_float) == 0 && l->y != l->x &&
           sum != l->x && sum != l->delta && host_beyond_caches(bytes);
}

/* x, or x + delta. */
SIMD_INLINE simd_float stream_value(bool residual, const struct layernorm *l, int64_t at)
{
    simd_float v = simd_load(l->x + at);

    if (residual)
        v += simd_load(l->delta + at);
    return v;
}

SIMD_INLINE void stream_fetch(bool residual, const struct layernorm *l, int64_t at)
{
    __builtin_prefetch(l->x + at + STREAM_AHEAD, 0, 2);
    if (residual)
        __builtin_prefetch(l->delta + at + STREAM_AHEAD, 0, 2);
}

SIMD_INLINE simd_float stream_four(const simd_float *v)
{
    return (v[0] + v[1]) + (v[2] + v[3]);
}

/* Sums of nv vectors by halves: few additions wait for one another. */
SIMD_INLINE simd_float stream_sum_of(int nv, const simd_float *v)
{
    simd_float sum = v[0];

    if (nv == 8)
        return stream_four(v) + stream_four(v + 4);
    if (nv == 4)
        return stream_four(v);
    SIMD_UNROLL
    for (int k = 1; k < nv; k++)
        sum += v[k];
    return sum;
}

/* Joins the moments of nv vectors to those of the `seen` ones before. */
SIMD_INLINE void stream_join(int nv, struct stream_pair *p, simd_float mean, simd_float squares)
{
    if (p->seen == 0) {
        p->lanes = (struct stream_lanes) { mean, squares };
        return;
    }
    float share = (float)nv / (p->seen + (float)nv);
    simd_float d = mean - p->lanes.mean;

    p->lanes.mean = simd_fma(d, simd_set(share), p->lanes.mean);
    p->lanes.squares = simd_fma(d * d, simd_set(p->seen * share), p->lanes.squares + squares);
}

SIMD_INLINE void stream_gather(bool residual, int nv, const struct layernorm *l, int64_t j,
                               struct stream_pair *p)
{
    simd_float v[STREAM_CHUNK], squares[4] = { simd_set(0), simd_set(0), simd_set(0), simd_set(0) };

    SIMD_UNROLL
    for (int k = 0; k < nv; k++) {
        v[k] = stream_value(residual, l, p->next + j + k * SIMD_WIDTH);
        stream_fetch(residual, l, p->next + j + k * SIMD_WIDTH);
    }
    simd_float mean = stream_sum_of(nv, v) * simd_set(1.0f / (float)nv);
    SIMD_UNROLL
    for (int k = 0; k < nv; k++) {
        simd_float d = v[k] - mean;
        squares[k % 4] = simd_fma(d, d, squares[k % 4]);
    }
    stream_join(nv, p, mean, stream_four(squares));
}

SIMD_INLINE void stream_normalise(bool residual, int nv, const struct layernorm *l, int64_t j,
                                  const struct stream_pair *p)
{
    SIMD_UNROLL
    for (int k = 0; k < nv; k++, j += SIMD_WIDTH) {
        simd_float v = stream_value(residual, l, p->ready + j);
        if (residual)
            simd_stream(l->sum + p->ready + j, v);
        v = simd_product(v, p->scale) + p->shift;
        v = simd_product(v, simd_load(l->gain + j)) + simd_load(l->bias + j);
        simd_stream(l->y + p->ready + j, v);
    }
}

/* nv vectors of both rows from column j on; returns the column behind them. */
SIMD_INLINE int64_t stream_turn(bool residual, int nv, const struct layernorm *l, int64_t j,
                                struct stream_pair *p)
{
    if (p->ready >= 0)
        stream_normalise(residual, nv, l, j, p);
    if (p->next >= 0)
        stream_gather(residual, nv, l, j, p);
    p->seen += (float)nv;
    return j + nv * SIMD_WIDTH;
}

SIMD_INLINE void stream_turns(bool residual, const struct layernorm *l, struct stream_pair *p)
{
    int64_t vectors = l->width / SIMD_WIDTH, j = 0;

    for (int64_t k = vectors / STREAM_CHUNK; k > 0; k--)
        j = stream_turn(residual, STREAM_CHUNK, l, j, p);
    if (vectors & 4)
        j = stream_turn(residual, 4, l, j, p);
    switch (vectors & 3) {
    case 1:
        stream_turn(residual, 1, l, j, p);
        break;
    case 2:
        stream_turn(residual, 2, l, j, p);
        break;
    case 3:
        stream_turn(residual, 3, l, j, p);
        break;
    default:
        break;
    }
}

/* Normalises the one block and gathers the lanes of the other. */
SIMD_INLINE void stream_step(bool residual, const struct layernorm *l,
                             const struct stream_block *ready, struct stream_block *next)
{
    int64_t rows = ready->rows > next->rows ? ready->rows : next->rows;

    for (int64_t i = 0; i < rows; i++) {
        struct stream_pair p = {
            .ready = i < ready->rows ? (ready->first + i) * l->width : -1,
            .next = i < next->rows ? (next->first + i) * l->width : -1,
            .scale = simd_set(ready->scale[i]),
            .shift = simd_set(ready->shift[i]),
            .lanes = { simd_set(0), simd_set(0) },
            .seen = 0,
        };
        stream_turns(residual, l, &p);
        next->lanes[i] = p.lanes;
    }
}

/*
 * From lanes to rows: all lanes have seen the same number of values. The sums across lanes are
 * those of simd_sum_each() where there are many rows; few are cheaper one by one.
 */
SIMD_INLINE simd_float stream_sums(const simd_float part[SIMD_WIDTH], int64_t rows)
{
    float sum[SIMD_WIDTH];

    if (rows > 4 || SIMD_WIDTH <= 4)
        return simd_sum_each(part);
    simd_store(sum, simd_set(0));
    for (int64_t i = 0; i < rows; i++)
        sum[i] = simd_sum(part[i]);
    return simd_load(sum);
}

SIMD_INLINE void stream_finish(int64_t width, struct stream_block *b)
{
    const int64_t per_lane = width / SIMD_WIDTH;
    const simd_float n = simd_set((float)width), vectors = simd_set((float)per_lane);
    simd_float part[SIMD_WIDTH];
    float means[SIMD_WIDTH];

    for (int64_t i = b->rows; i < SIMD_WIDTH; i++)
        part[i] = simd_set(0);
    for (int64_t i = 0; i < b->rows; i++)
        part[i] = b->lanes[i].mean * vectors;
    simd_float mean = stream_sums(part, b->rows) / n;
    simd_store(means, mean);

    for (int64_t i = 0; i < b->rows; i++) {
        simd_float d = b->lanes[i].mean - simd_set(means[i]);
        part[i] = simd_fma(d * vectors, d, b->lanes[i].squares);
    }
    simd_float variance = stream_sums(part, b->rows) / n;
    simd_float scale = simd_set(1) / simd_sqrt(variance + simd_set((float)LAYERNORM_EPS));
    simd_store(b->scale, scale);
    simd_store(b->shift, simd_set(0) - mean * scale);
}

/* Rows [first, end), block by block. */
SIMD_INLINE void stream_band(bool residual, const struct layernorm *op, int64_t first, int64_t end)
{
    const struct layernorm l = *op; /* a copy, which no store can change */
    int64_t rows = STREAM_BLOCK / l.width;
    struct stream_block block[2] = {
        0
    }; /* the first step reads, and does not use, the ready one */
    struct stream_block *ready = &block[0], *next = &block[1];

    rows = rows < 1 ? 1 : rows < SIMD_WIDTH ? rows : SIMD_WIDTH;
    for (int64_t at = first; at < end || ready->rows > 0; at += rows) {
        struct stream_block *done = ready;
        next->first = at;
        next->rows = at >= end ? 0 : end - at < rows ? end - at : rows;
        stream_step(residual, &l, ready, next);
        if (next->rows > 0)
            stream_finish(l.width, next);
        ready = next;
        next = done;
    }
    simd_fence();
}

#endif

#endif
