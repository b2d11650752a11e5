/* SPDX-License-Identifier: MIT */
/* Qualifiers, vector types and the launch geometry, as CUDA C++ has them. */
#ifndef CUDA_HOST_TYPES_H
#define CUDA_HOST_TYPES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))
#define __constant__ static const
/* Static shared memory could be neither poisoned nor guarded. */
#define __shared__                                                                                 \
    _Pragma("GCC error \"the host layer has dynamic shared memory only: use cuda_shared<T>()\"")

struct uint3 {
    unsigned x, y, z;
};

struct dim3 {
    unsigned x, y, z;

    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_)
    {
    }
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z)
    {
    }
    constexpr operator uint3(void) const
    {
        return { x, y, z };
    }
};

/* Alignments are CUDA's: they decide which accesses the hardware allows. What makes one is inlined,
 * or compilers would not tell of the store that its result goes to (order.h, cuda_host_banks.h). */
#define CUDA_HOST_VECTORS(T, name)                                                                 \
    struct __align__(2 * sizeof(T)) name##2                                                        \
    {                                                                                              \
        T x, y;                                                                                    \
    };                                                                                             \
    struct __align__(4 * sizeof(T)) name##4                                                        \
    {                                                                                              \
        T x, y, z, w;                                                                              \
    };                                                                                             \
    __forceinline__ constexpr name##2 make_##name##2(T x, T y)                                     \
    {                                                                                              \
        return { x, y };                                                                           \
    }                                                                                              \
    __forceinline__ constexpr name##4 make_##name##4(T x, T y, T z, T w)                           \
    {                                                                                              \
        return { x, y, z, w };                                                                     \
    }

CUDA_HOST_VECTORS(float, float)
CUDA_HOST_VECTORS(int, int)
CUDA_HOST_VECTORS(unsigned, uint)
#undef CUDA_HOST_VECTORS

struct float3 {
    float x, y, z;
};

constexpr float3 make_float3(float x, float y, float z)
{
    return { x, y, z };
}

constexpr uint3 make_uint3(unsigned x, unsigned y, unsigned z)
{
    return { x, y, z };
}

/* Of the CUDA thread that runs in this thread of the operating system: set at every switch. */
extern constinit thread_local uint3 threadIdx, blockIdx;
extern constinit thread_local dim3 blockDim, gridDim;

constexpr int warpSize = 32;

#endif
