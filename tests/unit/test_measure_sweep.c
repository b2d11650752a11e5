/* SPDX-License-Identifier: MIT */
/*
 * Sweeps with real child processes: this program, started again, is the child. Crashes, hangs and
 * early ends cost the case in hand and nothing else. Features: U-04, S0-12, S0-22.
 */
#include "launch_testing.h"

#include "base/array.h"
#include "base/json.h"
#include "base/strbuf.h"
#include "measure/launch_job.h"
#include "measure/sweep.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

/* --- the child ---------------------------------------------------------------------------- */

static const char sleeper_path[] = HARNESS_TEST_DIR "/measure_sweep.pid";

/* Far more than is kept of its words, then its last ones. */
static void talk_and_die(const struct call *call)
{
    (void)call;
    for (int i = 0; i < 2000; i++)
        fprintf(stderr, "line %d of much talk\n", i);
    fprintf(stderr, "the very last words\n");
    abort();
}

static void quit(const struct call *call)
{
    (void)call;
    fprintf(stderr, "I quit\n");
    exit(3);
}

/* More than a pipe holds, on an otherwise good day. */
static int talk(struct call *call, struct error *err)
{
    (void)call;
    (void)err;
    for (int i = 0; i < 5000; i++)
        fprintf(stderr, "line %d of much talk\n", i);
    return 0;
}

/* Leaves a process behind that holds every pipe of this one and never ends. */
static int leave_sleeper(struct call *call, struct error *err)
{
    (void)call;
    (void)err;
    pid_t pid = fork();
    if (pid == 0)
        for (;;)
            pause();
    FILE *file = fopen(sleeper_path, "w");
    if (file)
        fprintf(file, "%ld\n", (long)pid);
    return file && fclose(file) == 0 && pid > 0 ? 0 : error_set(err, "no sleeper");
}

static void leave_sleeper_and_quit(const struct call *call)
{
    struct call again = *call;
    struct error err;

    _exit(leave_sleeper(&again, &err) ? 4 : 3);
}

static const struct variant child_variants[] = {
    CHILD_VARIANT("talk_and_die", .launch = talk_and_die),
    CHILD_VARIANT("quit", .launch = quit),
    CHILD_VARIANT("talk", .prepare = talk, .launch = child_copy),
    CHILD_VARIANT("leave_sleeper", .prepare = leave_sleeper, .launch = child_copy),
    CHILD_VARIANT("leave_sleeper_and_quit", .launch = leave_sleeper_and_quit),
    { .name = NULL },
};

static const struct registry *test_registry(void)
{
    static const struct kernel *const kernels[] = { &null_copy, NULL };
    static const struct kernel *const *const operations[] = { kernels, NULL };
    static const struct variant *const files[] = { null_fake, child_variants, NULL };
    static const struct registry registry = { operations, files, NULL, NULL };

    return &registry;
}

/* Says by rote what the environment tells it to, or serves as a child should. */
static int child(void)
{
    const char *script = getenv("TEST_SCRIPT"), *ends = getenv("TEST_EXIT");
    struct error err = { "" };
    char block[4096];

    if (!script) {
        int rc = launch_serve(test_registry(), &err);
        fprintf(stderr, "%s", err.message);
        return rc ? 2 : 0;
    }
    while (strcmp(script, "deaf") != 0 && fread(block, 1, sizeof(block), stdin) > 0)
        continue;
    size_t length = strlen(script);
    bool told = write(LAUNCH_FD, script, length) == (ssize_t)length;
    return told ? atoi(ends ? ends : "0") : 9;
}

/* --- the parent --------------------------------------------------------------------------- */

struct seen {
    int launch;
    struct measurement m;
};

/* What a sweep handed up, and where the sink is to fail or interrupt. */
struct log {
    ARRAY(struct launch) launches;
    ARRAY(struct seen) seen;
    int begun, progress;
    size_t total;
    const char *fail;         /* "begin", "measurement" or "end" */
    const char *interrupt_at; /* when the case with this in its key starts */
};

