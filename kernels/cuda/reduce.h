/* SPDX-License-Identifier: MIT */
/* Sums and maxima over a warp and over a block; every thread gets the result. */
#ifndef HARNESS_KERNELS_CUDA_REDUCE_H
#define HARNESS_KERNELS_CUDA_REDUCE_H

#include "kernels/cuda/launch.h"

enum { CUDA_WARP = 32 };

__device__ __forceinline__ int cuda_lane(void)
{
    return (int)(threadIdx.x % CUDA_WARP);
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
