/* SPDX-License-Identifier: MIT */
/*
 * A row is read from memory once and stays in L1 for the two later passes:
 *
 *   memory --> [x + delta] --> L1 --> sum of (x - mean)^2 --> (x - mean) scale gain + bias --> y
 *               sum, mean                variance
 *
 * Four vectors of partial sums, so that no addition waits for the one before. Rows are shared out
 * to the threads. Limit: memory bandwidth; for rows in cache the loads of three passes.
 */
#include "kernels/host.h"
#include "kernels/layernorm/layernorm_call.h"
#include "kernels/simd.h"

#include <math.h>

SIMD_DECLARE(host_share_fn, layernorm_rows);

#ifdef SIMD_ISA

enum { CHAINS = 4, STEP = CHAINS * SIMD_WIDTH };

/* One vector of the residual form: sums two, keeps the result, hands it back. */
static inline simd_float take(const float *x, const float *delta, float *sum, int64_t lanes)
{
    simd_float v = simd_load_upto(x, lanes);

    if (delta == NULL)
        return v;
    v += simd_load_upto(delta, lanes);
    simd_store_upto(sum, v, lanes);
    return v;
}

static float total(const simd_float part[CHAINS])
{
    return simd_sum((part[0] + part[1]) + (part[2] + part[3]));
}

static float mean_of(const float *x, const float *delta, float *sum, int64_t n)
{
    simd_float part[CHAINS] = { simd_set(0), simd_set(0), simd_set(0), simd_set(0) };
    int64_t j = 0;

    for (; j + STEP <= n; j += STEP) {
        SIMD_UNROLL
        for (int c = 0; c < CHAINS; c++) {
            int64_t at = j + c * SIMD_WIDTH;
            part[c] += take(x + at, delta ? delta + at : NULL, delta ? sum + at : NULL, SIMD_WIDTH);
        }
    }
    for (; j < n; j += SIMD_WIDTH)
        part[0] += take(x + j, delta ? delta + j : NULL, delta ? sum + j : NULL, n - j);
    return total(part) / (float)n;
}

/* Lanes past the end must add nothing, so their difference is cleared, not their value. */
static float variance_of(const float *x, int64_t n, float mean)
{
    simd_float part[CHAINS] = { simd_set(0), simd_set(0), simd_set(0), simd_set(0) };
    const simd_float m = simd_set(mean);
    float rest = 0;
    int64_t j = 0;

    for (; j + STEP <= n; j += STEP) {
        SIMD_UNROLL
        for (int c = 0; c < CHAINS; c++) {
            simd_float d = simd_load(x + j + c * SIMD_WIDTH) - m;
            part[c] = simd_fma(d, d, part[c]);
        }
    }
    for (; j + SIMD_WIDTH <= n; j += SIMD_WIDTH) {
        simd_float d = simd_load(x + j) - m;
        part[0] = simd_fma(d, d, part[0]);
    }
    for (; j < n; j++)
        rest += (x[j] - mean) * (x[j] - mean);
    return (total(part) + rest) / (float)n;
}

static void normalise(const struct layernorm *l, const float *x, float *y, float mean, float scale)
{
    const simd_float m = simd_set(mean), s = simd_set(scale);

    for (int64_t j = 0; j < l->width; j += SIMD_WIDTH) {
        int64_t lanes = l->width - j;
        simd_float v = (simd_load_upto(x + j, lanes) - m) * s;
        v = simd_fma(v, simd_load_upto(l->gain + j, lanes), simd_load_upto(l->bias + j, lanes));
        simd_store_upto(y + j, v, lanes);
    }
}

void SIMD_NAME(layernorm_rows)(const void *operation)
{
    const struct layernorm *l = operation;

#pragma omp for schedule(static)
    for (int64_t i = 0; i < l->rows; i++) {
        int64_t at = i * l->width;
        const float *x = l->x + at;
        const float *delta = l->delta != NULL ? l->delta + at : NULL;
        float *sum = delta != NULL ? l->sum + at : NULL;
        float mean = mean_of(x, delta, sum, l->width);

        x = delta != NULL ? sum : x;
        float variance = variance_of(x, l->width, mean);
        normalise(l, x, l->y + at, mean, 1 / sqrtf(variance + (float)LAYERNORM_EPS));
    }
}

#else

void layernorm_rows_simd(const struct layernorm *l)
{
    host_share(SIMD_CHOOSE(layernorm_rows), l, l->threads, 8.0 * (double)(l->rows * l->width));
}

static void launch(const struct call *call)
{
    struct layernorm l = layernorm_of(call);

    layernorm_rows_simd(&l);
}

const struct variant layernorm_simd[] = {
    {
        .name = "simd",
        .summary = "a row stays in L1 for its three passes, OpenMP; limit: memory bandwidth",
        .kernel = &layernorm_plain_kernel,
        .device = DEVICE_CPU,
        .dtype = DTYPE_FP32,
        .math = MATH_FP32,
        .supports = simd_supports,
        .launch = launch,
    },
    {
        .name = "simd",
        .summary = "addition fused into the first pass of three; limit: memory bandwidth",
        .kernel = &layernorm_residual_kernel,
        .device = DEVICE_CPU,
        .dtype = DTYPE_FP32,
        .math = MATH_FP32,
        .supports = simd_supports,
        .launch = launch,
    },
    { .name = NULL },
};

#endif
