/* SPDX-License-Identifier: MIT */
/*
 * Multi-head scaled dot-product attention, float32:
 *
 *   out[i] = sum_j softmax_j(q[i] . k[j] / sqrt(headdim)) v[j]       for every sequence and head
 *
 *   attention/full     j over all seq positions
 *   attention/causal   j <= i
 *   attention/decode   one query token a sequence against a KV cache of seq positions
 *
 * q, k and v are strided views: head h of token t of sequence b starts at
 *     q + (b * seq + t) * ld + h * headdim
 * so the packed [batch * seq, 3 * heads * headdim] of a GPT's c_attn is used in place with
 * ld = 3 * heads * headdim and k = q + heads * headdim, v = k + heads * headdim.
 *
 * Work (exact pairs): full 4 B H S^2 D FLOPs, causal 4 B H (S(S+1)/2) D, decode 4 B H S D; the
 * softmax is not counted. (FlashAttention papers count causal as S^2/2 pairs.)
 *
 * Each entry point opens its own parallel region and allocates nothing.
 */
#ifndef HARNESS_KERNELS_ATTENTION_H
#define HARNESS_KERNELS_ATTENTION_H

#include "core/kernel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct attention {
    int64_t batch, seq, heads, headdim;
    const float *q, *k, *v;
    int64_t ld; /* floats between tokens of q, k and v */
    float *out; /* token t, head h at out + (b * seq + t) * ldo + h * headdim */
    int64_t ldo;
    bool causal;
    float *scratch; /* attention_scratch() floats, 64-byte aligned */
    int threads;    /* 0: a share of the caller's team, see kernels/host.h (simd only) */
};

/* One query token a sequence; positions 0..length-1 of its cache are seen. Cached head h of
 * position p of sequence b starts at k + b * ld_sequence + p * ld + h * headdim. */
struct attention_decode {
    int64_t batch, length, heads, headdim;
    const float *q; /* sequence b, head h at q + b * ldq + h * headdim */
    int64_t ldq;
    const float *k, *v;
    int64_t ld;          /* floats between positions of the caches */
    int64_t ld_sequence; /* floats between sequences of the caches */
    float *out;          /* sequence b, head h at out + b * ldo + h * headdim */
    int64_t ldo;
    float *scratch; /* attention_decode_scratch() floats, 64-byte aligned */
    int threads;    /* 0: a share of the caller's team, see kernels/host.h (simd only) */
};

typedef void attention_fn(const struct attention *a);
typedef void attention_decode_fn(const struct attention_decode *a);

attention_fn attention_prefill_naive, attention_prefill_simd, attention_prefill_openblas;
attention_decode_fn attention_decode_naive, attention_decode_simd;

/* Floats of scratch that any of the implementations needs, but openblas. */
size_t attention_scratch(int64_t seq, int64_t headdim, int threads);
size_t attention_decode_scratch(int64_t length, int threads);
size_t attention_openblas_scratch(int64_t seq, int threads);

/* dims batch, seq, heads, headdim for all three */
extern const struct kernel attention_causal_kernel, attention_full_kernel, attention_decode_kernel;
extern const struct kernel *const attention_kernels[];

/* Positions in the layouts. */
enum { ATTENTION_QKV, ATTENTION_OUT, ATTENTION_NR };
enum {
    ATTENTION_DECODE_Q,
    ATTENTION_DECODE_K,
    ATTENTION_DECODE_V,
    ATTENTION_DECODE_OUT,
    ATTENTION_DECODE_NR
};

#endif
