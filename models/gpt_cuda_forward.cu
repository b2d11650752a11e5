/* SPDX-License-Identifier: MIT */
/*
 * The forward of models/gpt_forward.h on a CUDA stream. M = batch * seq tokens (a decode step:
 * batch), C the width, V the vocabulary; x is the residual stream, always float.
 *
 *   embedding   x[M,C] = wte[tokens] + wpe[positions]
 *   a layer     1  h[M,C]     = LN1(x)
 *               2  qkv[M,3C]  = h Wqkv^T + b                bias in the product's epilogue
 *               3  h[M,C]     = attention(q, k, v)          views of qkv, 3C elements a token;
 *                                                           a decode step stores its k and v
 *               4  x[M,C]    += h Wo^T + b                  bias and residual in the epilogue
 *               5  h[M,C]     = LN2(x)
 *               6  mlp[M,4C]  = GELU(h W1^T + b)            bias and GELU in the epilogue
 *               7  x[M,C]    += mlp W2^T + b                bias and residual in the epilogue
 *   head        h[M,C] = LNf(x), logits[M,V] = h Whead^T
 *
 * 7 L + 3 kernels, and no copy, split or transposition between them. qkv and mlp share their
 * memory. From sm_90 on each kernel but the first starts under the one in front of it, asks for its
 * weights and waits for the rest (kernels/cuda/pdl.h); as each waits before it ends, all in front
 * of it are done then. The embedding starts when all before it has ended: what it reads may come
 * from anywhere. Limits: at these sizes the launches, 2 us each on a stream and some 1.3 us in a
 * graph, less where they overlap; above them the head, which at V = 50257 has most of the FLOPs and
 * writes most of the bytes.
 */
#include "models/gpt_cuda_forward.h"

#include "kernels/embedding/embedding_cuda.h"
#include "kernels/layernorm/layernorm_cuda.h"
#include "models/gpt_cuda_scopes.h"

extern "C" {
#include "base/memory.h"
}

#include <stdlib.h>

/* A model made ready for one shape; what lies on the device is one allocation from `x` on. */
struct gpt_cuda {
    const struct gpt_config *config;
    const struct gpt_cuda_ops *ops;
    cudaStream_t stream;
    int sms;
    size_t shared;             /* bytes a block of the device may have */
    bool hopper;               /* see gpt_cuda_linear.h */
    bool early;                /* kernels start before the one in front has ended, see pdl.h */
    int64_t batch, seq, first; /* tokens a sequence, position of the first */
    const int32_t *tokens;
    const void **tensors; /* [layers][GPT_TENSOR_NR] */
    void *k, *v;          /* caches [layers, batch, first + 1, C] of a decode step, or NULL */
    void *logits;
    float *x;          /* [M, C] */
    void *h, *wide;    /* [M, C], [M, 4C] */
    void *gemm, *past; /* workspaces of the products and of a decode step's attention */
    struct gpt_scopes *scopes;
    struct gpt_op_size size; /* of each operation, for its scope */
};

/* Tokens of a launch. Blocks and rows are counted in 31 bits by the products, which get that far at
 * a head of 50257 outputs; the logits take 400 GB then. */
static const int64_t most_tokens = 1 << 21;

static bool decodes(const struct kernel *k)
{
    return k->oracle == gpt_decode_oracle;
}

bool gpt_cuda_supports(const struct kernel *k, const struct shape *s, const struct device *d,
                       struct error *why)
{
    int64_t tokens = s->dim[GPT_DIM_BATCH] * (decodes(k) ? 1 : s->dim[GPT_DIM_SEQ]);

    (void)d;
    if (tokens > most_tokens)
        error_set(why, "%lld tokens are beyond the %lld of one launch", (long long)tokens,
                  (long long)most_tokens);
    return tokens <= most_tokens;
}

static int64_t rows_of(const struct gpt_cuda *g)
{
    return g->batch * g->seq;
}

static size_t element(const struct gpt_cuda *g)
{
    return dtype_size(g->ops->dtype);
}

/* `elements` behind p, of the variant's type. */
static void *behind(const struct gpt_cuda *g, void *p, int64_t elements)
{
    return static_cast<char *>(p) + (size_t)elements * element(g);
}

static const void *weight(const struct gpt_cuda *g, int which, int64_t layer)
{
    return g->tensors[layer * GPT_TENSOR_NR + which];
}

static void embed(const struct gpt_cuda *g)
{
    gpt_cuda_scope here(g->scopes, GPT_OP_EMBED, &g->size);
    struct embedding_cuda e = {
        .batch = g->batch,
        .seq = g->seq,
        .width = g->config->width,
        .tokens = g->tokens,
        .wte = weight(g, GPT_WTE, 0),
        .wpe = weight(g, GPT_WPE, 0),
        .first = g->first,
        .out = g->x,
        .dtype = g->ops->dtype,
        .stream = DTYPE_FP32,
    };

    embedding_rows_cuda(&e, g->stream);
}

