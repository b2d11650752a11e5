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

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Each has all of the ones before it. */
enum simd_isa {
    SIMD_PORTABLE,
    SIMD_AVX2,
    SIMD_AVX512,
    SIMD_AVX512_VNNI,
    SIMD_AVX512_BF16,
    SIMD_AVX512_AMX,
    SIMD_NR
};

/* The instruction set in use: the best one of this machine, or the one that the environment
 * variable HARNESS_ISA names (portable, avx2, avx512, avx512_vnni, avx512_bf16, avx512_amx). Read
 * once, at the first call. avx512_vnni differs from avx512 in the products of int8 variants alone,
 * and avx512_bf16 in bf16 variants alone, in products and in rounding; it is the best one only
 * where its instruction for products outruns multiply-adds of fp32. avx512_amx differs from
 * avx512_vnni in products of bf16 with more than a few rows alone. */
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
    (simd_isa() >= SIMD_AVX512 ? f##_avx512 : simd_isa() == SIMD_AVX2 ? f##_avx2 : f##_portable)
#else
#define SIMD_CHOOSE(f) f##_portable
#endif

/* The same of files that CMake lists with ISA and BF16: those have one form more. */
#define SIMD_DECLARE_BF16(type, f) extern type f##_avx512_bf16, f##_avx512, f##_avx2, f##_portable

#if defined(__x86_64__)
#define SIMD_CHOOSE_BF16(f) (simd_isa() == SIMD_AVX512_BF16 ? f##_avx512_bf16 : SIMD_CHOOSE(f))
#else
#define SIMD_CHOOSE_BF16(f) f##_portable
#endif

/* Whether this build has the form avx512_amx, which files have that CMake lists with AMX; it is
 * chosen where it is called (gemm_simd_bf16.c). */
#if defined(__x86_64__)
#define SIMD_HAVE_AMX 1
#endif

/* And of those with ISA and VNNI. */
#define SIMD_DECLARE_VNNI(type, f) extern type f##_avx512_vnni, f##_avx512, f##_avx2, f##_portable

#if defined(__x86_64__)
#define SIMD_CHOOSE_VNNI(f) (simd_isa() >= SIMD_AVX512_VNNI ? f##_avx512_vnni : SIMD_CHOOSE(f))
#else
#define SIMD_CHOOSE_VNNI(f) f##_portable
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

SIMD_INLINE simd_float simd_lower_half(simd_float v)
{
    return _mm512_maskz_mov_ps(0xff, v);
}

SIMD_INLINE simd_float simd_upper_half(simd_float v)
{
    return _mm512_maskz_shuffle_f32x4(0xff, v, v, 0x4e);
}

SIMD_INLINE float simd_first(simd_float v)
{
    return _mm512_cvtss_f32(v);
}

SIMD_INLINE bool simd_any_above(simd_float v, float limit)
{
    return _mm512_cmp_ps_mask(v, _mm512_set1_ps(limit), _CMP_GT_OQ) != 0;
}

SIMD_INLINE simd_float simd_floor(simd_float v)
{
    return _mm512_roundscale_ps(v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}

SIMD_INLINE simd_float simd_scale(simd_float v, simd_float n)
{
    return _mm512_scalef_ps(v, n);
}

SIMD_INLINE simd_float simd_low_pairs_(simd_float a, simd_float b)
{
    return _mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(a), _mm512_castps_pd(b)));
}

SIMD_INLINE simd_float simd_high_pairs_(simd_float a, simd_float b)
{
    return _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(a), _mm512_castps_pd(b)));
}

