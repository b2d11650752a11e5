/* SPDX-License-Identifier: MIT */
/*
 * One source for every instruction set.
 *
 * A file that CMake lists with the keyword ISA is compiled once with SIMD_ISA undefined (the
 * variant's table and the run-time choice) and once more for each instruction set, with SIMD_ISA
 * defined (the code). The usual form:
 *
 *     SIMD_DECLARE(layernorm_fn, layernorm);           // layernorm_avx512, _avx2, _portable
 *     #ifdef SIMD_ISA
 *     void SIMD_NAME(layernorm)(const struct layernorm *l) { ... simd_load() ... }
 *     #else
 *     void layernorm_simd(const struct layernorm *l) { SIMD_CHOOSE(layernorm)(l); }
 *     #endif
 *
 * The code sees vectors of SIMD_WIDTH floats (`simd_float`), with the operators + - * / and the
 * functions below. The portable form is GNU C vectors of four, which every gcc and clang target
 * takes. No approximate instructions (rcp, rsqrt) anywhere.
 */
#ifndef HARNESS_KERNELS_SIMD_H
#define HARNESS_KERNELS_SIMD_H

#include "base/error.h"
#include "core/kernel.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum simd_isa { SIMD_PORTABLE, SIMD_AVX2, SIMD_AVX512, SIMD_NR };

/* The instruction set in use: the best one of this machine, or the one that the environment
 * variable HARNESS_ISA names (portable, avx2, avx512). Read once, at the first call. */
enum simd_isa simd_isa(void);
const char *simd_isa_name(enum simd_isa isa);
bool simd_has(enum simd_isa isa); /* can this machine and this build run it? */

/* The supports() of SIMD variants: false where HARNESS_ISA names a set that is unknown or that
 * this machine lacks (simd_isa() then falls back to the best one). */
bool simd_supports(const struct kernel *k, const struct shape *s, const struct device *d,
                   struct error *why);

#define SIMD_DECLARE(type, f) extern type f##_avx512, f##_avx2, f##_portable

#if defined(__x86_64__)
#define SIMD_CHOOSE(f)                                                                             \
    (simd_isa() == SIMD_AVX512 ? f##_avx512 : simd_isa() == SIMD_AVX2 ? f##_avx2 : f##_portable)
#else
#define SIMD_CHOOSE(f) f##_portable
#endif

#ifdef SIMD_ISA

#define SIMD_PASTE_(f, isa) f##_##isa
#define SIMD_PASTE(f, isa)  SIMD_PASTE_(f, isa)
#define SIMD_NAME(f)        SIMD_PASTE(f, SIMD_ISA)

#define SIMD_INLINE static inline __attribute__((always_inline, unused))
/* Unrolls the loop that follows, whose length is known once its function is inlined. */
#ifdef __clang__
#define SIMD_UNROLL _Pragma("clang loop unroll(full)")
#else
#define SIMD_UNROLL _Pragma("GCC unroll 16")
#endif

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(SIMD_ISA_avx512)

enum { SIMD_WIDTH = 16 };
typedef __m512 simd_float;
typedef __m512i simd_int;

SIMD_INLINE simd_float simd_set(float x)
{
    return _mm512_set1_ps(x);
}

SIMD_INLINE simd_float simd_load(const float *p)
{
    return _mm512_loadu_ps(p);
}

SIMD_INLINE void simd_store(float *p, simd_float v)
{
    _mm512_storeu_ps(p, v);
}

SIMD_INLINE __mmask16 simd_mask_(int64_t n)
{
    return (__mmask16)((1u << n) - 1u);
}

SIMD_INLINE simd_float simd_load_part(const float *p, int64_t n)
{
    return _mm512_maskz_loadu_ps(simd_mask_(n), p);
}

SIMD_INLINE void simd_store_part(float *p, simd_float v, int64_t n)
{
    _mm512_mask_storeu_ps(p, simd_mask_(n), v);
}

SIMD_INLINE void simd_stream(float *p, simd_float v)
{
    _mm512_stream_ps(p, v);
}

SIMD_INLINE simd_float simd_fma(simd_float a, simd_float b, simd_float c)
{
    return _mm512_fmadd_ps(a, b, c);
}

SIMD_INLINE simd_float simd_max(simd_float a, simd_float b)
{
    return _mm512_max_ps(a, b);
}

SIMD_INLINE simd_float simd_min(simd_float a, simd_float b)
{
    return _mm512_min_ps(a, b);
}

SIMD_INLINE simd_int simd_round(simd_float v)
{
    return _mm512_cvtps_epi32(v);
}

SIMD_INLINE simd_float simd_from_int(simd_int v)
{
    return _mm512_cvtepi32_ps(v);
}

SIMD_INLINE simd_float simd_power_of_two(simd_int n)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_add_epi32(n, _mm512_set1_epi32(127)), 23));
}

