/* SPDX-License-Identifier: MIT */
/* What parent and child say to each other: a job one way, a line a case the other. Features: U-04,
 * S0-22. */
#include "sweep_testing.h"

#include "base/json.h"
#include "old_kernel.h"

/* What a child says by rote: one good case, told as the first of its job. */
static char *script_of_one_case(const char *rest)
{
    struct measurement m = { .outcome = OUTCOME_OK };
    struct strbuf script;
    struct error err;

    assert_ok(benchmark_name_parse("null/copy/right/fp32/batch=1,seq=16/fake/warm", &m.bench, &err),
              &err);
    cJSON *json = measurement_to_json(&m);
    char *text = cJSON_PrintUnformatted(json);
    strbuf_init(&script);
    strbuf_addf(&script, "{\"begin\":0}\n{\"end\":0,\"measurement\":%s}\n%s", text, rest);
    free(text);
    cJSON_Delete(json);
    return strbuf_detach(&script);
}

static int run_script(const char *script, const char *exit_status, int nr, struct log *log,
                      struct error *err)
{
    struct benchmark cases[CASES_MAX];
    struct sweep sweep = make_sweep("fake", cases, make_cases("right", nr, cases), 1);
    enum sweep_end end;

    *log = (struct log) { .begun = 0 };
    setenv("TEST_SCRIPT", script, 1);
    setenv("TEST_EXIT", exit_status, 1);
    int rc = run(&sweep, log, &end, err);
    unsetenv("TEST_SCRIPT");
    unsetenv("TEST_EXIT");
    return rc;
}

/* A child that ends between two cases has no case in hand: the rest goes on in another. */
TEST(an_end_between_cases_goes_on)
{
    char *script = script_of_one_case("");
    struct log log;
    struct error err;

    assert_ok(run_script(script, "5", 3, &log, &err), &err);
    assert_int_equal(log.launches.nr, 3);
    assert_int_equal(log.seen.nr, 3);
    assert_int_equal(log.launches.items[0].exit_status, 5);
    log_release(&log);
    free(script);
}

TEST(an_end_before_any_case_is_an_error)
{
    struct log log;
    struct error err;

    assert_int_equal(run_script("", "5", 2, &log, &err), -1);
    assert_says(err.message, "the measuring process ended before its first case (status 5)");
    assert_int_equal(log.seen.nr, 0);
    log_release(&log);
}

/* Another program may lack a variant: that costs the case alone, which the parent names. */
TEST(variants_that_a_child_lacks)
{
    static const char script[] = "{\"begin\":0}\n{\"end\":0,\"lacks\":\"null/copy/right\"}\n";
    struct log log;
    struct error err;

    assert_ok(run_script(script, "0", 1, &log, &err), &err);
    assert_int_equal(log.seen.nr, 1);
    const struct measurement *m = find(&log, "null/copy/right/fp32/batch=1,seq=16/fake/warm");
    assert_int_equal(m->outcome, OUTCOME_UNSUPPORTED);
    assert_string_equal(m->message, "this program has no variant null/copy/right");
    assert_true(m->flops > 0);
    log_release(&log);
}

/* A job from a newer program: the case is in its place, without a variant. */
TEST(jobs_with_unknown_variants)
{
    static const char text[] =
        "{\"device\":\"fake\",\"seed\":\"1\",\"sampling\":{},\"cases\":["
        "{\"kernel\":\"null/copy\",\"variant\":\"none\",\"dims\":[3]},"
        "{\"kernel\":\"null/copy\",\"variant\":\"right\",\"dims\":[4]}]}";
    struct owned_job job;
    struct error err;

    assert_ok(job_parse(text, strlen(text), test_registry(), &job, &err), &err);
    assert_int_equal(job.job.nr, 2);
    assert_null(job.job.cases[0].variant);
    assert_string_equal(job.lacks[0], "null/copy/none");
    assert_null(job.lacks[1]);
    assert_int_equal(job.job.cases[1].shape.dim[0], 4);
    job_release(&job);
}

/* Lines that no right child would say cost their case, and are no numbers in somebody's history;
 * the sweep goes on, here to the same. */
TEST(words_out_of_turn_cost_their_case)
{
    static const struct {
        const char *script, *says;
    } bad[] = {
        { "{\"begin\":0 oops\n", "not valid JSON" },
        { "{\"begin\":0}\nnot json\n", "without its secret" },
        { "{\"begin\":7}\n", "without its secret" },
        { "{\"begin\":1}\n", "without its secret" },
        { "{\"begin\":-1}\n", "without its secret" },
        { "{\"begin\":0}\n{\"begin\":0}\n", "out of turn: \"{" },
        { "{\"end\":0}\n", "out of turn: \"{\"end\":0}\"" },
        { "{\"begin\":0}\n{\"end\":1}\n", "without its secret" },
        { "{\"begin\":0}\n{\"end\":0}\n", "no measurement: \"not a JSON object\"" },
        { "{\"begin\":0}\n{\"end\":0,\"measurement\":{\"key\":5}}\n", "\"key\" is missing" },
        { "{\"alive\":0}\n", "out of turn" },
        { "{\"ceilings\":[]}\n", "without its secret" },
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct log log;
        struct error err;
        assert_ok(run_script(bad[i].script, "0", 2, &log, &err), &err);
        assert_int_equal(log.seen.nr, 2);
        for (size_t k = 0; k < log.seen.nr; k++) {
            const struct measurement *m = &log.seen.items[k].m;
            assert_int_equal(m->outcome, OUTCOME_FAILED);
            assert_int_equal(m->nr_samples, 0);
            assert_says(m->message,
                        "killed: the channel said something that the measuring code "
                        "did not: ");
            assert_says(m->message, bad[i].says);
        }
        log_release(&log);
    }
}

