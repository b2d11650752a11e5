/* SPDX-License-Identifier: MIT */
#include "kernels/pointwise/pointwise.h"

#include "kernels/host.h"
#include "kernels/pointwise/pointwise_call.h"

#include <math.h>

enum { BATCH, SEQ, WIDTH };

/* What the four kernels differ in. Found from kernel->config. */
struct form {
    const char *operand; /* NULL: none */
    double flops;
    enum pointwise_op op;
    bool whole; /* the operand is a matrix, not a row */
    bool gelu;
};

static const struct form forms[] = {
    [POINTWISE_GELU] = { .op = POINTWISE_GELU, .flops = 8, .gelu = true },
    [POINTWISE_BIAS] = { .op = POINTWISE_BIAS, .flops = 1, .operand = "bias" },
    [POINTWISE_BIAS_GELU] = { .op = POINTWISE_BIAS_GELU,
                              .flops = 9,
                              .operand = "bias",
                              .gelu = true },
    [POINTWISE_RESIDUAL] = { .op = POINTWISE_RESIDUAL,
                             .flops = 1,
                             .operand = "delta",
                             .whole = true },
};

double pointwise_gelu_double(double x)
{
    const double sqrt_2_over_pi = 0.79788456080286535588;

    return 0.5 * x * (1 + tanh(sqrt_2_over_pi * (x + 0.044715 * x * x * x)));
}

float pointwise_gelu_float(float x)
{
    const float sqrt_2_over_pi = 0.79788456080286535588f;

    return 0.5f * x * (1 + tanhf(sqrt_2_over_pi * (x + 0.044715f * x * x * x)));
}

static int64_t rows_of(const struct shape *s)
{
    return s->dim[BATCH] * s->dim[SEQ];
}

static struct work work(const struct kernel *kernel, const struct shape *s, enum dtype dtype,
                        enum math math)
{
    (void)math;
    const struct form *form = kernel->config;
    double rows = (double)rows_of(s), width = (double)s->dim[WIDTH];
    double operand = form->operand == NULL ? 0 : form->whole ? rows * width : width;

    return (struct work) {
        .flops = form->flops * rows * width,
        .bytes = (2 * rows * width + operand) * (double)dtype_size(dtype),
    };
}

static int layout(const struct kernel *kernel, const struct shape *s, enum dtype dtype,
                  struct tensor *t)
{
    const struct form *form = kernel->config;
    int nr = 0;
    const struct tensor matrix = { .role = TENSOR_IN,
                                   .dtype = dtype,
                                   .rank = 2,
                                   .extent = { rows_of(s), s->dim[WIDTH] },
                                   .scale = 1 };

    t[nr] = matrix;
    t[nr++].name = "x";
    if (form->operand != NULL) {
        t[nr] = matrix;
        if (!form->whole) {
            t[nr].role = TENSOR_WEIGHT;
            t[nr].rank = 1;
            t[nr].extent[0] = s->dim[WIDTH];
            t[nr].extent[1] = 0;
        }
        t[nr++].name = form->operand;
    }
    t[nr] = matrix;
    t[nr].role = TENSOR_OUT;
    t[nr++].name = "y";
    return nr;
}

static void oracle(const struct kernel *kernel, const struct shape *s, const struct tensor *t,
                   int out, const int64_t *rows, size_t nr_rows, double *expected)
{
    const struct form *form = kernel->config;
    int64_t width = s->dim[WIDTH];

    (void)out;
    for (size_t i = 0; i < nr_rows; i++) {
        double *y = expected + i * (size_t)width;
        host_doubles(&t[0], rows[i] * width, width, y);
        for (int64_t j = 0; j < width; j++) {
            if (form->operand != NULL)
                y[j] += tensor_get(&t[1], (form->whole ? rows[i] * width : 0) + j);
            if (form->gelu)
                y[j] = pointwise_gelu_double(y[j]);
        }
    }
}

