/* SPDX-License-Identifier: MIT */
/*
 * The GPT forwards as benchmarks on a CUDA device: for the variants' .cu files only.
 *
 * Everything is enqueued on the device's stream, 7 kernels a layer and 3 around them; see
 * gpt_cuda_forward.cu. Nothing is allocated and nothing waited for in a launch, so it can be
 * captured in a CUDA graph.
 */
#ifndef HARNESS_MODELS_GPT_CUDA_FORWARD_H
#define HARNESS_MODELS_GPT_CUDA_FORWARD_H

#include "kernels/attention/attention_cuda.h"
#include "models/gpt_cuda_linear.h"

extern "C" {
#include "models/gpt_common.h"
}

/* How a variant computes. All take and give elements of `dtype`, but for the residual stream,
 * which is float. Layer norms and the embedding do either type. */
struct gpt_cuda_ops {
    enum dtype dtype;
    gpt_cuda_linear_fn *linear, *head;
    attention_cuda_fn *attention;
    attention_cuda_decode_fn *decode;
};

/* A variant's callbacks, but for prepare(), which has to name its operations. */
bool gpt_cuda_supports(const struct kernel *k, const struct shape *s, const struct device *d,
                       struct error *why);
int gpt_cuda_prepare(struct call *call, const struct gpt_cuda_ops *ops, struct error *err);
void gpt_cuda_launch(const struct call *call);
void gpt_cuda_release(struct call *call);

/*
 * The two rows of a model in a variant's table, for GPT_MODELS(). The file defines
 * GPT_CUDA_NAME, _SUMMARY, _DTYPE and _MATH, and a static prepare().
 */
#define GPT_CUDA_ROW(kernel_)                                                                      \
    { .name = GPT_CUDA_NAME,                                                                       \
      .summary = GPT_CUDA_SUMMARY,                                                                 \
      .kernel = &(kernel_),                                                                        \
      .device = DEVICE_CUDA,                                                                       \
      .dtype = GPT_CUDA_DTYPE,                                                                     \
      .math = GPT_CUDA_MATH,                                                                       \
      .flags = VARIANT_WHOLE,                                                                      \
      .supports = gpt_cuda_supports,                                                               \
      .prepare = prepare,                                                                          \
      .launch = gpt_cuda_launch,                                                                   \
      .release = gpt_cuda_release },
#define GPT_CUDA_ROWS(id, ...) GPT_CUDA_ROW(gpt_prefill_##id) GPT_CUDA_ROW(gpt_decode_##id)

#endif
