/* SPDX-License-Identifier: MIT */
/* Covers S0-28, S3-05, S3-06, S3-09, S4-03, S4-05: the scopes of a forward say what it did, on
 * every thread, their work is the model's, and together they are the forward's time. */
#include "gpt_walk.h"

#include "models/generation/gpt_narrow.h"
#include "models/gpt_scopes.h"
#include "profile/trace.h"

enum { BATCH = 2, SEQ = 17, ITERATIONS = 31 };

/* A model that runs, with its tokens, logits and cache. */
struct rig {
    struct gpt_weights w;
    struct gpt_forward f;
    struct gpt_cache cache;
    int32_t tokens[3 * MAX_SEQ];
    float *logits;
    struct prof_trace trace;
    int main; /* the track of this thread */
};

static void rig_init(struct rig *r, const struct gpt_config *c, const struct gpt_ops *ops,
                     int threads)
{
    struct error err;

    assert_ok(gpt_weights_init(&r->w, c, false, &err), &err);
    gpt_weights_seed(&r->w, 1);
    assert_ok(gpt_forward_init(&r->f, c, &r->w, ops, BATCH * SEQ, SEQ, threads, &err), &err);
    assert_ok(gpt_cache_init(&r->cache, c, BATCH, SEQ, &err), &err);
    make_tokens(r->tokens, BATCH * SEQ, c->vocab, 3);
    r->logits = poisoned(BATCH * SEQ * c->vocab);
    prof_trace_init(&r->trace);
    prof_clear(prof_global());
}

static void rig_release(struct rig *r)
{
    prof_trace_release(&r->trace);
    gpt_cache_release(&r->cache);
    gpt_forward_release(&r->f);
    gpt_weights_release(&r->w);
    free(r->logits);
}

static void look(struct rig *r)
{
    char why[200];
    size_t most = 0;

    assert_int_equal(prof_set_on(prof_global(), 0), 0);
    assert_int_equal(prof_snapshot(prof_global(), &r->trace), 0);
    if (prof_trace_check(&r->trace, why, sizeof(why)))
        fail_msg("%s", why);
    /* The main thread's track is the one with work on it. */
    r->main = -1;
    for (size_t i = 0; i < r->trace.nr_slices; i++)
        if (r->trace.slices[i].flops > 0) {
            r->main = r->trace.slices[i].track;
            most++;
        }
    assert_true(most > 0);
}

static void record_prefill(struct rig *r, const struct gpt_cache *cache, enum gpt_logits which)
{
    assert_int_equal(prof_set_on(prof_global(), 1), 0);
    gpt_prefill(&r->f, r->tokens, BATCH, SEQ, cache, which, r->logits);
    look(r);
}

static void record_decode(struct rig *r)
{
    gpt_prefill(&r->f, r->tokens, BATCH, SEQ - 1, &r->cache, GPT_LOGITS_LAST, r->logits);
    assert_int_equal(prof_set_on(prof_global(), 1), 0);
    gpt_decode(&r->f, r->tokens, BATCH, SEQ - 1, &r->cache, r->logits);
    look(r);
}

static bool is_layer(const struct prof_slice *s)
{
    return strncmp(s->name, "layer ", 6) == 0;
}

/* The names on a track, in order: "embed; layer 0; ln_1; ..." */
static void names_of(const struct prof_trace *t, int track, char *text, size_t size)
{
    size_t length = 0;

    text[0] = '\0';
    for (size_t i = 0; i < t->nr_slices; i++)
        if (t->slices[i].track == track)
            length += (size_t)snprintf(text + length, size - length, "%s;", t->slices[i].name);
    assert_true(length < size);
}

#define LAYER(n, remember) "layer " n ";ln_1;qkv;" remember "attention;proj;ln_2;fc;proj_2;"
#define END                "ln_f;head;"

