/* SPDX-License-Identifier: MIT */
/*
 * Functions by the special function unit, a few instructions each: 2^x and 1/x are within 2 ulp
 * and flush denormal results to zero.
 */
#ifndef HARNESS_KERNELS_CUDA_MATH_H
#define HARNESS_KERNELS_CUDA_MATH_H

#include "kernels/cuda/bf16.h"

#include <cuda_runtime.h>

#include <math.h>

__device__ __forceinline__ float cuda_exp2(float x)
{
#ifdef __CUDA_ARCH__
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return exp2f(x);
#endif
}

__device__ __forceinline__ float cuda_reciprocal(float x)
{
#ifdef __CUDA_ARCH__
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return 1.0f / x;
#endif
}

/*
 * The tanh form of kernels/pointwise/pointwise.h. As 1 + tanh(u) = 2 / (1 + exp(-2u)), it is
 * x / (1 + 2^(-x (a + b x^2))), a = 2 sqrt(2/pi) log2(e), b = 0.044715 a: no cancellation on either
 * side, so that the error stays a few ulp of x.
 */
__device__ __forceinline__ float cuda_gelu(float x)
{
    const float a = 2.302208198f, b = 0.1029432396f;

    return x * cuda_reciprocal(1.0f + cuda_exp2(-x * fmaf(b, x * x, a)));
}

/* The divisor above, at most 2^60: beyond that, what is left of x is nothing beside its ulp. */
__device__ __forceinline__ float cuda_gelu_divisor(float x)
{
    const float a = 2.302208198f, b = 0.1029432396f;

    return 1.0f + cuda_exp2(fminf(-x * fmaf(b, x * x, a), 60.0f));
}

/* Of two numbers, by one reciprocal of both divisors' product: the special function unit, an eighth
 * as fast as multiplications, is what bounds GELU. */
__device__ __forceinline__ void cuda_gelu_two(float &x, float &y)
{
    float p = cuda_gelu_divisor(x), q = cuda_gelu_divisor(y), r = cuda_reciprocal(p * q);

    x *= r * q, y *= r * p;
}

#endif
