/* SPDX-License-Identifier: MIT */
/*
 * The forward with OpenBLAS's products, for reference; what BLAS does not have is as in simd,
 * but bias, residual and GELU behind a product, which one thread does (kernels/gemm/gemm_blas.h).
 */
#include "kernels/openblas.h"
#include "kernels/simd.h"
#include "models/generation/generation.h"

const struct gpt_ops gpt_ops_openblas = {
    .name = "openblas",
    .open = openblas_open,
    .linear = gemm_linear_openblas,
    .attention = attention_prefill_simd,
    .decode = attention_decode_simd,
    .layernorm = layernorm_rows_simd,
    .embedding = embedding_rows_simd,
};

static int prepare(struct call *call, struct error *err)
{
    return gpt_call_prepare(call, &gpt_ops_openblas, err);
}

static int prepare_generation(struct call *call, struct error *err)
{
    return gpt_generation_prepare(call, &gpt_ops_openblas, err);
}

static int64_t workspace(const struct call *call)
{
    return gpt_call_workspace(call, &gpt_ops_openblas);
}

static int64_t workspace_generation(const struct call *call)
{
    return gpt_generation_workspace(call, &gpt_ops_openblas);
}

static bool supports(const struct kernel *k, const struct shape *s, const struct device *d,
                     struct error *why)
{
    return simd_supports(k, s, d, why) && openblas_ready(d->threads, why) == 0;
}

#define GPT_VARIANT_NAME     "openblas"
#define GPT_VARIANT_SUMMARY  "OpenBLAS's products, the other operations as in simd"
#define GPT_VARIANT_FLAGS    VARIANT_VENDOR
#define GPT_VARIANT_SUPPORTS supports

const struct variant gpt_openblas[] = { GPT_MODELS(GPT_VARIANT_ROWS) GPT_MODELS(
    GPT_GENERATE_ROW) /* the rest is the end mark */
                                        { .name = NULL } };
