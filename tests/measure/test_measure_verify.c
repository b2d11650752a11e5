/* SPDX-License-Identifier: MIT */
/*
 * The check against the oracle: which rows it asks for, what it finds and where, what it must not
 * overlook. Features: U-02, U-04 (nothing is timed that did not match the oracle).
 */
#include "testing.h"

#include "core/registry.h"
#include "device/devices.h"
#include "measure/oracle_check.h"

#include <stdbool.h>
#include <stdlib.h>

/* y = x, with an oracle so dear that only 32 rows of it can be paid, or that knows no number. */
enum { ROWS, COLS, DEAR, NO_NUMBER };

static int layout(const struct kernel *k, const struct shape *s, enum dtype dtype, struct tensor *t)
{
    (void)k;
    t[0] = (struct tensor) { .name = "x",
                             .dtype = dtype,
                             .rank = 2,
                             .extent = { s->dim[ROWS], s->dim[COLS] },
                             .fill = FILL_NORMAL,
                             .mean = 10,
                             .scale = 1 };
    if (dtype == DTYPE_INT32) { /* all bits set, as NaN has them */
        t[0].fill = FILL_CONST;
        t[0].mean = -1;
    }
    t[1] = t[2] = t[0];
    t[1].name = "y";
    t[1].role = TENSOR_OUT;
    t[2].name = "cache";
    t[2].role = TENSOR_INOUT;
    return 3;
}

static void oracle(const struct kernel *k, const struct shape *s, const struct tensor *t, int out,
                   const int64_t *rows, size_t nr_rows, double *expected)
{
    (void)k;
    assert_int_equal(out, 1);
    for (size_t i = 0; i < nr_rows; i++)
        for (int64_t j = 0; j < s->dim[COLS]; j++)
            *expected++ =
                s->dim[NO_NUMBER] ? (double)NAN : tensor_get(&t[0], rows[i] * s->dim[COLS] + j);
}

static void oracle_cost(const struct kernel *k, const struct shape *s, double *fixed,
                        double *per_row)
{
    (void)k;
    *fixed = 0;
    *per_row = s->dim[DEAR] ? 1e9 : 1;
}

static double tolerance(const struct kernel *k, const struct shape *s, enum dtype dtype,
                        enum math math)
{
    (void)k;
    (void)s;
    (void)math;
    return dtype == DTYPE_BF16 ? 0.01 : 1e-6;
}

static const struct kernel copy_kernel = {
    .name = "test/copy",
    .dims = { "rows", "cols", "dear", "no_number" },
    .layout = layout,
    .oracle = oracle,
    .oracle_cost = oracle_cost,
    .tolerance = tolerance,
};
static const struct variant fp32 = { .name = "fp32", .kernel = &copy_kernel, .dtype = DTYPE_FP32 };
static const struct variant bf16 = { .name = "bf16", .kernel = &copy_kernel, .dtype = DTYPE_BF16 };
static const struct variant int32 = { .name = "int32",
                                      .kernel = &copy_kernel,
                                      .dtype = DTYPE_INT32 };
static const struct variant *const types[] = { &fp32, &int32 };

struct fixture {
    struct device device;
    struct buffers b;
    struct check check;
};

/* Fresh inputs, poisoned outputs, and the expected rows. */
static void begin(struct fixture *f, const struct variant *v, struct shape shape, bool all_rows,
                  uint64_t seed)
{
    struct benchmark bench = { v, shape, CACHE_WARM, NULL };
    struct error err;

    assert_ok(device_open(&f->device, "fake", &err), &err);
    assert_ok(buffers_init(&f->b, &bench, &f->device, &err), &err);
    assert_ok(buffers_fill(&f->b, seed, &err), &err);
    assert_ok(buffers_poison_outputs(&f->b, &err), &err);
    double bound = tolerance(v->kernel, &f->b.shape, v->dtype, v->math);

    check_init(&f->check, &f->b, v->math, bound, all_rows, seed);
}

static void end(struct fixture *f)
{
    check_release(&f->check);
    buffers_release(&f->b);
    device_close(&f->device);
}

static void copy_right(struct fixture *f)
{
    memcpy(f->b.on_device[1].data, f->b.on_device[0].data, (size_t)tensor_bytes(&f->b.host[0]));
}

static bool outputs_right(struct fixture *f)
{
    struct error err = { "" };
    bool right = check_outputs(&f->check, &f->b, &err);

    assert_string_equal(err.message, "");
    return right;
}

