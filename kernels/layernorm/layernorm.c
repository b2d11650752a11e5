/* SPDX-License-Identifier: MIT */
#include "kernels/layernorm/layernorm.h"

#include "base/memory.h"
#include "kernels/host.h"
#include "kernels/layernorm/layernorm_call.h"

#include <math.h>
#include <stdlib.h>

enum { BATCH, SEQ, WIDTH };

static int64_t rows_of(const struct shape *s)
{
    return s->dim[BATCH] * s->dim[SEQ];
}

static struct work work(const struct kernel *kernel, const struct shape *s, enum dtype dtype,
                        enum math math)
{
    (void)math;
    bool residual = kernel == &layernorm_residual_kernel;
    double width = (double)s->dim[WIDTH], elements = (double)rows_of(s) * width;

    return (struct work) {
        .flops = (residual ? 9 : 8) * elements,
        .bytes = ((residual ? 4 : 2) * elements + 2 * width) * (double)dtype_size(dtype),
    };
}

/* A matrix of activations. The mean of 2 is what a one-pass variance would stumble over. */
static struct tensor matrix(const char *name, enum tensor_role role, const struct shape *s,
                            enum dtype dtype, double mean)
{
    return (struct tensor) { .name = name,
                             .role = role,
                             .dtype = dtype,
                             .rank = 2,
                             .extent = { rows_of(s), s->dim[WIDTH] },
                             .mean = mean,
                             .scale = 1 };
}

static struct tensor vector(const char *name, const struct shape *s, enum dtype dtype, double mean)
{
    return (struct tensor) { .name = name,
                             .role = TENSOR_WEIGHT,
                             .dtype = dtype,
                             .rank = 1,
                             .extent = { s->dim[WIDTH] },
                             .mean = mean,
                             .scale = 0.25 };
}

static int plain_layout(const struct kernel *kernel, const struct shape *s, enum dtype dtype,
                        struct tensor *t)
{
    (void)kernel;
    t[LAYERNORM_PLAIN_X] = matrix("x", TENSOR_IN, s, dtype, 2);
    t[LAYERNORM_PLAIN_GAIN] = vector("gain", s, dtype, 1);
    t[LAYERNORM_PLAIN_BIAS] = vector("bias", s, dtype, 0);
    t[LAYERNORM_PLAIN_Y] = matrix("y", TENSOR_OUT, s, dtype, 0);
    return LAYERNORM_PLAIN_NR;
}

static int residual_layout(const struct kernel *kernel, const struct shape *s, enum dtype dtype,
                           struct tensor *t)
{
    (void)kernel;
    t[LAYERNORM_RESIDUAL_X] = matrix("x", TENSOR_IN, s, dtype, 2);
    t[LAYERNORM_RESIDUAL_DELTA] = matrix("delta", TENSOR_IN, s, dtype, 0);
    t[LAYERNORM_RESIDUAL_GAIN] = vector("gain", s, dtype, 1);
    t[LAYERNORM_RESIDUAL_BIAS] = vector("bias", s, dtype, 0);
    t[LAYERNORM_RESIDUAL_SUM] = matrix("sum", TENSOR_OUT, s, dtype, 0);
    t[LAYERNORM_RESIDUAL_Y] = matrix("y", TENSOR_OUT, s, dtype, 0);
    return LAYERNORM_RESIDUAL_NR;
}

static double mean_of(const double *x, int64_t n)
{
    double sum = 0;

    for (int64_t j = 0; j < n; j++)
        sum += x[j];
    return sum / (double)n;
}

static double variance_of(const double *x, int64_t n, double mean)
{
    double sum = 0;

    for (int64_t j = 0; j < n; j++)
        sum += (x[j] - mean) * (x[j] - mean);
    return sum / (double)n;
}

static void normalise(double *row, int64_t n, const struct tensor *gain, const struct tensor *bias)
{
    double mean = mean_of(row, n);
    double scale = 1 / sqrt(variance_of(row, n, mean) + LAYERNORM_EPS);

    for (int64_t j = 0; j < n; j++)
        row[j] = (row[j] - mean) * scale * tensor_get(gain, j) + tensor_get(bias, j);
}

static void plain_oracle(const struct kernel *kernel, const struct shape *s, const struct tensor *t,
                         int out, const int64_t *rows, size_t nr_rows, double *expected)
{
    (void)kernel, (void)out;
    int64_t width = s->dim[WIDTH];

    for (size_t i = 0; i < nr_rows; i++) {
        double *row = expected + i * (size_t)width;
        host_doubles(&t[LAYERNORM_PLAIN_X], rows[i] * width, width, row);
        normalise(row, width, &t[LAYERNORM_PLAIN_GAIN], &t[LAYERNORM_PLAIN_BIAS]);
    }
}