SIMD_INLINE void simd_transpose(simd_float row[SIMD_WIDTH])
{
    simd_float t[SIMD_WIDTH];

    SIMD_UNROLL
    for (int i = 0; i < 16; i += 2) { /* pairs of rows, of lanes */
        t[i] = _mm512_unpacklo_ps(row[i], row[i + 1]);
        t[i + 1] = _mm512_unpackhi_ps(row[i], row[i + 1]);
    }
    SIMD_UNROLL
    for (int i = 0; i < 16; i += 4) { /* row[i + r]: column 4 l + r of rows i .. i + 4 in part l */
        row[i] = simd_low_pairs_(t[i], t[i + 2]);
        row[i + 1] = simd_high_pairs_(t[i], t[i + 2]);
        row[i + 2] = simd_low_pairs_(t[i + 1], t[i + 3]);
        row[i + 3] = simd_high_pairs_(t[i + 1], t[i + 3]);
    }
    SIMD_UNROLL
    for (int r = 0; r < 4; r++) { /* a 4x4 of parts of four lanes, for each r */
        t[r] = _mm512_shuffle_f32x4(row[r], row[r + 4], 0x88);
        t[r + 4] = _mm512_shuffle_f32x4(row[r], row[r + 4], 0xdd);
        t[r + 8] = _mm512_shuffle_f32x4(row[r + 8], row[r + 12], 0x88);
        t[r + 12] = _mm512_shuffle_f32x4(row[r + 8], row[r + 12], 0xdd);
    }
    SIMD_UNROLL
    for (int r = 0; r < 4; r++) {
        row[r] = _mm512_shuffle_f32x4(t[r], t[r + 8], 0x88);
        row[r + 4] = _mm512_shuffle_f32x4(t[r + 4], t[r + 12], 0x88);
        row[r + 8] = _mm512_shuffle_f32x4(t[r], t[r + 8], 0xdd);
        row[r + 12] = _mm512_shuffle_f32x4(t[r + 4], t[r + 12], 0xdd);
    }
}

SIMD_INLINE simd_float simd_sum_each(const simd_float v[SIMD_WIDTH])
{
    simd_float four[4]; /* sums of the lanes of a quarter, for four vectors each */

    SIMD_UNROLL
    for (int i = 0; i < 4; i++) {
        __m512 a = _mm512_add_ps(_mm512_unpacklo_ps(v[4 * i], v[4 * i + 1]),
                                 _mm512_unpackhi_ps(v[4 * i], v[4 * i + 1]));
        __m512 b = _mm512_add_ps(_mm512_unpacklo_ps(v[4 * i + 2], v[4 * i + 3]),
                                 _mm512_unpackhi_ps(v[4 * i + 2], v[4 * i + 3]));
        four[i] = _mm512_add_ps(_mm512_shuffle_ps(a, b, 0x44), _mm512_shuffle_ps(a, b, 0xee));
    }
    SIMD_UNROLL
    for (int i = 0; i < 4; i += 2)
        four[i] = _mm512_add_ps(_mm512_shuffle_f32x4(four[i], four[i + 1], 0x88),
                                _mm512_shuffle_f32x4(four[i], four[i + 1], 0xdd));
    return _mm512_add_ps(_mm512_shuffle_f32x4(four[0], four[2], 0x88),
                         _mm512_shuffle_f32x4(four[0], four[2], 0xdd));
}

