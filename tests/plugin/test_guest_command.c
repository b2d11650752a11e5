/* SPDX-License-Identifier: MIT */
/*
 * A program as a benchmark: each way that it can end, what is checked of its output, sizes in its
 * arguments, and what it costs. Feature: U-11.
 */
#include "testing.h"

#include "base/file.h"
#include "device/devices.h"
#include "measure/case.h"
#include "old_kernel.h"
#include "plugin/guests.h"
#include "plugin/name.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static const struct sampling few = { .iterations = 4, .min_samples = 1, .max_samples = 4 };

static struct command_spec make_spec(const char *line)
{
    struct command_spec spec = { .name = "it" };

    string_list_add(&spec.argv, "sh");
    string_list_add(&spec.argv, "-c");
    string_list_add(&spec.argv, line);
    return spec;
}

/* Takes the spec. */
static struct measurement measure(struct command_spec *spec, struct shape shape)
{
    static const struct kernel *const *const operations[] = { NULL };
    static const struct variant *const files[] = { NULL };
    static const struct missing_variant missing[] = { { NULL, NULL, NULL } };
    const struct registry base = { operations, files, missing, NULL };
    const struct string_list none = { 0 };
    struct guests guests;
    struct device d;
    struct error err;
    struct measurement m;

    assert_ok(guests_open(&guests, &base, &none, spec, &err), &err);
    assert_true(guests_any(&guests));
    assert_ok(device_open(&d, "process", &err), &err);
    struct benchmark bench = { registry_variant_at(&guests.own, 0), shape, CACHE_WARM };
    struct case_settings settings = { .sampling = few, .seed = 1, .guests = &guests };
    case_measure(&bench, &d, &settings, &m);
    device_close(&d);
    guests_close(&guests);
    return m;
}

static struct measurement measure_line(const char *line)
{
    struct command_spec spec = make_spec(line);

    return measure(&spec, (struct shape) { { 0 } });
}

static void assert_ends(struct measurement m, enum outcome outcome, const char *says)
{
    if (m.outcome != outcome || !m.message || !strstr(m.message, says))
        fail_msg("%s, \"%s\" is not in: %s", outcome_name(m.outcome), says,
                 m.message ? m.message : "(nothing)");
    assert_int_equal(m.nr_samples, 0);
    measurement_release(&m);
}

TEST(a_program_is_timed)
{
    struct measurement m = measure_line("i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done");

    assert_int_equal(m.outcome, OUTCOME_OK);
    assert_string_equal(m.bench.key, "command/it/exec/none/-/process/warm");
    assert_string_equal(m.clock, "CLOCK_MONOTONIC_RAW");
    assert_int_equal(m.batch, 1);
    assert_int_equal(m.nr_samples, 4);
    double user = measurement_telemetry(&m, "command_user_ms");
    assert_true(user > 0);
    assert_true(isfinite(measurement_telemetry(&m, "command_system_ms")));
    double mean_ms = 0;
    for (size_t i = 0; i < m.nr_samples; i++)
        mean_ms += (double)m.samples[i] / 4e6;
    assert_true(user <= mean_ms * 1.05 + 10); /* one process: processor time within wall time */
    assert_true(isfinite(measurement_telemetry(&m, TELEMETRY_MACHINE)));
    measurement_release(&m);
}

TEST(memory_is_told_where_it_can_be)
{
    /* A shell cannot help holding this text. */
    struct measurement m =
        measure_line("a=$(head -c 30000000 /dev/zero | tr '\\0' a); [ ${#a} -gt 1 ]");

    assert_int_equal(m.outcome, OUTCOME_OK);
    assert_true(measurement_telemetry(&m, "command_max_rss_bytes") >= 30e6);
    measurement_release(&m);
}

