/* SPDX-License-Identifier: MIT */
/*
 * The vector layer under the SIMD kernels, by every instruction set of this machine: exp, exp2,
 * gelu against libm in float64, masked loads and stores that touch nothing beyond their lanes (they
 * end at a page that may not be touched), bfloat16, bytes, and the choice of the instruction set.
 * Features: U-03 (kernels).
 */
#include "testing.h"

#include "kernel_math_isa.h"
#include "kernels/pointwise/pointwise.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct math_checks *checks_of(enum simd_isa isa)
{
#if defined(__x86_64__)
    if (isa == SIMD_AVX512_AMX) /* whose vectors are those of */
        return math_checks_avx512();
    if (isa == SIMD_AVX512_BF16)
        return math_checks_avx512_bf16();
    if (isa == SIMD_AVX512_VNNI)
        return math_checks_avx512_vnni();
    if (isa == SIMD_AVX512)
        return math_checks_avx512();
    if (isa == SIMD_AVX2)
        return math_checks_avx2();
#endif
    assert_int_equal(isa, SIMD_PORTABLE);
    return math_checks_portable();
}

static void for_each(void (*check)(const struct math_checks *m, const char *name))
{
    for (unsigned isa = 0; isa < SIMD_NR; isa++)
        if (simd_has((enum simd_isa)isa))
            check(checks_of((enum simd_isa)isa), simd_isa_name((enum simd_isa)isa));
}

enum { POINTS = 200001 };

/* Even steps from lo to hi. */
static float *steps(float lo, float hi)
{
    float *x = malloc(2 * POINTS * sizeof(*x));

    assert_non_null(x);
    for (int i = 0; i < POINTS; i++)
        x[i] = lo + (hi - lo) * (float)i / (float)(POINTS - 1);
    return x;
}

/* The largest relative error of a function on [lo, hi] is below a bound. */
static void accuracy(const char *what, void (*run)(const float *x, float *y, int64_t n),
                     double (*exact)(double x), float lo, float hi, double bound)
{
    float *x = steps(lo, hi), *y = x + POINTS;
    double worst = 0;

    run(x, y, POINTS);
    for (int i = 0; i < POINTS; i++) {
        double expected = exact((double)x[i]);
        worst = fmax(worst, fabs((double)y[i] - expected) / expected);
    }
    print_message("%s: relative error %.3g\n", what, worst);
    if (!(worst < bound))
        fail_msg("%s: relative error %g", what, worst);
    free(x);
}

static void exp_accuracy(const struct math_checks *m, const char *name)
{
    print_message("%s: ", name);
    accuracy("exp", m->exp, exp, -87.2f, 87.9f, 2.4e-7);
}

static void exp_edges(const struct math_checks *m, const char *name)
{
    const float x[] = { 0, -0.0f, -88, -1e30f, -INFINITY, 100, INFINITY, 1, -87.3f };
    float y[sizeof(x) / sizeof(x[0])];

    (void)name;
    m->exp(x, y, sizeof(x) / sizeof(x[0]));
    assert_true(y[0] == 1 && y[1] == 1);
    assert_true(y[2] == 0 && y[3] == 0 && y[4] == 0);
    assert_close((double)y[5] / exp(88.0), 1, 3e-7);
    assert_close((double)y[6] / exp(88.0), 1, 3e-7);
    assert_close((double)y[7], exp(1.0), 3e-7);
    assert_true(y[8] > 0);
}

static void exp2_accuracy(const struct math_checks *m, const char *name)
{
    print_message("%s: ", name);
    accuracy("exp2", m->exp2, exp2, -126, 127.9f, 1.8e-7);
}

