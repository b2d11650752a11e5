/* SPDX-License-Identifier: MIT */
/* Storage types against exact values, extents that overflow, shapes, and what is derived from a
 * kernel's layout. Features: U-04, S2-05 (dtypes). */
#include "testing.h"

#include "core/kernel.h"

#include <stdbool.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define INF          ((double)INFINITY)

static void dtypes_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum dtype dtype;
        size_t size;
    } rows[] = {
        { "fp32", DTYPE_FP32, 4 },   { "bf16", DTYPE_BF16, 2 }, { "fp16", DTYPE_FP16, 2 },
        { "int32", DTYPE_INT32, 4 }, { "fp64", DTYPE_FP64, 8 },
    };

    assert_int_equal(COUNT(rows), DTYPE_NR);
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_string_equal(dtype_name(rows[i].dtype), rows[i].name);
        assert_int_equal(dtype_size(rows[i].dtype), rows[i].size);
    }
}

/* A value, its exact bits, and what it reads back as. */
struct rounding {
    double value;
    uint16_t bits;
    double back;
};

static void assert_rounds(enum dtype dtype, const struct rounding *rows, size_t nr)
{
    for (size_t i = 0; i < nr; i++) {
        for (int sign = 0; sign <= 1; sign++) {
            uint16_t bits = 0x5555, expected = (uint16_t)(rows[i].bits | sign << 15);
            struct tensor t = { .dtype = dtype, .rank = 1, .extent = { 1 }, .data = &bits };
            tensor_set(&t, 0, sign ? -rows[i].value : rows[i].value);
            if (bits != expected)
                fail_msg("%s of %a is %04x, expected %04x", dtype_name(dtype), rows[i].value, bits,
                         expected);
            assert_true(tensor_get(&t, 0) == (sign ? -rows[i].back : rows[i].back));
        }
    }
}

static void fp64_is_kept_as_it_is(void **state)
{
    (void)state;
    double x[2] = { 0 };
    struct tensor t = { .dtype = DTYPE_FP64, .rank = 1, .extent = { 2 }, .data = x };

    tensor_set(&t, 1, 1.0 / 3);
    assert_true(x[0] == 0 && x[1] == 1.0 / 3 && tensor_get(&t, 1) == 1.0 / 3);
    assert_int_equal(tensor_bytes(&t), 16);
}

static void bf16_rounds_to_nearest_even(void **state)
{
    (void)state;
    static const struct rounding rows[] = {
        { 0, 0x0000, 0 },
        { 1, 0x3f80, 1 },
        { 3.140625, 0x4049, 3.140625 },
        { 1 + 0x1p-7, 0x3f81, 1 + 0x1p-7 },
        { 1 + 0x1p-8, 0x3f80, 1 },              /* tie: to even, down */
        { 1 + 3 * 0x1p-8, 0x3f82, 1 + 0x1p-6 }, /* tie: to even, up */
        { 1 + 0x1p-8 + 0x1p-20, 0x3f81, 1 + 0x1p-7 },
        { 1 + 0x1p-8 - 0x1p-20, 0x3f80, 1 },
        { 1 + 0x1p-8 + 0x1p-40, 0x3f81, 1 + 0x1p-7 }, /* no tie, though one as a float */
        { 1 + 3 * 0x1p-8 - 0x1p-40, 0x3f81, 1 + 0x1p-7 },
        { 2 - 0x1p-9, 0x4000, 2 },          /* carries into the exponent */
        { 0x1.fep127, 0x7f7f, 0x1.fep127 }, /* the largest */
        { 0x1.fefffep127, 0x7f7f, 0x1.fep127 },
        { 0x1.ffp127, 0x7f80, INF }, /* tie beyond it */
        { 1e300, 0x7f80, INF },
        { INF, 0x7f80, INF },
        { 0x1p-126, 0x0080, 0x1p-126 },
        { 0x1p-133, 0x0001, 0x1p-133 }, /* the smallest */
        { 0x1p-134, 0x0000, 0 },        /* tie to 0 */
        { 0x1.8p-133, 0x0002, 0x1p-132 },
        { 0x1.000002p-134, 0x0001, 0x1p-133 },
        { 0x1p-200, 0x0000, 0 },
    };

    assert_rounds(DTYPE_BF16, rows, COUNT(rows));
}