SIMD_INLINE simd_float simd_zero_below(simd_float x, simd_float limit, simd_float v)
{
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, limit, _CMP_NLT_UQ), v);
}

SIMD_INLINE simd_float simd_fill_first(simd_float v, int64_t n, simd_float value)
{
    return _mm512_mask_mov_ps(v, simd_mask_(n), value);
}

SIMD_INLINE float simd_sum(simd_float v)
{
    return _mm512_reduce_add_ps(v);
}

#elif defined(SIMD_ISA_avx2)

enum { SIMD_WIDTH = 8 };
typedef __m256 simd_float;
typedef __m256i simd_int;

SIMD_INLINE simd_float simd_set(float x)
{
    return _mm256_set1_ps(x);
}

SIMD_INLINE simd_float simd_load(const float *p)
{
    return _mm256_loadu_ps(p);
}

SIMD_INLINE void simd_store(float *p, simd_float v)
{
    _mm256_storeu_ps(p, v);
}

SIMD_INLINE __m256i simd_mask_(int64_t n)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

SIMD_INLINE simd_float simd_load_part(const float *p, int64_t n)
{
    return _mm256_maskload_ps(p, simd_mask_(n));
}

SIMD_INLINE void simd_store_part(float *p, simd_float v, int64_t n)
{
    _mm256_maskstore_ps(p, simd_mask_(n), v);
}

SIMD_INLINE void simd_stream(float *p, simd_float v)
{
    _mm256_stream_ps(p, v);
}

SIMD_INLINE simd_float simd_fma(simd_float a, simd_float b, simd_float c)
{
    return _mm256_fmadd_ps(a, b, c);
}

SIMD_INLINE simd_float simd_max(simd_float a, simd_float b)
{
    return _mm256_max_ps(a, b);
}

SIMD_INLINE simd_float simd_min(simd_float a, simd_float b)
{
    return _mm256_min_ps(a, b);
}

SIMD_INLINE simd_int simd_round(simd_float v)
{
    return _mm256_cvtps_epi32(v);
}

SIMD_INLINE simd_float simd_from_int(simd_int v)
{
    return _mm256_cvtepi32_ps(v);
}

SIMD_INLINE simd_float simd_power_of_two(simd_int n)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23));
}

SIMD_INLINE simd_float simd_zero_below(simd_float x, simd_float limit, simd_float v)
{
    return _mm256_and_ps(_mm256_cmp_ps(x, limit, _CMP_NLT_UQ), v);
}

SIMD_INLINE simd_float simd_fill_first(simd_float v, int64_t n, simd_float value)
{
    return _mm256_blendv_ps(v, value, _mm256_castsi256_ps(simd_mask_(n)));
}

SIMD_INLINE float simd_sum(simd_float v)
{
    __m128 a = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    a = _mm_add_ps(a, _mm_movehl_ps(a, a));
    return _mm_cvtss_f32(_mm_add_ss(a, _mm_movehdup_ps(a)));
}

#else /* portable */

enum { SIMD_WIDTH = 4 };
typedef float simd_float __attribute__((vector_size(16)));
typedef int32_t simd_int __attribute__((vector_size(16)));

SIMD_INLINE simd_float simd_set(float x)
{
    return (simd_float) { x, x, x, x };
}

