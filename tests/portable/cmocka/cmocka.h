/* SPDX-License-Identifier: MIT */
/*
 * The part of cmocka's interface that the kernels' unit tests use, where the library itself is not
 * at hand: the first assertion that fails says where and ends the program.
 */
#ifndef HARNESS_TESTS_PORTABLE_CMOCKA_H
#define HARNESS_TESTS_PORTABLE_CMOCKA_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define print_message(...) (void)printf(__VA_ARGS__)

#define fail_msg(...)                                                                              \
    do {                                                                                           \
        printf("%s:%d: ", __FILE__, __LINE__);                                                     \
        printf(__VA_ARGS__);                                                                       \
        printf("\n");                                                                              \
        exit(1);                                                                                   \
    } while (0)

#define assert_true(condition)                                                                     \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("not true: %s", #condition);                                                  \
    } while (0)

#define assert_false(condition)             assert_true(!(condition))
#define assert_null(pointer)                assert_true((pointer) == NULL)
#define assert_non_null(pointer)            assert_true((pointer) != NULL)
#define assert_int_equal(a, b)              assert_true((long long)(a) == (long long)(b))
#define assert_in_range(value, least, most) assert_true((value) >= (least) && (value) <= (most))
#define assert_memory_equal(a, b, size)     assert_true(memcmp(a, b, size) == 0)
#define assert_string_equal(a, b)           assert_true(strcmp(a, b) == 0)

struct CMUnitTest {
    const char *name;
    void (*run)(void **state);
};

#define cmocka_unit_test(f)                                                                        \
    {                                                                                              \
#f, f                                                                                      \
    }

#define cmocka_run_group_tests(tests, setup, teardown)                                             \
    cmocka_run_all_(tests, sizeof(tests) / sizeof((tests)[0]))

/* The name of the only test to run; cmocka's own takes wildcards too. */
static const char *cmocka_filter_;

static inline void cmocka_set_test_filter(const char *name)
{
    cmocka_filter_ = name;
}

/* 1: a filter that fits none, else what is misspelt passes. */
static inline int cmocka_run_all_(const struct CMUnitTest *tests, size_t nr)
{
    size_t passed = 0;

    /* As cmocka does it, places without a test are passed by. */
    for (size_t i = 0; i < nr; i++) {
        void *state = NULL;
        if (!tests[i].name)
            continue;
        if (cmocka_filter_ && strcmp(cmocka_filter_, tests[i].name) != 0)
            continue;
        printf("%s\n", tests[i].name);
        tests[i].run(&state);
        passed++;
    }
    printf("passed: %zu\n", passed);
    return passed == 0;
}

#endif
