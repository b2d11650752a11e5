/* SPDX-License-Identifier: MIT */
/*
 * One source for all widths: GCC vector types, instantiated for 64, 32 and 16 bytes under the
 * fitting target attribute, chosen once at run time.
 *
 * FMA: enough independent accumulators to hide the latency of two pipes (2 x 4 or 5 cycles), or of
 * AArch64's four (4 x 4), few enough to stay in registers.
 * Read: 8 loads a turn, summed so that none can be dropped.
 * Dots: the same of vdpbf16ps, whose products are of bfloat16 and whose sums are fp32, or where
 * there are matrix tiles (AMX) of those; of vpdpbusd, whose products are of bytes and whose sums
 * are int32; where there is none, of vpmaddwd, whose products are of the 16 bits to which bytes are
 * widened, and of the addition of its pairs. Stream: stores past the caches, which do not read a
 * line before they write it; what is read is fetched FETCH bytes ahead, which the hardware's own
 * guess does not make up for beside them.
 */
#include "machine/roof_loops.h"

#include "host/matrix_tiles.h"

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

enum { UNROLL = 8, FETCH = 1024, DOT_CHAINS = 16, PAIR_CHAINS = 10, TILE_CHAINS = 6 };

/* One step of a chain. AArch64's FMLA overwrites what it adds to: a chain through a factor would be
 * three instructions there, two of which move. */
#if defined(__aarch64__)
enum { PORTABLE_CHAINS = 24 };
#define CHAIN(a, b, c) vfmaq_f32((a), (b), (c))
#else
enum { PORTABLE_CHAINS = 10 };
#define CHAIN(a, b, c) ((a) * (b) + (c))
#endif

/* Unrolls the loop over chains that follows. It stands before all of them: gcc keeps the chains of
 * one that it does not unroll early in memory, and stores them in every round. */
#ifdef __clang__
#define EACH_CHAIN _Pragma("clang loop unroll(full)")
#else
#define EACH_CHAIN _Pragma("GCC unroll 24")
#endif

/* Stores a vector past the caches where there is an instruction for it. */
#if defined(__x86_64__)
#define PAST_avx512(p, v)   _mm512_stream_ps((float *)(p), (__m512)(v))
#define PAST_avx2(p, v)     _mm256_stream_ps((float *)(p), (__m256)(v))
#define PAST_portable(p, v) _mm_stream_ps((float *)(p), (__m128)(v))
#define PAST_END()          _mm_sfence()
#else
#define PAST_portable(p, v) (*(p) = (v))
#define PAST_END()          __asm__ volatile("" ::: "memory")
#endif

/* The constraint of a vector register in inline assembly, which here only keeps values alive. */
#if defined(__x86_64__)
#define REGISTER "v"
#else
#define REGISTER "w"
#endif

/* NOLINTBEGIN(bugprone-macro-parentheses): attributes and types cannot stand in parentheses */
#define DEFINE_LOOPS(suffix, width, accumulators, attribute)                                       \
    typedef float vector_##suffix __attribute__((vector_size(width), aligned(width), may_alias));  \
                                                                                                   \
    attribute static void read_##suffix(const void *from, size_t bytes)                            \
    {                                                                                              \
        const vector_##suffix *x = from;                                                           \
        vector_##suffix sum[UNROLL];                                                               \
        size_t nr = bytes / (width);                                                               \
        memset(sum, 0, sizeof(sum));                                                               \
        for (size_t i = 0; i + UNROLL <= nr; i += UNROLL)                                          \
            for (int j = 0; j < UNROLL; j++)                                                       \
                sum[j] += x[i + (size_t)j];                                                        \
        for (int j = 0; j < UNROLL; j++)                                                           \
            __asm__ volatile("" ::REGISTER(sum[j]));                                               \
    }                                                                                              \
                                                                                                   \
    attribute static void copy_##suffix(void *to, const void *from, size_t bytes)                  \
    {                                                                                              \
        const vector_##suffix *x = from;                                                           \
        vector_##suffix *y = to;                                                                   \
        for (size_t i = 0, nr = bytes / (width); i < nr; i++) {                                    \
            vector_##suffix v = x[i];                                                              \
            __asm__ volatile("" : "+" REGISTER(v)); /* keeps the loop from becoming memcpy() */    \
            y[i] = v;                                                                              \
        }                                                                                          \
        __asm__ volatile("" ::: "memory");                                                         \
    }                                                                                              \
                                                                                                   \
    attribute static void stream_##suffix(void *to, const void *from, size_t bytes)                \
    {                                                                                              \
        const vector_##suffix *x = from;                                                           \
        vector_##suffix *y = to;                                                                   \
        for (size_t i = 0, nr = bytes / (width); i < nr; i++) {                                    \
            __builtin_prefetch((const char *)(x + i) + FETCH);                                     \
            PAST_##suffix(y + i, x[i]);                                                            \
        }                                                                                          \
        PAST_END();                                                                                \
    }                                                                                              \
                                                                                                   \
    attribute static void fma_##suffix(size_t rounds)                                              \
    {                                                                                              \
        vector_##suffix a[accumulators], b = { 0 }, c = { 0 };                                     \
        memset(a, 0, sizeof(a));                                                                   \
        EACH_CHAIN                                                                                 \
        for (int j = 0; j < (accumulators); j++)                                                   \
            __asm__ volatile("" : "+" REGISTER(a[j])); /* or equal chains are merged */            \
        b += 0.5F;                                                                                 \
        c += 1.0F;                                                                                 \
        __asm__ volatile("" : "+" REGISTER(b), "+" REGISTER(c));                                   \
        for (size_t i = 0; i < rounds; i++) {                                                      \
            EACH_CHAIN                                                                             \
            for (int j = 0; j < (accumulators); j++)                                               \
                a[j] = CHAIN(a[j], b, c);                                                          \
        }                                                                                          \
        EACH_CHAIN                                                                                 \
        for (int j = 0; j < (accumulators); j++)                                                   \
            __asm__ volatile("" ::REGISTER(a[j]));                                                 \
    }

