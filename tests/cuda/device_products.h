/* SPDX-License-Identifier: MIT */
/* What the programs that time products share: random data, the comparison, cuBLAS, operands that
 * are out of L2 when their turn comes again, and launches that are recorded and replayed. */
#ifndef HARNESS_TESTS_CUDA_DEVICE_PRODUCTS_H
#define HARNESS_TESTS_CUDA_DEVICE_PRODUCTS_H

#include "kernels/cuda/bf16.h"
#include "kernels/gemm/gemm_cuda.h"

#include "device_memory.h"
#include "device_noise.h"

#include <cublas_v2.h>
#include <dlfcn.h>
#include <math.h>
#include <string.h>

#include <algorithm>
#include <string>

static int sms;
static size_t shared_limit;

struct size_case {
    int m, n, k, gap; /* elements of y's rows that are no part of it */
    int sms = 0;      /* as if the device had so few: many tiles a block */
};

/* What follows the product. */
enum way { PLAIN, BIAS, BIAS_GELU, BIAS_RESIDUAL, RESIDUAL_IN_PLACE, WAYS };
static const char *const way_names[] = { "plain", "bias", "gelu", "residual", "in place" };

/* ---- Data ---- */

template <class T> static void fill(void *to, size_t nr, float scale, uint64_t seed)
{
    fill_kernel<<<1024, 256>>>(static_cast<T *>(to), nr, scale, seed);
}

/* ---- Comparison ---- */

/* Where outputs are wrong: how many by row % 64 / 8 and by column % 64 / 8. */
static void pattern(const std::vector<char> &bad, const struct size_case &c)
{
    long rows[8] = {}, cols[8] = {};

    for (int i = 0; i < c.m; i++)
        for (int j = 0; j < c.n; j++)
            if (bad[(size_t)i * (size_t)c.n + (size_t)j])
                rows[i % 64 / 8]++, cols[j % 64 / 8]++;
    printf("    by row %% 64 / 8:");
    for (long r : rows)
        printf(" %ld", r);
    printf("   by column %% 64 / 8:");
    for (long r : cols)
        printf(" %ld", r);
    printf("\n");
}

/* Compares y, of pitch n + gap, with what is wanted; what is no part of y is as it was. */
template <class OUT>
static bool compare(const std::vector<OUT> &y, const std::vector<float> &want,
                    const struct size_case &c, const char *what, double *worst,
                    double absolute = 2e-3, double relative = sizeof(OUT) == 2 ? 1.0 / 200 : 1e-4)
{
    std::vector<char> bad((size_t)c.m * (size_t)c.n);
    long wrong = 0, touched = 0;

    for (int i = 0; i < c.m; i++)
        for (int j = 0; j < c.n + c.gap; j++) {
            OUT v = y[(size_t)i * (size_t)(c.n + c.gap) + (size_t)j];
            if (j >= c.n) {
                uint32_t poison = 0xffffffffu;
                touched += memcmp(&v, &poison, sizeof(v)) != 0;
                continue;
            }
            size_t at = (size_t)i * (size_t)c.n + (size_t)j;
            double got = cuda_float(v), off = fabs(got - (double)want[at]);
            if (off <= absolute + relative * fabs((double)want[at])) {
                *worst = std::max(*worst, off);
                continue;
            }
            bad[at] = 1;
            if (wrong++ == 0)
                printf("  WRONG %s: first at (%d, %d): %g, want %g\n", what, i, j, got,
                       (double)want[at]);
        }
    if (wrong) {
        printf("    %.3f %% of all\n", 100.0 * (double)wrong / ((double)c.m * c.n));
        pattern(bad, c);
    }
    if (touched)
        printf("  WRONG %s: %ld elements between the rows were written\n", what, touched);
    return wrong == 0 && touched == 0;
}

/* ---- cuBLAS ---- */

/* Written out: in C++ NVIDIA's header overloads it. */
typedef cublasStatus_t gemm_ex_fn(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int,
                                  int, const void *, const void *, cudaDataType, int, const void *,
                                  cudaDataType, int, const void *, void *, cudaDataType, int,
                                  cublasComputeType_t, cublasGemmAlgo_t);

struct vendor {
    gemm_ex_fn *gemm;
    cublasHandle_t handle;
    bool there;
};

constexpr size_t VENDOR_WORKSPACE = 32 << 20;

static void *vendor_library(const char *name)
{
    const std::string names[] = { std::string(name) + ".so.13",
                                  std::string("/usr/local/cuda/lib64/") + name + ".so.13",
                                  std::string(name) + ".so" };

    for (const std::string &at : names)
        if (void *library = dlopen(at.c_str(), RTLD_NOW))
            return library;
    printf("no %s: %s\n", name, dlerror());
    return nullptr;
}

/* Whether the library has it. */
template <class FN> static bool vendor_symbol(void *library, const char *name, FN **to)
{
    *to = reinterpret_cast<FN *>(dlsym(library, name));
    return *to != nullptr;
}

