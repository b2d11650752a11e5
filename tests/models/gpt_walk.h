/* SPDX-License-Identifier: MIT */
/* The definition of a GPT, evaluated in float64 token by token, unlike the oracle and the forward;
 * and small configurations to try it on. */
#ifndef HARNESS_TESTS_GPT_WALK_H
#define HARNESS_TESTS_GPT_WALK_H

#include "gpt_testing.h"

#include "core/registry.h"
#include "models/gpt_common.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_WIDTH = 48, MAX_SEQ = 80, MAX_LAYERS = 3 };

/* Odd everything: headdim 10, 1 and 16; widths that are no multiple of a vector. */
static const struct gpt_config configs[] = {
    { .name = "two", .layers = 2, .heads = 2, .width = 20, .block = 70, .vocab = 97 },
    { .name = "one", .layers = 1, .heads = 5, .width = 5, .block = 80, .vocab = 33 },
    { .name = "three", .layers = 3, .heads = 3, .width = 48, .block = 66, .vocab = 257 },
};

static const struct gpt_ops *const all_ops[] = {
    &gpt_ops_plain,
    &gpt_ops_simd,
#ifdef HARNESS_HAVE_OPENBLAS
    &gpt_ops_openblas,
#endif
};

#define NR(array) (sizeof(array) / sizeof((array)[0]))

/* The keys and values that a sequence has left behind, and the state of the token at work. */
struct walk {
    const struct gpt_weights *w;
    double k[MAX_LAYERS][MAX_SEQ][MAX_WIDTH], v[MAX_LAYERS][MAX_SEQ][MAX_WIDTH];
    double x[MAX_WIDTH];
    int64_t position;
};

static inline void affine(const struct walk *s, enum gpt_tensor which, int64_t layer,
                          const double *x, double *y)
{
    const float *w = gpt_weight(s->w, which, layer), *b = gpt_weight(s->w, which + 1, layer);
    int64_t outs, ins;

    gpt_weight_extents(s->w->config, which, &outs, &ins);
    for (int64_t o = 0; o < outs; o++) {
        y[o] = (double)b[o];
        for (int64_t i = 0; i < ins; i++)
            y[o] += (double)w[o * ins + i] * x[i];
    }
}

static inline void normed(const struct walk *s, enum gpt_tensor which, int64_t layer, double *y)
{
    const float *g = gpt_weight(s->w, which, layer), *b = gpt_weight(s->w, which + 1, layer);
    int64_t n = s->w->config->width;
    double sum = 0, squares = 0;

    for (int64_t i = 0; i < n; i++)
        sum += s->x[i];
    double mean = sum / (double)n;
    for (int64_t i = 0; i < n; i++)
        squares += pow(s->x[i] - mean, 2);
    for (int64_t i = 0; i < n; i++)
        y[i] = (double)g[i] * (s->x[i] - mean) / sqrt(squares / (double)n + 1e-5) + (double)b[i];
}

static inline void self_attention(struct walk *s, int64_t layer, const double *q, double *out)
{
    const struct gpt_config *c = s->w->config;
    int64_t d = c->width / c->heads;

    for (int64_t i = 0; i < c->width; i++)
        out[i] = 0;
    for (int64_t head = 0; head < c->heads; head++) {
        double weight[MAX_SEQ], sum = 0;
        for (int64_t p = 0; p <= s->position; p++) {
            double score = 0;
            for (int64_t i = head * d; i < (head + 1) * d; i++)
                score += q[i] * s->k[layer][p][i];
            sum += weight[p] = exp(score / sqrt((double)d));
        }
        for (int64_t p = 0; p <= s->position; p++)
            for (int64_t i = head * d; i < (head + 1) * d; i++)
                out[i] += weight[p] / sum * s->v[layer][p][i];
    }
}

static inline void add(double *x, const double *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        x[i] += y[i];
}

