/* SPDX-License-Identifier: MIT */
/* A profiled case from the job to the history's facts; a slow-down planted in an operation.
 * Features: S0-28, S4-09, S4-11, S4-31. */
#include "sweep_testing.h"

#include "base/file.h"
#include "base/json.h"
#include "measure/plant.h"
#include "measure/profiling.h"
#include "profile/profile.h"
#include "stats/stats.h"
#include "timeline/timeline_read.h"

#include <pthread.h>

enum { ITERATIONS = 7 };

static const char folder[] = HARNESS_TEST_DIR;

/* A variant that says what it does. */
static void copy_in_parts(const struct call *call)
{
    PROF_SCOPE("part/one");
    {
        PROF_SCOPE("two", .flops = 10, .bytes = 40);
        child_copy(call);
    }
}

/* Two operations of the same length, some 50 us. */
static void work_twice(const struct call *call)
{
    enum { STEPS = 50000 };

    child_copy(call);
    {
        PROF_SCOPE("steady");
        plant_work(STEPS);
    }
    {
        PROF_SCOPE("made slower");
        plant_work(STEPS);
    }
}

static void *record_parts(void *unused)
{
    (void)unused;
    for (int i = 0; i < 4; i++) {
        PROF_SCOPE("a part of the work");
    }
    return NULL;
}

/* Five scopes on the thread that is waited for, four on another one. */
static void copy_as_team(const struct call *call)
{
    pthread_t helper;

    if (pthread_create(&helper, NULL, record_parts, NULL))
        abort();
    record_parts(NULL);
    pthread_join(helper, NULL);
    child_copy(call);
}

/* Some 300 MB of a trace in each launch, most of it the name, in characters of four bytes. */
static void copy_in_long_words(const struct call *call)
{
    enum { CHARACTERS = 2500, SCOPES = 30000 };
    static char name[4 * CHARACTERS + 1];
    static const struct prof_site site = { name, __func__, __FILE__, __LINE__ };

    for (int i = 0; i < CHARACTERS; i++)
        memcpy(name + 4 * i, "\xf0\x9f\x90\xa2", 4);
    for (int i = 0; i < SCOPES && prof_is_on(prof_global()); i++) {
        struct prof_scope scope = prof_begin(prof_global(), &site, NULL);
        prof_end(&scope);
    }
    child_copy(call);
}

static void do_nothing(const struct call *call)
{
    (void)call;
}

static const struct variant scoped_variants[] = {
    CHILD_VARIANT("scoped", .launch = copy_in_parts),
    CHILD_VARIANT("twice", .launch = work_twice),
    CHILD_VARIANT("team", .launch = copy_as_team),
    CHILD_VARIANT("idle", .launch = do_nothing),
    CHILD_VARIANT("dies", .launch = talk_and_die),
    CHILD_VARIANT("wordy", .launch = copy_in_long_words),
    { .name = NULL },
};

static const struct registry *scoped_registry(void)
{
    static const struct kernel *const kernels[] = { &null_copy, NULL };
    static const struct kernel *const *const operations[] = { kernels, NULL };
    static const struct variant *const files[] = { null_fake, scoped_variants, NULL };
    static const struct registry registry = { .operations = operations, .variant_files = files };

    return &registry;
}

static const struct profiling profiling = { .iterations = ITERATIONS, .folder = folder };
static const struct profiling counting = { .iterations = ITERATIONS,
                                           .folder = folder,
                                           .counters = true };

static void profile_with(const struct profiling *options, const char *variant, struct log *log)
{
    const struct benchmark bench = { .variant =
                                         registry_variant(scoped_registry(), "null/copy", variant),
                                     .shape = { { 1, 16 } } };
    struct sweep sweep = {
        .what = { .device_spec = "fake",
                  .benchmarks = &bench,
                  .nr = 1,
                  .settings = { .sampling = sampling_default, .profiling = options },
                  .limits.case_timeout = 60 },
        .launches = 2,
    };
    enum sweep_end end;
    struct error err;

    assert_non_null(bench.variant);
    *log = (struct log) { .begun = 0 };
    assert_ok(run(&sweep, log, &end, &err), &err);
    assert_int_equal(end, SWEEP_DONE);
}

static void profile(const char *variant, struct log *log)
{
    profile_with(&profiling, variant, log);
}

#define LOG_TEST(name) TEST_WITH_A(name, struct log, log, log_release)

static double median_of(const struct measurement *m)
{
    double values[ITERATIONS];

    assert_int_equal(m->nr_samples, ITERATIONS);
    for (size_t i = 0; i < ITERATIONS; i++)
        values[i] = (double)m->samples[i];
    return stats_median(values, ITERATIONS);
}