/* Whole powers are exact, small ones stay normal, large ones stay large. */
static void exp2_edges(const struct math_checks *m, const char *name)
{
    const float x[] = { 0, -0.0f, -1, 100, -126, -127, -1e30f, -INFINITY, 128, 1e9f, 1e30f, NAN };
    float y[sizeof(x) / sizeof(x[0])];

    (void)name;
    m->exp2(x, y, sizeof(x) / sizeof(x[0]));
    assert_true(y[0] == 1 && y[1] == 1 && y[2] == 0.5f && y[3] == 0x1p100f);
    for (int i = 4; i < 8; i++)
        assert_true(y[i] == 0x1p-126f);
    for (int i = 8; i < 11; i++)
        assert_true(y[i] >= 0x1p127f);
    assert_true(isnan(y[11]));
}

/* Relative to max(1, |x|), as a gelu of -6 is 1e-8 small; and relatively where it is not. */
static void gelu_accuracy(const struct math_checks *m, const char *name)
{
    float *x = steps(-12, 12), *y = x + POINTS;
    double absolute = 0, relative = 0;

    m->gelu(x, y, POINTS);
    for (int i = 0; i < POINTS; i++) {
        double expected = pointwise_gelu_double((double)x[i]);
        double error = fabs((double)y[i] - expected);
        absolute = fmax(absolute, error / fmax(1, fabs((double)x[i])));
        if (x[i] > -2)
            relative = fmax(relative, expected == 0 ? error : error / fabs(expected));
    }
    print_message("gelu, %s: error %.3g, relative %.3g\n", name, absolute, relative);
    if (!(absolute < 2e-7 && relative < 1e-6))
        fail_msg("gelu, %s: error %g, relative %g", name, absolute, relative);
    free(x);
}

/* Two pages, the second of which cannot be touched. */
static float *guarded_end(size_t *bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_true(p != MAP_FAILED);
    assert_int_equal(mprotect(p + page, page, PROT_NONE), 0);
    *bytes = 2 * page;
    return (float *)(void *)(p + page);
}

static void parts(const struct math_checks *m, const char *name)
{
    size_t bytes;
    float *end = guarded_end(&bytes), lanes[LANES_MOST], from[LANES_MOST];

    (void)name;
    for (int64_t n = 0; n <= m->width; n++) {
        float *x = end - n;
        for (int64_t i = 0; i < m->width; i++)
            from[i] = (float)(i + 1);
        end[-m->width - 1] = -7;
        for (int64_t i = 1; i <= m->width; i++)
            end[-i] = -7;
        m->store_part(x, n, from);
        for (int64_t i = -1 - m->width; i < 0; i++)
            assert_true(end[i] == (i < -n ? -7 : from[i + n]));
        m->load_part(x, n, lanes);
        for (int64_t i = 0; i < m->width; i++)
            assert_true(lanes[i] == (i < n ? from[i] : 0));
    }
    munmap((char *)end - bytes / 2, bytes);
}

static void lanes_of_all(const struct math_checks *m, const char *name)
{
    float x[LANES_MOST], lanes[LANES_MOST], sum = 0;
    float memory[LANES_MOST] __attribute__((aligned(64))) = { 0 };

    (void)name;
    for (int i = 0; i < m->width; i++) {
        x[i] = (float)(i - 3);
        sum += x[i];
    }
    assert_true(m->sum(x) == sum);
    for (int64_t n = 0; n <= m->width; n++) {
        m->fill_first(x, n, 99, lanes);
        for (int64_t i = 0; i < m->width; i++)
            assert_true(lanes[i] == (i < n ? 99 : x[i]));
    }
    m->zero_below(x, -1, lanes);
    for (int64_t i = 0; i < m->width; i++)
        assert_true(lanes[i] == (x[i] < -1 ? 0 : x[i]));
    m->stream(memory, x);
    for (int64_t i = 0; i < m->width; i++)
        assert_true(memory[i] == x[i]);
}

static void halving(const struct math_checks *m, const char *name)
{
    float x[LANES_MOST], lower[LANES_MOST], upper[LANES_MOST];
    const int64_t half = m->width / 2;

    (void)name;
    for (int i = 0; i < LANES_MOST; i++)
        x[i] = (float)(i + 1);
    m->halves(x, lower, upper);
    for (int64_t i = 0; i < m->width; i++) {
        assert_true(lower[i] == (i < half ? x[i] : 0));
        assert_true(upper[i] == (i < half ? x[i + half] : 0));
    }
}

