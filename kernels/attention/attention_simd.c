/* SPDX-License-Identifier: MIT */
/*
 * Blocks of queries against tiles of keys, softmax carried along ("online": Milakov and
 * Gimelshein, 2018; tiled as in FlashAttention: Dao et al., 2022). Queries lie in the lanes of the
 * vectors, so that maximum, exponential and sum go lane by lane and nothing is summed across.
 *
 *          queries i (lanes: two vectors)
 *         +-------------------+
 *    keys | K[j] . Q[i] / sqrt D |   one register tile: K in place, by broadcasts; Q transposed
 *      j  |  -> exp(s - max[i])  |   and scaled once a block
 *         +-------------------+
 *              | weights [j][i] stay in L1
 *              v
 *    acc[i][:] = acc[i][:] * exp(old max - max) + weights[:, i] . V[:, :]    V in place
 *
 *    causal:   j tiles    0    1    2
 *      i block 0          \                tiles right of the diagonal are never computed, those
 *      i block 1          #    \           on it (\) are masked, and no row adds keys past its
 *      i block 2          #    #    \      own block of rows
 *
 * q, k and v are read where they lie, whatever the distance between tokens. Threads take blocks,
 * the longest first. Limit: FMA units and exponentials about equally for heads of 16 to 32, the
 * FMA units from 64 on. Decode: the bandwidth at which K and V come in.
 */
#include "kernels/attention/attention_call.h"
#include "kernels/host.h"
#include "kernels/simd.h"
#include "kernels/simd_math.h"
#include "kernels/simd_tile.h"

#include <math.h>
#include <omp.h>

SIMD_DECLARE(host_share_fn, attention_prefill);
SIMD_DECLARE(host_share_fn, attention_decode);

enum { MOST_LANES = 32, LINE = 16 };

#ifdef SIMD_ISA

enum {
    LANE_VECTORS = 2,                        /* vectors of queries in a block */
    BLOCK = LANE_VECTORS * SIMD_WIDTH,       /* queries */
    KEYS = 64,                               /* in a tile */
    ROWS = SIMD_WIDTH == 16 ? TILE_ROWS : 4, /* of acc at a time; divides SIMD_WIDTH */
    VECTORS = 2,                             /* of acc's columns at a time */
};

_Static_assert((int)BLOCK <= (int)MOST_LANES && SIMD_WIDTH % ROWS == 0, "attention's tile sizes");

/* One block of queries of one head. */
struct block {
    const float *q, *k, *v; /* position 0 of this head */
    int64_t ld;
    float *out;
    int64_t ldo;
    int64_t first, queries; /* positions first .. first + queries */
    int64_t keys;           /* positions 0 .. keys are seen by some query of the block */
    int64_t headdim;
    bool causal;
    float *transposed; /* [headdim][lanes] */
    float *acc;        /* [lanes][acc_ld] */
    int64_t acc_ld;
};

/* The state of the softmax, a lane a query. */
struct softmax {
    simd_float most[LANE_VECTORS], sum[LANE_VECTORS];
    float correction[BLOCK]; /* what the tile before is to be scaled by */
};