LOG_TEST(the_whole_then_its_operations)
{
    static const char *const kernels[] = { "null/copy:all", "null/copy:part-one", "null/copy:two" };

    profile("scoped", log);
    assert_int_equal(log->seen.nr, 6);
    for (size_t i = 0; i < 6; i++) {
        const struct measurement *m = &log->seen.items[i].m;
        assert_string_equal(m->bench.kernel, kernels[i % 3]);
        assert_non_null(strstr(m->bench.key, kernels[i % 3]));
        assert_string_equal(m->bench.variant, "scoped");
        assert_int_equal(log->seen.items[i].launch, i / 3);
        assert_int_equal(m->outcome, OUTCOME_OK);
        assert_int_equal(m->nr_samples, ITERATIONS);
        assert_int_equal(m->batch, 1);
        assert_true(m->max_error <= m->tolerance);
    }
    assert_true(log->seen.items[2].m.flops == 10 && log->seen.items[2].m.bytes == 40);
    for (size_t s = 0; s < ITERATIONS; s++) { /* what is inside cannot be longer */
        assert_true(log->seen.items[2].m.samples[s] <= log->seen.items[1].m.samples[s]);
        assert_true(log->seen.items[1].m.samples[s] <= log->seen.items[0].m.samples[s]);
    }
    double own = measurement_telemetry(&log->seen.items[1].m, "self_ns");
    double inner = measurement_telemetry(&log->seen.items[2].m, "self_ns");
    assert_true(own >= 0 && own < median_of(&log->seen.items[1].m)); /* "two" is in it ... */
    assert_close(inner, median_of(&log->seen.items[2].m), 0);        /* ... and nothing in "two" */
    assert_true(isnan(measurement_telemetry(&log->seen.items[0].m, "self_ns")));
}

LOG_TEST(the_trace_is_in_its_file)
{
    struct benchmark_name name;
    struct prof_trace trace;
    struct error err;
    size_t iterations = 0;

    profile("scoped", log);
    assert_ok(benchmark_name_parse("null/copy/scoped/fp32/batch=1,seq=16/fake/warm", &name, &err),
              &err);
    char *path = profiling_file(folder, &name);
    assert_non_null(strstr(path, "/null_copy_scoped_fp32_batch=1,seq=16_fake_warm.trace.json"));
    assert_ok(timeline_read(path, &trace, &err), &err);
    for (size_t i = 0; i < trace.nr_slices; i++) {
        if (strcmp(trace.slices[i].name, "null/copy") == 0) {
            /* Of the last launch: its samples are these. */
            assert_int_equal(trace.slices[i].duration, log->seen.items[3].m.samples[iterations]);
            iterations++;
        }
    }
    assert_int_equal(iterations, ITERATIONS);
    for (size_t i = 0; i < trace.nr_samples; i++) /* of its sensors, where the machine has any */
        assert_true(trace.samples[i].time >= trace.meta.start);
    prof_trace_release(&trace);
    remove(path);
    free(path);
}

/* Where they cannot be had the reason takes their place, and the case is as without. */
TEST(counters_or_why_not)
{
    struct benchmark_name name;
    struct error err;
    struct log log;

    assert_ok(benchmark_name_parse("null/copy/scoped/fp32/batch=1,seq=16/fake/warm", &name, &err),
              &err);
    char *path = profiling_counters_file(folder, &name);
    assert_non_null(strstr(path, "/null_copy_scoped_fp32_batch=1,seq=16_fake_warm.counters.json"));
    remove(path);
    profile("scoped", &log);
    assert_false(file_exists(path)); /* nobody asked */
    log_release(&log);
    profile_with(&counting, "scoped", &log);
    assert_int_equal(log.seen.nr, 6);
    assert_int_equal(log.seen.items[0].m.outcome, OUTCOME_OK);
    cJSON *json = json_parse_file(path, FILE_RECORDS_MOST, &err);
    assert_non_null(json);
    assert_string_equal(json_string(json, "reason", ""), "counters are those of CUDA devices");
    cJSON_Delete(json);
    remove(path);
    free(path);
    log_release(&log);
}

static bool is_about_three(double times)
{
    return times > 2 && times < 4.5;
}

/* By 200 %: three times as long as its twin, in the same iterations. Five tries: the machine may be
 * busy with other tests, and one quiet moment is enough. */
TEST(one_operation_is_made_slower)
{
    const struct profiling planted = {
        .iterations = ITERATIONS, .folder = folder, .plant = "made slower", .plant_share = 2
    };
    const struct measurement *whole = NULL, *steady = NULL, *slower = NULL;
    struct log log = { 0 };
    double times = 0;

    for (int tries = 0; tries < 5 && !is_about_three(times); tries++) {
        log_release(&log);
        profile_with(&planted, "twice", &log);
        assert_int_equal(log.seen.nr, 6);
        whole = &log.seen.items[0].m;
        steady = &log.seen.items[1].m;
        slower = &log.seen.items[2].m;
        times = median_of(slower) / median_of(steady);
    }
    assert_string_equal(slower->bench.kernel, "null/copy:made-slower");
    if (!is_about_three(times))
        fail_msg("made %.2f times as long, not 3 times", times);
    assert_true(median_of(whole) > median_of(slower) + median_of(steady) / 2);
    assert_close(measurement_telemetry(slower, "planted_percent"), 200, 1e-9);
    assert_true(isnan(measurement_telemetry(steady, "planted_percent")));
    assert_true(isnan(measurement_telemetry(whole, "planted_percent")));
    log_release(&log);
}

