/* SPDX-License-Identifier: MIT */
/* What a sweep makes of its cases: crashes, hangs and early ends cost the case in hand and nothing
 * else. Features: U-04, S0-12, S0-22. */
#include "sweep_testing.h"

#include <math.h>

#define LOG_TEST(name) TEST_WITH_A(name, struct log, log, log_release)

LOG_TEST(every_case_in_every_launch)
{
    struct benchmark cases[CASES_MAX];
    struct sweep sweep =
        make_sweep("fake:base=2000,slow=1.05,only=4", cases, make_cases("right", 6, cases), 3);
    bool seen[3][7] = { { false } };

    run_to_end(&sweep, log);
    assert_int_equal(log->launches.nr, 3);
    assert_int_equal(log->seen.nr, 18);
    assert_int_equal(log->progress, 18);
    assert_int_equal(log->total, 18);
    for (size_t i = 0; i < 18; i++) {
        const struct measurement *m = &log->seen.items[i].m;
        int64_t batch = benchmark_name_dim(&m->bench, "batch", 0);
        assert_int_equal(m->outcome, OUTCOME_OK);
        assert_int_equal(m->nr_samples, 3);
        assert_true(m->samples[0] == (batch == 4 ? 2100 : 2000));
        assert_true(m->max_error == 0 && m->checked == 1);
        assert_false(seen[log->seen.items[i].launch][batch]);
        seen[log->seen.items[i].launch][batch] = true;
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal(log->launches.items[i].exit_status, 0);
        assert_null(log->launches.items[i].error_text);
    }
}

/* One case fewer in each round, until none is wanted; the first comes back once. */
struct choosing {
    struct log log;
    size_t rounds;
};

static bool wants_fewer(void *context, size_t which)
{
    const struct choosing *c = context;

    return which >= c->rounds || (which == 0 && c->rounds == 2);
}

static int count_round(void *context, struct error *err)
{
    struct choosing *c = context;

    (void)err;
    c->rounds++;
    return 0;
}

TEST(who_decides_from_round_to_round)
{
    struct choosing c = { .rounds = 0 };
    struct benchmark cases[CASES_MAX];
    struct sweep sweep = make_sweep("fake:base=2000", cases, make_cases("right", 4, cases), 9);
    const struct measurement_sink sink = {
        .context = &c.log,
        .launch_begin = on_begin,
        .launch_end = on_end,
        .measurement = on_measurement,
    };
    enum sweep_end end;
    struct error err;

    sweep.context = &c;
    sweep.round_end = count_round;
    sweep.wants = wants_fewer;
    assert_ok(sweep_run(&sweep, &sink, &end, &err), &err);
    assert_int_equal(end, SWEEP_DONE);
    assert_int_equal(c.rounds, 4);
    assert_int_equal(c.log.launches.nr, 4);
    assert_int_equal(c.log.seen.nr, 4 + 3 + 2 + 1 + 1);
    log_release(&c.log);
}

/* Each device has processes of its own, in each round one behind the other. */
LOG_TEST(devices_take_turns)
{
    enum { ROUNDS = 8 };
    struct benchmark cases[CASES_MAX];
    int device_of[CASES_MAX] = { 0 }, seen[2 * ROUNDS][2] = { { 0 } }, cpu_first = 0;
    size_t nr = make_cases("right", 5, cases);
    struct sweep sweep = make_sweep("cpu:1,fake:base=2000,only=9", cases, nr, ROUNDS);

    for (size_t i = 0; i < nr; i++)
        device_of[i] = i % 2 == 1; /* batches 2 and 4 on the fake one */
    sweep.device_of = device_of;
    run_to_end(&sweep, log);
    assert_int_equal(log->launches.nr, 2 * ROUNDS);
    assert_int_equal(log->seen.nr, 5 * ROUNDS);
    for (size_t i = 0; i < log->seen.nr; i++) {
        const struct benchmark_name *bench = &log->seen.items[i].m.bench;
        bool fake = benchmark_name_dim(bench, "batch", 0) % 2 == 0;
        assert_int_equal(log->seen.items[i].m.outcome, OUTCOME_OK);
        assert_string_equal(bench->device, fake ? "fake" : "cpu-1t");
        seen[log->seen.items[i].launch][fake]++;
    }
    for (int i = 0; i < ROUNDS; i++) {
        const int *one = seen[2 * i], *other = seen[2 * i + 1];
        assert_int_equal(one[0] + other[0], 3);
        assert_int_equal(one[1] + other[1], 2);
        assert_true((one[0] == 0) != (one[1] == 0)); /* a process has one device */
        cpu_first += one[0] > 0;
    }
    assert_in_range(cpu_first, 1, ROUNDS - 1); /* by chance */
}