static void residual_oracle(const struct kernel *kernel, const struct shape *s,
                            const struct tensor *t, int out, const int64_t *rows, size_t nr_rows,
                            double *expected)
{
    (void)kernel;
    int64_t width = s->dim[WIDTH];
    double *delta = memory_zeroed((size_t)width, sizeof(*delta));

    for (size_t i = 0; i < nr_rows; i++) {
        double *row = expected + i * (size_t)width;
        host_doubles(&t[LAYERNORM_RESIDUAL_X], rows[i] * width, width, row);
        host_doubles(&t[LAYERNORM_RESIDUAL_DELTA], rows[i] * width, width, delta);
        for (int64_t j = 0; j < width; j++)
            row[j] += delta[j];
        if (out == LAYERNORM_RESIDUAL_Y)
            normalise(row, width, &t[LAYERNORM_RESIDUAL_GAIN], &t[LAYERNORM_RESIDUAL_BIAS]);
    }
    free(delta);
}

static void oracle_cost(const struct kernel *kernel, const struct shape *s, double *fixed,
                        double *per_row)
{
    (void)kernel;
    *fixed = 0;
    *per_row = 20 * (double)s->dim[WIDTH];
}

/*
 * With mean 2 and spread 1, x - mean loses up to eps/2 of |x| = 8 and is up to 5.5 large itself;
 * reciprocal root, gain, bias and store add half an eps each to a result of up to 5.5 * 2 against
 * an rms of 1: 16 eps covers them. Adding up `width` numbers of mean 2 one after the other errs
 * by eps/2 of a sum that grows to 2 width: a random walk of 0.3 eps 2 width sqrt(width/3), so
 * 0.35 eps sqrt(width) in the mean, three times that at most, times a gain of up to 2.4.
 * All of that is relative to the spread of a row, which for few columns is small by chance: the
 * smallest of `rows` variances of width - 1 degrees of freedom is near rows^(-2 / (width - 1)).
 */
static double tolerance(const struct kernel *kernel, const struct shape *s, enum dtype dtype,
                        enum math math)
{
    (void)kernel;
    double width = (double)s->dim[WIDTH];
    double spread = pow((double)rows_of(s), -1 / fmax(width - 1, 1));
    double rounding =
        HOST_FP32_EPS * (16 + 2.5 * sqrt(width)) / sqrt(spread * spread + LAYERNORM_EPS);

    return rounding + 6 * host_coarse_epsilon(dtype, math);
}

struct layernorm layernorm_of(const struct call *call)
{
    const struct tensor *t = call->tensor;
    bool residual = call->kernel == &layernorm_residual_kernel;

    return (struct layernorm) {
        .rows = tensor_rows(&t[0]),
        .width = tensor_cols(&t[0]),
        .x = t[0].data,
        .delta = residual ? t[LAYERNORM_RESIDUAL_DELTA].data : NULL,
        .sum = residual ? t[LAYERNORM_RESIDUAL_SUM].data : NULL,
        .gain = t[residual ? LAYERNORM_RESIDUAL_GAIN : LAYERNORM_PLAIN_GAIN].data,
        .bias = t[residual ? LAYERNORM_RESIDUAL_BIAS : LAYERNORM_PLAIN_BIAS].data,
        .y = t[residual ? LAYERNORM_RESIDUAL_Y : LAYERNORM_PLAIN_Y].data,
        .threads = host_threads(call),
    };
}

/* nano, tile-large, gpt2 at 4 x 64 tokens, and far beyond caches. */
static const struct shape shapes[] = {
    { { 4, 64, 48 } },
    { { 4, 64, 256 } },
    { { 4, 64, 768 } },
    { { 4, 1024, 3072 } },
};

static const struct shape test_shapes[] = {
    { { 1, 1, 1 } },     { { 1, 255, 1 } },  { { 3, 85, 2 } },   { { 1, 1, 17 } },
    { { 2, 63, 48 } },   { { 1, 65, 100 } }, { { 1, 64, 257 } }, { { 5, 13, 768 } },
    { { 1, 3, 4099 } },  { { 3, 1, 512 } },  { { 1, 7, 1024 } }, { { 2, 1, 6000 } },
    { { 1, 3, 16384 } }, { { 1, 40, 64 } },  { { 1, 33, 112 } },
};

const struct kernel layernorm_plain_kernel = {
    .name = "layernorm/plain",
    .summary = "y = norm(x) gain + bias over the last axis",
    .dims = { "batch", "seq", "width" },
    .work = work,
    .layout = plain_layout,
    .oracle = plain_oracle,
    .oracle_cost = oracle_cost,
    .tolerance = tolerance,
    .shapes = shapes,
    .nr_shapes = sizeof(shapes) / sizeof(shapes[0]),
    .test_shapes = test_shapes,
    .nr_test_shapes = sizeof(test_shapes) / sizeof(test_shapes[0]),
};

const struct kernel layernorm_residual_kernel = {
    .name = "layernorm/residual",
    .summary = "sum = x + delta, y = norm(sum) gain + bias, both written",
    .dims = { "batch", "seq", "width" },
    .work = work,
    .layout = residual_layout,
    .oracle = residual_oracle,
    .oracle_cost = oracle_cost,
    .tolerance = tolerance,
    .shapes = shapes,
    .nr_shapes = sizeof(shapes) / sizeof(shapes[0]),
    .test_shapes = test_shapes,
    .nr_test_shapes = sizeof(test_shapes) / sizeof(test_shapes[0]),
};

const struct kernel *const layernorm_kernels[] = {
    &layernorm_plain_kernel,
    &layernorm_residual_kernel,
    NULL,
};
