/* SPDX-License-Identifier: MIT */
#include "models/gpt_forward.h"

#include <stdlib.h>
#include <string.h>

enum {
    ALIGN = 16,                      /* floats in 64 bytes */
    STREAM_BYTES = 32 * 1024 * 1024, /* logits beyond this go around the caches */
};

/* What one pass over the layers works on: `seq` tokens a sequence, the first at `first`. */
struct pass {
    const struct gpt_forward *f;
    int64_t batch, seq, first;
    const struct gpt_cache *cache; /* NULL in a prefill that keeps nothing */
    bool decode;                   /* attend to the cache instead of the tokens at hand */
};

static size_t aligned(size_t floats)
{
    return (floats + ALIGN - 1) / ALIGN * ALIGN;
}

/* Floats, or NULL and a message; a count of SIZE_MAX stands for one that overflowed. */
static float *allocate(size_t floats, const struct gpt_config *c, const char *what,
                       struct error *err)
{
    void *memory = NULL;

    if (floats > SIZE_MAX / 2 / sizeof(float)) {
        error_set(err, "%s: the %s would be too large to address", c->name, what);
        return NULL;
    }
    if (posix_memalign(&memory, ALIGN * sizeof(float), floats * sizeof(float))) {
        error_set(err, "%s: no memory for the %s of %zu bytes", c->name, what,
                  floats * sizeof(float));
        return NULL;
    }
    return memory;
}

/* a * b * c floats, SIZE_MAX on overflow. */
static size_t product(int64_t a, int64_t b, int64_t c)
{
    size_t ab, abc;

    if (__builtin_mul_overflow((size_t)a, (size_t)b, &ab) ||
        __builtin_mul_overflow(ab, (size_t)c, &abc) || abc > SIZE_MAX / 64)
        return SIZE_MAX;
    return abc;
}

static bool is_matrix(enum gpt_tensor which)
{
    return gpt_weight_is_linear(which) || which == GPT_LM_HEAD;
}

static size_t packed_size(const struct gpt_forward *f, enum gpt_tensor which)
{
    int64_t n, k;

    gpt_weight_extents(f->config, which, &n, &k);
    return aligned(f->ops->packed_size(n, k));
}

/* Floats for all the packed matrices. */
static size_t packed_total(const struct gpt_forward *f)
{
    size_t total = packed_size(f, GPT_LM_HEAD);

    for (int i = 0; i < GPT_LM_HEAD; i++)
        if (gpt_weight_is_linear((enum gpt_tensor)i))
            total += (size_t)f->config->layers * packed_size(f, (enum gpt_tensor)i);
    return total;
}

/* Packs one matrix to `to` and returns where the next one goes. */
static float *pack(struct gpt_forward *f, const struct gpt_weights *w, enum gpt_tensor which,
                   int64_t layer, float *to)
{
    int64_t n, k;

    gpt_weight_extents(f->config, which, &n, &k);
    f->ops->pack(gpt_weight(w, which, layer), n, k, to, f->threads);
    f->tensors[layer * GPT_TENSOR_NR + which] = to;
    return to + packed_size(f, which);
}

/* The addresses of all tensors, and their packed forms where the operations want those. */
static int take_weights(struct gpt_forward *f, const struct gpt_weights *w, struct error *err)
{
    int64_t layers = f->config->layers;

    f->tensors = calloc((size_t)layers * GPT_TENSOR_NR, sizeof(*f->tensors));
    if (!f->tensors)
        return error_set(err, "%s: no memory for %lld layers", f->config->name, (long long)layers);
    for (int64_t i = 0; i < layers * GPT_TENSOR_NR; i++)
        f->tensors[i] = gpt_weight(w, (enum gpt_tensor)(i % GPT_TENSOR_NR), i / GPT_TENSOR_NR);
    if (!f->ops->pack)
        return 0;

    float *next = f->packed = allocate(packed_total(f), f->config, "packed weights", err);
    if (!next)
        return -1;
    for (int64_t i = 0; i < layers * GPT_TENSOR_NR; i++) {
        enum gpt_tensor which = (enum gpt_tensor)(i % GPT_TENSOR_NR);
        if (is_matrix(which) && (gpt_weight_in_layer(which) || i < GPT_TENSOR_NR))
            next = pack(f, w, which, i / GPT_TENSOR_NR, next);
    }
    return 0;
}

static int take_workspace(struct gpt_forward *f, int64_t rows, int64_t seq, struct error *err)
{
    const struct gpt_config *c = f->config;
    size_t narrow = product(rows, c->width, 1), wide = product(rows, c->width, 4);
    size_t scratch = attention_scratch(seq, c->width / c->heads, f->threads);
    size_t decode = attention_decode_scratch(seq, f->threads);

    if (wide == SIZE_MAX)
        return error_set(err, "%s: %lld tokens at once are too many to address", c->name,
                         (long long)rows);
    narrow = aligned(narrow);
    wide = aligned(wide);
    scratch = aligned(scratch > decode ? scratch : decode);
    f->x = allocate(2 * narrow + wide + scratch, c, "workspace", err);
    if (!f->x)
        return -1;
    f->h = f->x + narrow;
    f->wide = f->h + narrow;
    f->scratch = f->wide + wide;
    return 0;
}

