/* SPDX-License-Identifier: MIT */
/*
 * Layer normalisation on a CUDA device, for the variants and for the GPT models: .cu files only.
 * Enqueues on the stream; errors show in cudaGetLastError(). All matrices dense [rows, width].
 */
#ifndef HARNESS_KERNELS_LAYERNORM_LAYERNORM_CUDA_H
#define HARNESS_KERNELS_LAYERNORM_LAYERNORM_CUDA_H

#include "core/device_cuda.h"

extern "C" {
#include "kernels/layernorm/layernorm.h"
}

struct layernorm_cuda {
    int64_t rows, width;
    const void *x;
    const void *delta;       /* NULL: plain */
    void *sum;               /* x + delta; may be x. Unused where delta is NULL */
    const void *gain, *bias; /* [width] */
    void *y;
    enum dtype stream; /* of x, delta and sum */
    enum dtype dtype;  /* of gain, bias and y: that of the stream, or bf16 under a float stream */
};

typedef void layernorm_cuda_fn(const struct layernorm_cuda *l, cudaStream_t stream);

/* A warp (or less) a row, width at most LAYERNORM_CUDA_WARP_MAX; a block a row, width at most
 * LAYERNORM_CUDA_BLOCK_MAX. Rows are at most INT32_MAX. Any alignment will do; 16 bytes for all
 * pointers and the width are faster. */
layernorm_cuda_fn layernorm_rows_cuda_warp, layernorm_rows_cuda_block;

enum { LAYERNORM_CUDA_WARP_MAX = 1024, LAYERNORM_CUDA_BLOCK_MAX = 16384 };

#endif
