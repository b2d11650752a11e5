/* SPDX-License-Identifier: MIT */
/*
 * The forward pass of a GPT, composed of the operations in kernels/:
 *
 *   x = wte[token] + wpe[position]                         embedding
 *   L times:  h = LN1(x)                                   layernorm
 *             qkv = h Wqkv^T + b                           linear
 *             a = attention(q, k, v)                       causal, or against the cache
 *             x = x + (a Wo^T + b)                         linear, bias and residual fused
 *             h = LN2(x)
 *             f = GELU(h W1^T + b)                         linear, bias and GELU fused
 *             x = x + (f W2^T + b)                         linear, bias and residual fused
 *   logits = LNf(x) Whead^T                                linear, streamed to memory when large
 *
 * Source: GPT-2 (Radford et al. 2019) as karpathy/minGPT writes it down. There is one forward;
 * `struct gpt_ops` says which implementation of each operation it calls.
 */
#ifndef HARNESS_MODELS_GPT_FORWARD_H
#define HARNESS_MODELS_GPT_FORWARD_H

#include "base/error.h"
#include "kernels/attention/attention.h"
#include "kernels/embedding/embedding.h"
#include "kernels/gemm/gemm.h"
#include "kernels/layernorm/layernorm.h"
#include "models/gpt_config.h"
#include "models/gpt_weights.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How each operation is computed. `packed_size` and `pack` are NULL where the linear layers take
 * the weights as they are, `open` where no library is loaded for them. `rounded`: of matrices
 * gpt_weight_bits() are read, in fp32 all. */
struct gpt_ops {
    const char *name;
    bool rounded;
    bool team; /* they can share the caller's parallel region (kernels/host.h), so a pass has one */
    int (*open)(struct error *err); /* before anything of it is called; may be called again */
    size_t (*packed_size)(int64_t n, int64_t k); /* floats */
    void (*pack)(const float *w, int64_t n, int64_t k, float *packed, int threads);
    size_t (*scratch)(int64_t m, int64_t k, int threads); /* floats of linear's; or NULL */
    gemm_linear_fn *linear;
    const struct gpt_ops *head; /* whose packed_size, pack and linear are the head's, or NULL */
    attention_fn *attention;
    attention_decode_fn *decode;
    layernorm_fn *layernorm;
    embedding_fn *embedding;
};

/* Those that pack and multiply a matrix. */
static inline const struct gpt_ops *gpt_ops_of(const struct gpt_ops *ops, enum gpt_tensor which)
{
    return which == GPT_LM_HEAD && ops->head != NULL ? ops->head : ops;
}

/* Defined beside the variants: gpt_plain.c, gpt_simd.c, gpt_simd_int8.c and, where it is built,
 * gpt_openblas.c. */
extern const struct gpt_ops gpt_ops_plain, gpt_ops_simd, gpt_ops_simd_int8, gpt_ops_openblas;

/* Keys and values of the positions seen so far: k and v are [layers, batch, capacity, width]. */
struct gpt_cache {
    float *k, *v;
    int64_t batch, capacity;
};

struct gpt_scopes;
struct team_record;

/* A model made ready to run: weights in the form of the operations, and workspace. */
struct gpt_forward {
    const struct gpt_config *config; /* borrowed, as is all that `tensors` points to unpacked */
    const struct gpt_ops *ops;
    int threads;
    int64_t stream_bytes;  /* logits beyond this are written around the caches */
    const float **tensors; /* [layers][GPT_TENSOR_NR]; matrices as ops->linear takes them */
    float *packed;         /* what holds the packed ones, or NULL */
    float *x;              /* residual stream [rows, C]; the allocation of all that follows */
    float *h;              /* normed, and attention's output [rows, C] */
    float *wide;           /* qkv [rows, 3C], or inside the MLP [rows, 4C]; room for the latter */
    float *scratch;        /* attention's and the products' */
    struct gpt_scopes *scopes; /* see models/gpt_scopes.h */
    struct team_record *team;  /* of all passes; see kernels/team.h */
};

/*
 * Makes `f` ready for passes over at most `rows` tokens at once (batch x seq in a prefill, batch in
 * a decode step) in sequences of at most `seq` positions. Allocates and packs here, so that
 * nothing below does. The config and the weights' data must outlive `f`. Release with
 * gpt_forward_release(), also after an error.
 */
int gpt_forward_init(struct gpt_forward *f, const struct gpt_config *config,
                     const struct gpt_weights *weights, const struct gpt_ops *ops, int64_t rows,
                     int64_t seq, int threads, struct error *err);
void gpt_forward_release(struct gpt_forward *f);
/* How many floats that allocates; SIZE_MAX where they are too many to address. */
size_t gpt_forward_floats(const struct gpt_config *config, const struct gpt_ops *ops, int64_t rows,
                          int64_t seq, int threads);

int gpt_cache_init(struct gpt_cache *cache, const struct gpt_config *config, int64_t batch,
                   int64_t capacity, struct error *err);
void gpt_cache_release(struct gpt_cache *cache);

/* What a prefill gives back. */
enum gpt_logits { GPT_LOGITS_ALL, GPT_LOGITS_LAST };

/*
 * tokens [batch, seq] -> logits [batch, seq, V], or [batch, V] of the last position only with
 * GPT_LOGITS_LAST, which saves most of the last layer too: no other row needs more of it than keys
 * and values. Keys and values go to positions 0..seq-1 of `cache` unless it is NULL.
 * Tokens must lie in [0, V) and seq within the block. Never fails, never allocates.
 */
void gpt_prefill(const struct gpt_forward *f, const int32_t *tokens, int64_t batch, int64_t seq,
                 const struct gpt_cache *cache, enum gpt_logits which, float *logits);

/*
 * One more token for each sequence: tokens [batch] at `position` (0-based), whose predecessors
 * are in the cache -> logits [batch, V]. Writes the token's own keys and values to the cache, so
 * it attends to position + 1 keys. position < min(block, cache->capacity).
 */
void gpt_decode(const struct gpt_forward *f, const int32_t *tokens, int64_t batch, int64_t position,
                const struct gpt_cache *cache, float *logits);

#endif
