/* SPDX-License-Identifier: MIT */
/*
 * Generation: a prefill of the prompt, then one decode step a token. Past the block size the
 * context is cropped to the last `block` tokens, as minGPT does; positions then shift, so each
 * further token costs a whole prefill.
 */
#ifndef HARNESS_MODELS_GPT_GENERATE_H
#define HARNESS_MODELS_GPT_GENERATE_H

#include "base/error.h"
#include "models/gpt_model.h"
#include "stats/random.h"

#include <stdint.h>

struct gpt_sampling {
    double temperature; /* logits are divided by it; 0 takes the largest logit */
    int64_t top_k;      /* draw among the k largest only; 0 means all */
    uint64_t seed;      /* the same seed draws the same tokens from the same logits */
};

/* Gets each new token as soon as it is known; a non-zero result ends the generation early. */
typedef int gpt_token_fn(int32_t token, void *context);

/*
 * Continues the one sequence of `prompt` by `nr` tokens to out[nr]. `sink` may be NULL. Returns
 * the number of tokens written, or -1.
 */
int64_t gpt_generate(const struct gpt_model *m, const struct gpt_ops *ops, int threads,
                     const struct gpt_tokens *prompt, const struct gpt_sampling *sampling,
                     int64_t nr, int32_t *out, gpt_token_fn *sink, void *context,
                     struct error *err);

/* Draws a token from one row of logits [vocab]. Where logits are equal, the lower number is the
 * larger. `scratch` holds vocab floats. */
int32_t gpt_sample(const float *logits, int64_t vocab, const struct gpt_sampling *sampling,
                   struct random *random, float *scratch);

#endif
