/* SPDX-License-Identifier: MIT */
/* Sums and maxima over a warp and over a block; every thread gets the result. */
#ifndef HARNESS_KERNELS_CUDA_REDUCE_H
#define HARNESS_KERNELS_CUDA_REDUCE_H

#include "kernels/cuda/launch.h"

constexpr int CUDA_WARP = 32;

__device__ __forceinline__ int cuda_lane(void)
{
    return (int)(threadIdx.x % CUDA_WARP);
}

/* The same, read anew at each call, as cuda_block_again(). */
__device__ __forceinline__ int cuda_lane_again(void)
{
#ifdef __CUDA_ARCH__
    int lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
#else
    return cuda_lane();
#endif
}

/* Warp of this thread within a one-dimensional block. */
__device__ __forceinline__ int cuda_warp(void)
{
    return (int)(threadIdx.x / CUDA_WARP);
}

/* Over groups of WIDTH neighbouring lanes (a power of two). */
template <int WIDTH = CUDA_WARP> __device__ __forceinline__ float cuda_warp_sum(float x)
{
#pragma unroll
    for (int offset = WIDTH / 2; offset > 0; offset /= 2)
        x += __shfl_xor_sync(0xffffffffu, x, offset);
    return x;
}

template <int WIDTH = CUDA_WARP> __device__ __forceinline__ float cuda_warp_max(float x)
{
#pragma unroll
    for (int offset = WIDTH / 2; offset > 0; offset /= 2)
        x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, offset));
    return x;
}

/* N sums at once (a power of two up to 32), in N - 1 + log2(32 / N) exchanges instead of 5 N: each
 * exchange leaves a lane half as many sums. The lane gets that of v[lane * N / 32]. DISTANCE: of
 * the lanes that exchange. */
template <int N, int DISTANCE = CUDA_WARP / 2>
__device__ __forceinline__ float cuda_warp_sums(const float (&v)[N])
{
    static_assert(N > 0 && N <= CUDA_WARP && (N & (N - 1)) == 0, "a power of two");
    if constexpr (N == 1) {
        return cuda_warp_sum<2 * DISTANCE>(v[0]);
    } else {
        bool upper = (cuda_lane() & DISTANCE) != 0;
        float mine[N / 2];
#pragma unroll
        for (int i = 0; i < N / 2; i++) {
            float other = upper ? v[i] : v[i + N / 2];
            mine[i] = upper ? v[i + N / 2] : v[i];
            mine[i] += __shfl_xor_sync(0xffffffffu, other, DISTANCE);
        }
        return cuda_warp_sums<N / 2, DISTANCE / 2>(mine);
    }
}

/* Over a block of WARPS warps; `partial` are WARPS floats of shared memory, free for other use
 * after the next barrier. */
template <int WARPS> __device__ __forceinline__ float cuda_block_sum(float x, float *partial)
{
    x = cuda_warp_sum(x);
    if (cuda_lane() == 0)
        partial[cuda_warp()] = x;
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int i = 0; i < WARPS; i++)
        sum += partial[i];
    return sum;
}

#endif
