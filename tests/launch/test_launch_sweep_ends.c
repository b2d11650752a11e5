/* SPDX-License-Identifier: MIT */
/* Sweeps that end before all is done: interrupted, out of budget, or by an error. Features: U-04,
 * S0-12, S0-22. */
#include "sweep_testing.h"

/* The case in hand is nobody's fault: it is not recorded. */
TEST(an_interrupt_keeps_what_is_finished)
{
    struct benchmark cases[CASES_MAX];
    struct sweep sweep = make_sweep("fake:hang=6", cases, make_cases("right", 6, cases), 3);
    struct log log = { .interrupt_at = "batch=6," };
    enum sweep_end end;
    struct error err;

    interrupted = 0;
    sweep.what.limits.interrupted = &interrupted;
    assert_ok(run(&sweep, &log, &end, &err), &err);
    assert_int_equal(end, SWEEP_INTERRUPTED);
    assert_int_equal(log.seen.nr, log.progress - 1); /* all that had begun before */
    assert_int_equal(count(&log, "", OUTCOME_OK), log.seen.nr);
    assert_int_equal(log.launches.nr, 1);
    assert_int_equal(log.launches.items[0].exit_status, -SIGKILL);
    log_release(&log);
}

/* Also where the child had no time to start. */
TEST(an_interrupt_before_the_start)
{
    struct benchmark cases[CASES_MAX];
    struct sweep sweep = make_sweep("fake:hang=1", cases, make_cases("right", 1, cases), 3);
    struct log log = { .begun = 0 };
    enum sweep_end end;
    struct error err;

    interrupted = SIGTERM;
    sweep.what.limits.interrupted = &interrupted;
    assert_ok(run(&sweep, &log, &end, &err), &err);
    assert_int_equal(end, SWEEP_INTERRUPTED);
    assert_int_equal(log.seen.nr, 0);
    interrupted = 0;
    log_release(&log);
}

TEST(a_budget_ends_after_a_round)
{
    struct benchmark cases[CASES_MAX];
    struct sweep sweep = make_sweep("fake", cases, make_cases("right", 2, cases), 5);
    struct log log = { .begun = 0 };
    enum sweep_end end;
    struct error err;

    sweep.what.budget = 1e-9;
    assert_ok(run(&sweep, &log, &end, &err), &err);
    assert_int_equal(end, SWEEP_BUDGET);
    assert_int_equal(log.seen.nr, 2); /* the first round is never cut */
    log_release(&log);
}

TEST(errors_of_the_sink_end_the_sweep)
{
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
TEST(errors_of_the_sink_at_a_loss)
{
    struct benchmark cases[CASES_MAX];
    struct sweep sweep = make_sweep("fake", cases, make_cases("quit", 1, cases), 1);
    struct log log = { .fail = "measurement" };
    enum sweep_end end;
    struct error err;

    assert_int_equal(run(&sweep, &log, &end, &err), -1);
    assert_string_equal(err.message, "the disk is full");
    log_release(&log);
}

/* What waits to be made again is finished, too: of batch 2 all that there is. Of two errors the
 * first is told. */
TEST(a_launch_that_cannot_start_costs_nothing_that_is_finished)
{
    static const struct {
        int deaf_from;
        const char *fail_then;
        size_t seen;
    } rows[] = { { 1, NULL, 2 }, { 5, NULL, 10 }, { 5, "measurement", 6 } };
    const char *device = "fake:base=2000,disturb=1,beside=2,by=1.5";

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct benchmark cases[CASES_MAX];
        struct sweep sweep = make_sweep(device, cases, make_cases("right", 2, cases), 6);
        struct log log = { .deaf_from = rows[i].deaf_from, .fail_then = rows[i].fail_then };
        enum sweep_end end;
        struct error err;
        int rc = run(&sweep, &log, &end, &err);
        unsetenv("TEST_SCRIPT");
        assert_int_equal(rc, -1);
        assert_says(err.message, "before its first case");
        assert_int_equal(log.seen.nr, rows[i].seen);
        log_release(&log);
    }
}

TEST(bad_devices_end_it_at_once)
{
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

int main(int argc, char **argv)
{
    if (is_sweep_child(argc, argv))
        return sweep_child();
    allow_crashes();
    return cmocka_run_group_tests(file_tests, NULL, NULL);
}
