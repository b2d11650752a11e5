/* SPDX-License-Identifier: MIT */
/*
 * A kernel that copies its input: small, exactly known, and the subject of the tests of the
 * harness itself (with the fake device, whose clock is scripted).
 */
#include "core/kernel.h"

enum { BATCH, SEQ };

static struct work work(const struct kernel *k, const struct shape *s, enum dtype dtype,
                        enum math math)
{
    (void)k, (void)math;
    double elements = (double)s->dim[BATCH] * (double)s->dim[SEQ];

    return (struct work) { elements, 2 * elements * (double)dtype_size(dtype) };
}

static int layout(const struct kernel *k, const struct shape *s, enum dtype dtype, struct tensor *t)
{
    (void)k;
    t[0] = (struct tensor) { .name = "x",
                             .role = TENSOR_IN,
                             .dtype = dtype,
                             .rank = 2,
                             .extent = { s->dim[BATCH], s->dim[SEQ] },
                             .fill = FILL_NORMAL,
                             .scale = 1 };
    t[1] = t[0];
    t[1].name = "y";
    t[1].role = TENSOR_OUT;
    return 2;
}

static void oracle(const struct kernel *k, const struct shape *s, const struct tensor *t, int out,
                   const int64_t *rows, size_t nr_rows, double *expected)
{
    (void)k;
    (void)out;
    int64_t cols = s->dim[SEQ];

    for (size_t i = 0; i < nr_rows; i++)
        for (int64_t j = 0; j < cols; j++)
            *expected++ = tensor_get(&t[0], rows[i] * cols + j);
}

static void oracle_cost(const struct kernel *k, const struct shape *s, double *fixed,
                        double *per_row)
{
    (void)k;
    *fixed = 0;
    *per_row = (double)s->dim[SEQ];
}

static double tolerance(const struct kernel *k, const struct shape *s, enum dtype dtype,
                        enum math math)
{
    (void)k;
    (void)s;
    (void)dtype;
    (void)math;
    return 0; /* a copy is exact */
}

static const struct shape shapes[] = {
    { { 1, 16 } }, { { 2, 16 } }, { { 3, 16 } }, { { 4, 16 } }, { { 5, 16 } }, { { 6, 16 } },
};

extern const struct kernel null_copy;
const struct kernel null_copy = {
    .name = "null/copy",
    .summary = "y = x: the subject of the harness's own tests",
    .dims = { "batch", "seq" },
    .work = work,
    .layout = layout,
    .oracle = oracle,
    .oracle_cost = oracle_cost,
    .tolerance = tolerance,
    .shapes = shapes,
    .nr_shapes = sizeof(shapes) / sizeof(shapes[0]),
    .test_shapes = shapes,
    .nr_test_shapes = 2,
};

extern const struct kernel *const null_kernels[];
const struct kernel *const null_kernels[] = { &null_copy, NULL };
