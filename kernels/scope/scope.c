/* SPDX-License-Identifier: MIT */
#include "kernels/scope/scope.h"

enum { RECORD_BYTES = 64 };

static const struct scope_setting on = { .on = true, .rate = 1 };
static const struct scope_setting memory = { .on = true, .memory = true, .rate = 1 };
static const struct scope_setting sampled = { .on = true, .rate = 0.01 };
static const struct scope_setting off = { .on = false };

/* No FLOPs; the records are what has to be written. */
static struct work work(const struct kernel *k, const struct shape *s, enum dtype dtype,
                        enum math math)
{
    (void)math;
    const struct scope_setting *setting = k->config;
    double scopes = (double)s->dim[SCOPE_CALLS] * (double)s->dim[SCOPE_DEPTH];

    return (struct work) { .bytes = setting->rate * scopes * RECORD_BYTES +
                                    SCOPE_COLUMNS * (double)dtype_size(dtype) };
}

static int layout(const struct kernel *k, const struct shape *s, enum dtype dtype, struct tensor *t)
{
    (void)k;
    (void)s;
    t[0] = (struct tensor) {
        .name = "y", .role = TENSOR_OUT, .dtype = dtype, .rank = 2, .extent = { 1, SCOPE_COLUMNS }
    };
    return 1;
}

static void oracle(const struct kernel *k, const struct shape *s, const struct tensor *t, int out,
                   const int64_t *rows, size_t nr_rows, double *expected)
{
    const struct scope_setting *setting = k->config;

    (void)t;
    (void)out;
    (void)rows;
    for (size_t i = 0; i < nr_rows; i++, expected += SCOPE_COLUMNS) {
        expected[SCOPE_ACCOUNTED] = setting->on ? (double)s->dim[SCOPE_CALLS] : 0;
        expected[SCOPE_AS_SET] = 1;
        expected[SCOPE_DROPPED] = 0;
        expected[SCOPE_DEEPEST] = setting->on ? (double)s->dim[SCOPE_DEPTH] : 0;
    }
}

static void oracle_cost(const struct kernel *k, const struct shape *s, double *fixed,
                        double *per_row)
{
    (void)k;
    (void)s;
    *fixed = 0;
    *per_row = SCOPE_COLUMNS;
}

static double tolerance(const struct kernel *k, const struct shape *s, enum dtype dtype,
                        enum math math)
{
    (void)k;
    (void)s;
    (void)dtype;
    (void)math;
    return 0; /* counts are exact */
}

/* Counts go through fp32, and records are kept in memory. */
static const char *refuses(const struct kernel *k, const struct shape *s)
{
    const int64_t most = 1 << 22;

    (void)k;
    return s->dim[SCOPE_CALLS] > most || s->dim[SCOPE_DEPTH] > 1000 ||
                   s->dim[SCOPE_CALLS] * s->dim[SCOPE_DEPTH] > most
               ? "calls * depth is more than 4194304, or depth more than 1000"
               : NULL;
}

static const struct shape shapes[] = { { { 16384, 1 } }, { { 4096, 4 } } };
static const struct shape test_shapes[] = {
    { { 1, 1 } }, { { 1, 7 } }, { { 100, 3 } }, { { 5000, 1 } }
};

#define SCOPE_KERNEL(label, setting, text)                                                         \
    {                                                                                              \
        .name = (label), .summary = (text), .dims = { "calls", "depth" }, .config = &(setting),    \
        .work = work, .layout = layout, .oracle = oracle, .oracle_cost = oracle_cost,              \
        .tolerance = tolerance, .refuses = refuses, .shapes = shapes,                              \
        .nr_shapes = sizeof(shapes) / sizeof(shapes[0]), .test_shapes = test_shapes,               \
        .nr_test_shapes = sizeof(test_shapes) / sizeof(test_shapes[0]),                            \
    }

const struct kernel scope_on_kernel =
    SCOPE_KERNEL("scope/on", on, "calls * depth empty scopes, recorded");
const struct kernel scope_memory_kernel =
    SCOPE_KERNEL("scope/memory", memory, "recorded, with live memory and its peak");
const struct kernel scope_sampled_kernel =
    SCOPE_KERNEL("scope/sampled", sampled, "one outermost scope in a hundred recorded");
const struct kernel scope_off_kernel =
    SCOPE_KERNEL("scope/off", off, "scopes of a profiler that is off");

extern const struct kernel *const scope_kernels[];
const struct kernel *const scope_kernels[] = {
    &scope_on_kernel, &scope_memory_kernel, &scope_sampled_kernel, &scope_off_kernel, NULL,
};