TEST(right_results_pass)
{
    struct fixture f;
    struct error err;

    begin(&f, &fp32, (struct shape) { { 50, 7 } }, false, 1);
    assert_true(f.check.checked == 1);
    assert_int_equal(f.check.outputs[0].nr_rows, 50);
    copy_right(&f);
    assert_true(outputs_right(&f));
    assert_true(f.check.max_error == 0);
    assert_true(check_inputs_unchanged(&f.check, &f.b, &err));
    assert_true(outputs_right(&f)); /* and again, as after timing */
    end(&f);
}

TEST(nothing_written_is_found)
{
    static const char *const says[] = { "y[0,0] = nan, expected ",
                                        "y[0,0] = -2.14745935e+09, expected -1" };
    struct fixture f;

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        begin(&f, types[i], (struct shape) { { 3, 4 } }, false, 1);
        assert_false(outputs_right(&f));
        assert_true(isnan(f.check.max_error));
        assert_memory_equal(f.check.where, says[i], strlen(says[i]));
        copy_right(&f);
        check_again(&f.check, f.check.tolerance);
        assert_true(outputs_right(&f));
        end(&f);
    }
}

/* The error is relative to the rms of the expected values, which is near 10 here. */
TEST(one_wrong_element_is_found)
{
    struct fixture f;

    begin(&f, &fp32, (struct shape) { { 20, 5 } }, false, 2);
    copy_right(&f);
    float *y = f.b.on_device[1].data;
    y[13 * 5 + 2] += 1;
    y[7 * 5 + 1] += 0.5F; /* less wrong: not the one to be named */
    assert_false(outputs_right(&f));
    assert_memory_equal(f.check.where, "y[13,2] = ", 10);
    assert_close(f.check.max_error, 1 / f.check.outputs[0].rms, 1e-6);
    assert_close(f.check.outputs[0].rms, 10, 1);
    end(&f);
}

TEST(the_tolerance_is_the_dtypes)
{
    struct fixture f;

    begin(&f, &bf16, (struct shape) { { 4, 4 } }, false, 3);
    assert_true(f.check.tolerance == 0.01);
    copy_right(&f);
    assert_true(outputs_right(&f));
    double x = tensor_get(&f.b.on_device[1], 5);
    tensor_set(&f.b.on_device[1], 5, x + 0.06); /* one step of bf16 near 10 */
    assert_true(outputs_right(&f));
    assert_true(f.check.max_error > 0 && f.check.max_error <= 0.01);
    tensor_set(&f.b.on_device[1], 5, x + 0.2);
    assert_false(outputs_right(&f));
    end(&f);
}

/* An infinite result is wrong, however large the error could be. */
TEST(infinity_is_wrong)
{
    struct fixture f;

    begin(&f, &fp32, (struct shape) { { 4, 4 } }, false, 4);
    copy_right(&f);
    ((float *)f.b.on_device[1].data)[9] = INFINITY;
    assert_false(outputs_right(&f));
    assert_true(isnan(f.check.max_error));
    assert_memory_equal(f.check.where, "y[2,1] = inf", 12);
    end(&f);
}

TEST(an_oracle_without_a_number_fails_the_check)
{
    struct fixture f;

    begin(&f, &fp32, (struct shape) { { 4, 4, 0, 1 } }, false, 5);
    copy_right(&f);
    assert_false(outputs_right(&f));
    assert_true(isnan(f.check.max_error));
    assert_non_null(strstr(f.check.where, "y[0,0]"));
    end(&f);
}

static bool chosen(const struct expected *e, int64_t row)
{
    for (size_t i = 0; i < e->nr_rows; i++)
        if (e->rows[i] == row)
            return true;
    return false;
}

/* Both ends, in ascending order, none twice; the middle differs with the seed. */
TEST(dear_oracles_are_asked_for_some_rows)
{
    enum { N = 1000 };
    struct fixture f, other;
    bool same = true;

    begin(&f, &fp32, (struct shape) { { N, 3, 1 } }, false, 6);
    begin(&other, &fp32, (struct shape) { { N, 3, 1 } }, false, 7);
    struct expected *e = &f.check.outputs[0];
    assert_true(e->nr_rows > 24 && e->nr_rows <= 32);
    for (size_t i = 1; i < e->nr_rows; i++)
        assert_true(e->rows[i - 1] < e->rows[i]);
    for (int64_t row = 0; row < 4; row++)
        assert_true(chosen(e, row));
    for (int64_t row = N - 20; row < N; row++)
        assert_true(chosen(e, row));
    assert_close(f.check.checked, (double)e->nr_rows / N, 1e-12);
    for (size_t i = 0; i < e->nr_rows; i++)
        same &= chosen(&other.check.outputs[0], e->rows[i]);
    assert_false(same);
    end(&f);
    end(&other);
}

