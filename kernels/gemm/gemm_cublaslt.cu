/* SPDX-License-Identifier: MIT */
/*
 * NVIDIA's matrix product with bias and GELU in its epilogue, and the residual as the C that the
 * product is added to, for reference: cublasLtMatmul. The
 * algorithm is the first that the library's heuristic names for the sizes, chosen once, untimed,
 * with a workspace of 32 MiB.
 *
 *     y^T [n,m] = w^T^T [n,k]  x^T [k,m]  + bias [n]     column-major, as the library thinks:
 *                                                        op(A) = T, op(B) = N
 *
 * Limit: what the library draws from the FMA units and the tensor cores, in one kernel.
 */
#include "kernels/cuda/cublas.h"
#include "kernels/gemm/gemm_cuda_launch.h"

#include <stdlib.h>

extern "C" {
#include "base/memory.h"
}

struct lt_state {
    const struct cuda_cublaslt_functions *library;
    cublasLtHandle_t handle;
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t w, x, y;
    cublasLtMatmulAlgo_t algo;
    void *workspace;
};

static int lt_failed(cublasStatus_t status, const char *what, struct error *err)
{
    if (status == CUBLAS_STATUS_SUCCESS)
        return 0;
    return error_set(err, "%s: cuBLASLt status %d%s", what, (int)status,
                     status == CUBLAS_STATUS_NOT_SUPPORTED ? ", not supported" : "");
}

static cublasComputeType_t lt_compute(const struct call *call)
{
    bool tf32 = call->variant->math == MATH_TF32;

    return tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

static int lt_set(struct lt_state *s, cublasLtMatmulDescAttributes_t attribute, const void *value,
                  size_t bytes, struct error *err)
{
    return lt_failed(s->library->desc_set(s->desc, attribute, value, bytes),
                     "cublasLtMatmulDescSetAttribute", err);
}

static int lt_describe(struct lt_state *s, const struct call *call, const struct gemm_cuda *g,
                       struct error *err)
{
    const cublasOperation_t transposed = CUBLAS_OP_T;
    const cublasLtEpilogue_t epilogue = g->bias == nullptr           ? CUBLASLT_EPILOGUE_DEFAULT
                                        : g->activation == GEMM_GELU ? CUBLASLT_EPILOGUE_GELU_BIAS
                                                                     : CUBLASLT_EPILOGUE_BIAS;
    cublasStatus_t status = s->library->desc_create(&s->desc, lt_compute(call), CUDA_R_32F);

    if (lt_failed(status, "cublasLtMatmulDescCreate", err) ||
        lt_set(s, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof(transposed), err) ||
        lt_set(s, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof(epilogue), err))
        return -1;
    if (g->bias == nullptr)
        return 0;
    return lt_set(s, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &g->bias, sizeof(g->bias), err);
}

static int lt_lay_out(struct lt_state *s, const struct gemm_cuda *g, struct error *err)
{
    const struct layout {
        cublasLtMatrixLayout_t *layout;
        int64_t rows, cols, ld;
    } layouts[] = { { &s->w, g->k, g->n, g->ldw },
                    { &s->x, g->k, g->m, g->ldx },
                    { &s->y, g->n, g->m, g->ldy } };
    cudaDataType_t type = g->out == DTYPE_BF16 ? CUDA_R_16BF : CUDA_R_32F;

    for (const struct layout &l : layouts) {
        cublasStatus_t status =
            s->library->layout_create(l.layout, type, (uint64_t)l.rows, (uint64_t)l.cols, l.ld);
        if (lt_failed(status, "cublasLtMatrixLayoutCreate", err))
            return -1;
    }
    return 0;
}

/* 0, -1 or CALL_UNSUPPORTED. */
static int lt_choose(struct lt_state *s, struct error *err)
{
    const struct cuda_cublaslt_functions *l = s->library;
    const size_t workspace = CUDA_CUBLAS_WORKSPACE;
    cublasLtMatmulPreference_t preference = nullptr;
    cublasLtMatmulHeuristicResult_t result = {};
    int found = 0;

    if (lt_failed(l->preference_create(&preference), "cublasLtMatmulPreferenceCreate", err))
        return -1;
    cublasStatus_t status = l->preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                              &workspace, sizeof(workspace));
    if (status == CUBLAS_STATUS_SUCCESS)
        status = l->heuristic(s->handle, s->desc, s->w, s->x, s->y, s->y, preference, 1, &result,
                              &found);
    l->preference_destroy(preference);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED || (status == CUBLAS_STATUS_SUCCESS && found == 0)) {
        error_set(err, "cuBLASLt knows no algorithm for this product");
        return CALL_UNSUPPORTED;
    }
    if (lt_failed(status, "cublasLtMatmulAlgoGetHeuristic", err))
        return -1;
    s->algo = result.algo;
    return 0;
}

