/* SPDX-License-Identifier: MIT */
/*
 * bfloat16 in vectors: half the bytes of a float, and its upper half in bits.
 *
 *      float     s eeeeeeee mmmmmmm mmmmmmmmmmmmmmmm
 *      bfloat16  s eeeeeeee mmmmmmm
 *
 * So a load is a load and a shift, a store rounds to nearest even. Arithmetic is fp32's: all that
 * is narrow is memory. The exception is a pair of them against a pair, which some processors
 * multiply and add up in one instruction: a lane of 32 bits holds two, the one of the even index
 * below.
 *
 *      pairs     | b1 b0 | b3 b2 | ...     simd_pair_even: b0 b2 ...   simd_pair_odd: b1 b3 ...
 *
 * For files compiled with SIMD_ISA. What simd_dot_pairs() costs beside two simd_fma() is a matter
 * of the processor: simd_isa() chooses the form that has it only where that pays (kernels/simd.c).
 */
#ifndef HARNESS_KERNELS_SIMD_BF16_H
#define HARNESS_KERNELS_SIMD_BF16_H

#include "kernels/simd.h"

#ifdef SIMD_ISA

/*
 * In all forms alike:
 *   simd_bf16_load, simd_bf16_load_part     SIMD_WIDTH or the first n of them as floats, 0 beyond
 *   simd_bf16_store, simd_bf16_store_part   each rounded once; NaN stays NaN
 *   simd_bf16_store_two                     2 SIMD_WIDTH of them, which takes less than two stores
 *   simd_pair_even, simd_pair_odd           the members of pairs, loaded as floats, as floats
 *   simd_pairs                              pairs of two vectors that are bfloat16 already (the
 *                                           lower half of their bits is 0): `even` below, `odd`
 *                                           above
 *   simd_bf16_pairs                         the same of any floats, each rounded once
 * The form with an instruction for it (avx512_bf16) rounds denormal numbers to 0 of their sign.
 */
/* simd_bf16_upper_: rounded, in the upper halves of the lanes; in the lower ones is any value. */
#if defined(SIMD_ISA_avx512)

SIMD_INLINE simd_float simd_bf16_widen_(__m256i v)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(v), 16));
}

SIMD_INLINE simd_float simd_bf16_load(const uint16_t *p)
{
    return simd_bf16_widen_(_mm256_loadu_si256((const __m256i *)(const void *)p));
}

SIMD_INLINE simd_float simd_bf16_load_part(const uint16_t *p, int64_t n)
{
    return simd_bf16_widen_(_mm256_maskz_loadu_epi16(simd_mask_(n), p));
}

#if defined(SIMD_ISA_avx512_bf16)
SIMD_INLINE __m256i simd_bf16_round_(simd_float v)
{
    return (__m256i)_mm512_cvtneps_pbh(v);
}

SIMD_INLINE __m512i simd_bf16_round_two_(simd_float a, simd_float b)
{
    return (__m512i)_mm512_cvtne2ps_pbh(b, a);
}

SIMD_INLINE simd_float simd_bf16_pairs(simd_float even, simd_float odd)
{
    const __m512i turns =
        _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6,
                         21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    return _mm512_castsi512_ps(_mm512_permutexvar_epi16(turns, simd_bf16_round_two_(even, odd)));
}

/* c + a0 b0 + a1 b1 of each pair; the sums are fp32. */
SIMD_INLINE simd_float simd_dot_pairs(simd_float a, simd_float b, simd_float c)
{
    return _mm512_dpbf16_ps(c, (__m512bh)a, (__m512bh)b);
}
#else
SIMD_INLINE simd_float simd_bf16_upper_(simd_float v)
{
    const __m512i bits = _mm512_castps_si512(v);
    const __mmask16 odd = _mm512_test_epi32_mask(bits, _mm512_set1_epi32(0x10000));
    __m512i r = _mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff));

    r = _mm512_mask_add_epi32(r, odd, bits, _mm512_set1_epi32(0x8000));
    return _mm512_castsi512_ps(_mm512_mask_or_epi32(r, _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q), bits,
                                                    _mm512_set1_epi32(0x400000)));
}

