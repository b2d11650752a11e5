/* SPDX-License-Identifier: MIT */
/*
 * Covers S0-01 (the six configurations): the table, what is counted from it, names and shapes of
 * the tensors, minGPT's initialisation, and token files.
 */
#include "gpt_testing.h"

#include "models/gpt_tokens.h"

#include <omp.h>

static const struct gpt_config small = {
    .name = "small", .layers = 3, .heads = 2, .width = 10, .block = 7, .vocab = 4099
};

TEST(test_table)
{
    /* Counted by hand from the layer formula, see reference in the header. */
    static const struct {
        const char *name;
        int64_t body, with_head;
    } cases[] = {
        { "nano", 2503392, 4915728 },         { "micro", 7259008, 13691904 },
        { "mini", 12368064, 22017408 },       { "tile-small", 3424704, 6641152 },
        { "tile-medium", 7655552, 14088448 }, { "tile-large", 19315456, 32181248 },
        { "gpt2", 124439808, 163037184 },
    };
    struct error err;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct gpt_config *c = gpt_config_find(cases[i].name, &err);
        assert_non_null(c);
        assert_ok(gpt_config_check(c, &err), &err);
        assert_int_equal(gpt_config_parameters(c), cases[i].body);
        assert_int_equal(gpt_weights_count(c, true), cases[i].body);
        assert_int_equal(gpt_weights_count(c, false), cases[i].with_head);
        /* The table of tensors adds up to the same. */
        int64_t sum = 0;
        for (int t = 0; t < GPT_TENSOR_NR; t++)
            sum += gpt_weight_elements(c, (enum gpt_tensor)t) *
                   (gpt_weight_in_layer((enum gpt_tensor)t) ? c->layers : 1);
        assert_int_equal(sum, cases[i].with_head);
    }
}

TEST(test_flops)
{
    struct error err;
    const struct gpt_config *nano = gpt_config_find("nano", &err);
    double width = 48, layers = 3;

    /* S = 64: 65/2 pairs a token; c_attn, c_proj, c_fc, c_proj are 3 + 1 + 4 + 4 C^2 of 2 FLOPs. */
    assert_close(gpt_config_flops_per_token(nano, 64),
                 layers * (2 * 12 * width * width + 4 * width * 32.5) + 2 * width * 50257, 0.5);
}

TEST(test_find)
{
    struct error err;

    assert_null(gpt_config_find("tile-larg", &err));
    assert_non_null(strstr(err.message, "did you mean \"tile-large\"?"));
    assert_null(gpt_config_find("zzzzzzzz", &err));
    assert_null(strstr(err.message, "did you mean"));
    assert_non_null(strstr(err.message,
                           "nano, micro, mini, tile-small, tile-medium, tile-large, "
                           "gpt2"));
}

TEST(test_check)
{
    static const struct gpt_config bad[] = {
        { .name = "a", .layers = 0, .heads = 1, .width = 8, .block = 1, .vocab = 1 },
        { .name = "b", .layers = 1, .heads = 3, .width = 8, .block = 1, .vocab = 1 },
        { .name = "c", .layers = 1, .heads = 1, .width = 8, .block = 1, .vocab = INT64_MAX / 2 },
        { .name = "d", .layers = 1, .heads = 1, .width = INT64_C(1) << 40, .block = 1, .vocab = 9 },
        { .name = "e", .layers = INT64_C(1) << 60, .heads = 1, .width = 8, .block = 1, .vocab = 9 },
        { .name = "f", .layers = 1, .heads = 1, .width = 8, .block = INT64_C(1) << 61, .vocab = 9 },
    };
    struct gpt_weights w;
    struct error err;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(gpt_config_check(&bad[i], &err), -1);
        assert_int_equal(gpt_weights_init(&w, &bad[i], false, &err), -1);
        assert_null(w.data);
    }
}

TEST(test_carving)
{
    struct gpt_weights w;
    struct error err;
    char name[GPT_NAME_SIZE];
    float *next;

    assert_ok(gpt_weights_init(&w, &small, false, &err), &err);
    next = w.data;
    /* In order, without gaps: two embeddings, layers, last norm, head. */
    for (int64_t layer = -1; layer <= small.layers; layer++)
        for (int i = 0; i < GPT_TENSOR_NR; i++) {
            enum gpt_tensor which = (enum gpt_tensor)i;
            bool here = gpt_weight_in_layer(which)
                            ? layer >= 0 && layer < small.layers
                            : layer == (which < GPT_LN_1_WEIGHT ? -1 : small.layers);
            if (!here)
                continue;
            assert_ptr_equal(gpt_weight(&w, which, layer), next);
            next += gpt_weight_elements(&small, which);
        }
    assert_int_equal(next - w.data, gpt_weights_count(&small, false));
    assert_string_equal(gpt_weight_name(GPT_ATTN_WEIGHT, 11, name), "h.11.attn.c_attn.weight");
    assert_string_equal(gpt_weight_name(GPT_LN_F_BIAS, 0, name), "ln_f.bias");
    gpt_weights_release(&w);
}

static double spread(const struct gpt_weights *w, enum gpt_tensor which, int64_t layer,
                     double *mean)
{
    const float *data = gpt_weight(w, which, layer);
    int64_t nr = gpt_weight_elements(w->config, which);
    double sum = 0, squares = 0;

    for (int64_t i = 0; i < nr; i++) {
        sum += (double)data[i];
        squares += (double)data[i] * (double)data[i];
    }
    *mean = sum / (double)nr;
    return sqrt(squares / (double)nr);
}

