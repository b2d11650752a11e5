/* SPDX-License-Identifier: MIT */
/*
 * The forward in fp32 throughout, on the FMA units: as exact as the CPU's. Limits: launches for
 * short inputs, the FMA rate of the head for long ones.
 */
#include "models/gpt_cuda_forward.h"

static const struct gpt_cuda_ops ops = {
    .dtype = DTYPE_FP32,
    .linear = gpt_cuda_linear_fp32,
    .head = gpt_cuda_linear_fp32,
    .attention = attention_prefill_cuda_flash,
    .decode = attention_decode_cuda,
};

static int prepare(struct call *call, struct error *err)
{
    return gpt_cuda_prepare(call, &ops, err);
}

#define GPT_CUDA_NAME    "cuda_fp32"
#define GPT_CUDA_SUMMARY "SIMT kernels, bias, GELU and residual fused; limit: launches, then FMA"
#define GPT_CUDA_DTYPE   DTYPE_FP32
#define GPT_CUDA_MATH    MATH_FP32

extern "C" const struct variant gpt_cuda_fp32[];
const struct variant gpt_cuda_fp32[] = { GPT_MODELS(GPT_CUDA_ROWS) /* the rest is the end mark */
                                         {} };
