/* SPDX-License-Identifier: MIT */
#include "models/gpt_scopes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SITE(name_)                                                                                \
    {                                                                                              \
        .name = (name_), .function = "forward", .file = "models/gpt_scopes.c"                      \
    }

static const struct prof_site sites[GPT_OP_NR] = {
    [GPT_OP_EMBED] = SITE("embed"),
    [GPT_OP_LN_1] = SITE("ln_1"),
    [GPT_OP_QKV] = SITE("qkv"),
    [GPT_OP_REMEMBER] = SITE("remember"),
    [GPT_OP_ATTENTION] = SITE("attention"),
    [GPT_OP_PROJ] = SITE("proj"),
    [GPT_OP_LN_2] = SITE("ln_2"),
    [GPT_OP_FC] = SITE("fc"),
    [GPT_OP_PROJ_2] = SITE("proj_2"),
    [GPT_OP_LN_F] = SITE("ln_f"),
    [GPT_OP_HEAD] = SITE("head"),
};

enum gpt_op gpt_op_of(enum gpt_tensor weight)
{
    static const enum gpt_op ops[GPT_TENSOR_NR] = {
        [GPT_WTE] = GPT_OP_EMBED,
        [GPT_WPE] = GPT_OP_EMBED,
        [GPT_LN_1_WEIGHT] = GPT_OP_LN_1,
        [GPT_LN_1_BIAS] = GPT_OP_LN_1,
        [GPT_ATTN_WEIGHT] = GPT_OP_QKV,
        [GPT_ATTN_BIAS] = GPT_OP_QKV,
        [GPT_PROJ_WEIGHT] = GPT_OP_PROJ,
        [GPT_PROJ_BIAS] = GPT_OP_PROJ,
        [GPT_LN_2_WEIGHT] = GPT_OP_LN_2,
        [GPT_LN_2_BIAS] = GPT_OP_LN_2,
        [GPT_FC_WEIGHT] = GPT_OP_FC,
        [GPT_FC_BIAS] = GPT_OP_FC,
        [GPT_FC_PROJ_WEIGHT] = GPT_OP_PROJ_2,
        [GPT_FC_PROJ_BIAS] = GPT_OP_PROJ_2,
        [GPT_LN_F_WEIGHT] = GPT_OP_LN_F,
        [GPT_LN_F_BIAS] = GPT_OP_LN_F,
        [GPT_LM_HEAD] = GPT_OP_HEAD,
    };

    return ops[weight];
}

const char *gpt_op_name(enum gpt_op op)
{
    return sites[op].name;
}

/*
 * In all that follows `handed` are the bytes of an element of what operations hand each other, of
 * norms, biases and rows of embeddings; `element` of a size are those of matrices, of keys and
 * values in the cache and of logits.
 */

/* y[m,n] = x[m,k] w[n,k]^T, of whose elements y has `out` bytes. `added` bytes more are read: bias,
 * residual. */
static struct work product(const struct gpt_op_size *s, enum gpt_tensor which, double handed,
                           double out, double added)
{
    int64_t rows, cols;

    gpt_weight_extents(s->config, which, &rows, &cols);
    double n = (double)rows, k = (double)cols, bits = (double)gpt_weight_bits(which);

    double m = (double)(s->batch * s->seq), element = (double)s->element;
    double w = s->rounded ? ceil(n * k * bits / 8) + n * (double)sizeof(float) : n * k * element;

    return (struct work) { .flops = 2 * m * n * k,
                           .bytes = m * k * handed + m * n * out + w + added };
}

/* One inside a layer, with its bias. */
static struct work linear(const struct gpt_op_size *s, enum gpt_tensor which, double handed,
                          double residual)
{
    int64_t rows, cols;

    gpt_weight_extents(s->config, which, &rows, &cols);
    return product(s, which, handed, handed, (double)rows * handed + residual);
}

static struct work embed_work(const struct gpt_op_size *s, double rows, double handed)
{
    double width = (double)s->config->width, vocab = (double)s->config->vocab;
    double read = (rows < vocab ? rows : vocab) + (double)s->seq;

    return (struct work) { .flops = rows * width,
                           .bytes = read * width * handed + rows * width * (double)s->stream +
                                    rows * (double)sizeof(int32_t) };
}

static struct work norm_work(const struct gpt_op_size *s, double rows, double handed)
{
    double width = (double)s->config->width;

    return (struct work) { .flops = 8 * rows * width,
                           .bytes =
                               rows * width * ((double)s->stream + handed) + 2 * width * handed };
}

/* A decode step, which asks for one token a sequence, finds keys and values in the cache. */
static struct work attention_work(const struct gpt_op_size *s, double handed)
{
    double batch = (double)s->batch, seq = (double)s->seq, length = (double)s->length;
    double queries = s->last ? 1 : seq;
    double pairs = s->last ? length : seq * (seq + 1) / 2;
    double width = (double)s->config->width;
    double kept = s->last && s->seq == 1 ? (double)s->element : handed;

