/* z = 1.5 x + y, in 30 lines. cc -shared -fPIC -O2 -o template.so template.c */
#include <harness/plugin.h>

static int32_t layout(const int64_t *n, int32_t dtype, struct harness_tensor *t)
{
    t[0] = harness_vector("x", HARNESS_IN, dtype, *n);
    t[1] = harness_vector("y", HARNESS_IN, dtype, *n);
    t[2] = harness_vector("z", HARNESS_OUT, dtype, *n);
    return 3;
}

static void oracle(const int64_t *n, const struct harness_tensor *t, int32_t output,
                   const int64_t *rows, size_t nr_rows, double *expected)
{
    const float *x = t[0].data, *y = t[1].data;
    (void)output, (void)rows, (void)nr_rows; /* one output, of one row */
    for (int64_t i = 0; i < *n; i++)
        expected[i] = 1.5 * (double)x[i] + (double)y[i];
}

static void launch(const struct harness_call *call)
{
    const float *x = call->tensor[0].data, *y = call->tensor[1].data;
    for (int64_t i = 0; i < *call->size; i++)
        ((float *)call->tensor[2].data)[i] = 1.5F * x[i] + y[i];
}

static const char *const dims[] = { "n" };
static const int64_t sizes[] = { 1 << 12, 1 << 16, 1 << 20 };
static const struct harness_variant variants[] = { { .name = "loop", .launch = launch } };
static const struct harness_kernel kernels[] = { { "mine/template", "z = 1.5 x + y", dims, 1, sizes,
                                                   3, .layout = layout, .oracle = oracle,
                                                   .variants = variants, .nr_variants = 1 } };
HARNESS_PLUGIN(kernels);
