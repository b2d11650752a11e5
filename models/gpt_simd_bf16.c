/* SPDX-License-Identifier: MIT */
/*
 * The forward in bfloat16 (models/generation/gpt_narrow.h). Limits: a prefill the rate of bf16
 * products (`flops.bf16`), a decode step the bandwidth at which weights of half the size can be
 * read.
 */
#include "base/memory.h"
#include "kernels/host.h"
#include "kernels/simd.h"
#include "models/generation/gpt_narrow.h"
#include "models/gpt_common.h"

#include <stdlib.h>

/* Begins as the state of gpt_call_prefill() and gpt_call_decode(). */
struct narrow {
    struct gpt_forward forward;
    float *params; /* as floats: the norms', the biases and the rows of both embeddings are used */
};

static int prepare(struct call *call, struct error *err)
{
    const struct tensor *params = &call->tensor[GPT_PREFILL_PARAMS];
    struct narrow *n = memory_zeroed(1, sizeof(*n));

    call->state = n;
    n->params = host_floats((size_t)tensor_elements(params), err);
    if (n->params == NULL)
        return -1;
    for (int64_t i = 0; i < tensor_elements(params); i++)
        n->params[i] = bf16_to_float(((const uint16_t *)params->data)[i]);
    return gpt_call_forward(call, n->params, &gpt_ops_simd_bf16, &n->forward, err);
}

/* With the parameters as floats twice: here, and while the oracle computes. */
static int64_t workspace(const struct call *call)
{
    const size_t params = (size_t)tensor_elements(&call->tensor[GPT_PREFILL_PARAMS]);

    return gpt_call_workspace(call, &gpt_ops_simd_bf16) + 2 * host_bytes(params);
}

static void release(struct call *call)
{
    struct narrow *n = call->state;

    if (n == NULL)
        return;
    gpt_forward_release(&n->forward);
    free(n->params);
    free(n);
    call->state = NULL;
}

#define ROW(kernel_, launch_)                                                                      \
    {                                                                                              \
        .name = "simd_bf16",                                                                       \
        .summary = "bf16 weights, cache and logits, fp32 in the caches; vector kernels",           \
        .kernel = &(kernel_),                                                                      \
        .device = DEVICE_CPU,                                                                      \
        .dtype = DTYPE_BF16,                                                                       \
        .math = MATH_BF16,                                                                         \
        .supports = simd_supports,                                                                 \
        .prepare = prepare,                                                                        \
        .launch = (launch_),                                                                       \
        .release = release,                                                                        \
        .workspace = workspace,                                                                    \
    },
#define ROWS(id, ...)                                                                              \
    ROW(gpt_prefill_##id, gpt_call_prefill)                                                        \
    ROW(gpt_decode_##id, gpt_call_decode)

const struct variant gpt_simd_bf16[] = { GPT_MODELS(ROWS) /* the rest is the end mark */
                                         { .name = NULL } };