/* h = LN(x); the bias follows the gain in the table. */
static void norm(const struct gpt_cuda *g, int gain, int64_t layer)
{
    gpt_cuda_scope here(g->scopes, gpt_op_of((enum gpt_tensor)gain), &g->size);
    struct layernorm_cuda l = {
        .rows = rows_of(g),
        .width = g->config->width,
        .x = g->x,
        .delta = nullptr,
        .sum = nullptr,
        .gain = weight(g, gain, layer),
        .bias = weight(g, gain + 1, layer),
        .y = g->h,
        .stream = DTYPE_FP32,
        .dtype = g->ops->dtype,
        .early = g->early,
    };

    layernorm_rows_cuda(&l, g->stream);
}

/* The product of all tokens with a weight; what it is for is the caller's. */
static struct gemm_cuda product(const struct gpt_cuda *g, int which, int64_t layer, const void *x)
{
    struct gemm_cuda p = {};

    gpt_weight_extents(g->config, (enum gpt_tensor)which, &p.n, &p.k);
    p.m = rows_of(g);
    p.x = x;
    p.ldx = p.ldw = p.k;
    p.w = weight(g, which, layer);
    p.ldr = p.ldy = p.n;
    p.activation = GEMM_IDENTITY;
    p.out = g->ops->dtype;
    p.sms = g->sms;
    p.shared = g->shared;
    p.workspace = g->gemm;
    p.early = g->early;
    return p;
}

/* wide = activation(h W^T + b); the bias follows the weight in the table. */
static void widen(const struct gpt_cuda *g, int which, int64_t layer,
                  enum gemm_activation activation)
{
    gpt_cuda_scope here(g->scopes, gpt_op_of((enum gpt_tensor)which), &g->size);
    struct gemm_cuda p = product(g, which, layer, g->h);

    p.bias = weight(g, which + 1, layer);
    p.activation = activation;
    p.y = g->wide;
    g->ops->linear(&p, g->hopper, g->stream);
}

/* x += from W^T + b */
static void add(const struct gpt_cuda *g, int which, int64_t layer, const void *from)
{
    gpt_cuda_scope here(g->scopes, gpt_op_of((enum gpt_tensor)which), &g->size);
    struct gemm_cuda p = product(g, which, layer, from);

    p.bias = weight(g, which + 1, layer);
    p.residual = p.y = g->x;
    p.out = DTYPE_FP32;
    g->ops->linear(&p, g->hopper, g->stream);
}

static void head(const struct gpt_cuda *g)
{
    gpt_cuda_scope here(g->scopes, GPT_OP_HEAD, &g->size);
    struct gemm_cuda p = product(g, GPT_LM_HEAD, 0, g->h);

    p.y = g->logits;
    g->ops->head(&p, g->hopper, g->stream);
}

static void attend(const struct gpt_cuda *g)
{
    gpt_cuda_scope here(g->scopes, GPT_OP_ATTENTION, &g->size);
    int64_t width = g->config->width;
    struct attention_cuda a = {
        .batch = g->batch,
        .seq = g->seq,
        .heads = g->config->heads,
        .headdim = width / g->config->heads,
        .q = g->wide,
        .k = behind(g, g->wide, width),
        .v = behind(g, g->wide, 2 * width),
        .ld = 3 * width,
        .out = g->h,
        .ldo = width,
        .causal = true,
        .sms = g->sms,
        .early = g->early,
    };

    g->ops->attention(&a, g->stream);
}

/* The keys and values of this step lie in `wide` and go to the caches' last position. */
static void attend_to_cache(const struct gpt_cuda *g, int64_t layer)
{
    gpt_cuda_scope here(g->scopes, GPT_OP_ATTENTION, &g->size);
    int64_t width = g->config->width, length = g->first + 1;
    int64_t before = layer * g->batch * length * width;
    struct attention_cuda_decode a = {
        .batch = g->batch,
        .length = length,
        .heads = g->config->heads,
        .headdim = width / g->config->heads,
        .q = g->wide,
        .ldq = 3 * width,
        .k = behind(g, g->k, before),
        .v = behind(g, g->v, before),
        .ld = width,
        .ld_sequence = length * width,
        .new_k = behind(g, g->wide, width),
        .new_v = behind(g, g->wide, 2 * width),
        .out = g->h,
        .ldo = width,
        .sms = g->sms,
        .workspace = g->past,
        .early = g->early,
    };

    g->ops->decode(&a, g->stream);
}

static void run_layer(const struct gpt_cuda *g, int64_t layer)
{
    gpt_cuda_scope here(g->scopes, layer, &g->size);
    norm(g, GPT_LN_1_WEIGHT, layer);
    widen(g, GPT_ATTN_WEIGHT, layer, GEMM_IDENTITY);
    if (g->k)
        attend_to_cache(g, layer);
    else
        attend(g);
    add(g, GPT_PROJ_WEIGHT, layer, g->h);
    norm(g, GPT_LN_2_WEIGHT, layer);
    widen(g, GPT_FC_WEIGHT, layer, GEMM_GELU);
    add(g, GPT_FC_PROJ_WEIGHT, layer, g->wide);
}

