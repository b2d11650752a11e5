/* SPDX-License-Identifier: MIT */
/*
 * A GPT in float64, written from its definition and independent of everything in kernels/.
 *
 * One sequence at a time: `n` new tokens at positions first..first+n-1, after `first` positions
 * whose keys and values come from a cache (decode) or are none (prefill). Generation is both in
 * turn, with a cache of its own. Only the sequences of
 * the rows asked for are evaluated, and of the head only those rows.
 */
#include "base/memory.h"
#include "models/generation/generation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 4, LANES = 4 }; /* of a block of dot products */

struct evaluation {
    const struct gpt_config *c;
    struct gpt_weights w;
    int64_t n, first;
    double *x, *h;      /* [n, C] */
    double *qkv, *wide; /* [n, 3C], [n, 4C] */
    double *k, *v;      /* [first + n, C] of the layer at work */
    double *picked;     /* [ROWS, C]: hidden states on their way through the head */
};

/* The cached keys and values of a sequence, as one tensor [layers, batch, seq, C]; NULL members
 * in a prefill. */
struct cache {
    const struct tensor *k, *v;
    int64_t sequence;
    bool grows; /* it gets the keys and values of what is evaluated */
};

/*
 * out[r] = sum over i of x[r * k + i] w[i], for `rows` rows at once: a weight is converted to
 * double once for all of them, and the lanes are independent sums, which the compiler may keep in
 * vectors. Inlined with a constant `rows`.
 */
static inline __attribute__((always_inline)) void dot_constant(const double *x, const float *w,
                                                               int64_t k, int rows,
                                                               double out[ROWS])
{
    double sum[ROWS][LANES] = { { 0 } };
    int64_t i = 0;

    for (; i + LANES <= k; i += LANES) {
        double wide[LANES];
        for (int lane = 0; lane < LANES; lane++)
            wide[lane] = (double)w[i + lane];
        for (int r = 0; r < rows; r++)
            for (int lane = 0; lane < LANES; lane++)
                sum[r][lane] += x[r * k + i + lane] * wide[lane];
    }
    for (int r = 0; r < rows; r++) {
        out[r] = (sum[r][0] + sum[r][1]) + (sum[r][2] + sum[r][3]);
        for (int64_t j = i; j < k; j++)
            out[r] += x[r * k + j] * (double)w[j];
    }
}

static void dot_rows(const double *x, const float *w, int64_t k, int64_t rows, double out[ROWS])
{
    if (rows == ROWS) {
        dot_constant(x, w, k, ROWS, out);
        return;
    }
    for (int64_t r = 0; r < rows; r++)
        dot_constant(x + r * k, w, k, 1, out + r);
}

/* y[n, outs] (=, or += where `add`) x[n, ins] w[outs, ins]^T + bias */
static void linear(const struct evaluation *e, enum gpt_tensor which, int64_t layer,
                   const double *x, double *y, bool add)
{
    const float *w = gpt_weight(&e->w, which, layer), *bias = gpt_weight(&e->w, which + 1, layer);
    int64_t outs, ins;

    gpt_weight_extents(e->c, which, &outs, &ins);
#pragma omp parallel for schedule(static)
    for (int64_t o = 0; o < outs; o++) {
        for (int64_t r = 0; r < e->n; r += ROWS) {
            int64_t rows = e->n - r < ROWS ? e->n - r : ROWS;
            double sum[ROWS];
            dot_rows(x + r * ins, w + o * ins, ins, rows, sum);
            for (int64_t i = 0; i < rows; i++) {
                double *to = &y[(r + i) * outs + o];
                *to = (add ? *to : 0) + sum[i] + (double)bias[o];
            }
        }
    }
}

static void norm(const struct evaluation *e, enum gpt_tensor gain, int64_t layer)
{
    const float *g = gpt_weight(&e->w, gain, layer), *b = gpt_weight(&e->w, gain + 1, layer);
    int64_t width = e->c->width;

    for (int64_t r = 0; r < e->n; r++) {
        const double *x = e->x + r * width;
        double mean = 0, variance = 0;
        for (int64_t i = 0; i < width; i++)
            mean += x[i] / (double)width;
        for (int64_t i = 0; i < width; i++)
            variance += (x[i] - mean) * (x[i] - mean) / (double)width;
        for (int64_t i = 0; i < width; i++)
            e->h[r * width + i] =
                (x[i] - mean) / sqrt(variance + 1e-5) * (double)g[i] + (double)b[i];
    }
}

