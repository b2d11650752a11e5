/* SPDX-License-Identifier: MIT */
/* What every cmocka test needs, in the order that cmocka wants it. */
#ifndef HARNESS_TESTS_TESTING_H
#define HARNESS_TESTS_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <libgen.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The tests of this file, in the order in which they stand. */
static struct CMUnitTest file_tests[64] __attribute__((unused));

__attribute__((unused)) static void add_test(struct CMUnitTest test)
{
    size_t nr = 0;

    while (nr < sizeof(file_tests) / sizeof(*file_tests) && file_tests[nr].name)
        nr++;
    if (nr == sizeof(file_tests) / sizeof(*file_tests))
        abort();
    file_tests[nr] = test;
}

#define TEST_OF(test, ...)                                                                         \
    static void test(void **state);                                                                \
    __attribute__((constructor(1000 + __LINE__))) static void test##_is_a_test(void)               \
    {                                                                                              \
        const struct CMUnitTest entry_ = __VA_ARGS__;                                              \
        add_test(entry_);                                                                          \
    }                                                                                              \
    static void test(__attribute__((unused)) void **state)

/* TEST(name) { ... } is a test. `set_up` is before and `tear_down` after it: int f(void **state).
 */
#define TEST(name) TEST_OF(name, cmocka_unit_test(name))
#define TEST_WITH(name, set_up, tear_down)                                                         \
    TEST_OF(name, cmocka_unit_test_setup_teardown(name, set_up, tear_down))

/* A test that has a `type *own`: zeroed before, and released after it. */
#define TEST_WITH_A(name, type, own, release)                                                      \
    static void name##_with(type *own);                                                            \
    TEST(name)                                                                                     \
    {                                                                                              \
        type own = { 0 };                                                                          \
        name##_with(&own);                                                                         \
        release(&own);                                                                             \
    }                                                                                              \
    static void name##_with(type *own)

/* HARNESS_TEST_DIR and HARNESS_SOURCE_DIR are seen from where the program lies, which is where
 * CTest starts it: so objects are the same in every clone, for who keeps them (ccache). */
__attribute__((unused)) static void enter_test_folder(void)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

    path[length > 0 ? length : 0] = '\0';
    if (length > 0 && chdir(dirname(path)))
        perror(path);
}

/* The last line of a file: main(), which runs its tests; `set_up` is before the first of them. */
#define RUN_TESTS(set_up, tear_down)                                                               \
    int main(void)                                                                                 \
    {                                                                                              \
        enter_test_folder();                                                                       \
        return cmocka_run_group_tests(file_tests, set_up, tear_down);                              \
    }

/* |a - b| <= tolerance, with both values in the message. */
#define assert_close(a, b, tolerance)                                                              \
    do {                                                                                           \
        double a_ = (a), b_ = (b);                                                                 \
        if (!(fabs(a_ - b_) <= (tolerance)))                                                       \
            fail_msg("%s = %.17g, expected %.17g", #a, a_, b_);                                    \
    } while (0)

/* A part that a text has, or has not; both in the message. */
#define assert_has(text, part)                                                                     \
    do {                                                                                           \
        const char *text_ = (text), *part_ = (part);                                               \
        if (!strstr(text_, part_))                                                                 \
            fail_msg("\"%s\" is not in %s: %s", part_, #text, text_);                              \
    } while (0)
#define assert_lacks(text, part)                                                                   \
    do {                                                                                           \
        const char *text_ = (text), *part_ = (part);                                               \
        if (strstr(text_, part_))                                                                  \
            fail_msg("\"%s\" is in %s: %s", part_, #text, text_);                                  \
    } while (0)

/* rc == 0, else the error's message. */
#define assert_ok(rc, err)                                                                         \
    do {                                                                                           \
        if ((rc) != 0)                                                                             \
            fail_msg("%s: %s", #rc, (err)->message);                                               \
    } while (0)

/* It fails, and this is in what it says. */
#define assert_fails(rc, err, part)                                                                \
    do {                                                                                           \
        assert_int_equal(rc, -1);                                                                  \
        assert_has((err)->message, part);                                                          \
    } while (0)

#endif
