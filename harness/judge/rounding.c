/* SPDX-License-Identifier: MIT */
#include "judge/rounding.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool rounding_measures(enum dtype dtype, enum math math)
{
    bool narrow = dtype == DTYPE_BF16 || dtype == DTYPE_FP16;

    return (narrow && math == dtype_math(dtype)) || (dtype == DTYPE_FP32 && math == MATH_TF32);
}

double rounding_factor(const struct kernel *k, enum math math)
{
    return k->model ? 4 : math == MATH_TF32 ? 3 : 2;
}

/* To nearest even, 10 bits of mantissa. */
static float tf32_from_float(float x)
{
    const uint32_t dropped = 13, half = 1U << (dropped - 1);
    uint32_t word;

    memcpy(&word, &x, sizeof(word));
    word += half - 1 + ((word >> dropped) & 1);
    word &= ~((1U << dropped) - 1);
    memcpy(&x, &word, sizeof(x));
    return x;
}

static bool is_rounded(const struct tensor *t)
{
    return t->role != TENSOR_OUT && t->dtype == DTYPE_FP32;
}

static void round_inputs(const struct tensor *inputs, int nr, struct tensor rounded[TENSOR_MAX])
{
    memcpy(rounded, inputs, TENSOR_MAX * sizeof(*rounded));
    for (int i = 0; i < nr; i++) {
        int64_t elements = tensor_elements(&inputs[i]);
        const float *from = inputs[i].data;
        if (!is_rounded(&inputs[i]))
            continue;
        float *to = memory_zeroed((size_t)elements + 1, sizeof(*to));
        for (int64_t e = 0; e < elements; e++)
            to[e] = tf32_from_float(from[e]);
        rounded[i].data = to;
    }
}

static void ask_rounded(const struct kernel *k, const struct shape *s, const struct tensor *inputs,
                        int nr_inputs, int output, const int64_t *rows, size_t nr, double *values)
{
    struct tensor rounded[TENSOR_MAX];

    round_inputs(inputs, nr_inputs, rounded);
    k->oracle(k, s, rounded, output, rows, nr, values);
    for (int i = 0; i < nr_inputs; i++)
        if (is_rounded(&inputs[i]))
            free(rounded[i].data);
}

static void round_to_dtype(enum dtype dtype, const double *from, size_t nr, double *to)
{
    uint32_t room;
    struct tensor one = { .dtype = dtype, .rank = 1, .extent = { 1 }, .data = &room };

    for (size_t i = 0; i < nr; i++) {
        tensor_set(&one, 0, from[i]);
        to[i] = tensor_get(&one, 0);
    }
}

void rounding_rows(const struct kernel *k, const struct shape *s, const struct tensor *inputs,
                   int nr_inputs, int output, const int64_t *rows, size_t nr, enum math math,
                   const double *expected, double *values)
{
    const struct tensor *t = &inputs[output];

    if (math == MATH_TF32)
        ask_rounded(k, s, inputs, nr_inputs, output, rows, nr, values);
    else
        round_to_dtype(t->dtype, expected, nr * (size_t)tensor_cols(t), values);
}