/* The order of cases in each launch, as digits. */
static void orders(uint64_t seed, char text[64])
{
    struct benchmark cases[CASES_MAX];
    struct sweep sweep = make_sweep("fake", cases, make_cases("right", 8, cases), 2);
    struct log log;
    size_t used = 0;

    sweep.what.settings.seed = seed;
    run_to_end(&sweep, &log);
    for (size_t i = 0; i < log.seen.nr; i++) {
        int64_t batch = benchmark_name_dim(&log.seen.items[i].m.bench, "batch", 0);
        text[used++] = (char)('0' + batch);
    }
    text[used] = '\0';
    log_release(&log);
}

TEST(orders_are_random_and_repeatable)
{
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

LOG_TEST(a_crash_costs_one_case)
{
    struct benchmark cases[CASES_MAX];
    struct sweep sweep = make_sweep("fake:crash=3", cases, make_cases("right", 5, cases), 3);

    run_to_end(&sweep, log);
    assert_int_equal(count(log, "batch=3,", OUTCOME_FAILED), 1); /* not tried again */
    assert_int_equal(log->seen.nr, 1 + 3 * 4);
    assert_int_equal(count(log, "", OUTCOME_OK), 3 * 4);
    const struct measurement *m = find(log, "batch=3,");
    assert_says(m->message, "the process died by signal 11 (Segmentation fault)");
    assert_int_equal(m->nr_samples, 0);
    assert_true(isnan(m->max_error) && m->checked == 0 && m->flops > 0);
    /* The rest of the first round went on in a launch of its own, unless the crash came last. */
    int died = 0;
    for (size_t i = 0; i < log->launches.nr; i++)
        died += log->launches.items[i].exit_status == -SIGSEGV;
    assert_int_equal(died, 1);
    assert_true(log->launches.nr == 4 || log->launches.nr == 3);
}

LOG_TEST(a_hang_is_killed)
{
    struct benchmark cases[CASES_MAX];
    struct sweep sweep = make_sweep("fake:hang=2", cases, make_cases("right", 3, cases), 2);

    sweep.what.limits.case_timeout = 0.7;
    run_to_end(&sweep, log);
    assert_int_equal(count(log, "batch=2,", OUTCOME_FAILED), 1);
    assert_int_equal(count(log, "", OUTCOME_OK), 4);
    assert_string_equal(find(log, "batch=2,")->message, "killed: no result within 0.7 s");
}

/* s from the start of the process to its recorded end; a timeout of 0: it ends by itself. */
static double lasted(const char *device, const char *variant, double timeout)
{
    struct benchmark cases[CASES_MAX];
    struct sweep sweep = make_sweep(device, cases, make_cases(variant, 1, cases), 1);
    struct log log;

    if (timeout > 0)
        sweep.what.limits.case_timeout = timeout;
    run_to_end(&sweep, &log);
    if (timeout > 0)
        assert_says(find(&log, "")->message, "killed: no result within ");
    assert_int_equal(log.launches.nr, 1);
    double ms = (double)(log.launches.items[0].ended_ms - log.launches.items[0].started_ms);
    log_release(&log);
    return ms * 1e-3;
}

/* Of several tries the shortest: on a busy machine a process may wait before it has begun, and so
 * may who ends it. What a launch without a limit takes there, to begin and to end, is allowed
 * besides. */
TEST(a_limit_is_kept_to_a_second)
{
    static const struct {
        const char *device, *variant;
    } rows[] = { { "fake:hang=1", "right" }, { "fake", "leave_group" } };
    const double limit = 0.7;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        double shortest = 1e9, most = 0;
        for (int try = 0; try < 10 && shortest > most; try++) {
            most = fmax(most, limit + 1 + lasted("fake", "right", 0));
            shortest = fmin(shortest, lasted(rows[i].device, rows[i].variant, limit));
        }
        if (shortest < limit || shortest > most)
            fail_msg("%s %s: %g s, %g at most", rows[i].device, rows[i].variant, shortest, most);
    }
}

