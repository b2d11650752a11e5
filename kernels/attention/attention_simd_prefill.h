/* SPDX-License-Identifier: MIT */
/*
 * The prefill of attention_simd.c, whose comment says how; for files compiled with SIMD_ISA.
 */
#ifndef HARNESS_KERNELS_ATTENTION_ATTENTION_SIMD_PREFILL_H
#define HARNESS_KERNELS_ATTENTION_ATTENTION_SIMD_PREFILL_H

#include "kernels/attention/attention_simd_head.h"
#include "kernels/simd_math.h"

#include <math.h>
#include <omp.h>

/* Weights of a tile that add up to more in a lane are made anew after a larger shift. */
static const float MOST_WEIGHT = 65536;

/* Queries with the state of their softmax, a row a query. */
struct group {
    const float *q;
    int64_t ldq;
    int64_t first, rows; /* positions first .. first + rows */
    float *acc;          /* [GROUP][width] */
    float shift[GROUP];  /* weight = 2^(score + shift) */
    simd_float sum[GROUP];
};

/* What a group does to one tile of keys. */
struct step {
    simd_float part[GROUP];
    int64_t from, to;    /* panels */
    int64_t first, keys; /* positions first .. first + keys are seen by some query */
    float *weights;      /* [GROUP][KEYS] */
    float share[SHARES]; /* 1 / sum */
    bool fresh, last;    /* the group's first, last tile */
};

/* Positions that some query of a group sees. */
static inline int64_t seen_by(const struct head *h, const struct group *g)
{
    return h->causal ? at_most(g->first + GROUP, h->seq) : h->seq;
}

static inline struct tile score_tile(const struct head *h, const struct group *g, int64_t panel)
{
    int64_t start = panel_start(h, panel);

    return (struct tile) { .a = g->q,
                           .a_row = g->ldq,
                           .a_step = 1,
                           .b = h->keys + start * h->headdim,
                           .b_step = panel_start(h, panel + 1) - start,
                           .depth = h->headdim };
}

/* Which of a panel's keys a group's queries see: row i the first `seen` + i * `slope` ones. */
struct key_mask {
    int64_t seen, slope;
    bool start; /* key 0 is among them: its score is the first shift of each query */
    float scale;
};

/* Weights of `nv` vectors of keys, and their sums. */
SIMD_INLINE void weights_of(int nv, bool masked, const struct tile *t, struct key_mask mask,
                            float *restrict shift, float *restrict weights,
                            simd_float *restrict part)
{
    simd_float s[TILE_ROWS][TILE_VECTORS];
    const simd_float scale = simd_set(mask.scale);

    tile_product(GROUP, nv, false, t, s);
    if (mask.start) {
        SIMD_UNROLL
        for (int i = 0; i < GROUP; i++)
            shift[i] = simd_first(s[i][0]) * -mask.scale;
    }
    SIMD_UNROLL
    for (int i = 0; i < GROUP; i++) {
        simd_float sum = part[i];
        SIMD_UNROLL
        for (int v = 0; v < nv; v++) {
            simd_float p = simd_exp2(simd_fma(s[i][v], scale, simd_set(shift[i])));
            if (masked)
                p = simd_fill_first(simd_set(0),
                                    within(mask.seen + i * mask.slope - v * SIMD_WIDTH), p);
            simd_store(weights + i * KEYS + v * SIMD_WIDTH, p);
            sum += p;
        }
        part[i] = sum;
    }
}

static void weights_of_panel(const struct head *h, struct group *g, int64_t panel, bool start,
                             float *weights, simd_float *part)
{
    int64_t first = panel_start(h, panel);
    const struct tile t = score_tile(h, g, panel);
    const struct key_mask mask = { .seen = (h->causal ? g->first + 1 : h->seq) - first,
                                   .slope = h->causal,
                                   .start = start,
                                   .scale = h->scale };
    int64_t lanes = at_most(t.b_step, mask.seen + (GROUP - 1) * mask.slope);
    bool masked = lanes > mask.seen || lanes % SIMD_WIDTH != 0;

    if (lanes <= SIMD_WIDTH)
        weights_of(1, true, &t, mask, g->shift, weights, part);
#if defined(SIMD_ISA_avx512)
    else if (lanes <= 2 * SIMD_WIDTH && masked)
        weights_of(2, true, &t, mask, g->shift, weights, part);
    else if (lanes <= 2 * SIMD_WIDTH)
        weights_of(2, false, &t, mask, g->shift, weights, part);
#endif
    else if (masked)
        weights_of(WIDEST, true, &t, mask, g->shift, weights, part);
    else
        weights_of(WIDEST, false, &t, mask, g->shift, weights, part);
}

