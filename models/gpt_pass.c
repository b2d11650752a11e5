/* SPDX-License-Identifier: MIT */
/*
 * One pass through the layers. With operations that share a team it is one parallel region: each
 * thread walks the whole pass, takes its part of every operation and meets the others at its end.
 */
#include "kernels/team.h"
#include "models/generation/gpt_narrow.h"
#include "models/gpt_forward.h"
#include "models/gpt_scopes.h"

#include <omp.h>
#include <string.h>

/* What a pass works on: `seq` tokens a sequence, the first at `first`. */
struct pass {
    const struct gpt_forward *f;
    int64_t batch, seq, first;
    const struct gpt_cache *cache; /* NULL in a prefill that keeps nothing */
    bool decode;                   /* attend to the cache instead of the tokens at hand */
    bool last;                     /* of each sequence only the last position is asked for */
    float *x, *h, *wide;           /* see struct gpt_forward */
};

static const float *tensor(const struct pass *p, enum gpt_tensor which, int64_t layer)
{
    return p->f->tensors[layer * GPT_TENSOR_NR + which];
}

/* What the operations are told: to share the region of the pass, or to open their own. */
static int op_threads(const struct pass *p)
{
    return p->f->ops->team ? 0 : p->f->threads;
}

static int64_t width_of(const struct pass *p)
{
    return p->f->config->width;
}

static int64_t rows_of(const struct pass *p)
{
    return p->batch * p->seq;
}

/* Bytes of what is read from memory: weights (as far as they are not less), keys and values. */
static size_t element_size(const struct pass *p)
{
    return gpt_is_narrow(p->f) ? sizeof(uint16_t) : sizeof(float);
}

static struct gpt_op_size op_size(const struct pass *p, bool last)
{
    return (struct gpt_op_size) { .config = p->f->config,
                                  .batch = p->batch,
                                  .seq = p->seq,
                                  .length = p->first + p->seq,
                                  .last = last,
                                  .element = element_size(p),
                                  .rounded = p->f->ops->rounded,
                                  .stream = sizeof(float) };
}

/* Every thread of a team has scopes of its own; the first one's tell the work of all. */
static struct prof_scope record(const struct pass *p, enum gpt_op op, bool last)
{
    const struct gpt_op_size size = op_size(p, last);

    return gpt_scope_begin(p->f->scopes, op, omp_get_thread_num() == 0 ? &size : NULL);
}

static struct prof_scope record_layer(const struct pass *p, const struct pass *tail, int64_t layer)
{
    const struct gpt_op_size size = op_size(p, p->decode || tail != p), rest = op_size(tail, true);

    return gpt_scope_layer(p->f->scopes, layer, omp_get_thread_num() == 0 ? &size : NULL, &rest,
                           p->cache != NULL);
}

static inline bool recording(void)
{
    return __builtin_expect(prof_is_on(prof_global()), 0);
}

static const struct prof_scope no_scope;

/* From here to the end of the block is operation `op`, or a layer. */
#define SCOPE_OF(begin)                                                                            \
    __attribute__((cleanup(gpt_scope_end), unused)) struct prof_scope scope_ =                     \
        recording() ? (begin) : no_scope
#define OP_SCOPE(p, op)             SCOPE_OF(record((p), (op), false))
#define LAST_OP_SCOPE(p, op)        SCOPE_OF(record((p), (op), true))
#define LAYER_SCOPE(p, tail, layer) SCOPE_OF(record_layer((p), (tail), (layer)))

/* h = LN(x); the bias follows the gain in the table. */
static void norm(const struct pass *p, enum gpt_tensor gain, int64_t layer)
{
    OP_SCOPE(p, gpt_op_of(gain));
    p->f->ops->layernorm(&(struct layernorm) {
        .rows = rows_of(p),
        .width = width_of(p),
        .x = p->x,
        .gain = tensor(p, gain, layer),
        .bias = tensor(p, gain + 1, layer),
        .y = p->h,
        .threads = op_threads(p),
    });
}

static void multiply(const struct pass *p, const struct gemm_linear *g, bool logits)
{
    if (gpt_is_narrow(p->f))
        gpt_narrow_linear(p->f, g, logits);
    else
        gpt_ops_of(p->f->ops, logits ? GPT_LM_HEAD : GPT_FC_WEIGHT)->linear(g);
}

/* The product of g's x (dense) with a weight, whose bias follows it in the table, to g's y (dense),
 * over all rows of the pass. Activation and residual are what g says. */