TEST(test_names)
{
    char text[1000];

    for (size_t o = 0; o < NR(all_ops); o++)
        for (int threads = 1; threads <= 2; threads++) {
            struct rig r;
            rig_init(&r, &configs[0], all_ops[o], threads);
            record_prefill(&r, NULL, GPT_LOGITS_ALL);
            names_of(&r.trace, r.main, text, sizeof(text));
            assert_string_equal(text, "embed;" LAYER("0", "") LAYER("1", "") END);
            prof_trace_release(&r.trace);
            prof_clear(prof_global());
            record_prefill(&r, &r.cache, GPT_LOGITS_LAST);
            names_of(&r.trace, r.main, text, sizeof(text));
            assert_string_equal(text, "embed;" LAYER("0", "remember;") LAYER("1", "remember;") END);
            rig_release(&r);
        }
}

/* Each thread of a team has the same scopes; bytes and FLOPs stand on the first one's alone. */
TEST(test_team)
{
    char first[1000], other[1000];
    struct rig r;

    rig_init(&r, &configs[2], &gpt_ops_simd, 2);
    record_prefill(&r, NULL, GPT_LOGITS_ALL);
    names_of(&r.trace, r.main, first, sizeof(first));
    int teammates = 0;
    for (int t = 0; t < (int)r.trace.nr_tracks; t++) {
        names_of(&r.trace, t, other, sizeof(other));
        if (t == r.main || !other[0])
            continue;
        teammates++;
        assert_string_equal(other, first);
    }
    assert_int_equal(teammates, 1);
    for (size_t i = 0; i < r.trace.nr_slices; i++) {
        const struct prof_slice *s = &r.trace.slices[i];
        assert_string_equal(s->backend, "simd");
        if (s->track == r.main) {
            assert_true(s->bytes > 0);
        } else {
            assert_true(s->bytes == 0 && s->flops == 0);
        }
    }
    rig_release(&r);
}

/* Sums over operations; a layer's are those of what is inside it. */
static struct work work_of(const struct rig *r)
{
    const struct prof_trace *t = &r->trace;
    struct work sum = { 0 }, inside = { 0 };

    for (size_t i = t->nr_slices; i-- > 0;) {
        const struct prof_slice *s = &t->slices[i];
        if (s->track != r->main)
            continue;
        if (is_layer(s)) {
            assert_true(s->flops == inside.flops);
            assert_true((double)s->bytes == inside.bytes);
            inside = (struct work) { 0 };
            continue;
        }
        sum.flops += s->flops;
        sum.bytes += (double)s->bytes;
        if (s->parent != PROF_ROOT) {
            inside.flops += s->flops;
            inside.bytes += (double)s->bytes;
        }
    }
    return sum;
}

static const struct kind {
    const struct gpt_ops *ops;
    enum dtype dtype;
    enum math math;
    double kept; /* what a decode step moves to keep a token's keys and values, as `handed` */
} kinds[] = {
    { &gpt_ops_simd, DTYPE_FP32, MATH_FP32, 4 },
    { &gpt_ops_simd_int8, DTYPE_FP32, MATH_INT8, 4 },
    { &gpt_ops_simd_bf16, DTYPE_BF16, MATH_BF16, 3 }, /* kept as bfloat16 */
};

/* The model's work and what it leaves out: the FLOPs of embedding (1 an element) and norms (8), the
 * bytes of activations, `handed` elements of the width a token and layer and 4 outside. */
static void check_work(const struct rig *r, const struct kernel *like, const struct kind *kind,
                       double rows, double seq, double handed)
{
    const struct gpt_config *c = r->w.config;
    const struct shape shape = { { BATCH, SEQ } };
    struct kernel k = *like;

    k.config = c;
    struct work model = k.work(&k, &shape, kind->dtype, kind->math), sum = work_of(r);
    double elements = rows * (double)c->width, layers = (double)c->layers;
    double unseen = elements * (1 + 8 * (2 * layers + 1));
    assert_true(fabs(sum.flops - model.flops - unseen) < 1e-9 * sum.flops);
    /* Of a model in bfloat16 biases, norms and rows of embeddings are fp32. */
    double plain = 13 * layers + 2 + fmin(rows, (double)c->vocab) + seq;
    double wider = (double)(sizeof(float) - dtype_size(kind->dtype)) * plain * (double)c->width;
    double moved = 4 * elements * (handed * layers + 4) + wider;
    assert_true(fabs(sum.bytes - model.bytes - moved) < 1e-9 * sum.bytes);
}

