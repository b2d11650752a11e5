/* SPDX-License-Identifier: MIT */
/* The callbacks of the decode step in one kernel, cuda_cluster_bf16 of gpt/<model>/decode. */
#ifndef HARNESS_MODELS_GPT_CUDA_DECODE_CALL_H
#define HARNESS_MODELS_GPT_CUDA_DECODE_CALL_H

extern "C" {
#include "core/kernel.h"
}

bool gpt_decode_supports(const struct kernel *k, const struct shape *s, const struct device *d,
                         struct error *why);
int gpt_decode_prepare(struct call *call, struct error *err);
void gpt_decode_launch(const struct call *call);
void gpt_decode_release(struct call *call);

#endif