static void gelu(double *x, int64_t n)
{
    const double root = 0.79788456080286535588; /* sqrt(2 / pi) */

    for (int64_t i = 0; i < n; i++)
        x[i] = 0.5 * x[i] * (1 + tanh(root * (x[i] + 0.044715 * x[i] * x[i] * x[i])));
}

/* One head of one query over keys 0..nr-1: softmax(q.k / sqrt(d)) v to out[d]. */
static void attend_one(const struct evaluation *e, const double *q, int64_t at, int64_t d,
                       int64_t nr, double *score, double *out)
{
    int64_t width = e->c->width;
    double top = -INFINITY, sum = 0;

    for (int64_t j = 0; j < nr; j++) {
        score[j] = 0;
        for (int64_t i = 0; i < d; i++)
            score[j] += q[i] * e->k[j * width + at + i];
        score[j] /= sqrt((double)d);
        top = score[j] > top ? score[j] : top;
    }
    memset(out, 0, (size_t)d * sizeof(*out));
    for (int64_t j = 0; j < nr; j++) {
        double weight = exp(score[j] - top);
        sum += weight;
        for (int64_t i = 0; i < d; i++)
            out[i] += weight * e->v[j * width + at + i];
    }
    for (int64_t i = 0; i < d; i++)
        out[i] /= sum;
}

static void attend(const struct evaluation *e)
{
    int64_t width = e->c->width, heads = e->c->heads, d = width / heads, total = e->first + e->n;

#pragma omp parallel
    {
        double *score = memory_zeroed((size_t)total, sizeof(*score));
#pragma omp for collapse(2) schedule(dynamic)
        for (int64_t r = 0; r < e->n; r++)
            for (int64_t head = 0; head < heads; head++)
                attend_one(e, e->qkv + r * 3 * width + head * d, head * d, d, e->first + r + 1,
                           score, e->h + r * width + head * d);
        free(score);
    }
}

/* Of one sequence, whose cache is of doubles. */
static void remember(const struct evaluation *e, const struct cache *cache, int64_t layer)
{
    int64_t width = e->c->width, at = (layer * cache->k->extent[2] + e->first) * width;
    size_t bytes = (size_t)(e->n * width) * sizeof(double);

    memcpy((double *)cache->k->data + at, e->k + e->first * width, bytes);
    memcpy((double *)cache->v->data + at, e->v + e->first * width, bytes);
}

/* Keys and values of the layer: the cached ones, then those of this evaluation. */
static void gather(const struct evaluation *e, const struct cache *cache, int64_t layer)
{
    int64_t width = e->c->width;

    if (cache->k) {
        int64_t batch = cache->k->extent[1], capacity = cache->k->extent[2];
        int64_t base = (layer * batch + cache->sequence) * capacity * width;
        for (int64_t i = 0; i < e->first * width; i++) {
            e->k[i] = tensor_get(cache->k, base + i);
            e->v[i] = tensor_get(cache->v, base + i);
        }
    }
    for (int64_t r = 0; r < e->n; r++) {
        const double *k = e->qkv + r * 3 * width + width;
        memcpy(e->k + (e->first + r) * width, k, (size_t)width * sizeof(*k));
        memcpy(e->v + (e->first + r) * width, k + width, (size_t)width * sizeof(*k));
    }
    if (cache->grows)
        remember(e, cache, layer);
}

/* tokens[n] to the normed hidden states in e->h. */
static void evaluate(const struct evaluation *e, const int32_t *tokens, const struct cache *cache)
{
    const float *wte = gpt_weight(&e->w, GPT_WTE, 0), *wpe = gpt_weight(&e->w, GPT_WPE, 0);
    int64_t width = e->c->width;

    for (int64_t r = 0; r < e->n; r++)
        for (int64_t i = 0; i < width; i++)
            e->x[r * width + i] =
                (double)wte[tokens[r] * width + i] + (double)wpe[(e->first + r) * width + i];
    for (int64_t layer = 0; layer < e->c->layers; layer++) {
        norm(e, GPT_LN_1_WEIGHT, layer);
        linear(e, GPT_ATTN_WEIGHT, layer, e->h, e->qkv, false);
        gather(e, cache, layer);
        attend(e);
        linear(e, GPT_PROJ_WEIGHT, layer, e->h, e->x, true);
        norm(e, GPT_LN_2_WEIGHT, layer);
        linear(e, GPT_FC_WEIGHT, layer, e->h, e->wide, false);
        gelu(e->wide, e->n * 4 * width);
        linear(e, GPT_FC_PROJ_WEIGHT, layer, e->wide, e->x, true);
    }
    norm(e, GPT_LN_F_WEIGHT, 0);
}