/* Who listens keeps no more of a line than there is to say. */
LOG_TEST(an_endless_line_takes_no_memory)
{
    struct benchmark cases[CASES_MAX];
    struct sweep sweep = make_sweep("fake", cases, make_cases("endless_line", 1, cases), 1);
    struct rusage before, after;

    getrusage(RUSAGE_SELF, &before);
    run_to_end(&sweep, log);
    getrusage(RUSAGE_SELF, &after);
    assert_says(find(log, "")->message, "the channel said something");
    assert_says(find(log, "")->message, "without end");
    assert_in_range(after.ru_maxrss - before.ru_maxrss, 0, 64 << 10); /* KiB */
}

/* All answers are there, and the limit holds until the process is gone. */
LOG_TEST(the_end_has_a_limit_too)
{
    struct benchmark cases[CASES_MAX];
    struct sweep sweep = make_sweep("fake", cases, make_cases("fill_at_exit", 1, cases), 1);

    unlink(mark_path);
    sweep.what.settings.memory_limit = 400 << 20;
    run_to_end(&sweep, log);
    assert_int_equal(count(log, "", OUTCOME_OK), 1);
    assert_int_equal(log->launches.items[0].exit_status, -SIGKILL);
    assert_int_equal(access(mark_path, F_OK), -1);
}

LOG_TEST(a_hog_is_killed)
{
    struct benchmark cases[CASES_MAX];
    struct sweep sweep = make_sweep("fake:grow=2", cases, make_cases("right", 3, cases), 2);

    sweep.what.settings.memory_limit = 400 << 20;
    run_to_end(&sweep, log);
    assert_int_equal(count(log, "batch=2,", OUTCOME_FAILED), 1); /* not tried again */
    assert_int_equal(count(log, "", OUTCOME_OK), 4);
    const char *message = find(log, "batch=2,")->message;
    assert_says(message, "killed: out of memory limit, it held ");
    assert_says(message, " of 400.0 MiB allowed");
}

/* Less than a process needs to begin with is no case's fault. */
LOG_TEST(a_limit_that_is_too_small)
{
    struct benchmark cases[CASES_MAX];
    struct sweep sweep = make_sweep("fake", cases, make_cases("right", 1, cases), 1);
    enum sweep_end end;
    struct error err;

    sweep.what.settings.memory_limit = 4096;
    assert_int_equal(run(&sweep, log, &end, &err), -1);
    assert_says(err.message,
                "held more than the memory limit and was killed before its first case");
    assert_int_equal(log->seen.nr, 0);
}

/* Each case once, in each launch; what stays disturbed was tried as often as it was measured, and
 * says so. */
