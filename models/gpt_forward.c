/* SPDX-License-Identifier: MIT */
#include "models/gpt_forward.h"

#include "base/memory.h"
#include "host/host_cache.h"
#include "kernels/host.h"
#include "kernels/team.h"
#include "models/generation/gpt_narrow.h"
#include "models/gpt_scopes.h"

#include <stdlib.h>

enum {
    ALIGN = 16,       /* floats in 64 bytes */
    STREAM_SHARE = 8, /* of the last cache: logits beyond that part go around it */
    STREAM_MIB = 4,   /* where the cache's size is unknown */
};

static size_t aligned(size_t floats)
{
    return (floats + ALIGN - 1) / ALIGN * ALIGN;
}

/* Floats (on huge pages where there are enough of them), or NULL and a message; SIZE_MAX stands for
 * a count that overflowed. */
static float *allocate(size_t floats, const struct gpt_config *c, const char *what,
                       struct error *err)
{
    struct error why;
    float *memory = host_floats(floats, &why);

    if (!memory)
        error_set(err, "%s: %s: %s", c->name, what, why.message);
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
    return aligned(gpt_ops_of(f->ops, which)->packed_size(n, k));
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
    gpt_ops_of(f->ops, which)->pack(gpt_weight(w, which, layer), n, k, to, f->threads);
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

/* Of products over `rows` tokens, whose inputs are one or four times as wide as the model. */
static size_t product_scratch(const struct gpt_forward *f, int64_t rows)
{
    const int64_t width = f->config->width;

    if (!f->ops->scratch)
        return 0;
    size_t one = f->ops->scratch(rows, width, f->threads);
    size_t four = f->ops->scratch(rows, 4 * width, f->threads);
    return one > four ? one : four;
}

/* Of attention and the products, which take turns. */
static size_t shared_scratch(const struct gpt_forward *f, int64_t rows, int64_t seq)
{
    const struct gpt_config *c = f->config;
    size_t scratch = attention_scratch(seq, c->width / c->heads, f->threads);
    size_t decode = attention_decode_scratch(seq, f->threads), products = product_scratch(f, rows);

    scratch = scratch > decode ? scratch : decode;
    scratch = scratch > products ? scratch : products;
    if (gpt_is_narrow(f)) {
        size_t narrow_one = gpt_narrow_scratch(f, rows, seq);
        scratch = scratch > narrow_one ? scratch : narrow_one;
    }
    return aligned(scratch);
}

struct workspace {
    size_t narrow, wide, scratch; /* floats; of the first there are two */
};

/* False: they are too many to address. */
static bool workspace_of(const struct gpt_forward *f, int64_t rows, int64_t seq,
                         struct workspace *w)
{
    size_t narrow = product(rows, f->config->width, 1), wide = product(rows, f->config->width, 4);

    if (wide == SIZE_MAX)
        return false;
    *w = (struct workspace) { aligned(narrow), aligned(wide), shared_scratch(f, rows, seq) };
    return true;
}

static size_t workspace_floats(const struct workspace *w)
{
    return 2 * w->narrow + w->wide + w->scratch;
}

static int take_workspace(struct gpt_forward *f, int64_t rows, int64_t seq, struct error *err)
{
    struct workspace w;

    if (!workspace_of(f, rows, seq, &w))
        return error_set(err, "%s: %lld tokens at once are too many to address", f->config->name,
                         (long long)rows);
    f->x = allocate(workspace_floats(&w), f->config, "workspace", err);
    if (!f->x)
        return -1;
    f->h = f->x + w.narrow;
    f->wide = f->h + w.narrow;
    f->scratch = f->wide + w.wide;
    return 0;
}

size_t gpt_forward_floats(const struct gpt_config *config, const struct gpt_ops *ops, int64_t rows,
                          int64_t seq, int threads)
{
    const struct gpt_forward f = { .config = config, .ops = ops, .threads = threads };
    struct workspace w;

    if (!workspace_of(&f, rows, seq, &w))
        return SIZE_MAX;
    return workspace_floats(&w) + (ops->pack ? packed_total(&f) : 0);
}

/* Logits that would push all else out of the last cache go around it. Already from an eighth of it
 * on that is no slower, and from a quarter on faster (docs/performance-cpu.md). */
static int64_t stream_bytes(void)
{
    int64_t last = host_cache_bytes(3);

    return last > 0 ? last / STREAM_SHARE : (int64_t)STREAM_MIB << 20;
}

int gpt_forward_init(struct gpt_forward *f, const struct gpt_config *config,
                     const struct gpt_weights *weights, const struct gpt_ops *ops, int64_t rows,
                     int64_t seq, int threads, struct error *err)
{
    *f = (struct gpt_forward) {
        .config = config, .ops = ops, .threads = threads, .stream_bytes = stream_bytes()
    };
    if (gpt_config_check(config, err))
        return -1;
    if (rows < 1 || seq < 1)
        return error_set(err, "%s: batch and seq must be at least 1", config->name);
    if (seq > config->block)
        return error_set(err, "%s: seq %lld is beyond the block size %lld", config->name,
                         (long long)seq, (long long)config->block);
    if (ops->open != NULL && ops->open(err) != 0)
        return -1;
    f->scopes = gpt_scopes_create(config->layers, ops->name);
    if (!f->scopes)
        return error_set(err, "%s: no memory for its scopes", config->name);
    f->team = memory_zeroed(1, sizeof(*f->team));
    return take_weights(f, weights, err) || take_workspace(f, rows, seq, err) ? -1 : 0;
}

void gpt_forward_release(struct gpt_forward *f)
{
    free(f->tensors);
    free(f->packed);
    free(f->x);
    gpt_scopes_free(f->scopes);
    free(f->team);
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
