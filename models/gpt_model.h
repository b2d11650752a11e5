/* SPDX-License-Identifier: MIT */
/*
 * A model with its weights, for people: open by name from a seed or a file, export, logits of a
 * token batch, generate. The benchmarks do not come through here; they call gpt_forward.h.
 */
#ifndef HARNESS_MODELS_GPT_MODEL_H
#define HARNESS_MODELS_GPT_MODEL_H

#include "base/error.h"
#include "models/gpt_forward.h"
#include "models/gpt_tokens.h"
#include "models/gpt_weights.h"

#include <stdint.h>

struct gpt_model {
    const struct gpt_config *config; /* a row of the table, or what the caller gave */
    struct gpt_weights weights;
};

/* Both fail without leaving anything to close. `name` is a row of gpt_configs. */
int gpt_model_open_seed(struct gpt_model *m, const char *name, uint64_t seed, struct error *err);
/* Refuses a file that is not this model's, and names the model whose sizes it has, if any. */
int gpt_model_open_file(struct gpt_model *m, const char *name, const char *path, struct error *err);
void gpt_model_close(struct gpt_model *m);

/* A safetensors file in GPT-2's layout. */
int gpt_model_export(const struct gpt_model *m, const char *path, struct error *err);

/* logits [batch, seq, V] of a batch of tokens, which the caller frees; NULL on error. */
float *gpt_model_logits(const struct gpt_model *m, const struct gpt_ops *ops,
                        const struct gpt_tokens *tokens, int threads, struct error *err);

#endif