LOG_TEST(nothing_is_planted_where_nothing_is)
{
    const struct profiling planted = {
        .iterations = ITERATIONS, .folder = folder, .plant = "three", .plant_share = 2
    };

    profile_with(&planted, "scoped", log);
    assert_int_equal(log->seen.nr, 1); /* what failed is not tried again */
    assert_int_equal(log->seen.items[0].m.outcome, OUTCOME_FAILED);
    assert_non_null(strstr(log->seen.items[0].m.message, "there is no operation \"three\""));
    assert_non_null(strstr(log->seen.items[0].m.message, "part/one"));
}

static void assert_too_long(const char *variant, int iterations, const char *words)
{
    const struct profiling long_one = { .iterations = iterations, .folder = folder };
    struct log log;

    profile_with(&long_one, variant, &log);
    assert_int_equal(log.seen.nr, 1);
    assert_int_equal(log.seen.items[0].m.outcome, OUTCOME_FAILED);
    if (!strstr(log.seen.items[0].m.message, words))
        fail_msg("%s", log.seen.items[0].m.message);
    log_release(&log);
}

/* Before they run: 1,000,000 scopes have room with their thread, and those of both threads are more
 * than a trace has that is read again. */
TEST(more_than_a_trace_holds_is_refused)
{
    assert_too_long("team", 200000,
                    "200000 iterations on all threads are more than a trace that is read again "
                    "holds (3000000 events, 256 MiB): ask for up to ");
}

/* There is no number to ask for. */
TEST(one_that_is_more_than_a_trace_holds_is_refused)
{
    assert_too_long("wordy", 1,
                    "1 iterations on all threads are more than a trace that is read again holds "
                    "(3000000 events, 256 MiB): even one is, so take a smaller shape");
}

/* What is wrong gets no time and no operations, but a name of its own. */
LOG_TEST(wrong_results_have_no_profile)
{
    profile("idle", log);
    assert_int_equal(log->seen.nr, 2);
    assert_int_equal(log->seen.items[0].m.outcome, OUTCOME_WRONG);
    assert_string_equal(log->seen.items[0].m.bench.kernel, "null/copy:all");
    assert_int_equal(log->seen.items[0].m.nr_samples, 0);
}

/* A case that takes its process along is under the same name. */
LOG_TEST(crashes_too)
{
    profile("dies", log);
    assert_int_equal(log->seen.nr, 1);
    assert_int_equal(log->seen.items[0].m.outcome, OUTCOME_FAILED);
    assert_string_equal(log->seen.items[0].m.bench.kernel, "null/copy:all");
}

TEST(jobs_round_trip)
{
    struct job job = { .device_spec = "fake",
                       .settings = { .sampling = sampling_default, .profiling = &profiling } };
    struct owned_job back;
    struct error err;

    char *text = job_print(&job);
    assert_non_null(strstr(text, "\"protocol\":3"));
    assert_ok(job_parse(text, strlen(text), test_registry(), &back, &err), &err);
    assert_non_null(back.job.settings.profiling);
    assert_int_equal(back.job.settings.profiling->iterations, ITERATIONS);
    assert_string_equal(back.job.settings.profiling->folder, folder);
    assert_false(back.job.settings.profiling->counters);
    job_release(&back);
    free(text);

    job.settings.profiling = &counting;
    text = job_print(&job);
    assert_ok(job_parse(text, strlen(text), test_registry(), &back, &err), &err);
    assert_true(back.job.settings.profiling->counters);
    assert_null(back.job.settings.profiling->plant);
    job_release(&back);
    free(text);

    struct profiling planted = profiling;
    planted.plant = "head";
    planted.plant_share = 0.5;
    job.settings.profiling = &planted;
    text = job_print(&job);
    assert_ok(job_parse(text, strlen(text), test_registry(), &back, &err), &err);
    assert_string_equal(back.job.settings.profiling->plant, "head");
    assert_close(back.job.settings.profiling->plant_share, 0.5, 0);
    job_release(&back);
    free(text);

    /* One that asks for nothing new is understood by older programs. */
    job.settings.profiling = NULL;
    text = job_print(&job);
    assert_non_null(strstr(text, "\"protocol\":2"));
    assert_null(strstr(text, "profile"));
    free(text);
}

TEST(bad_jobs_are_refused)
{
#define JOB(profile)                                                                               \
    "{\"device\":\"fake\",\"seed\":\"1\",\"sampling\":{},\"cases\":[],\"profile\":" profile "}"
    static const struct bad_job bad[] = {
        { JOB("{}"), "profile: \"iterations\" is missing" },
        { JOB("{\"iterations\":3}"), "profile: \"folder\" is missing" },
        { JOB("{\"iterations\":0,\"folder\":\".\"}"), "must be 1 to" },
    };
#undef JOB

    assert_refused(bad, sizeof(bad) / sizeof(bad[0]));
}

int main(int argc, char **argv)
{
    struct error err = { "" };

    if (is_sweep_child(argc, argv))
        return launch_serve(scoped_registry(), &err) ? 2 : 0;
    allow_crashes();
    return cmocka_run_group_tests(file_tests, NULL, NULL);
}
