/* SPDX-License-Identifier: MIT */
/*
 * Products of weights of 8 bits with activations of 16, added up in 32: exact, and the same in
 * every form. A lane holds a quad, the bytes of four terms of one output; the activations of these
 * are two words of 32 bits, which stand for all lanes alike.
 *
 *   avx512_vnni   x = 256 high + low, four signed bytes each: vpdpbusd multiplies four pairs
 *                     a quad    | w0 w1 w2 w3 |      words   | h0 h1 h2 h3 | l0 l1 l2 l3 |
 *   all others    x as it is, pairs: a quad's even bytes and its odd ones, widened by one
 *                 operation, are what pmaddwd takes
 *                     a quad    | w0 w2 w1 w3 |      words   |   x0   x1   |   x2   x3   |
 *
 * Weights are stored plus 128, as bytes without a sign, which vpdpbusd wants and widening prefers:
 * sum (w + 128) x = sum w x + 128 sum x, and that last sum is of the row, not of an output. None
 * of the instructions saturates: a product of a byte of w is below 2^15.
 *
 * Weights of 10 bits, stored plus 512, have their upper 8 in such a quad and the lower two, of the
 * same terms of four quads, in one more: bits 7 and 6 of its bytes are of the first quad, and so on
 * down. avx512_vnni multiplies them with the high bytes of x alone, into the sum of the low ones,
 * which has their unit: 64 low, with low bytes of x, would be below 2^-10 of a step of x, and only
 * its mean (of two bits: 3/2) is added. All others put the 10 bits together first: exact.
 *
 * For files compiled with SIMD_ISA.
 */
#ifndef HARNESS_KERNELS_SIMD_INT8_H
#define HARNESS_KERNELS_SIMD_INT8_H

#include "kernels/simd.h"

#ifdef SIMD_ISA

enum {
    SIMD_INT8_OFFSET = 128, /* of stored weights */
    SIMD_INT8_MOST = 32512, /* 127 * 256: so large is an activation at most */
};

/* Sums by both words; also a quad's two operands. */
struct simd_int8 {
    simd_int a, b;
};

/*
 * In all forms alike:
 *   SIMD_INT8_TERMS    so many terms fit a sum of 32 bits, whatever they are: 127 * 128 each by
 *                      bytes, 127 * 32512 by pairs
 *   SIMD_INT8_TURNED   whether terms 1 and 2 of a quad change places
 *   simd_int8_set      words for all lanes
 *   simd_int8_split    a vector of quads as operands
 *   simd_int8_dot      sum + the products of four or two terms of each lane
 *   simd_int8_fold     both sums as one float: rounded at most twice
 *   simd_int8_words    SIMD_WIDTH activations (whole, at most SIMD_INT8_MOST large) to
 *                      SIMD_WIDTH / 2 words; adds them to `sums`, by lanes
 *   simd_int8_total    the lanes of a sum together
 */
#if defined(SIMD_ISA_avx512)

SIMD_INLINE simd_int simd_int8_set(int32_t word)
{
    return _mm512_set1_epi32(word);
}

SIMD_INLINE simd_int simd_int8_load(const uint8_t *quads)
{
    return _mm512_loadu_si512(quads);
}

SIMD_INLINE int32_t simd_int8_total(simd_int v)
{
    return _mm512_reduce_add_epi32(v);
}

#if defined(SIMD_ISA_avx512_vnni)

enum { SIMD_INT8_TERMS = 1 << 16, SIMD_INT8_TURNED = 0 };

SIMD_INLINE struct simd_int8 simd_int8_split(simd_int quads)
{
    return (struct simd_int8) { quads, quads };
}

SIMD_INLINE simd_int simd_int8_dot(simd_int sum, simd_int w, simd_int x)
{
    return _mm512_dpbusd_epi32(sum, w, x);
}

SIMD_INLINE simd_float simd_int8_fold(struct simd_int8 sum)
{
    return _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum.a), _mm512_set1_ps(256),
                           _mm512_cvtepi32_ps(sum.b));
}