static void comparing_lanes(const struct math_checks *m, const char *name)
{
    float x[LANES_MOST] = { 0 }, lanes[LANES_MOST];

    (void)name;
    for (int64_t i = 0; i < m->width; i++) {
        x[0] = 5;
        x[i] = 7.5f;
        assert_true(m->first(x) == (i == 0 ? 7.5f : 5));
        assert_true(m->any_above(x, 7) && !m->any_above(x, 7.5f));
        x[i] = NAN;
        assert_false(m->any_above(x, 7));
        x[i] = 0;
    }
    const float numbers[] = { 0, -0.5f, 0.5f, 1, -1, -126, 127.99f, -125.01f, 3e6f, 1e9f, -1e30f };
    for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++) {
        for (int64_t i = 0; i < m->width; i++)
            x[i] = numbers[k];
        m->floor(x, lanes);
        for (int64_t i = 0; i < m->width; i++)
            assert_true(lanes[i] == floorf(numbers[k]));
    }
}

static void scales(const struct math_checks *m, const char *name)
{
    float x[LANES_MOST], n[LANES_MOST], lanes[LANES_MOST];

    (void)name;
    for (int exponent = -126; exponent <= 140; exponent++) {
        for (int64_t i = 0; i < m->width; i++) {
            x[i] = 1 + (float)i / 16;
            n[i] = (float)exponent;
        }
        m->scale(x, n, lanes);
        for (int64_t i = 0; i < m->width; i++)
            assert_true(exponent <= 127 ? lanes[i] == ldexpf(x[i], exponent)
                                        : lanes[i] >= 0x1p127f);
    }
}

static void transposing(const struct math_checks *m, const char *name)
{
    float x[LANES_MOST * LANES_MOST];

    (void)name;
    for (int64_t i = 0; i < m->width * m->width; i++)
        x[i] = (float)i;
    m->transpose(x);
    for (int64_t i = 0; i < m->width; i++)
        for (int64_t j = 0; j < m->width; j++)
            assert_true(x[i * m->width + j] == (float)(j * m->width + i));
}

/* Small integers, whose sums are exact in any order, roots of squares, and a product that a fused
 * multiply-add would not round: (1 + e)^2 - 1 - 2e is e^2 there. */
static void rows_of_lanes(const struct math_checks *m, const char *name)
{
    float x[LANES_MOST * LANES_MOST], lanes[LANES_MOST], one_up[LANES_MOST], less[LANES_MOST];
    const float e = 0x1p-20f;

    for (int64_t i = 0; i < m->width * m->width; i++)
        x[i] = (float)((i * i + 3 * i) % 257 - 100);
    m->sum_each(x, lanes);
    for (int64_t i = 0; i < m->width; i++) {
        float sum = 0;
        for (int64_t j = 0; j < m->width; j++)
            sum += x[i * m->width + j];
        if (lanes[i] != sum)
            fail_msg("%s: row %d sums to %g, not %g", name, (int)i, (double)lanes[i], (double)sum);
    }
    for (int64_t i = 0; i < m->width; i++) {
        x[i] = (float)(i * i) * 0x1p-10f;
        one_up[i] = 1 + e;
        less[i] = -1 - 2 * e;
    }
    m->sqrt(x, lanes);
    for (int64_t i = 0; i < m->width; i++)
        assert_true(lanes[i] == (float)i * 0x1p-5f);
    m->product(one_up, one_up, less, lanes);
    for (int64_t i = 0; i < m->width; i++)
        assert_true(lanes[i] == 0);
}

static void powers(const struct math_checks *m, const char *name)
{
    float n[LANES_MOST], lanes[LANES_MOST];

    (void)name;
    for (int exponent = -126; exponent <= 127; exponent++) {
        for (int64_t i = 0; i < m->width; i++)
            n[i] = (float)exponent + (i % 2 ? 0.3f : -0.3f);
        m->power_of_two(n, lanes);
        for (int64_t i = 0; i < m->width; i++)
            assert_true(lanes[i] == ldexpf(1, exponent));
    }
}

