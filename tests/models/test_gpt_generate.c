/* SPDX-License-Identifier: MIT */
/* Covers U-03, S0-01: tokens one after the other, by the largest logit and by chance. */
#include "gpt_walk.h"

#include "models/generation/gpt_narrow.h"
#include "models/gpt_generate.h"

/* Greedy generation by the cache is what the largest logit of repeated whole prefills says, past
 * the block size too, where the context is cropped. Where a cache or activations are rounded
 * another one may be taken that is less by a share of `near`. */
static void check_generate(const struct gpt_ops *ops, float near, uint64_t seed,
                           int64_t prompt_length, int64_t nr)
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
    assert_int_equal(gpt_generate(&m, ops, 2, &prompt, &greedy, nr, out, NULL, NULL, &err), nr);
    assert_ok(gpt_forward_init(&f, m.config, &m.weights, ops, block, block, 2, &err), &err);
    for (int64_t i = 0; i < nr; i++) {
        int64_t length = prompt_length + i, seq = length < block ? length : block;
        gpt_prefill(&f, context + length - seq, 1, seq, NULL, GPT_LOGITS_LAST, logits);
        int32_t best = gpt_sample(logits, vocab, &greedy, NULL, scratch);
        assert_in_range(out[i], 0, vocab - 1);
        if (near == 0)
            assert_int_equal(out[i], best);
        assert_true(logits[best] - logits[out[i]] <= near * fabsf(logits[best]));
        context[length] = out[i];
    }
    gpt_forward_release(&f);
    gpt_weights_release(&m.weights);
    free(logits);
    free(scratch);
}

TEST(test_generate)
{
    const struct gpt_ops *simd = &gpt_ops_simd;

    check_generate(simd, 0, 21, 5, 90);
    check_generate(simd, 0, 22, 1, 1);
    check_generate(simd, 0, 23, 70, 3); /* a full block from the start */
    for (uint64_t seed = 24; seed < 40; seed++)
        check_generate(simd, 0, seed, 66, 8); /* over the edge */
    check_generate(&gpt_ops_simd_int8, 0x1p-10f, 21, 5, 90);
    check_generate(&gpt_ops_simd_bf16_fp32, 0x1p-5f, 21, 5, 90);
}

static int stop_at_third(int32_t token, void *context)
{
    int *nr = context;

    (void)token;
    return ++*nr == 3;
}

TEST(test_generate_seeded)
{
    struct gpt_model m = { .config = &configs[2] };
    int32_t ids[4] = { 1, 2, 3, 4 }, a[20], b[20], c[20];
    struct gpt_tokens prompt = { .ids = ids, .batch = 1, .seq = 4 };
    struct gpt_sampling s = { .temperature = 1, .top_k = 50, .seed = 1 };
    struct error err;
    int nr = 0;

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
TEST(test_sample)
{
    enum { VOCAB = 7, DRAWS = 20000 };
    static const float logits[VOCAB] = { 0.5F, -1, 2, 0.5F, 1, -3, 0.5F };
    struct gpt_sampling s = { .temperature = 0.7, .top_k = 4 };
    struct random random;
    float scratch[VOCAB];
    int seen[VOCAB] = { 0 };
    double want[VOCAB] = { 0 }, sum = 0;

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

RUN_TESTS(NULL, NULL)