int gpt_forward_init(struct gpt_forward *f, const struct gpt_config *config,
                     const struct gpt_weights *weights, const struct gpt_ops *ops, int64_t rows,
                     int64_t seq, int threads, struct error *err)
{
    *f = (struct gpt_forward) { .config = config, .ops = ops, .threads = threads };
    if (gpt_config_check(config, err))
        return -1;
    if (rows < 1 || seq < 1)
        return error_set(err, "%s: batch and seq must be at least 1", config->name);
    if (seq > config->block)
        return error_set(err, "%s: seq %lld is beyond the block size %lld", config->name,
                         (long long)seq, (long long)config->block);
    return take_weights(f, weights, err) || take_workspace(f, rows, seq, err) ? -1 : 0;
}

void gpt_forward_release(struct gpt_forward *f)
{
    free(f->tensors);
    free(f->packed);
    free(f->x);
    *f = (struct gpt_forward) { 0 };
}

int gpt_cache_init(struct gpt_cache *cache, const struct gpt_config *config, int64_t batch,
                   int64_t capacity, struct error *err)
{
    size_t row = product(batch, capacity, config->width);
    size_t floats = row == SIZE_MAX ? row : product(config->layers, (int64_t)row, 1);

    *cache = (struct gpt_cache) { .batch = batch, .capacity = capacity };
    cache->k = allocate(floats, config, "key cache", err);
    cache->v = cache->k ? allocate(floats, config, "value cache", err) : NULL;
    if (cache->v)
        return 0;
    gpt_cache_release(cache);
    return -1;
}

void gpt_cache_release(struct gpt_cache *cache)
{
    free(cache->k);
    free(cache->v);
    cache->k = cache->v = NULL;
}

static const float *tensor(const struct gpt_forward *f, enum gpt_tensor which, int64_t layer)
{
    return f->tensors[layer * GPT_TENSOR_NR + which];
}

/* What the operations are told: to share the region of the pass, or to open their own. */
static int op_threads(const struct gpt_forward *f)
{
    return f->ops->team ? 0 : f->threads;
}

static int64_t rows_of(const struct pass *p)
{
    return p->batch * p->seq;
}

/* out = LN(x); the bias follows the gain in the table. */
static void norm(const struct pass *p, enum gpt_tensor gain, int64_t layer)
{
    const struct gpt_forward *f = p->f;

    f->ops->layernorm(&(struct layernorm) {
        .rows = rows_of(p),
        .width = f->config->width,
        .x = f->x,
        .gain = tensor(f, gain, layer),
        .bias = tensor(f, gain + 1, layer),
        .y = f->h,
        .threads = op_threads(f),
    });
}

/* y = activation(x W^T + b) + residual over all rows of the pass, densely; the bias follows the
 * weight in the table. */
static void linear(const struct pass *p, enum gpt_tensor weight, int64_t layer, const float *x,
                   enum gemm_activation activation, const float *residual, float *y)
{
    const struct gpt_forward *f = p->f;
    int64_t n, k;

    gpt_weight_extents(f->config, weight, &n, &k);
    f->ops->linear(&(struct gemm_linear) {
        .m = rows_of(p),
        .n = n,
        .k = k,
        .x = x,
        .ldx = k,
        .w = tensor(f, weight, layer),
        .bias = tensor(f, weight + 1, layer),
        .residual = residual,
        .ldr = n,
        .activation = activation,
        .y = y,
        .ldy = n,
        .threads = op_threads(f),
    });
}

/* Where a layer's keys or values of sequence b begin. */
static float *cached(const struct pass *p, float *cache, int64_t layer, int64_t b)
{
    return cache + (layer * p->cache->batch + b) * p->cache->capacity * p->f->config->width;
}

/* Copies the keys and values of this pass from qkv to their positions in the cache. */
static void remember(const struct pass *p, int64_t layer)
{
    const struct gpt_forward *f = p->f;
    int64_t width = f->config->width;
    size_t bytes = (size_t)width * sizeof(float);

#pragma omp for schedule(static)
    for (int64_t i = 0; i < rows_of(p); i++) {
        int64_t b = i / p->seq, at = (p->first + i % p->seq) * width;
        const float *k = f->wide + i * 3 * width + width;
        memcpy(cached(p, p->cache->k, layer, b) + at, k, bytes);
        memcpy(cached(p, p->cache->v, layer, b) + at, k + width, bytes);
    }
}

static void attend(const struct pass *p)
{
    const struct gpt_forward *f = p->f;
    int64_t width = f->config->width;

    f->ops->attention(&(struct attention) {
        .batch = p->batch,
        .seq = p->seq,
        .heads = f->config->heads,
        .headdim = width / f->config->heads,
        .q = f->wide,
        .k = f->wide + width,
        .v = f->wide + 2 * width,
        .ld = 3 * width,
        .out = f->h,
        .ldo = width,
        .causal = true,
        .scratch = f->scratch,
        .threads = op_threads(f),
    });
}