static void oracle_cost(const struct kernel *kernel, const struct shape *s, double *fixed,
                        double *per_row)
{
    const struct form *form = kernel->config;

    *fixed = 0;
    *per_row = (form->gelu ? 40.0 : 2.0) * (double)s->dim[WIDTH];
}

/*
 * The largest of 10^7 normal inputs is 5.5, or 7.8 after a sum of two. A sum is rounded once, by
 * eps/2: 8/1.4 rms times eps/2 is below 3 eps. A gelu (rms 0.65; of a sum 0.96) of x errs by at
 * most |x| times a few eps, through the cubic, the exponential and the division; with 4 eps and
 * the largest x that is 4 * 7.8 / 0.96 eps.
 */
static double tolerance(const struct kernel *kernel, const struct shape *s, enum dtype dtype,
                        enum math math)
{
    const struct form *form = kernel->config;
    double few = host_few_values((double)rows_of(s) * (double)s->dim[WIDTH]);
    double rounding = (form->gelu ? 34 : 4) * HOST_FP32_EPS;

    return few * (rounding + 6 * host_coarse_epsilon(dtype, math));
}

struct pointwise pointwise_of(const struct call *call)
{
    const struct form *form = call->kernel->config;

    return (struct pointwise) {
        .op = form->op,
        .rows = tensor_rows(&call->tensor[0]),
        .width = tensor_cols(&call->tensor[0]),
        .x = call->tensor[0].data,
        .operand = form->operand != NULL ? call->tensor[1].data : NULL,
        .y = call->tensor[form->operand != NULL ? 2 : 1].data,
        .threads = host_threads(call),
    };
}

/* The MLP's hidden layer and the residual stream of nano and tile-large, and far beyond caches. */
static const struct shape shapes[] = {
    { { 4, 64, 48 } },
    { { 4, 64, 192 } },
    { { 4, 64, 1024 } },
    { { 4, 1024, 3072 } },
};

static const struct shape test_shapes[] = {
    { { 1, 1, 1 } },  { { 1, 255, 1 } },  { { 3, 85, 17 } },  { { 1, 1, 257 } },  { { 2, 63, 48 } },
    { { 1, 7, 33 } }, { { 1, 64, 100 } }, { { 1, 65, 768 } }, { { 2, 1, 3071 } },
};

#define POINTWISE_KERNEL(id, label, text)                                                          \
    {                                                                                              \
        .name = (label), .summary = (text), .dims = { "batch", "seq", "width" },                   \
        .config = &forms[id], .work = work, .layout = layout, .oracle = oracle,                    \
        .oracle_cost = oracle_cost, .tolerance = tolerance, .shapes = shapes,                      \
        .nr_shapes = sizeof(shapes) / sizeof(shapes[0]), .test_shapes = test_shapes,               \
        .nr_test_shapes = sizeof(test_shapes) / sizeof(test_shapes[0]),                            \
    }

const struct kernel pointwise_gelu_kernel =
    POINTWISE_KERNEL(POINTWISE_GELU, "pointwise/gelu", "y = gelu(x), the tanh form");
const struct kernel pointwise_bias_kernel =
    POINTWISE_KERNEL(POINTWISE_BIAS, "pointwise/bias", "y = x + bias, a row for all rows");
const struct kernel pointwise_bias_gelu_kernel =
    POINTWISE_KERNEL(POINTWISE_BIAS_GELU, "pointwise/bias_gelu", "y = gelu(x + bias)");
const struct kernel pointwise_residual_kernel =
    POINTWISE_KERNEL(POINTWISE_RESIDUAL, "pointwise/residual", "y = x + delta, two matrices");

const struct kernel *const pointwise_kernels[] = {
    &pointwise_gelu_kernel,
    &pointwise_bias_kernel,
    &pointwise_bias_gelu_kernel,
    &pointwise_residual_kernel,
    NULL,
};
