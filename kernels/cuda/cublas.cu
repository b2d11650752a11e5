/* SPDX-License-Identifier: MIT */
#include "kernels/cuda/cublas.h"

extern "C" {
#include "base/error.h"
}

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct symbol {
    const char *name;
    size_t offset; /* of the pointer in the table of functions */
};

static const struct symbol cublas_symbols[] = {
    { "cublasCreate_v2", offsetof(struct cuda_cublas_functions, create) },
    { "cublasDestroy_v2", offsetof(struct cuda_cublas_functions, destroy) },
    { "cublasSetStream_v2", offsetof(struct cuda_cublas_functions, set_stream) },
    { "cublasSetWorkspace_v2", offsetof(struct cuda_cublas_functions, set_workspace) },
    { "cublasSetMathMode", offsetof(struct cuda_cublas_functions, set_math_mode) },
    { "cublasGetStatusString", offsetof(struct cuda_cublas_functions, status_string) },
    { "cublasSgemm_v2", offsetof(struct cuda_cublas_functions, sgemm) },
    { "cublasGemmEx", offsetof(struct cuda_cublas_functions, gemm) },
    { "cublasGemmStridedBatchedEx", offsetof(struct cuda_cublas_functions, gemm_batched) },
    { nullptr, 0 },
};

static const struct symbol cublaslt_symbols[] = {
    { "cublasLtCreate", offsetof(struct cuda_cublaslt_functions, create) },
    { "cublasLtDestroy", offsetof(struct cuda_cublaslt_functions, destroy) },
    { "cublasLtMatmulDescCreate", offsetof(struct cuda_cublaslt_functions, desc_create) },
    { "cublasLtMatmulDescDestroy", offsetof(struct cuda_cublaslt_functions, desc_destroy) },
    { "cublasLtMatmulDescSetAttribute", offsetof(struct cuda_cublaslt_functions, desc_set) },
    { "cublasLtMatrixLayoutCreate", offsetof(struct cuda_cublaslt_functions, layout_create) },
    { "cublasLtMatrixLayoutDestroy", offsetof(struct cuda_cublaslt_functions, layout_destroy) },
    { "cublasLtMatmulPreferenceCreate",
      offsetof(struct cuda_cublaslt_functions, preference_create) },
    { "cublasLtMatmulPreferenceDestroy",
      offsetof(struct cuda_cublaslt_functions, preference_destroy) },
    { "cublasLtMatmulPreferenceSetAttribute",
      offsetof(struct cuda_cublaslt_functions, preference_set) },
    { "cublasLtMatmulAlgoGetHeuristic", offsetof(struct cuda_cublaslt_functions, heuristic) },
    { "cublasLtMatmul", offsetof(struct cuda_cublaslt_functions, matmul) },
    { nullptr, 0 },
};

/* Fills `table`. The library stays open: its functions are used from now on. */
static int load_from(const char *file, const struct symbol *symbols, void *table, struct error *err)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);

    if (library == nullptr)
        return error_set(err, "%s", dlerror());
    for (const struct symbol *s = symbols; s->name != nullptr; s++) {
        void *function = dlsym(library, s->name);
        if (function == nullptr) {
            dlclose(library);
            return error_set(err, "%s has no %s", file, s->name);
        }
        memcpy(static_cast<char *>(table) + s->offset, &function, sizeof(function));
    }
    return 0;
}

/* The message is about the newest name: that of an older version tells a reader less. */
static int load(const char *name, const struct symbol *symbols, void *table, struct error *err)
{
    static const char *const versions[] = { ".13", ".12", "" };
    const char *chosen = getenv("HARNESS_CUBLAS");
    struct error first, other;

    if (chosen != nullptr && *chosen != '\0')
        return load_from(chosen, symbols, table, err) == 0
                   ? 0
                   : error_prefix(err, "cuBLAS not found: HARNESS_CUBLAS=%s", chosen);
#ifdef CUDA_HOST_LAYER /* device memory is the host's here: no place for the real one */
    return error_set(err, "cuBLAS not found: HARNESS_CUBLAS names none for the host layer");
#endif
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
        char file[64];
        snprintf(file, sizeof(file), "%s.so%s", name, versions[i]);
        if (load_from(file, symbols, table, i == 0 ? &first : &other) == 0)
            return 0;
    }
    return error_set(err,
                     "cuBLAS not found: %s (tried %s.so.13, .so.12 and .so; the environment "
                     "variable HARNESS_CUBLAS names another file)",
                     first.message, name);
}

template <class LIBRARY> struct loaded {
    LIBRARY functions = {};
    struct error why = {};
    bool there;

    loaded(const char *name, const struct symbol *symbols)
        : there(load(name, symbols, &functions, &why) == 0)
    {
    }

    const LIBRARY *get(struct error *err) const
    {
        if (!there)
            error_set(err, "%s", why.message);
        return there ? &functions : nullptr;
    }
};

