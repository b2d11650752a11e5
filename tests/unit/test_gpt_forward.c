/* SPDX-License-Identifier: MIT */
/*
 * Covers U-03, S0-01: the forwards of small GPTs against a float64 evaluation of its own (token by
 * token, unlike the oracle and the forward), decode against prefill, the oracles against that same
 * evaluation, the variants through their callbacks, and generation.
 */
#include "gpt_testing.h"

#include "core/registry.h"
#include "models/gpt_common.h"
#include "models/gpt_generate.h"

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

static void affine(const struct walk *s, enum gpt_tensor which, int64_t layer, const double *x,
                   double *y)
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

static void normed(const struct walk *s, enum gpt_tensor which, int64_t layer, double *y)
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

static void self_attention(struct walk *s, int64_t layer, const double *q, double *out)
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

static void add(double *x, const double *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        x[i] += y[i];
}

static void walk_layer(struct walk *s, int64_t layer)
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
static void walk_token(struct walk *s, int32_t token, double *logits)
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
static double *walked(const struct gpt_weights *w, const int32_t *tokens, int64_t batch,
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

static double largest_error(const float *got, const double *want, int64_t nr)
{
    double worst = 0, squares = 0;

    for (int64_t i = 0; i < nr; i++) {
        double off = fabs((double)got[i] - want[i]);
        if (!(off <= worst)) /* NaN too */
            worst = off;
        squares += want[i] * want[i];
    }
    return worst / sqrt(squares / (double)nr);
}

/* The bound of models/gpt.c, for a configuration that is not in the registry. */
static double tolerance_of(const struct gpt_config *c)
{
    struct kernel k = { .config = c };
    struct shape s = { { 1, 1 } };

    return gpt_prefill_nano.tolerance(&k, &s, DTYPE_FP32, MATH_FP32);
}

static void make_tokens(int32_t *tokens, int64_t nr, int64_t vocab, uint64_t seed)
{
    struct random random;

    random_seed(&random, seed);
    for (int64_t i = 0; i < nr; i++)
        tokens[i] = (int32_t)random_below(&random, (uint64_t)vocab);
}

static float *poisoned(int64_t nr)
{
    float *x = malloc((size_t)nr * sizeof(*x));

    assert_non_null(x);
    for (int64_t i = 0; i < nr; i++)
        x[i] = NAN;
    return x;
}

static void check_prefill(const struct gpt_weights *w, int64_t batch, int64_t seq)
{
    const struct gpt_config *c = w->config;
    int64_t nr = batch * seq * c->vocab;
    int32_t tokens[3 * MAX_SEQ];
    struct gpt_forward f;
    struct error err;

    make_tokens(tokens, batch * seq, c->vocab, (uint64_t)(batch * 100 + seq));
    double *want = walked(w, tokens, batch, seq);
    for (size_t i = 0; i < NR(all_ops); i++)
        for (int threads = 1; threads <= 2; threads++) {
            float *got = poisoned(nr);
            assert_ok(gpt_forward_init(&f, c, w, all_ops[i], batch * seq, seq, threads, &err),
                      &err);
            gpt_prefill(&f, tokens, batch, seq, NULL, GPT_LOGITS_ALL, got);
            double error = largest_error(got, want, nr);
            if (!(error <= tolerance_of(c)))
                fail_msg("%s, %s, batch %d, seq %d, %d threads: error %g, allowed %g", c->name,
                         all_ops[i]->name, (int)batch, (int)seq, threads, error, tolerance_of(c));
            gpt_forward_release(&f);
            free(got);
        }
    free(want);
}

static void test_prefill(void **state)
{
    static const int64_t batches[] = { 1, 3 }, seqs[] = { 1, 17, 63, 65 };
    struct gpt_weights w;
    struct error err;

    (void)state;
    for (size_t i = 0; i < NR(configs); i++) {
        assert_ok(gpt_weights_init(&w, &configs[i], i == 1, &err), &err); /* "one" is tied */
        noisy_weights(&w, i);
        for (size_t b = 0; b < NR(batches); b++)
            for (size_t s = 0; s < NR(seqs); s++)
                check_prefill(&w, batches[b], seqs[s]);
        gpt_weights_release(&w);
    }
}

/* A batch of sequences on its way through a cache, and all its logits by one prefill. */
struct steps {
    const struct gpt_config *c;
    struct gpt_forward f;
    struct gpt_cache cache;
    int64_t batch, seq;
    int32_t tokens[3 * MAX_SEQ];
    float *all, *one; /* [batch, seq, V], [batch, V] */
};

static void steps_init(struct steps *s, const struct gpt_weights *w, const struct gpt_ops *ops,
                       int64_t batch, int64_t seq)
{
    struct error err;

    *s = (struct steps) { .c = w->config, .batch = batch, .seq = seq };
    s->all = poisoned(batch * seq * s->c->vocab);
    s->one = poisoned(batch * s->c->vocab);
    make_tokens(s->tokens, batch * seq, s->c->vocab, 3);
    assert_ok(gpt_forward_init(&s->f, s->c, w, ops, batch * seq, seq, 2, &err), &err);
    assert_ok(gpt_cache_init(&s->cache, s->c, batch, seq + 2, &err), &err);
    gpt_prefill(&s->f, s->tokens, batch, seq, NULL, GPT_LOGITS_ALL, s->all);
}

static void steps_release(struct steps *s)
{
    gpt_cache_release(&s->cache);
    gpt_forward_release(&s->f);
    free(s->all);
    free(s->one);
}

/* Tokens [from, to) of each sequence, densely. */
static void cut(const struct steps *s, int64_t from, int64_t to, int32_t *out)
{
    for (int64_t b = 0; b < s->batch; b++)
        for (int64_t t = from; t < to; t++)
            *out++ = s->tokens[b * s->seq + t];
}

/* The logits at position t against those of the whole prefill. */
static void check_position(const struct steps *s, int64_t t)
{
    int64_t vocab = s->c->vocab;
    double *want = malloc((size_t)vocab * sizeof(*want));

    assert_non_null(want);
    for (int64_t b = 0; b < s->batch; b++) {
        for (int64_t o = 0; o < vocab; o++)
            want[o] = (double)s->all[(b * s->seq + t) * vocab + o];
        double error = largest_error(s->one + b * vocab, want, vocab);
        if (!(error <= 1e-5))
            fail_msg("%s, %s, position %d of sequence %d: error %g", s->c->name, s->f.ops->name,
                     (int)t, (int)b, error);
    }
    free(want);
}

/* The first `prompt` tokens at once, then step by step: at every position the logits of a prefill
 * of all. */
static void check_decode(const struct gpt_weights *w, const struct gpt_ops *ops, int64_t batch,
                         int64_t seq, int64_t prompt)
{
    int32_t tokens[3 * MAX_SEQ];
    struct steps s;

    steps_init(&s, w, ops, batch, seq);
    if (prompt > 0) {
        cut(&s, 0, prompt, tokens);
        gpt_prefill(&s.f, tokens, batch, prompt, &s.cache, GPT_LOGITS_LAST, s.one);
        check_position(&s, prompt - 1);
    }
    for (int64_t t = prompt; t < seq; t++) {
        cut(&s, t, t + 1, tokens);
        gpt_decode(&s.f, tokens, batch, t, &s.cache, s.one);
        check_position(&s, t);
    }
    steps_release(&s);
}

static void test_decode(void **state)
{
    struct gpt_weights w;
    struct error err;

    (void)state;
    for (size_t i = 0; i < NR(configs); i++) {
        assert_ok(gpt_weights_init(&w, &configs[i], false, &err), &err);
        noisy_weights(&w, 40 + i);
        for (size_t o = 0; o < NR(all_ops); o++) {
            check_decode(&w, all_ops[o], 3, 19, 0);
            check_decode(&w, all_ops[o], 2, 21, 17);
            check_decode(&w, all_ops[o], 1, 66, 64);
        }
        gpt_weights_release(&w);
    }
}

/* GPT_LOGITS_LAST gives the last rows of GPT_LOGITS_ALL. */
static void test_last_logits(void **state)
{
    const struct gpt_config *c = &configs[0];
    int32_t tokens[3 * 7];
    struct gpt_weights w;
    struct gpt_forward f;
    struct error err;
    float *all = poisoned(3 * 7 * c->vocab), *last = poisoned(3 * c->vocab);

    (void)state;
    make_tokens(tokens, 3 * 7, c->vocab, 5);
    assert_ok(gpt_weights_init(&w, c, false, &err), &err);
    noisy_weights(&w, 9);
    assert_ok(gpt_forward_init(&f, c, &w, &gpt_ops_plain, 3 * 7, 7, 1, &err), &err);
    gpt_prefill(&f, tokens, 3, 7, NULL, GPT_LOGITS_ALL, all);
    gpt_prefill(&f, tokens, 3, 7, NULL, GPT_LOGITS_LAST, last);
    for (int64_t b = 0; b < 3; b++)
        assert_memory_equal(last + b * c->vocab, all + (b * 7 + 6) * c->vocab,
                            (size_t)c->vocab * sizeof(*all));
    gpt_forward_release(&f);
    gpt_weights_release(&w);
    free(all);
    free(last);
}

static void test_init_refuses(void **state)
{
    struct gpt_weights w;
    struct gpt_forward f;
    struct gpt_cache cache;
    struct error err;

    (void)state;
    assert_ok(gpt_weights_init(&w, &configs[0], false, &err), &err);
    noisy_weights(&w, 0);
    assert_int_equal(gpt_forward_init(&f, &configs[0], &w, &gpt_ops_simd, 71, 71, 1, &err), -1);
    assert_non_null(strstr(err.message, "seq 71 is beyond the block size 70"));
    gpt_forward_release(&f);
    assert_int_equal(gpt_forward_init(&f, &configs[0], &w, &gpt_ops_simd, 0, 1, 1, &err), -1);
    gpt_forward_release(&f);
    assert_int_equal(
        gpt_forward_init(&f, &configs[0], &w, &gpt_ops_simd, INT64_C(1) << 60, 64, 1, &err), -1);
    assert_non_null(strstr(err.message, "too many to address"));
    gpt_forward_release(&f);
    assert_int_equal(gpt_cache_init(&cache, &configs[0], INT64_C(1) << 40, INT64_C(1) << 40, &err),
                     -1);
    gpt_weights_release(&w);
}

/* A benchmark's tensors on the host, filled for a test. */
struct bench {
    struct tensor t[TENSOR_MAX];
    int nr;
};

static void bench_init(struct bench *b, const struct kernel *k, const struct shape *s)
{
    const struct gpt_config *c = k->config;
    struct random random;

    random_seed(&random, 77);
    b->nr = k->layout(k, s, DTYPE_FP32, b->t);
    for (int i = 0; i < b->nr; i++) {
        struct tensor *t = &b->t[i];
        t->data = malloc((size_t)tensor_bytes(t));
        assert_non_null(t->data);
        if (t->fill == FILL_KERNEL)
            noisy_weights(&(struct gpt_weights) { .config = c, .data = t->data }, 11);
        else if (t->fill == FILL_TOKENS)
            make_tokens(t->data, tensor_elements(t), t->limit, 12);
        else
            for (int64_t e = 0; e < tensor_elements(t); e++)
                tensor_set(t, e, t->role == TENSOR_OUT ? NAN : t->scale * random_normal(&random));
    }
}

static void bench_release(struct bench *b)
{
    for (int i = 0; i < b->nr; i++)
        free(b->t[i].data);
}

/* The oracle of the prefill against the walk, for rows in any order. */
static void test_prefill_oracle(void **state)
{
    static const int64_t rows[] = { 16, 3, 50, 17, 34, 0 };

    (void)state;
    for (size_t i = 0; i < NR(configs); i++) {
        const struct gpt_config *c = &configs[i];
        struct kernel k = gpt_prefill_nano;
        struct shape s = { { 3, 17 } };
        struct bench b;
        double got[NR(rows) * 257];

        k.config = c;
        bench_init(&b, &k, &s);
        struct gpt_weights w = { .config = c, .data = b.t[GPT_PREFILL_PARAMS].data };
        double *want = walked(&w, b.t[GPT_PREFILL_TOKENS].data, 3, 17);
        k.oracle(&k, &s, b.t, GPT_PREFILL_LOGITS, rows, NR(rows), got);
        for (size_t r = 0; r < NR(rows); r++)
            for (int64_t o = 0; o < c->vocab; o++)
                assert_close(got[(int64_t)r * c->vocab + o], want[rows[r] * c->vocab + o], 1e-12);
        free(want);
        bench_release(&b);
    }
}

/* The oracle of a decode step against the walk, whose past is read from the cache tensors. */
static void test_decode_oracle(void **state)
{
    enum { BATCH = 2, SEQ = 19 };
    static const int64_t rows[] = { 1, 0 };

    (void)state;
    for (size_t i = 0; i < NR(configs); i++) {
        const struct gpt_config *c = &configs[i];
        struct kernel k = gpt_decode_nano;
        struct shape s = { { BATCH, SEQ } };
        struct bench b;
        double got[2 * 257], want[257];
        struct walk *walk = malloc(sizeof(*walk));

        assert_non_null(walk);
        k.config = c;
        bench_init(&b, &k, &s);
        k.oracle(&k, &s, b.t, GPT_DECODE_LOGITS, rows, 2, got);
        struct gpt_weights w = { .config = c, .data = b.t[GPT_DECODE_PARAMS].data };
        for (int r = 0; r < 2; r++) {
            *walk = (struct walk) { .w = &w, .position = SEQ - 1 };
            for (int64_t layer = 0; layer < c->layers; layer++)
                for (int64_t p = 0; p < SEQ - 1; p++)
                    for (int64_t e = 0; e < c->width; e++) {
                        int64_t at = ((layer * BATCH + rows[r]) * SEQ + p) * c->width + e;
                        walk->k[layer][p][e] = tensor_get(&b.t[GPT_DECODE_K], at);
                        walk->v[layer][p][e] = tensor_get(&b.t[GPT_DECODE_V], at);
                    }
            walk_token(walk, ((int32_t *)b.t[GPT_DECODE_TOKENS].data)[rows[r]], want);
            for (int64_t o = 0; o < c->vocab; o++)
                assert_close(got[r * c->vocab + o], want[o], 1e-12);
        }
        free(walk);
        bench_release(&b);
    }
}

/* Some rows that the oracle was asked for. */
struct expectation {
    int64_t rows[3];
    double *logits; /* [3, V] */
};

/* A variant through prepare, launch twice (the second must not depend on the first) and release,
 * against the oracle. */
static void check_variant(const struct variant *v, const struct shape *s, const struct bench *b,
                          const struct expectation *want)
{
    const struct kernel *k = v->kernel;
    const struct tensor *out = &b->t[b->nr - 1];
    struct device device = { .kind = DEVICE_CPU, .threads = 2 };
    struct call call = { .variant = v, .kernel = k, .shape = *s, .device = &device };
    int64_t cols = tensor_cols(out);
    struct error err;

    memcpy(call.tensor, b->t, sizeof(call.tensor));
    call.nr_tensors = b->nr;
    memset(out->data, 0xff, (size_t)tensor_bytes(out)); /* NaN */
    assert_ok(v->prepare(&call, &err), &err);
    v->launch(&call);
    v->launch(&call);
    v->release(&call);
    assert_null(call.state);
    for (int r = 0; r < 3; r++) {
        const float *row = (const float *)out->data + want->rows[r] * cols;
        double error = largest_error(row, want->logits + r * cols, cols);
        if (!(error <= k->tolerance(k, s, DTYPE_FP32, MATH_FP32)))
            fail_msg("%s %s: row %d is off by %g", k->name, v->name, (int)want->rows[r], error);
    }
}

static void test_variants(void **state)
{
    static const struct kernel *const kernels[] = { &gpt_prefill_nano, &gpt_decode_nano };
    static const char *const variants[] = { "plain", "simd", "openblas" };
    struct shape s = { { 3, 17 } };
    struct bench b;

    (void)state;
    for (size_t i = 0; i < NR(kernels); i++) {
        const struct kernel *k = kernels[i];
        bench_init(&b, k, &s);
        int64_t rows = tensor_rows(&b.t[b.nr - 1]), cols = tensor_cols(&b.t[b.nr - 1]);
        struct expectation want = { .rows = { 0, rows / 2, rows - 1 } };
        want.logits = malloc(3 * (size_t)cols * sizeof(*want.logits));
        assert_non_null(want.logits);
        k->oracle(k, &s, b.t, b.nr - 1, want.rows, 3, want.logits);
        for (size_t j = 0; j < NR(variants); j++) {
            const struct variant *v = registry_variant(registry_builtin(), k->name, variants[j]);
            if (v)
                check_variant(v, &s, &b, &want);
            else
                assert_string_equal(variants[j], "openblas"); /* the only one that may lack */
        }
        free(want.logits);
        bench_release(&b);
    }
}

/* What the registry says of the kernels. */
static void test_kernels(void **state)
{
    size_t nr = 0;
    struct tensor t[TENSOR_MAX];

    (void)state;
    for (const struct kernel *const *k = gpt_kernels; *k; k++, nr++) {
        const struct gpt_config *c = (*k)->config;
        struct shape s = (*k)->shapes[0], beyond = { { 1, c->block + 1 } };
        char name[64];
        snprintf(name, sizeof(name), "gpt/%s/%s", c->name, nr % 2 ? "decode" : "prefill");
        assert_string_equal((*k)->name, name);
        assert_null((*k)->refuses(*k, &s));
        const char *why = (*k)->refuses(*k, &beyond);
        assert_non_null(why);
        snprintf(name, sizeof(name), "beyond the block size %d of %s", (int)c->block, c->name);
        assert_non_null(strstr(why, name));
        assert_int_equal((*k)->layout(*k, &s, DTYPE_FP32, t), nr % 2 ? GPT_DECODE_NR : 3);
        /* The compulsory bytes are at most those of all tensors. */
        struct work work = (*k)->work(*k, &s, DTYPE_FP32);
        assert_true(work.bytes <= (double)kernel_footprint(*k, &s, DTYPE_FP32));
        assert_true(work.bytes > 4 * (double)c->vocab * (double)c->width);
    }
    assert_int_equal(nr, 14);
    /* nano, B = 4, S = 64, by hand: 24 C^2 L M + 4 C L B S(S+1)/2 + 2 M C V. */
    struct shape s = { { 4, 64 } };
    assert_close(gpt_prefill_nano.work(&gpt_prefill_nano, &s, DTYPE_FP32).flops,
                 256.0 * 24 * 48 * 48 * 3 + 4 * 48 * 3 * 4 * 2080.0 + 2.0 * 256 * 48 * 50257, 1);
    /* and its bytes: tokens, weights without the untouched rows of the embeddings, logits. */
    assert_close(gpt_prefill_nano.work(&gpt_prefill_nano, &s, DTYPE_FP32).bytes,
                 4 * (256 + 3 * (12 * 48 * 48 + 13 * 48) + 96 + 50257.0 * 48 + 256 * 48 + 64 * 48 +
                      256.0 * 50257),
                 1);
}

/* Greedy generation by the cache is what the largest logit of repeated whole prefills says, past
 * the block size too, where the context is cropped. */
static void check_generate(uint64_t seed, int64_t prompt_length, int64_t nr)
{
    struct gpt_model m = { .config = &configs[0] };
    struct gpt_sampling greedy = { .temperature = 0 };
    int32_t context[160], out[160];
    struct gpt_tokens prompt = { .ids = context, .batch = 1, .seq = prompt_length };
    int64_t vocab = m.config->vocab, block = m.config->block;
    struct gpt_forward f;
    struct error err;
    float *logits = poisoned(vocab), *scratch = poisoned(vocab);

    assert_ok(gpt_weights_init(&m.weights, m.config, false, &err), &err);
    noisy_weights(&m.weights, seed);
    make_tokens(context, prompt_length, vocab, seed);
    assert_int_equal(
        gpt_generate(&m, &gpt_ops_simd, 2, &prompt, &greedy, nr, out, NULL, NULL, &err), nr);
    assert_ok(gpt_forward_init(&f, m.config, &m.weights, &gpt_ops_simd, block, block, 2, &err),
              &err);
    for (int64_t i = 0; i < nr; i++) {
        int64_t length = prompt_length + i, seq = length < block ? length : block;
        gpt_prefill(&f, context + length - seq, 1, seq, NULL, GPT_LOGITS_LAST, logits);
        context[length] = gpt_sample(logits, vocab, &greedy, NULL, scratch);
        assert_int_equal(out[i], context[length]);
    }
    gpt_forward_release(&f);
    gpt_weights_release(&m.weights);
    free(logits);
    free(scratch);
}

static void test_generate(void **state)
{
    (void)state;
    check_generate(21, 5, 90);
    check_generate(22, 1, 1);
    check_generate(23, 70, 3); /* a full block from the start */
    for (uint64_t seed = 24; seed < 40; seed++)
        check_generate(seed, 66, 8); /* over the edge */
}

static int stop_at_third(int32_t token, void *context)
{
    int *nr = context;

    (void)token;
    return ++*nr == 3;
}

static void test_generate_seeded(void **state)
{
    struct gpt_model m = { .config = &configs[2] };
    int32_t ids[4] = { 1, 2, 3, 4 }, a[20], b[20], c[20];
    struct gpt_tokens prompt = { .ids = ids, .batch = 1, .seq = 4 };
    struct gpt_sampling s = { .temperature = 1, .top_k = 50, .seed = 1 };
    struct error err;
    int nr = 0;

    (void)state;
    assert_ok(gpt_weights_init(&m.weights, m.config, false, &err), &err);
    noisy_weights(&m.weights, 31);
    assert_int_equal(gpt_generate(&m, &gpt_ops_simd, 1, &prompt, &s, 20, a, NULL, NULL, &err), 20);
    assert_int_equal(gpt_generate(&m, &gpt_ops_simd, 1, &prompt, &s, 20, b, NULL, NULL, &err), 20);
    assert_memory_equal(a, b, sizeof(a));
    s.seed = 2;
    assert_int_equal(gpt_generate(&m, &gpt_ops_simd, 1, &prompt, &s, 20, c, NULL, NULL, &err), 20);
    assert_memory_not_equal(a, c, sizeof(a));
    assert_int_equal(
        gpt_generate(&m, &gpt_ops_simd, 1, &prompt, &s, 20, b, stop_at_third, &nr, &err), 3);
    assert_memory_equal(b, c, 3 * sizeof(*b));
    prompt.batch = 2;
    assert_int_equal(gpt_generate(&m, &gpt_ops_simd, 1, &prompt, &s, 1, a, NULL, NULL, &err), -1);
    prompt.batch = 1;
    s.temperature = -1;
    assert_int_equal(gpt_generate(&m, &gpt_ops_simd, 1, &prompt, &s, 1, a, NULL, NULL, &err), -1);
    gpt_weights_release(&m.weights);
}

/* Frequencies of 20,000 draws against softmax(logits / T) over the k largest. */
static void test_sample(void **state)
{
    enum { VOCAB = 7, DRAWS = 20000 };
    static const float logits[VOCAB] = { 0.5F, -1, 2, 0.5F, 1, -3, 0.5F };
    struct gpt_sampling s = { .temperature = 0.7, .top_k = 4 };
    struct random random;
    float scratch[VOCAB];
    int seen[VOCAB] = { 0 };
    double want[VOCAB] = { 0 }, sum = 0;

    (void)state;
    random_seed(&random, 5);
    for (int i = 0; i < DRAWS; i++)
        seen[gpt_sample(logits, VOCAB, &s, &random, scratch)]++;
    /* The four largest: 2, 4 and of the three equal ones the lowest two. */
    static const int in[] = { 0, 2, 3, 4 };
    for (int i = 0; i < 4; i++)
        sum += want[in[i]] = exp((double)logits[in[i]] / s.temperature);
    for (int i = 0; i < VOCAB; i++) {
        double p = want[i] / sum;
        /* Five standard deviations of a binomial share. */
        assert_close((double)seen[i] / DRAWS, p, 5 * sqrt(p * (1 - p) / DRAWS));
    }
    s.temperature = 0;
    assert_int_equal(gpt_sample(logits, VOCAB, &s, NULL, scratch), 2);
    s = (struct gpt_sampling) { .temperature = 1, .top_k = 1 };
    assert_int_equal(gpt_sample(logits, VOCAB, &s, &random, scratch), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prefill),        cmocka_unit_test(test_decode),
        cmocka_unit_test(test_last_logits),    cmocka_unit_test(test_init_refuses),
        cmocka_unit_test(test_prefill_oracle), cmocka_unit_test(test_decode_oracle),
        cmocka_unit_test(test_variants),       cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_generate),       cmocka_unit_test(test_generate_seeded),
        cmocka_unit_test(test_sample),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