TEST(all_rows_ignores_the_price)
{
    struct fixture f;

    begin(&f, &fp32, (struct shape) { { 200, 3, 1 } }, true, 6);
    assert_int_equal(f.check.outputs[0].nr_rows, 200);
    assert_true(f.check.checked == 1);
    end(&f);
    begin(&f, &fp32, (struct shape) { { 32, 3, 1 } }, false, 6); /* no more rows than that */
    assert_int_equal(f.check.outputs[0].nr_rows, 32);
    end(&f);
}

static void poison_element(struct tensor *t, int64_t i)
{
    struct tensor one = { .dtype = t->dtype, .rank = 1, .extent = { 1 } };

    tensor_poison(&one, (char *)t->data + (size_t)i * dtype_size(t->dtype));
}

/* A row that the oracle was not asked for must still have been written. */
TEST(poison_beside_the_chosen_rows_is_found)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        struct fixture f;
        int64_t row = 4;
        char where[32];
        begin(&f, types[i], (struct shape) { { 1000, 3, 1 } }, false, 8);
        while (chosen(&f.check.outputs[0], row))
            row++;
        copy_right(&f);
        struct tensor *y = &f.b.on_device[1];
        tensor_set(y, row * 3 + 1, 1000); /* not compared */
        assert_true(outputs_right(&f));
        poison_element(y, row * 3 + 1);
        assert_false(outputs_right(&f));
        snprintf(where, sizeof(where), "y[%lld,1] = ", (long long)row);
        assert_memory_equal(f.check.where, where, strlen(where));
        end(&f);
    }
}

TEST(changed_inputs_are_found)
{
    struct fixture f;
    struct error err = { "" };

    begin(&f, &fp32, (struct shape) { { 5, 5 } }, false, 9);
    copy_right(&f);
    ((float *)f.b.on_device[2].data)[3] = 0; /* read and written: may change */
    assert_true(check_inputs_unchanged(&f.check, &f.b, &err));
    ((float *)f.b.on_device[0].data)[24] += 1;
    assert_false(check_inputs_unchanged(&f.check, &f.b, &err));
    assert_string_equal(f.check.where, "input x was changed");
    assert_string_equal(err.message, "");
    end(&f);
}

static int no_download(struct device *d, void *to, const void *from, size_t bytes,
                       struct error *err)
{
    (void)d;
    (void)to;
    (void)from;
    (void)bytes;
    return error_set(err, "the bus is on strike");
}

/* A failed download is the device's fault, not a wrong result: no place is named. */
TEST(failed_downloads_are_no_verdict)
{
    struct fixture f;
    struct error err = { "" };

    begin(&f, &fp32, (struct shape) { { 5, 5 } }, false, 10);
    copy_right(&f);
    ((float *)f.b.on_device[1].data)[0] += 1e-6F; /* within tolerance: names a place all the same */
    assert_true(outputs_right(&f));
    struct device_class broken = *f.device.ops;
    broken.download = no_download;
    f.device.ops = &broken;
    assert_false(check_inputs_unchanged(&f.check, &f.b, &err));
    assert_string_equal(f.check.where, "");
    assert_string_equal(err.message, "the bus is on strike");
    assert_false(check_outputs(&f.check, &f.b, &err));
    assert_string_equal(f.check.where, "");
    end(&f);
}

/* The same seed gives the same inputs, another seed others, and no two tensors are alike. */
TEST(inputs_are_fresh_from_the_seed)
{
    enum { N = 40000 };
    struct fixture a, b, c;
    double cross = 0;

    begin(&a, &fp32, (struct shape) { { N / 10, 10 } }, false, 11);
    begin(&b, &fp32, (struct shape) { { N / 10, 10 } }, false, 11);
    begin(&c, &fp32, (struct shape) { { N / 10, 10 } }, false, 12);
    const float *x = a.b.host[0].data, *cache = a.b.host[2].data;
    assert_memory_equal(x, b.b.host[0].data, N * sizeof(*x));
    assert_memory_not_equal(x, c.b.host[0].data, N * sizeof(*x));
    assert_memory_equal(x, a.b.on_device[0].data, N * sizeof(*x));
    for (int i = 0; i < N; i++)
        cross += ((double)x[i] - 10) * ((double)cache[i] - 10);
    assert_close(cross / N, 0, 5 / sqrt(N)); /* correlation, for unit variances */
    end(&a);
    end(&b);
    end(&c);
}

RUN_TESTS(NULL, NULL)