/* logits[r][V] of the normed hidden states h[rows, C], rows <= ROWS. */
static void head(const struct evaluation *e, const double *h, int64_t rows, double *const *logits)
{
    const float *w = gpt_weight(&e->w, GPT_LM_HEAD, 0);
    int64_t width = e->c->width;

#pragma omp parallel for schedule(static)
    for (int64_t o = 0; o < e->c->vocab; o++) {
        double sum[ROWS];
        dot_rows(h, w + o * width, width, rows, sum);
        for (int64_t r = 0; r < rows; r++)
            logits[r][o] = sum[r];
    }
}

static void evaluation_init(struct evaluation *e, const struct kernel *k,
                            const struct tensor *params, int64_t n, int64_t first)
{
    const struct gpt_config *c = k->config;
    size_t width = (size_t)c->width, tokens = (size_t)n, all = (size_t)(first + n);

    *e = (struct evaluation) { .c = c, .n = n, .first = first };
    e->w = (struct gpt_weights) { .config = c, .data = params->data };
    if (params->dtype != DTYPE_FP32) {
        e->w.data = memory_zeroed((size_t)tensor_elements(params), sizeof(float));
        for (int64_t i = 0; i < tensor_elements(params); i++)
            e->w.data[i] = (float)tensor_get(params, i);
    }
    e->x = memory_zeroed(tokens * width, sizeof(double));
    e->h = memory_zeroed(tokens * width, sizeof(double));
    e->qkv = memory_zeroed(tokens * 3 * width, sizeof(double));
    e->wide = memory_zeroed(tokens * 4 * width, sizeof(double));
    e->k = memory_zeroed(all * width, sizeof(double));
    e->v = memory_zeroed(all * width, sizeof(double));
    e->picked = memory_zeroed(ROWS * width, sizeof(double));
}

static void evaluation_release(struct evaluation *e, const struct tensor *params)
{
    if (e->w.data != params->data)
        free(e->w.data);
    free(e->x);
    free(e->h);
    free(e->qkv);
    free(e->wide);
    free(e->k);
    free(e->v);
    free(e->picked);
}

/* The last position asked for of sequence b, or -1. */
static int64_t last_asked(const int64_t *rows, size_t nr_rows, int64_t b, int64_t seq)
{
    int64_t last = -1;

    for (size_t i = 0; i < nr_rows; i++)
        if (rows[i] / seq == b && rows[i] % seq > last)
            last = rows[i] % seq;
    return last;
}

/* The logits of the rows asked of sequence b, a few at a time. */
static void heads_asked(const struct evaluation *e, const int64_t *rows, size_t nr_rows, int64_t b,
                        int64_t seq, double *expected)
{
    int64_t width = e->c->width, nr = 0;
    double *logits[ROWS];

    for (size_t i = 0; i < nr_rows; i++) {
        if (rows[i] / seq == b) {
            logits[nr] = expected + (int64_t)i * e->c->vocab;
            memcpy(e->picked + nr++ * width, e->h + rows[i] % seq * width,
                   (size_t)width * sizeof(double));
        }
        if (nr == ROWS || (nr > 0 && i + 1 == nr_rows)) {
            head(e, e->picked, nr, logits);
            nr = 0;
        }
    }
}

