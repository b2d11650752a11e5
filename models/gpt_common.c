/* SPDX-License-Identifier: MIT */
#include "models/gpt_common.h"

#include "base/memory.h"
#include "kernels/host.h"

#include <stdlib.h>

/* Tokens at once. */
static int64_t rows_of(const struct call *call)
{
    int64_t batch = call->shape.dim[GPT_DIM_BATCH], seq = call->shape.dim[GPT_DIM_SEQ];

    return call->nr_tensors == GPT_DECODE_NR ? batch : batch * seq;
}

int64_t gpt_call_workspace(const struct call *call, const struct gpt_ops *ops)
{
    return host_bytes(gpt_forward_floats(call->kernel->config, ops, rows_of(call),
                                         call->shape.dim[GPT_DIM_SEQ], host_threads(call)));
}

int gpt_call_forward(const struct call *call, float *params, const struct gpt_ops *ops,
                     struct gpt_forward *f, struct error *err)
{
    const struct gpt_config *c = call->kernel->config;
    const struct gpt_weights weights = { .config = c, .data = params };

    return gpt_forward_init(f, c, &weights, ops, rows_of(call), call->shape.dim[GPT_DIM_SEQ],
                            host_threads(call), err);
}

int gpt_call_prepare(struct call *call, const struct gpt_ops *ops, struct error *err)
{
    struct gpt_forward *f = memory_zeroed(1, sizeof(*f));

    call->state = f;
    return gpt_call_forward(call, call->tensor[GPT_PREFILL_PARAMS].data, ops, f, err);
}

void gpt_call_prefill(const struct call *call)
{
    gpt_prefill(call->state, call->tensor[GPT_PREFILL_TOKENS].data, call->shape.dim[GPT_DIM_BATCH],
                call->shape.dim[GPT_DIM_SEQ], NULL, GPT_LOGITS_ALL,
                call->tensor[GPT_PREFILL_LOGITS].data);
}

void gpt_call_decode(const struct call *call)
{
    int64_t batch = call->shape.dim[GPT_DIM_BATCH], seq = call->shape.dim[GPT_DIM_SEQ];
    struct gpt_cache cache = { .k = call->tensor[GPT_DECODE_K].data,
                               .v = call->tensor[GPT_DECODE_V].data,
                               .batch = batch,
                               .capacity = seq };

    gpt_decode(call->state, call->tensor[GPT_DECODE_TOKENS].data, batch, seq - 1, &cache,
               call->tensor[GPT_DECODE_LOGITS].data);
}

void gpt_call_release(struct call *call)
{
    if (!call->state)
        return;
    gpt_forward_release(call->state);
    free(call->state);
    call->state = NULL;
}