const struct cuda_cublas_functions *cuda_cublas_library(struct error *err)
{
    static const struct loaded<struct cuda_cublas_functions> library("libcublas", cublas_symbols);

    return library.get(err);
}

const struct cuda_cublaslt_functions *cuda_cublaslt_library(struct error *err)
{
    static const struct loaded<struct cuda_cublaslt_functions> library("libcublasLt",
                                                                       cublaslt_symbols);

    return library.get(err);
}

static int failed(const struct cuda_cublas *b, cublasStatus_t status, const char *what,
                  struct error *err)
{
    if (status == CUBLAS_STATUS_SUCCESS)
        return 0;
    return error_set(err, "%s: cuBLAS status %d, %s", what, (int)status,
                     b->library->status_string(status));
}

/* Setting the stream puts the workspace back to the library's own: so it comes first. */
static int set_up(struct cuda_cublas *b, struct error *err)
{
    const struct cuda_cublas_functions *l = b->library;
    cudaStream_t stream = device_cuda_stream(b->device);

    if (failed(b, l->set_stream(b->handle, stream), "cublasSetStream", err) ||
        failed(b, l->set_workspace(b->handle, b->workspace, CUDA_CUBLAS_WORKSPACE),
               "cublasSetWorkspace", err))
        return -1;
    return failed(b, l->set_math_mode(b->handle, CUBLAS_DEFAULT_MATH), "cublasSetMathMode", err);
}

int cuda_cublas_open(struct cuda_cublas *b, struct device *device, struct error *err)
{
    *b = {};
    b->device = device;
    b->library = cuda_cublas_library(err);
    if (b->library == nullptr)
        return -1;
    b->workspace = device_alloc(device, CUDA_CUBLAS_WORKSPACE, err);
    if (b->workspace == nullptr)
        return error_prefix(err, "cuBLAS's workspace");
    if (failed(b, b->library->create(&b->handle), "cublasCreate", err) == 0 && set_up(b, err) == 0)
        return 0;
    cuda_cublas_close(b);
    return -1;
}

void cuda_cublas_close(struct cuda_cublas *b)
{
    if (b->handle != nullptr)
        b->library->destroy(b->handle);
    device_free(b->device, b->workspace);
    *b = {};
}

static bool fits_int(int64_t value)
{
    return value >= 0 && value <= INT_MAX;
}

static cudaDataType_t data_type(enum dtype dtype)
{
    return dtype == DTYPE_BF16 ? CUDA_R_16BF : CUDA_R_32F;
}

/* cuBLAS thinks in columns: a row-major matrix is its transpose there, and c^T = b^T a^T. */
static cublasStatus_t multiply(const struct cuda_cublas *b, const struct cuda_cublas_product *p)
{
    const struct cuda_cublas_matrix *left = &p->b, *right = &p->a;
    cublasOperation_t left_op = left->transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasOperation_t right_op = right->transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    int m = (int)p->n, n = (int)p->m, k = (int)p->k;
    int ldl = (int)left->ld, ldr = (int)right->ld, ldc = (int)p->ldc;
    cudaDataType_t in = data_type(p->in), out = data_type(p->out);
    cublasComputeType_t compute =
        p->math == MATH_TF32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    bool single = p->in == DTYPE_FP32 && p->out == DTYPE_FP32 && p->math == MATH_FP32;

    if (p->count == 1 && single)
        return b->library->sgemm(b->handle, left_op, right_op, m, n, k, &p->alpha,
                                 static_cast<const float *>(left->data), ldl,
                                 static_cast<const float *>(right->data), ldr, &p->beta,
                                 static_cast<float *>(p->c), ldc);
    if (p->count == 1)
        return b->library->gemm(b->handle, left_op, right_op, m, n, k, &p->alpha, left->data, in,
                                ldl, right->data, in, ldr, &p->beta, p->c, out, ldc, compute,
                                CUBLAS_GEMM_DEFAULT);
    return b->library->gemm_batched(b->handle, left_op, right_op, m, n, k, &p->alpha, left->data,
                                    in, ldl, left->stride, right->data, in, ldr, right->stride,
                                    &p->beta, p->c, out, ldc, p->stride_c, (int)p->count, compute,
                                    CUBLAS_GEMM_DEFAULT);
}

int cuda_cublas_multiply(const struct cuda_cublas *b, const struct cuda_cublas_product *p,
                         struct error *err)
{
    const int64_t sizes[] = { p->m, p->n, p->k, p->count, p->a.ld, p->b.ld, p->ldc };

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        if (!fits_int(sizes[i]))
            return error_set(err, "%lld is beyond cuBLAS's integers", (long long)sizes[i]);
    return failed(b, multiply(b, p), "matrix product", err);
}

void cuda_cublas_multiply_or_spoil(const struct cuda_cublas *b, const struct cuda_cublas_product *p,
                                   size_t bytes)
{
    struct error ignored;

    if (cuda_cublas_multiply(b, p, &ignored))
        cudaMemsetAsync(p->c, 0xff, bytes, device_cuda_stream(b->device));
}
