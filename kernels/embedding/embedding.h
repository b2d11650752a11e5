/* SPDX-License-Identifier: MIT */
/*
 * embedding/gpt: out[b, t] = wte[tokens[b, t]] + wpe[first + t], float32 rows of `width`.
 *
 * Work: 1 FLOP an element; bytes: tokens once, the rows touched of wte (at most min(tokens,
 * vocab) of them) and of wpe once, out once.
 */
#ifndef HARNESS_KERNELS_EMBEDDING_H
#define HARNESS_KERNELS_EMBEDDING_H

#include "core/kernel.h"

#include <stdint.h>

struct embedding {
    int64_t batch, seq, width;
    const int32_t *tokens; /* [batch, seq], each in [0, rows of wte) */
    const float *wte;      /* [vocab, width] */
    const float *wpe;      /* [positions, width], positions >= first + seq */
    int64_t first;         /* position of the first token (decode), else 0 */
    float *out;            /* [batch * seq, width] */
    int threads;           /* 0: a share of the caller's team, see kernels/host.h (simd only) */
};

typedef void embedding_fn(const struct embedding *e);

embedding_fn embedding_rows_naive, embedding_rows_simd;

extern const struct kernel embedding_gpt_kernel; /* dims batch, seq, width, vocab */
extern const struct kernel *const embedding_kernels[];

/* Positions in the layout. */
enum { EMBEDDING_TOKENS, EMBEDDING_WTE, EMBEDDING_WPE, EMBEDDING_OUT, EMBEDDING_NR };

#endif