void gpt_prefill_oracle(const struct kernel *k, const struct shape *s, const struct tensor *t,
                        int out, const int64_t *rows, size_t nr_rows, double *expected)
{
    const struct tensor *params = &t[GPT_PREFILL_PARAMS];
    const int32_t *tokens = t[GPT_PREFILL_TOKENS].data;
    int64_t seq = s->dim[GPT_DIM_SEQ];
    struct cache nothing = { .k = NULL };
    struct evaluation e;

    (void)out;
    evaluation_init(&e, k, params, seq, 0);
    for (int64_t b = 0; b < s->dim[GPT_DIM_BATCH]; b++) {
        /* Causal: what follows the last row asked for does not count. */
        e.n = last_asked(rows, nr_rows, b, seq) + 1;
        if (e.n == 0)
            continue;
        evaluate(&e, tokens + b * seq, &nothing);
        heads_asked(&e, rows, nr_rows, b, seq, expected);
    }
    evaluation_release(&e, params);
}

void gpt_decode_oracle(const struct kernel *k, const struct shape *s, const struct tensor *t,
                       int out, const int64_t *rows, size_t nr_rows, double *expected)
{
    const struct tensor *params = &t[GPT_DECODE_PARAMS];
    const int32_t *tokens = t[GPT_DECODE_TOKENS].data;
    struct cache cache = { .k = &t[GPT_DECODE_K], .v = &t[GPT_DECODE_V] };
    struct evaluation e;

    (void)out;
    evaluation_init(&e, k, params, 1, s->dim[GPT_DIM_SEQ] - 1);
    for (size_t i = 0; i < nr_rows; i++) {
        cache.sequence = rows[i];
        evaluate(&e, tokens + rows[i], &cache);
        double *logits = expected + (int64_t)i * e.c->vocab;
        head(&e, e.h, 1, &logits);
    }
    evaluation_release(&e, params);
}

/* Of one sequence [layers, 1, length, C]. */
static struct tensor own_cache(const struct gpt_config *c, int64_t length)
{
    struct tensor t = { .dtype = DTYPE_FP64,
                        .rank = 4,
                        .extent = { c->layers, 1, length, c->width } };

    t.data = memory_zeroed((size_t)tensor_elements(&t), sizeof(double));
    return t;
}

static int32_t largest_of(const double *logits, int64_t vocab)
{
    int64_t best = 0;

    for (int64_t i = 1; i < vocab; i++)
        if (logits[i] > logits[best])
            best = i;
    return (int32_t)best;
}

/* chosen[nr], and the logits that the last of them was chosen by. */
static void generate(struct evaluation *e, const int32_t *prompt, int64_t seq, int64_t nr,
                     const struct cache *cache, int32_t *chosen, double *logits)
{
    const int32_t *tokens = prompt;

    e->n = seq;
    e->first = 0;
    for (int64_t i = 0; i < nr; i++) {
        evaluate(e, tokens, cache);
        head(e, e->h + (e->n - 1) * e->c->width, 1, &logits);
        chosen[i] = largest_of(logits, e->c->vocab);
        e->first += e->n;
        e->n = 1;
        tokens = &chosen[i];
    }
}

void gpt_generate_oracle(const struct kernel *k, const struct shape *s, const struct tensor *t,
                         int out, const int64_t *rows, size_t nr_rows, double *expected)
{
    const struct gpt_config *c = k->config;
    const struct tensor *params = &t[GPT_GENERATE_PARAMS];
    const int32_t *prompts = t[GPT_GENERATE_TOKENS].data;
    int64_t seq = s->dim[GPT_DIM_SEQ], nr = s->dim[GPT_DIM_NEW];
    struct tensor keys = own_cache(c, seq + nr), values = own_cache(c, seq + nr);
    const struct cache cache = { .k = &keys, .v = &values, .grows = true };
    double *logits = memory_zeroed((size_t)c->vocab, sizeof(*logits));
    int32_t *chosen = memory_zeroed((size_t)nr, sizeof(*chosen));
    struct evaluation e;

    evaluation_init(&e, k, params, seq, nr);
    for (size_t i = 0; i < nr_rows; i++) {
        generate(&e, prompts + rows[i] * seq, seq, nr, &cache, chosen, logits);
        for (int64_t j = 0; out == GPT_GENERATE_CHOSEN && j < nr; j++)
            expected[(int64_t)i * nr + j] = chosen[j];
        if (out == GPT_GENERATE_LOGITS)
            memcpy(expected + (int64_t)i * c->vocab, logits, (size_t)c->vocab * sizeof(*logits));
    }
    evaluation_release(&e, params);
    free(keys.data);
    free(values.data);
    free(logits);
    free(chosen);
}