TEST(failures_have_their_words)
{
    assert_ends(measure_line("echo wrong turn >&2; exit 3"), OUTCOME_FAILED,
                "sh exited with status 3: wrong turn");
    assert_ends(measure_line("exit 4"), OUTCOME_FAILED, "sh exited with status 4");
    assert_ends(measure_line("kill -KILL $$"), OUTCOME_FAILED, "sh died by signal 9");
    assert_ends(measure_line("seq 1 1000 >&2; echo the end >&2; exit 1"), OUTCOME_FAILED,
                "1000\nthe end");
    struct command_spec spec = make_spec("exit 4");
    spec.ignore_status = true;
    struct measurement m = measure(&spec, (struct shape) { { 0 } });
    assert_int_equal(m.outcome, OUTCOME_OK);
    measurement_release(&m);
}

TEST(what_is_ignored_here_is_not_there)
{
    /* Ignored, SIGPIPE would end in an error of `seq`, told to the shell by status 1. */
    struct measurement m = measure_line("seq 1 100000 | head -1 >/dev/null; [ -e /dev/fd/0 ]");

    assert_int_equal(m.outcome, OUTCOME_OK);
    measurement_release(&m);
}

static const char *write_expected(const char *text)
{
    static const char path[] = HARNESS_TEST_DIR "/guest_command.expected";
    struct error err;

    assert_ok(file_write(path, text, strlen(text), &err), &err);
    return path;
}

static struct measurement measure_expecting(const char *line, const char *expected)
{
    struct command_spec spec = make_spec(line);

    spec.expect = memory_string(write_expected(expected));
    return measure(&spec, (struct shape) { { 0 } });
}

TEST(output_is_checked)
{
    struct measurement m = measure_expecting("echo one; echo two", "one\ntwo\n");

    assert_int_equal(m.outcome, OUTCOME_OK);
    measurement_release(&m);
    assert_ends(measure_expecting("echo one; echo 2", "one\ntwo\n"), OUTCOME_WRONG,
                "in line 2: it is \"2\", expected \"two\"");
    assert_ends(measure_expecting("echo one", "one\ntwo\n"), OUTCOME_WRONG,
                "in line 2: it is nothing more, expected \"two\"");
    assert_ends(measure_expecting("echo one; echo two", "one\n"), OUTCOME_WRONG,
                "in line 2: it is \"two\", expected nothing more");
    assert_ends(measure_expecting("true", "x"), OUTCOME_WRONG, "in line 1: it is nothing more");
}

TEST(output_is_checked_of_every_run)
{
    char folder[] = HARNESS_TEST_DIR "/guest_XXXXXX", line[512];

    assert_non_null(mkdtemp(folder));
    /* Right the first three times: check, warm-up, a sample. */
    snprintf(line, sizeof(line),
             "echo x >>%s/count; [ $(wc -l <%s/count) -gt 3 ] && echo other || echo same", folder,
             folder);
    assert_ends(measure_expecting(line, "same\n"), OUTCOME_WRONG,
                "after timing: standard output differs");
    snprintf(line, sizeof(line), "rm -r %s", folder);
    assert_int_equal(system(line), 0);
}

TEST(sizes_stand_in_the_command)
{
    struct command_spec spec = make_spec("[ {n}-{n}-{m}-{x}-${HOME:+h} = 3-3-5-{x}-h ]");

    string_list_add(&spec.dims, "n");
    string_list_add(&spec.dims, "m");
    struct measurement m = measure(&spec, (struct shape) { { 3, 5 } });
    assert_string_equal(m.bench.key, "command/it/exec/none/n=3,m=5/process/warm");
    assert_int_equal(m.outcome, OUTCOME_OK);
    measurement_release(&m);
}

TEST(it_is_prepared_each_time)
{
    char path[] = HARNESS_TEST_DIR "/guest_prepared_XXXXXX", line[512];
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    close(fd);
    snprintf(line, sizeof(line), "rm %s", path);
    struct command_spec spec = make_spec(line);
    snprintf(line, sizeof(line), "touch %s", path);
    spec.prepare = memory_string(line);
    struct measurement m = measure(&spec, (struct shape) { { 0 } });
    assert_int_equal(m.outcome, OUTCOME_OK);
    measurement_release(&m);
    spec = make_spec("true");
    spec.prepare = memory_string("echo no disk >&2; exit 2");
    assert_ends(measure(&spec, (struct shape) { { 0 } }), OUTCOME_FAILED,
                "--prepare exited with status 2: no disk");
}