SIMD_INLINE simd_float simd_sqrt(simd_float v)
{
    return _mm512_sqrt_ps(v);
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

SIMD_INLINE simd_float simd_lower_half(simd_float v)
{
    return _mm256_permute2f128_ps(v, v, 0x80);
}

SIMD_INLINE simd_float simd_upper_half(simd_float v)
{
    return _mm256_permute2f128_ps(v, v, 0x81);
}

SIMD_INLINE float simd_first(simd_float v)
{
    return _mm256_cvtss_f32(v);
}

SIMD_INLINE bool simd_any_above(simd_float v, float limit)
{
    return _mm256_movemask_ps(_mm256_cmp_ps(v, _mm256_set1_ps(limit), _CMP_GT_OQ)) != 0;
}

SIMD_INLINE simd_float simd_floor(simd_float v)
{
    return _mm256_floor_ps(v);
}

SIMD_INLINE simd_float simd_scale(simd_float v, simd_float n)
{
    __m256i power = _mm256_cvtps_epi32(_mm256_min_ps(_mm256_set1_ps(127), n));
    return _mm256_castsi256_ps(
        _mm256_add_epi32(_mm256_castps_si256(v), _mm256_slli_epi32(power, 23)));
}

SIMD_INLINE void simd_transpose(simd_float row[SIMD_WIDTH])
{
    simd_float t[SIMD_WIDTH];

    SIMD_UNROLL
    for (int i = 0; i < 8; i += 2) { /* pairs of rows, of lanes */
        t[i] = _mm256_unpacklo_ps(row[i], row[i + 1]);
        t[i + 1] = _mm256_unpackhi_ps(row[i], row[i + 1]);
    }
    SIMD_UNROLL
    for (int i = 0; i < 8; i += 4) { /* row[i + r]: column 4 l + r of rows i .. i + 4 in half l */
        row[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
        row[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xee);
        row[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
        row[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xee);
    }
    SIMD_UNROLL
    for (int r = 0; r < 4; r++) {
        t[r] = _mm256_permute2f128_ps(row[r], row[r + 4], 0x20);
        row[r + 4] = _mm256_permute2f128_ps(row[r], row[r + 4], 0x31);
        row[r] = t[r];
    }
}

SIMD_INLINE simd_float simd_sum_each(const simd_float v[SIMD_WIDTH])
{
    simd_float four[2]; /* sums of the lanes of a half, for four vectors each */

    SIMD_UNROLL
    for (int i = 0; i < 2; i++)
        four[i] = _mm256_hadd_ps(_mm256_hadd_ps(v[4 * i], v[4 * i + 1]),
                                 _mm256_hadd_ps(v[4 * i + 2], v[4 * i + 3]));
    return _mm256_add_ps(_mm256_permute2f128_ps(four[0], four[1], 0x20),
                         _mm256_permute2f128_ps(four[0], four[1], 0x31));
}

SIMD_INLINE simd_float simd_sqrt(simd_float v)
{
    return _mm256_sqrt_ps(v);
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
    /* analyzer: gcc takes the vector's bytes for the bits of what is shifted */
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

SIMD_INLINE simd_float simd_lower_half(simd_float v)
{
    return (simd_float) { v[0], v[1], 0, 0 };
}

SIMD_INLINE simd_float simd_upper_half(simd_float v)
{
    return (simd_float) { v[2], v[3], 0, 0 };
}

SIMD_INLINE float simd_first(simd_float v)
{
    return v[0];
}

SIMD_INLINE bool simd_any_above(simd_float v, float limit)
{
    simd_int above = v > simd_set(limit);
    return (above[0] | above[1] | above[2] | above[3]) != 0;
}

SIMD_INLINE simd_float simd_floor(simd_float v)
{
    simd_float whole = simd_from_int(simd_round(v));
    whole -= (simd_float)((whole > v) & (simd_int)simd_set(1));
    return simd_select_(v * v < simd_set(0x1p44f), whole, v);
}

SIMD_INLINE simd_float simd_scale(simd_float v, simd_float n)
{
    typedef uint32_t bits __attribute__((vector_size(16))); /* a shift of these cannot overflow */
    /* analyzer: as above */
    return (simd_float)((bits)v + ((bits)simd_round(simd_min(simd_set(127), n)) << 23));
}

SIMD_INLINE void simd_transpose(simd_float row[SIMD_WIDTH])
{
    const simd_float a = row[0], b = row[1], c = row[2], d = row[3];

    for (int i = 0; i < SIMD_WIDTH; i++)
        row[i] = (simd_float) { a[i], b[i], c[i], d[i] };
}

SIMD_INLINE simd_float simd_sum_each(const simd_float v[SIMD_WIDTH])
{
    return (simd_float) { simd_sum(v[0]), simd_sum(v[1]), simd_sum(v[2]), simd_sum(v[3]) };
}

SIMD_INLINE simd_float simd_sqrt(simd_float v)
{
    return (simd_float) { sqrtf(v[0]), sqrtf(v[1]), sqrtf(v[2]), sqrtf(v[3]) };
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
 *   simd_first         the first lane's value
 *   simd_lower_half, simd_upper_half   those lanes in the lower half, 0 in the upper one
 *   simd_any_above     whether some lane is above the limit (NaN is not)
 *   simd_scale         v 2^n for whole n >= -126 and 1 <= v < 2; some value from 2^127 up, or
 *                      infinity, where n is beyond 127
 *   simd_transpose     lane j of row i and lane i of row j change places
 *   simd_sum_each      lane i of the result is the sum of the lanes of v[i]: far cheaper than one
 *                      simd_sum() a vector
 */
SIMD_INLINE void simd_fence(void)
{
#if defined(SIMD_ISA_avx512) || defined(SIMD_ISA_avx2)
    _mm_sfence();
#endif
}

/* a * b, rounded: no compiler makes one instruction of it and the addition that follows. On AMD's
 * Zen 4 a fused one reads its third operand where stores read theirs: beside a store it costs 1.4
 * times what a product and a sum cost. */
SIMD_INLINE simd_float simd_product(simd_float a, simd_float b)
{
    simd_float v = a * b;

#if defined(__x86_64__)
    __asm__("" : "+v"(v));
#elif defined(__aarch64__)
    __asm__("" : "+w"(v));
#endif
    return v;
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