static volatile sig_atomic_t interrupted;

static bool fails(const struct log *log, const char *where)
{
    return log->fail && strcmp(log->fail, where) == 0;
}

static int on_begin(void *context, const struct launch *l, struct error *err)
{
    struct log *log = context;

    assert_int_equal(l->seq, log->begun);
    assert_true(l->started_ms > 0);
    log->begun++;
    return fails(log, "begin") ? error_set(err, "the disk is full") : 0;
}

static int on_end(void *context, const struct launch *l, struct error *err)
{
    struct log *log = context;

    assert_int_equal(l->seq, log->begun - 1);
    assert_true(l->ended_ms >= l->started_ms);
    struct launch *kept = array_push(&log->launches);
    *kept = *l;
    kept->error_text = memory_string(l->error_text);
    return fails(log, "end") ? error_set(err, "the disk is full") : 0;
}

static int on_measurement(void *context, const struct launch *l, const struct measurement *m,
                          struct error *err)
{
    struct log *log = context;

    assert_int_equal(l->seq, log->begun - 1);
    struct seen *seen = array_push(&log->seen);
    seen->launch = l->seq;
    measurement_copy(&seen->m, m);
    return fails(log, "measurement") ? error_set(err, "the disk is full") : 0;
}

static void on_progress(void *context, const struct sweep_progress *p)
{
    struct log *log = context;

    assert_true(p->done < p->total);
    assert_true(p->launch >= 1 && p->launch <= p->launches);
    assert_memory_equal(p->key, "null/copy/", 10);
    assert_int_equal(isnan(p->left), p->done == 0);
    log->progress++;
    log->total = p->total;
    if (log->interrupt_at && strstr(p->key, log->interrupt_at))
        interrupted = SIGINT;
}

static void log_release(struct log *log)
{
    for (size_t i = 0; i < log->launches.nr; i++)
        launch_release(&log->launches.items[i]);
    for (size_t i = 0; i < log->seen.nr; i++)
        measurement_release(&log->seen.items[i].m);
    array_release(&log->launches);
    array_release(&log->seen);
}

enum { CASES_MAX = 16 };

/* Batch 1 to `nr` of each variant named, separated by commas. */
static size_t make_cases(const char *variants, int nr, struct benchmark *cases)
{
    char copy_of[128], *rest = copy_of, *name;
    size_t total = 0;

    snprintf(copy_of, sizeof(copy_of), "%s", variants);
    while ((name = strsep(&rest, ","))) {
        const struct variant *v = registry_variant(test_registry(), "null/copy", name);
        assert_non_null(v);
        for (int i = 1; i <= nr; i++) {
            assert_true(total < CASES_MAX);
            cases[total++] = (struct benchmark) { v, { { i, 16 } }, CACHE_WARM };
        }
    }
    return total;
}

static struct sweep make_sweep(const char *device, const struct benchmark *cases, size_t nr,
                               int launches)
{
    return (struct sweep) {
        .device_spec = device,
        .benchmarks = cases,
        .nr = nr,
        .launches = launches,
        .settings = { .sampling = { .iterations = 3, .min_samples = 1, .max_samples = 3 },
                      .seed = 77 },
        .case_timeout = 20,
    };
}

static int run(const struct sweep *sweep, struct log *log, enum sweep_end *end, struct error *err)
{
    struct sweep_sink sink = {
        .context = log,
        .launch_begin = on_begin,
        .launch_end = on_end,
        .measurement = on_measurement,
        .progress = on_progress,
    };

    err->message[0] = '\0';
    return sweep_run(sweep, &sink, end, err);
}

static void run_to_end(const struct sweep *sweep, struct log *log)
{
    enum sweep_end end;
    struct error err;

    *log = (struct log) { .begun = 0 };
    assert_ok(run(sweep, log, &end, &err), &err);
    assert_int_equal(end, SWEEP_DONE);
    assert_int_equal(log->begun, log->launches.nr);
}

