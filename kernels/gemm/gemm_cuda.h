/* SPDX-License-Identifier: MIT */
/*
 * The linear layer on a CUDA device, for the variants and for the GPT models: .cu files only.
 * Each function enqueues on the stream what computes y = activation(x w^T + bias) + residual, and
 * neither allocates nor waits; errors show in cudaGetLastError(). m, n and k are at least 1 and
 * below 2^30, and m x n is below 2^36.
 *
 * x, w and bias are float, for gemm_linear_cuda_bf16 bf16; sums are always float. y and residual
 * are of type `out`: DTYPE_FP32, or DTYPE_BF16 with gemm_linear_cuda_bf16 only. tf32 rounds x and w
 * to 10 bits of mantissa. Any size and pitch will do; 16-byte alignment of pointers and pitches is
 * faster.
 */
#ifndef HARNESS_KERNELS_GEMM_GEMM_CUDA_H
#define HARNESS_KERNELS_GEMM_GEMM_CUDA_H

#include "device/device_cuda.h"

extern "C" {
#include "kernels/gemm/gemm.h"
}

struct gemm_cuda {
    int64_t m, n, k;
    const void *x; /* [m,k] */
    int64_t ldx;   /* elements between rows, as all pitches */
    const void *w; /* [n,k], K contiguous */
    int64_t ldw;
    const void *bias;     /* [n], or NULL */
    const void *residual; /* [m,n], added after the activation, or NULL; may be y itself */
    int64_t ldr;
    enum gemm_activation activation;
    void *y; /* [m,n] */
    int64_t ldy;
    enum dtype out;
    int sms;         /* of the device: decides tiles and the split of K */
    size_t shared;   /* bytes a block of the device may have: tiles that need more are not taken */
    void *workspace; /* gemm_cuda_workspace() bytes, zeroed once; left zeroed where it must be.
                        NULL: K is not cut into slices, which is slower where m x n is small */
    /* 0: chosen from the sizes. For tests and tuning: a row of the variant's table of tiles, from
     * 1, and slices of K; what cannot be is not done. */
    int tile, split;
    /* Simt, tf32, bf16 and wgmma: may start before the kernel in front of it has ended (pdl.h),
     * which must not write w (wgmma's takes that, too). */
    bool early;
};

typedef void gemm_cuda_fn(const struct gemm_cuda *g, cudaStream_t stream);

gemm_cuda_fn gemm_linear_cuda_naive, gemm_linear_cuda_tiled, gemm_linear_cuda_simt; /* fp32 */
gemm_cuda_fn gemm_linear_cuda_tf32, gemm_linear_cuda_bf16;                          /* mma.sync */

/* wgmma: for compute capability 9.0 alone, where gemm_cuda_wgmma_fits() the product: x and w of
 * type `in` (DTYPE_BF16 for _bf16, DTYPE_FP32 for _tf32) with pointers and pitches that are
 * multiples of 16 bytes. They use no workspace. Not part of a build for the host layer. */
gemm_cuda_fn gemm_linear_cuda_wgmma_tf32, gemm_linear_cuda_wgmma_bf16;
bool gemm_cuda_wgmma_fits(const struct gemm_cuda *g, enum dtype in);
/* A GPT's head, y = x w^T in bf16 with k to 256 and rows of y that start anywhere; for compute
 * capability 9.0 alone, where gemm_head_cuda_wgmma_fits() the product: no bias, residual or
 * activation, x and w with pointers and pitches that are multiples of 16 bytes. w is read while the
 * kernel before on the stream may still run: that one must not write it. Not part of a build for
 * the host layer. */
gemm_cuda_fn gemm_head_cuda_wgmma_bf16;
bool gemm_head_cuda_wgmma_fits(const struct gemm_cuda *g);

/* The same with w as it is, [k,n]: y = activation(x w + bias) + residual. */
gemm_cuda_fn gemm_nn_cuda_naive, gemm_nn_cuda_tiled, gemm_nn_cuda_simt; /* fp32 */

/* Bytes that any of them may need, for products of at most m x n on such a device; 256-byte
 * aligned. Two products that may run at the same time need one each. */
size_t gemm_cuda_workspace(int64_t m, int64_t n, int sms);

/* The arguments of a prepared call of gemm/linear; the workspace is call->state. */
struct gemm_cuda gemm_cuda_of(const struct call *call);
/* prepare() and release() of the variants that use a workspace. */
int gemm_cuda_prepare(struct call *call, struct error *err);
void gemm_cuda_release(struct call *call);

#endif
