/* SPDX-License-Identifier: MIT */
/*
 * A program as a benchmark: each way that it can end, what is checked of its output, sizes in its
 * arguments, and what it costs. Feature: U-11.
 */
#include "testing.h"

#include "base/file.h"
#include "command/command_words.h"
#include "device/devices.h"
#include "measure/case.h"
#include "old_kernel.h"
#include "plugin/guests.h"
#include "text/name.h"

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

static const struct kernel *const *const no_operations[] = { NULL };
static const struct variant *const no_files[] = { NULL };
static const struct missing_variant no_missing[] = { { NULL, NULL, NULL } };
static const struct registry nothing_built_in = { no_operations, no_files, no_missing,
                                                  NULL,          NULL,     NULL };

/* Takes the spec. */
static struct measurement measure_with(struct command_spec *spec, struct shape shape,
                                       const struct sampling *sampling)
{
    struct guests guests;
    struct device d;
    struct error err;
    struct measurement m;

    const struct guests_asked asked = { .command = spec };
    assert_ok(guests_open(&guests, &nothing_built_in, &asked, &err), &err);
    assert_true(guests_any(&guests));
    assert_ok(device_open(&d, "process", &err), &err);
    struct benchmark bench = { registry_variant_at(&guests.own, 0), shape, CACHE_WARM, NULL };
    struct case_settings settings = { .sampling = *sampling, .seed = 1, .guests = &guests };
    case_measure(&bench, &d, &settings, &m);
    device_close(&d);
    guests_close(&guests);
    return m;
}

static struct measurement measure(struct command_spec *spec, struct shape shape)
{
    return measure_with(spec, shape, &few);
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
    assert_true(measurement_telemetry(&m, "command_involuntary_switches") >= 0);
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

TEST(a_parameter_stands_in_one_of_the_commands)
{
    struct command_spec specs[2] = { make_spec("true"), make_spec("echo {n}") };
    struct error err = { "" };

    string_list_add(&specs[0].dims, "n");
    assert_int_equal(command_spec_check_use(specs, 1, &err), -1);
    assert_non_null(strstr(err.message, "nothing in the command says {n}"));
    assert_ok(command_spec_check_use(specs, 2, &err), &err);
    command_spec_release(&specs[0]);
    specs[0] = make_spec("echo {n} {n}");
    string_list_add(&specs[0].dims, "n");
    struct command_text *text = array_push(&specs[0].texts);
    snprintf(text->name, sizeof(text->name), "n");
    string_list_add(&text->values, "a");
    assert_bad(&specs[0], "the parameter \"n\" is there twice");
    command_spec_release(&specs[1]);
}

static void add_text(struct command_spec *spec, const char *name, const char *a, const char *b)
{
    struct command_text *text = array_push(&spec->texts);

    snprintf(text->name, sizeof(text->name), "%s", name);
    string_list_add(&text->values, a);
    string_list_add(&text->values, b);
}

/* One kernel, a variant for each combination, and each runs with its own values. */
TEST(texts_are_variants)
{
    static const char *const keys[] = {
        "command/it/cc=gcc,opt=-O2/none/n=7/process/warm",
        "command/it/cc=gcc,opt=a-b-c-", /* what a key cannot hold; then a hash */
        "command/it/cc=clang,opt=-O2/none/n=7/process/warm",
    };
    struct command_spec spec = make_spec("[ \"{cc}{opt}{n}\" = 'clang-O27' ]");
    struct benchmark_name name;
    struct guests guests;
    struct device d;
    struct error err;

    add_text(&spec, "cc", "gcc", "clang");
    add_text(&spec, "opt", "-O2", "a b/c");
    string_list_add(&spec.dims, "n");
    const struct guests_asked asked = { .command = &spec };
    assert_ok(guests_open(&guests, &nothing_built_in, &asked, &err), &err);
    assert_ok(device_open(&d, "process", &err), &err);
    for (size_t i = 0; i < 4; i++) {
        struct benchmark bench = {
            registry_variant_at(&guests.own, i), { { 7 } }, CACHE_WARM, NULL
        };
        struct case_settings settings = { .sampling = few, .seed = 1, .guests = &guests };
        struct measurement m;
        benchmark_name_of(&bench, &d, &name);
        if (i == 1)
            assert_memory_equal(name.key, keys[i], strlen(keys[i]));
        else if (i < 3)
            assert_string_equal(name.key, keys[i]);
        case_measure(&bench, &d, &settings, &m);
        assert_int_equal(m.outcome, i == 2 ? OUTCOME_OK : OUTCOME_FAILED);
        measurement_release(&m);
    }
    device_close(&d);
    guests_close(&guests);
}

/* Other arguments are another benchmark, and the same ones the same. */
TEST(a_name_tells_the_arguments)
{
    static const struct {
        const char *words[4];
        const char *name; /* up to a hash, where it ends with "-#" */
    } rows[] = {
        { { "sleep" }, "sleep" },
        { { "sleep", "0.5" }, "sleep-0.5" },
        { { "/usr/bin/sort", "big.txt" }, "sort-big.txt" },
        { { "./x", "{n}" }, "x" },
        { { "./x", "{n}{m}" }, "x" },
        { { "./x", "{n}m" }, "x-n-m-#" },
        { { "./x", "{k}" }, "x-k-#" }, /* no parameter */
        { { "./x", "{n}{k}" }, "x-n-k-#" },
        { { "awk", "{print $1}", "f" }, "awk-print-1--f-#" },
        { { "jq", "{a: .b}" }, "jq-a-.b-#" },
        { { "xargs", "{}" }, "xargs-#" },
        { { "./x", "-n", "{n}" }, "x-n-#" },
        { { "x", "-1" }, "x-1-#" },
        { { "x", "1" }, "x-1" },
        { { "x", "" }, "x-#" },
        { { "x", "a b" }, "x-a-b-#" },
        { { "x", "a", "b" }, "x-a-b" },
        { { "python3", "a_script_of_a_long_name.py", "12345" }, "python3-a_script_of_a_-#" },
        { { "curl", "--password", "hunter2" }, "curl-password-#" },
    };
    struct string_list parameters = { 0 };

    string_list_add_split(&parameters, "n,m", ',');
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct command_spec spec = { .name = "" };
        size_t told = strcspn(rows[i].name, "#");
        struct error err;
        for (size_t j = 0; j < 4 && rows[i].words[j]; j++)
            string_list_add(&spec.argv, rows[i].words[j]);
        command_default_name(&spec, &parameters);
        if (strncmp(spec.name, rows[i].name, told) != 0 ||
            strlen(spec.name) != (rows[i].name[told] ? told + 8 : told))
            fail_msg("%s is not %s", spec.name, rows[i].name);
        assert_ok(name_check_variant(spec.name, &err), &err);
        assert_null(strstr(spec.name, "hunter2"));
        command_spec_release(&spec);
    }
    string_list_release(&parameters);
}

