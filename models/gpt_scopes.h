/* SPDX-License-Identifier: MIT */
/*
 * The scopes of a forward (profile/profile.h): what they are called and what work stands on them.
 *
 *   embed
 *   layer 0 ...   ln_1, qkv, remember (keys and values to the cache), attention, proj,
 *                 ln_2, fc, proj_2
 *   ln_f
 *   head
 *
 * Work of an operation by itself: a product of [M,K] by [N,K]^T is 2MNK FLOPs and its operands
 * once, bias and residual with them; attention 4C FLOPs a (query, key) pair, q, k, v and the output
 * once; a norm and the embedding what their kernels say. So the FLOPs of a pass are the model's
 * (models/gpt.c) and those of norms and embedding, which that does not count; its bytes are the
 * model's and what the operations hand each other, which a machine with room for it never moves.
 */
#ifndef HARNESS_MODELS_GPT_SCOPES_H
#define HARNESS_MODELS_GPT_SCOPES_H

#include "core/kernel.h"
#include "models/gpt_config.h"
#include "models/gpt_weights.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gpt_op {
    GPT_OP_EMBED,
    GPT_OP_LN_1,
    GPT_OP_QKV,
    GPT_OP_REMEMBER,
    GPT_OP_ATTENTION,
    GPT_OP_PROJ,
    GPT_OP_LN_2,
    GPT_OP_FC,
    GPT_OP_PROJ_2,
    GPT_OP_LN_F,
    GPT_OP_HEAD,
    GPT_OP_NR,
};

/* What an operation works on: `seq` tokens of each sequence, the last of `length` positions. */
struct gpt_op_size {
    const struct gpt_config *config;
    int64_t batch, seq, length;
    bool last;      /* attention: of each sequence the last token alone asks */
    bool rounded;   /* of matrices gpt_weight_bits() an element, and a scale an output */
    size_t element; /* bytes of weights and activations; `stream` those of the residual stream */
    size_t stream;
};

/* Also the operation that a tensor's weight belongs to. */
enum gpt_op gpt_op_of(enum gpt_tensor weight);
const char *gpt_op_name(enum gpt_op op);
struct work gpt_op_work(const struct gpt_op_size *size, enum gpt_op op);

/* Where the operations run, of one pass. */
struct gpt_scopes {
    const struct prof_site **layers; /* "layer 0", ...: of the profiler, the array is owned */
    const char *backend;             /* a constant */
    int device;                      /* enum prof_device */
    void *stream;                    /* of a GPU */
};

/* For so many layers, on the CPU; their sites are the global profiler's. NULL: no memory. */
struct gpt_scopes *gpt_scopes_create(int64_t layers, const char *backend);
void gpt_scopes_free(struct gpt_scopes *scopes); /* NULL is allowed */

/* Begun where the global profiler is on. `size` NULL: without its work, as on every thread of a
 * team but the first, whose scope tells that of all. End with gpt_scope_end(). */
struct prof_scope gpt_scope_begin(const struct gpt_scopes *scopes, enum gpt_op op,
                                  const struct gpt_op_size *size);
/* A layer: attention over `size`, what follows it over `tail` (the same, or less: the last tokens
 * alone). Both NULL as above; `remembers` where keys and values go to the cache. */
struct prof_scope gpt_scope_layer(const struct gpt_scopes *scopes, int64_t layer,
                                  const struct gpt_op_size *size, const struct gpt_op_size *tail,
                                  bool remembers);

static inline void gpt_scope_end(struct prof_scope *scope)
{
    if (__builtin_expect(scope->thread != NULL, 0))
        prof_end(scope);
}

#endif