static void linear(const struct pass *p, enum gpt_tensor weight, int64_t layer,
                   struct gemm_linear g)
{
    OP_SCOPE(p, gpt_op_of(weight));
    gpt_weight_extents(p->f->config, weight, &g.n, &g.k);
    g.m = rows_of(p);
    g.ldx = g.k;
    g.ldy = g.n;
    g.w = tensor(p, weight, layer);
    g.bias = tensor(p, weight + 1, layer);
    g.scratch = p->f->scratch;
    g.threads = op_threads(p);
    multiply(p, &g, false);
}

/* Where a layer's keys or values of position `at` of sequence b lie. */
static void *cached(const struct pass *p, float *cache, int64_t layer, int64_t b, int64_t at)
{
    int64_t row = (layer * p->cache->batch + b) * p->cache->capacity + at;

    return (char *)cache + (size_t)(row * width_of(p)) * element_size(p);
}

/* A token's keys or values to their place. */
static void keep(const struct pass *p, const float *from, void *to)
{
    if (gpt_is_narrow(p->f))
        gpt_narrow_remember(from, width_of(p), to);
    else
        memcpy(to, from, (size_t)width_of(p) * sizeof(*from));
}

/* Copies the keys and values of this pass from qkv to their positions in the cache. Only a decode
 * step reads them there in the same pass; what overwrites qkv comes after attention, at whose end
 * all threads meet. */
static void remember(const struct pass *p, int64_t layer)
{
    int64_t width = width_of(p);

    OP_SCOPE(p, GPT_OP_REMEMBER);
#pragma omp for schedule(static) nowait
    for (int64_t i = 0; i < rows_of(p); i++) {
        int64_t b = i / p->seq, at = p->first + i % p->seq;
        const float *k = p->wide + i * 3 * width + width;
        keep(p, k, cached(p, p->cache->k, layer, b, at));
        keep(p, k + width, cached(p, p->cache->v, layer, b, at));
    }
    if (p->decode)
        team_meet();
}

static void attend(const struct pass *p)
{
    int64_t width = width_of(p);

    OP_SCOPE(p, GPT_OP_ATTENTION);
    p->f->ops->attention(&(struct attention) {
        .batch = p->batch,
        .seq = p->seq,
        .heads = p->f->config->heads,
        .headdim = width / p->f->config->heads,
        .q = p->wide,
        .k = p->wide + width,
        .v = p->wide + 2 * width,
        .ld = 3 * width,
        .out = p->h,
        .ldo = width,
        .causal = true,
        .scratch = p->f->scratch,
        .threads = op_threads(p),
    });
}

/* Of each sequence the last token at hand, to its own position and all before: in the cache, or
 * where the pass computed them. Dense rows to h. */
static void attend_last(const struct pass *p, int64_t layer)
{
    int64_t width = width_of(p);
    struct attention_decode a = {
        .batch = p->batch,
        .length = p->first + p->seq,
        .heads = p->f->config->heads,
        .headdim = width / p->f->config->heads,
        .q = p->wide + (p->seq - 1) * 3 * width,
        .ldq = p->seq * 3 * width,
        .k = p->wide + width,
        .v = p->wide + 2 * width,
        .ld = 3 * width,
        .ld_sequence = p->seq * 3 * width,
        .out = p->h,
        .ldo = width,
        .scratch = p->f->scratch,
        .threads = op_threads(p),
    };

    if (p->decode) {
        a.k = cached(p, p->cache->k, layer, 0, 0);
        a.v = cached(p, p->cache->v, layer, 0, 0);
        a.ld = width;
        a.ld_sequence = p->cache->capacity * width;
    }
    LAST_OP_SCOPE(p, GPT_OP_ATTENTION);
    if (p->decode && gpt_is_narrow(p->f))
        gpt_narrow_decode(&a);
    else
        p->f->ops->decode(&a);
}

/* Attention's input: qkv in `wide`, and in the cache. */
static void run_qkv(const struct pass *p, int64_t layer)
{
    norm(p, GPT_LN_1_WEIGHT, layer);
    linear(p, GPT_ATTN_WEIGHT, layer, (struct gemm_linear) { .x = p->h, .y = p->wide });
    if (p->cache)
        remember(p, layer);
}

/* What follows attention, whose output is in h: x = residual + proj(h), whose rows lie `ldr` floats
 * apart, then the MLP. */
static void run_mlp(const struct pass *p, int64_t layer, const float *residual, int64_t ldr)
{
    linear(p, GPT_PROJ_WEIGHT, layer,
           (struct gemm_linear) { .x = p->h, .residual = residual, .ldr = ldr, .y = p->x });
    norm(p, GPT_LN_2_WEIGHT, layer);
    linear(p, GPT_FC_WEIGHT, layer,
           (struct gemm_linear) { .x = p->h, .activation = GEMM_GELU, .y = p->wide });
    linear(p, GPT_FC_PROJ_WEIGHT, layer,
           (struct gemm_linear) { .x = p->wide, .residual = p->x, .ldr = width_of(p), .y = p->x });
}

