/* SPDX-License-Identifier: MIT */
/*
 * A row at a time: mean, then variance, then the result.
 *
 * Limit: the additions of a sum wait for one another (4 cycles each).
 */
#include "kernels/layernorm/layernorm_call.h"

#include <math.h>

static void normalise(const struct layernorm *l, const float *x, float *y)
{
    float sum = 0, squares = 0;

    for (int64_t j = 0; j < l->width; j++)
        sum += x[j];
    float mean = sum / (float)l->width;
    for (int64_t j = 0; j < l->width; j++)
        squares += (x[j] - mean) * (x[j] - mean);
    float scale = 1 / sqrtf(squares / (float)l->width + (float)LAYERNORM_EPS);
    for (int64_t j = 0; j < l->width; j++)
        y[j] = (x[j] - mean) * scale * l->gain[j] + l->bias[j];
}

void layernorm_rows_naive(const struct layernorm *l)
{
#pragma omp parallel for num_threads(l->threads)
    for (int64_t i = 0; i < l->rows; i++) {
        const float *x = l->x + i * l->width;
        if (l->delta != NULL) {
            for (int64_t j = 0; j < l->width; j++)
                l->sum[i * l->width + j] = x[j] + l->delta[i * l->width + j];
            x = l->sum + i * l->width;
        }
        normalise(l, x, l->y + i * l->width);
    }
}

static void launch(const struct call *call)
{
    struct layernorm l = layernorm_of(call);

    layernorm_rows_naive(&l);
}

const struct variant layernorm_naive[] = {
    {
        .name = "naive",
        .summary = "three passes over a row; limit: the latency of one addition",
        .kernel = &layernorm_plain_kernel,
        .device = DEVICE_CPU,
        .dtype = DTYPE_FP32,
        .math = MATH_FP32,
        .flags = VARIANT_PLAIN,
        .launch = launch,
    },
    {
        .name = "naive",
        .summary = "add, then three passes over a row; limit: the latency of one addition",
        .kernel = &layernorm_residual_kernel,
        .device = DEVICE_CPU,
        .dtype = DTYPE_FP32,
        .math = MATH_FP32,
        .flags = VARIANT_PLAIN,
        .launch = launch,
    },
    { .name = NULL },
};