void gpt_cuda_launch(const struct call *call)
{
    const struct gpt_cuda *g = static_cast<const struct gpt_cuda *>(call->state);

    embed(g);
    for (int64_t layer = 0; layer < g->config->layers; layer++)
        run_layer(g, layer);
    norm(g, GPT_LN_F_WEIGHT, 0);
    head(g);
}

static void take_tensors(struct gpt_cuda *g, const struct call *call)
{
    bool decode = decodes(call->kernel);
    const struct tensor *t = call->tensor;
    int64_t batch = call->shape.dim[GPT_DIM_BATCH], seq = call->shape.dim[GPT_DIM_SEQ];
    size_t nr = (size_t)g->config->layers * GPT_TENSOR_NR;

    g->batch = batch;
    g->seq = decode ? 1 : seq;
    g->first = decode ? seq - 1 : 0;
    g->tokens = static_cast<const int32_t *>(t[GPT_PREFILL_TOKENS].data);
    g->k = decode ? t[GPT_DECODE_K].data : nullptr;
    g->v = decode ? t[GPT_DECODE_V].data : nullptr;
    g->logits = decode ? t[GPT_DECODE_LOGITS].data : t[GPT_PREFILL_LOGITS].data;
    g->tensors = static_cast<const void **>(memory_zeroed(nr, sizeof(*g->tensors)));
    for (size_t i = 0; i < nr; i++) {
        int64_t at = gpt_weight_offset(g->config, false, (enum gpt_tensor)(i % GPT_TENSOR_NR),
                                       (int64_t)(i / GPT_TENSOR_NR));
        g->tensors[i] = behind(g, t[GPT_PREFILL_PARAMS].data, at);
    }
}

static void take_size(struct gpt_cuda *g)
{
    g->size.config = g->config;
    g->size.batch = g->batch;
    g->size.seq = g->seq;
    g->size.length = g->first + g->seq;
    g->size.last = g->k != nullptr;
    g->size.element = element(g);
    g->size.stream = sizeof(float);
}

/* Gives the bytes in front of the next array and adds those of this one, whole 256-byte lines. */
static size_t take(size_t *bytes, size_t more)
{
    size_t at = *bytes;

    *bytes += (more + 255) / 256 * 256;
    return at;
}

/* The logits [M, V] are larger than all of it, and could be allocated: nothing overflows. Zeroed,
 * as the products and the attention want their workspaces. */
static int take_workspace(struct gpt_cuda *g, struct device *device, struct error *err)
{
    const struct gpt_config *c = g->config;
    int64_t rows = rows_of(g), widest = c->vocab > 4 * c->width ? c->vocab : 4 * c->width;
    size_t narrow = (size_t)(rows * c->width), bytes = 0;
    size_t past = g->k ? attention_cuda_decode_workspace(g->batch, c->heads, c->width / c->heads,
                                                         g->first + 1, g->sms)
                       : 0;

    take(&bytes, narrow * sizeof(float));
    size_t at_h = take(&bytes, narrow * element(g));
    size_t at_wide = take(&bytes, 4 * narrow * element(g));
    size_t at_gemm = take(&bytes, gemm_cuda_workspace(rows, widest, g->sms));
    size_t at_past = take(&bytes, past);
    char *memory = static_cast<char *>(device_alloc(device, bytes, err));
    if (!memory)
        return error_prefix(err, "workspace of %s", c->name);
    g->x = reinterpret_cast<float *>(memory);
    g->h = memory + at_h;
    g->wide = memory + at_wide;
    g->gemm = memory + at_gemm;
    g->past = memory + at_past;
    return CUDA_TRY(cudaMemsetAsync(memory, 0, bytes, g->stream), err);
}

int gpt_cuda_prepare(struct call *call, const struct gpt_cuda_ops *ops, struct error *err)
{
    struct gpt_cuda *g = static_cast<struct gpt_cuda *>(memory_zeroed(1, sizeof(*g)));

    call->state = g;
    g->config = static_cast<const struct gpt_config *>(call->kernel->config);
    g->ops = ops;
    g->stream = device_cuda_stream(call->device);
    g->sms = device_cuda_properties(call->device)->multiProcessorCount;
    g->shared = device_cuda_properties(call->device)->sharedMemPerBlockOptin;
    g->hopper = gpt_cuda_hopper(call->device);
    g->early = device_cuda_properties(call->device)->major >= 9;
    take_tensors(g, call);
    g->scopes = gpt_scopes_create(g->config->layers, call->variant->name);
    if (!g->scopes)
        return error_set(err, "%s: no memory for its scopes", g->config->name);
    g->scopes->device = PROF_GPU_AT(device_cuda_index(call->device));
    g->scopes->stream = g->stream;
    take_size(g);
    return take_workspace(g, call->device, err);
}

void gpt_cuda_release(struct call *call)
{
    struct gpt_cuda *g = static_cast<struct gpt_cuda *>(call->state);

    if (!g)
        return;
    device_free(call->device, g->x);
    gpt_scopes_free(g->scopes);
    free(g->tensors);
    free(g);
    call->state = nullptr;
}
