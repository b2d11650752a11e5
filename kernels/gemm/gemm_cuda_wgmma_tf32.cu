/* SPDX-License-Identifier: MIT */
/*
 * float, rounded to tf32 by the copy engine on its way to shared memory (the tensor cores
 * themselves would cut bits off, which makes every product too small): wgmma.m64nNk8.
 *
 *          a stage: k 32                     gemm_cuda_wgmma.h has the tiling, the ring of stages
 *        +--+--+--+--+                       and the way out
 *   rows | 8| 8| 8| 8|  x 128 + 256
 *        +--+--+--+--+
 *
 * Limit: the tensor cores, at half the rate of bf16.
 */
#include "kernels/gemm/gemm_cuda_wgmma_plan.h"

void gemm_linear_cuda_wgmma_tf32(const struct gemm_cuda *g, cudaStream_t stream)
{
    wgmma_enqueue<float>(g, stream);
}

#define LINEAR(of)                                                                                 \
    GEMM_CUDA_VARIANT(of, "cuda_wgmma_tf32",                                                       \
                      "wgmma m64n256k8, rounded as it is loaded; limit: the tensor cores",         \
                      DTYPE_FP32, MATH_TF32, 0, wgmma_supports<float>, nullptr,                    \
                      wgmma_launch<float>, nullptr),

extern "C" const struct variant gemm_cuda_wgmma_tf32[];
const struct variant gemm_cuda_wgmma_tf32[] = {
    GEMM_LINEAR_KERNELS(LINEAR) /* the rest is the end mark */
    {},
};