/* Every bfloat16 there is, widened exactly; any length, to the last one. */
static void widening(const struct math_checks *m, const char *name)
{
    enum { ALL = 1 << 16 };
    uint16_t *x = malloc(ALL * sizeof(*x));
    float *y = malloc(ALL * sizeof(*y)), short_run[LANES_MOST + 1];

    (void)name;
    assert_true(x != NULL && y != NULL);
    for (int i = 0; i < ALL; i++)
        x[i] = (uint16_t)i;
    m->widen(x, y, ALL);
    for (int i = 0; i < ALL; i++) {
        float exact = bf16_to_float((uint16_t)i);
        assert_memory_equal(&y[i], &exact, sizeof(exact));
    }
    for (int n = 0; n <= m->width; n++) {
        short_run[n] = -7;
        m->widen(x + 0x3f80, short_run, n);
        assert_true(short_run[n] == -7 && (n == 0 || short_run[0] == 1));
    }
    free(x);
    free(y);
}

/* Both sides of ties, the ends of the range, NaNs; a form of hardware takes denormal numbers for
 * 0. */
static void narrowing(const struct math_checks *m, const char *name)
{
    const uint32_t lower[] = { 0, 1, 0x7fff, 0x8000, 0x8001, 0xffff };
    float x[LANES_MOST];
    uint16_t y[LANES_MOST + 1];

    for (uint32_t upper = 0; upper < 1 << 16; upper += 7)
        for (size_t k = 0; k < sizeof(lower) / sizeof(lower[0]); k++) {
            const uint32_t bits = upper << 16 | lower[k];
            for (int64_t i = 0; i < m->width; i++)
                memcpy(&x[i], &bits, sizeof(bits));
            int64_t n = (int64_t)(upper % (uint32_t)m->width) + 1;
            uint16_t expected = bf16_from_float(x[0]);
            bool denormal = (bits & 0x7f800000) == 0;
            y[n] = 0x1234;
            m->narrow(x, y, n);
            assert_int_equal(y[n], 0x1234);
            if (y[0] != expected && !(denormal && (y[0] & 0x7fff) == 0 && m->dots != NULL))
                fail_msg("%s: %08x is %04x, not %04x", name, bits, y[0], expected);
            assert_int_equal(y[n - 1], y[0]);
        }
}

/* Each of a pair is rounded as a vector of such is, whatever the other one is. */
static void narrowing_pairs(const struct math_checks *m, const char *name)
{
    float x[2][LANES_MOST];
    uint16_t y[2][LANES_MOST];
    uint32_t both[LANES_MOST];

    for (uint32_t seed = 1, round = 0; round < 4096; round++) {
        for (int64_t i = 0; i < 2 * m->width; i++) {
            seed = seed * 1664525u + 1013904223u;
            const uint32_t bits = round % 3 == 0 ? seed & 0xffff8000 : seed;
            memcpy(&x[i / m->width][i % m->width], &bits, sizeof(bits));
        }
        for (int odd = 0; odd < 2; odd++)
            m->narrow(x[odd], y[odd], m->width);
        m->round_pairs(x[0], x[1], both);
        for (int64_t i = 0; i < m->width; i++)
            if (both[i] != (y[0][i] | (uint32_t)y[1][i] << 16))
                fail_msg("%s: %g and %g are %08x", name, (double)x[0][i], (double)x[1][i], both[i]);
    }
}

static void pairing(const struct math_checks *m, const char *name)
{
    float x[LANES_MOST], y[LANES_MOST], c[LANES_MOST];
    uint32_t both[LANES_MOST];

    (void)name;
    for (int i = 0; i < LANES_MOST; i++) {
        x[i] = (float)(i + 1);
        y[i] = -(float)(2 * i);
        c[i] = 0.5f;
    }
    m->pairs(x, y, both);
    for (int64_t i = 0; i < m->width; i++) {
        assert_true(x[i] == (float)(i + 1) && y[i] == -(float)(2 * i));
        assert_int_equal(both[i] & 0xffff, bf16_from_float(x[i]));
        assert_int_equal(both[i] >> 16, bf16_from_float(y[i]));
    }
    if (m->dots == NULL)
        return;
    m->dots(both, both, c);
    for (int64_t i = 0; i < m->width; i++)
        assert_true(c[i] == 0.5f + x[i] * x[i] + y[i] * y[i]);
}

