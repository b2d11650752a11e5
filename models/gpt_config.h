/* SPDX-License-Identifier: MIT */
/*
 * The GPT family: sizes of the models that are measured, and what follows from the sizes.
 *
 * All of them are minGPT / GPT-2: pre-LN blocks, learned positions, tanh GELU, biases, causal
 * attention, a head without bias. The smallest three are minGPT's, the tile-* ones cutileGPT's,
 * `gpt2` is the published 124M checkpoint's.
 */
#ifndef HARNESS_MODELS_GPT_CONFIG_H
#define HARNESS_MODELS_GPT_CONFIG_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

enum { GPT_VOCAB = 50257 }; /* byte pairs of GPT-2's tokenizer; odd, on purpose not padded */

/* One row a model: X(identifier, name, layers, heads, width, block). */
#define GPT_MODELS(X)                                                                              \
    X(nano, "nano", 3, 3, 48, 128)                                                                 \
    X(micro, "micro", 4, 4, 128, 256)                                                              \
    X(mini, "mini", 6, 6, 192, 256)                                                                \
    X(tile_small, "tile-small", 4, 4, 64, 128)                                                     \
    X(tile_medium, "tile-medium", 6, 4, 128, 256)                                                  \
    X(tile_large, "tile-large", 8, 8, 256, 512)                                                    \
    X(gpt2, "gpt2", 12, 12, 768, 1024)

/* Everything below takes any sizes that gpt_config_check() accepts, in the table or not. */
struct gpt_config {
    const char *name;
    int64_t layers, heads;
    int64_t width; /* C, a multiple of heads */
    int64_t block; /* longest sequence: rows of the position embedding */
    int64_t vocab; /* V */
};

/* The table, ended by a NULL name. */
extern const struct gpt_config gpt_configs[];

/* The table's row; NULL and an error that names the nearest and lists all. */
const struct gpt_config *gpt_config_find(const char *name, struct error *err);
/* -1 where the sizes make no model, or one whose parameters cannot be counted in 63 bits. */
int gpt_config_check(const struct gpt_config *c, struct error *err);

/* V*C + block*C + L(12C^2 + 13C) + 2C: all but the head. */
int64_t gpt_config_parameters(const struct gpt_config *c);
/* V*C: what an untied head adds. */
int64_t gpt_config_head_parameters(const struct gpt_config *c);

/* FLOPs of `tokens` rows through the linear layers, head rows included: 24C^2 L a token and
 * 2VC a head row (2MNK a product; LN, GELU and softmax are not counted). */
double gpt_config_linear_flops(const struct gpt_config *c, double tokens, double head_rows);
/* FLOPs of the scores and their product with V over all layers, 4C for each (query, key) pair. */
double gpt_config_attention_flops(const struct gpt_config *c, double pairs);
/* FLOPs for a token of a prefill of `seq` tokens, its causal pairs counted exactly. */
double gpt_config_flops_per_token(const struct gpt_config *c, int64_t seq);

#endif