static bool vendor_open_blas(struct vendor *v, cudaStream_t stream)
{
    void *library = vendor_library("libcublas"), *workspace;
    decltype(&cublasCreate_v2) create;
    decltype(&cublasSetStream_v2) set;
    decltype(&cublasSetWorkspace_v2) give;

    must(cudaMalloc(&workspace, VENDOR_WORKSPACE), "cuBLAS's workspace");
    return library != nullptr && vendor_symbol(library, "cublasCreate_v2", &create) &&
           vendor_symbol(library, "cublasSetStream_v2", &set) &&
           vendor_symbol(library, "cublasSetWorkspace_v2", &give) &&
           vendor_symbol(library, "cublasGemmEx", &v->gemm) &&
           create(&v->handle) == CUBLAS_STATUS_SUCCESS &&
           set(v->handle, stream) == CUBLAS_STATUS_SUCCESS &&
           give(v->handle, workspace, VENDOR_WORKSPACE) == CUBLAS_STATUS_SUCCESS;
}

static struct vendor vendor_open(cudaStream_t stream)
{
    struct vendor v = {};

    v.there = vendor_open_blas(&v, stream);
    return v;
}

static void vendor_run(const struct vendor *v, const struct gemm_cuda *g, cudaDataType_t type,
                       cublasComputeType_t compute)
{
    const float one = 1, zero = 0;

    v->gemm(v->handle, CUBLAS_OP_T, CUBLAS_OP_N, (int)g->n, (int)g->m, (int)g->k, &one, g->w, type,
            (int)g->ldw, g->x, type, (int)g->ldx, &zero, g->y, type, (int)g->ldy, compute,
            CUBLAS_GEMM_DEFAULT);
}

/* ---- Timing ---- */

static void fill_any(const void *to, size_t nr, float scale, uint64_t seed, bool bf)
{
    if (bf)
        fill<bf16>(const_cast<void *>(to), nr, scale, seed);
    else
        fill<float>(const_cast<void *>(to), nr, scale, seed);
}

/* Operands of a product, several times over, so that none is in L2 when its turn comes again. */
struct operands {
    std::vector<struct gemm_cuda> sets;
    std::vector<void *> owned;

    void *take(size_t bytes)
    {
        void *p;

        must(cudaMalloc(&p, bytes), "operands");
        owned.push_back(p);
        return p;
    }
    operands(const struct size_case &c, bool bf, enum way way = PLAIN)
    {
        size_t size = bf ? 2 : 4, x = (size_t)c.m * (size_t)c.k, w = (size_t)c.n * (size_t)c.k;
        size_t y = (size_t)c.m * (size_t)c.n, r = way == BIAS_RESIDUAL ? y : 0;
        size_t bytes = (x + w + y + r) * size, nr = std::min<size_t>((130u << 20) / bytes + 1, 40);
        const void *bias = way == PLAIN ? nullptr : take((size_t)c.n * size);

        if (bias != nullptr)
            fill_any(bias, (size_t)c.n, sqrtf((float)c.k), 999, bf);
        for (size_t i = 0; i < nr; i++) {
            struct gemm_cuda g = {};
            g.m = c.m, g.n = c.n, g.k = c.k;
            g.ldx = g.ldw = c.k, g.ldy = g.ldr = c.n;
            g.x = take(x * size), g.w = take(w * size), g.y = take(y * size);
            g.bias = bias, g.residual = r > 0 ? take(r * size) : nullptr;
            g.activation = way == BIAS_GELU ? GEMM_GELU : GEMM_IDENTITY;
            g.out = bf ? DTYPE_BF16 : DTYPE_FP32;
            g.sms = sms, g.shared = shared_limit, g.early = true;
            fill_any(g.x, x, 1, 3 * i, bf), fill_any(g.w, w, 1, 3 * i + 1, bf);
            fill_any(g.residual, r, sqrtf((float)c.k), 3 * i + 2, bf);
            sets.push_back(g);
        }
        finish("operands");
    }
    operands(const operands &) = delete;
    operands &operator=(const operands &) = delete;
    ~operands(void)
    {
        for (void *p : owned)
            cudaFree(p);
    }
};

/* Launches recorded once and replayed. */
struct recording {
    cudaGraphExec_t graph;
    int launches;
    std::vector<float> us; /* of a launch */

    template <class RUN>
    recording(const struct operands &o, cudaStream_t stream, double seconds, RUN run)
    {
        cudaGraph_t made;

        run(&o.sets[0]); /* loads code, asks for shared memory */
        finish("first launch");
        launches =
            (int)o.sets.size() * std::max(1, (int)(300e-6 / seconds / (double)o.sets.size()));
        must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
        for (int i = 0; i < launches; i++)
            run(&o.sets[(size_t)i % o.sets.size()]);
        must(cudaStreamEndCapture(stream, &made), "end of capture");
        must(cudaGraphInstantiate(&graph, made, 0), "graph");
        cudaGraphDestroy(made);
    }
    void replay(cudaStream_t stream, bool keep)
    {
        static cudaEvent_t from, to;
        float ms;

        if (from == nullptr) {
            cudaEventCreate(&from);
            cudaEventCreate(&to);
        }
        cudaEventRecord(from, stream);
        cudaGraphLaunch(graph, stream);
        cudaEventRecord(to, stream);
        must(cudaEventSynchronize(to), "replay");
        cudaEventElapsedTime(&ms, from, to);
        if (keep)
            us.push_back(ms * 1e3f / (float)launches);
    }
    float median(void)
    {
        std::sort(us.begin(), us.end());
        return us[us.size() / 2];
    }
};

#endif
