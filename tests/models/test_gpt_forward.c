/* SPDX-License-Identifier: MIT */
/* Covers U-03, S0-01: the forwards of small GPTs against the definition, decode against prefill. */
#include "gpt_walk.h"

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

TEST(test_prefill)
{
    static const int64_t batches[] = { 1, 3 }, seqs[] = { 1, 17, 63, 65 };
    struct gpt_weights w;
    struct error err;

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

TEST(test_decode)
{
    struct gpt_weights w;
    struct error err;

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
TEST(test_last_logits)
{
    const struct gpt_config *c = &configs[0];
    int32_t tokens[3 * 7];
    struct gpt_weights w;
    struct gpt_forward f;
    struct error err;
    float *all = poisoned(3 * 7 * c->vocab), *last = poisoned(3 * c->vocab);

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

TEST(test_init_refuses)
{
    struct gpt_weights w;
    struct gpt_forward f;
    struct gpt_cache cache;
    struct error err;

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

RUN_TESTS(NULL, NULL)