static int64_t at_most(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void transpose(const struct block *b, int64_t lanes)
{
    const float scale = 1 / sqrtf((float)b->headdim);

    for (int64_t i = 0; i < lanes; i++) {
        const float *q = b->q + (b->first + i) * b->ld;
        for (int64_t d = 0; d < b->headdim; d++)
            b->transposed[d * lanes + i] = i < b->queries ? q[d] * scale : 0;
    }
}

/* Key `first` + r is hidden from the queries before it. */
static void mask(const struct block *b, int nv, int64_t first, int64_t keys, float *weights)
{
    for (int64_t r = 0; r < keys; r++) {
        for (int v = 0; v < nv; v++) {
            int64_t hidden = first + r - b->first - v * SIMD_WIDTH;
            if (hidden <= 0)
                continue;
            float *w = weights + (r * nv + v) * SIMD_WIDTH;
            simd_store(
                w, simd_fill_first(simd_load(w), at_most(hidden, SIMD_WIDTH), simd_set(-1e30f)));
        }
    }
}

/* Scores of keys first .. first + keys, masked where they must be. */
SIMD_INLINE void score(const struct block *b, int nv, int64_t first, int64_t keys, float *weights)
{
    int64_t lanes = nv * SIMD_WIDTH;

    for (int64_t r = 0; r < keys; r += TILE_ROWS) {
        const struct tile t = {
            .a = b->k + (first + r) * b->ld,
            .a_row = b->ld,
            .a_step = 1,
            .b = b->transposed,
            .b_step = lanes,
            .depth = b->headdim,
        };
        tile_rows_to((int)at_most(TILE_ROWS, keys - r), nv, &t, weights + r * lanes, lanes);
    }
    if (b->causal && first + keys - 1 > b->first)
        mask(b, nv, first, keys, weights);
}

/* Scores to weights. */
SIMD_INLINE void exponentiate(struct softmax *s, int nv, int64_t keys, float *weights)
{
    SIMD_UNROLL
    for (int v = 0; v < nv; v++) {
        float *w = weights + v * SIMD_WIDTH;
        simd_float most = s->most[v], sum = simd_set(0);

        for (int64_t r = 0; r < keys; r++)
            most = simd_max(most, simd_load(w + r * nv * SIMD_WIDTH));
        for (int64_t r = 0; r < keys; r++) {
            simd_float p = simd_exp(simd_load(w + r * nv * SIMD_WIDTH) - most);
            simd_store(w + r * nv * SIMD_WIDTH, p);
            sum += p;
        }
        simd_float correction = simd_exp(s->most[v] - most);
        s->sum[v] = simd_fma(s->sum[v], correction, sum);
        s->most[v] = most;
        simd_store(s->correction + v * SIMD_WIDTH, correction);
    }
}

/* acc = product, or acc * correction + product; ROWS rows, nv vectors. */
SIMD_INLINE void add_product(int nv, bool part, const struct tile *t, bool fresh,
                             const float *correction, float *acc, int64_t ld)
{
    simd_float sum[TILE_ROWS][TILE_VECTORS];

    tile_product(ROWS, nv, part, t, sum);
    SIMD_UNROLL
    for (int i = 0; i < ROWS; i++) {
        SIMD_UNROLL
        for (int v = 0; v < nv; v++) {
            float *to = acc + i * ld + v * SIMD_WIDTH;
            simd_store(to, fresh ? sum[i][v]
                                 : simd_fma(simd_load(to), simd_set(correction[i]), sum[i][v]));
        }
    }
}

static void weigh_rows(const struct block *b, struct tile *t, bool fresh, const float *correction,
                       float *acc)
{
    const float *v = t->b;

    for (int64_t d = 0; d < b->headdim; d += VECTORS * SIMD_WIDTH) {
        t->b = v + d;
        t->cols = at_most(VECTORS * SIMD_WIDTH, b->headdim - d);
        if (t->cols == VECTORS * SIMD_WIDTH)
            add_product(VECTORS, false, t, fresh, correction, acc + d, b->acc_ld);
        else if (t->cols > SIMD_WIDTH)
            add_product(VECTORS, true, t, fresh, correction, acc + d, b->acc_ld);
        else if (t->cols == SIMD_WIDTH)
            add_product(1, false, t, fresh, correction, acc + d, b->acc_ld);
        else
            add_product(1, true, t, fresh, correction, acc + d, b->acc_ld);
    }
}

/* The tile's share of the output: weights^T V. */
static void weigh(const struct block *b, const struct softmax *s, int64_t lanes, int64_t first,
                  int64_t keys, const float *weights)
{
    for (int64_t i = 0; i < b->queries; i += ROWS) {
        int64_t seen = b->causal ? at_most(keys, b->first + i + ROWS - first) : keys;
        struct tile t = {
            .a = weights + i,
            .a_row = 1,
            .a_step = lanes,
            .b = b->v + first * b->ld,
            .b_step = b->ld,
            .depth = seen,
        };
        if (seen > 0)
            weigh_rows(b, &t, first == 0, s->correction + i, b->acc + i * b->acc_ld);
    }
}

static void finish(const struct block *b, const float *sum)
{
    for (int64_t i = 0; i < b->queries; i++) {
        const simd_float scale = simd_set(1 / sum[i]);
        float *out = b->out + (b->first + i) * b->ldo;
        for (int64_t d = 0; d < b->headdim; d += SIMD_WIDTH)
            simd_store_upto(out + d, simd_load(b->acc + i * b->acc_ld + d) * scale, b->headdim - d);
    }
}

SIMD_INLINE void attend(const struct block *b, int nv)
{
    float weights[KEYS * BLOCK] __attribute__((aligned(64)));
    float sum[BLOCK];
    struct softmax s;

    for (int v = 0; v < nv; v++) {
        s.most[v] = simd_set(-1e30f);
        s.sum[v] = simd_set(0);
    }
    transpose(b, nv * SIMD_WIDTH);
    for (int64_t first = 0; first < b->keys; first += KEYS) {
        int64_t keys = at_most(KEYS, b->keys - first);
        score(b, nv, first, keys, weights);
        exponentiate(&s, nv, keys, weights);
        weigh(b, &s, nv * SIMD_WIDTH, first, keys, weights);
    }
    for (int v = 0; v < nv; v++)
        simd_store(sum + v * SIMD_WIDTH, s.sum[v]);
    finish(b, sum);
}

static struct block block_of(const struct attention *a, int64_t b, int64_t h, int64_t first)
{
    int64_t at = b * a->seq * a->ld + h * a->headdim;
    int64_t queries = at_most(BLOCK, a->seq - first);
    size_t each = attention_simd_scratch(a->headdim);
    float *scratch = a->scratch + each * (size_t)omp_get_thread_num();

    return (struct block) {
        .q = a->q + at,
        .k = a->k + at,
        .v = a->v + at,
        .ld = a->ld,
        .out = a->out + b * a->seq * a->ldo + h * a->headdim,
        .ldo = a->ldo,
        .first = first,
        .queries = queries,
        .keys = a->causal ? first + queries : a->seq,
        .headdim = a->headdim,
        .causal = a->causal,
        .transposed = scratch,
        .acc = scratch + each / 2,
        .acc_ld = (int64_t)(each / 2 / MOST_LANES),
    };
}

void SIMD_NAME(attention_prefill)(const void *operation)
{
    const struct attention *a = operation;
    int64_t blocks = (a->seq + BLOCK - 1) / BLOCK, each = a->batch * a->heads;

#pragma omp for schedule(dynamic)
    for (int64_t task = 0; task < blocks * each; task++) {
        int64_t head = task % each, first = (blocks - 1 - task / each) * BLOCK;
        struct block b = block_of(a, head / a->heads, head % a->heads, first);
        if (b.queries > SIMD_WIDTH)
            attend(&b, LANE_VECTORS);
        else
            attend(&b, 1);
    }
}

/* q . k */
static inline float dot(const float *q, const float *k, int64_t n)
{
    simd_float sum = simd_set(0);
    int64_t d = 0;

    for (; d + SIMD_WIDTH <= n; d += SIMD_WIDTH)
        sum = simd_fma(simd_load(q + d), simd_load(k + d), sum);
    if (d < n)
        sum = simd_fma(simd_load_part(q + d, n - d), simd_load_part(k + d, n - d), sum);
    return simd_sum(sum);
}

/* Scores to weights that are not divided by their sum yet; hands back the sum. */
static float softmax_row(float *scores, int64_t n, float most)
{
    const simd_float top = simd_set(most);
    simd_float sum = simd_set(0);

    for (int64_t j = 0; j < n; j += SIMD_WIDTH) {
        int64_t lanes = n - j;
        simd_float p = simd_exp(simd_load_upto(scores + j, lanes) - top);
        simd_store_upto(scores + j, p, lanes);
        sum += simd_load_upto(scores + j, lanes);
    }
    return simd_sum(sum);
}

/* `nv` vectors of out = scale * scores . V */
SIMD_INLINE void weigh_one(int nv, const struct tile *t, float scale, float *out)
{
    simd_float sum[TILE_ROWS][TILE_VECTORS];

    tile_product(1, nv, true, t, sum);
    for (int v = 0; v < nv; v++)
        simd_store_upto(out + v * SIMD_WIDTH, sum[0][v] * simd_set(scale),
                        t->cols - v * SIMD_WIDTH);
}

static void decode_head(const struct attention_decode *a, int64_t b, int64_t head, float *scores)
{
    const float *q = a->q + b * a->ldq + head, *k = a->k + b * a->ld_sequence + head;
    float *out = a->out + b * a->ldo + head, most = -INFINITY;
    const float scale = 1 / sqrtf((float)a->headdim);
    struct tile t = { .a = scores, .a_step = 1, .b_step = a->ld, .depth = a->length };

    for (int64_t j = 0; j < a->length; j++) {
        scores[j] = dot(q, k + j * a->ld, a->headdim) * scale;
        most = fmaxf(most, scores[j]);
    }
    float sum = softmax_row(scores, a->length, most);
    for (int64_t d = 0; d < a->headdim; d += VECTORS * SIMD_WIDTH) {
        t.b = a->v + b * a->ld_sequence + head + d;
        t.cols = at_most(VECTORS * SIMD_WIDTH, a->headdim - d);
        if (t.cols > SIMD_WIDTH)
            weigh_one(VECTORS, &t, 1 / sum, out + d);
        else
            weigh_one(1, &t, 1 / sum, out + d);
    }
}

void SIMD_NAME(attention_decode)(const void *operation)
{
    const struct attention_decode *a = operation;
    size_t each = attention_decode_scratch(a->length, 1);

#pragma omp for schedule(static)
    for (int64_t task = 0; task < a->batch * a->heads; task++)
        decode_head(a, task / a->heads, task % a->heads * a->headdim,
                    a->scratch + each * (size_t)omp_get_thread_num());
}

#else

/* Queries transposed and sums, each for all lanes and a head size in whole cache lines. */
size_t attention_simd_scratch(int64_t headdim)
{
    return 2 * MOST_LANES * (((size_t)headdim + LINE - 1) / LINE * LINE);
}

void attention_prefill_simd(const struct attention *a)
{
    double pairs = (double)(a->batch * a->heads) * (double)a->seq * (double)a->seq;

    host_share(SIMD_CHOOSE(attention_prefill), a, a->threads, pairs * (double)(a->headdim + 8));
}

void attention_decode_simd(const struct attention_decode *a)
{
    double bytes = 8.0 * (double)(a->batch * a->heads * a->headdim) * (double)a->length;

    host_share(SIMD_CHOOSE(attention_decode), a, a->threads, bytes);
}

static void prefill_launch(const struct call *call)
{
    struct attention a = attention_of(call);

    attention_prefill_simd(&a);
}

static void decode_launch(const struct call *call)
{
    struct attention_decode a = attention_decode_of(call);

    attention_decode_simd(&a);
}

#define SIMD(of, text, ready, run)                                                                 \
    {                                                                                              \
        .name = "simd", .summary = (text), .kernel = &(of), .device = DEVICE_CPU,                  \
        .dtype = DTYPE_FP32, .math = MATH_FP32, .supports = simd_supports, .prepare = (ready),     \
        .launch = (run), .release = host_state_release,                                            \
    }

const struct variant attention_simd[] = {
    SIMD(attention_causal_kernel,
         "online softmax, tiles past the diagonal skipped; limit: FMA, exp", attention_prepare,
         prefill_launch),
    SIMD(attention_full_kernel, "online softmax over tiles of 64 keys; limit: FMA, exp",
         attention_prepare, prefill_launch),
    SIMD(attention_decode_kernel, "a head a thread; limit: bandwidth of the KV cache",
         attention_decode_prepare, decode_launch),
    { .name = NULL },
};

#endif
