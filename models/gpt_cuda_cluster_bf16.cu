/* SPDX-License-Identifier: MIT */
/*
 * The prefill of short sequences in two kernels: a cluster of 8 or 16 blocks for each sequence does
 * all but the head (gpt_cuda_cluster.h), which is a product over the whole device. That one starts
 * under the body, and finds its weights in the L2: the body has them fetched meanwhile.
 * Limits: barriers and shared memory of a cluster, then the bandwidth to write the logits.
 */
#include "models/gpt_cuda_cluster_kinds.h"
#include "models/gpt_cuda_decode_call.h"
#include "models/gpt_cuda_linear.h"

extern "C" {
#include "base/memory.h"
#include "models/gpt_common.h"
}

#include <stdlib.h>

/* A model made ready for one shape. */
struct cluster_call {
    const struct gpt_cluster_kind *kind;
    struct gpt_cluster_body body;
    struct gemm_cuda head;
    bool hopper; /* see gpt_cuda_linear.h */
    cudaStream_t stream;
    void *memory; /* on the device: packed weights, h, the product's workspace */
};

static const int64_t most_sequences = 1 << 20;

/* The best of either number of blocks, with a layer's time on an H200. That runs 15 clusters of 8
 * at a time where a block has more than half of an SM's shared memory (else 30), and 7 of 16. */
const struct gpt_cluster_kind gpt_cluster_mma_kinds[] = {
    gpt_cluster_row_of<48, 16, 8, 8, GPT_CLUSTER_STORE>(5.11),
    gpt_cluster_row_of<48, 16, 16, 8, GPT_CLUSTER_COUNT>(5.12),
    gpt_cluster_row_of<64, 16, 8, 8, GPT_CLUSTER_STORE>(5.31),
    gpt_cluster_row_of<64, 16, 16, 8, GPT_CLUSTER_COUNT>(5.43),
    gpt_cluster_row_of<128, 32, 8, 8, GPT_CLUSTER_STORE>(7.59),
    gpt_cluster_row_of<128, 32, 16, 8, GPT_CLUSTER_COUNT>(7.19),
    gpt_cluster_row_of<192, 32, 8, 8, GPT_CLUSTER_STORE>(10.11),
    gpt_cluster_row_of<192, 32, 16, 8, GPT_CLUSTER_COUNT>(9.64),
    gpt_cluster_row_of<256, 32, 8, 8, GPT_CLUSTER_STORE>(13.42),
    gpt_cluster_row_of<256, 32, 16, 8, GPT_CLUSTER_STORE>(11.37),
    {},
};

static bool has_kind(const struct gpt_config *c)
{
    for (const struct gpt_cluster_kind *k = gpt_cluster_mma_kinds; k->width; k++)
        if (gpt_cluster_is(k, c->width, c->heads))
            return true;
    return false;
}

/* The row that is soonest done with so many sequences, as many at a time as the device can run, or
 * `best`, which may be NULL. */
static const struct gpt_cluster_kind *sooner(const struct gpt_cluster_kind *best, double *least,
                                             const struct gpt_cluster_kind *k,
                                             const struct gpt_config *c, int64_t sequences)
{
    for (; k->width; k++) {
        int active = gpt_cluster_is(k, c->width, c->heads) ? k->active() : 0;
        if (active < 1)
            continue;
        double us = k->us * (double)((sequences + active - 1) / active);
        if (!best || us < *least)
            best = k, *least = us;
    }
    return best;
}

static const struct gpt_cluster_kind *best_kind(const struct gpt_config *c, int64_t sequences,
                                                bool hopper)
{
    double least = 0;
    const struct gpt_cluster_kind *best =
        sooner(nullptr, &least, gpt_cluster_mma_kinds, c, sequences);

#ifdef HARNESS_HAVE_WGMMA
    if (hopper)
        best = sooner(best, &least, gpt_cluster_wgmma_kinds, c, sequences);
#endif
    (void)hopper;
    return best;
}

static bool supports(const struct kernel *k, const struct shape *s, const struct device *d,
                     struct error *why)
{
    const struct gpt_config *c = static_cast<const struct gpt_config *>(k->config);
    const cudaDeviceProp *p = d ? device_cuda_properties(d) : nullptr;

