/* SPDX-License-Identifier: MIT */
/* Many writers at once, and writers that are killed: nothing that was finished is lost.
 * Features: U-05. */
#include "test_store.h"

#include "store/sql.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

enum { WRITERS = 10, EACH = 50, KILLS = 30 };

/* One `harness run` in small; the children use no cmocka, which is not made for them. After each
 * stored measurement a byte goes to `report`, if that is open. */
static int write_run(const char *path, unsigned nr, int report, struct error *err)
{
    struct run run = sample_run();
    struct launch launch = { .seq = 0 };
    struct store *s;
    int64_t launch_id;
    int rc = store_open(&s, path, STORE_WRITE, err);

    if (rc == 0)
        rc = store_begin_run(s, &run, err);
    if (rc == 0)
        rc = store_begin_launch(s, run.id, &launch, &launch_id, err);
    for (unsigned i = 0; rc == 0 && i < nr; i++) {
        struct measurement m = sample_measurement(i);
        rc = store_add_measurement(s, launch_id, &m, err);
        measurement_release(&m);
        if (rc == 0 && report >= 0 && write(report, "+", 1) != 1)
            rc = error_set(err, "cannot report");
    }
    if (rc == 0)
        rc = store_end_launch(s, launch_id, &launch, err);
    if (rc == 0)
        rc = store_end_run(s, run.id, 1, err);
    store_close(s);
    return rc;
}

static pid_t start_writer(const char *path, unsigned nr, int report)
{
    struct error err;
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    int rc = write_run(path, nr, report, &err);
    if (rc)
        fprintf(stderr, "writer: %s\n", err.message);
    _exit(rc ? 1 : 0);
}

static void wait_for_all(const pid_t *pids, size_t nr)
{
    int status;

    for (size_t i = 0; i < nr; i++) {
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

static void assert_all_there(const char *path, unsigned writers, unsigned each)
{
    struct error err;
    struct store *s;
    struct store_health health;
    struct store_listing listing = { .nr = 0 };

    assert_ok(store_open(&s, path, STORE_READ, &err), &err);
    assert_ok(store_verify(s, &health, &err), &err);
    assert_int_equal(health.runs, writers);
    assert_int_equal(health.measurements, writers * each);
    assert_ok(store_list_runs(s, NULL, 0, &listing, &err), &err);
    for (size_t i = 0; i < listing.nr; i++) {
        assert_int_equal(listing.items[i].outcomes[OUTCOME_OK], each);
        assert_int_equal(listing.items[i].run.ended_ms, 1);
    }
    store_listing_release(&listing);
    store_close(s);
}

/* All ten find no file and make it; readers look at it meanwhile. */
static void test_ten_at_once(void **state)
{
    const struct scratch *scratch = *state;
    struct error err;
    pid_t pids[WRITERS];

    for (int i = 0; i < WRITERS; i++)
        assert_true((pids[i] = start_writer(scratch->path, EACH, -1)) > 0);
    for (int i = 0; i < 20; i++) {
        struct store *s;
        struct store_health health;
        if (store_open(&s, scratch->path, STORE_READ, &err) == 0)
            assert_ok(store_verify(s, &health, &err), &err);
        store_close(s);
    }
    wait_for_all(pids, WRITERS);
    assert_all_there(scratch->path, WRITERS, EACH);
}

/* Creating the file is where a race would show: many short goes at it. */
static void test_creation_race(void **state)
{
    const struct scratch *scratch = *state;
    pid_t pids[6];

    for (int round = 0; round < 15; round++) {
        char path[160];
        snprintf(path, sizeof(path), "%s/race-%d/history.db", scratch->folder, round);
        for (int i = 0; i < 6; i++)
            assert_true((pids[i] = start_writer(path, 1, -1)) > 0);
        wait_for_all(pids, 6);
        assert_all_there(path, 6, 1);
    }
}

static unsigned drain(int fd)
{
    char bytes[256];
    unsigned total = 0;

    for (ssize_t nr; (nr = read(fd, bytes, sizeof(bytes))) > 0;)
        total += (unsigned)nr;
    return total;
}

/* Lets a writer live for some microseconds; gives how many measurements it called stored. */
static unsigned kill_after(const char *path, long microseconds)
{
    struct timespec delay = { .tv_nsec = microseconds * 1000 };
    int ends[2], status;

    assert_int_equal(pipe(ends), 0);
    pid_t pid = start_writer(path, 1000000, ends[1]);
    assert_true(pid > 0);
    close(ends[1]);
    nanosleep(&delay, NULL);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    unsigned reported = drain(ends[0]);
    close(ends[0]);
    return reported;
}

/* From death while the file is made to death among thousands of measurements. */
static void test_kill(void **state)
{
    const struct scratch *scratch = *state;
    struct random r;
    unsigned reported = 0;
    int64_t found = 0;

    random_seed(&r, random_fresh_seed());
    for (int i = 0; i < KILLS; i++) {
        struct error err;
        struct store *s;
        struct store_health health;
        unsigned longest = i < KILLS / 2 ? 20000 : 200000;
        reported += kill_after(scratch->path, (long)random_below(&r, longest));
        assert_ok(store_open(&s, scratch->path, STORE_WRITE, &err), &err);
        assert_ok(store_verify(s, &health, &err), &err);
        /* Each writer may have died between storing one more and reporting it. */
        assert_in_range(health.measurements, reported, reported + (unsigned)i + 1);
        assert_true(health.measurements >= found);
        found = health.measurements;
        store_close(s);
    }
    assert_true(reported > 0);
}

/* A reader that opens the file right after a death finds all of it too, without write access
 * being asked for. */
static void test_read_after_kill(void **state)
{
    const struct scratch *scratch = *state;
    struct error err;
    struct store *s;
    struct store_health health;
    unsigned reported = 0;

    for (int i = 0; i < 20 && reported == 0; i++)
        reported = kill_after(scratch->path, 50000);
    assert_true(reported > 0);
    assert_ok(store_open(&s, scratch->path, STORE_READ, &err), &err);
    assert_ok(store_verify(s, &health, &err), &err);
    assert_true(health.measurements >= reported);
    store_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(test_ten_at_once),
        scratch_test(test_creation_race),
        scratch_test(test_kill),
        scratch_test(test_read_after_kill),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