static size_t count(const struct log *log, const char *key, enum outcome outcome)
{
    size_t nr = 0;

    for (size_t i = 0; i < log->seen.nr; i++)
        nr += log->seen.items[i].m.outcome == outcome &&
              strstr(log->seen.items[i].m.bench.key, key) != NULL;
    return nr;
}

static const struct measurement *find(const struct log *log, const char *key)
{
    for (size_t i = 0; i < log->seen.nr; i++)
        if (strstr(log->seen.items[i].m.bench.key, key))
            return &log->seen.items[i].m;
    fail_msg("%s was not measured", key);
    return NULL;
}

static void every_case_in_every_launch(void **state)
{
    (void)state;
    struct benchmark cases[CASES_MAX];
    struct sweep sweep =
        make_sweep("fake:base=2000,slow=1.05,only=4", cases, make_cases("right", 6, cases), 3);
    struct log log;
    bool seen[3][7] = { { false } };

    run_to_end(&sweep, &log);
    assert_int_equal(log.launches.nr, 3);
    assert_int_equal(log.seen.nr, 18);
    assert_int_equal(log.progress, 18);
    assert_int_equal(log.total, 18);
    for (size_t i = 0; i < 18; i++) {
        const struct measurement *m = &log.seen.items[i].m;
        int64_t batch = benchmark_name_dim(&m->bench, "batch", 0);
        assert_int_equal(m->outcome, OUTCOME_OK);
        assert_int_equal(m->nr_samples, 3);
        assert_true(m->samples[0] == (batch == 4 ? 2100 : 2000));
        assert_true(m->max_error == 0 && m->checked == 1);
        assert_false(seen[log.seen.items[i].launch][batch]);
        seen[log.seen.items[i].launch][batch] = true;
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal(log.launches.items[i].exit_status, 0);
        assert_null(log.launches.items[i].error_text);
    }
    log_release(&log);
}

/* The order of cases in each launch, as digits. */
static void orders(uint64_t seed, char text[64])
{
    struct benchmark cases[CASES_MAX];
    struct sweep sweep = make_sweep("fake", cases, make_cases("right", 8, cases), 2);
    struct log log;
    size_t used = 0;

    sweep.settings.seed = seed;
    run_to_end(&sweep, &log);
    for (size_t i = 0; i < log.seen.nr; i++) {
        int64_t batch = benchmark_name_dim(&log.seen.items[i].m.bench, "batch", 0);
        text[used++] = (char)('0' + batch);
    }
    text[used] = '\0';
    log_release(&log);
}

static void orders_are_random_and_repeatable(void **state)
{
    (void)state;
    char a[64], again[64], other[64];

    orders(5, a);
    orders(5, again);
    orders(6, other);
    assert_int_equal(strlen(a), 16);
    assert_string_equal(a, again);
    assert_string_not_equal(a, other);
    assert_memory_not_equal(a, a + 8, 8); /* each launch has an order of its own */
    assert_memory_not_equal(a, "12345678", 8);
}

static void a_crash_costs_one_case(void **state)
{
    (void)state;
    struct benchmark cases[CASES_MAX];
    struct sweep sweep = make_sweep("fake:crash=3", cases, make_cases("right", 5, cases), 3);
    struct log log;

    run_to_end(&sweep, &log);
    assert_int_equal(count(&log, "batch=3,", OUTCOME_FAILED), 1); /* not tried again */
    assert_int_equal(log.seen.nr, 1 + 3 * 4);
    assert_int_equal(count(&log, "", OUTCOME_OK), 3 * 4);
    const struct measurement *m = find(&log, "batch=3,");
    assert_says(m->message, "the process died by signal 11 (Segmentation fault)");
    assert_int_equal(m->nr_samples, 0);
    assert_true(isnan(m->max_error) && m->checked == 0 && m->flops > 0);
    /* The rest of the first round went on in a launch of its own, unless the crash came last. */
    int died = 0;
    for (size_t i = 0; i < log.launches.nr; i++)
        died += log.launches.items[i].exit_status == -SIGSEGV;
    assert_int_equal(died, 1);
    assert_true(log.launches.nr == 4 || log.launches.nr == 3);
    log_release(&log);
}

