/* SPDX-License-Identifier: MIT */
#include "kernel_math_isa.h"

#include "kernels/simd_bf16.h"
#include "kernels/simd_int8.h"
#include "kernels/simd_math.h"

static void exp_all(const float *x, float *y, int64_t n)
{
    for (int64_t i = 0; i < n; i += SIMD_WIDTH)
        simd_store_upto(y + i, simd_exp(simd_load_upto(x + i, n - i)), n - i);
}

static void exp2_all(const float *x, float *y, int64_t n)
{
    for (int64_t i = 0; i < n; i += SIMD_WIDTH)
        simd_store_upto(y + i, simd_exp2(simd_load_upto(x + i, n - i)), n - i);
}

static void gelu_all(const float *x, float *y, int64_t n)
{
    for (int64_t i = 0; i < n; i += SIMD_WIDTH)
        simd_store_upto(y + i, simd_gelu(simd_load_upto(x + i, n - i)), n - i);
}

static void load_part(const float *x, int64_t n, float lanes[LANES_MOST])
{
    simd_store(lanes, simd_load_part(x, n));
}

static void store_part(float *x, int64_t n, const float lanes[LANES_MOST])
{
    simd_store_part(x, simd_load(lanes), n);
}

static void fill_first(const float *x, int64_t n, float value, float lanes[LANES_MOST])
{
    simd_store(lanes, simd_fill_first(simd_load(x), n, simd_set(value)));
}

static void zero_below(const float *x, float limit, float lanes[LANES_MOST])
{
    simd_float v = simd_load(x);

    simd_store(lanes, simd_zero_below(v, simd_set(limit), v));
}

static void power_of_two(const float *n, float lanes[LANES_MOST])
{
    simd_store(lanes, simd_power_of_two(simd_round(simd_load(n))));
}

static void stream(float *x, const float lanes[LANES_MOST])
{
    simd_stream(x, simd_load(lanes));
    simd_fence();
}

static float sum(const float *x)
{
    return simd_sum(simd_load(x));
}

static float first(const float *x)
{
    return simd_first(simd_load(x));
}

static bool any_above(const float *x, float limit)
{
    return simd_any_above(simd_load(x), limit);
}

static void floor_all(const float *x, float lanes[LANES_MOST])
{
    simd_store(lanes, simd_floor(simd_load(x)));
}

static void scale(const float *x, const float *n, float lanes[LANES_MOST])
{
    simd_store(lanes, simd_scale(simd_load(x), simd_load(n)));
}

static void transpose(float *x)
{
    simd_float row[SIMD_WIDTH];

    for (int i = 0; i < SIMD_WIDTH; i++)
        row[i] = simd_load(x + i * SIMD_WIDTH);
    simd_transpose(row);
    for (int i = 0; i < SIMD_WIDTH; i++)
        simd_store(x + i * SIMD_WIDTH, row[i]);
}

static void sum_each(const float *x, float lanes[LANES_MOST])
{
    simd_float rows[SIMD_WIDTH];

    for (int i = 0; i < SIMD_WIDTH; i++)
        rows[i] = simd_load(x + i * SIMD_WIDTH);
    simd_store(lanes, simd_sum_each(rows));
}

static void square_root(const float *x, float lanes[LANES_MOST])
{
    simd_store(lanes, simd_sqrt(simd_load(x)));
}

static void halves(const float *x, float lower[LANES_MOST], float upper[LANES_MOST])
{
    simd_store(lower, simd_lower_half(simd_load(x)));
    simd_store(upper, simd_upper_half(simd_load(x)));
}

static void product(const float *a, const float *b, const float *c, float lanes[LANES_MOST])
{
    simd_store(lanes, simd_product(simd_load(a), simd_load(b)) + simd_load(c));
}

static void widen(const uint16_t *x, float *y, int64_t n)
{
    simd_bf16_widen(x, n, y);
}

static void narrow(const float *x, uint16_t *y, int64_t n)
{
    simd_bf16_narrow(x, n, y);
}

static void pairs(float x[LANES_MOST], float y[LANES_MOST], uint32_t both[LANES_MOST])
{
    const simd_float v = simd_pairs(simd_load(x), simd_load(y));

    memcpy(both, &v, sizeof(v));
    simd_store(x, simd_pair_even(v));
    simd_store(y, simd_pair_odd(v));
}

static void round_pairs(const float *x, const float *y, uint32_t both[LANES_MOST])
{
    const simd_float v = simd_bf16_pairs(simd_load(x), simd_load(y));

    simd_bf16_store_pairs((uint16_t *)(void *)both, v);
}

#if defined(SIMD_ISA_avx512_bf16)
static void dots(const uint32_t *a, const uint32_t *b, float c[LANES_MOST])
{
    simd_float x, y;

    memcpy(&x, a, sizeof(x));
    memcpy(&y, b, sizeof(y));
    simd_store(c, simd_dot_pairs(x, y, simd_load(c)));
}
#endif

static void int8(const float *x, const int8_t *w, int64_t n, float lanes[LANES_MOST])
{
    const int turned[2][4] = { { 0, 1, 2, 3 }, { 0, 2, 1, 3 } };
    const simd_int zero = simd_int8_set(0);
    struct simd_int8 terms = { zero, zero }, sum;
    int32_t words[LANES_MOST / 2];
    uint8_t quads[LANES_MOST * 4];

    for (int64_t i = 0; i < n; i += SIMD_WIDTH)
        simd_int8_words(simd_load(x + i), words, &terms);
    sum.a = simd_int8_set(-SIMD_INT8_OFFSET * simd_int8_total(terms.a));
    sum.b = simd_int8_set(-SIMD_INT8_OFFSET * simd_int8_total(terms.b));
    for (int64_t i = 0; i < n; i += 4) {
        if (i % SIMD_WIDTH == 0)
            simd_int8_words(simd_load(x + i), words, &terms);
        for (int j = 0; j < 4 * SIMD_WIDTH; j++)
            quads[j / 4 * 4 + turned[SIMD_INT8_TURNED][j % 4]] =
                (uint8_t)(w[i + j % 4 + j / 4] + SIMD_INT8_OFFSET);
        const struct simd_int8 both = simd_int8_split(simd_int8_load(quads));
        const int32_t *word = words + i % SIMD_WIDTH / 2;
        sum.a = simd_int8_dot(sum.a, both.a, simd_int8_set(word[0]));
        sum.b = simd_int8_dot(sum.b, both.b, simd_int8_set(word[1]));
    }
    simd_store(lanes, simd_int8_fold(sum));
}

const struct math_checks *SIMD_NAME(math_checks)(void)
{
    static const struct math_checks checks = {
        .width = SIMD_WIDTH,
        .exp = exp_all,
        .exp2 = exp2_all,
        .gelu = gelu_all,
        .load_part = load_part,
        .store_part = store_part,
        .fill_first = fill_first,
        .zero_below = zero_below,
        .power_of_two = power_of_two,
        .stream = stream,
        .sum = sum,
        .sum_each = sum_each,
        .sqrt = square_root,
        .product = product,
        .first = first,
        .halves = halves,
        .any_above = any_above,
        .floor = floor_all,
        .scale = scale,
        .transpose = transpose,
        .widen = widen,
        .narrow = narrow,
        .pairs = pairs,
        .round_pairs = round_pairs,
        .int8_terms = SIMD_INT8_TERMS,
        .int8 = int8,
#if defined(SIMD_ISA_avx512_bf16)
        .dots = dots,
#endif
    };

    return &checks;
}
