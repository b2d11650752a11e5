/* SPDX-License-Identifier: MIT */
/*
 * Rows that are not whole vectors of 16 bytes, or that start between them: a block a row, which
 * goes an element at a time, 16 of them in the registers of every thread, 128 to 1024 threads.
 *
 *   row   | 0 | 1 | .. | THREADS-1 | 0 | 1 | .. | THREADS-1 | 0 ..     the thread of an element
 *
 * Limit: instructions, as every element is a load and a store of its own.
 */
#ifndef HARNESS_KERNELS_LAYERNORM_LAYERNORM_CUDA_ELEMENTS_H
#define HARNESS_KERNELS_LAYERNORM_LAYERNORM_CUDA_ELEMENTS_H

#include "kernels/cuda/bf16.h"
#include "kernels/cuda/pdl.h"
#include "kernels/cuda/reduce.h"
#include "kernels/layernorm/layernorm_cuda.h"

template <int WARPS> struct layernorm_elements_shared {
    float sums[WARPS], squares[WARPS];
};

/* Does `what` with each element of a row that is this thread's: its number here, and its place. */
template <int THREADS, int PIECES, class WHAT>
__device__ __forceinline__ void layernorm_elements(int width, const WHAT &what)
{
#pragma unroll
    for (int i = 0; i < PIECES; i++)
        if ((int)threadIdx.x + i * THREADS < width)
            what(i, (int)threadIdx.x + i * THREADS);
}

/* S is the type of the stream, T that of gain, bias and y. */
template <class S, class T, int THREADS>
__global__ void __launch_bounds__(THREADS) layernorm_cuda_elements_kernel(struct layernorm_cuda a)
{
    constexpr int warps = THREADS / CUDA_WARP, pieces = 16;
    auto &shared = cuda_shared<layernorm_elements_shared<warps>>();
    const int64_t base = blockIdx.x * a.width;
    const int width = (int)a.width;
    auto each = [=](const auto &what) { layernorm_elements<THREADS, pieces>(width, what); };
    const S *x = static_cast<const S *>(a.x) + base, *delta = static_cast<const S *>(a.delta);
    float v[pieces], sum = 0, squares = 0;

    cuda_pdl_launch();
    cuda_pdl_wait();
    each([&](int i, int at) { v[i] = cuda_float(x[at]); });
    if (delta != nullptr) {
        each([&](int i, int at) { v[i] += cuda_float(delta[base + at]); });
        each([&](int i, int at) { static_cast<S *>(a.sum)[base + at] = cuda_from<S>(v[i]); });
    }
    each([&](int i, int) { sum += v[i]; });
    float mean = cuda_block_sum<warps>(sum, shared.sums) / (float)width;
    each([&](int i, int) { squares += (v[i] - mean) * (v[i] - mean); });
    squares = cuda_block_sum<warps>(squares, shared.squares);
    float scale = rsqrtf(squares / (float)width + (float)LAYERNORM_EPS);
    each([&](int i, int at) {
        float gain = cuda_float(static_cast<const T *>(a.gain)[at]);
        float bias = cuda_float(static_cast<const T *>(a.bias)[at]);
        static_cast<T *>(a.y)[base + at] = cuda_from<T>(fmaf((v[i] - mean) * scale, gain, bias));
    });
}

template <class S, class T, int THREADS = 128>
void layernorm_elements_run(const layernorm_cuda &l, cudaStream_t stream)
{
    if constexpr (THREADS < 1024)
        if (l.width > THREADS * 16)
            return layernorm_elements_run<S, T, 2 * THREADS>(l, stream);
    cuda_launch_with<layernorm_cuda_elements_kernel<S, T, THREADS>>(
        { .early = l.early }, (unsigned)l.rows, THREADS,
        sizeof(layernorm_elements_shared<THREADS / CUDA_WARP>), stream, l);
}

#endif
