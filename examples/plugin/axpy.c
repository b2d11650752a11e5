/* SPDX-License-Identifier: MIT */
/* A kernel of one's own: z = a x + y. cc -shared -fPIC -O2 -o axpy.so axpy.c */
#include <harness/plugin.h>

static const float a = 1.5F;

static int32_t layout(const int64_t *size, int32_t dtype, struct harness_tensor *t)
{
    for (int i = 0; i < 3; i++) /* x, y and z have `n` elements each */
        t[i] = (struct harness_tensor) {
            .rank = 1, .extent = { size[0] }, .dtype = dtype, .scale = 1
        };
    t[0].name = "x";
    t[1].name = "y";
    t[2].name = "z";
    t[2].role = HARNESS_OUT;
    return 3;
}

static void oracle(const int64_t *size, const struct harness_tensor *t, int32_t output,
                   const int64_t *rows, size_t nr_rows, double *expected)
{
    const float *x = t[0].data, *y = t[1].data;
    (void)output, (void)rows, (void)nr_rows; /* one output, of one row */
    for (int64_t i = 0; i < size[0]; i++)
        expected[i] = (double)a * (double)x[i] + (double)y[i];
}

static double tolerance(const int64_t *size, int32_t dtype)
{
    (void)size, (void)dtype;
    return 1e-6; /* two roundings of 2^-24, of values up to five times the root mean square */
}

static void work(const int64_t *size, int32_t dtype, double *flops, double *bytes)
{
    (void)dtype;
    *flops = 2.0 * (double)size[0];
    *bytes = 3.0 * sizeof(float) * (double)size[0];
}

static void launch(const struct harness_call *call)
{
    const float *x = call->tensor[0].data, *y = call->tensor[1].data;
    float *z = call->tensor[2].data;
    for (int64_t i = 0; i < call->size[0]; i++)
        z[i] = a * x[i] + y[i];
}

static const char *const dims[] = { "n" };
/* Odd ones; not 1: a single output may be far smaller than its terms, whose rounding it shows. */
static const int64_t sizes[] = { 1 << 12, 1 << 16, 1 << 20 }, test_sizes[] = { 7, 37, 4099 };
static const struct harness_variant variants[] = {
    { .name = "loop", .summary = "one by one", .launch = launch }
};
static const struct harness_kernel kernels[] = { {
    .name = "mine/axpy",
    .summary = "z = a x + y",
    .dims = dims,
    .nr_dims = 1,
    .sizes = sizes,
    .nr_sizes = 3,
    .test_sizes = test_sizes,
    .nr_test_sizes = 3,
    .layout = layout,
    .work = work,
    .oracle = oracle,
    .tolerance = tolerance,
    .variants = variants,
    .nr_variants = 1,
} };
HARNESS_PLUGIN(kernels);
