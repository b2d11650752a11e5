/* SPDX-License-Identifier: MIT */
/*
 * The product behind the stub of cuBLAS: D = epilogue(alpha op(A) op(B) + beta C), column-major.
 * Plain loops, fp32 sums in the order of k.
 */
#ifndef CUDA_HOST_MATMUL_H
#define CUDA_HOST_MATMUL_H

#include "cublasLt.h"
#include "stream.h"

namespace cuda_host
{

struct operand {
    const void *data;
    cudaDataType type;
    int64_t ld;     /* elements between columns */
    int64_t stride; /* elements between matrices of a batch */
};

/* How inputs are rounded before they are multiplied. */
enum class rounding { NONE, TF32, BF16 };

struct product {
    int64_t m, n, k, batch;
    bool transpose_a, transpose_b;
    float alpha, beta;
    struct operand a, b, c, d; /* d.data is written */
    enum rounding rounding;
    bool gelu;
    const void *bias; /* m values of d's type, or null */
};

/* INVALID_VALUE or NOT_SUPPORTED for what cuBLAS documents as such: negative sizes, leading
 * dimensions shorter than a column, null or misaligned pointers, types that do not go together.
 * `pointers` false: all but the pointers. */
cublasStatus_t product_check(const struct product *p, bool pointers);
/* Which rounding a compute type asks for; NOT_SUPPORTED for others than those in cublas_v2.h. */
cublasStatus_t product_rounding(cublasComputeType_t compute, cublasMath_t math,
                                enum rounding *rounding);
void product_run(const struct product *p);
/* Runs it as the stream's work. The stub has no way to the legacy stream: NOT_SUPPORTED. */
cublasStatus_t product_enqueue(const struct product *p, cudaStream_t stream);

} // namespace cuda_host

#endif
