/* SPDX-License-Identifier: MIT */
/*
 * Weights in a safetensors file of GPT-2's published layout: names with or without the prefix
 * "transformer.", the layers' matrices stored as [in, out], `attn.bias` and `attn.masked_bias`
 * buffers of old files ignored, the head tied to wte unless lm_head.weight is there.
 */
#ifndef HARNESS_MODELS_GPT_CHECKPOINT_H
#define HARNESS_MODELS_GPT_CHECKPOINT_H

#include "base/error.h"
#include "models/gpt_weights.h"

/* Reads F32, F16 or BF16 tensors. Names, shapes and completeness are checked before anything is
 * allocated; on error `w` needs no release. Release with gpt_weights_release(). */
int gpt_checkpoint_read(struct gpt_weights *w, const struct gpt_config *c, const char *path,
                        struct error *err);
/* Writes F32 without prefix, and lm_head.weight where the head is not tied. */
int gpt_checkpoint_write(const struct gpt_weights *w, const char *path, struct error *err);

#endif
