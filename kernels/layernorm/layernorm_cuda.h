/* SPDX-License-Identifier: MIT */
/*
 * Layer normalisation on a CUDA device, for the variants and for the GPT models: .cu files only.
 * Enqueues on the stream; errors show in cudaGetLastError(). All matrices dense [rows, width].
 */
#ifndef HARNESS_KERNELS_LAYERNORM_LAYERNORM_CUDA_H
#define HARNESS_KERNELS_LAYERNORM_LAYERNORM_CUDA_H

#include "device/device_cuda.h"

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
    enum dtype stream;  /* of x, delta and sum */
    enum dtype dtype;   /* of gain, bias and y: that of the stream, or bf16 under a float stream */
    bool early = false; /* see pdl.h; gain and bias are not what the kernel in front writes */
};

typedef void layernorm_cuda_fn(const struct layernorm_cuda *l, cudaStream_t stream);

/* Width at most LAYERNORM_CUDA_MAX, rows at most INT32_MAX. Any alignment will do; 16 bytes for all
 * pointers and rows are faster. */
layernorm_cuda_fn layernorm_rows_cuda;

enum { LAYERNORM_CUDA_MAX = 16384 };

#endif
