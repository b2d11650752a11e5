/* SPDX-License-Identifier: MIT */
/*
 * A forward of bfloat16 on the host: what is read from memory is narrow, what stays in the caches
 * is fp32.
 *
 *      bfloat16   weights of the products (packed in pairs), keys and values in the cache, logits
 * (of a benchmark) fp32       the residual stream, norms, q k v, the MLP's inside; sums everywhere
 *
 * The pass is the one of models/gpt_pass.c, which asks here for what is narrow. Operations that are
 * fp32's own (norms, a prefill's attention, the embedding's rows) are those of gpt_ops_simd.
 */
#ifndef HARNESS_MODELS_GENERATION_GPT_NARROW_H
#define HARNESS_MODELS_GENERATION_GPT_NARROW_H

#include "models/gpt_forward.h"

/* Their linear() is NULL: a pass takes the one below. The second gives logits as floats, for who
 * chooses by them: rounded to bfloat16 the largest one of 50,257 often has an equal. */
extern const struct gpt_ops gpt_ops_simd_bf16, gpt_ops_simd_bf16_fp32;

bool gpt_is_narrow(const struct gpt_forward *f);
/* Floats of scratch for the products of `rows` tokens and attention to `seq` positions. */
size_t gpt_narrow_scratch(const struct gpt_forward *f, int64_t rows, int64_t seq);

/* The product with a packed weight; y is fp32, or the logits. */
void gpt_narrow_linear(const struct gpt_forward *f, const struct gemm_linear *g, bool logits);
/* Keys and values lie in the cache. */
void gpt_narrow_decode(const struct attention_decode *a);
/* A row of keys or values to the cache. */
void gpt_narrow_remember(const float *from, int64_t n, void *to);

#endif
