/* SPDX-License-Identifier: MIT */
/*
 * Generation asks for the logits of the token that comes next, and not who computes them: the
 * host's forward with its cache (gpt_generate()), or a prefill on a device (gpt_device.h).
 */
#ifndef HARNESS_MODELS_GENERATION_PREDICTOR_H
#define HARNESS_MODELS_GENERATION_PREDICTOR_H

#include "models/gpt_generate.h"

/* Both give `logits` [V] of what follows. -1 on error. */
struct gpt_predictor {
    void *context;
    /* After `tokens` [seq], whatever there was before; seq is at most the length held. */
    int (*start)(void *context, const int32_t *tokens, int64_t seq, float *logits,
                 struct error *err);
    /* After one token more; never beyond the length held. */
    int (*advance)(void *context, int32_t token, float *logits, struct error *err);
};

/* Positions that a predictor must hold to add `nr` tokens to `seq`: of the last token that is
 * added nothing is asked, and beyond the block the context is cropped. */
int64_t gpt_generate_held(const struct gpt_config *c, int64_t seq, int64_t nr);
/* -1 and the reason where gpt_generate() would refuse: for who prepares a predictor. */
int gpt_generate_check(const struct gpt_config *c, const struct gpt_tokens *prompt,
                       const struct gpt_sampling *sampling, int64_t nr, struct error *err);
/* gpt_generate() by any predictor that holds gpt_generate_held() positions. Tokens that the sink
 * had before an error stay with it. */
int64_t gpt_generate_by(const struct gpt_predictor *predictor, const struct gpt_config *c,
                        const struct gpt_tokens *prompt, const struct gpt_sampling *sampling,
                        int64_t nr, int32_t *out, gpt_token_fn *sink, void *context,
                        struct error *err);

#endif
