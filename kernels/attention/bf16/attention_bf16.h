/* SPDX-License-Identifier: MIT */
/* A decode step against a KV cache of bfloat16; else as struct attention_decode. */
#ifndef HARNESS_KERNELS_ATTENTION_BF16_H
#define HARNESS_KERNELS_ATTENTION_BF16_H

#include "core/tensor.h"
#include "kernels/attention/attention.h"

#include <stddef.h>
#include <stdint.h>

struct attention_decode_bf16 {
    int64_t batch, length, heads, headdim;
    enum dtype type; /* of q and out: DTYPE_BF16 or DTYPE_FP32 */
    const void *q;
    int64_t ldq;
    const uint16_t *k, *v;
    int64_t ld, ld_sequence;
    void *out;
    int64_t ldo;
    float *scratch; /* attention_decode_bf16_scratch() floats, 64-byte aligned */
    int threads;    /* 0: a share of the caller's team, see kernels/host.h */
};

void attention_decode_bf16_simd(const struct attention_decode_bf16 *a);

size_t attention_decode_bf16_scratch(int64_t length, int64_t headdim, int threads);

#endif
