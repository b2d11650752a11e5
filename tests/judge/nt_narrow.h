/* SPDX-License-Identifier: MIT */
/* y = x W^T of bf16 or fp16, in a choice of what is rounded on the way. */
#ifndef HARNESS_TESTS_JUDGE_NT_NARROW_H
#define HARNESS_TESTS_JUDGE_NT_NARROW_H

#include "nt.h"
#include "with_bits.h"

#include <math.h>

static inline float bf16_value(uint16_t x)
{
    const uint32_t word = (uint32_t)x << 16;
    float value;

    memcpy(&value, &word, sizeof(value));
    return value;
}

static inline uint16_t bf16_of(float value)
{
    uint32_t word;

    value = with_bits(value, BF16_BITS);
    memcpy(&word, &value, sizeof(word));
    return (uint16_t)(word >> 16);
}

static inline float fp16_value(uint16_t x)
{
    const int exponent = x >> 10 & 31, mantissa = x & 1023;
    const float size =
        exponent ? ldexpf((float)(1024 + mantissa), exponent - 25) : ldexpf((float)mantissa, -24);

    return x >> 15 ? -size : size;
}

/* Of what is not too large for it. */
static inline uint16_t fp16_of(float value)
{
    const uint16_t sign = signbit(value) ? 1 << 15 : 0;
    const float size = with_bits(fabsf(value), FP16_BITS);
    int exponent;

    if (size < 0x1p-14F)
        return (uint16_t)(sign | (uint16_t)rintf(ldexpf(fabsf(value), 24)));
    const float fraction = frexpf(size, &exponent); /* from 0.5 to 1 */
    return (uint16_t)(sign | (exponent + 14) << 10 | ((int)(fraction * 2048) - 1024));
}

struct narrow {
    float (*value)(uint16_t x);
    uint16_t (*of)(float value);
    int x_bits, sum_bits; /* of mantissa */
    int slices;           /* of k; the sums of each are rounded to the type */
};

static inline float narrow_sum(const struct narrow *n, const uint16_t *x, const uint16_t *w,
                               int64_t first, int64_t last)
{
    float sum = 0;

    for (int64_t l = first; l < last; l++)
        sum = with_bits(sum + with_bits(n->value(x[l]), n->x_bits) * n->value(w[l]), n->sum_bits);
    return sum;
}

static inline void nt_narrow(const struct harness_call *call, const struct narrow *n)
{
    const struct nt p = nt_of(call);
    const uint16_t *x = call->tensor[0].data, *w = call->tensor[1].data;
    uint16_t *y = call->tensor[2].data;

    for (int64_t i = 0; i < p.m * p.n; i++) {
        const uint16_t *row = x + i / p.n * p.k, *col = w + i % p.n * p.k;
        float sum = 0;
        for (int64_t s = 0; s < n->slices; s++)
            sum += n->value(
                n->of(narrow_sum(n, row, col, p.k * s / n->slices, p.k * (s + 1) / n->slices)));
        y[i] = n->of(sum);
    }
}

#endif
