/* SPDX-License-Identifier: MIT */
/*
 * wgmma of e4m3 (wgmma.h says what it is): 32 bytes of K are 32 elements, so K = 32 a product. Both
 * factors are K-major: of one-byte elements there is no other form, so what lies the other way in
 * memory has to be transposed before. A in registers is not as D lies, see wgmma_e4m3().
 *
 * The unit adds up products of 8 bits in fewer bits than float has: it keeps about 14 of the
 * largest one's mantissa (found by others on an H800: "DeepSeek-V3 Technical Report", 2024,
 * section 3.3).
 *
 * Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions".
 */
#ifndef HARNESS_KERNELS_CUDA_WGMMA_FP8_H
#define HARNESS_KERNELS_CUDA_WGMMA_FP8_H

#include "kernels/cuda/wgmma.h"

/* d = a b, or d += a b with `add`. */
template <int N>
__device__ __forceinline__ void wgmma_e4m3(float (&d)[N / 2], uint64_t a, uint64_t b, int add)
{
    static_assert(N == 64 || N == 128 || N == 256, "the shapes that are written out");
    if constexpr (N == 64)
        asm volatile(WGMMA_TEXT("m64n64k32", "e4m3.e4m3", WGMMA_0_31, "%32", "%33", "%34", "")
                     : WGMMA_D32(d, 0)
                     : "l"(a), "l"(b), "r"(add));
    if constexpr (N == 128)
        asm volatile(WGMMA_TEXT("m64n128k32", "e4m3.e4m3", WGMMA_0_63, "%64", "%65", "%66", "")
                     : WGMMA_D64(d, 0)
                     : "l"(a), "l"(b), "r"(add));
    if constexpr (N == 256)
        asm volatile(WGMMA_TEXT("m64n256k32", "e4m3.e4m3", WGMMA_0_127, "%128", "%129", "%130", "")
                     : WGMMA_D64(d, 0), WGMMA_D64(d, 64)
                     : "l"(a), "l"(b), "r"(add));
}

/* The same with A in registers: a[0], a[1] rows l / 4 and l / 4 + 8 of columns 4 (l % 4) and the
 * next three, lowest byte first; a[2], a[3] the same 16 columns on. */
template <int N>
__device__ __forceinline__ void wgmma_e4m3(float (&d)[N / 2], const uint32_t (&a)[4], uint64_t b,
                                           int add)
{
    static_assert(N == 64 || N == 128, "the shapes that are written out");
    if constexpr (N == 64)
        asm volatile(
            WGMMA_TEXT("m64n64k32", "e4m3.e4m3", WGMMA_0_31, "{%32,%33,%34,%35}", "%36", "%37", "")
            : WGMMA_D32(d, 0)
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
    if constexpr (N == 128)
        asm volatile(
            WGMMA_TEXT("m64n128k32", "e4m3.e4m3", WGMMA_0_63, "{%64,%65,%66,%67}", "%68", "%69", "")
            : WGMMA_D64(d, 0)
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
}

#endif
