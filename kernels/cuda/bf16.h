/* SPDX-License-Identifier: MIT */
/*
 * bfloat16 in memory: the upper half of a float, rounded to nearest even. A type of its own, so
 * that a kernel template reads and writes float and bf16 alike through cuda_float() and
 * cuda_from<T>().
 */
#ifndef HARNESS_KERNELS_CUDA_BF16_H
#define HARNESS_KERNELS_CUDA_BF16_H

#include <cuda_runtime.h>

#include <stdint.h>

struct bf16 {
    uint16_t bits;
};

__host__ __device__ __forceinline__ float cuda_bits_float(uint32_t bits)
{
#ifdef __CUDA_ARCH__
    return __uint_as_float(bits);
#else
    float value;
    __builtin_memcpy(&value, &bits, sizeof(value));
    return value;
#endif
}

__host__ __device__ __forceinline__ uint32_t cuda_float_bits(float value)
{
#ifdef __CUDA_ARCH__
    return __float_as_uint(value);
#else
    uint32_t bits;
    __builtin_memcpy(&bits, &value, sizeof(bits));
    return bits;
#endif
}

__host__ __device__ __forceinline__ float cuda_float(float x)
{
    return x;
}

__host__ __device__ __forceinline__ float cuda_float(bf16 x)
{
    return cuda_bits_float((uint32_t)x.bits << 16);
}

/* Two floats as two bf16 in a register, `low` in the low half. */
__host__ __device__ __forceinline__ uint32_t cuda_bf16x2(float low, float high)
{
#ifdef __CUDA_ARCH__
    uint32_t packed;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
    return packed;
#else
    uint32_t bits[2] = { cuda_float_bits(low), cuda_float_bits(high) }, packed = 0;
    for (int i = 0; i < 2; i++) {
        uint32_t b = bits[i];
        bool nan = (b & 0x7fffffffu) > 0x7f800000u;
        uint32_t rounded = nan ? 0x7fffu : (b + 0x7fffu + ((b >> 16) & 1u)) >> 16;
        packed |= rounded << (16 * i);
    }
    return packed;
#endif
}

__host__ __device__ __forceinline__ float cuda_bf16_low(uint32_t packed)
{
    return cuda_bits_float(packed << 16);
}

__host__ __device__ __forceinline__ float cuda_bf16_high(uint32_t packed)
{
    return cuda_bits_float(packed & 0xffff0000u);
}

template <class T> __host__ __device__ __forceinline__ T cuda_from(float x);

template <> __host__ __device__ __forceinline__ float cuda_from<float>(float x)
{
    return x;
}

template <> __host__ __device__ __forceinline__ bf16 cuda_from<bf16>(float x)
{
    return bf16 { (uint16_t)(cuda_bf16x2(x, 0.0f) & 0xffffu) };
}

/* The nearest number with tf32's 10 bits of mantissa, ties away from zero, as a float's bits: what
 * the matrix units expect. Without it they cut the lower bits off, which biases every product. */
__host__ __device__ __forceinline__ uint32_t cuda_tf32(float x)
{
#ifdef __CUDA_ARCH__
    uint32_t bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return bits;
#else
    uint32_t bits = cuda_float_bits(x);
    bool finite = (bits & 0x7f800000u) != 0x7f800000u;
    return finite ? (bits + 0x1000u) & 0xffffe000u : bits;
#endif
}

#endif