/* The weights of one of the step's panels, if the group sees some of it. */
static inline void add_weights(const struct head *h, struct group *g, struct step *u, int64_t panel,
                               bool start)
{
    int64_t at = panel_start(h, panel) - u->first;

    if (at < u->keys)
        weights_of_panel(h, g, panel, start && panel == 0, u->weights + at, u->part);
}

/* Moves the shift of row i so that none of the scores [row][SIMD_WIDTH] weighs more than 1. */
static void raise_rows(const struct head *h, struct group *g, int64_t first, const float *scores)
{
    for (int i = 0; i < GROUP; i++) {
        int64_t seen = h->causal ? at_most(g->first + i + 1, h->seq) : h->seq;
        for (int64_t j = 0; j < SIMD_WIDTH && first + j < seen; j++)
            g->shift[i] = fminf(g->shift[i], -scores[i * SIMD_WIDTH + j] * h->scale);
    }
}

/* Some score of the step is far above what its query has seen so far: moves the shifts, scales
 * what there is of sums and output, and makes the weights anew. */
__attribute__((noinline)) static void raise(const struct head *h, struct group *g, struct step *u)
{
    float before[GROUP];

    memcpy(before, g->shift, sizeof(before));
    for (int64_t panel = u->from; panel < u->to; panel++) {
        struct tile t = score_tile(h, g, panel);
        for (int64_t j = 0; j < t.b_step; j += SIMD_WIDTH, t.b += SIMD_WIDTH) {
            tile_to(GROUP, 1, &t, u->weights, SIMD_WIDTH);
            raise_rows(h, g, panel_start(h, panel) + j, u->weights);
        }
    }
    for (int i = 0; i < GROUP; i++) {
        const simd_float factor = simd_exp2(simd_set(g->shift[i] - before[i]));
        float *acc = g->acc + i * h->width;
        u->part[i] = simd_set(0);
        g->sum[i] = g->sum[i] * factor;
        for (int64_t d = 0; d < h->width && !u->fresh; d += SIMD_WIDTH)
            simd_store(acc + d, simd_load(acc + d) * factor);
    }
    for (int64_t panel = u->from; panel < u->to; panel++)
        add_weights(h, g, u, panel, false);
}

/* One over the sums of the weights. */
static void shares(const struct group *g, float *share)
{
    for (int i = 0; i < GROUP; i += SIMD_WIDTH) {
        simd_float sum[SIMD_WIDTH];
        SIMD_UNROLL
        for (int r = 0; r < SIMD_WIDTH; r++)
            sum[r] = i + r < GROUP ? g->sum[i + r] : simd_set(1);
        simd_store(share + i, simd_set(1) / simd_sum_each(sum));
    }
}

static void add_sums(struct group *g, struct step *u)
{
    SIMD_UNROLL
    for (int i = 0; i < GROUP; i++)
        g->sum[i] += u->part[i];
    if (u->last)
        shares(g, u->share);
}

/* Columns [d, d + nv vectors) of acc = product, or acc + product; after the last tile the output.
 */
SIMD_INLINE void add_product(int nv, const struct head *h, const struct group *g,
                             const struct step *u, const struct tile *t, int64_t d)
{
    simd_float sum[TILE_ROWS][TILE_VECTORS];
    float *acc = g->acc + d, *out = h->out + g->first * h->ldo + d;

    tile_product(GROUP, nv, false, t, sum);
    SIMD_UNROLL
    for (int i = 0; i < GROUP; i++) {
        SIMD_UNROLL
        for (int v = 0; v < nv; v++) {
            int64_t col = v * SIMD_WIDTH;
            if (!u->fresh)
                sum[i][v] += simd_load(acc + i * h->width + col);
            if (!u->last)
                simd_store(acc + i * h->width + col, sum[i][v]);
            else if (i < g->rows)
                simd_store_upto(out + i * h->ldo + col, sum[i][v] * simd_set(u->share[i]),
                                h->headdim - d - col);
        }
    }
}

/* The tile's share of the output: weights times values. */
static void weigh(const struct head *h, const struct group *g, const struct step *u)
{
    struct tile t = {
        .a = u->weights, .a_row = KEYS, .a_step = 1, .b_step = h->width, .depth = u->keys
    };

    for (int64_t d = 0; d < h->width; d += VALUE_VECTORS * SIMD_WIDTH) {
        t.b = h->values + u->first * h->width + d;
        if (h->width - d >= VALUE_VECTORS * SIMD_WIDTH)
            add_product(VALUE_VECTORS, h, g, u, &t, d);
        else
            add_product(1, h, g, u, &t, d);
    }
}

