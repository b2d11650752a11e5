/* SPDX-License-Identifier: MIT */
/*
 * How often a model says the same by a backend of narrower type as in fp32: of each token's logits
 * the number of the largest, and the error of all of them. What the type itself costs is measured
 * apart, by fp32's own operations on weights that are rounded to it: no kernel of that type can be
 * expected to do better.
 */
#ifndef HARNESS_SESSION_MODEL_AGREEMENT_H
#define HARNESS_SESSION_MODEL_AGREEMENT_H

#include "session/model_backend.h"

/* Of logits beside those of fp32. A token is clear where fp32's largest logit leads the second by
 * more than AGREEMENT_CLEAR times the rms error: else an error as large as others may turn it. */
struct agreement {
    int64_t tokens, same, clear, clear_same;
    double error; /* rms, relative to that of fp32's logits */
};

enum { AGREEMENT_CLEAR = 4, AGREEMENT_TOKENS = 1000, AGREEMENT_SEQUENCE = 125 };

struct model_agreement {
    struct agreement backend;
    struct agreement weights; /* of the rounded weights; tokens 0 where the backend rounds none */
};

/* AGREEMENT_TOKENS random ones, in sequences. */
void agreement_tokens(struct gpt_tokens *t, const struct gpt_config *c, uint64_t seed);

/* As model_backend_check_logits(), of the backend and of what it is held against: fp32's logits are
 * by vectors, whatever the backend. */
int model_agreement_check(const struct model_backend *b, const struct gpt_tokens *tokens,
                          struct error *err);
/* Returns as model_backend_write_logits(). Rounds the model's weights where the backend does. */
int model_agreement_measure(struct model_backend *b, const struct gpt_model *m,
                            const struct gpt_tokens *tokens, struct model_agreement *a,
                            struct error *err);

#endif
