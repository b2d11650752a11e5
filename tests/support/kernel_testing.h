/* SPDX-License-Identifier: MIT */
/* One call of a kernel on host memory: seeded inputs, poisoned outputs, comparison in float64. */
#ifndef HARNESS_TESTS_KERNEL_TESTING_H
#define HARNESS_TESTS_KERNEL_TESTING_H

#include "testing.h"

#include "core/kernel.h"
#include "stats/random.h"

#include <stdlib.h>

/* Exact size, so that a sanitizer sees every step too far. */
static inline float *floats_new(int64_t n)
{
    void *p = NULL;

    assert_int_equal(posix_memalign(&p, 64, (size_t)n * sizeof(float)), 0);
    return p;
}

static inline float *floats_random(int64_t n, uint64_t seed)
{
    float *p = floats_new(n);
    struct random r;

    random_seed(&r, seed);
    for (int64_t i = 0; i < n; i++)
        p[i] = (float)random_normal(&r);
    return p;
}

static inline void tensor_fill(struct tensor *t, struct random *r)
{
    const int64_t n = tensor_elements(t);

    for (int64_t i = 0; i < n; i++) {
        if (t->role == TENSOR_OUT)
            tensor_set(t, i, NAN);
        else if (t->fill == FILL_TOKENS)
            ((int32_t *)t->data)[i] = (int32_t)random_below(r, (uint64_t)t->limit);
        else
            tensor_set(t, i, t->mean + t->scale * random_normal(r));
    }
}

/* Tensors of a kernel at a shape, filled, each on a line of its own. Released by call_release(). */
static inline void call_init_as(struct call *call, const struct kernel *k, const struct shape *s,
                                enum dtype dtype, uint64_t seed)
{
    struct random r;

    memset(call, 0, sizeof(*call));
    call->kernel = k;
    call->shape = *s;
    call->nr_tensors = k->layout(k, s, dtype, call->tensor);
    random_seed(&r, seed);
    for (int i = 0; i < call->nr_tensors; i++) {
        struct tensor *t = &call->tensor[i];
        assert_int_equal(posix_memalign(&t->data, 64, (size_t)tensor_bytes(t)), 0);
        tensor_fill(t, &r);
    }
}

static inline void call_init(struct call *call, const struct kernel *k, const struct shape *s,
                             uint64_t seed)
{
    call_init_as(call, k, s, DTYPE_FP32, seed);
}

static inline void call_release(struct call *call)
{
    for (int i = 0; i < call->nr_tensors; i++)
        free(call->tensor[i].data);
}

/* All rows of output `out` by the oracle; freed by the caller. */
static inline double *call_expected(const struct call *call, int out)
{
    const struct tensor *t = &call->tensor[out];
    size_t rows = (size_t)tensor_rows(t);
    int64_t *order = malloc(rows * sizeof(*order));
    double *expected = malloc((size_t)tensor_elements(t) * sizeof(*expected));

    assert_true(order != NULL && expected != NULL);
    for (size_t i = 0; i < rows; i++)
        order[i] = (int64_t)i;
    call->kernel->oracle(call->kernel, &call->shape, call->tensor, out, order, rows, expected);
    free(order);
    return expected;
}

/* max |got - expected| / rms(expected); infinite where anything is not finite. */
static inline double error_of(const float *got, const double *expected, int64_t n)
{
    double most = 0, squares = 0;

    for (int64_t i = 0; i < n; i++) {
        double e = fabs((double)got[i] - expected[i]);
        if (!(e <= most))
            most = isfinite(e) ? e : INFINITY;
        squares += expected[i] * expected[i];
    }
    return most == 0 ? 0 : most / sqrt(squares / (double)n);
}

#endif
