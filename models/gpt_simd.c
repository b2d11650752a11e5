/* SPDX-License-Identifier: MIT */
/*
 * The forward by the vectorised kernels. Limits: a prefill the FMA peak, nearly all of it being
 * products; a decode step the bandwidth at which the weights can be read.
 */
#include "kernels/simd.h"
#include "models/generation/generation.h"

const struct gpt_ops gpt_ops_simd = {
    .name = "simd",
    .team = true,
    .packed_size = gemm_packed_size,
    .pack = gemm_pack,
    .linear = gemm_linear_simd,
    .attention = attention_prefill_simd,
    .decode = attention_decode_simd,
    .layernorm = layernorm_rows_simd,
    .embedding = embedding_rows_simd,
};

static int prepare(struct call *call, struct error *err)
{
    return gpt_call_prepare(call, &gpt_ops_simd, err);
}

static int prepare_generation(struct call *call, struct error *err)
{
    return gpt_generation_prepare(call, &gpt_ops_simd, err);
}

static int64_t workspace(const struct call *call)
{
    return gpt_call_workspace(call, &gpt_ops_simd);
}

static int64_t workspace_generation(const struct call *call)
{
    return gpt_generation_workspace(call, &gpt_ops_simd);
}

#define GPT_VARIANT_NAME     "simd"
#define GPT_VARIANT_SUMMARY  "vector kernels, weights packed once, bias, GELU and residual fused"
#define GPT_VARIANT_FLAGS    0
#define GPT_VARIANT_SUPPORTS simd_supports

const struct variant gpt_simd[] = { GPT_MODELS(GPT_VARIANT_ROWS)
                                        GPT_MODELS(GPT_GENERATE_ROW) /* the rest is the end mark */
                                    { .name = NULL } };
