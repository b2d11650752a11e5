/* SPDX-License-Identifier: MIT */
/*
 * The parameters of a GPT: one blob of floats, cut into named tensors by one table that also
 * drives the seeded initialisation, the safetensors files, the forward and the oracle.
 *
 * Linear weights are [out, in] (the nn.Linear form, y = x W^T + b), which is the transpose of
 * what GPT-2's published files hold; models/gpt_checkpoint.h turns them.
 *
 * Order in the blob: wte, wpe, the layers one after the other, ln_f, and lm_head last, so that a
 * tied head (the head is wte) is simply a shorter blob. Seeded weights are untied, as minGPT's;
 * a file's are tied unless it holds lm_head.weight.
 */
#ifndef HARNESS_MODELS_GPT_WEIGHTS_H
#define HARNESS_MODELS_GPT_WEIGHTS_H

#include "base/error.h"
#include "models/gpt_config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* C is the width, V the vocabulary, T the block. */
enum gpt_tensor {
    GPT_WTE,            /* wte.weight [V, C] */
    GPT_WPE,            /* wpe.weight [T, C] */
    GPT_LN_1_WEIGHT,    /* h.N.ln_1.weight [C], the first tensor of a layer */
    GPT_LN_1_BIAS,      /* h.N.ln_1.bias [C] */
    GPT_ATTN_WEIGHT,    /* h.N.attn.c_attn.weight [3C, C]: q, k, v rows, heads are slices of C/H */
    GPT_ATTN_BIAS,      /* h.N.attn.c_attn.bias [3C] */
    GPT_PROJ_WEIGHT,    /* h.N.attn.c_proj.weight [C, C] */
    GPT_PROJ_BIAS,      /* h.N.attn.c_proj.bias [C] */
    GPT_LN_2_WEIGHT,    /* h.N.ln_2.weight [C] */
    GPT_LN_2_BIAS,      /* h.N.ln_2.bias [C] */
    GPT_FC_WEIGHT,      /* h.N.mlp.c_fc.weight [4C, C] */
    GPT_FC_BIAS,        /* h.N.mlp.c_fc.bias [4C] */
    GPT_FC_PROJ_WEIGHT, /* h.N.mlp.c_proj.weight [C, 4C] */
    GPT_FC_PROJ_BIAS,   /* h.N.mlp.c_proj.bias [C], the last tensor of a layer */
    GPT_LN_F_WEIGHT,    /* ln_f.weight [C] */
    GPT_LN_F_BIAS,      /* ln_f.bias [C] */
    GPT_LM_HEAD,        /* lm_head.weight [V, C], no bias; where tied, wte itself */
    GPT_TENSOR_NR,
};

enum { GPT_NAME_SIZE = 48 };

struct gpt_weights {
    const struct gpt_config *config; /* borrowed */
    float *data;                     /* owned after gpt_weights_init() only */
    bool tied;                       /* the head is wte; the blob ends at ln_f */
};

/* Elements in the blob. */
int64_t gpt_weights_count(const struct gpt_config *c, bool tied);
/* Allocates the blob, contents undefined; -1 and the bytes wanted where that fails. */
int gpt_weights_init(struct gpt_weights *w, const struct gpt_config *c, bool tied,
                     struct error *err);
void gpt_weights_release(struct gpt_weights *w);

/* Elements in front of a tensor, which is row-major; `layer` is ignored for those outside the
 * layers. */
int64_t gpt_weight_offset(const struct gpt_config *c, bool tied, enum gpt_tensor which,
                          int64_t layer);
/* Its address in a blob of floats. */
float *gpt_weight(const struct gpt_weights *w, enum gpt_tensor which, int64_t layer);
/* Its extents; a vector has cols = 0. */
void gpt_weight_extents(const struct gpt_config *c, enum gpt_tensor which, int64_t *rows,
                        int64_t *cols);
int64_t gpt_weight_elements(const struct gpt_config *c, enum gpt_tensor which);
/* "h.3.attn.c_attn.weight" into `name`, which is returned. */
char *gpt_weight_name(enum gpt_tensor which, int64_t layer, char name[GPT_NAME_SIZE]);
bool gpt_weight_in_layer(enum gpt_tensor which);
/* True for the layers' four matrices, which GPT-2's files hold as [in, out]. */
bool gpt_weight_is_linear(enum gpt_tensor which);
/* What int8 keeps of a matrix's element: 8 bits of the head's, 10 of those of the layers, whose
 * errors add up and pass through all layers behind; 0 for what is no matrix. */
int gpt_weight_bits(enum gpt_tensor which);

/*
 * minGPT's initialisation: weights N(0, 0.02^2), the two c_proj.weight of a layer
 * N(0, (0.02 / sqrt(2 layers))^2), biases 0, LN gain 1 and bias 0. The same seed gives the same
 * blob whatever the number of threads.
 */
void gpt_weights_seed(const struct gpt_weights *w, uint64_t seed);

/*
 * Then, in place of those zeros and ones, so that a forward that forgets one of them computes
 * something else: LN gain N(1, 1/4^2) and bias N(0, 1/4^2); the bias of a matrix half as spread as
 * its products with inputs of spread 1. (Attention gives the same for any bias of the keys: it adds
 * the same to all scores of a query.)
 */
void gpt_weights_spread(const struct gpt_weights *w, uint64_t seed);

#endif
