/* SPDX-License-Identifier: MIT */
/*
 * bf16 times bf16, added up in float, by sm_90's asynchronous matrix products: wgmma.m64nNk16.
 *
 *          a stage: k 64                     gemm_cuda_wgmma.h has the tiling, the ring of stages
 *        +--+--+--+--+                       and the way out
 *   rows |16|16|16|16|  x 128 + 256
 *        +--+--+--+--+
 *
 * Limit: the tensor cores at the clock that the power limit leaves them, about 800 TFLOP/s of 989.
 */
#include "kernels/gemm/gemm_cuda_wgmma_plan.h"

static bool matrix_fits(const void *data, int64_t ld, size_t size)
{
    return (uintptr_t)data % 16 == 0 && (size_t)ld * size % 16 == 0;
}

bool gemm_cuda_wgmma_fits(const struct gemm_cuda *g, enum dtype in)
{
    size_t size = dtype_size(in);

    return g->shared >= sizeof(struct wgmma_shared<wgmma_huge>) &&
           matrix_fits(g->x, g->ldx, size) && matrix_fits(g->w, g->ldw, size);
}

void gemm_linear_cuda_wgmma_bf16(const struct gemm_cuda *g, cudaStream_t stream)
{
    wgmma_enqueue<bf16>(g, stream);
}

#define LINEAR(of)                                                                                 \
    GEMM_CUDA_VARIANT(of, "cuda_wgmma_bf16",                                                       \
                      "wgmma m64n256k16 fed by tensor maps; limit: the tensor cores' power",       \
                      DTYPE_BF16, MATH_BF16, 0, wgmma_supports<bf16>, nullptr, wgmma_launch<bf16>, \
                      nullptr),

extern "C" const struct variant gemm_cuda_wgmma_bf16[];
const struct variant gemm_cuda_wgmma_bf16[] = {
    GEMM_LINEAR_KERNELS(LINEAR) /* the rest is the end mark */
    {},
};