SIMD_INLINE void simd_int8_words(simd_float x, int32_t *words, struct simd_int8 *sums)
{
    const __m512i v = _mm512_cvtps_epi32(x);
    const __m512i low = _mm512_srai_epi32(_mm512_slli_epi32(v, 24), 24);
    const __m512i high = _mm512_srai_epi32(_mm512_sub_epi32(v, low), 8);
    const __m128i h = _mm512_cvtepi32_epi8(high), l = _mm512_cvtepi32_epi8(low);

    _mm_storeu_si128((__m128i *)(void *)words, _mm_unpacklo_epi32(h, l));
    _mm_storeu_si128((__m128i *)(void *)(words + 4), _mm_unpackhi_epi32(h, l));
    sums->a = _mm512_add_epi32(sums->a, high);
    sums->b = _mm512_add_epi32(sums->b, low);
}

#else

enum { SIMD_INT8_TERMS = 512, SIMD_INT8_TURNED = 1 };

SIMD_INLINE struct simd_int8 simd_int8_split(simd_int quads)
{
    return (struct simd_int8) { _mm512_and_si512(quads, _mm512_set1_epi16(255)),
                                _mm512_srli_epi16(quads, 8) };
}

SIMD_INLINE simd_int simd_int8_dot(simd_int sum, simd_int w, simd_int x)
{
    return _mm512_add_epi32(sum, _mm512_madd_epi16(w, x));
}

SIMD_INLINE simd_float simd_int8_fold(struct simd_int8 sum)
{
    return _mm512_cvtepi32_ps(_mm512_add_epi32(sum.a, sum.b));
}

SIMD_INLINE void simd_int8_words(simd_float x, int32_t *words, struct simd_int8 *sums)
{
    const __m512i v = _mm512_cvtps_epi32(x);

    _mm256_storeu_si256((__m256i *)(void *)words, _mm512_cvtepi32_epi16(v));
    sums->a = _mm512_add_epi32(sums->a, v);
}

#endif

#elif defined(SIMD_ISA_avx2)

enum { SIMD_INT8_TERMS = 512, SIMD_INT8_TURNED = 1 };

SIMD_INLINE simd_int simd_int8_set(int32_t word)
{
    return _mm256_set1_epi32(word);
}

SIMD_INLINE simd_int simd_int8_load(const uint8_t *quads)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)quads);
}

SIMD_INLINE int32_t simd_int8_total(simd_int v)
{
    __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));

    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xb1)));
}

SIMD_INLINE struct simd_int8 simd_int8_split(simd_int quads)
{
    return (struct simd_int8) { _mm256_and_si256(quads, _mm256_set1_epi16(255)),
                                _mm256_srli_epi16(quads, 8) };
}

SIMD_INLINE simd_int simd_int8_dot(simd_int sum, simd_int w, simd_int x)
{
    return _mm256_add_epi32(sum, _mm256_madd_epi16(w, x));
}

SIMD_INLINE simd_float simd_int8_fold(struct simd_int8 sum)
{
    return _mm256_cvtepi32_ps(_mm256_add_epi32(sum.a, sum.b));
}

SIMD_INLINE void simd_int8_words(simd_float x, int32_t *words, struct simd_int8 *sums)
{
    const __m256i v = _mm256_cvtps_epi32(x);
    const __m256i narrow = _mm256_permute4x64_epi64(_mm256_packs_epi32(v, v), 0x08);

    _mm_storeu_si128((__m128i *)(void *)words, _mm256_castsi256_si128(narrow));
    sums->a = _mm256_add_epi32(sums->a, v);
}

#else /* portable */

enum { SIMD_INT8_TERMS = 512, SIMD_INT8_TURNED = 1 };

typedef uint32_t simd_word_ __attribute__((vector_size(16))); /* sums of these wrap */

SIMD_INLINE simd_int simd_int8_set(int32_t word)
{
    return (simd_int) { word, word, word, word };
}

SIMD_INLINE simd_int simd_int8_load(const uint8_t *quads)
{
    simd_int v;
    memcpy(&v, quads, sizeof(v));
    return v;
}