static void fp16_rounds_to_nearest_even(void **state)
{
    (void)state;
    static const struct rounding rows[] = {
        { 0, 0x0000, 0 },
        { 1, 0x3c00, 1 },
        { 1.5, 0x3e00, 1.5 },
        { 1.0 / 3, 0x3555, 0x1.554p-2 },
        { 1 + 0x1p-11, 0x3c00, 1 },              /* tie: to even, down */
        { 1 + 3 * 0x1p-11, 0x3c02, 1 + 0x1p-9 }, /* tie: to even, up */
        { 1 + 0x1p-11 + 0x1p-40, 0x3c01, 1 + 0x1p-10 },
        { 2 - 0x1p-12, 0x4000, 2 }, /* carries into the exponent */
        { 65504, 0x7bff, 65504 },   /* the largest */
        { 65519.999, 0x7bff, 65504 },
        { 65520, 0x7c00, INF }, /* tie beyond it */
        { 1e10, 0x7c00, INF },
        { INF, 0x7c00, INF },
        { 0x1p-14, 0x0400, 0x1p-14 },           /* the smallest normal number */
        { 0x1p-14 - 0x1p-25, 0x0400, 0x1p-14 }, /* tie: to even, up into the normals */
        { 0x1p-14 - 0x1p-24, 0x03ff, 0x1p-14 - 0x1p-24 },
        { 0x1p-24, 0x0001, 0x1p-24 }, /* the smallest */
        { 0x1p-25, 0x0000, 0 },       /* tie to 0 */
        { 0x1.8p-24, 0x0002, 0x1p-23 },
        { 0x1.0000001p-25, 0x0001, 0x1p-24 },
        { 0x1p-40, 0x0000, 0 },
    };

    assert_rounds(DTYPE_FP16, rows, COUNT(rows));
}

static void assert_keeps_nan(enum dtype dtype)
{
    float data[2] = { 0 };
    struct tensor t = { .dtype = dtype, .rank = 1, .extent = { 1 }, .data = data };

    tensor_set(&t, 0, (double)NAN);
    assert_true(isnan(tensor_get(&t, 0)));
}

static void nan_stays_nan(void **state)
{
    (void)state;
    uint32_t bits = 0x7f800001; /* its upper half alone would be infinity */
    float signalling;

    assert_keeps_nan(DTYPE_FP32);
    assert_keeps_nan(DTYPE_BF16);
    assert_keeps_nan(DTYPE_FP16);
    memcpy(&signalling, &bits, sizeof(bits));
    assert_true(isnan(bf16_to_float(bf16_from_float(signalling))));
}

/* All 65536 patterns of both 16-bit types read, write and read the same. */
static void every_16_bit_number_round_trips(void **state)
{
    (void)state;
    for (int dtype = DTYPE_BF16; dtype <= DTYPE_FP16; dtype++) {
        uint16_t data;
        struct tensor t = { .dtype = (enum dtype)dtype, .rank = 1, .extent = { 1 }, .data = &data };
        for (uint32_t bits = 0; bits < 65536; bits++) {
            data = (uint16_t)bits;
            double value = tensor_get(&t, 0);
            if (isnan(value))
                continue;
            data = 0x5555;
            tensor_set(&t, 0, value);
            assert_int_equal(data, bits);
        }
    }
}

static void whole_numbers_and_floats(void **state)
{
    (void)state;
    int32_t whole[3] = { 0 };
    float single[3] = { 0 };
    struct tensor i = { .dtype = DTYPE_INT32, .rank = 1, .extent = { 3 }, .data = whole };
    struct tensor f = { .dtype = DTYPE_FP32, .rank = 1, .extent = { 3 }, .data = single };

    tensor_set(&i, 1, 50256);
    tensor_set(&i, 2, -2.5);
    assert_true(tensor_get(&i, 0) == 0 && tensor_get(&i, 1) == 50256 && tensor_get(&i, 2) == -2);
    tensor_set(&f, 1, 0.1);
    assert_true(tensor_get(&f, 1) == (double)0.1F);
    assert_true(tensor_get(&f, 0) == 0 && tensor_get(&f, 2) == 0);
}

static void sizes_as_a_matrix(void **state)
{
    (void)state;
    struct tensor t = { .dtype = DTYPE_BF16, .rank = 3, .extent = { 2, 3, 5 } };
    struct tensor line = { .dtype = DTYPE_FP32, .rank = 1, .extent = { 7 } };
    struct tensor none = { .dtype = DTYPE_FP32, .rank = 2, .extent = { 0, 7 } };

    assert_int_equal(tensor_elements(&t), 30);
    assert_int_equal(tensor_bytes(&t), 60);
    assert_int_equal(tensor_rows(&t), 6);
    assert_int_equal(tensor_cols(&t), 5);
    assert_int_equal(tensor_rows(&line), 1);
    assert_int_equal(tensor_cols(&line), 7);
    assert_int_equal(tensor_bytes(&none), 0);
}

