/* SPDX-License-Identifier: MIT */
#include "models/generation/predictor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int32_t largest(const float *logits, int64_t vocab)
{
    int64_t best = 0;

    for (int64_t i = 1; i < vocab; i++)
        if (logits[i] > logits[best])
            best = i;
    return (int32_t)best;
}

/* The k-th largest of x[0..n), 1 <= k <= n, by Hoare's quickselect; reorders x. */
static float kth_largest(float *x, int64_t n, int64_t k)
{
    int64_t low = 0, high = n - 1, want = k - 1;

    while (low < high) {
        float pivot = x[low + (high - low) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (x[i] > pivot)
                i++;
            while (x[j] < pivot)
                j--;
            if (i > j)
                break;
            float swap = x[i];
            x[i++] = x[j];
            x[j--] = swap;
        }
        if (want <= j)
            high = j;
        else if (want >= i)
            low = i;
        else
            break;
    }
    return x[want];
}

int32_t gpt_sample(const float *logits, int64_t vocab, const struct gpt_sampling *sampling,
                   struct random *random, float *scratch)
{
    int32_t best = largest(logits, vocab), chosen = best;
    float least = -INFINITY, top = logits[best];
    int64_t ties = vocab; /* how many of those equal to `least` are in */
    double sum = 0;

    if (sampling->temperature <= 0)
        return best;
    if (sampling->top_k > 0 && sampling->top_k < vocab) {
        memcpy(scratch, logits, (size_t)vocab * sizeof(*scratch));
        least = kth_largest(scratch, vocab, sampling->top_k);
        ties = sampling->top_k;
        for (int64_t i = 0; i < vocab; i++)
            ties -= logits[i] > least;
    }
    for (int64_t i = 0; i < vocab; i++) {
        bool in = logits[i] > least || (logits[i] == least && ties-- > 0);
        double weight = in ? exp((double)(logits[i] - top) / sampling->temperature) : 0;
        sum += weight;
        scratch[i] = (float)weight;
    }
    double rest = random_uniform(random) * sum;
    for (int64_t i = 0; i < vocab; i++) {
        if (!(scratch[i] > 0))
            continue;
        chosen = (int32_t)i; /* the last one also takes what rounding leaves over */
        rest -= (double)scratch[i];
        if (rest < 0)
            break;
    }
    return chosen;
}

int64_t gpt_generate_held(const struct gpt_config *c, int64_t seq, int64_t nr)
{
    int64_t most = seq + nr - 1;

    return most < c->block ? most : c->block;
}

int gpt_generate_check(const struct gpt_config *c, const struct gpt_tokens *prompt,
                       const struct gpt_sampling *s, int64_t nr, struct error *err)
{
    if (prompt->batch != 1)
        return error_set(err, "%s: generation continues one sequence, not %lld", c->name,
                         (long long)prompt->batch);
    if (prompt->seq < 1 || nr < 1 || nr > INT32_MAX)
        return error_set(err, "%s: generation needs a prompt and at least 1 token to add", c->name);
    if (!(s->temperature >= 0) || isinf(s->temperature) || s->top_k < 0)
        return error_set(err, "%s: temperature and top-k must not be negative", c->name);
    return 0;
}

/* ---- the loop ---- */

/* One generation under way. */
struct writing {
    const struct gpt_predictor *predictor;
    float *logits, *scratch; /* [vocab] each */
    int32_t *context;        /* prompt and what came after it */
    int64_t length;          /* tokens in the context */
    int64_t block;
};

static void writing_release(struct writing *w)
{
    free(w->logits);
    free(w->scratch);
    free(w->context);
}

static int writing_init(struct writing *w, const struct gpt_predictor *predictor,
                        const struct gpt_config *c, const struct gpt_tokens *prompt, int64_t nr,
                        struct error *err)
{
    int64_t total = prompt->seq + nr;

    *w = (struct writing) { .predictor = predictor, .length = prompt->seq, .block = c->block };
    w->logits = malloc((size_t)c->vocab * sizeof(float));
    w->scratch = malloc((size_t)c->vocab * sizeof(float));
    w->context = malloc((size_t)total * sizeof(int32_t));
    if (!w->logits || !w->scratch || !w->context)
        return error_set(err, "%s: no memory for %lld tokens", c->name, (long long)total);
    memcpy(w->context, prompt->ids, (size_t)prompt->seq * sizeof(int32_t));
    return 0;
}

/* Logits after the whole context, which is cropped to its last `block` tokens. */
static int start(struct writing *w, struct error *err)
{
    int64_t seq = w->length < w->block ? w->length : w->block;

    return w->predictor->start(w->predictor->context, w->context + w->length - seq, seq, w->logits,
                               err);
}

/* Logits after one more token. */
static int advance(struct writing *w, int32_t token, struct error *err)
{
    w->context[w->length++] = token;
    return w->length > w->block
               ? start(w, err)
               : w->predictor->advance(w->predictor->context, token, w->logits, err);
}

int64_t gpt_generate_by(const struct gpt_predictor *predictor, const struct gpt_config *c,
                        const struct gpt_tokens *prompt, const struct gpt_sampling *sampling,
                        int64_t nr, int32_t *out, gpt_token_fn *sink, void *context,
                        struct error *err)
{
    struct writing w;
    struct random random;
    int64_t done = 0;

    if (gpt_generate_check(c, prompt, sampling, nr, err))
        return -1;
    random_seed(&random, sampling->seed);
    int rc = writing_init(&w, predictor, c, prompt, nr, err) || start(&w, err);
    while (rc == 0) {
        int32_t token = gpt_sample(w.logits, c->vocab, sampling, &random, w.scratch);
        out[done++] = token;
        if ((sink && sink(token, context)) || done == nr)
            break;
        rc = advance(&w, token, err);
    }
    writing_release(&w);
    return rc ? -1 : done;
}

/* ---- by the host's forward ---- */

struct host_predictor {
    struct gpt_forward forward;
    struct gpt_cache cache;
    int64_t length; /* positions in the cache */
};

static int host_start(void *context, const int32_t *tokens, int64_t seq, float *logits,
                      struct error *err)
{
    struct host_predictor *h = context;

    (void)err;
    gpt_prefill(&h->forward, tokens, 1, seq, &h->cache, GPT_LOGITS_LAST, logits);
    h->length = seq;
    return 0;
}

static int host_advance(void *context, int32_t token, float *logits, struct error *err)
{
    struct host_predictor *h = context;

    (void)err;
    gpt_decode(&h->forward, &token, 1, h->length++, &h->cache, logits);
    return 0;
}

int64_t gpt_generate(const struct gpt_model *m, const struct gpt_ops *ops, int threads,
                     const struct gpt_tokens *prompt, const struct gpt_sampling *sampling,
                     int64_t nr, int32_t *out, gpt_token_fn *sink, void *context, struct error *err)
{
    const struct gpt_config *c = m->config;
    struct host_predictor host = { .length = 0 };
    const struct gpt_predictor predictor = { &host, host_start, host_advance };
    int64_t done = -1;

    if (gpt_generate_check(c, prompt, sampling, nr, err))
        return -1;
    int64_t held = gpt_generate_held(c, prompt->seq, nr);
    if (gpt_forward_init(&host.forward, c, &m->weights, ops, held, held, threads, err) == 0 &&
        gpt_cache_init(&host.cache, c, 1, held, err) == 0)
        done = gpt_generate_by(&predictor, c, prompt, sampling, nr, out, sink, context, err);
    gpt_forward_release(&host.forward);
    gpt_cache_release(&host.cache);
    return done;
}