static void a_hang_is_killed(void **state)
{
    (void)state;
    struct benchmark cases[CASES_MAX];
    struct sweep sweep = make_sweep("fake:hang=2", cases, make_cases("right", 3, cases), 2);
    struct log log;

    sweep.case_timeout = 0.7;
    run_to_end(&sweep, &log);
    assert_int_equal(count(&log, "batch=2,", OUTCOME_FAILED), 1);
    assert_int_equal(count(&log, "", OUTCOME_OK), 4);
    assert_string_equal(find(&log, "batch=2,")->message, "killed: no result within 0.7 s");
    log_release(&log);
}

static void the_last_words_are_kept(void **state)
{
    (void)state;
    struct benchmark cases[CASES_MAX];
    struct sweep sweep = make_sweep("fake", cases, make_cases("talk_and_die,right", 1, cases), 2);
    struct log log;

    run_to_end(&sweep, &log);
    const struct measurement *m = find(&log, "talk_and_die");
    assert_int_equal(m->outcome, OUTCOME_FAILED);
    assert_says(m->message, "the process died by signal 6 (Aborted): line ");
    assert_says(m->message, "\nthe very last words\n");
    assert_true(strlen(m->message) < 600);
    assert_int_equal(count(&log, "right", OUTCOME_OK), 2);
    for (size_t i = 0; i < log.launches.nr; i++) {
        const struct launch *l = &log.launches.items[i];
        if (l->exit_status == -SIGABRT)
            assert_says(l->error_text, "the very last words\n");
        else
            assert_null(l->error_text);
    }
    log_release(&log);
}

static void an_early_exit_is_a_failure(void **state)
{
    (void)state;
    struct benchmark cases[CASES_MAX];
    struct sweep sweep = make_sweep("fake", cases, make_cases("quit,right", 2, cases), 1);
    struct log log;

    run_to_end(&sweep, &log);
    assert_int_equal(count(&log, "quit", OUTCOME_FAILED), 2);
    assert_int_equal(count(&log, "right", OUTCOME_OK), 2);
    assert_says(find(&log, "quit")->message, "the process exited with status 3: I quit");
    log_release(&log);
}

/* Much on stderr must not stop the child, nor make it a failure. */
static void talkers_are_listened_to(void **state)
{
    (void)state;
    struct benchmark cases[CASES_MAX];
    struct sweep sweep = make_sweep("fake", cases, make_cases("talk", 3, cases), 1);
    struct log log;

    run_to_end(&sweep, &log);
    assert_int_equal(count(&log, "talk", OUTCOME_OK), 3);
    assert_null(log.launches.items[0].error_text);
    log_release(&log);
}

/* True while the process that a child left behind is there and not a mere zombie. */
static bool sleeper_lives(void)
{
    char path[64], state = 'Z';
    FILE *file = fopen(sleeper_path, "r");
    long pid = 0;

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld", &pid), 1);
    fclose(file);
    snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
    file = fopen(path, "r");
    if (!file)
        return false;
    int fields = fscanf(file, "%*d (%*[^)]) %c", &state);
    fclose(file);
    return fields == 1 && state != 'Z' && state != 'X';
}

static void assert_sleeper_gone(void)
{
    for (int i = 0; i < 200 && sleeper_lives(); i++)
        usleep(10000);
    assert_false(sleeper_lives());
}

/* What a kernel leaves running holds the child's pipes: it neither delays the sweep nor disturbs
 * the launches after it. */
