/* SPDX-License-Identifier: MIT */
/*
 * One thread an output: it walks along its row of x and its row (gemm/nn: its column) of w.
 *
 *        k              k              n
 *     +-----+        +-----+       +-------+
 *   m |--->-|   x  n |--->-|  = m  |   .   |      256 neighbouring outputs a block
 *     +-----+        +-----+       +-------+
 *
 * Limit: two loads a multiply-add, so the load units and not the arithmetic: a few percent of the
 * FMA peak. In the linear form the 32 threads of a warp read 32 rows of w, 32 sectors a load.
 */
#include "kernels/gemm/gemm_cuda_launch.h"

static const int naive_threads = 256;

/* Element (p, j) of w^T, or of w in gemm/nn. */
template <bool NN> __device__ float naive_weight(const struct gemm_args<float> &g, int64_t j, int p)
{
    return NN ? g.w[p * g.ldw + j] : g.w[j * g.ldw + p];
}

template <bool NN>
__global__ void __launch_bounds__(naive_threads) gemm_naive_kernel(const gemm_args<float> g)
{
    int64_t index = (int64_t)blockIdx.x * naive_threads + threadIdx.x;
    int64_t i = index / g.n, j = index % g.n;
    float sum[1] = { 0 };

    if (i >= g.m)
        return;
    for (int p = 0; p < g.k; p++)
        sum[0] += g.x[i * g.ldx + p] * naive_weight<NN>(g, j, p);
    gemm_finish<float>(g, (int)i, (int)j, sum);
}

template <bool NN> static void naive_enqueue(const struct gemm_cuda *g, cudaStream_t stream)
{
    const struct gemm_cuda_plan whole = { 0, 1, 1, 1 };
    int64_t blocks = cuda_pieces<int64_t>(g->m * g->n, naive_threads);

    cuda_launch<gemm_naive_kernel<NN>>((unsigned)blocks, (unsigned)naive_threads, 0, stream,
                                       gemm_args_of<float>(g, &whole));
}

void gemm_linear_cuda_naive(const struct gemm_cuda *g, cudaStream_t stream)
{
    naive_enqueue<false>(g, stream);
}

void gemm_nn_cuda_naive(const struct gemm_cuda *g, cudaStream_t stream)
{
    naive_enqueue<true>(g, stream);
}

static bool supports(const struct kernel *k, const struct shape *s, const struct device *d,
                     struct error *why)
{
    return gemm_cuda_supports(k, s, d, 0, why);
}

static void linear_launch(const struct call *call)
{
    struct gemm_cuda g = gemm_cuda_of(call);

    gemm_linear_cuda_naive(&g, device_cuda_stream(call->device));
}

static void nn_launch(const struct call *call)
{
    struct gemm_cuda g = gemm_cuda_nn_of(call);

    gemm_nn_cuda_naive(&g, device_cuda_stream(call->device));
}

#define LINEAR(of)                                                                                 \
    GEMM_CUDA_VARIANT(of, "cuda_naive", "one thread an output; limit: two loads a multiply-add",   \
                      DTYPE_FP32, MATH_FP32, VARIANT_PLAIN, supports, nullptr, linear_launch,      \
                      nullptr),

extern "C" const struct variant gemm_cuda_naive[];
const struct variant gemm_cuda_naive[] = {
    GEMM_LINEAR_KERNELS(LINEAR) /* and gemm/nn */
    GEMM_CUDA_VARIANT(gemm_nn_kernel, "cuda_naive",
                      "one thread an output; limit: two loads a multiply-add", DTYPE_FP32,
                      MATH_FP32, VARIANT_PLAIN, supports, nullptr, nn_launch, nullptr),
    {},
};