SIMD_INLINE __m256i simd_bf16_round_(simd_float v)
{
    return _mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_castps_si512(simd_bf16_upper_(v)), 16));
}

SIMD_INLINE __m512i simd_bf16_round_two_(simd_float a, simd_float b)
{
    const __m512i odd =
        _mm512_set_epi16(63, 61, 59, 57, 55, 53, 51, 49, 47, 45, 43, 41, 39, 37, 35, 33, 31, 29, 27,
                         25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
    return _mm512_permutex2var_epi16(_mm512_castps_si512(simd_bf16_upper_(a)), odd,
                                     _mm512_castps_si512(simd_bf16_upper_(b)));
}
#endif

SIMD_INLINE void simd_bf16_store_two(uint16_t *p, simd_float a, simd_float b)
{
    _mm512_storeu_si512(p, simd_bf16_round_two_(a, b));
}

SIMD_INLINE void simd_bf16_store(uint16_t *p, simd_float v)
{
    _mm256_storeu_si256((__m256i *)(void *)p, simd_bf16_round_(v));
}

SIMD_INLINE void simd_bf16_store_part(uint16_t *p, simd_float v, int64_t n)
{
    _mm256_mask_storeu_epi16(p, simd_mask_(n), simd_bf16_round_(v));
}

SIMD_INLINE simd_float simd_pair_even(simd_float pairs)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_castps_si512(pairs), 16));
}

SIMD_INLINE simd_float simd_pair_odd(simd_float pairs)
{
    return _mm512_castsi512_ps(
        _mm512_and_si512(_mm512_castps_si512(pairs), _mm512_set1_epi32(-65536)));
}

SIMD_INLINE simd_float simd_pairs(simd_float even, simd_float odd)
{
    const __m512i low = _mm512_srli_epi32(_mm512_castps_si512(even), 16);
    return _mm512_castsi512_ps(_mm512_or_si512(low, _mm512_castps_si512(odd)));
}

#elif defined(SIMD_ISA_avx2)

SIMD_INLINE simd_float simd_bf16_load(const uint16_t *p)
{
    const __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)p));
    return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
}

SIMD_INLINE simd_float simd_bf16_upper_(simd_float v)
{
    const __m256i bits = _mm256_castps_si256(v);
    const __m256i last = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i up = _mm256_add_epi32(bits, _mm256_add_epi32(last, _mm256_set1_epi32(0x7fff)));
    const __m256 quiet = _mm256_castsi256_ps(_mm256_or_si256(bits, _mm256_set1_epi32(0x400000)));

    return _mm256_blendv_ps(_mm256_castsi256_ps(up), quiet, _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
}

SIMD_INLINE void simd_bf16_store(uint16_t *p, simd_float v)
{
    __m256i r = _mm256_srli_epi32(_mm256_castps_si256(simd_bf16_upper_(v)), 16);

    r = _mm256_permute4x64_epi64(_mm256_packus_epi32(r, r), 0x08);
    _mm_storeu_si128((__m128i *)(void *)p, _mm256_castsi256_si128(r));
}

SIMD_INLINE simd_float simd_pair_even(simd_float pairs)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(pairs), 16));
}

SIMD_INLINE simd_float simd_pair_odd(simd_float pairs)
{
    return _mm256_and_ps(pairs, _mm256_castsi256_ps(_mm256_set1_epi32(-65536)));
}

SIMD_INLINE simd_float simd_pairs(simd_float even, simd_float odd)
{
    const __m256i low = _mm256_srli_epi32(_mm256_castps_si256(even), 16);
    return _mm256_or_ps(_mm256_castsi256_ps(low), odd);
}

#else /* portable */

typedef uint32_t simd_bits_ __attribute__((vector_size(16)));

SIMD_INLINE simd_float simd_bf16_load(const uint16_t *p)
{
    const simd_bits_ v = { p[0], p[1], p[2], p[3] };
    return (simd_float)(v << 16);
}

SIMD_INLINE simd_float simd_bf16_upper_(simd_float v)
{
    const simd_bits_ bits = (simd_bits_)v, number = (simd_bits_)(v == v);
    const simd_bits_ up = bits + 0x7fff + (bits >> 16 & 1);

    return (simd_float)((up & number) | ((bits | 0x400000) & ~number));
}

