/* SPDX-License-Identifier: MIT */
/* The environment that other programs are started with. Features: U-09. */
#include "testing.h"

#include "base/process.h"

#include <stdlib.h>
#include <unistd.h>

static size_t count(char **env, const char *prefix)
{
    size_t nr = 0;

    for (; *env; env++)
        nr += strncmp(*env, prefix, strlen(prefix)) == 0;
    return nr;
}

static void a_setting_is_added_or_replaces(void **state)
{
    (void)state;
    unsetenv("HARNESS_TEST_COLOUR");
    setenv("HARNESS_TEST_COLOURS", "many", 1);
    char **added = process_environment("HARNESS_TEST_COLOUR=blue");
    assert_int_equal(count(added, "HARNESS_TEST_COLOUR=blue"), 1);
    assert_int_equal(count(added, "HARNESS_TEST_COLOURS=many"), 1);
    free(added);

    setenv("HARNESS_TEST_COLOUR", "red", 1);
    char **replaced = process_environment("HARNESS_TEST_COLOUR=blue");
    assert_int_equal(count(replaced, "HARNESS_TEST_COLOUR="), 1);
    assert_int_equal(count(replaced, "HARNESS_TEST_COLOUR=blue"), 1);
    free(replaced);
    assert_string_equal(getenv("HARNESS_TEST_COLOUR"), "red");
}

static void nothing_set_is_a_copy(void **state)
{
    (void)state;
    char **env = process_environment(NULL);

    for (size_t i = 0; environ[i] || env[i]; i++)
        assert_ptr_equal(env[i], environ[i]);
    free(env);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_setting_is_added_or_replaces),
        cmocka_unit_test(nothing_set_is_a_copy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