/* NOLINTEND(bugprone-macro-parentheses) */

#if defined(__x86_64__)
DEFINE_LOOPS(avx512, 64, 16, __attribute__((target("avx512f"))))
DEFINE_LOOPS(avx2, 32, 10, __attribute__((target("avx2,fma"))))
#endif
DEFINE_LOOPS(portable, 16, PORTABLE_CHAINS, )

#if defined(__x86_64__)
/* Pairs of bfloat16, ones: twice the products of as many multiply-adds. */
__attribute__((target("avx512f,avx512bf16"))) static void dot_avx512_bf16(size_t rounds)
{
    __m512 a[DOT_CHAINS], one = _mm512_castsi512_ps(_mm512_set1_epi32(0x3f803f80));

    memset(a, 0, sizeof(a));
    for (int j = 0; j < DOT_CHAINS; j++)
        __asm__ volatile("" : "+v"(a[j])); /* or equal chains are merged */
    __asm__ volatile("" : "+v"(one));
    for (size_t i = 0; i < rounds; i++)
        for (int j = 0; j < DOT_CHAINS; j++)
            a[j] = _mm512_dpbf16_ps(a[j], (__m512bh)one, (__m512bh)one);
    for (int j = 0; j < DOT_CHAINS; j++)
        __asm__ volatile("" ::"v"(a[j]));
}

/* Tiles of ones: 16 x 16 sums of 32 products each. */
static void dot_tiles_bf16(size_t rounds)
{
    uint32_t ones[AMX_ROWS][AMX_WORDS];

    for (int i = 0; i < AMX_ROWS * AMX_WORDS; i++)
        ones[i / AMX_WORDS][i % AMX_WORDS] = 0x3f803f80;
    amx_begin();
    amx_zero(0);
    amx_zero(1);
    amx_zero(2);
    amx_zero(3);
    amx_zero(4);
    amx_zero(5);
    amx_load(6, ones, sizeof(ones[0]));
    amx_load(7, ones, sizeof(ones[0]));
    for (size_t i = 0; i < rounds; i++) {
        amx_dot(0, 6, 7);
        amx_dot(1, 6, 7);
        amx_dot(2, 6, 7);
        amx_dot(3, 6, 7);
        amx_dot(4, 6, 7);
        amx_dot(5, 6, 7);
    }
    amx_end();
}

/* Four bytes, ones. */
__attribute__((target("avx512f,avx512vnni"))) static void dot_avx512_vnni(size_t rounds)
{
    __m512i a[DOT_CHAINS], one = _mm512_set1_epi32(0x01010101);

    memset(a, 0, sizeof(a));
    for (int j = 0; j < DOT_CHAINS; j++)
        __asm__ volatile("" : "+v"(a[j]));
    __asm__ volatile("" : "+v"(one));
    for (size_t i = 0; i < rounds; i++)
        for (int j = 0; j < DOT_CHAINS; j++)
            a[j] = _mm512_dpbusd_epi32(a[j], one, one);
    for (int j = 0; j < DOT_CHAINS; j++)
        __asm__ volatile("" ::"v"(a[j]));
}

/* Two of 16 bits, ones, that are said to be others each time, or one product served all. A chain is
 * of additions, which take a cycle: ten keep all pipes busy, and leave AVX2 registers. */
