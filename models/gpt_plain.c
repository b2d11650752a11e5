/* SPDX-License-Identifier: MIT */
/*
 * The forward by the plain kernels: to be understood and compared with, not to be fast.
 */
#include "models/generation/generation.h"

const struct gpt_ops gpt_ops_plain = {
    .name = "plain",
    .linear = gemm_linear_naive,
    .attention = attention_prefill_naive,
    .decode = attention_decode_naive,
    .layernorm = layernorm_rows_naive,
    .embedding = embedding_rows_naive,
};

static int prepare(struct call *call, struct error *err)
{
    return gpt_call_prepare(call, &gpt_ops_plain, err);
}

static int prepare_generation(struct call *call, struct error *err)
{
    return gpt_generation_prepare(call, &gpt_ops_plain, err);
}

static int64_t workspace(const struct call *call)
{
    return gpt_call_workspace(call, &gpt_ops_plain);
}

static int64_t workspace_generation(const struct call *call)
{
    return gpt_generation_workspace(call, &gpt_ops_plain);
}

#define GPT_VARIANT_NAME     "plain"
#define GPT_VARIANT_SUMMARY  "textbook loops"
#define GPT_VARIANT_FLAGS    VARIANT_PLAIN
#define GPT_VARIANT_SUPPORTS NULL

const struct variant gpt_plain[] = { GPT_MODELS(GPT_VARIANT_ROWS)
                                         GPT_MODELS(GPT_GENERATE_ROW) /* the rest is the end mark */
                                     { .name = NULL } };
