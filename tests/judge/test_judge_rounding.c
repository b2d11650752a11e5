/* SPDX-License-Identifier: MIT */
/* What errors are measured by: of which arithmetic one rounding is, what it gives, and how much
 * more than that is refused. */
#include "testing.h"

#include "judge/checking.h"
#include "judge/rounding.h"

/* y = x, both of two columns. */
static void copy_oracle(const struct kernel *k, const struct shape *s, const struct tensor *t,
                        int out, const int64_t *rows, size_t nr_rows, double *expected)
{
    (void)k, (void)s;
    assert_int_equal(out, 1);
    for (size_t i = 0; i < nr_rows * 2; i++)
        expected[i] = tensor_get(&t[0], rows[i / 2] * 2 + (int64_t)(i % 2));
}

static const struct kernel copy = { .name = "copy", .oracle = copy_oracle };
static const struct kernel pass = { .name = "pass", .model = "nano" };

static void test_what_it_measures(void **state)
{
    static const struct {
        enum dtype dtype;
        enum math math;
        bool measured;
        double factor, factor_of_pass;
    } cases[] = {
        { DTYPE_FP32, MATH_FP32, false, 2, 4 }, /* the textbook variant does */
        { DTYPE_FP32, MATH_TF32, true, 3, 4 },  { DTYPE_BF16, MATH_BF16, true, 2, 4 },
        { DTYPE_FP16, MATH_FP16, true, 2, 4 },  { DTYPE_FP32, MATH_INT8, false, 2, 4 },
        { DTYPE_BF16, MATH_FP8, false, 2, 4 },  { DTYPE_FP64, MATH_FP64, false, 2, 4 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(rounding_measures(cases[i].dtype, cases[i].math), cases[i].measured);
        assert_true(rounding_factor(&copy, cases[i].math) == cases[i].factor);
        assert_true(rounding_factor(&pass, cases[i].math) == cases[i].factor_of_pass);
    }
}

static void test_what_it_gives(void **state)
{
    static const struct {
        enum dtype dtype;
        enum math math;
        float exact, once;
    } cases[] = {
        { DTYPE_BF16, MATH_BF16, 1 + 0x1p-7F, 1 + 0x1p-7F },
        { DTYPE_BF16, MATH_BF16, 1 + 0x1p-9F, 1 },
        { DTYPE_BF16, MATH_BF16, -1 - 0x3p-9F, -1 - 0x1p-7F },
        { DTYPE_FP16, MATH_FP16, 1 + 0x1p-10F, 1 + 0x1p-10F },
        { DTYPE_FP16, MATH_FP16, 1 + 0x1p-12F, 1 },
        { DTYPE_FP32, MATH_TF32, 1 + 0x1p-10F, 1 + 0x1p-10F },
        { DTYPE_FP32, MATH_TF32, 1 + 0x1p-11F, 1 }, /* to the even one */
        { DTYPE_FP32, MATH_TF32, 1 + 0x3p-11F, 1 + 0x1p-9F },
        { DTYPE_FP32, MATH_TF32, -1 - 0x1p-12F, -1 },
    };
    static const int64_t row = 1;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        float x[4] = { 0, 0, cases[i].exact, 0 };
        const double expected[2] = { (double)cases[i].exact, 0 };
        double once[2];
        struct tensor t[TENSOR_MAX] = {
            { .name = "x", .role = TENSOR_IN, .rank = 2, .extent = { 2, 2 }, .data = x },
            { .name = "y", .role = TENSOR_OUT, .rank = 2, .extent = { 2, 2 } },
        };
        t[1].dtype = cases[i].dtype;
        rounding_rows(&copy, NULL, t, 2, 1, &row, 1, cases[i].math, expected, once);
        assert_true(once[0] == (double)cases[i].once);
        assert_true(once[1] == 0);
        assert_true(x[2] == cases[i].exact);
    }
}

static void test_what_is_refused(void **state)
{
    static const struct {
        double rms, nr, honest_rms, honest_nr;
        bool refused;
    } cases[] = {
        { 1.9, 1000, 1, 1000, false }, { 2.1, 1000, 1, 1000, true },
        { 2.1, 100, 1, 1000, false },                                 /* few tell nothing */
        { 2.1, 1000, 1, 100, false },  { 0.4, 1000, 0, 1000, false }, /* within the least */
        { 0.6, 1000, 0, 1000, true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fault f = { .kind = FAULT_NONE };
        const struct tally of = { .squares = cases[i].rms * cases[i].rms * cases[i].nr,
                                  .nr = cases[i].nr };
        const struct honest_errors honest = { .rms = cases[i].honest_rms,
                                              .nr = cases[i].honest_nr,
                                              .factor = 2,
                                              .least = 0.25,
                                              .whose = "one rounding gives" };
        check_precision(&f, &of, &honest);
        assert_int_equal(f.kind, cases[i].refused ? FAULT_PRECISION : FAULT_NONE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_it_measures),
        cmocka_unit_test(test_what_it_gives),
        cmocka_unit_test(test_what_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