/* Before it has greeted no guest is loaded: what speaks then is no harness, or a broken one, and
 * another would fare no better. */
TEST(a_process_that_does_not_greet_is_an_error)
{
    static const struct {
        const char *script, *says;
    } bad[] = {
        { "raw:not json\n", "no greeting: \"not json\"" },
        { "raw:\033[31m\377\n", "no greeting: \"?[31m?\"" },
        { "raw:{\"begin\":0}\n{\"end\":0,\"measurement\":{}}\n", "no greeting: \"{" },
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct log log;
        struct error err;
        assert_int_equal(run_script(bad[i].script, "0", 2, &log, &err), -1);
        assert_says(err.message, "said what no harness says before its first case");
        assert_says(err.message, bad[i].says);
        assert_int_equal(log.seen.nr, 0);
        log_release(&log);
    }
}

static bool a_sweep_is_done(void)
{
    struct benchmark cases[CASES_MAX];
    struct sweep sweep = make_sweep("fake", cases, make_cases("right", 2, cases), 2);
    struct log log;

    run_to_end(&sweep, &log);
    return log.seen.nr == 4 && count(&log, "", OUTCOME_OK) == 4;
}

/* Kernels before 5.9 have no close_range(): what they run must not wait for ever. */
TEST(a_sweep_on_an_old_kernel)
{
    on_an_old_kernel(a_sweep_is_done);
}

static int refuse(void *context, size_t index, struct measurement *m, struct error *err)
{
    (void)context;
    (void)index;
    (void)m;
    return error_set(err, "not wanted");
}

/* A child that dies without having read its job, which is more than a socket holds, must not take
 * the parent with it by SIGPIPE. */
TEST(a_deaf_child_is_survived)
{
    enum { MANY = 20000 };
    struct benchmark *cases = memory_zeroed(MANY, sizeof(*cases));
    struct case_sink sink = { .end = refuse };
    struct launch_limits limits = { .case_timeout = 20 };
    struct job job = { .device_spec = "fake", .cases = cases, .nr = MANY };
    struct launch_result result;
    struct error err = { "" };

    for (size_t i = 0; i < MANY; i++)
        cases[i].variant = &null_fake[0];
    setenv("TEST_SCRIPT", "deaf", 1);
    setenv("TEST_EXIT", "6", 1);
    int rc = launch_run(&job, &limits, &sink, &result, &err);
    unsetenv("TEST_SCRIPT");
    unsetenv("TEST_EXIT");
    /* "deaf" is no full line, so nothing was said. */
    assert_ok(rc, &err);
    assert_int_equal(result.end, LAUNCH_DIED);
    assert_int_equal(result.exit_status, 6);
    assert_int_equal(result.current, -1);
    free(result.error_text);
    free(cases);
}

/* What each launch of three took, and in all its cases. */
static void times_of_launches(const char *device, int64_t ns[3])
{
    struct benchmark cases[CASES_MAX];
    struct sweep sweep = make_sweep(device, cases, make_cases("right", 2, cases), 3);
    struct log log;

    run_to_end(&sweep, &log);
    assert_int_equal(log.seen.nr, 6);
    for (size_t i = 0; i < 6; i += 2) {
        ns[i / 2] = (int64_t)log.seen.items[i].m.samples[0];
        assert_int_equal((int64_t)log.seen.items[i + 1].m.samples[0], ns[i / 2]);
    }
    log_release(&log);
}

/* On the device with a scripted clock: launches of all sweeps differ, by a seed none does. */
TEST(each_launch_has_noise_of_its_own)
{
    int64_t drawn[6], seeded[3];

    times_of_launches("fake:base=1e6,launch=0.1,draw=3", drawn);
    times_of_launches("fake:base=1e6,launch=0.1,draw=3", drawn + 3);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < i; j++)
            assert_int_not_equal(drawn[i], drawn[j]);
    times_of_launches("fake:base=1e6,launch=0.1,seed=3", seeded);
    assert_int_equal(seeded[1], seeded[0]);
    assert_int_equal(seeded[2], seeded[0]);
}