static void leftovers_are_killed(void **state)
{
    (void)state;
    struct benchmark cases[CASES_MAX];
    struct sweep sweep = make_sweep("fake", cases, make_cases("leave_sleeper", 1, cases), 1);
    struct log log;

    run_to_end(&sweep, &log);
    assert_int_equal(count(&log, "", OUTCOME_OK), 1);
    assert_int_equal(log.launches.items[0].exit_status, 0);
    assert_sleeper_gone();
    log_release(&log);
    sweep.nr = make_cases("leave_sleeper_and_quit", 1, cases);
    run_to_end(&sweep, &log);
    assert_says(find(&log, "")->message, "the process exited with status 3");
    assert_sleeper_gone();
    log_release(&log);
}

static void outcomes_are_data(void **state)
{
    (void)state;
    struct benchmark cases[CASES_MAX];
    size_t nr = make_cases("right,inexact,unsupported,unprepared", 1, cases);
    struct sweep sweep = make_sweep("fake", cases, nr, 3);
    struct log log;

    run_to_end(&sweep, &log);
    assert_int_equal(count(&log, "right", OUTCOME_OK), 3);
    assert_int_equal(count(&log, "inexact", OUTCOME_WRONG), 3); /* may be right next time */
    assert_int_equal(count(&log, "unsupported", OUTCOME_UNSUPPORTED), 1);
    assert_int_equal(count(&log, "unprepared", OUTCOME_FAILED), 1);
    assert_int_equal(log.seen.nr, 8);
    assert_int_equal(log.launches.nr, 3);
    assert_says(find(&log, "unprepared")->message, "made to fail in prepare");
    log_release(&log);
}

static void nothing_left_means_no_launch(void **state)
{
    (void)state;
    struct benchmark cases[CASES_MAX];
    struct sweep sweep = make_sweep("fake", cases, make_cases("unsupported", 2, cases), 5);
    struct log log;

    run_to_end(&sweep, &log);
    assert_int_equal(log.launches.nr, 1);
    assert_int_equal(log.seen.nr, 2);
    log_release(&log);
}

static void verifying_takes_no_samples(void **state)
{
    (void)state;
    struct benchmark cases[CASES_MAX];
    struct sweep sweep = make_sweep("fake", cases, make_cases("right,incomplete", 1, cases), 1);
    struct log log;

    sweep.settings.verify_only = true;
    run_to_end(&sweep, &log);
    assert_int_equal(find(&log, "right")->nr_samples, 0);
    assert_int_equal(count(&log, "right", OUTCOME_OK), 1);
    assert_int_equal(count(&log, "incomplete", OUTCOME_WRONG), 1);
    log_release(&log);
}

/* The case in hand is nobody's fault: it is not recorded. */
static void an_interrupt_keeps_what_is_finished(void **state)
{
    (void)state;
    struct benchmark cases[CASES_MAX];
    struct sweep sweep = make_sweep("fake:hang=6", cases, make_cases("right", 6, cases), 3);
    struct log log = { .interrupt_at = "batch=6," };
    enum sweep_end end;
    struct error err;

    interrupted = 0;
    sweep.interrupted = &interrupted;
    assert_ok(run(&sweep, &log, &end, &err), &err);
    assert_int_equal(end, SWEEP_INTERRUPTED);
    assert_int_equal(log.seen.nr, log.progress - 1); /* all that had begun before */
    assert_int_equal(count(&log, "", OUTCOME_OK), log.seen.nr);
    assert_int_equal(log.launches.nr, 1);
    assert_int_equal(log.launches.items[0].exit_status, -SIGKILL);
    log_release(&log);
}

/* Also where the child had no time to start. */
static void an_interrupt_before_the_start(void **state)
{
    (void)state;
    struct benchmark cases[CASES_MAX];
    struct sweep sweep = make_sweep("fake:hang=1", cases, make_cases("right", 1, cases), 3);
    struct log log = { .begun = 0 };
    enum sweep_end end;
    struct error err;

    interrupted = SIGTERM;
    sweep.interrupted = &interrupted;
    assert_ok(run(&sweep, &log, &end, &err), &err);
    assert_int_equal(end, SWEEP_INTERRUPTED);
    assert_int_equal(log.seen.nr, 0);
    interrupted = 0;
    log_release(&log);
}

