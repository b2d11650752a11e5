/* SPDX-License-Identifier: MIT */
/* Covers U-03, S0-01: the GPTs as kernels. Their oracles against the definition, their variants
 * through the callbacks, and what the registry says of them. */
#include "gpt_walk.h"

#include "core/record.h"
#include "models/generation/generation.h"

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
TEST(test_prefill_oracle)
{
    static const int64_t rows[] = { 16, 3, 50, 17, 34, 0 };

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
TEST(test_decode_oracle)
{
    enum { BATCH = 2, SEQ = 19 };
    static const int64_t rows[] = { 1, 0 };

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

/* The oracle of generation against the walk over prompt and what was chosen: each token is the
 * largest logit at the position before it. */
TEST(test_generate_oracle)
{
    enum { BATCH = 2, SEQ = 7, NEW = 4, LENGTH = SEQ + NEW };
    static const int64_t rows[] = { 1, 0 };

    for (size_t i = 0; i < NR(configs); i++) {
        const struct gpt_config *c = &configs[i];
        struct kernel k = gpt_generate_nano;
        struct shape s = { { BATCH, SEQ, NEW } };
        struct bench b;
        double chosen[2 * NEW], last[2 * 257];

        k.config = c;
        bench_init(&b, &k, &s);
        struct gpt_weights w = { .config = c, .data = b.t[GPT_GENERATE_PARAMS].data };
        k.oracle(&k, &s, b.t, GPT_GENERATE_CHOSEN, rows, 2, chosen);
        k.oracle(&k, &s, b.t, GPT_GENERATE_LOGITS, rows, 2, last);
        for (int r = 0; r < 2; r++) {
            int32_t tokens[LENGTH];
            memcpy(tokens, (int32_t *)b.t[GPT_GENERATE_TOKENS].data + rows[r] * SEQ,
                   SEQ * sizeof(*tokens));
            for (int j = 0; j < NEW; j++)
                tokens[SEQ + j] = (int32_t)chosen[r * NEW + j];
            double *want = walked(&w, tokens, 1, LENGTH - 1);
            for (int j = 0; j < NEW; j++) {
                const double *logits = want + (SEQ - 1 + j) * c->vocab;
                for (int64_t o = 0; o < c->vocab; o++)
                    assert_true(logits[o] <= logits[tokens[SEQ + j]]);
            }
            for (int64_t o = 0; o < c->vocab; o++)
                assert_close(last[r * c->vocab + o], want[(LENGTH - 2) * c->vocab + o], 1e-12);
            free(want);
        }
        bench_release(&b);
    }
}

/* What a launch of generation tells beside its time. */
static void check_token_times(const struct call *call, const struct variant *v)
{
    static const char *const names[] = { "first_token_ns", "second_token_ns", "further_token_ns" };
    struct measurement m = { .nr_samples = 2, .batch = 1 };

    if (!v->facts)
        return;
    v->facts(call, &m);
    for (size_t i = 0; i < NR(names); i++)
        assert_true(measurement_telemetry(&m, names[i]) > 0);
    measurement_release(&m);
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
    check_token_times(&call, v);
    v->release(&call);
    assert_null(call.state);
    for (int r = 0; r < 3; r++) {
        const float *row = (const float *)out->data + want->rows[r] * cols;
        double error = largest_error(row, want->logits + r * cols, cols);
        if (!(error <= k->tolerance(k, s, DTYPE_FP32, MATH_FP32)))
            fail_msg("%s %s: row %d is off by %g", k->name, v->name, (int)want->rows[r], error);
    }
}

TEST(test_variants)
{
    static const struct kernel *const kernels[] = { &gpt_prefill_nano, &gpt_decode_nano,
                                                    &gpt_generate_nano };
    static const char *const variants[] = { "plain", "simd", "openblas" };
    struct shape s = { { 3, 17, 5 } };
    struct bench b;

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

/* The largest difference of two rows, in rms of the first. */
static double largest_difference(const double *a, const double *b, int64_t n)
{
    double most = 0, squares = 0;

    for (int64_t i = 0; i < n; i++) {
        most = fmax(most, fabs(a[i] - b[i]));
        squares += a[i] * a[i];
    }
    return most / sqrt(squares / (double)n);
}

/* As the kernels fill their parameters: whoever gets a tenth of a bias or a gain wrong is told. */
TEST(test_each_vector_stands_out)
{
    const struct kernel *k = &gpt_prefill_nano;
    const struct shape s = { { 1, 5 } };
    const int64_t last = 4;
    struct bench b;

    bench_init(&b, k, &s);
    struct tensor *params = &b.t[GPT_PREFILL_PARAMS];
    struct gpt_weights w = { .config = k->config, .data = params->data };
    int64_t vocab = w.config->vocab;
    double *right = malloc(2 * (size_t)vocab * sizeof(*right)), *wrong = right + vocab;
    k->fill(k, &s, params, 3);
    k->oracle(k, &s, b.t, GPT_PREFILL_LOGITS, &last, 1, right);
    for (int i = 0; i < GPT_TENSOR_NR; i++) {
        enum gpt_tensor which = (enum gpt_tensor)i;
        int64_t rows, cols, layers = gpt_weight_in_layer(which) ? w.config->layers : 1;
        gpt_weight_extents(w.config, which, &rows, &cols);
        for (int64_t layer = 0; cols == 0 && layer < layers; layer++) {
            float *vector = gpt_weight(&w, which, layer);
            for (int64_t j = 0; j < rows; j++)
                vector[j] *= 0.9F;
            k->oracle(k, &s, b.t, GPT_PREFILL_LOGITS, &last, 1, wrong);
            double error = largest_difference(right, wrong, vocab);
            char name[GPT_NAME_SIZE];
            if (!(error > 10 * k->tolerance(k, &s, DTYPE_FP32, MATH_FP32)))
                fail_msg("%s: %g", gpt_weight_name(which, layer, name), error);
            for (int64_t j = 0; j < rows; j++)
                vector[j] /= 0.9F;
        }
    }
    free(right);
    bench_release(&b);
}

/* What they tell that they take beside their tensors, in bytes a parameter: packed weights, of
 * bfloat16 the parameters as floats twice. */
TEST(test_workspaces)
{
    static const struct {
        const char *kernel, *variant;
        double least, most;
    } rows[] = {
        { "gpt/gpt2/prefill", "simd", 2.5, 4 },      { "gpt/gpt2/decode", "simd", 2.5, 4 },
        { "gpt/gpt2/generate", "simd", 2.5, 4 },     { "gpt/gpt2/prefill", "simd_bf16", 9, 10.5 },
        { "gpt/gpt2/decode", "simd_bf16", 9, 10.5 }, { "gpt/gpt2/decode", "simd_int8", 0.5, 2 },
        { "gpt/gpt2/decode", "plain", 0, 0.1 },
    };

    for (size_t i = 0; i < NR(rows); i++) {
        const struct kernel *k = registry_kernel(registry_builtin(), rows[i].kernel);
        const struct variant *v = registry_variant(registry_builtin(), k->name, rows[i].variant);
        struct call call = { .variant = v, .kernel = k, .shape = { { 1, 64, 16 } } };
        call.nr_tensors = k->layout(k, &call.shape, v->dtype, call.tensor);
        assert_non_null(v->workspace);
        double each =
            (double)v->workspace(&call) / (double)tensor_elements(&call.tensor[GPT_PREFILL_PARAMS]);
        if (!(each >= rows[i].least && each <= rows[i].most))
            fail_msg("%s %s: %g bytes a parameter", k->name, v->name, each);
    }
}

/* What the registry says of the kernels. */
TEST(test_kernels)
{
    size_t nr = 0;
    struct tensor t[TENSOR_MAX];

    for (const struct kernel *const *k = gpt_kernels; *k && !(*k)->dims[2]; k++, nr++) {
        const struct gpt_config *c = (*k)->config;
        struct shape s = (*k)->shapes[0], beyond = { { 1, c->block + 1 } };
        char name[64];
        snprintf(name, sizeof(name), "gpt/%s/%s", c->name, nr % 2 ? "decode" : "prefill");
        assert_string_equal((*k)->name, name);
        assert_string_equal((*k)->model, c->name);
        assert_close((*k)->tokens(*k, &(struct shape) { { 4, 64 } }), nr % 2 ? 4 : 256, 0);
        assert_null((*k)->refuses(*k, &s));
        const char *why = (*k)->refuses(*k, &beyond);
        assert_non_null(why);
        snprintf(name, sizeof(name), "beyond the block size %d of %s", (int)c->block, c->name);
        assert_non_null(strstr(why, name));
        assert_int_equal((*k)->layout(*k, &s, DTYPE_FP32, t), nr % 2 ? GPT_DECODE_NR : 3);
        /* The compulsory bytes are at most those of all tensors. */
        struct work work = (*k)->work(*k, &s, DTYPE_FP32, MATH_FP32);
        assert_true(work.bytes <= (double)kernel_footprint(*k, &s, DTYPE_FP32));
        assert_true(work.bytes > 4 * (double)c->vocab * (double)c->width);
    }
    assert_int_equal(nr, 14);
    for (const struct kernel *const *k = gpt_kernels + nr; *k; k++, nr++) {
        const struct gpt_config *c = (*k)->config;
        struct shape s = (*k)->shapes[0], beyond = { { 1, c->block - 2, 4 } };
        assert_close((*k)->tokens(*k, &(struct shape) { { 4, 64, 8 } }), 32, 0);
        assert_null((*k)->refuses(*k, &s));
        assert_non_null(strstr((*k)->refuses(*k, &beyond), "beyond the block size"));
        assert_int_equal((*k)->layout(*k, &s, DTYPE_FP32, t), GPT_GENERATE_NR);
        struct work work = (*k)->work(*k, &s, DTYPE_FP32, MATH_FP32);
        assert_true(work.bytes <= (double)kernel_footprint(*k, &s, DTYPE_FP32));
        assert_true(work.bytes > 4 * (double)c->vocab * (double)c->width);
    }
    assert_int_equal(nr, 21);
    /* One token of a prompt of one is a prefill of one; each further one a decode step. */
    struct shape one = { { 1, 1, 1 } }, three = { { 2, 1, 3 } };
    double flops = gpt_prefill_nano.work(&gpt_prefill_nano, &one, DTYPE_FP32, MATH_FP32).flops;
    assert_close(gpt_generate_nano.work(&gpt_generate_nano, &one, DTYPE_FP32, MATH_FP32).flops,
                 flops, 1);
    for (int64_t seq = 2; seq <= 3; seq++)
        flops += gpt_decode_nano
                     .work(&gpt_decode_nano, &(struct shape) { { 1, seq } }, DTYPE_FP32, MATH_FP32)
                     .flops;
    assert_close(gpt_generate_nano.work(&gpt_generate_nano, &three, DTYPE_FP32, MATH_FP32).flops,
                 2 * flops, 1);
    /* nano, B = 4, S = 64, by hand: 24 C^2 L M + 4 C L B S(S+1)/2 + 2 M C V. */
    struct shape s = { { 4, 64 } };
    assert_close(gpt_prefill_nano.work(&gpt_prefill_nano, &s, DTYPE_FP32, MATH_FP32).flops,
                 256.0 * 24 * 48 * 48 * 3 + 4 * 48 * 3 * 4 * 2080.0 + 2.0 * 256 * 48 * 50257, 1);
    /* and its bytes: tokens, weights without the untouched rows of the embeddings, logits. */
    assert_close(gpt_prefill_nano.work(&gpt_prefill_nano, &s, DTYPE_FP32, MATH_FP32).bytes,
                 4 * (256 + 3 * (12 * 48 * 48 + 13 * 48) + 96 + 50257.0 * 48 + 256 * 48 + 64 * 48 +
                      256.0 * 50257),
                 1);
}

RUN_TESTS(NULL, NULL)