    if (!has_kind(c))
        error_set(why,
                  "width %lld in %lld heads: only models of up to 256 in heads of 16 or 32 fit "
                  "into the shared memory of a cluster",
                  (long long)c->width, (long long)c->heads);
    else if (s->dim[GPT_DIM_SEQ] > GPT_CLUSTER_ROWS)
        error_set(why, "seq %lld: a cluster holds the keys of %d positions",
                  (long long)s->dim[GPT_DIM_SEQ], (int)GPT_CLUSTER_ROWS);
    else if (s->dim[GPT_DIM_BATCH] > most_sequences)
        error_set(why, "batch %lld is beyond the %lld of one launch",
                  (long long)s->dim[GPT_DIM_BATCH], (long long)most_sequences);
    else if (p && p->major < 9)
        error_set(why, "clusters are for compute capability 9.0 and later, this is %d.%d", p->major,
                  p->minor);
    else
        return true;
    return false;
}

static const bf16 *weight(const struct call *call, enum gpt_tensor which)
{
    const struct gpt_config *c = static_cast<const struct gpt_config *>(call->kernel->config);

    return static_cast<const bf16 *>(call->tensor[GPT_PREFILL_PARAMS].data) +
           gpt_weight_offset(c, false, which, 0);
}

static void take_body(struct cluster_call *m, const struct call *call)
{
    const struct gpt_config *c = static_cast<const struct gpt_config *>(call->kernel->config);
    struct gpt_cluster_body *b = &m->body;

    b->layers = (int)c->layers;
    b->sequences = (int)call->shape.dim[GPT_DIM_BATCH];
    b->seq = (int)call->shape.dim[GPT_DIM_SEQ];
    b->tokens = static_cast<const int32_t *>(call->tensor[GPT_PREFILL_TOKENS].data);
    b->wte = weight(call, GPT_WTE);
    b->wpe = weight(call, GPT_WPE);
    b->stride = c->layers > 1 ? gpt_weight_offset(c, false, GPT_LN_1_WEIGHT, 1) -
                                    gpt_weight_offset(c, false, GPT_LN_1_WEIGHT, 0)
                              : 0;
    b->first_gain = weight(call, GPT_LN_1_WEIGHT);
    b->attention = { weight(call, GPT_PROJ_BIAS), weight(call, GPT_LN_2_WEIGHT) };
    b->mlp = { weight(call, GPT_FC_PROJ_BIAS), b->first_gain + b->stride };
    b->last_gain = weight(call, GPT_LN_F_WEIGHT);
    b->next = weight(call, GPT_LM_HEAD);
    b->next_bytes = 2 * c->vocab * c->width;
}

static void take_head(struct cluster_call *m, const struct call *call)
{
    const struct gpt_config *c = static_cast<const struct gpt_config *>(call->kernel->config);
    const cudaDeviceProp *p = device_cuda_properties(call->device);
    struct gemm_cuda *g = &m->head;

    g->m = (int64_t)m->body.sequences * m->body.seq;
    g->n = g->ldy = g->ldr = c->vocab;
    g->k = g->ldx = g->ldw = c->width;
    g->w = weight(call, GPT_LM_HEAD);
    g->activation = GEMM_IDENTITY;
    g->y = call->tensor[GPT_PREFILL_LOGITS].data;
    g->out = DTYPE_BF16;
    g->sms = p->multiProcessorCount;
    g->shared = p->sharedMemPerBlockOptin;
    g->early = true;
}

/* Adds whole 256-byte lines; gives the bytes in front. */
static size_t take(size_t *bytes, size_t more)
{
    size_t at = *bytes;

    *bytes += (more + 255) / 256 * 256;
    return at;
}