static void step_init(struct step *u, const struct head *h, const struct group *g, int64_t from,
                      float *weights)
{
    int64_t seen = seen_by(h, g);

    u->from = from;
    u->to = at_most(from + PANELS, h->panels);
    u->first = panel_start(h, from);
    u->keys = at_most(panel_start(h, u->to), seen) - u->first;
    u->fresh = from == 0;
    u->last = panel_start(h, u->to) >= seen;
    u->weights = weights;
    SIMD_UNROLL
    for (int i = 0; i < GROUP; i++)
        u->part[i] = simd_set(0);
}

/* Whether the weights of a tile are within bounds. */
static bool fits(const struct step *u)
{
    simd_float most = u->part[0];

    SIMD_UNROLL
    for (int i = 1; i < GROUP; i++)
        most = simd_max(most, u->part[i]);
    return !simd_any_above(most, MOST_WEIGHT);
}

/* `nr` groups and the tile of keys that starts with panel `from`. */
static void attend(const struct head *h, struct group *g, int64_t nr, int64_t from)
{
    float weights[TOGETHER][GROUP * KEYS] __attribute__((aligned(64)));
    struct step u[TOGETHER];

    for (int64_t i = 0; i < nr; i++)
        step_init(&u[i], h, &g[i], from, weights[i]);
    /* cppcheck-suppress uninitvar ; step_init() fills all of them, and there is one at least */
    for (int64_t panel = from; panel < u[0].to; panel++)
        for (int64_t i = 0; i < nr; i++)
            add_weights(h, &g[i], &u[i], panel, true);
    for (int64_t i = 0; i < nr; i++) {
        if (u[i].keys <= 0)
            continue;
        if (!fits(&u[i]))
            raise(h, &g[i], &u[i]);
        add_sums(&g[i], &u[i]);
        weigh(h, &g[i], &u[i]);
    }
}

/* A group of queries from position `first` on; missing ones are zeros. */
static void group_init(struct group *g, const struct head *h, int64_t first, int64_t rows,
                       float *acc)
{
    g->q = h->q + first * h->ld;
    g->ldq = h->ld;
    g->first = first;
    g->rows = rows;
    g->acc = acc;
    for (int i = 0; i < GROUP; i++)
        g->sum[i] = simd_set(0);
    if (rows == GROUP)
        return;
    float *copy = h->acc + BLOCK * GROUP * h->width;
    memset(copy, 0, (size_t)(GROUP * h->width) * sizeof(*copy));
    for (int64_t i = 0; i < rows; i++)
        memcpy(copy + i * h->width, g->q + i * h->ld, (size_t)h->headdim * sizeof(*copy));
    g->q = copy;
    g->ldq = h->width;
}

/* Queries [first, end), BLOCK groups at most. */
static void attend_block(const struct head *h, int64_t first, int64_t end)
{
    struct group groups[BLOCK];
    int64_t nr = (end - first + GROUP - 1) / GROUP, seen = h->causal ? end : h->seq;

    for (int64_t i = 0; i < nr; i++)
        group_init(&groups[i], h, first + i * GROUP, at_most(GROUP, end - first - i * GROUP),
                   h->acc + i * GROUP * h->width);
    for (int64_t from = 0; from < h->panels && panel_start(h, from) < seen; from += PANELS)
        for (int64_t i = 0; i < nr; i += TOGETHER)
            attend(h, groups + i, at_most(TOGETHER, nr - i), from);
}

/* Pieces of a head's queries, so that the threads get about as many of them each: every piece
 * copies the keys and values again. */
static int64_t pieces_of(const struct attention *a, int64_t threads)
{
    int64_t heads = a->batch * a->heads, groups = (a->seq + GROUP - 1) / GROUP, pieces = 1;

    while (heads * pieces % threads != 0 && heads * pieces < 4 * threads)
        pieces++;
    return at_most(pieces, groups);
}

/* Where piece `i` of n begins: pieces of about the same work, in whole groups. */
static int64_t piece_start(const struct attention *a, int64_t i, int64_t n)
{
    double part = (double)i / (double)n;
    int64_t groups = (a->seq + GROUP - 1) / GROUP;
    double at = (double)groups * (a->causal ? sqrt(part) : part);

    return at_most((int64_t)(at + 0.5) * GROUP, a->seq);
}

void SIMD_NAME(attention_prefill)(const void *operation)
{
    const struct attention *a = operation;
    int64_t pieces = pieces_of(a, omp_get_num_threads());

#pragma omp for schedule(dynamic) nowait
    for (int64_t task = 0; task < a->batch * a->heads * pieces; task++) {
        struct head h = head_of(a, task / pieces);
        int64_t first = piece_start(a, task % pieces, pieces);
        int64_t end = piece_start(a, task % pieces + 1, pieces);
        pack(&h, a->causal ? end : a->seq);
        for (; first < end; first += BLOCK * GROUP)
            attend_block(&h, first, at_most(first + BLOCK * GROUP, end));
    }
    team_meet();
}

#endif
