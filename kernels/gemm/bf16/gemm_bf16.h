/* SPDX-License-Identifier: MIT */
/*
 * y = activation(x b + bias) + residual with a right factor of bfloat16. The rest is bfloat16 too,
 * or fp32 where it stays in caches: a model's activations. Products are added up in fp32.
 */
#ifndef HARNESS_KERNELS_GEMM_BF16_H
#define HARNESS_KERNELS_GEMM_BF16_H

#include "core/tensor.h"
#include "kernels/gemm/gemm.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How much is taken at a time; 0: by the caches. */
struct gemm_bf16_cut {
    int64_t block; /* rows of x */
    int64_t group; /* panels of b */
};

struct gemm_bf16 {
    int64_t m, n, k;
    enum dtype x_type, y_type; /* DTYPE_BF16 or DTYPE_FP32 */
    const void *x;             /* [m,k] */
    int64_t ldx;
    const float *packed;  /* b in the panels of gemm_bf16_pack(), or NULL: */
    const uint16_t *rows; /* b [k,n] itself */
    int64_t ldb;
    const float *bias;    /* [n], or NULL */
    const void *residual; /* [m,n] of y's type, or NULL; as in struct gemm_linear */
    int64_t ldr;
    enum gemm_activation activation;
    void *y; /* [m,n] */
    int64_t ldy;
    bool streaming; /* y is far larger than the caches: write around them (logits) */
    struct gemm_bf16_cut cut;
    float *scratch; /* gemm_bf16_floats() floats, 64-byte aligned */
    int threads;    /* 0: a share of the caller's team, see kernels/host.h */
};

enum { GEMM_BF16_FEW = 4 }; /* rows, at most, whose time is that of reading b */

void gemm_bf16_simd(const struct gemm_bf16 *g);

/* Whole lines of so many floats. */
int64_t gemm_bf16_lines(int64_t floats);
enum { GEMM_BF16_WIDEST = 480 }; /* columns of a group, at most: whole panels of any form */
int64_t gemm_bf16_block(struct gemm_bf16_cut c, int64_t k);
int64_t gemm_bf16_group(struct gemm_bf16_cut c, int64_t depth, int64_t width);
size_t gemm_bf16_floats(struct gemm_bf16_cut c, int64_t m, int64_t k, int threads);
/* The same of a cut by the caches. */
size_t gemm_bf16_scratch(int64_t m, int64_t k, int threads);

/* As gemm_packed_size() and gemm_pack(), but of pairs: word p * width + j of a panel holds
 * w[j][2p] and, above it, w[j][2p + 1] (0 where there is none). `w` is [n,k], bfloat16 or floats
 * that are rounded. */
size_t gemm_bf16_packed_size(int64_t n, int64_t k); /* floats, of 32 bits each */
void gemm_bf16_pack(const void *w, enum dtype type, int64_t n, int64_t k, float *packed,
                    int threads);

#endif
