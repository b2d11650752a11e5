/* SPDX-License-Identifier: MIT */
/*
 * What computes a model for people. A backend is a variant of the kernel gpt/<model>/prefill, by
 * name: one of the host's sets of operations runs the host's forward, which keeps a cache; any
 * other runs as a call on its device, where each token of a generation is a whole prefill.
 */
#ifndef HARNESS_SESSION_MODEL_BACKEND_H
#define HARNESS_SESSION_MODEL_BACKEND_H

#include "core/kernel.h"
#include "models/gpt_generate.h"

struct model_backend {
    const struct gpt_config *config;
    const struct gpt_ops *ops;     /* of the host's forward; or NULL: */
    const struct variant *variant; /* this one, on `device` */
    struct device device;
};

struct model_backend_request {
    const char *name;   /* NULL: the fastest on the host */
    const char *device; /* a spec; NULL: the kind that the backend is for */
    int threads;        /* 0: as many as the device has */
};

/* 0; -1, with all names there are where the backend is unknown; DEVICE_UNAVAILABLE where this
 * machine lacks the device. Close after 0 only. */
int model_backend_open(struct model_backend *b, const struct gpt_config *config,
                       const struct model_backend_request *request, struct error *err);
void model_backend_close(struct model_backend *b);

/* Those below give -1 for an error, and CALL_UNSUPPORTED where the backend cannot do this many
 * tokens, or not on this device, or not with the instruction set or the library that it is to use.
 * The checks need no weights: they come before the model is read. */

int model_backend_check_logits(const struct model_backend *b, const struct gpt_tokens *tokens,
                               struct error *err);
/* Logits [batch, seq, V], which the caller frees, also after an error. */
int model_backend_logits(struct model_backend *b, const struct gpt_model *m,
                         const struct gpt_tokens *tokens, float **logits, struct error *err);
/* The same as a .npy file of floats. */
int model_backend_write_logits(struct model_backend *b, const struct gpt_model *m,
                               const struct gpt_tokens *tokens, const char *path,
                               struct error *err);

struct model_generation {
    struct gpt_sampling sampling;
    int64_t nr; /* tokens to add */
    gpt_token_fn *sink;
    void *context; /* the sink's */
};

int model_backend_check_generation(const struct model_backend *b, const struct gpt_tokens *prompt,
                                   const struct model_generation *g, struct error *err);
int model_backend_generate(struct model_backend *b, const struct gpt_model *m,
                           const struct gpt_tokens *prompt, const struct model_generation *g,
                           struct error *err);

#endif
