/* SPDX-License-Identifier: MIT */
/*
 * The forward with its products on the tensor cores, which take inputs of 10 bits of mantissa
 * (tf32); all else is fp32, attention too. Limits: launches for short inputs, the bandwidth to
 * write the logits for long ones.
 */
#include "models/gpt_cuda_forward.h"

static const struct gpt_cuda_ops ops = {
    .dtype = DTYPE_FP32,
    .linear = gpt_cuda_linear_tf32,
    .head = gpt_cuda_linear_tf32,
    .attention = attention_prefill_cuda_flash,
    .decode = attention_decode_cuda,
};

static int prepare(struct call *call, struct error *err)
{
    return gpt_cuda_prepare(call, &ops, err);
}

#define GPT_CUDA_NAME    "cuda_tf32"
#define GPT_CUDA_SUMMARY "tf32 products, the rest fp32; limit: launches, then bytes"
#define GPT_CUDA_DTYPE   DTYPE_FP32
#define GPT_CUDA_MATH    MATH_TF32

extern "C" const struct variant gpt_cuda_tf32[];
const struct variant gpt_cuda_tf32[] = { GPT_MODELS(GPT_CUDA_ROWS) /* the rest is the end mark */
                                         {} };