TEST(what_is_disturbed_is_made_again)
{
    struct benchmark cases[CASES_MAX];
    struct sweep sweep = make_sweep("fake:base=2000,disturb=1,beside=2,by=1.5", cases,
                                    make_cases("right", 3, cases), 3);
    double repeats = 0, disturbed = 0;
    bool seen[3][4] = { { false } };
    struct log log;

    run_to_end(&sweep, &log);
    assert_int_equal(log.launches.nr, 3);
    assert_int_equal(log.seen.nr, 9);
    assert_int_equal(log.progress, 12); /* three more processes' cases */
    for (size_t i = 0; i < log.seen.nr; i++) {
        const struct measurement *m = &log.seen.items[i].m;
        int64_t batch = benchmark_name_dim(&m->bench, "batch", 0);
        bool told = !isnan(measurement_telemetry(m, "disturbed_percent"));
        assert_false(seen[log.seen.items[i].launch][batch]);
        seen[log.seen.items[i].launch][batch] = true;
        assert_int_equal(told, batch == 2);
        disturbed += told;
        if (!isnan(measurement_telemetry(m, "repeats")))
            repeats += measurement_telemetry(m, "repeats");
    }
    assert_close(repeats, 3, 0);
    assert_close(disturbed, 3, 0);
    log_release(&log);
    sweep.what.once = true;
    run_to_end(&sweep, &log);
    assert_int_equal(log.progress, 9);
    assert_int_equal(log.seen.nr, 9);
    for (size_t i = 0; i < log.seen.nr; i++)
        assert_true(isnan(measurement_telemetry(&log.seen.items[i].m, "repeats")));
    log_release(&log);
}

/* Measurements that were made again, and those that are still not what they should be. */
static void count_disturbed(const struct log *log, size_t *repeated, size_t *left)
{
    *repeated = *left = 0;
    assert_int_equal(log->seen.nr, 60);
    for (size_t i = 0; i < log->seen.nr; i++) {
        const struct measurement *m = &log->seen.items[i].m;
        *repeated += measurement_telemetry(m, "repeats") > 0;
        *left += m->samples[0] != 2000;
        if (measurement_telemetry(m, "repeats") > 0)
            assert_close(measurement_telemetry(m, "set_aside_ns"), 4000, 0);
    }
}

/* One launch in three at twice its time: made again until it is not. What a busy machine does to a
 * launch counts beside what is planted, so one sweep of three is enough. */
TEST(what_was_disturbed_is_gone)
{
    struct benchmark cases[CASES_MAX];
    size_t repeated = 0, left = 60;

    for (int try = 0; try < 3 && left > 3; try++) {
        struct sweep sweep =
            make_sweep("fake:base=2000,disturb=0.3,by=2", cases, make_cases("right", 6, cases), 10);
        struct log log;
        run_to_end(&sweep, &log);
        count_disturbed(&log, &repeated, &left);
        log_release(&log);
        assert_true(repeated > 0);
    }
    assert_true(left <= 3);
}

/* What waits is finished: it is not lost. */
TEST(an_interrupt_keeps_what_waits)
{
    struct benchmark cases[CASES_MAX];
    struct sweep sweep = make_sweep("fake:base=2000,disturb=1,beside=2,hang=3", cases,
                                    make_cases("right", 3, cases), 3);
    struct log log = { .interrupt_at = "batch=3," };
    enum sweep_end end;
    struct error err;

    sweep.in_order = true;
    sweep.what.limits.interrupted = &interrupted;
    interrupted = 0;
    assert_ok(run(&sweep, &log, &end, &err), &err);
    interrupted = 0;
    assert_int_equal(end, SWEEP_INTERRUPTED);
    assert_int_equal(log.seen.nr, 2);
    log_release(&log);
}

LOG_TEST(the_last_words_are_kept)
{
    struct benchmark cases[CASES_MAX];
    struct sweep sweep = make_sweep("fake", cases, make_cases("talk_and_die,right", 1, cases), 2);

    run_to_end(&sweep, log);
    const struct measurement *m = find(log, "talk_and_die");
    assert_int_equal(m->outcome, OUTCOME_FAILED);
    assert_says(m->message, "the process died by signal 6 (Aborted): line ");
    assert_says(m->message, "\nthe very last words\n");
    assert_true(strlen(m->message) < 600);
    assert_int_equal(count(log, "right", OUTCOME_OK), 2);
    for (size_t i = 0; i < log->launches.nr; i++) {
        const struct launch *l = &log->launches.items[i];
        if (l->exit_status == -SIGABRT)
            assert_says(l->error_text, "the very last words\n");
        else
            assert_null(l->error_text);
    }
}

