/* SPDX-License-Identifier: MIT */
/*
 * kill -9 of the program that measures, and of the processes that measure for it, at random moments
 * of a whole run: a sweep with real child processes into a real history. Nothing that was finished
 * is lost, and no process is left. Features: U-04, U-05, S0-22.
 */
#include "history/verify.h"
#include "sweep_testing.h"
#include "test_store.h"

#include "core/clock.h"
#include "knocks.h"
#include "process/process_tree.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

/* AddressSanitizer is asked about memory alone, and makes each of the processes slow to begin. */
#ifdef __SANITIZE_ADDRESS__
enum { KILLS = 20 };
#else
enum { KILLS = 100 };
#endif
enum { TRIES_A_KILL = 8, CASES = 6, ROUNDS = 3, PATIENCE_MS = 20000 };

/* ---- the program: what `harness run` does, and a byte for each measurement that is stored ---- */

struct keeper {
    struct store *store;
    int64_t run, launch;
    int report;
};

static int keep_launch(void *context, const struct launch *l, struct error *err)
{
    struct keeper *k = context;

    return store_begin_launch(k->store, k->run, l, &k->launch, err);
}

static int keep_end(void *context, const struct launch *l, struct error *err)
{
    struct keeper *k = context;

    return store_end_launch(k->store, k->launch, l, err);
}

static int keep_measurement(void *context, const struct launch *l, const struct measurement *m,
                            struct error *err)
{
    struct keeper *k = context;

    (void)l;
    if (store_add_measurement(k->store, k->launch, m, err))
        return -1;
    return write(k->report, "+", 1) == 1 ? 0 : error_set(err, "cannot report");
}

/* No cmocka here: it is not made for processes of its own. */
static int measure_and_keep(const char *path, uint64_t seed, int report, struct error *err)
{
    struct benchmark cases[CASES_MAX];
    struct keeper k = { .report = report };
    struct measurement_sink sink = { .context = &k,
                                     .launch_begin = keep_launch,
                                     .launch_end = keep_end,
                                     .measurement = keep_measurement };
    struct run run = sample_run();
    enum sweep_end end;

    for (int i = 0; i < CASES; i++)
        cases[i] = (struct benchmark) { registry_variant(test_registry(), "null/copy", "right"),
                                        { { i + 1, 16 } },
                                        CACHE_WARM,
                                        NULL };
    struct sweep sweep = make_sweep("fake", cases, CASES, ROUNDS);
    sweep.what.settings.seed = seed;
    int rc = store_open(&k.store, path, STORE_WRITE, err);
    if (rc == 0)
        rc = store_begin_run(k.store, &run, err);
    k.run = run.id;
    if (rc == 0)
        rc = sweep_run(&sweep, &sink, &end, err);
    if (rc == 0)
        rc = store_end_run(k.store, run.id, 1, err);
    store_close(k.store);
    return rc;
}

struct program {
    pid_t pid;
    int report; /* what it stored */
};

static struct program start_program(const char *path, uint64_t seed)
{
    struct program p;
    struct error err;
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* what it leaves behind becomes ours */
    p.pid = fork();
    assert_true(p.pid >= 0);
    if (p.pid == 0) {
        close(ends[0]);
        _exit(measure_and_keep(path, seed, ends[1], &err) ? 1 : 0);
    }
    close(ends[1]);
    p.report = ends[0];
    return p;
}

static void wait_us(uint64_t microseconds)
{
    struct timespec delay = { .tv_sec = (time_t)(microseconds / 1000000),
                              .tv_nsec = (long)(microseconds % 1000000) * 1000 };

    nanosleep(&delay, NULL);
}

/* How much it stored, once it and all that it started are gone. */
static unsigned gone(struct program *p)
{
    struct pollfd fd = { .fd = p->report, .events = POLLIN };
    char bytes[64];
    unsigned total = 0;

    for (;;) {
        if (poll(&fd, 1, PATIENCE_MS) <= 0)
            fail_msg("a process is left behind");
        ssize_t nr = read(p->report, bytes, sizeof(bytes));
        if (nr <= 0)
            break;
        total += (unsigned)nr;
    }
    close(p->report);
    for (int waited = 0; waitpid(-1, NULL, WNOHANG) >= 0; waited++) {
        if (waited > PATIENCE_MS / 5)
            fail_msg("a process is left behind");
        wait_us(5000);
    }
    return total;
}

/* ---- what the history says then ---- */

static struct store_health look(const char *path)
{
    struct store_health health = { 0 };
    struct error err;
    struct store *s;

    assert_ok(store_open(&s, path, STORE_WRITE, &err), &err); /* may be the first to make it */
    assert_ok(store_verify(s, &health, &err), &err);
    store_close(s);
    return health;
}