static inline void walk_layer(struct walk *s, int64_t layer)
{
    int64_t n = s->w->config->width;
    double h[MAX_WIDTH] = { 0 }, y[MAX_WIDTH] = { 0 };
    double qkv[3 * MAX_WIDTH] = { 0 }, wide[4 * MAX_WIDTH] = { 0 };

    normed(s, GPT_LN_1_WEIGHT, layer, h);
    affine(s, GPT_ATTN_WEIGHT, layer, h, qkv);
    for (int64_t i = 0; i < n; i++) {
        s->k[layer][s->position][i] = qkv[n + i];
        s->v[layer][s->position][i] = qkv[2 * n + i];
    }
    self_attention(s, layer, qkv, h);
    affine(s, GPT_PROJ_WEIGHT, layer, h, y);
    add(s->x, y, n);

    normed(s, GPT_LN_2_WEIGHT, layer, h);
    affine(s, GPT_FC_WEIGHT, layer, h, wide);
    for (int64_t i = 0; i < 4 * n; i++)
        wide[i] *= (1 + tanh(sqrt(2 / acos(-1)) * (wide[i] + 0.044715 * pow(wide[i], 3)))) / 2;
    affine(s, GPT_FC_PROJ_WEIGHT, layer, wide, y);
    add(s->x, y, n);
}

/* logits[V] of the token at s->position, whose predecessors were walked before. */
static inline void walk_token(struct walk *s, int32_t token, double *logits)
{
    const struct gpt_config *c = s->w->config;
    const float *wte = gpt_weight(s->w, GPT_WTE, 0), *wpe = gpt_weight(s->w, GPT_WPE, 0);
    const float *head = gpt_weight(s->w, GPT_LM_HEAD, 0);
    double h[MAX_WIDTH] = { 0 };

    for (int64_t i = 0; i < c->width; i++)
        s->x[i] = (double)wte[token * c->width + i] + (double)wpe[s->position * c->width + i];
    for (int64_t layer = 0; layer < c->layers; layer++)
        walk_layer(s, layer);
    normed(s, GPT_LN_F_WEIGHT, 0, h);
    for (int64_t o = 0; o < c->vocab; o++) {
        logits[o] = 0;
        for (int64_t i = 0; i < c->width; i++)
            logits[o] += (double)head[o * c->width + i] * h[i];
    }
}

/* logits [batch, seq, V] of the definition; free() it. */
static inline double *walked(const struct gpt_weights *w, const int32_t *tokens, int64_t batch,
                             int64_t seq)
{
    int64_t vocab = w->config->vocab;
    double *logits = malloc((size_t)(batch * seq * vocab) * sizeof(*logits));
    struct walk *s = malloc(sizeof(*s));

    assert_non_null(logits);
    assert_non_null(s);
    for (int64_t b = 0; b < batch; b++) {
        *s = (struct walk) { .w = w };
        for (int64_t t = 0; t < seq; t++, s->position++)
            walk_token(s, tokens[b * seq + t], logits + (b * seq + t) * vocab);
    }
    free(s);
    return logits;
}

static inline double largest_error(const float *got, const double *want, int64_t nr)
{
    double worst = 0, squares = 0;

    for (int64_t i = 0; i < nr; i++) {
        double off = fabs((double)got[i] - want[i]);
        if (!(off <= worst) && !isnan(worst)) /* the first NaN stays */
            worst = off;
        squares += want[i] * want[i];
    }
    return worst / sqrt(squares / (double)nr);
}

/* The bound of models/gpt.c, for a configuration that is not in the registry. */
static inline double tolerance_of(const struct gpt_config *c)
{
    struct kernel k = { .config = c };
    struct shape s = { { 1, 1 } };

    return gpt_prefill_nano.tolerance(&k, &s, DTYPE_FP32, MATH_FP32);
}

static inline void make_tokens(int32_t *tokens, int64_t nr, int64_t vocab, uint64_t seed)
{
    struct random random;

    random_seed(&random, seed);
    for (int64_t i = 0; i < nr; i++)
        tokens[i] = (int32_t)random_below(&random, (uint64_t)vocab);
}

static inline float *poisoned(int64_t nr)
{
    float *x = malloc((size_t)nr * sizeof(*x));

    assert_non_null(x);
    for (int64_t i = 0; i < nr; i++)
        x[i] = NAN;
    return x;
}

#endif
