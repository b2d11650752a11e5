/* SPDX-License-Identifier: MIT */
/*
 * A model on a device, for people: a variant of its kernel gpt/<model>/prefill as one call of fixed
 * shape, with the model's own weights, rounded once to the variant's type.
 *
 * Generation by it keeps no cache: each token is a whole prefill of the length held. What lies
 * behind the last token is token 0 there, which no row in front of it sees.
 */
#ifndef HARNESS_MODELS_GENERATION_GPT_DEVICE_H
#define HARNESS_MODELS_GENERATION_GPT_DEVICE_H

#include "core/kernel.h"
#include "models/generation/predictor.h"

struct gpt_device {
    struct call call;
    bool prepared, begun;
    int32_t *tokens;   /* [batch, seq] */
    int64_t length;    /* of a generation so far */
    struct tensor row; /* one row of logits as the device stores them, on the host */
};

/* CALL_UNSUPPORTED and the reason where the variant cannot do this shape, or not on this device;
 * before anything is allocated. */
int gpt_device_check(const struct variant *v, const struct device *device, int64_t batch,
                     int64_t seq, struct error *err);
/* Puts weights on the device and prepares the call; 0, -1 or CALL_UNSUPPORTED. The device must
 * outlive `g`, the weights need not. Close whatever the result. */
int gpt_device_open(struct gpt_device *g, const struct gpt_weights *w, const struct variant *v,
                    struct device *device, int64_t batch, int64_t seq, struct error *err);
void gpt_device_close(struct gpt_device *g);

/* tokens [batch, seq] -> logits [batch, seq, V]. */
int gpt_device_logits(struct gpt_device *g, const int32_t *tokens, float *logits,
                      struct error *err);
/* Of one that was opened with batch 1; it holds `seq` positions. */
struct gpt_predictor gpt_device_predictor(struct gpt_device *g);

#endif
