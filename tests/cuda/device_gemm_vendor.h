/* SPDX-License-Identifier: MIT */
/* NVIDIA's products beside those of device_gemm.cu, from libraries opened at run time: cuBLAS for
 * the product alone, cuBLASLt for what follows it in one kernel; the algorithm is the first that
 * the library's heuristic names, as in kernels/gemm/gemm_cublaslt.cu. */
#ifndef HARNESS_TESTS_CUDA_DEVICE_GEMM_VENDOR_H
#define HARNESS_TESTS_CUDA_DEVICE_GEMM_VENDOR_H

#include "device_gemm.h"

#include <cublasLt.h>

struct vendor_lt {
    decltype(&cublasLtCreate) create;
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
    cublasLtHandle_t handle;
    void *workspace;
    cudaStream_t stream;
    bool there;
};

struct vendors {
    struct vendor blas;
    struct vendor_lt lt;
};

static bool vendor_open_lt(struct vendor_lt *l)
{
    void *library = vendor_library("libcublasLt");

    return library != nullptr && vendor_symbol(library, "cublasLtCreate", &l->create) &&
           vendor_symbol(library, "cublasLtMatmulDescCreate", &l->desc_create) &&
           vendor_symbol(library, "cublasLtMatmulDescDestroy", &l->desc_destroy) &&
           vendor_symbol(library, "cublasLtMatmulDescSetAttribute", &l->desc_set) &&
           vendor_symbol(library, "cublasLtMatrixLayoutCreate", &l->layout_create) &&
           vendor_symbol(library, "cublasLtMatrixLayoutDestroy", &l->layout_destroy) &&
           vendor_symbol(library, "cublasLtMatmulPreferenceCreate", &l->preference_create) &&
           vendor_symbol(library, "cublasLtMatmulPreferenceDestroy", &l->preference_destroy) &&
           vendor_symbol(library, "cublasLtMatmulPreferenceSetAttribute", &l->preference_set) &&
           vendor_symbol(library, "cublasLtMatmulAlgoGetHeuristic", &l->heuristic) &&
           vendor_symbol(library, "cublasLtMatmul", &l->matmul) &&
           l->create(&l->handle) == CUBLAS_STATUS_SUCCESS;
}

static struct vendors vendors_open(cudaStream_t stream)
{
    struct vendors v = { vendor_open(stream), {} };

    v.lt.there = vendor_open_lt(&v.lt);
    v.lt.stream = stream;
    must(cudaMalloc(&v.lt.workspace, VENDOR_WORKSPACE), "cuBLASLt's workspace");
    return v;
}

static void vendor_product(const struct vendor *v, const struct gemm_cuda *g, bool bf)
{
    if (bf)
        vendor_run(v, g, CUDA_R_16BF, CUBLAS_COMPUTE_32F);
    else
        vendor_run(v, g, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32);
}

/* A product with bias, and GELU or residual, planned for the sizes of `g`. */
struct vendor_fused {
    const struct vendor_lt *v;
    cublasLtMatmulDesc_t desc = nullptr;
    cublasLtMatrixLayout_t w = nullptr, x = nullptr, y = nullptr;
    cublasLtMatmulAlgo_t algo = {};
    bool there = false;

    vendor_fused(const struct vendor_lt *vendor, const struct gemm_cuda *g, bool bf) : v(vendor)
    {
        there = v->there && describe(g, bf) && lay_out(g, bf) && choose();
    }
    vendor_fused(const vendor_fused &) = delete;
    vendor_fused &operator=(const vendor_fused &) = delete;
    ~vendor_fused(void)
    {
        for (cublasLtMatrixLayout_t layout : { w, x, y })
            if (layout != nullptr)
                v->layout_destroy(layout);
        if (desc != nullptr)
            v->desc_destroy(desc);
    }
    bool set(cublasLtMatmulDescAttributes_t attribute, const void *value, size_t bytes)
    {
        return v->desc_set(desc, attribute, value, bytes) == CUBLAS_STATUS_SUCCESS;
    }
    bool describe(const struct gemm_cuda *g, bool bf)
    {
        const cublasOperation_t transposed = CUBLAS_OP_T;
        const cublasLtEpilogue_t after =
            g->activation == GEMM_GELU ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
        cublasComputeType_t compute = bf ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_32F_FAST_TF32;

        return v->desc_create(&desc, compute, CUDA_R_32F) == CUBLAS_STATUS_SUCCESS &&
               set(CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof(transposed)) &&
               set(CUBLASLT_MATMUL_DESC_EPILOGUE, &after, sizeof(after)) &&
               set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, &g->bias, sizeof(g->bias));
    }
    bool lay_out(const struct gemm_cuda *g, bool bf)
    {
        cudaDataType_t type = bf ? CUDA_R_16BF : CUDA_R_32F;
        auto make = [&](cublasLtMatrixLayout_t *to, int64_t rows, int64_t cols, int64_t ld) {
            return v->layout_create(to, type, (uint64_t)rows, (uint64_t)cols, ld) ==
                   CUBLAS_STATUS_SUCCESS;
        };

        return make(&w, g->k, g->n, g->ldw) && make(&x, g->k, g->m, g->ldx) &&
               make(&y, g->n, g->m, g->ldy);
    }
    bool choose(void)
    {
        cublasLtMatmulPreference_t wish = nullptr;
        cublasLtMatmulHeuristicResult_t result = {};
        int found = 0;

        if (v->preference_create(&wish) != CUBLAS_STATUS_SUCCESS)
            return false;
        v->preference_set(wish, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &VENDOR_WORKSPACE,
                          sizeof(VENDOR_WORKSPACE));
        cublasStatus_t rc = v->heuristic(v->handle, desc, w, x, y, y, wish, 1, &result, &found);
        v->preference_destroy(wish);
        algo = result.algo;
        return rc == CUBLAS_STATUS_SUCCESS && found > 0;
    }
    bool run(const struct gemm_cuda *g) const
    {
        const float one = 1, beta = g->residual != nullptr ? 1 : 0;

        return v->matmul(v->handle, desc, &one, g->w, w, g->x, x, &beta,
                         g->residual != nullptr ? g->residual : g->y, y, g->y, y, &algo,
                         v->workspace, VENDOR_WORKSPACE, v->stream) == CUBLAS_STATUS_SUCCESS;
    }
};

#endif
