/* SPDX-License-Identifier: MIT */
/* Covers U-03, S0-01: a pass as one parallel region gives what one thread gives, whatever it is
 * asked for; and its logits are the same when they go around the caches. */
#include "gpt_walk.h"

#include "kernels/team.h"

#include <omp.h>
#include <stdatomic.h>
#include <time.h>

enum { BATCH = 3, SEQ = 19, STEPS = 2, MOST_THREADS = 3 };

/* All that a forward can be asked for, one after the other: logits of a prefill, of its last
 * positions, of steps after it, and the cache that they leave. */
struct outcome {
    float *all, *last, *steps;
    struct gpt_cache cache;
};

static void outcome_init(struct outcome *o, const struct gpt_config *c)
{
    struct error err;
    size_t cached = (size_t)(c->layers * BATCH * (SEQ + STEPS) * c->width) * sizeof(float);

    o->all = poisoned(BATCH * SEQ * c->vocab);
    o->last = poisoned(BATCH * c->vocab);
    o->steps = poisoned(STEPS * BATCH * c->vocab);
    assert_ok(gpt_cache_init(&o->cache, c, BATCH, SEQ + STEPS, &err), &err);
    memset(o->cache.k, 0xff, cached);
    memset(o->cache.v, 0xff, cached);
}

static void outcome_release(struct outcome *o)
{
    free(o->all);
    free(o->last);
    free(o->steps);
    gpt_cache_release(&o->cache);
}

static void fill_outcome(struct outcome *o, const struct gpt_forward *f)
{
    const struct gpt_config *c = f->config;
    int32_t tokens[BATCH * (SEQ + STEPS)];

    make_tokens(tokens, BATCH * (SEQ + STEPS), c->vocab, 21);
    gpt_prefill(f, tokens, BATCH, SEQ, NULL, GPT_LOGITS_ALL, o->all);
    gpt_prefill(f, tokens, BATCH, SEQ, &o->cache, GPT_LOGITS_LAST, o->last);
    for (int s = 0; s < STEPS; s++)
        gpt_decode(f, tokens + BATCH * (SEQ + s), BATCH, SEQ + s, &o->cache,
                   o->steps + s * BATCH * c->vocab);
}

static void compute_by(enum team_way way, struct outcome *o, const struct gpt_weights *w,
                       const struct gpt_ops *ops, int threads, bool stream)
{
    struct gpt_forward f;
    struct error err;

    team_work(way);
    outcome_init(o, w->config);
    assert_ok(gpt_forward_init(&f, w->config, w, ops, BATCH * SEQ, SEQ + STEPS, threads, &err),
              &err);
    if (stream)
        f.stream_bytes = 0;
    fill_outcome(o, &f);
    gpt_forward_release(&f);
}

/* By all of them, also on a busy machine. */
static void compute(struct outcome *o, const struct gpt_weights *w, const struct gpt_ops *ops,
                    int threads, bool stream)
{
    compute_by(TEAM_TOGETHER, o, w, ops, threads, stream);
}

static void check_same(const struct gpt_config *c, const char *what, int threads, const float *got,
                       const float *want, int64_t nr)
{
    double *expected = malloc((size_t)nr * sizeof(*expected));

    assert_non_null(expected);
    for (int64_t i = 0; i < nr; i++) {
        assert_true(isfinite(want[i]));
        expected[i] = (double)want[i];
    }
    double error = largest_error(got, expected, nr);
    if (!(error <= tolerance_of(c)))
        fail_msg("%s, %s, %d threads: off by %g, allowed %g", c->name, what, threads, error,
                 tolerance_of(c));
    free(expected);
}

static void check_outcome(const struct gpt_config *c, int threads, const struct outcome *got,
                          const struct outcome *want)
{
    int64_t cached = c->layers * BATCH * (SEQ + STEPS) * c->width;

    check_same(c, "all logits", threads, got->all, want->all, BATCH * SEQ * c->vocab);
    check_same(c, "last logits", threads, got->last, want->last, BATCH * c->vocab);
    check_same(c, "steps", threads, got->steps, want->steps, STEPS * BATCH * c->vocab);
    check_same(c, "keys", threads, got->cache.k, want->cache.k, cached);
    check_same(c, "values", threads, got->cache.v, want->cache.v, cached);
}

/* Who works alone in the place of a team gives the same bits. */
static void check_bits(const struct gpt_config *c, int threads, const struct outcome *got,
                       const struct outcome *want)
{
    const size_t logits = sizeof(float) * BATCH * (size_t)c->vocab;

    if (memcmp(got->all, want->all, SEQ * logits) != 0 ||
        memcmp(got->last, want->last, logits) != 0 ||
        memcmp(got->steps, want->steps, STEPS * logits) != 0)
        fail_msg("%s: %d threads give other bits than one in their place", c->name, threads);
}

static void each_config(void (*check)(const struct gpt_weights *w))
{
    struct gpt_weights w;
    struct error err;

    for (size_t i = 0; i < NR(configs); i++) {
        assert_ok(gpt_weights_init(&w, &configs[i], false, &err), &err);
        noisy_weights(&w, 60 + i);
        check(&w);
        gpt_weights_release(&w);
    }
}

/* Several times: what goes wrong between threads goes wrong now and then. */
static void check_threads(const struct gpt_weights *w)
{
    struct outcome one, team;

    compute(&one, w, &gpt_ops_simd, 1, false);
    for (int round = 0; round < 10; round++)
        for (int threads = 1; threads <= MOST_THREADS; threads++) {
            compute(&team, w, &gpt_ops_simd, threads, false);
            check_outcome(w->config, threads, &team, &one);
            outcome_release(&team);
        }
    outcome_release(&one);
}

TEST(test_threads)
{
    each_config(check_threads);
}