static void a_budget_ends_after_a_round(void **state)
{
    (void)state;
    struct benchmark cases[CASES_MAX];
    struct sweep sweep = make_sweep("fake", cases, make_cases("right", 2, cases), 5);
    struct log log = { .begun = 0 };
    enum sweep_end end;
    struct error err;

    sweep.budget = 1e-9;
    assert_ok(run(&sweep, &log, &end, &err), &err);
    assert_int_equal(end, SWEEP_BUDGET);
    assert_int_equal(log.seen.nr, 2); /* the first round is never cut */
    log_release(&log);
}

static void errors_of_the_sink_end_the_sweep(void **state)
{
    (void)state;
    static const struct {
        const char *where;
        size_t launches, seen;
    } rows[] = { { "begin", 0, 0 }, { "measurement", 0, 1 }, { "end", 1, 2 } };

    for (size_t i = 0; i < 3; i++) {
        struct benchmark cases[CASES_MAX];
        struct sweep sweep = make_sweep("fake", cases, make_cases("right", 2, cases), 3);
        struct log log = { .fail = rows[i].where };
        enum sweep_end end;
        struct error err;
        assert_int_equal(run(&sweep, &log, &end, &err), -1);
        assert_string_equal(err.message, "the disk is full");
        assert_int_equal(log.launches.nr, rows[i].launches);
        assert_int_equal(log.seen.nr, rows[i].seen);
        log_release(&log);
    }
}

/* The sink's error wins where the measurement is a loss, too. */
static void errors_of_the_sink_at_a_loss(void **state)
{
    (void)state;
    struct benchmark cases[CASES_MAX];
    struct sweep sweep = make_sweep("fake", cases, make_cases("quit", 1, cases), 1);
    struct log log = { .fail = "measurement" };
    enum sweep_end end;
    struct error err;

    assert_int_equal(run(&sweep, &log, &end, &err), -1);
    assert_string_equal(err.message, "the disk is full");
    log_release(&log);
}