TEST(test_seed_distribution)
{
    /* 40,990 draws: the standard error of the sd is 0.35 %, of the mean 0.0001; 400 draws: 3.5 %.
     */
    static const struct {
        enum gpt_tensor which;
        double rms, mean, rms_tolerance, mean_tolerance;
    } cases[] = {
        { GPT_WTE, 0.02, 0, 0.0004, 0.0006 },
        { GPT_LM_HEAD, 0.02, 0, 0.0004, 0.0006 },
        { GPT_FC_PROJ_WEIGHT, 0.02 / 2.4494897, 0, 0.0015, 0.003 }, /* sqrt(2 * 3 layers) */
        { GPT_LN_1_WEIGHT, 1, 1, 0, 0 },
        { GPT_FC_BIAS, 0, 0, 0, 0 },
    };
    struct gpt_weights w;
    struct error err;
    double mean;

    assert_ok(gpt_weights_init(&w, &small, false, &err), &err);
    gpt_weights_seed(&w, 7);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_close(spread(&w, cases[i].which, 0, &mean), cases[i].rms, cases[i].rms_tolerance);
        assert_close(mean, cases[i].mean, cases[i].mean_tolerance);
    }
    /* Every tensor has numbers of its own. */
    assert_memory_not_equal(gpt_weight(&w, GPT_WTE, 0), gpt_weight(&w, GPT_LM_HEAD, 0), 400);
    assert_memory_not_equal(gpt_weight(&w, GPT_FC_WEIGHT, 0), gpt_weight(&w, GPT_FC_WEIGHT, 1),
                            400);
    gpt_weights_release(&w);
}

/* What a benchmark has in place of zeros and ones; matrices stay. */
TEST(test_spread)
{
    static const struct {
        enum gpt_tensor which;
        double rms, tolerance;
    } cases[] = {
        { GPT_LN_1_WEIGHT, 1.03, 0.15 },
        { GPT_LN_F_BIAS, 0.25, 0.1 },
        { GPT_FC_BIAS, 0.01 * 3.1622777, 0.01 },                  /* 0.02 / 2 * sqrt(10 inputs) */
        { GPT_FC_PROJ_BIAS, 0.01 * 6.3245553 / 2.4494897, 0.02 }, /* 40; sqrt(2 * 3 layers) */
        { GPT_FC_PROJ_WEIGHT, 0.02 / 2.4494897, 0.0015 },
    };
    struct gpt_weights w;
    struct error err;
    double mean;

    assert_ok(gpt_weights_init(&w, &small, false, &err), &err);
    gpt_weights_seed(&w, 7);
    gpt_weights_spread(&w, 7);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_close(spread(&w, cases[i].which, 0, &mean), cases[i].rms, cases[i].tolerance);
    assert_memory_not_equal(gpt_weight(&w, GPT_FC_BIAS, 0), gpt_weight(&w, GPT_FC_BIAS, 1), 40);
    gpt_weights_release(&w);
}

static uint64_t seeded(uint64_t seed, int threads)
{
    struct gpt_weights w;
    struct error err;

    omp_set_num_threads(threads);
    assert_ok(gpt_weights_init(&w, &small, false, &err), &err);
    gpt_weights_seed(&w, seed);
    uint64_t hash = hash_weights(&w);
    gpt_weights_release(&w);
    return hash;
}

TEST(test_seed_reproducible)
{
    assert_int_equal(seeded(7, 1), seeded(7, 3));
    assert_int_not_equal(seeded(7, 1), seeded(8, 1));
    /* Weights named by a seed must stay what they are from release to release. */
    assert_int_equal(seeded(7, 2), 0x169f19672ee924fdU);
}

static const struct bad_tokens {
    const char *text, *message;
} bad_tokens[] = {
    { "", "not valid JSON" },
    { "{}", "expected a JSON array" },
    { "[]", "expected a JSON array" },
    { "[[]]", "no tokens" },
    { "[1,2,\"x\"]", "token 2 of sequence 0 is not a whole number" },
    { "[1,1.5]", "not a whole number" },
    { "[1,null]", "not a whole number" },
    { "[0,-1]", "is -1, not in 0..4098" },
    { "[4099]", "is 4099, not in 0..4098 (small)" },
    { "[1e300]", "not in 0..4098" },
    { "[[1,2],[3]]", "sequence 1 has 1 tokens, the first one 2" },
    { "[[1],2]", "element 1 is neither" },
    { "[1,2,3,4,5,6,7,8]", "8 tokens are beyond the block size 7 of small" },
};

TEST(test_tokens)
{
    struct gpt_tokens t;
    struct error err;

    assert_ok(gpt_tokens_parse(&t, &small, "[1, 2, 4098]", 12, "t.json", &err), &err);
    assert_int_equal(t.batch, 1);
    assert_int_equal(t.seq, 3);
    assert_int_equal(t.ids[2], 4098);
    gpt_tokens_release(&t);
    assert_ok(gpt_tokens_parse(&t, &small, "[[1,2],[3,4],[5,6]]", 19, "t.json", &err), &err);
    assert_int_equal(t.batch, 3);
    assert_int_equal(t.seq, 2);
    for (int i = 0; i < 6; i++)
        assert_int_equal(t.ids[i], i + 1);
    gpt_tokens_release(&t);
    for (size_t i = 0; i < sizeof(bad_tokens) / sizeof(bad_tokens[0]); i++) {
        const struct bad_tokens *bad = &bad_tokens[i];
        assert_int_equal(gpt_tokens_parse(&t, &small, bad->text, strlen(bad->text), "t.json", &err),
                         -1);
        if (!strstr(err.message, bad->message) || !strstr(err.message, "t.json"))
            fail_msg("%s: said \"%s\", expected \"%s\"", bad->text, err.message, bad->message);
        assert_null(t.ids);
    }
    assert_int_equal(gpt_tokens_read(&t, &small, "/nonexistent.json", &err), -1);
}

RUN_TESTS(NULL, NULL)