SIMD_INLINE simd_float simd_load(const float *p)
{
    simd_float v;
    memcpy(&v, p, sizeof(v));
    return v;
}

SIMD_INLINE void simd_store(float *p, simd_float v)
{
    memcpy(p, &v, sizeof(v));
}

SIMD_INLINE simd_float simd_load_part(const float *p, int64_t n)
{
    return (simd_float) { n > 0 ? p[0] : 0, n > 1 ? p[1] : 0, n > 2 ? p[2] : 0, n > 3 ? p[3] : 0 };
}

SIMD_INLINE void simd_store_part(float *p, simd_float v, int64_t n)
{
    for (int i = 0; i < SIMD_WIDTH && i < n; i++)
        p[i] = v[i];
}

SIMD_INLINE void simd_stream(float *p, simd_float v)
{
    memcpy(p, &v, sizeof(v));
}

SIMD_INLINE simd_float simd_fma(simd_float a, simd_float b, simd_float c)
{
    return a * b + c;
}

/* Where the lanes of `mask` are all ones, else b. */
SIMD_INLINE simd_float simd_select_(simd_int mask, simd_float a, simd_float b)
{
    return (simd_float)((mask & (simd_int)a) | (~mask & (simd_int)b));
}

SIMD_INLINE simd_float simd_max(simd_float a, simd_float b)
{
    return simd_select_(a > b, a, b);
}

SIMD_INLINE simd_float simd_min(simd_float a, simd_float b)
{
    return simd_select_(a < b, a, b);
}

/* Adding 1.5 * 2^23 leaves the nearest integer in the low bits; |v| < 2^22. */
SIMD_INLINE simd_int simd_round(simd_float v)
{
    const simd_float magic = simd_set(12582912.0f);
    return (simd_int)(v + magic) - (simd_int)magic;
}

SIMD_INLINE simd_float simd_from_int(simd_int v)
{
    return (simd_float) { (float)v[0], (float)v[1], (float)v[2], (float)v[3] };
}

SIMD_INLINE simd_float simd_power_of_two(simd_int n)
{
    return (simd_float)((n + 127) << 23);
}

SIMD_INLINE simd_float simd_zero_below(simd_float x, simd_float limit, simd_float v)
{
    return (simd_float)(~(x < limit) & (simd_int)v);
}

SIMD_INLINE simd_float simd_fill_first(simd_float v, int64_t n, simd_float value)
{
    const simd_int lane = { 0, 1, 2, 3 };
    int32_t k = (int32_t)n;
    return simd_select_(lane < (simd_int) { k, k, k, k }, value, v);
}

SIMD_INLINE float simd_sum(simd_float v)
{
    return (v[0] + v[2]) + (v[1] + v[3]);
}

#endif /* instruction set */

/*
 * In all forms alike:
 *   simd_load_part, simd_store_part, simd_fill_first   the first n lanes, 0 <= n <= SIMD_WIDTH;
 *       nothing beyond them is touched, loaded lanes beyond them are 0
 *   simd_stream        store past the caches where there is such an instruction; p is aligned to
 *                      the vector. simd_fence() before another thread may read it.
 *   simd_zero_below    v where x >= limit (or x is NaN), else 0
 *   simd_fill_first    `value` in the first n lanes, v in the others
 *   simd_power_of_two  2^n for -126 <= n <= 127
 */
SIMD_INLINE void simd_fence(void)
{
#if defined(SIMD_ISA_avx512) || defined(SIMD_ISA_avx2)
    _mm_sfence();
#endif
}

/* The first n lanes where that is fewer than all. */
SIMD_INLINE simd_float simd_load_upto(const float *p, int64_t n)
{
    return n >= SIMD_WIDTH ? simd_load(p) : simd_load_part(p, n);
}

SIMD_INLINE void simd_store_upto(float *p, simd_float v, int64_t n)
{
    if (n >= SIMD_WIDTH)
        simd_store(p, v);
    else
        simd_store_part(p, v, n);
}

#endif /* SIMD_ISA */

#endif