static int take_memory(struct cluster_call *m, struct device *device, struct error *err)
{
    size_t bytes = 0, packed = (size_t)m->body.layers * m->kind->layer_bytes;

    take(&bytes, packed);
    size_t at_h = take(&bytes, 2 * (size_t)(m->head.m * m->head.k));
    size_t at_gemm = take(&bytes, gemm_cuda_workspace(m->head.m, m->head.n, m->head.sms));
    m->memory = device_alloc(device, bytes, err);
    if (!m->memory)
        return error_prefix(err, "packed weights");
    unsigned char *memory = static_cast<unsigned char *>(m->memory);
    m->body.packed = memory;
    m->body.out = reinterpret_cast<bf16 *>(memory + at_h);
    m->head.x = memory + at_h;
    m->head.workspace = memory + at_gemm;
    return CUDA_TRY(cudaMemsetAsync(memory, 0, bytes, m->stream), err);
}

static int pack(const struct cluster_call *m, const struct call *call, struct error *err)
{
    const struct gpt_cluster_sources from = {
        .qkv = weight(call, GPT_ATTN_WEIGHT),
        .qkv_bias = weight(call, GPT_ATTN_BIAS),
        .proj = weight(call, GPT_PROJ_WEIGHT),
        .fc = weight(call, GPT_FC_WEIGHT),
        .fc_bias = weight(call, GPT_FC_BIAS),
        .fc_proj = weight(call, GPT_FC_PROJ_WEIGHT),
        .stride = m->body.stride,
        .packed = static_cast<unsigned char *>(m->memory),
    };

    m->kind->pack(&from, m->body.layers, m->stream);
    return CUDA_TRY(cudaGetLastError(), err);
}

static int prepare(struct call *call, struct error *err)
{
    const struct gpt_config *c = static_cast<const struct gpt_config *>(call->kernel->config);
    struct cluster_call *m = static_cast<struct cluster_call *>(memory_zeroed(1, sizeof(*m)));

    call->state = m;
    m->stream = device_cuda_stream(call->device);
    m->hopper = gpt_cuda_hopper(call->device);
    m->kind = best_kind(c, call->shape.dim[GPT_DIM_BATCH], m->hopper);
    if (!m->kind) {
        error_set(err, "the device has no room for a cluster that holds a layer of width %lld",
                  (long long)c->width);
        return CALL_UNSUPPORTED;
    }
    take_body(m, call);
    take_head(m, call);
    if (take_memory(m, call->device, err))
        return -1;
    return pack(m, call, err);
}

static void launch(const struct call *call)
{
    const struct cluster_call *m = static_cast<const struct cluster_call *>(call->state);

    m->kind->launch(&m->body, m->stream);
    gpt_cuda_head_bf16(&m->head, m->hopper, m->stream);
}

static void release(struct call *call)
{
    struct cluster_call *m = static_cast<struct cluster_call *>(call->state);

    if (!m)
        return;
    device_free(call->device, m->memory);
    free(m);
    call->state = nullptr;
}

#define ROW(id, ...)                                                                               \
    { .name = "cuda_cluster_bf16",                                                                 \
      .summary = "bf16, all but the head in a cluster of blocks a sequence; limit: its barriers",  \
      .kernel = &gpt_prefill_##id,                                                                 \
      .device = DEVICE_CUDA,                                                                       \
      .dtype = DTYPE_BF16,                                                                         \
      .math = MATH_BF16,                                                                           \
      .flags = VARIANT_WHOLE,                                                                      \
      .supports = supports,                                                                        \
      .prepare = prepare,                                                                          \
      .launch = launch,                                                                            \
      .release = release },
#define DECODE_ROW(id, ...)                                                                        \
    { .name = "cuda_cluster_bf16",                                                                 \
      .summary = "bf16, a step in one kernel; limit: reading the weights, or a chain of sums",     \
      .kernel = &gpt_decode_##id,                                                                  \
      .device = DEVICE_CUDA,                                                                       \
      .dtype = DTYPE_BF16,                                                                         \
      .math = MATH_BF16,                                                                           \
      .flags = VARIANT_WHOLE,                                                                      \
      .supports = gpt_decode_supports,                                                             \
      .prepare = gpt_decode_prepare,                                                               \
      .launch = gpt_decode_launch,                                                                 \
      .release = gpt_decode_release },

extern "C" const struct variant gpt_cuda_cluster_bf16[];
const struct variant gpt_cuda_cluster_bf16[] = { GPT_MODELS(ROW) GPT_MODELS(DECODE_ROW) /* and */
                                                 {} /* the end mark */ };
