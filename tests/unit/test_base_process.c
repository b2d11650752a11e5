/* SPDX-License-Identifier: MIT */
/* Other programs: the environment they are started with, and running them to their end. Features:
 * U-09. */
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

static void changes_set_and_remove(void **state)
{
    static const char *const changes[] = { "HARNESS_TEST_COLOUR", "HARNESS_TEST_SHAPE=round",
                                           NULL };
    (void)state;
    setenv("HARNESS_TEST_COLOUR", "red", 1);
    setenv("HARNESS_TEST_COLOURS", "many", 1);
    char **env = process_environment_of(changes);
    assert_int_equal(count(env, "HARNESS_TEST_COLOUR="), 0);
    assert_int_equal(count(env, "HARNESS_TEST_COLOURS=many"), 1);
    assert_int_equal(count(env, "HARNESS_TEST_SHAPE=round"), 1);
    free(env);
}

/* Runs a line of shell; what it said lies in `out` and `errors`. */
static struct process_result shell(struct process p, const char *line, struct strbuf *out,
                                   struct strbuf *errors)
{
    const char *argv[] = { "sh", "-c", line, NULL };
    struct process_result result;
    struct error err;

    p.argv = argv;
    strbuf_clear(out);
    if (errors)
        strbuf_clear(errors);
    assert_ok(process_run(&p, out, errors, &result, &err), &err);
    return result;
}

static void output_and_status_come_back(void **state)
{
    static const char *const changes[] = { "HARNESS_TEST_SHAPE=round", NULL };
    struct strbuf out, errors;
    (void)state;
    strbuf_init(&out);
    strbuf_init(&errors);
    struct process p = { .folder = "/", .changes = changes };
    struct process_result r =
        shell(p, "pwd; echo $HARNESS_TEST_SHAPE; echo ill >&2; exit 7", &out, &errors);
    assert_int_equal(r.end, PROCESS_EXITED);
    assert_int_equal(r.status, 7);
    assert_string_equal(out.data, "/\nround\n");
    assert_string_equal(errors.data, "ill\n");
    shell(p, "echo one; echo two >&2; cat", &out, NULL); /* standard input is empty */
    assert_string_equal(out.data, "one\ntwo\n");
    r = shell(p, "kill -KILL $$", &out, NULL);
    assert_int_equal(r.end, PROCESS_KILLED);
    assert_int_equal(r.status, SIGKILL);
    shell(p,
          "i=0; while [ $i -lt 3000 ]; do echo 0123456789012345678901234567890; i=$((i + 1)); "
          "done",
          &out, NULL);
    assert_int_equal(out.length, 3000 * 32);
    strbuf_release(&out);
    strbuf_release(&errors);
}

static void output_can_go_to_a_log(void **state)
{
    static const char log[] = HARNESS_TEST_DIR "/process.log";
    struct strbuf out;
    char line[64];
    (void)state;
    strbuf_init(&out);
    unlink(log);
    shell((struct process) { .log = log }, "echo one >&2", &out, NULL);
    shell((struct process) { .log = log }, "echo two", &out, NULL);
    assert_int_equal(out.length, 0);
    FILE *file = fopen(log, "r");
    assert_non_null(file);
    assert_string_equal(fgets(line, sizeof(line), file), "one\n");
    assert_string_equal(fgets(line, sizeof(line), file), "two\n");
    fclose(file);
    strbuf_release(&out);
}

/* Neither end waits for what runs on in the background. */
static void time_and_users_end_it(void **state)
{
    static const volatile sig_atomic_t set = 1;
    struct strbuf out;
    (void)state;
    strbuf_init(&out);
    struct process_result r =
        shell((struct process) { .timeout = 0.2 }, "echo on; sleep 600 & wait", &out, NULL);
    assert_int_equal(r.end, PROCESS_TIMED_OUT);
    assert_string_equal(out.data, "on\n");
    r = shell((struct process) { .interrupted = &set }, "sleep 600", &out, NULL);
    assert_int_equal(r.end, PROCESS_INTERRUPTED);
    r = shell((struct process) { 0 }, "setsid sleep 1 & echo left", &out, NULL);
    assert_int_equal(r.end, PROCESS_EXITED);
    assert_string_equal(out.data, "left\n");
    strbuf_release(&out);
}

static void what_is_not_there_is_named(void **state)
{
    static const char *const argv[] = { "harness-no-such-program", NULL };
    struct process p = { .argv = argv };
    struct process_result result;
    struct strbuf out;
    struct error err;
    (void)state;
    strbuf_init(&out);
    assert_int_equal(process_run(&p, &out, NULL, &result, &err), -1);
    assert_string_equal(err.message,
                        "harness-no-such-program is not installed, or not on the PATH");
    p.folder = "/no/such/folder";
    assert_int_equal(process_run(&p, &out, NULL, &result, &err), -1);
    assert_non_null(strstr(err.message, "/no/such/folder"));
    strbuf_release(&out);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_setting_is_added_or_replaces),
        cmocka_unit_test(nothing_set_is_a_copy),
        cmocka_unit_test(changes_set_and_remove),
        cmocka_unit_test(output_and_status_come_back),
        cmocka_unit_test(output_can_go_to_a_log),
        cmocka_unit_test(time_and_users_end_it),
        cmocka_unit_test(what_is_not_there_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