static void check_alone(const struct gpt_weights *w)
{
    struct outcome alone, team;

    for (int threads = 2; threads <= MOST_THREADS; threads++) {
        compute_by(TEAM_ALONE, &alone, w, &gpt_ops_simd, threads, false);
        compute(&team, w, &gpt_ops_simd, threads, false);
        check_bits(w->config, threads, &team, &alone);
        outcome_release(&team);
        outcome_release(&alone);
    }
}

TEST(test_alone)
{
    each_config(check_alone);
}

/* The last logits are rows of all logits, with every table of operations. */
static void check_consistent(const struct gpt_weights *w)
{
    const struct gpt_config *c = w->config;
    struct outcome o;

    for (size_t i = 0; i < NR(all_ops); i++) {
        compute(&o, w, all_ops[i], 2, false);
        for (int64_t b = 0; b < BATCH; b++)
            check_same(c, all_ops[i]->name, 2, o.last + b * c->vocab,
                       o.all + (b * SEQ + SEQ - 1) * c->vocab, c->vocab);
        outcome_release(&o);
    }
}

TEST(test_last)
{
    each_config(check_consistent);
}

/* Sequences of one to three tokens, with room for no more. */
static void check_short(const struct gpt_weights *w)
{
    const struct gpt_config *c = w->config;
    int32_t tokens[BATCH * 3];

    make_tokens(tokens, BATCH * 3, c->vocab, 8);
    for (int64_t seq = 1; seq <= 3; seq++) {
        float *all = poisoned(BATCH * seq * c->vocab), *last = poisoned(BATCH * c->vocab);
        struct gpt_forward f;
        struct error err;
        assert_ok(gpt_forward_init(&f, c, w, &gpt_ops_simd, BATCH * seq, seq, 2, &err), &err);
        gpt_prefill(&f, tokens, BATCH, seq, NULL, GPT_LOGITS_ALL, all);
        gpt_prefill(&f, tokens, BATCH, seq, NULL, GPT_LOGITS_LAST, last);
        for (int64_t b = 0; b < BATCH; b++)
            check_same(c, "short", 2, last + b * c->vocab, all + (b * seq + seq - 1) * c->vocab,
                       c->vocab);
        gpt_forward_release(&f);
        free(all);
        free(last);
    }
}

TEST(test_short)
{
    each_config(check_short);
}

/* Rows of odd length, none of which begins at a line: whole lines are streamed, the rest is not. */
static void check_streaming(const struct gpt_weights *w)
{
    struct outcome plain, streamed;

    compute(&plain, w, &gpt_ops_simd, 1, false);
    for (int threads = 1; threads <= 2; threads++) {
        compute(&streamed, w, &gpt_ops_simd, threads, true);
        check_outcome(w->config, threads, &streamed, &plain);
        outcome_release(&streamed);
    }
    outcome_release(&plain);
}

TEST(test_streaming)
{
    each_config(check_streaming);
}

/* The thread that is late after every operation of a pass: what the others then do too early shows.
 * The operations' own meetings are over by then. */
static atomic_int late;

static void lag(void)
{
    if (omp_get_thread_num() == atomic_load(&late))
        nanosleep(&(struct timespec) { .tv_nsec = 300 * 1000 }, NULL);
}

#define LATE(operation, argument)                                                                  \
    static void late_##operation(const struct argument *a)                                         \
    {                                                                                              \
        gpt_ops_simd.operation(a);                                                                 \
        lag();                                                                                     \
    }
LATE(linear, gemm_linear)
LATE(attention, attention)
LATE(decode, attention_decode)
LATE(layernorm, layernorm)
LATE(embedding, embedding)

TEST(test_late)
{
    struct gpt_ops ops = gpt_ops_simd;
    struct outcome one, team;
    struct gpt_weights w;
    struct error err;

    ops.linear = late_linear;
    ops.attention = late_attention;
    ops.decode = late_decode;
    ops.layernorm = late_layernorm;
    ops.embedding = late_embedding;
    assert_ok(gpt_weights_init(&w, &configs[0], false, &err), &err);
    noisy_weights(&w, 5);
    compute(&one, &w, &gpt_ops_simd, 1, false);
    for (int threads = 2; threads <= MOST_THREADS; threads++)
        for (int thread = 0; thread < threads; thread++) {
            atomic_store(&late, thread);
            compute(&team, &w, &ops, threads, false);
            check_outcome(w.config, threads, &team, &one);
            outcome_release(&team);
        }
    outcome_release(&one);
    gpt_weights_release(&w);
}

/* What the operations of a pass were called with. */
static atomic_int calls, others;

static void watched_linear(const struct gemm_linear *g)
{
    atomic_fetch_add(&calls, 1);
    if (g->threads != 0 || omp_get_num_threads() != MOST_THREADS)
        atomic_fetch_add(&others, 1);
    gpt_ops_simd.linear(g);
}

/* Every thread of one team calls every product: four a layer, and the head. */
TEST(test_one_region)
{
    const struct gpt_config *c = &configs[2];
    struct gpt_ops watched = gpt_ops_simd;
    struct gpt_weights w;
    struct outcome o;
    struct error err;
    int passes = 2 + STEPS;

    watched.linear = watched_linear;
    omp_set_dynamic(0);
    assert_ok(gpt_weights_init(&w, c, false, &err), &err);
    noisy_weights(&w, 3);
    compute(&o, &w, &watched, MOST_THREADS, false);
    assert_int_equal(atomic_load(&calls), passes * MOST_THREADS * (4 * c->layers + 1));
    assert_int_equal(atomic_load(&others), 0);
    outcome_release(&o);
    gpt_weights_release(&w);
}

RUN_TESTS(NULL, NULL)
