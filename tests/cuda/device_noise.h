/* SPDX-License-Identifier: MIT */
/* Random data for products, made on the device. */
#ifndef HARNESS_TESTS_CUDA_DEVICE_NOISE_H
#define HARNESS_TESTS_CUDA_DEVICE_NOISE_H

#include "kernels/cuda/bf16.h"

#include <stddef.h>
#include <stdint.h>

static __device__ float noise(uint64_t i, uint64_t seed)
{
    float sum = 0; /* of four uniform numbers: close to normal, deviation 1 */

    for (int j = 0; j < 4; j++) {
        uint64_t z = (i * 4 + (uint64_t)j + seed * 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
        z ^= z >> 31, z *= 0x94d049bb133111ebull, z ^= z >> 29;
        sum += (float)(z >> 40) * (1.0f / 16777216.0f) - 0.5f;
    }
    return sum * 1.7320508f;
}

template <class T> __global__ void fill_kernel(T *to, size_t nr, float scale, uint64_t seed)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < nr;
         i += (size_t)gridDim.x * blockDim.x)
        to[i] = cuda_from<T>(noise(i, seed) * scale);
}

#endif