LOG_TEST(an_early_exit_is_a_failure)
{
    struct benchmark cases[CASES_MAX];
    struct sweep sweep = make_sweep("fake", cases, make_cases("quit,right", 2, cases), 1);

    run_to_end(&sweep, log);
    assert_int_equal(count(log, "quit", OUTCOME_FAILED), 2);
    assert_int_equal(count(log, "right", OUTCOME_OK), 2);
    assert_says(find(log, "quit")->message, "the process exited with status 3: I quit");
}

/* Much on stderr must not stop the child, nor make it a failure. */
LOG_TEST(talkers_are_listened_to)
{
    struct benchmark cases[CASES_MAX];
    struct sweep sweep = make_sweep("fake", cases, make_cases("talk", 3, cases), 1);

    run_to_end(&sweep, log);
    assert_int_equal(count(log, "talk", OUTCOME_OK), 3);
    assert_null(log->launches.items[0].error_text);
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
TEST(leftovers_are_killed)
{
    struct benchmark cases[CASES_MAX];
    struct sweep sweep = make_sweep("fake", cases, make_cases("leave_sleeper", 1, cases), 1);
    struct log log;

    run_to_end(&sweep, &log);
    assert_int_equal(count(&log, "", OUTCOME_OK), 1);
    assert_int_equal(log.launches.items[0].exit_status, 0);
    assert_sleeper_gone();
    log_release(&log);
    sweep.what.nr = make_cases("leave_sleeper_and_quit", 1, cases);
    run_to_end(&sweep, &log);
    assert_says(find(&log, "")->message, "the process exited with status 3");
    assert_sleeper_gone();
    log_release(&log);
}

LOG_TEST(outcomes_are_data)
{
    struct benchmark cases[CASES_MAX];
    size_t nr = make_cases("right,inexact,unsupported,unprepared", 1, cases);
    struct sweep sweep = make_sweep("fake", cases, nr, 3);

    run_to_end(&sweep, log);
    assert_int_equal(count(log, "right", OUTCOME_OK), 3);
    assert_int_equal(count(log, "inexact", OUTCOME_WRONG), 3); /* may be right next time */
    assert_int_equal(count(log, "unsupported", OUTCOME_UNSUPPORTED), 1);
    assert_int_equal(count(log, "unprepared", OUTCOME_FAILED), 1);
    assert_int_equal(log->seen.nr, 8);
    assert_int_equal(log->launches.nr, 3);
    assert_says(find(log, "unprepared")->message, "made to fail in prepare");
}

LOG_TEST(nothing_left_means_no_launch)
{
    struct benchmark cases[CASES_MAX];
    struct sweep sweep = make_sweep("fake", cases, make_cases("unsupported", 2, cases), 5);

    run_to_end(&sweep, log);
    assert_int_equal(log->launches.nr, 1);
    assert_int_equal(log->seen.nr, 2);
}

LOG_TEST(verifying_takes_no_samples)
{
    struct benchmark cases[CASES_MAX];
    struct sweep sweep = make_sweep("fake", cases, make_cases("right,incomplete", 1, cases), 1);

    sweep.what.settings.verify_only = true;
    run_to_end(&sweep, log);
    assert_int_equal(find(log, "right")->nr_samples, 0);
    assert_int_equal(count(log, "right", OUTCOME_OK), 1);
    assert_int_equal(count(log, "incomplete", OUTCOME_WRONG), 1);
}

int main(int argc, char **argv)
{
    if (is_sweep_child(argc, argv))
        return sweep_child();
    allow_crashes();
    return cmocka_run_group_tests(file_tests, NULL, NULL);
}