static void bad_devices_end_it_at_once(void **state)
{
    (void)state;
    struct benchmark cases[CASES_MAX];
    struct sweep sweep = make_sweep("cpu:9999", cases, make_cases("right", 1, cases), 1);
    struct log log = { .begun = 0 };
    enum sweep_end end;
    struct error err;

    assert_int_equal(run(&sweep, &log, &end, &err), -1);
    assert_says(err.message, "device cpu:9999: threads: 9999 is out of range");
    assert_int_equal(log.begun, 0);
    log_release(&log);
}

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
static void an_end_between_cases_goes_on(void **state)
{
    (void)state;
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

static void an_end_before_any_case_is_an_error(void **state)
{
    (void)state;
    struct log log;
    struct error err;

    assert_int_equal(run_script("", "5", 2, &log, &err), -1);
    assert_says(err.message, "the measuring process ended before its first case (status 5)");
    assert_int_equal(log.seen.nr, 0);
    log_release(&log);
}

/* Another program may lack a variant: that costs the case alone, which the parent names. */
static void variants_that_a_child_lacks(void **state)
{
    (void)state;
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
static void jobs_with_unknown_variants(void **state)
{
    (void)state;
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

/* Lines that no right child would say are errors, not numbers in somebody's history. */
static void words_out_of_turn_are_errors(void **state)
{
    (void)state;
    static const struct {
        const char *script, *says;
    } bad[] = {
        { "not json\n", "measuring process: not valid JSON" },
        { "{\"begin\":7}\n", "out of turn" },
        { "{\"begin\":1}\n", "out of turn" },
        { "{\"begin\":-1}\n", "out of turn" },
        { "{\"begin\":0}\n{\"begin\":0}\n", "out of turn" },
        { "{\"end\":0}\n", "out of turn" },
        { "{\"begin\":0}\n{\"end\":1}\n", "out of turn" },
        { "{\"begin\":0}\n{\"end\":0}\n", "not a JSON object" },
        { "{\"begin\":0}\n{\"end\":0,\"measurement\":{\"key\":5}}\n", "\"key\" is missing" },
        { "{\"ceilings\":[]}\n", "out of turn" },
        { "[]\n", "out of turn" },
        { "{}\n", "out of turn" },
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct log log;
        struct error err;
        if (run_script(bad[i].script, "0", 2, &log, &err) != -1)
            fail_msg("accepted: %s", bad[i].script);
        assert_says(err.message, bad[i].says);
        assert_int_equal(log.seen.nr, 0);
        log_release(&log);
    }
}

/* --- jobs --------------------------------------------------------------------------------- */

static int refuse(void *context, size_t index, struct measurement *m, struct error *err)
{
    (void)context;
    (void)index;
    (void)m;
    return error_set(err, "not wanted");
}

/* A child that dies without having read its job, which is more than a socket holds, must not take
 * the parent with it by SIGPIPE. */
static void a_deaf_child_is_survived(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    struct benchmark *cases = memory_zeroed(MANY, sizeof(*cases));
    struct launch_sink sink = { .end = refuse };
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

static void jobs_round_trip(void **state)
{
    (void)state;
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
    assert_true(back.job.settings.verify_only && !back.job.ceilings);
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

static void bad_jobs_are_refused(void **state)
{
    (void)state;
#define JOB(cases) "{\"device\":\"fake\",\"seed\":\"1\",\"sampling\":{},\"cases\":" cases "}"
    static const struct {
        const char *text, *says;
    } bad[] = {
        { "", "job: not valid JSON" },
        { "{}", "\"device\" is missing" },
        { "{\"device\":\"fake\",\"seed\":1}", "\"seed\" is missing or not a string" },
        { "{\"device\":\"fake\",\"seed\":\"1\"}", "sampling: not a JSON object" },
        { JOB("[{}]"), "\"kernel\" is missing" },
        { "{\"protocol\":0}", "this program understands jobs of protocol 2 and older" },
        { "{\"protocol\":3}", "this one is of protocol 3" },
    };
#undef JOB

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct owned_job job;
        struct error err = { "" };
        assert_int_equal(job_parse(bad[i].text, strlen(bad[i].text), test_registry(), &job, &err),
                         -1);
        assert_says(err.message, bad[i].says);
        job_release(&job);
    }
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case_in_every_launch),
        cmocka_unit_test(orders_are_random_and_repeatable),
        cmocka_unit_test(a_crash_costs_one_case),
        cmocka_unit_test(a_hang_is_killed),
        cmocka_unit_test(the_last_words_are_kept),
        cmocka_unit_test(an_early_exit_is_a_failure),
        cmocka_unit_test(talkers_are_listened_to),
        cmocka_unit_test(leftovers_are_killed),
        cmocka_unit_test(outcomes_are_data),
        cmocka_unit_test(nothing_left_means_no_launch),
        cmocka_unit_test(verifying_takes_no_samples),
        cmocka_unit_test(an_interrupt_keeps_what_is_finished),
        cmocka_unit_test(an_interrupt_before_the_start),
        cmocka_unit_test(a_budget_ends_after_a_round),
        cmocka_unit_test(errors_of_the_sink_end_the_sweep),
        cmocka_unit_test(errors_of_the_sink_at_a_loss),
        cmocka_unit_test(bad_devices_end_it_at_once),
        cmocka_unit_test(an_end_between_cases_goes_on),
        cmocka_unit_test(an_end_before_any_case_is_an_error),
        cmocka_unit_test(variants_that_a_child_lacks),
        cmocka_unit_test(jobs_with_unknown_variants),
        cmocka_unit_test(words_out_of_turn_are_errors),
        cmocka_unit_test(a_deaf_child_is_survived),
        cmocka_unit_test(jobs_round_trip),
        cmocka_unit_test(bad_jobs_are_refused),
    };

    if (argc > 1 && strcmp(argv[1], "internal-launch") == 0)
        return child();
    allow_crashes();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