static cublasStatus_t lt_multiply(const struct lt_state *s, const struct gemm_cuda *g,
                                  cudaStream_t stream)
{
    const float one = 1, beta = g->residual != nullptr ? 1 : 0;
    const void *c = g->residual != nullptr ? g->residual : g->y;

    return s->library->matmul(s->handle, s->desc, &one, g->w, s->w, g->x, s->x, &beta, c, s->y,
                              g->y, s->y, &s->algo, s->workspace, CUDA_CUBLAS_WORKSPACE, stream);
}

/* A failure leaves NaN, as nobody can be told here: see cuda_cublas_multiply_or_spoil(). */
static void launch(const struct call *call)
{
    const struct lt_state *s = static_cast<const struct lt_state *>(call->state);
    cudaStream_t stream = device_cuda_stream(call->device);
    struct gemm_cuda g = gemm_cuda_of(call);

    if (lt_multiply(s, &g, stream) != CUBLAS_STATUS_SUCCESS)
        cudaMemsetAsync(g.y, 0xff, (size_t)(g.m * g.n) * dtype_size(g.out), stream);
}

static void release(struct call *call)
{
    struct lt_state *s = static_cast<struct lt_state *>(call->state);
    const struct cuda_cublaslt_functions *l = s->library;

    for (cublasLtMatrixLayout_t layout : { s->w, s->x, s->y })
        if (layout != nullptr)
            l->layout_destroy(layout);
    if (s->desc != nullptr)
        l->desc_destroy(s->desc);
    if (s->handle != nullptr)
        l->destroy(s->handle);
    device_free(call->device, s->workspace);
    free(s);
    call->state = nullptr;
}

/* One product too, for the library to load its code and to say what it cannot do. */
static int lt_prepare(struct lt_state *s, const struct call *call, struct error *err)
{
    struct gemm_cuda g = gemm_cuda_of(call);

    s->workspace = device_alloc(call->device, CUDA_CUBLAS_WORKSPACE, err);
    if (s->workspace == nullptr)
        return error_prefix(err, "cuBLASLt's workspace");
    if (lt_failed(s->library->create(&s->handle), "cublasLtCreate", err) ||
        lt_describe(s, call, &g, err) || lt_lay_out(s, &g, err))
        return -1;
    int rc = lt_choose(s, err);
    if (rc)
        return rc;
    return lt_failed(lt_multiply(s, &g, device_cuda_stream(call->device)), "cublasLtMatmul", err);
}

static int prepare(struct call *call, struct error *err)
{
    const struct cuda_cublaslt_functions *library = cuda_cublaslt_library(err);

    if (library == nullptr)
        return -1;
    struct lt_state *s = static_cast<struct lt_state *>(memory_zeroed(1, sizeof(*s)));
    s->library = library;
    call->state = s;
    int rc = lt_prepare(s, call, err);
    if (rc)
        release(call);
    return rc;
}

static bool supports(const struct kernel *k, const struct shape *s, const struct device *d,
                     struct error *why)
{
    return gemm_cuda_supports(k, s, d, 0, why) && cuda_cublaslt_library(why) != nullptr;
}

#define GEMM_CUBLASLT(of, label, text, type, arithmetic)                                           \
    GEMM_CUDA_VARIANT(of, label, text "; the vendor reference", type, arithmetic, VARIANT_VENDOR,  \
                      supports, prepare, launch, release),
#define LT_FP32(of)                                                                                \
    GEMM_CUBLASLT(of, "cublaslt", "cublasLtMatmul, all in one", DTYPE_FP32, MATH_FP32)
#define LT_TF32(of)                                                                                \
    GEMM_CUBLASLT(of, "cublaslt_tf32", "cublasLtMatmul in tf32, all in one", DTYPE_FP32, MATH_TF32)
#define LT_BF16(of)                                                                                \
    GEMM_CUBLASLT(of, "cublaslt_bf16", "cublasLtMatmul, all in one", DTYPE_BF16, MATH_BF16)

extern "C" const struct variant gemm_cublaslt[];
const struct variant gemm_cublaslt[] = {
    GEMM_LINEAR_KERNELS(LT_FP32) GEMM_LINEAR_KERNELS(LT_TF32) GEMM_LINEAR_KERNELS(LT_BF16) {},
};
