/* SPDX-License-Identifier: MIT */
/* The kernel of device_method.cu for `harness run --plugin`: what ci/nvbench_method.py compares. */
#include "method_copy.h"

#include <harness/plugin.h>

static const char *const dims[] = { "rows", "columns" };

static int32_t layout(const int64_t *size, int32_t dtype, struct harness_tensor *tensor)
{
    tensor[0] = harness_vector("x", HARNESS_IN, dtype, size[0]);
    tensor[1] = harness_vector("y", HARNESS_OUT, dtype, size[0]);
    for (int i = 0; i < 2; i++) {
        tensor[i].rank = 2;
        tensor[i].extent[1] = size[1];
    }
    return 2;
}

static void work(const int64_t *size, int32_t, double *flops, double *bytes)
{
    *flops = 0;
    *bytes = 2.0 * (double)(size[0] * size[1]) * sizeof(float);
}

static void oracle(const int64_t *size, const struct harness_tensor *tensor, int32_t,
                   const int64_t *rows, size_t nr_rows, double *expected)
{
    const float *x = static_cast<const float *>(tensor[0].data);

    for (size_t i = 0; i < nr_rows; i++)
        for (int64_t c = 0; c < size[1]; c++)
            *expected++ = x[rows[i] * size[1] + c];
}

/* That of a product of as many numbers: then not all rows are looked at. */
static void oracle_cost(const int64_t *size, double *fixed, double *per_row)
{
    *fixed = 0;
    *per_row = 16.0 * (double)size[1];
}

static void launch(const struct harness_call *call)
{
    method_copy(static_cast<float *>(call->tensor[1].data),
                static_cast<const float *>(call->tensor[0].data), call->size[0] * call->size[1],
                static_cast<cudaStream_t>(call->stream));
}

static const struct harness_variant variants[] = {
    HARNESS_VARIANT("plain", "a number a thread", HARNESS_CUDA, HARNESS_FP32, launch),
};

static struct harness_kernel copy_kernel(void)
{
    struct harness_kernel k =
        HARNESS_KERNEL("method/copy", "y = x", dims, method_sizes, layout, work, oracle, variants);

    k.oracle_cost = oracle_cost;
    return k;
}

static const struct harness_kernel kernels[] = { copy_kernel() };
HARNESS_PLUGIN(kernels);
