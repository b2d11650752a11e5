/* SPDX-License-Identifier: MIT */
/*
 * Generation as a benchmark, from the prompt to the last token:
 *
 *   gpt/<model>/generate   dims batch, seq, new: a prompt of `seq` tokens for each sequence, then
 *                          `new` tokens, each the largest logit's, as gpt_generate() does without
 *                          a temperature: one prefill and new - 1 decode steps, each of which waits
 *                          for the token before
 *
 * In the telemetry of a measurement are the times in it of the first token (the prefill), of the
 * second (the first decode step, which finds caches and predictors as the prefill left them) and of
 * each further one: medians, ns.
 */
#ifndef HARNESS_MODELS_GENERATION_GENERATION_H
#define HARNESS_MODELS_GENERATION_GENERATION_H

#include "models/gpt_common.h"

/* Positions in the layout; tokens and parameters are where a prefill has them. */
enum {
    GPT_GENERATE_TOKENS, /* [batch, seq] */
    GPT_GENERATE_PARAMS,
    GPT_GENERATE_CHOSEN, /* int32 [batch, new] */
    GPT_GENERATE_LOGITS, /* [batch, V]: those that the last token is chosen by */
    GPT_GENERATE_NR,
};
enum { GPT_DIM_NEW = GPT_DIM_SEQ + 1 };

#define GPT_GENERATE_DECLARE(id, ...) extern const struct kernel gpt_generate_##id;
GPT_MODELS(GPT_GENERATE_DECLARE)

/* The callback of struct kernel, in float64. Where the two largest logits of a step are nearer to
 * each other than a variant's error, that may take the other one and is found wrong: of 50,257
 * normal logits the gap is below 10^-6 of their spread once in 200,000 tokens. */
void gpt_generate_oracle(const struct kernel *k, const struct shape *s, const struct tensor *t,
                         int out, const int64_t *rows, size_t nr_rows, double *expected);

/* A variant's callbacks, but for prepare() and workspace(). */
int gpt_generation_prepare(struct call *call, const struct gpt_ops *ops, struct error *err);
int64_t gpt_generation_workspace(const struct call *call, const struct gpt_ops *ops);
void gpt_generation_launch(const struct call *call);
void gpt_generation_release(struct call *call);
void gpt_generation_facts(const struct call *call, struct measurement *m);

/* The row of a model in a CPU variant's table, as GPT_VARIANT_ROW(); the file defines a static
 * prepare_generation() and workspace_generation(), too. */
#define GPT_GENERATE_ROW(id, ...)                                                                  \
    { .name = GPT_VARIANT_NAME,                                                                    \
      .summary = GPT_VARIANT_SUMMARY,                                                              \
      .kernel = &gpt_generate_##id,                                                                \
      .device = DEVICE_CPU,                                                                        \
      .dtype = DTYPE_FP32,                                                                         \
      .math = MATH_FP32,                                                                           \
      .flags = GPT_VARIANT_FLAGS,                                                                  \
      .supports = GPT_VARIANT_SUPPORTS,                                                            \
      .prepare = prepare_generation,                                                               \
      .launch = gpt_generation_launch,                                                             \
      .release = gpt_generation_release,                                                           \
      .facts = gpt_generation_facts,                                                               \
      .workspace = workspace_generation },

#endif