SIMD_INLINE void simd_bf16_store(uint16_t *p, simd_float v)
{
    const simd_bits_ r = (simd_bits_)simd_bf16_upper_(v) >> 16;

    for (int i = 0; i < SIMD_WIDTH; i++)
        p[i] = (uint16_t)r[i];
}

SIMD_INLINE simd_float simd_pair_even(simd_float pairs)
{
    return (simd_float)((simd_bits_)pairs << 16);
}

SIMD_INLINE simd_float simd_pair_odd(simd_float pairs)
{
    return (simd_float)((simd_bits_)pairs & 0xffff0000U);
}

SIMD_INLINE simd_float simd_pairs(simd_float even, simd_float odd)
{
    return (simd_float)((simd_bits_)even >> 16 | (simd_bits_)odd);
}

#endif

#if !defined(SIMD_ISA_avx512)
SIMD_INLINE void simd_bf16_store_two(uint16_t *p, simd_float a, simd_float b)
{
    simd_bf16_store(p, a);
    simd_bf16_store(p + SIMD_WIDTH, b);
}

/* Through a vector's worth of memory: these have no mask for elements of two bytes. */
SIMD_INLINE simd_float simd_bf16_load_part(const uint16_t *p, int64_t n)
{
    uint16_t all[SIMD_WIDTH] = { 0 };

    for (int64_t i = 0; i < n && i < SIMD_WIDTH; i++)
        all[i] = p[i];
    return simd_bf16_load(all);
}

SIMD_INLINE void simd_bf16_store_part(uint16_t *p, simd_float v, int64_t n)
{
    uint16_t all[SIMD_WIDTH];

    simd_bf16_store(all, v);
    for (int64_t i = 0; i < n && i < SIMD_WIDTH; i++)
        p[i] = all[i];
}
#endif

#if !defined(SIMD_ISA_avx512_bf16)
/* What simd_bf16_upper_() leaves in the lower half of an even one is shifted out. */
SIMD_INLINE simd_float simd_bf16_pairs(simd_float even, simd_float odd)
{
    return simd_pairs(simd_bf16_upper_(even), simd_pair_odd(simd_bf16_upper_(odd)));
}
#endif

/* 2 SIMD_WIDTH elements, as they lie, are pairs; p need not lie on a float's boundary. */
SIMD_INLINE simd_float simd_bf16_load_pairs(const uint16_t *p)
{
    simd_float pairs;

    memcpy(&pairs, p, sizeof(pairs));
    return pairs;
}

SIMD_INLINE void simd_bf16_store_pairs(uint16_t *p, simd_float pairs)
{
    memcpy(p, &pairs, sizeof(pairs));
}

SIMD_INLINE simd_float simd_bf16_load_upto(const uint16_t *p, int64_t n)
{
    return n >= SIMD_WIDTH ? simd_bf16_load(p) : simd_bf16_load_part(p, n);
}

SIMD_INLINE void simd_bf16_store_upto(uint16_t *p, simd_float v, int64_t n)
{
    if (n >= SIMD_WIDTH)
        simd_bf16_store(p, v);
    else
        simd_bf16_store_part(p, v, n);
}

/* n elements from one form to the other. */
SIMD_INLINE void simd_bf16_widen(const uint16_t *from, int64_t n, float *to)
{
    for (int64_t j = 0; j < n; j += SIMD_WIDTH)
        simd_store_upto(to + j, simd_bf16_load_upto(from + j, n - j), n - j);
}

SIMD_INLINE void simd_bf16_narrow(const float *from, int64_t n, uint16_t *to)
{
    int64_t j = 0;

    for (; j + 2 * SIMD_WIDTH <= n; j += 2 * SIMD_WIDTH)
        simd_bf16_store_two(to + j, simd_load(from + j), simd_load(from + j + SIMD_WIDTH));
    for (; j < n; j += SIMD_WIDTH)
        simd_bf16_store_upto(to + j, simd_load_upto(from + j, n - j), n - j);
}

#endif /* SIMD_ISA */

#endif