/* How long one run takes here, in microseconds. */
static uint64_t undisturbed(const char *path)
{
    uint64_t start = clock_ns();
    struct program p = start_program(path, 1);
    int status;

    assert_int_equal(waitpid(p.pid, &status, 0), p.pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(gone(&p), CASES * ROUNDS);
    return (clock_ns() - start) / 1000;
}

/* How busy the machine is changes meanwhile: about two knocks in three are to come in time. */
static void aim(uint64_t *longest, bool in_time)
{
    *longest = in_time ? *longest + *longest / 16 : *longest - *longest / 8;
}

/* ---- the knocks ---- */

SCRATCH_TEST(the_program_is_killed)
{
    const struct scratch *scratch = *state;
    uint64_t longest = undisturbed(scratch->path), seed = knock_seed();
    unsigned reported = CASES * ROUNDS;
    struct random r;
    long kills = 0, wanted = knock_times(KILLS);

    random_seed(&r, seed);
    for (int i = 0; i < TRIES_A_KILL * wanted && kills < wanted; i++) {
        struct program p = start_program(scratch->path, random_u64(&r));
        int status;
        wait_us(random_below(&r, longest));
        kill(p.pid, SIGKILL);
        assert_int_equal(waitpid(p.pid, &status, 0), p.pid);
        kills += WIFSIGNALED(status);
        aim(&longest, WIFSIGNALED(status));
        reported += gone(&p);
        /* Each may have died between storing one more and saying so. */
        assert_in_range(look(scratch->path).measurements, reported, reported + (unsigned)kills);
    }
    assert_int_equal(kills, wanted);
    knock("kill -9 of the program that measures", kills, wanted,
          "nothing finished lost, file sound, no process left (seed %" PRIu64 ")", seed);
}

static bool measures(long pid)
{
    char path[64], line[4096] = "";

    snprintf(path, sizeof(path), "/proc/%ld/cmdline", pid);
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(line, 1, sizeof(line) - 1, file) : 0;
    if (file)
        fclose(file);
    size_t second = strlen(line) + 1;
    return second < length && strcmp(line + second, "internal-launch") == 0;
}

static bool has_ended(pid_t pid)
{
    siginfo_t info = { .si_pid = 0 };

    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

/* The process that measures for the program now; 0: there is none at the moment. */
static pid_t child_of(pid_t parent)
{
    pid_t pids[64];
    size_t nr = process_tree_list(parent, pids, 64);

    for (size_t i = 0; i < nr; i++)
        if (measures(pids[i]))
            return pids[i];
    return 0;
}

/* Of the runs in the history: what is there more than it was, by outcome. */
static void count_outcomes(const char *path, size_t outcomes[OUTCOME_NR])
{
    struct store_listing listing = { .nr = 0 };
    struct error err;
    struct store *s;

    memset(outcomes, 0, OUTCOME_NR * sizeof(*outcomes));
    assert_ok(store_open(&s, path, STORE_READ, &err), &err);
    assert_ok(store_list_runs(s, NULL, 0, &listing, &err), &err);
    for (size_t i = 0; i < listing.nr; i++)
        for (int k = 0; k < OUTCOME_NR; k++)
            outcomes[k] += (size_t)listing.items[i].outcomes[k];
    store_listing_release(&listing);
    store_close(s);
}

/* The program lives: all that it stored is there, to the last one, and each kill cost one case at
 * most. One that comes before a process began its first case ends the run, with an error. */
SCRATCH_TEST(a_measuring_process_is_killed)
{
    const struct scratch *scratch = *state;
    uint64_t longest = undisturbed(scratch->path), seed = knock_seed();
    unsigned reported = CASES * ROUNDS;
    size_t outcomes[OUTCOME_NR];
    struct random r;
    long kills = 0, wanted = knock_times(KILLS);

    random_seed(&r, seed);
    for (int i = 0; i < TRIES_A_KILL * wanted && kills < wanted; i++) {
        struct program p = start_program(scratch->path, random_u64(&r));
        int status;
        wait_us(random_below(&r, longest));
        pid_t child = child_of(p.pid);
        kills += child > 0 && kill(child, SIGKILL) == 0;
        aim(&longest, child > 0 || !has_ended(p.pid));
        assert_int_equal(waitpid(p.pid, &status, 0), p.pid);
        assert_true(WIFEXITED(status));
        reported += gone(&p);
        assert_int_equal(look(scratch->path).measurements, reported);
    }
    assert_int_equal(kills, wanted);
    count_outcomes(scratch->path, outcomes);
    assert_int_equal(outcomes[OUTCOME_OK] + outcomes[OUTCOME_FAILED], reported);
    assert_in_range(outcomes[OUTCOME_FAILED], 0, wanted);
    knock("kill -9 of a measuring process", kills, wanted,
          "nothing finished lost, %zu cases were in hand (seed %" PRIu64 ")",
          outcomes[OUTCOME_FAILED], seed);
}

int main(int argc, char **argv)
{
    if (is_sweep_child(argc, argv))
        return sweep_child();
    allow_crashes();
    return cmocka_run_group_tests(file_tests, NULL, NULL);
}
