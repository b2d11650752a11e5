/* SPDX-License-Identifier: MIT */
/*
 * exp, exp2 and gelu on vectors; for files compiled with SIMD_ISA (kernels/simd.h).
 *
 * simd_exp: x = n ln2 + r with |r| <= ln2/2, exp(x) = 2^n exp(r). ln2 is taken off in two parts
 * (Cody and Waite), exp(r) is 1 + r + r^2 q(r) with a minimax q of degree 4 (relative error of the
 * whole 3e-9 before rounding). Measured against libm: below 2 ulp for -87.3 <= x <= 88.
 * Below -87.3 the result is 0 (no denormals), above 88 it stays exp(88); NaN is not kept.
 *
 * simd_exp2: 2^x = 2^n 2^r with n = floor(x), 0 <= r < 1; 2^r is a minimax polynomial of degree 5
 * with the constant 1 (relative error 8.3e-8 before rounding), so that 2^n is exact for whole n.
 * Measured against libm: below 1.7e-7 for -126 <= x < 128. For weights of a softmax: below -126
 * the result stays 2^-126 (no denormals), from 128 on it is any value of 2^127 or more; NaN stays.
 *
 * simd_gelu: x/2 (1 + tanh u) = x / (1 + exp(-2u)), which has no cancellation for negative x.
 */
#ifndef HARNESS_KERNELS_SIMD_MATH_H
#define HARNESS_KERNELS_SIMD_MATH_H

#include "kernels/simd.h"

#ifdef SIMD_ISA

SIMD_INLINE simd_float simd_exp(simd_float x)
{
    const simd_float lowest = simd_set(-87.3f);
    simd_float y = simd_min(simd_max(x, lowest), simd_set(88.0f));
    simd_int n = simd_round(y * simd_set(0x1.715476p+0f)); /* log2(e) */
    simd_float whole = simd_from_int(n);
    simd_float r = simd_fma(whole, simd_set(-0x1.62e4p-1f), y);
    r = simd_fma(whole, simd_set(-0x1.7f7d1cp-20f), r);

    simd_float q = simd_set(0x1.6a2256p-10f);
    q = simd_fma(q, r, simd_set(0x1.123b02p-7f));
    q = simd_fma(q, r, simd_set(0x1.5558f8p-5f));
    q = simd_fma(q, r, simd_set(0x1.555490p-3f));
    q = simd_fma(q, r, simd_set(0x1.fffffcp-2f));
    simd_float e = simd_fma(q * r, r, r) + simd_set(1.0f);
    return simd_zero_below(x, lowest, e * simd_power_of_two(n));
}

SIMD_INLINE simd_float simd_exp2(simd_float x)
{
    simd_float y = simd_max(simd_set(-126.0f), x);
    simd_float n = simd_floor(y), r = y - n;

    simd_float p = simd_set(0x1.e974fap-10f);
    p = simd_fma(p, r, simd_set(0x1.277856p-7f));
    p = simd_fma(p, r, simd_set(0x1.c91ce6p-5f));
    p = simd_fma(p, r, simd_set(0x1.ebdb56p-3f));
    p = simd_fma(p, r, simd_set(0x1.62e4bap-1f));
    p = simd_fma(p, r, simd_set(1.0f));
    return simd_scale(p, n);
}

SIMD_INLINE simd_float simd_gelu(simd_float x)
{
    const simd_float minus_2c = simd_set(-1.5957691216057308f); /* -2 sqrt(2/pi) */
    simd_float cubic = simd_fma(x * x * simd_set(0.044715f), x, x);
    return x / (simd_set(1.0f) + simd_exp(minus_2c * cubic));
}

#endif

#endif