#define DEFINE_PAIRS(suffix, type, set_ones, add, multiply, attribute)                             \
    attribute static void dot_##suffix##_pairs(size_t rounds)                                      \
    {                                                                                              \
        type a[PAIR_CHAINS], one = set_ones(1);                                                    \
        memset(a, 0, sizeof(a));                                                                   \
        EACH_CHAIN                                                                                 \
        for (int j = 0; j < PAIR_CHAINS; j++)                                                      \
            __asm__ volatile("" : "+v"(a[j]));                                                     \
        for (size_t i = 0; i < rounds; i++) {                                                      \
            EACH_CHAIN                                                                             \
            for (int j = 0; j < PAIR_CHAINS; j++) {                                                \
                __asm__ volatile("" : "+v"(one));                                                  \
                a[j] = add(a[j], multiply(one, one));                                              \
            }                                                                                      \
        }                                                                                          \
        EACH_CHAIN                                                                                 \
        for (int j = 0; j < PAIR_CHAINS; j++)                                                      \
            __asm__ volatile("" ::"v"(a[j]));                                                      \
    }

DEFINE_PAIRS(avx512, __m512i, _mm512_set1_epi16, _mm512_add_epi32, _mm512_madd_epi16,
             __attribute__((target("avx512f,avx512bw"))))
DEFINE_PAIRS(avx2, __m256i, _mm256_set1_epi16, _mm256_add_epi32, _mm256_madd_epi16,
             __attribute__((target("avx2"))))
#endif

struct loops {
    void (*read)(const void *from, size_t bytes);
    void (*copy)(void *to, const void *from, size_t bytes);
    void (*stream)(void *to, const void *from, size_t bytes);
    void (*fma)(size_t rounds);
    double flops_per_round;
};

#define LOOPS(suffix, width, accumulators)                                                         \
    {                                                                                              \
        read_##suffix, copy_##suffix, stream_##suffix, fma_##suffix,                               \
            2.0 * (accumulators) * (width) / sizeof(float)                                         \
    }

static const struct loops *choose_loops(void)
{
    static const struct loops portable = LOOPS(portable, 16, PORTABLE_CHAINS);
#if defined(__x86_64__)
    static const struct loops avx512 = LOOPS(avx512, 64, 16), avx2 = LOOPS(avx2, 32, 10);

    if (__builtin_cpu_supports("avx512f"))
        return &avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &avx2;
#endif
    return &portable;
}

void roof_read(const void *from, size_t bytes)
{
    choose_loops()->read(from, bytes);
}

void roof_copy(void *to, const void *from, size_t bytes)
{
    choose_loops()->copy(to, from, bytes);
}

void roof_stream(void *to, const void *from, size_t bytes)
{
    choose_loops()->stream(to, from, bytes);
}

void roof_fma(size_t rounds)
{
    choose_loops()->fma(rounds);
}

double roof_fma_flops(size_t rounds)
{
    return choose_loops()->flops_per_round * (double)rounds;
}

/* Loops of products that are more than multiply-adds; FLOPs by chains, lanes and terms of each. */
struct dots {
    void (*run)(size_t rounds);
    double flops_per_round;
};

/* NULL: there are none. */
static const struct dots *choose_dots(enum roof_dot dot)
{
#if defined(__x86_64__)
    static const struct dots bf16 = { dot_avx512_bf16, 2.0 * DOT_CHAINS * 16 * 2 };
    static const struct dots tiles = { dot_tiles_bf16, 2.0 * TILE_CHAINS * 16 * 16 * 32 };
    static const struct dots vnni = { dot_avx512_vnni, 2.0 * DOT_CHAINS * 16 * 4 };
    static const struct dots avx512 = { dot_avx512_pairs, 2.0 * PAIR_CHAINS * 16 * 2 };
    static const struct dots avx2 = { dot_avx2_pairs, 2.0 * PAIR_CHAINS * 8 * 2 };
    const bool wide = __builtin_cpu_supports("avx512f");

    if (dot == ROOF_DOT_BF16 && matrix_tiles_granted())
        return &tiles;
    if (dot == ROOF_DOT_BF16)
        return wide && __builtin_cpu_supports("avx512bf16") ? &bf16 : NULL;
    if (wide && __builtin_cpu_supports("avx512vnni"))
        return &vnni;
    if (wide && __builtin_cpu_supports("avx512bw"))
        return &avx512;
    return __builtin_cpu_supports("avx2") ? &avx2 : NULL;
#else
    (void)dot;
    return NULL;
#endif
}

bool roof_has_dots(enum roof_dot dot)
{
    return choose_dots(dot) != NULL;
}

void roof_dots(enum roof_dot dot, size_t rounds)
{
    choose_dots(dot)->run(rounds);
}

double roof_dots_flops(enum roof_dot dot, size_t rounds)
{
    return choose_dots(dot)->flops_per_round * (double)rounds;
}