static void run_layer(const struct pass *p, int64_t layer)
{
    LAYER_SCOPE(p, p, layer);
    run_qkv(p, layer);
    if (p->decode)
        attend_last(p, layer);
    else
        attend(p);
    run_mlp(p, layer, p->x, width_of(p));
}

/* The last layer where only last positions are asked for: keys and values of all, the rest for one
 * row a sequence. Their stream of rows begins in `wide`, which attention was the last to need: it
 * has room for 4 rows a token, and a sequence has two tokens at least. */
static void run_last_layer(const struct pass *p, const struct pass *tail, int64_t layer)
{
    int64_t width = width_of(p);

    LAYER_SCOPE(p, tail, layer);
    run_qkv(p, layer);
    attend_last(p, layer);
    run_mlp(tail, layer, p->x + (p->seq - 1) * width, p->seq * width);
}

static struct pass tail_of(const struct pass *p)
{
    struct pass tail = *p;

    tail.seq = 1;
    tail.x = p->wide;
    tail.wide = p->wide + p->batch * width_of(p);
    return tail;
}

static void embed(const struct pass *p, const int32_t *tokens)
{
    OP_SCOPE(p, GPT_OP_EMBED);
    p->f->ops->embedding(&(struct embedding) {
        .batch = p->batch,
        .seq = p->seq,
        .width = width_of(p),
        .tokens = tokens,
        .wte = tensor(p, GPT_WTE, 0),
        .wpe = tensor(p, GPT_WPE, 0),
        .first = p->first,
        .out = p->x,
        .threads = op_threads(p),
    });
}

/* logits [rows, V] = LNf(x) Whead^T. */
static void run_head(const struct pass *p, float *logits)
{
    const struct gpt_config *c = p->f->config;
    int64_t rows = rows_of(p);

    norm(p, GPT_LN_F_WEIGHT, 0);
    OP_SCOPE(p, GPT_OP_HEAD);
    const struct gemm_linear g = {
        .m = rows,
        .n = c->vocab,
        .k = c->width,
        .x = p->h,
        .ldx = c->width,
        .w = tensor(p, GPT_LM_HEAD, 0),
        .activation = GEMM_IDENTITY,
        .y = logits,
        .ldy = c->vocab,
        .scratch = p->f->scratch,
        .streaming = rows * c->vocab * (int64_t)sizeof(float) > p->f->stream_bytes,
        .threads = op_threads(p),
    };
    multiply(p, &g, true);
}

/* What run() does, as one argument. */
struct pass_run {
    const struct pass *p;
    const int32_t *tokens;
    float *logits;
};

static void run(const struct pass *p, const int32_t *tokens, float *logits)
{
    int64_t layers = p->f->config->layers;
    const struct pass tail = tail_of(p);

    embed(p, tokens);
    for (int64_t layer = 0; layer < layers - p->last; layer++)
        run_layer(p, layer);
    if (p->last)
        run_last_layer(p, &tail, layers - 1);
    run_head(p->last ? &tail : p, logits);
}

static void run_of(const void *operation)
{
    const struct pass_run *r = operation;

    run(r->p, r->tokens, r->logits);
}

/* One parallel region for the whole pass: between operations a barrier, not a fork and a join. */
static void run_pass(const struct pass *p, const int32_t *tokens, float *logits)
{
    const struct pass_run r = { p, tokens, logits };

    if (p->f->ops->team)
        team_run(run_of, &r, p->f->threads, p->f->team);
    else
        run(p, tokens, logits);
}

void gpt_prefill(const struct gpt_forward *f, const int32_t *tokens, int64_t batch, int64_t seq,
                 const struct gpt_cache *cache, enum gpt_logits which, float *logits)
{
    const struct pass p = {
        .f = f,
        .batch = batch,
        .seq = seq,
        .cache = cache,
        .last = which == GPT_LOGITS_LAST && seq > 1,
        .x = f->x,
        .h = f->h,
        .wide = f->wide,
    };

    run_pass(&p, tokens, logits);
}

void gpt_decode(const struct gpt_forward *f, const int32_t *tokens, int64_t batch, int64_t position,
                const struct gpt_cache *cache, float *logits)
{
    const struct pass p = {
        .f = f,
        .batch = batch,
        .seq = 1,
        .first = position,
        .cache = cache,
        .decode = true,
        .x = f->x,
        .h = f->h,
        .wide = f->wide,
    };

    run_pass(&p, tokens, logits);
}