/* As many terms as fit, as large as they may be, of one sign, of both, and of any size: exact up to
 * the two roundings to a float. */
static void bytes(const struct math_checks *m, const char *name)
{
    const int64_t n = m->int8_terms;
    float *x = malloc((size_t)n * sizeof(*x)), lanes[LANES_MOST];
    int8_t *w = malloc((size_t)n + LANES_MOST);

    assert_true(x != NULL && w != NULL);
    for (int form = 0; form < 6; form++) {
        for (int64_t i = 0; i < n; i++)
            x[i] = (float)(form < 4 ? (form & 1 ? 32512 : -32512) : i * 7919 % 65025 - 32512);
        for (int64_t i = 0; i < n + LANES_MOST; i++)
            w[i] = (int8_t)(form < 4 ? (form & 2 ? 127 : -127) : i * 104729 % 255 - 127);
        m->int8(x, w, n, lanes);
        for (int64_t j = 0; j < m->width; j++) {
            double sum = 0;
            for (int64_t i = 0; i < n; i++)
                sum += (double)x[i] * (double)w[i + j];
            if (!(fabs((double)lanes[j] - sum) <= fabs(sum) * 0x1p-23 + 64))
                fail_msg("%s: %d: lane %d is %f, not %f", name, form, (int)j, (double)lanes[j],
                         sum);
        }
    }
    free(x);
    free(w);
}

#define EACH(check)                                                                                \
    static void test_##check(void **state)                                                         \
    {                                                                                              \
        (void)state;                                                                               \
        for_each(check);                                                                           \
    }
EACH(exp_accuracy)
EACH(exp_edges)
EACH(exp2_accuracy)
EACH(exp2_edges)
EACH(gelu_accuracy)
EACH(parts)
EACH(lanes_of_all)
EACH(halving)
EACH(comparing_lanes)
EACH(scales)
EACH(transposing)
EACH(rows_of_lanes)
EACH(powers)
EACH(widening)
EACH(narrowing)
EACH(narrowing_pairs)
EACH(pairing)
EACH(bytes)

/* The wish is read once; whether it can be granted is asked again each time. */
static void test_choice(void **state)
{
    struct error err;

    (void)state;
    setenv("HARNESS_ISA", "portable", 1);
    assert_int_equal(simd_isa(), SIMD_PORTABLE);
    assert_true(simd_supports(NULL, NULL, NULL, &err));
    setenv("HARNESS_ISA", "avx1024", 1);
    assert_false(simd_supports(NULL, NULL, NULL, &err));
    assert_non_null(strstr(err.message, "'avx1024'"));
    assert_non_null(strstr(err.message, "portable"));
    assert_int_equal(simd_isa(), SIMD_PORTABLE);
    unsetenv("HARNESS_ISA");
    assert_true(simd_supports(NULL, NULL, NULL, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exp_accuracy),  cmocka_unit_test(test_exp_edges),
        cmocka_unit_test(test_exp2_accuracy), cmocka_unit_test(test_exp2_edges),
        cmocka_unit_test(test_halving),       cmocka_unit_test(test_comparing_lanes),
        cmocka_unit_test(test_scales),        cmocka_unit_test(test_transposing),
        cmocka_unit_test(test_gelu_accuracy), cmocka_unit_test(test_parts),
        cmocka_unit_test(test_lanes_of_all),  cmocka_unit_test(test_powers),
        cmocka_unit_test(test_rows_of_lanes), cmocka_unit_test(test_widening),
        cmocka_unit_test(test_narrowing),     cmocka_unit_test(test_narrowing_pairs),
        cmocka_unit_test(test_pairing),       cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_choice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
