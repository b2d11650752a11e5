/* SPDX-License-Identifier: MIT */
/*
 * A decode step in one kernel (gpt_cuda_decode.h) as a variant: what it is instantiated for, and
 * the weights that it wants packed: those of which a block reads columns, proj and fc2. All else it
 * reads where the parameters are.
 */
#include "models/gpt_cuda_decode_call.h"

#include "device/device_cuda.h"
#include "models/gpt_cuda_decode_kinds.h"

extern "C" {
#include "base/memory.h"
#include "models/gpt_common.h"
}

#include <stdlib.h>

/* A model made ready for one shape. */
struct decode_call {
    const struct gpt_decode_kind *kind;
    struct gpt_decode_body body;
    cudaStream_t stream;
    void *memory; /* on the device: packed weights, what blocks give each other */
};

/* Width, head, positions; then warps, of which one owns 64 columns or fewer, and chunks ahead. */
static const struct gpt_decode_kind kinds[] = {
    gpt_decode_row_of<48, 16, 128, 8, 24>(),  gpt_decode_row_of<64, 16, 128, 8, 24>(),
    gpt_decode_row_of<128, 32, 256, 8, 24>(), gpt_decode_row_of<192, 32, 256, 8, 24>(),
    gpt_decode_row_of<256, 32, 512, 8, 24>(), gpt_decode_row_of<768, 64, 1024, 12, 14>(),
};

static const struct gpt_decode_kind *kind_of(const struct gpt_config *c)
{
    for (const struct gpt_decode_kind &k : kinds)
        if (k.width == c->width && c->heads * k.head == c->width && c->block <= k.positions)
            return &k;
    return nullptr;
}

bool gpt_decode_supports(const struct kernel *k, const struct shape *s, const struct device *d,
                         struct error *why)
{
    const struct gpt_config *c = static_cast<const struct gpt_config *>(k->config);
    const cudaDeviceProp *p = d ? device_cuda_properties(d) : nullptr;
    const struct gpt_decode_kind *kind = kind_of(c);

    if (!kind)
        error_set(why, "width %lld in %lld heads is not one that this is compiled for",
                  (long long)c->width, (long long)c->heads);
    else if (s->dim[GPT_DIM_BATCH] != 1)
        error_set(why, "batch %lld: it is for one sequence, which has all blocks to itself",
                  (long long)s->dim[GPT_DIM_BATCH]);
    else if (s->dim[GPT_DIM_SEQ] > kind->positions)
        error_set(why, "seq %lld: a cluster holds the keys of %d positions",
                  (long long)s->dim[GPT_DIM_SEQ], kind->positions);
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

    return static_cast<const bf16 *>(call->tensor[GPT_DECODE_PARAMS].data) +
           gpt_weight_offset(c, false, which, 0);
}

static void take_body(struct decode_call *m, const struct call *call, int clusters)
{
    const struct gpt_config *c = static_cast<const struct gpt_config *>(call->kernel->config);
    struct gpt_decode_body *b = &m->body;

    b->layers = (int)c->layers;
    b->seq = (int)call->shape.dim[GPT_DIM_SEQ];
    b->vocab = (int)c->vocab;
    b->clusters = clusters;
    b->busy_units = m->kind->busy_units(clusters);
    b->tokens = static_cast<const int32_t *>(call->tensor[GPT_DECODE_TOKENS].data);
    b->wte = weight(call, GPT_WTE);
    b->wpe = weight(call, GPT_WPE);
    b->first = weight(call, GPT_LN_1_WEIGHT);
    b->last_norm = weight(call, GPT_LN_F_WEIGHT);
    b->lm_head = weight(call, GPT_LM_HEAD);
    b->k = static_cast<bf16 *>(call->tensor[GPT_DECODE_K].data);
    b->v = static_cast<bf16 *>(call->tensor[GPT_DECODE_V].data);
    b->logits = static_cast<bf16 *>(call->tensor[GPT_DECODE_LOGITS].data);
}

/* Adds whole 256-byte lines; gives the bytes in front. */
static size_t take(size_t *bytes, size_t more)
{
    size_t at = *bytes;

    *bytes += (more + 255) / 256 * 256;
    return at;
}

static int take_memory(struct decode_call *m, struct device *device, struct error *err)
{
    size_t bytes = 0;
    size_t given = 2 * GPT_DECODE_SOURCES * (size_t)m->kind->width * sizeof(cuda_flagged);

    size_t at_mid = take(&bytes, given), at_end = take(&bytes, given);
    size_t at_launches = take(&bytes, sizeof(unsigned));
    size_t at_packed = take(&bytes, (size_t)m->body.layers * m->kind->packed_layer);
    m->memory = device_alloc(device, bytes, err);
    if (!m->memory)
        return error_prefix(err, "packed weights");
    unsigned char *memory = static_cast<unsigned char *>(m->memory);
    m->body.mid = reinterpret_cast<cuda_flagged *>(memory + at_mid);
    m->body.end = reinterpret_cast<cuda_flagged *>(memory + at_end);
    m->body.launches = reinterpret_cast<unsigned *>(memory + at_launches);
    m->body.packed = memory + at_packed;
    if (CUDA_TRY(cudaMemsetAsync(memory, 0, at_packed, m->stream), err))
        return -1;
    m->kind->pack(m->body.first, m->body.layers, memory + at_packed, m->stream);
    return CUDA_TRY(cudaGetLastError(), err);
}

int gpt_decode_prepare(struct call *call, struct error *err)
{
    const struct gpt_config *c = static_cast<const struct gpt_config *>(call->kernel->config);
    struct decode_call *m = static_cast<struct decode_call *>(memory_zeroed(1, sizeof(*m)));

    call->state = m;
    m->stream = device_cuda_stream(call->device);
    m->kind = kind_of(c);
    int clusters = m->kind->active();
    if (clusters < c->heads) {
        error_set(err,
                  "the device runs %d clusters of %d blocks at the same time, fewer than %lld "
                  "heads",
                  clusters, (int)GPT_DECODE_BLOCKS, (long long)c->heads);
        return CALL_UNSUPPORTED;
    }
    take_body(m, call, clusters);
    return take_memory(m, call->device, err);
}

void gpt_decode_launch(const struct call *call)
{
    const struct decode_call *m = static_cast<const struct decode_call *>(call->state);

    m->kind->launch(&m->body, m->stream);
}

void gpt_decode_release(struct call *call)
{
    struct decode_call *m = static_cast<struct decode_call *>(call->state);

    if (!m)
        return;
    device_free(call->device, m->memory);
    free(m);
    call->state = nullptr;
}