static void attend_to_cache(const struct pass *p, int64_t layer)
{
    const struct gpt_forward *f = p->f;
    int64_t width = f->config->width;

    f->ops->decode(&(struct attention_decode) {
        .batch = p->batch,
        .length = p->first + 1,
        .heads = f->config->heads,
        .headdim = width / f->config->heads,
        .q = f->wide,
        .ldq = 3 * width,
        .k = cached(p, p->cache->k, layer, 0),
        .v = cached(p, p->cache->v, layer, 0),
        .ld = width,
        .ld_sequence = p->cache->capacity * width,
        .out = f->h,
        .ldo = width,
        .scratch = f->scratch,
        .threads = op_threads(f),
    });
}

static void run_layer(const struct pass *p, int64_t layer)
{
    const struct gpt_forward *f = p->f;

    norm(p, GPT_LN_1_WEIGHT, layer);
    linear(p, GPT_ATTN_WEIGHT, layer, f->h, GEMM_IDENTITY, NULL, f->wide);
    if (p->cache)
        remember(p, layer);
    if (p->cache && p->decode)
        attend_to_cache(p, layer);
    else
        attend(p);
    linear(p, GPT_PROJ_WEIGHT, layer, f->h, GEMM_IDENTITY, f->x, f->x);

    norm(p, GPT_LN_2_WEIGHT, layer);
    linear(p, GPT_FC_WEIGHT, layer, f->h, GEMM_GELU, NULL, f->wide);
    linear(p, GPT_FC_PROJ_WEIGHT, layer, f->wide, GEMM_IDENTITY, f->x, f->x);
}

/* Embedding, layers and the last norm: leaves LNf(x) in f->h. */
static void run_body(const struct pass *p, const int32_t *tokens)
{
    const struct gpt_forward *f = p->f;

    f->ops->embedding(&(struct embedding) {
        .batch = p->batch,
        .seq = p->seq,
        .width = f->config->width,
        .tokens = tokens,
        .wte = tensor(f, GPT_WTE, 0),
        .wpe = tensor(f, GPT_WPE, 0),
        .first = p->first,
        .out = f->x,
        .threads = op_threads(f),
    });
    for (int64_t layer = 0; layer < f->config->layers; layer++)
        run_layer(p, layer);
    norm(p, GPT_LN_F_WEIGHT, 0);
}

/* logits [m, V] of m rows of f->h that lie `ldx` floats apart. */
static void run_head(const struct gpt_forward *f, int64_t m, const float *x, int64_t ldx,
                     float *logits)
{
    const struct gpt_config *c = f->config;

    f->ops->linear(&(struct gemm_linear) {
        .m = m,
        .n = c->vocab,
        .k = c->width,
        .x = x,
        .ldx = ldx,
        .w = tensor(f, GPT_LM_HEAD, 0),
        .activation = GEMM_IDENTITY,
        .y = logits,
        .ldy = c->vocab,
        .streaming = m * c->vocab * (int64_t)sizeof(float) > STREAM_BYTES,
        .threads = op_threads(f),
    });
}

/* One pass to logits [m, V] of `m` rows that lie `ldx` floats apart from `row` of f->h on. */
struct output {
    int64_t m, row, ldx;
    float *logits;
};

static void run(const struct pass *p, const int32_t *tokens, const struct output *o)
{
    run_body(p, tokens);
    run_head(p->f, o->m, p->f->h + o->row * p->f->config->width, o->ldx, o->logits);
}

/* One parallel region for the whole pass: between operations a barrier, not a fork and a join. */
static void run_pass(const struct pass *p, const int32_t *tokens, const struct output *o)
{
    if (!p->f->ops->team || p->f->threads < 2) {
        run(p, tokens, o);
        return;
    }
#pragma omp parallel num_threads(p->f->threads)
    run(p, tokens, o);
}

void gpt_prefill(const struct gpt_forward *f, const int32_t *tokens, int64_t batch, int64_t seq,
                 const struct gpt_cache *cache, enum gpt_logits which, float *logits)
{
    const struct pass p = { .f = f, .batch = batch, .seq = seq, .cache = cache };
    int64_t width = f->config->width;
    struct output o = { .m = batch * seq, .row = 0, .ldx = width, .logits = logits };

    if (which == GPT_LOGITS_LAST)
        o = (struct output) { .m = batch, .row = seq - 1, .ldx = seq * width, .logits = logits };
    run_pass(&p, tokens, &o);
}

void gpt_decode(const struct gpt_forward *f, const int32_t *tokens, int64_t batch, int64_t position,
                const struct gpt_cache *cache, float *logits)
{
    const struct pass p = {
        .f = f, .batch = batch, .seq = 1, .first = position, .cache = cache, .decode = true
    };

    run_pass(&p, tokens,
             &(struct output) { .m = batch, .ldx = f->config->width, .logits = logits });
}
