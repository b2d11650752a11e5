/* SPDX-License-Identifier: MIT */
/* A stub of libcublas: the same symbols, computed by matmul.cc. */
#include "matmul.h"

using namespace cuda_host;

struct cublasContext {
    cudaStream_t stream;
    cublasMath_t math;
};

static const struct {
    cublasStatus_t status;
    const char *name, *text;
} statuses[] = {
    { CUBLAS_STATUS_SUCCESS, "CUBLAS_STATUS_SUCCESS", "the operation completed successfully" },
    { CUBLAS_STATUS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED",
      "the library was not initialized" },
    { CUBLAS_STATUS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed" },
    { CUBLAS_STATUS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE",
      "an unsupported value or parameter was passed to the function" },
    { CUBLAS_STATUS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED",
      "the GPU program failed to execute" },
    { CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED",
      "the functionality requested is not supported" },
};

const char *cublasGetStatusName(cublasStatus_t status)
{
    for (const auto &row : statuses)
        if (row.status == status)
            return row.name;
    return "unknown";
}

const char *cublasGetStatusString(cublasStatus_t status)
{
    for (const auto &row : statuses)
        if (row.status == status)
            return row.text;
    return "unknown";
}

cublasStatus_t cublasCreate_v2(cublasHandle_t *handle)
{
    if (!handle)
        return CUBLAS_STATUS_INVALID_VALUE;
    *handle = new cublasContext { nullptr, CUBLAS_DEFAULT_MATH };
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle)
{
    delete handle;
    return handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int *version)
{
    if (!version)
        return CUBLAS_STATUS_INVALID_VALUE;
    *version = static_cast<int>(cublasLtGetVersion());
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    handle->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}

/* Nothing here needs one; cuBLAS wants it aligned to 256 bytes. */
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *workspace, size_t bytes)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    bool wrong = reinterpret_cast<uintptr_t>(workspace) % 256 != 0 || (bytes > 0 && !workspace);
    return wrong ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (mode < 0 || mode > (CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION | 3))
        return CUBLAS_STATUS_INVALID_VALUE;
    handle->math = mode;
    return CUBLAS_STATUS_SUCCESS;
}

static bool operation_known(cublasOperation_t op)
{
    return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C;
}

static bool algorithm_known(cublasGemmAlgo_t algo)
{
    return (algo >= CUBLAS_GEMM_DEFAULT && algo <= 23) ||
           (algo >= CUBLAS_GEMM_DEFAULT_TENSOR_OP && algo <= 115);
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
                                          cublasOperation_t transb, int m, int n, int k,
                                          const void *alpha, const void *A, cudaDataType Atype,
                                          int lda, long long strideA, const void *B,
                                          cudaDataType Btype, int ldb, long long strideB,
                                          const void *beta, void *C, cudaDataType Ctype, int ldc,
                                          long long strideC, int batchCount,
                                          cublasComputeType_t computeType, cublasGemmAlgo_t algo)
{
    struct product p = {};

    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!operation_known(transa) || !operation_known(transb) || !algorithm_known(algo) || !alpha ||
        !beta)
        return CUBLAS_STATUS_INVALID_VALUE;
    cublasStatus_t rc = product_rounding(computeType, handle->math, &p.rounding);
    if (rc != CUBLAS_STATUS_SUCCESS)
        return rc;
    p.m = m, p.n = n, p.k = k, p.batch = batchCount;
    p.transpose_a = transa != CUBLAS_OP_N;
    p.transpose_b = transb != CUBLAS_OP_N;
    p.alpha = *static_cast<const float *>(alpha);
    p.beta = *static_cast<const float *>(beta);
    p.a = { A, Atype, lda, strideA };
    p.b = { B, Btype, ldb, strideB };
    p.c = p.d = { C, Ctype, ldc, strideC };
    rc = product_check(&p, true);
    return rc == CUBLAS_STATUS_SUCCESS ? product_enqueue(&p, handle->stream) : rc;
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
                            cublasOperation_t transb, int m, int n, int k, const void *alpha,
                            const void *A, cudaDataType Atype, int lda, const void *B,
                            cudaDataType Btype, int ldb, const void *beta, void *C,
                            cudaDataType Ctype, int ldc, cublasComputeType_t computeType,
                            cublasGemmAlgo_t algo)
{
    return cublasGemmStridedBatchedEx(handle, transa, transb, m, n, k, alpha, A, Atype, lda, 0, B,
                                      Btype, ldb, 0, beta, C, Ctype, ldc, 0, 1, computeType, algo);
}

cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t transa,
                              cublasOperation_t transb, int m, int n, int k, const float *alpha,
                              const float *A, int lda, const float *B, int ldb, const float *beta,
                              float *C, int ldc)
{
    return cublasGemmEx(handle, transa, transb, m, n, k, alpha, A, CUDA_R_32F, lda, B, CUDA_R_32F,
                        ldb, beta, C, CUDA_R_32F, ldc, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}
