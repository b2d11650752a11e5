/* SPDX-License-Identifier: MIT */
/*
 * cuBLAS and cuBLASLt, opened at run time: the harness starts where they are not, and the variants
 * that use them are unsupported there. For .cu files only.
 *
 * Names tried: libcublas.so.13, libcublas.so.12 and libcublas.so (libcublasLt likewise), or only
 * what the environment variable HARNESS_CUBLAS names, which then is the one for both. A library is
 * opened once and stays for the life of the process.
 */
#ifndef HARNESS_KERNELS_CUDA_CUBLAS_H
#define HARNESS_KERNELS_CUDA_CUBLAS_H

#include "device/device_cuda.h"

#include <cublasLt.h>
#include <cublas_v2.h>

/* Memory that the libraries may use, given to them beforehand: so launches allocate nothing and
 * can be captured in a graph. What NVIDIA recommends for sm_90. */
enum { CUDA_CUBLAS_WORKSPACE = 32 << 20 };

/* Written out: in C++ NVIDIA's header overloads these two. */
typedef cublasStatus_t cuda_cublas_gemm_fn(cublasHandle_t, cublasOperation_t, cublasOperation_t,
                                           int, int, int, const void *, const void *, cudaDataType,
                                           int, const void *, cudaDataType, int, const void *,
                                           void *, cudaDataType, int, cublasComputeType_t,
                                           cublasGemmAlgo_t);
typedef cublasStatus_t cuda_cublas_gemm_batched_fn(
    cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void *, const void *,
    cudaDataType, int, long long, const void *, cudaDataType, int, long long, const void *, void *,
    cudaDataType, int, long long, int, cublasComputeType_t, cublasGemmAlgo_t);

struct cuda_cublas_functions {
    decltype(&cublasCreate_v2) create;
    decltype(&cublasDestroy_v2) destroy;
    decltype(&cublasSetStream_v2) set_stream;
    decltype(&cublasSetWorkspace_v2) set_workspace;
    decltype(&cublasSetMathMode) set_math_mode;
    decltype(&cublasGetStatusString) status_string;
    decltype(&cublasSgemm_v2) sgemm;
    cuda_cublas_gemm_fn *gemm;
    cuda_cublas_gemm_batched_fn *gemm_batched;
};

struct cuda_cublaslt_functions {
    decltype(&cublasLtCreate) create;
    decltype(&cublasLtDestroy) destroy;
    decltype(&cublasLtMatmulDescCreate) desc_create;
    decltype(&cublasLtMatmulDescDestroy) desc_destroy;
    decltype(&cublasLtMatmulDescSetAttribute) desc_set;
    decltype(&cublasLtMatrixLayoutCreate) layout_create;
    decltype(&cublasLtMatrixLayoutDestroy) layout_destroy;
    decltype(&cublasLtMatmulPreferenceCreate) preference_create;
    decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy;
    decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set;
    decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic;
    decltype(&cublasLtMatmul) matmul;
};

/* NULL where the library is not there, with an error that says what was tried. */
const struct cuda_cublas_functions *cuda_cublas_library(struct error *err);
const struct cuda_cublaslt_functions *cuda_cublaslt_library(struct error *err);

/* A handle on the device's stream, with a workspace of its own. */
struct cuda_cublas {
    const struct cuda_cublas_functions *library;
    struct device *device;
    cublasHandle_t handle;
    void *workspace; /* CUDA_CUBLAS_WORKSPACE bytes of device memory */
};

/* -1 with the library's or the device's words in err; then there is nothing to close. */
int cuda_cublas_open(struct cuda_cublas *b, struct device *device, struct error *err);
void cuda_cublas_close(struct cuda_cublas *b);

/*
 * `count` products c = alpha op(a) op(b) + beta c of row-major matrices; op(a) is [m,k], op(b) is
 * [k,n]. A transposed factor lies as [k,m] or [n,k]. Element distances: ld between rows, stride
 * from one product's matrix to the next one's. a and b are of type `in`, c is of type `out`. Sums
 * are float; MATH_FP32 excludes tf32, MATH_TF32 asks for it, MATH_BF16 goes with bf16 factors.
 */
struct cuda_cublas_matrix {
    const void *data;
    int64_t ld, stride;
    bool transposed; /* factors only */
};

struct cuda_cublas_product {
    int64_t m, n, k;
    struct cuda_cublas_matrix a, b;
    void *c;
    int64_t ldc, stride_c;
    int64_t count;
    float alpha, beta;
    enum dtype in, out;
    enum math math;
};

/* Enqueues it. 0, or -1 and the library's words in err. */
int cuda_cublas_multiply(const struct cuda_cublas *b, const struct cuda_cublas_product *p,
                         struct error *err);

/* For launch(), which has nobody to tell an error: on a failure c, which is `bytes` long, becomes
 * NaN, so that no older result passes for this one. prepare() tries the product first, and tells.
 */
void cuda_cublas_multiply_or_spoil(const struct cuda_cublas *b, const struct cuda_cublas_product *p,
                                   size_t bytes);

#endif
