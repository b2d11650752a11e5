/* SPDX-License-Identifier: MIT */
/*
 * The forward with a head of int8 and matrices of 10 bits in the layers
 * (kernels/gemm/int8/gemm_int8.h); all else is that of gpt_ops_simd, in fp32: embeddings, norms,
 * attention and its cache, logits. With 8 bits in the layers too, gpt2's largest logit was another
 * one for 6 tokens of 100 (docs/performance-cpu-narrow.md). Limits: a decode step the bandwidth at
 * which weights of a quarter to a third of the size can be read, a prefill half of `dot.int8` in
 * the head and a third in the layers.
 */
#include "kernels/gemm/int8/gemm_int8.h"
#include "kernels/simd.h"
#include "models/gpt_common.h"

static const struct gpt_ops head = {
    .packed_size = gemm_int8_packed_size,
    .pack = gemm_int8_pack,
    .linear = gemm_linear_int8,
};

const struct gpt_ops gpt_ops_simd_int8 = {
    .name = "simd_int8",
    .rounded = true,
    .team = true,
    .packed_size = gemm_int10_packed_size,
    .pack = gemm_int10_pack,
    .scratch = gemm_int8_scratch,
    .linear = gemm_linear_int10,
    .head = &head,
    .attention = attention_prefill_simd,
    .decode = attention_decode_simd,
    .layernorm = layernorm_rows_simd,
    .embedding = embedding_rows_simd,
};

static int prepare(struct call *call, struct error *err)
{
    return gpt_call_prepare(call, &gpt_ops_simd_int8, err);
}

static int64_t workspace(const struct call *call)
{
    return gpt_call_workspace(call, &gpt_ops_simd_int8);
}

#define ROW(kernel_, launch_)                                                                      \
    {                                                                                              \
        .name = "simd_int8",                                                                       \
        .summary = "head of int8, layers of 10 bits, all else fp32; vector kernels",               \
        .kernel = &(kernel_),                                                                      \
        .device = DEVICE_CPU,                                                                      \
        .dtype = DTYPE_FP32,                                                                       \
        .math = MATH_INT8,                                                                         \
        .supports = simd_supports,                                                                 \
        .prepare = prepare,                                                                        \
        .launch = (launch_),                                                                       \
        .release = gpt_call_release,                                                               \
        .workspace = workspace,                                                                    \
    },
#define ROWS(id, ...)                                                                              \
    ROW(gpt_prefill_##id, gpt_call_prefill)                                                        \
    ROW(gpt_decode_##id, gpt_call_decode)

const struct variant gpt_simd_int8[] = { GPT_MODELS(ROWS) /* the rest is the end mark */
                                         { .name = NULL } };
