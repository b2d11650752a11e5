/* SPDX-License-Identifier: MIT */
/*
 * The GPT forwards as benchmarks: what the kernels in gpt.c and the variants share.
 *
 *   gpt/<model>/prefill   dims batch, seq: tokens [batch, seq] -> logits of every position
 *   gpt/<model>/decode    dims batch, seq: one token a sequence at position seq - 1 against a KV
 *                         cache; seq counts the positions it attends to, its own included
 *
 * Both take the parameters as one blob (models/gpt_weights.h, head untied) and logits are
 * [batch * seq, V] and [batch, V].
 */
#ifndef HARNESS_MODELS_GPT_COMMON_H
#define HARNESS_MODELS_GPT_COMMON_H

#include "core/kernel.h"
#include "models/gpt_config.h"
#include "models/gpt_forward.h"

/* Positions in the layouts. */
enum {
    GPT_PREFILL_TOKENS,
    GPT_PREFILL_PARAMS,
    GPT_PREFILL_LOGITS,
    GPT_PREFILL_NR,
};
enum {
    GPT_DECODE_TOKENS,
    GPT_DECODE_PARAMS,
    GPT_DECODE_K, /* [layers, batch, seq, C]; position seq - 1 is written by the launch */
    GPT_DECODE_V,
    GPT_DECODE_LOGITS,
    GPT_DECODE_NR,
};
enum { GPT_DIM_BATCH, GPT_DIM_SEQ };

#define GPT_DECLARE_KERNELS(id, ...) extern const struct kernel gpt_prefill_##id, gpt_decode_##id;
GPT_MODELS(GPT_DECLARE_KERNELS)

extern const struct kernel *const gpt_kernels[];

/* The callbacks of struct kernel that evaluate a model in float64, by code of their own. */
void gpt_prefill_oracle(const struct kernel *k, const struct shape *s, const struct tensor *t,
                        int out, const int64_t *rows, size_t nr_rows, double *expected);
void gpt_decode_oracle(const struct kernel *k, const struct shape *s, const struct tensor *t,
                       int out, const int64_t *rows, size_t nr_rows, double *expected);

/* A variant's callbacks, but for prepare() and workspace(), which have to name its operations. */
int gpt_call_prepare(struct call *call, const struct gpt_ops *ops, struct error *err);
/* gpt_forward_init() for the shape of a call, with these parameters as floats. */
int gpt_call_forward(const struct call *call, float *params, const struct gpt_ops *ops,
                     struct gpt_forward *f, struct error *err);
int64_t gpt_call_workspace(const struct call *call, const struct gpt_ops *ops);
void gpt_call_prefill(const struct call *call);
void gpt_call_decode(const struct call *call);
void gpt_call_release(struct call *call);

/*
 * The two rows of a model in a CPU variant's table, for GPT_MODELS(). The file defines
 * GPT_VARIANT_NAME, _SUMMARY, _FLAGS and _SUPPORTS, and static prepare() and workspace().
 */
#define GPT_VARIANT_ROW(kernel_, launch_)                                                          \
    { .name = GPT_VARIANT_NAME,                                                                    \
      .summary = GPT_VARIANT_SUMMARY,                                                              \
      .kernel = &(kernel_),                                                                        \
      .device = DEVICE_CPU,                                                                        \
      .dtype = DTYPE_FP32,                                                                         \
      .math = MATH_FP32,                                                                           \
      .flags = GPT_VARIANT_FLAGS,                                                                  \
      .supports = GPT_VARIANT_SUPPORTS,                                                            \
      .prepare = prepare,                                                                          \
      .launch = (launch_),                                                                         \
      .release = gpt_call_release,                                                                 \
      .workspace = workspace },
#define GPT_VARIANT_ROWS(id, ...)                                                                  \
    GPT_VARIANT_ROW(gpt_prefill_##id, gpt_call_prefill)                                            \
    GPT_VARIANT_ROW(gpt_decode_##id, gpt_call_decode)

#endif
