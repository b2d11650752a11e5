/* SPDX-License-Identifier: MIT */
/*
 * In place of cmocka, and found in front of it: what tests/kernels/test_cuda_*.cc use, for these
 * tests on a device. cmocka is a shared library, which a machine with a GPU need not have. Tests
 * without fixtures alone, and one file of them a program.
 */
#ifndef HARNESS_TESTS_CUDA_UNIT_CMOCKA_H
#define HARNESS_TESTS_CUDA_UNIT_CMOCKA_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct CMUnitTest {
    const char *name; /* NULL: none */
    void (*function)(void **state);
};

static inline struct CMUnitTest unit_of(const char *name, void (*function)(void **state))
{
    struct CMUnitTest test = { name, function };

    return test;
}

/* Runs them one after another, as far as the device goes; prints a line each. What main() returns:
 * 0, or 1 where a test failed, 3 after an error that the device does not recover from, 77 without a
 * device of sm_90. */
int unit_run(const struct CMUnitTest *tests, size_t nr);

/* Ends the test that runs. Of a place the line is enough: a program has one file of tests. */
__attribute__((noreturn, format(printf, 2, 3))) void unit_fail(int line, const char *format, ...);
__attribute__((noreturn)) void unit_skip(int line);

#define cmocka_unit_test(test) unit_of(#test, test)
#define cmocka_run_group_tests(tests, set_up, tear_down)                                           \
    unit_run(tests, sizeof(tests) / sizeof(*(tests)))

#define fail_msg(...) unit_fail(__LINE__, __VA_ARGS__)
#define skip()        unit_skip(__LINE__)

#define assert_true(holds)                                                                         \
    do {                                                                                           \
        if (!(holds))                                                                              \
            fail_msg("%s", #holds);                                                                \
    } while (0)
#define assert_false(holds)                    assert_true(!(holds))
#define assert_null(pointer)                   assert_true((pointer) == NULL)
#define assert_non_null(pointer)               assert_true((pointer) != NULL)
#define assert_string_equal(one, other)        assert_true(strcmp(one, other) == 0)
#define assert_memory_equal(one, other, bytes) assert_true(memcmp(one, other, bytes) == 0)

#define assert_int_equal(one, other)                                                               \
    do {                                                                                           \
        intmax_t one_ = (intmax_t)(one), other_ = (intmax_t)(other);                               \
        if (one_ != other_)                                                                        \
            fail_msg("%s is %jd, not %jd", #one, one_, other_);                                    \
    } while (0)
/* A function: who compares with a least value of 0 is told that it is pointless. */
static inline int unit_within(uintmax_t value, uintmax_t least, uintmax_t most)
{
    return least <= value && value <= most;
}
#define assert_in_range(value, least, most)                                                        \
    do {                                                                                           \
        uintmax_t value_ = (uintmax_t)(value);                                                     \
        if (!unit_within(value_, (uintmax_t)(least), (uintmax_t)(most)))                           \
            fail_msg("%s is %ju, not in %s to %s", #value, value_, #least, #most);                 \
    } while (0)

#endif