static void assert_bad(struct command_spec *spec, const char *says)
{
    struct error err = { "" };

    assert_int_equal(command_spec_check(spec, &err), -1);
    if (!strstr(err.message, says))
        fail_msg("\"%s\" is not in: %s", says, err.message);
    command_spec_release(spec);
}

TEST(what_cannot_be_run_is_refused)
{
    struct command_spec spec = { .name = "it" };

    assert_bad(&spec, "there is no command behind --");
    spec = make_spec("true");
    snprintf(spec.name, sizeof(spec.name), "a/b");
    assert_bad(&spec, "--name: the variant name \"a/b\"");
    spec = make_spec("true");
    string_list_add(&spec.dims, "n");
    assert_bad(&spec, "nothing in the command says {n}");
    spec = make_spec("{N}");
    string_list_add(&spec.dims, "N");
    assert_bad(&spec, "the dim name \"N\"");
    spec = make_spec("true");
    spec.expect = memory_string("no/such/file");
    assert_bad(&spec, "--expect: no/such/file: No such file");
    spec = (struct command_spec) { .name = "it" };
    string_list_add(&spec.argv, "no-such-program-at-all");
    assert_bad(&spec, "there is no program \"no-such-program-at-all\" on the PATH");
    spec = (struct command_spec) { .name = "it" };
    string_list_add(&spec.argv, "/etc/passwd");
    assert_bad(&spec, "/etc/passwd is no program");
    spec = (struct command_spec) { .name = "it" };
    string_list_add(&spec.argv, "./nothing");
    assert_bad(&spec, "./nothing: No such file");
}

TEST(names_are_made_fit)
{
    char name[8];

    name_sanitise("a b/c+d", name, sizeof(name));
    assert_string_equal(name, "a-b-c-d");
    name_sanitise("a-long-name", name, sizeof(name));
    assert_string_equal(name, "a-long-");
}

/* Output without end is neither kept nor waited for; errors without end are read and forgotten, but
 * for the last of them. */
TEST(floods_are_bounded)
{
    static const struct {
        const char *line, *expected;
        enum outcome outcome;
        const char *says;
    } rows[] = {
        { "yes", "y\n", OUTCOME_WRONG, "in line 2: it is \"y\", expected nothing more" },
        { "yes & yes", "y\n", OUTCOME_WRONG, "in line 2" },
        { "(yes | head -c 200000; exec yes >/dev/null) & yes", "y\n", OUTCOME_WRONG, "in line 2" },
        { "yes no | head -c 20000000 >&2; echo last words >&2; exit 3", NULL, OUTCOME_FAILED,
          "last words" },
        { "yes no | head -c 20000000 >&2", NULL, OUTCOME_OK, NULL },
        { "echo y; yes >&2 & :", "y\n", OUTCOME_OK, NULL },
    };
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct measurement m = rows[i].expected ? measure_expecting(rows[i].line, rows[i].expected)
                                                : measure_line(rows[i].line);
        if (rows[i].says)
            assert_ends(m, rows[i].outcome, rows[i].says);
        else
            assert_int_equal(m.outcome, OUTCOME_OK);
        if (!rows[i].says)
            measurement_release(&m);
    }
    getrusage(RUSAGE_SELF, &after);
#ifndef __SANITIZE_ADDRESS__                                /* which keeps what has been freed */
    assert_true(after.ru_maxrss - before.ru_maxrss < 8192); /* KiB */
#endif
}

static bool runs_are_timed_and_heard(void)
{
    struct measurement ok = measure_expecting("sleep 0.02; echo y", "y\n");
    struct measurement bad = measure_line("echo trouble >&2; exit 3");
    bool held = ok.outcome == OUTCOME_OK && ok.nr_samples == 4 && ok.samples[0] > 20000000 &&
                bad.outcome == OUTCOME_FAILED && strstr(bad.message, "trouble") != NULL;

    measurement_release(&ok);
    measurement_release(&bad);
    return held;
}

/* Without pidfd_open() (before 5.3). */
TEST(on_a_kernel_without_process_descriptors)
{
    on_an_old_kernel(runs_are_timed_and_heard);
}

RUN_TESTS(NULL, NULL)