    return (struct work) { .flops = 4 * width * batch * pairs,
                           .bytes = batch * width * (2 * queries * handed + 2 * length * kept) };
}

static struct work op_work(const struct gpt_op_size *s, enum gpt_op op, double handed)
{
    double rows = (double)(s->batch * s->seq), c = (double)s->config->width;
    double element = (double)s->element, stream = (double)s->stream;
    /* The two products that end in the residual stream read and write that. */
    double residual = rows * c * (2 * stream - handed);

    switch (op) {
    case GPT_OP_EMBED:
        return embed_work(s, rows, handed);
    case GPT_OP_LN_1:
    case GPT_OP_LN_2:
    case GPT_OP_LN_F:
        return norm_work(s, rows, handed);
    case GPT_OP_QKV:
        return linear(s, GPT_ATTN_WEIGHT, handed, 0);
    case GPT_OP_REMEMBER:
        return (struct work) { .bytes = 2 * rows * c * (handed + element) };
    case GPT_OP_ATTENTION:
        return attention_work(s, handed);
    case GPT_OP_PROJ:
        return linear(s, GPT_PROJ_WEIGHT, handed, residual);
    case GPT_OP_FC:
        return linear(s, GPT_FC_WEIGHT, handed, 0);
    case GPT_OP_PROJ_2:
        return linear(s, GPT_FC_PROJ_WEIGHT, handed, residual);
    case GPT_OP_HEAD:
        return product(s, GPT_LM_HEAD, handed, element, 0);
    default:
        return (struct work) { 0 };
    }
}

struct work gpt_op_work(const struct gpt_op_size *s, enum gpt_op op)
{
    return op_work(s, op, (double)s->element);
}

/* On a CPU what is handed on is fp32 (models/generation/gpt_narrow.h). */
static struct work work_of(const struct gpt_scopes *scopes, const struct gpt_op_size *s,
                           enum gpt_op op)
{
    return scopes->device == PROF_CPU ? op_work(s, op, (double)sizeof(float)) : gpt_op_work(s, op);
}

static int name_layers(struct gpt_scopes *scopes, int64_t layers)
{
    for (int64_t i = 0; i < layers; i++) {
        char name[32];
        snprintf(name, sizeof(name), "layer %lld", (long long)i);
        scopes->layers[i] = prof_site_named(prof_global(), name);
        if (!scopes->layers[i])
            return -1;
    }
    return 0;
}

struct gpt_scopes *gpt_scopes_create(int64_t layers, const char *backend)
{
    struct gpt_scopes *scopes = calloc(1, sizeof(*scopes));

    if (!scopes)
        return NULL;
    scopes->backend = backend;
    scopes->device = PROF_CPU;
    scopes->layers = calloc((size_t)layers, sizeof(*scopes->layers));
    if (scopes->layers && name_layers(scopes, layers) == 0)
        return scopes;
    gpt_scopes_free(scopes);
    return NULL;
}

void gpt_scopes_free(struct gpt_scopes *scopes)
{
    if (!scopes)
        return;
    free(scopes->layers);
    free(scopes);
}

static struct prof_scope begin(const struct gpt_scopes *scopes, const struct prof_site *site,
                               const struct work *w)
{
    const struct prof_work work = { .device = scopes->device,
                                    .backend = scopes->backend,
                                    .stream = scopes->stream,
                                    .bytes = (int64_t)w->bytes,
                                    .flops = w->flops };

    return prof_begin(prof_global(), site, &work);
}

struct prof_scope gpt_scope_begin(const struct gpt_scopes *scopes, enum gpt_op op,
                                  const struct gpt_op_size *size)
{
    struct work work = size ? work_of(scopes, size, op) : (struct work) { .flops = 0 };

    return begin(scopes, &sites[op], &work);
}

static void add(struct work *sum, const struct gpt_scopes *scopes, const struct gpt_op_size *size,
                enum gpt_op first, enum gpt_op last, enum gpt_op without)
{
    for (enum gpt_op op = first; op <= last; op++) {
        struct work work = work_of(scopes, size, op);
        if (op == without)
            continue;
        sum->flops += work.flops;
        sum->bytes += work.bytes;
    }
}

struct prof_scope gpt_scope_layer(const struct gpt_scopes *scopes, int64_t layer,
                                  const struct gpt_op_size *size, const struct gpt_op_size *tail,
                                  bool remembers)
{
    struct work work = { .flops = 0 };

    if (size) {
        add(&work, scopes, size, GPT_OP_LN_1, GPT_OP_ATTENTION,
            remembers ? GPT_OP_NR : GPT_OP_REMEMBER);
        add(&work, scopes, tail, GPT_OP_PROJ, GPT_OP_PROJ_2, GPT_OP_NR);
    }
    return begin(scopes, scopes->layers[layer], &work);
}
