/* SPDX-License-Identifier: MIT */
/*
 * The forward in bf16: parameters, activations, caches and logits. Sums and the residual stream
 * are float, so that the additions of the layers do not round what the ones before have added.
 * Limits: launches for short inputs, the bandwidth to write the logits for long ones: half the
 * bytes of fp32.
 */
#include "models/gpt_cuda_forward.h"

static const struct gpt_cuda_ops ops = {
    .dtype = DTYPE_BF16,
    .linear = gpt_cuda_linear_bf16,
    .head = gpt_cuda_head_bf16,
    .attention = attention_prefill_cuda_flash_bf16,
    .decode = attention_decode_cuda_bf16,
};

static int prepare(struct call *call, struct error *err)
{
    return gpt_cuda_prepare(call, &ops, err);
}

#define GPT_CUDA_NAME    "cuda_bf16"
#define GPT_CUDA_SUMMARY "bf16 tensor cores, residual stream float; limit: launches, then bytes"
#define GPT_CUDA_DTYPE   DTYPE_BF16
#define GPT_CUDA_MATH    MATH_BF16

extern "C" const struct variant gpt_cuda_bf16[];
const struct variant gpt_cuda_bf16[] = { GPT_MODELS(GPT_CUDA_ROWS) /* the rest is the end mark */
                                         {} };
