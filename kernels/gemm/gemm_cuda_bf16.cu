/* SPDX-License-Identifier: MIT */
/*
 * bf16 times bf16, added up in float, on the tensor cores: mma.sync.m16n8k16.
 *
 *          a stage: k 64                   gemm_cuda_mma.h has the tiling, the ring of stages
 *        +--+--+--+--+                     and the way out
 *   rows |16|16|16|16|  x 128 + 256
 *        +--+--+--+--+
 *
 * Limit: mma.sync itself, on sm_90 about 62 % of what wgmma draws from the same tensor cores (490
 * TFLOP/s); on sm_80 it is the only way to them.
 */
#include "kernels/gemm/gemm_cuda_mma.h"

void gemm_linear_cuda_bf16(const struct gemm_cuda *g, cudaStream_t stream)
{
    mma_enqueue<bf16>(g, stream);
}

static bool supports(const struct kernel *k, const struct shape *s, const struct device *d,
                     struct error *why)
{
    return gemm_cuda_supports(k, s, d, mma_medium::shared, why);
}

static void launch(const struct call *call)
{
    struct gemm_cuda g = gemm_cuda_of(call);

    gemm_linear_cuda_bf16(&g, device_cuda_stream(call->device));
}

#define LINEAR(of)                                                                                 \
    GEMM_CUDA_VARIANT(of, "cuda_bf16",                                                             \
                      "mma.sync m16n8k16, 64x64 a warp, cp.async stages; limit: mma.sync's rate",  \
                      DTYPE_BF16, MATH_BF16, 0, supports, gemm_cuda_prepare, launch,               \
                      gemm_cuda_release),

extern "C" const struct variant gemm_cuda_bf16[];
const struct variant gemm_cuda_bf16[] = {
    GEMM_LINEAR_KERNELS(LINEAR) /* the rest is the end mark */
    {},
};