TEST(jobs_round_trip)
{
    struct benchmark cases[CASES_MAX];
    size_t nr = make_cases("right,quit", 3, cases);
    struct job job = {
        .device_spec = "fake:base=5,sd=0.1",
        .settings = { .sampling = sampling_default, .seed = UINT64_MAX - 1, .verify_only = true },
        .cases = cases,
        .plant = (const double[CASES_MAX]) { 0, 0.05 },
        .nr = nr,
    };
    struct owned_job back;
    struct error err;

    cases[2].cache = CACHE_COLD;
    cases[4].shape.dim[1] = DIM_LIMIT;
    char *text = job_print(&job);
    assert_ok(job_parse(text, strlen(text), test_registry(), &back, &err), &err);
    assert_string_equal(back.job.device_spec, job.device_spec);
    assert_memory_equal(&back.job.settings.sampling, &job.settings.sampling,
                        sizeof(struct sampling));
    assert_true(back.job.settings.seed == UINT64_MAX - 1);
    assert_true(back.job.settings.verify_only && !back.job.roofs);
    assert_int_equal(back.job.nr, nr);
    assert_true(back.job.plant[1] == 0.05 && back.job.plant[2] == 0);
    for (size_t i = 0; i < nr; i++) {
        assert_ptr_equal(back.job.cases[i].variant, cases[i].variant);
        assert_int_equal(back.job.cases[i].cache, cases[i].cache);
        assert_true(shape_equal(&back.job.cases[i].shape, &cases[i].shape));
    }
    job_release(&back);
    free(text);
}

/* A job that says what inputs hold is of a protocol of its own: an older program would fill them
 * otherwise. Each process reads the file again, which must have the same numbers. */
TEST(inputs_of_jobs_round_trip)
{
    static const char path[] = HARNESS_TEST_DIR "/job_inputs.npy";
    const float data[] = { 1.5F, 2 }, others[] = { 1.5F, 3 };
    const int64_t nr = 2;
    struct benchmark cases[CASES_MAX];
    struct input_fill file, each = { .kind = INPUT_EACH };
    struct job job = {
        .device_spec = "fake",
        .settings = { .sampling = sampling_default },
        .cases = cases,
        .nr = make_cases("right,quit", 3, cases),
    };
    struct owned_job back;
    struct error err;

    assert_ok(npy_write(path, data, &nr, 1, &err), &err);
    assert_ok(input_fill_read(&file, path, &err), &err);
    cases[1].inputs = input_fill_find("zeros");
    cases[2].inputs = cases[3].inputs = &file;
    char *text = job_print(&job);
    assert_non_null(strstr(text, "\"protocol\":5"));
    assert_ok(job_parse(text, strlen(text), test_registry(), &back, &err), &err);
    assert_null(back.job.cases[0].inputs);
    assert_ptr_equal(back.job.cases[1].inputs, cases[1].inputs);
    assert_string_equal(back.job.cases[2].inputs->name, file.name);
    assert_ptr_equal(back.job.cases[3].inputs, back.job.cases[2].inputs);
    job_release(&back);
    free(text);
    assert_ok(input_fill_add(&each, "y", input_fill_find("zeros"), &err), &err);
    assert_ok(input_fill_add(&each, "x", &file, &err), &err);
    cases[1].inputs = &each;
    text = job_print(&job); /* and of single tensors of another one */
    assert_non_null(strstr(text, "\"protocol\":6"));
    assert_ok(job_parse(text, strlen(text), test_registry(), &back, &err), &err);
    assert_string_equal(back.job.cases[1].inputs->name, each.name);
    assert_ptr_equal(back.job.cases[1].inputs->parts[0].fill, back.job.cases[2].inputs);
    assert_ptr_equal(back.job.cases[1].inputs->parts[1].fill, input_fill_find("zeros"));
    job_release(&back);
    input_fill_release(&each);
    assert_ok(npy_write(path, others, &nr, 1, &err), &err);
    assert_int_equal(job_parse(text, strlen(text), test_registry(), &back, &err), -1);
    assert_non_null(strstr(err.message, "has other numbers than when the run began"));
    job_release(&back);
    free(text);
    input_fill_release(&file);
}

TEST(bad_jobs_are_refused)
{
#define JOB(cases) "{\"device\":\"fake\",\"seed\":\"1\",\"sampling\":{},\"cases\":" cases "}"
    static const struct bad_job bad[] = {
        { "", "job: not valid JSON" },
        { "{}", "\"device\" is missing" },
        { "{\"device\":\"fake\",\"seed\":1}", "\"seed\" is missing or not a string" },
        { "{\"device\":\"fake\",\"seed\":\"1\"}", "sampling: not a JSON object" },
        { JOB("[{}]"), "\"kernel\" is missing" },
        { "{\"protocol\":0}", "this program understands jobs of protocol 6 and older" },
        { "{\"protocol\":7}", "this one is of protocol 7" },
    };
#undef JOB

    assert_refused(bad, sizeof(bad) / sizeof(bad[0]));
}

int main(int argc, char **argv)
{
    if (is_sweep_child(argc, argv))
        return sweep_child();
    allow_crashes();
    return cmocka_run_group_tests(file_tests, NULL, NULL);
}