TEST(test_work)
{
    for (size_t i = 0; i < NR(configs) * NR(kinds); i++) {
        const struct kind *kind = &kinds[i % NR(kinds)];
        struct rig r;
        rig_init(&r, &configs[i / NR(kinds)], kind->ops, 1);
        record_prefill(&r, NULL, GPT_LOGITS_ALL);
        check_work(&r, &gpt_prefill_nano, kind, BATCH * SEQ, SEQ, 2 + 4 + 4 + 3 + 2 + 5 + 6);
        prof_trace_release(&r.trace);
        prof_clear(prof_global());
        record_decode(&r);
        /* Attention's q and output; keys and values are copied to the cache, too. */
        check_work(&r, &gpt_decode_nano, kind, BATCH, 1, 2 + 4 + kind->kept + 2 + 3 + 2 + 5 + 6);
        rig_release(&r);
    }
}

/* Nothing is recorded that nobody asked for. */
TEST(test_off)
{
    struct rig r;

    rig_init(&r, &configs[0], &gpt_ops_simd, 2);
    gpt_prefill(&r.f, r.tokens, BATCH, SEQ, NULL, GPT_LOGITS_ALL, r.logits);
    assert_int_equal(prof_snapshot(prof_global(), &r.trace), 0);
    assert_int_equal(r.trace.nr_slices, 0);
    rig_release(&r);
}

/* Of one pass, in ns: what its caller saw, and what no operation's self time accounts for. */
struct pass {
    double whole, left;
};

static struct pass record_pass(struct rig *r, const struct prof_site *site)
{
    struct pass p = { 0 };
    double self = 0;

    prof_clear(prof_global());
    assert_int_equal(prof_set_on(prof_global(), 1), 0);
    struct prof_scope pass = prof_begin(prof_global(), site, NULL);
    gpt_prefill(&r->f, r->tokens, BATCH, SEQ, NULL, GPT_LOGITS_ALL, r->logits);
    prof_end(&pass);
    look(r);
    for (size_t i = 0; i < r->trace.nr_slices; i++) {
        const struct prof_slice *s = &r->trace.slices[i];
        if (s->track != r->main)
            continue;
        if (strcmp(s->name, site->name) == 0)
            p.whole = (double)s->duration;
        else if (!is_layer(s))
            self += (double)s->duration; /* leaves: their self time */
    }
    prof_trace_release(&r->trace);
    p.left = p.whole - self;
    return p;
}

/* The least of each: a core that is lent to another program between two operations is time that
 * the pass lost, not work that it forgot to name. */
TEST(test_whole)
{
    static const struct prof_site site = { .name = "pass" };
    struct error err;

    for (int threads = 1; threads <= 2; threads++) {
        struct pass least = { .whole = INFINITY, .left = INFINITY };
        struct rig r;
        rig_init(&r, gpt_config_find("tile-small", &err), &gpt_ops_simd, threads);
        for (int i = 0; i < ITERATIONS; i++) {
            struct pass p = record_pass(&r, &site);
            assert_true(p.left >= 0);
            least.whole = fmin(least.whole, p.whole);
            least.left = fmin(least.left, p.left);
        }
        if (least.left > 0.02 * least.whole)
            fail_msg("%.1f %% of a pass by %d threads is in no operation",
                     100 * least.left / least.whole, threads);
        rig_release(&r);
    }
}

RUN_TESTS(NULL, NULL)