SIMD_INLINE int32_t simd_int8_total(simd_int v)
{
    return v[0] + v[1] + v[2] + v[3];
}

SIMD_INLINE struct simd_int8 simd_int8_split(simd_int quads)
{
    const simd_word_ v = (simd_word_)quads, low = (simd_word_)simd_int8_set(0x00ff00ff);
    return (struct simd_int8) { (simd_int)(v & low), (simd_int)(v >> 8 & low) };
}

/* Lanes of w hold two numbers of 16 bits without a sign, those of x two with one. */
SIMD_INLINE simd_int simd_int8_dot(simd_int sum, simd_int w, simd_int x)
{
    const simd_word_ u = (simd_word_)w;
    const simd_int x_low = (simd_int)((simd_word_)x << 16) >> 16, x_high = x >> 16;
    const simd_int low = (simd_int)(u & 0xffff) * x_low, high = (simd_int)(u >> 16) * x_high;

    return (simd_int)((simd_word_)sum + (simd_word_)low + (simd_word_)high);
}

SIMD_INLINE simd_float simd_int8_fold(struct simd_int8 sum)
{
    return simd_from_int((simd_int)((simd_word_)sum.a + (simd_word_)sum.b));
}

SIMD_INLINE void simd_int8_words(simd_float x, int32_t *words, struct simd_int8 *sums)
{
    const simd_int v = simd_round(x);
    const int16_t narrow[] = { (int16_t)v[0], (int16_t)v[1], (int16_t)v[2], (int16_t)v[3] };

    memcpy(words, narrow, sizeof(narrow));
    sums->a += v;
}

#endif

/* ---- 10 bits ---- */

/*
 *   SIMD_INT10_TERMS    as SIMD_INT8_TERMS
 *   SIMD_INT10_APART    whether a quad's low bits are an operand of their own
 *   SIMD_INT10_OFFSET   of a sum, times that of x, as SIMD_INT8_OFFSET; SIMD_INT10_UNIT: what a sum
 *                       is in, in steps of the 10 bits
 */
#if defined(SIMD_ISA_avx512_vnni)
enum {
    SIMD_INT10_TERMS = 1 << 15,
    SIMD_INT10_APART = 1,
    SIMD_INT10_OFFSET = 128,
    SIMD_INT10_UNIT = 4
};
#else
enum { SIMD_INT10_TERMS = 128, SIMD_INT10_APART = 0, SIMD_INT10_OFFSET = 512, SIMD_INT10_UNIT = 1 };
#endif

struct simd_int10 {
    struct simd_int8 most;
    simd_int low;
};

typedef uint32_t simd_words_ __attribute__((vector_size(SIMD_WIDTH * sizeof(uint32_t))));

SIMD_INLINE simd_words_ simd_int10_or_(simd_int most, simd_int low)
{
    return (simd_words_)most << 2 | (simd_words_)low >> 6; /* both in 16 bits */
}

/* Operands of quad `at` of four, whose low bits are `lows`. */
SIMD_INLINE struct simd_int10 simd_int10_split(simd_int quads, simd_int lows, int at)
{
    const simd_int low = (simd_int)((simd_words_)lows << (2 * at) & 0xc0c0c0c0U);
    const struct simd_int8 most = simd_int8_split(quads);

    if (SIMD_INT10_APART)
        return (struct simd_int10) { most, low };
    const struct simd_int8 rest = simd_int8_split(low);
    return (struct simd_int10) {
        { (simd_int)simd_int10_or_(most.a, rest.a), (simd_int)simd_int10_or_(most.b, rest.b) }, low
    };
}

/* What the sums of a block begin with, of the sums of its words. */
SIMD_INLINE void simd_int10_begin(int32_t a, int32_t b, int32_t sums[2])
{
    sums[0] = -SIMD_INT10_OFFSET * a;
    sums[1] = -SIMD_INT10_OFFSET * b + (SIMD_INT10_APART ? 3 * b / 8 : 0);
}

#endif /* SIMD_ISA */

#endif
