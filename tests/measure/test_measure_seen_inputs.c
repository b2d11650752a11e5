/* SPDX-License-Identifier: MIT */
/* Inputs as an arithmetic sees them: weights, where it rounds those, and nothing else is another.
 */
#include "testing.h"

#include "measure/oracle_check.h"

static void double_it(const struct kernel *k, const struct shape *s, struct tensor *t,
                      enum math math)
{
    (void)k, (void)s;
    assert_int_equal(math, MATH_INT8);
    tensor_set(t, 0, 2 * tensor_get(t, 0));
}

static void test_what_is_seen(void **state)
{
    static const struct kernel rounds = { .round_weight = double_it }, keeps = { .name = "keeps" };
    static const struct {
        const struct kernel *kernel;
        enum math math;
        bool differs;
    } cases[] = {
        { &rounds, MATH_INT8, true },  { &rounds, MATH_FP32, false }, { &rounds, MATH_TF32, false },
        { &rounds, MATH_BF16, false }, { &keeps, MATH_INT8, false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        float x = 1, w = 3;
        struct seen_inputs seen;
        const struct tensor host[TENSOR_MAX] = {
            { .name = "x", .role = TENSOR_IN, .rank = 1, .extent = { 1 }, .data = &x },
            { .name = "w", .role = TENSOR_WEIGHT, .rank = 1, .extent = { 1 }, .data = &w },
            { .name = "y", .role = TENSOR_OUT, .rank = 1, .extent = { 1 } },
        };
        assert_int_equal(seen_inputs_differ(cases[i].kernel, cases[i].math), cases[i].differs);
        seen_inputs_make(&seen, cases[i].kernel, NULL, host, 3, cases[i].math);
        x = 5; /* what comes later is seen */
        assert_true(tensor_get(&seen.tensor[0], 0) == 5);
        assert_true(tensor_get(&seen.tensor[1], 0) == (cases[i].differs ? 6 : 3));
        assert_true(w == 3);
        assert_null(seen.tensor[2].data);
        seen_inputs_release(&seen);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_what_is_seen) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
