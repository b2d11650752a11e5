/* SPDX-License-Identifier: MIT */
/*
 * e4m3, 8 bits: a sign, 4 bits of exponent (bias 7), 3 of mantissa; 2^-9 is the smallest number and
 * 448 the largest. There is no infinity, and one NaN of each sign (0x7f, 0xff).
 *
 * Source: P. Micikevicius et al., "FP8 Formats for Deep Learning", 2022; PTX ISA, cvt.
 */
#ifndef HARNESS_KERNELS_CUDA_FP8_H
#define HARNESS_KERNELS_CUDA_FP8_H

#include "kernels/cuda/bf16.h"

#include <math.h>

constexpr float CUDA_E4M3_MAX = 448;

/* As a number; for tests, and for the host's model of the rounding. */
__host__ __device__ inline float cuda_e4m3_float(uint8_t bits)
{
    int exponent = bits >> 3 & 15, mantissa = bits & 7;
    float value =
        exponent ? ldexpf((float)(8 + mantissa), exponent - 10) : ldexpf((float)mantissa, -9);

    if ((bits & 0x7f) == 0x7f)
        value = NAN;
    return bits & 0x80 ? -value : value;
}

/* Two floats as two bytes, `low` in the lower one: to nearest even, what is too large to the
 * largest number. */
__host__ __device__ __forceinline__ uint32_t cuda_e4m3x2(float low, float high)
{
#ifdef __CUDA_ARCH__
    uint16_t packed;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(packed) : "f"(high), "f"(low));
    return packed;
#else
    const float both[2] = { low, high };
    uint32_t packed = 0;
    for (int i = 0; i < 2; i++) {
        float size = fabsf(both[i]);
        uint32_t bits = 0x7f;
        if (size >= CUDA_E4M3_MAX) {
            bits = 0x7e;
        } else if (size == size) {
            int exponent = size < 0x1p-6f ? -6 : ilogbf(size);
            /* In units of the last place; one that rounds up to 16 is the next exponent's 8. */
            uint32_t units = (uint32_t)nearbyintf(ldexpf(size, 3 - exponent));
            bits = units < 8 ? units : ((uint32_t)(exponent + 6) << 3) + units;
        }
        packed |= (bits | (signbit(both[i]) ? 0x80u : 0u)) << 8 * i;
    }
    return packed;
#endif
}

/* Four, the first in the lowest byte. */
__host__ __device__ __forceinline__ uint32_t cuda_e4m3x4(float a, float b, float c, float d)
{
    return cuda_e4m3x2(a, b) | cuda_e4m3x2(c, d) << 16;
}

#endif