static void sizes_that_overflow_are_the_largest(void **state)
{
    (void)state;
    struct tensor most = { .dtype = DTYPE_FP32, .rank = 2, .extent = { 1LL << 31, 1LL << 31 } };
    struct tensor over = { .dtype = DTYPE_FP32, .rank = 3, .extent = { 1LL << 31, 1LL << 31, 2 } };

    assert_true(tensor_elements(&most) == 1LL << 62);
    assert_true(tensor_bytes(&most) == INT64_MAX);
    assert_true(tensor_elements(&over) == INT64_MAX);
    assert_true(tensor_bytes(&over) == INT64_MAX);
}

static void shapes_are_equal_by_value(void **state)
{
    (void)state;
    struct shape a = { { 1, 2, 3 } }, b = a, c = { { 1, 2, 4 } };

    assert_true(shape_equal(&a, &b));
    assert_false(shape_equal(&a, &c));
    b.dim[SHAPE_MAX - 1] = 1;
    assert_false(shape_equal(&a, &b));
}

/* Two outputs behind an input, all of `rows` x `cols`. */
static int layout(const struct kernel *k, const struct shape *s, enum dtype dtype, struct tensor *t)
{
    (void)k;
    for (int i = 0; i < 3; i++)
        t[i] = (struct tensor) { .role = i ? TENSOR_OUT : TENSOR_IN,
                                 .dtype = dtype,
                                 .rank = 2,
                                 .extent = { s->dim[0], s->dim[1] } };
    return 3;
}

static const struct kernel sheet = { .name = "sheet",
                                     .dims = { "rows", "cols" },
                                     .layout = layout };

static void dims_by_name(void **state)
{
    (void)state;
    static const struct kernel full = { .dims = { "a", "b", "c", "d", "e", "f", "g", "h" } };
    struct shape s = { { 3, 5 } };

    assert_int_equal(kernel_nr_dims(&sheet), 2);
    assert_int_equal(kernel_dim_index(&sheet, "cols"), 1);
    assert_int_equal(kernel_dim_index(&sheet, "heads"), -1);
    assert_int_equal(kernel_dim(&sheet, &s, "rows", 9), 3);
    assert_int_equal(kernel_dim(&sheet, &s, "heads", 9), 9);
    assert_int_equal(kernel_nr_dims(&full), SHAPE_MAX);
    assert_int_equal(kernel_dim_index(&full, "h"), 7);
    assert_int_equal(kernel_dim_index(&full, "i"), -1);
}

static void footprints_add_up_and_saturate(void **state)
{
    (void)state;
    struct shape small = { { 3, 5 } }, two = { { 1LL << 30, 1LL << 30 } };
    struct shape huge = { { 1LL << 40, 1LL << 40 } };
    struct tensor t[TENSOR_MAX];

    assert_int_equal(kernel_footprint(&sheet, &small, DTYPE_FP32), 180);
    assert_int_equal(kernel_footprint(&sheet, &small, DTYPE_BF16), 90);
    /* Each tensor fits into an int64_t, their sum does not. */
    assert_true(tensor_bytes(&(struct tensor) {
                    .dtype = DTYPE_FP32, .rank = 2, .extent = { two.dim[0], two.dim[1] } }) <
                INT64_MAX);
    assert_true(kernel_footprint(&sheet, &two, DTYPE_FP32) == INT64_MAX);
    assert_true(kernel_footprint(&sheet, &huge, DTYPE_FP32) == INT64_MAX);
    assert_int_equal(kernel_output(t, layout(&sheet, &small, DTYPE_FP32, t)), 1);
    assert_int_equal(kernel_output(t, 1), -1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(dtypes_by_name),
        cmocka_unit_test(bf16_rounds_to_nearest_even),
        cmocka_unit_test(fp64_is_kept_as_it_is),
        cmocka_unit_test(fp16_rounds_to_nearest_even),
        cmocka_unit_test(nan_stays_nan),
        cmocka_unit_test(every_16_bit_number_round_trips),
        cmocka_unit_test(whole_numbers_and_floats),
        cmocka_unit_test(sizes_as_a_matrix),
        cmocka_unit_test(sizes_that_overflow_are_the_largest),
        cmocka_unit_test(shapes_are_equal_by_value),
        cmocka_unit_test(dims_by_name),
        cmocka_unit_test(footprints_add_up_and_saturate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
