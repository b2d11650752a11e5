/* SPDX-License-Identifier: MIT */
/*
 * float, of which the tensor cores read 10 bits of mantissa: mma.sync.m16n8k8. Fragments are
 * rounded to nearest in registers after ldmatrix, three instructions an element; without that the
 * units cut bits off, and every product is too small.
 *
 *          a stage: k 32                   gemm_cuda_mma.h has the tiling, the ring of stages
 *        +--+--+--+--+                     and the way out; ldmatrix moves a float as two
 *   rows | 8| 8| 8| 8|  x 128 + 256        neighbouring 16-bit elements, which is just right
 *        +--+--+--+--+
 *
 * Limit: mma.sync's rate, half of that of bf16; the rounding takes issue slots beside it.
 */
#include "kernels/gemm/gemm_cuda_mma.h"

void gemm_linear_cuda_tf32(const struct gemm_cuda *g, cudaStream_t stream)
{
    mma_enqueue<float>(g, stream);
}

static bool supports(const struct kernel *k, const struct shape *s, const struct device *d,
                     struct error *why)
{
    return gemm_cuda_supports(k, s, d, mma_medium::shared, why);
}

static void launch(const struct call *call)
{
    struct gemm_cuda g = gemm_cuda_of(call);

    gemm_linear_cuda_tf32(&g, device_cuda_stream(call->device));
}

#define LINEAR(of)                                                                                 \
    GEMM_CUDA_VARIANT(                                                                             \
        of, "cuda_tf32",                                                                           \
        "mma.sync m16n8k8, 64x64 a warp, rounded to nearest; limit: mma.sync's rate", DTYPE_FP32,  \
        MATH_TF32, 0, supports, gemm_cuda_prepare, launch, gemm_cuda_release),

extern "C" const struct variant gemm_cuda_tf32[];
const struct variant gemm_cuda_tf32[] = {
    GEMM_LINEAR_KERNELS(LINEAR) /* the rest is the end mark */
    {},
};
