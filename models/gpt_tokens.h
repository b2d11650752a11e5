/* SPDX-License-Identifier: MIT */
/*
 * Token files: a JSON array of token numbers (one sequence), or an array of such arrays of equal
 * length (a batch).
 */
#ifndef HARNESS_MODELS_GPT_TOKENS_H
#define HARNESS_MODELS_GPT_TOKENS_H

#include "base/error.h"
#include "models/gpt_config.h"

#include <stddef.h>
#include <stdint.h>

struct gpt_tokens {
    int32_t *ids; /* [batch, seq], owned */
    int64_t batch, seq;
};

/* Refuses what is not whole numbers in [0, vocab), empty or ragged batches, and sequences longer
 * than the block. `what` stands in messages. On error `t` needs no release. */
int gpt_tokens_parse(struct gpt_tokens *t, const struct gpt_config *c, const char *text,
                     size_t length, const char *what, struct error *err);
int gpt_tokens_read(struct gpt_tokens *t, const struct gpt_config *c, const char *path,
                    struct error *err);
void gpt_tokens_release(struct gpt_tokens *t);

#endif