TEST(what_is_around_a_run)
{
    char path[] = HARNESS_TEST_DIR "/guest_around_XXXXXX", line[512];
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, "given\n", 6), 6);
    close(fd);
    struct command_spec spec = make_spec("read x; [ \"$x\" = given ]");
    spec.input = memory_string(path);
    struct measurement m = measure(&spec, (struct shape) { { 0 } });
    assert_int_equal(m.outcome, OUTCOME_OK);
    measurement_release(&m);
    snprintf(line, sizeof(line), "rm %s && mkdir %s", path, path); /* fails where it is a folder */
    spec = make_spec(line);
    snprintf(line, sizeof(line), "rmdir %s && touch %s", path, path);
    spec.conclude = memory_string(line);
    m = measure(&spec, (struct shape) { { 0 } });
    assert_int_equal(m.outcome, OUTCOME_OK);
    measurement_release(&m);
    unlink(path);
    spec = make_spec("true");
    spec.conclude = memory_string("echo no end >&2; exit 5");
    assert_ends(measure(&spec, (struct shape) { { 0 } }), OUTCOME_FAILED,
                "--conclude exited with status 5: no end");
}

TEST(some_statuses_are_fine)
{
    for (int status = 3; status < 6; status++) {
        char line[16];
        snprintf(line, sizeof(line), "exit %d", status);
        struct command_spec spec = make_spec(line);
        *array_push(&spec.ignored) = 3;
        *array_push(&spec.ignored) = 5;
        struct measurement m = measure(&spec, (struct shape) { { 0 } });
        assert_int_equal(m.outcome, status == 4 ? OUTCOME_FAILED : OUTCOME_OK);
        measurement_release(&m);
    }
}

/* In turn with others nothing is run that does not count, and one long run is enough. */
TEST(unwarmed_runs_all_count)
{
    static const struct {
        struct sampling sampling;
        size_t least, most;
    } rows[] = {
        { { .iterations = 3, .min_samples = 1, .max_samples = 9, .unwarmed = true }, 3, 3 },
        { { .max_time = 0.05, .min_samples = 1, .max_samples = 9, .unwarmed = true }, 1, 1 },
        { { .max_time = 60, .min_samples = 1, .max_samples = 6, .unwarmed = true }, 6, 6 },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char path[] = HARNESS_TEST_DIR "/guest_count_XXXXXX", line[512];
        int fd = mkstemp(path);
        assert_true(fd >= 0);
        snprintf(line, sizeof(line), "echo x >>%s; sleep 0.06", path);
        struct command_spec spec = make_spec(line);
        struct measurement m = measure_with(&spec, (struct shape) { { 0 } }, &rows[i].sampling);
        assert_int_equal(m.outcome, OUTCOME_OK);
        assert_in_range(m.nr_samples, rows[i].least, rows[i].most);
        assert_int_equal(m.warmups, 0);
        assert_int_equal(lseek(fd, 0, SEEK_END), 2 * (long)m.nr_samples);
        close(fd);
        unlink(path);
        measurement_release(&m);
    }
    static const struct sampling once = { .iterations = 2, .min_samples = 1, .unwarmed = true };
    struct command_spec spec = make_spec("echo other");
    spec.expect = memory_string(write_expected("this\n"));
    assert_ends(measure_with(&spec, (struct shape) { { 0 } }, &once), OUTCOME_WRONG,
                "standard output differs");
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
