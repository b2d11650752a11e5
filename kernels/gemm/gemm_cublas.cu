/* SPDX-License-Identifier: MIT */
/*
 * NVIDIA's own matrix products, for reference: cublasSgemm for fp32 (tf32 switched off),
 * cublasGemmEx for tf32 and bf16.
 *
 *     gemm/linear      y = bias in every row (a small kernel), then y += x w^T (beta = 1)
 *     gemm/nn          c = a b
 *
 * cuBLAS has no epilogue (cuBLASLt has, see gemm_cublaslt.cu), so the bias costs writing y once
 * more and reading it; all of that is timed.
 *
 * Limit: what the library draws from the FMA units and the tensor cores.
 */
#include "kernels/cuda/cublas.h"
#include "kernels/gemm/gemm_cuda_launch.h"

#include <stdlib.h>

extern "C" {
#include "base/memory.h"
}

static const int fill_threads = 256;

/* y[row, :] = bias, V elements a thread; rows of blocks along y's columns. */
template <class T, int V>
__global__ void __launch_bounds__(fill_threads)
    gemm_cublas_fill(T *y, const T *bias, int64_t elements, int n)
{
    int64_t at = ((int64_t)blockIdx.x * fill_threads + threadIdx.x) * V;

    if (at < elements)
        cuda_store(y + at, cuda_load<V>(bias + at % n));
}

template <class T> static void fill(const struct gemm_cuda *g, cudaStream_t stream)
{
    constexpr int width = cuda_wide<T>;
    T *y = static_cast<T *>(g->y);
    const T *bias = static_cast<const T *>(g->bias);
    bool vectors = g->n % width == 0 && gemm_cuda_vectors<T, T>(g);
    int64_t elements = g->m * g->n, n = elements / (vectors ? width : 1);
    unsigned blocks = (unsigned)cuda_pieces<int64_t>(n, fill_threads);

    if (vectors)
        cuda_launch<gemm_cublas_fill<T, width>>(blocks, (unsigned)fill_threads, 0, stream, y, bias,
                                                elements, (int)g->n);
    else
        cuda_launch<gemm_cublas_fill<T, 1>>(blocks, (unsigned)fill_threads, 0, stream, y, bias,
                                            elements, (int)g->n);
}

static struct cuda_cublas_product product_of(const struct call *call, const struct gemm_cuda *g)
{
    bool nn = call->kernel == &gemm_nn_kernel;
    struct cuda_cublas_product p = {};

    p.m = g->m, p.n = g->n, p.k = g->k;
    p.a = { g->x, g->ldx, 0, false };
    p.b = { g->w, g->ldw, 0, !nn };
    p.c = g->y, p.ldc = g->ldy;
    p.count = 1;
    p.alpha = 1, p.beta = g->bias != nullptr ? 1.0f : 0.0f;
    p.in = p.out = call->variant->dtype;
    p.math = call->variant->math;
    return p;
}

static void fill_bias(const struct gemm_cuda *g, cudaStream_t stream)
{
    if (g->bias == nullptr)
        return;
    if (g->out == DTYPE_BF16)
        fill<bf16>(g, stream);
    else
        fill<float>(g, stream);
}

static struct gemm_cuda arguments(const struct call *call)
{
    return call->kernel == &gemm_nn_kernel ? gemm_cuda_nn_of(call) : gemm_cuda_of(call);
}

static void launch(const struct call *call)
{
    const struct cuda_cublas *b = static_cast<const struct cuda_cublas *>(call->state);
    struct gemm_cuda g = arguments(call);
    struct cuda_cublas_product p = product_of(call, &g);

    fill_bias(&g, device_cuda_stream(call->device));
    cuda_cublas_multiply_or_spoil(b, &p, (size_t)(g.m * g.n) * dtype_size(g.out));
}

static void release(struct call *call)
{
    struct cuda_cublas *b = static_cast<struct cuda_cublas *>(call->state);

    cuda_cublas_close(b);
    free(b);
    call->state = nullptr;
}

/* One product, for the library to load its code and to say what it cannot do. */
static int prepare(struct call *call, struct error *err)
{
    struct cuda_cublas *b = static_cast<struct cuda_cublas *>(memory_zeroed(1, sizeof(*b)));
    struct gemm_cuda g = arguments(call);
    struct cuda_cublas_product p = product_of(call, &g);

    if (cuda_cublas_open(b, call->device, err)) {
        free(b);
        return -1;
    }
    call->state = b;
    if (cuda_cublas_multiply(b, &p, err) == 0)
        return 0;
    release(call);
    return -1;
}

static bool supports(const struct kernel *k, const struct shape *s, const struct device *d,
                     struct error *why)
{
    return gemm_cuda_supports(k, s, d, 0, why) && cuda_cublas_library(why) != nullptr;
}

#define GEMM_CUBLAS(of, label, text, type, arithmetic)                                             \
    GEMM_CUDA_VARIANT(of, label, text "; the vendor reference", type, arithmetic, VARIANT_VENDOR,  \
                      supports, prepare, launch, release)

extern "C" const struct variant gemm_cublas[];
const struct variant gemm_cublas[] = {
    GEMM_CUBLAS(gemm_linear_kernel, "cublas", "cublasSgemm onto the bias", DTYPE_FP32, MATH_FP32),
    GEMM_CUBLAS(gemm_linear_kernel, "cublas_tf32", "cublasGemmEx in tf32 onto the bias", DTYPE_FP32,
                MATH_TF32),
    GEMM_CUBLAS(gemm_linear_kernel, "cublas_bf16", "cublasGemmEx onto the bias", DTYPE_BF16,
                MATH_BF16),
    GEMM_CUBLAS(gemm_nn_kernel, "cublas", "cublasSgemm", DTYPE_FP32, MATH_FP32),
    GEMM_CUBLAS(gemm_nn_kernel, "cublas_tf32", "cublasGemmEx in tf32", DTYPE_FP32, MATH_TF32),
    GEMM_CUBLAS(gemm_nn_kernel, "cublas_bf16", "cublasGemmEx", DTYPE_BF16, MATH_BF16),
    {},
};
