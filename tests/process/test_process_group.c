/* SPDX-License-Identifier: MIT */
/* No program outlives who started it, however that ended: by kill -9 at random moments of starting,
 * running and stopping programs that have children of their own. Features: U-04, U-09. */
#include "testing.h"

#include "base/monotonic.h"
#include "knocks.h"
#include "process/process.h"
#include "process/process_group.h"
#include "process/process_tree.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KILLS = 60, PATIENCE_MS = 20000 };

/* A process that is to be killed. What is left of it becomes a child of this one, which is where
 * nothing that it started can hide. */
static pid_t start(void (*life)(int told), int *began)
{
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(ends[0]);
        life(ends[1]);
        _exit(9);
    }
    close(ends[1]);
    *began = ends[0];
    return pid;
}

static void wait_for_byte(int fd)
{
    struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
    char byte;

    assert_int_equal(poll(&poll_fd, 1, PATIENCE_MS), 1);
    assert_int_equal(read(fd, &byte, 1), 1);
}

/* Waits for it and for all that it has left behind; false if something does not end. */
static bool nothing_is_left(void)
{
    int64_t end = monotonic_ms() + PATIENCE_MS;

    while (monotonic_ms() < end) {
        pid_t ended;
        while ((ended = waitpid(-1, NULL, WNOHANG)) > 0)
            continue;
        if (ended < 0 && errno == ECHILD)
            return true;
        poll(NULL, 0, 5);
    }
    return false;
}

static void tell(int fd)
{
    if (write(fd, "+", 1) != 1)
        _exit(8);
}

static void run_shell(const char *line)
{
    const char *argv[] = { "sh", "-c", line, NULL };
    const struct process p = { .argv = argv };
    struct process_result result;
    struct strbuf out;
    struct error err;

    strbuf_init(&out);
    if (process_run(&p, &out, NULL, &result, &err))
        _exit(7);
    strbuf_release(&out);
}

/* ---- one at a time ---- */

/* It is killed once the first of its words is there, and says the others nevertheless. */
static void kill_at_work(void (*life)(int told), int words)
{
    int began;
    pid_t pid = start(life, &began);

    wait_for_byte(began);
    kill(pid, SIGKILL);
    for (int i = 1; i < words; i++)
        wait_for_byte(began);
    assert_true(nothing_is_left());
    close(began);
}

static void hang(int told)
{
    char line[64];

    snprintf(line, sizeof(line), "sleep 1000 & echo + >&%d; sleep 1000", told);
    run_shell(line);
}

TEST(the_group_goes_with_who_started_it)
{
    kill_at_work(hang, 1);
}

/* As git does with its locks. */
static void tidy_up(int told)
{
    char line[256];

    snprintf(line, sizeof(line),
             "trap 'echo + >&%d; exit 0' TERM; echo + >&%d; while :; do sleep 0.05; done", told,
             told);
    run_shell(line);
}

TEST(a_program_may_tidy_up)
{
    kill_at_work(tidy_up, 2);
}

static void deaf(int told)
{
    char line[128];

    snprintf(line, sizeof(line), "trap '' TERM; echo + >&%d; while :; do sleep 0.05; done", told);
    run_shell(line);
}

TEST(but_not_for_long)
{
    kill_at_work(deaf, 1);
}

static int wait_for_ever(const void *context)
{
    (void)context;
    for (;;)
        pause();
    return 0;
}

/* Its own signals end neither the guard nor, by it, the process. */
TEST(a_guard_is_deaf_to_signals)
{
    static const int signals[] = { SIGHUP, SIGINT, SIGTERM, SIGCHLD, SIGUSR1, SIGALRM, SIGCONT };
    struct process_group g;
    struct error err;
    int status;
    assert_ok(process_group_start(&g, 0, wait_for_ever, NULL, &err), &err);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        kill(g.guard, signals[i]);
    poll(NULL, 0, 100);
    assert_int_equal(waitpid(g.guard, &status, WNOHANG), 0);
    assert_false(process_group_ended(&g));
    assert_false(process_group_is_empty(&g));
    process_group_kill(&g);
    assert_true(process_group_ended(&g) && !g.deserted);
    assert_true(WIFSIGNALED(g.status) && WTERMSIG(g.status) == SIGKILL);
    assert_true(process_group_is_empty(&g));
    process_group_close(&g);
    process_group_close(&g);
}

/* What the process to be has of its channel when it is made: below the guard, two forks down. */
static enum { WHOLE, CLOSED, SHUT } channel;

static void spoil_channel(void)
{
    static int forks;
    struct stat st;

    if (channel == WHOLE || ++forks < 2)
        return;
    for (int fd = 3; fd < 64; fd++) {
        if (fstat(fd, &st) || !S_ISSOCK(st.st_mode))
            continue;
        if (channel == CLOSED)
            close(fd);
        else
            shutdown(fd, SHUT_WR); /* of the guard, too */
    }
}

/* Its status would pass for one of the program. */
TEST(what_cannot_say_that_it_began_was_not_started)
{
    static const char *const argv[] = { "true", NULL };
    const struct process p = { .argv = argv };
    struct process_result result;
    struct process_group g;
    struct strbuf out;
    struct error err;

    strbuf_init(&out);
    assert_int_equal(pthread_atfork(NULL, NULL, spoil_channel), 0);
    channel = CLOSED;
    assert_fails(process_group_start(&g, 0, wait_for_ever, NULL, &err), &err, "before it began");
    assert_fails(process_run(&p, &out, NULL, &result, &err), &err, "before it began");
    channel = SHUT;
    assert_fails(process_run(&p, &out, NULL, &result, &err), &err, "could not say it");
    channel = WHOLE;
    assert_ok(process_run(&p, &out, NULL, &result, &err), &err);
    strbuf_release(&out);
}

/* Nobody killed the guard where this process cannot hear it. */
TEST(a_guard_that_cannot_be_heard)
{
    struct process_group g;
    struct error err;
    int ends[2];

    assert_ok(process_group_start(&g, 0, wait_for_ever, NULL, &err), &err);
    assert_int_equal(pipe(ends), 0);
    int news = g.news;
    g.news = ends[0]; /* no socket */
    assert_true(process_group_ended(&g) && g.deserted);
    assert_int_equal(g.unheard, ENOTSOCK);
    g.news = news;
    process_group_kill(&g);
    process_group_close(&g);
    close(ends[0]);
    close(ends[1]);
}

/* ---- what would leave ---- */

static int run_line(const void *context)
{
    execlp("sh", "sh", "-c", (const char *)context, (char *)NULL);
    return errno;
}

/* Each leaves its parent, group, session, or all of them, and tells when it has. */
static const char *const leavers[] = {
    "setsid sh -c 'echo + >&%d; sleep 1000'",
    "setsid sh -c 'echo + >&%d; sleep 1000' & exit 0",
    "(setsid sh -c 'echo + >&%d; sleep 1000' & ) ; sleep 1000",
    "(setsid sh -c '(setsid sh -c \"echo + >&%d; sleep 1000\" & )' & ) ; exit 0",
    "trap '' HUP INT TERM QUIT CONT; nohup setsid sh -c 'echo + >&%d; sleep 1000'; sleep 1000",
    "kill -STOP $PPID; setsid sh -c 'echo + >&%d; kill -STOP $$' & sleep 1000", /* the guard */
    "i=0; while [ $i -lt 40 ]; do i=$((i + 1)); setsid sleep 1000 & done; echo + >&%d",
};

enum { LEAVERS = sizeof(leavers) / sizeof(leavers[0]) };

static void end_of_leaver(size_t which, int told, int began)
{
    struct process_group g;
    struct error err;
    char line[256];

    snprintf(line, sizeof(line), leavers[which], told);
    assert_ok(process_group_start(&g, 0, run_line, line, &err), &err);
    wait_for_byte(began);
    process_group_kill(&g);
    assert_true(g.ended && process_group_is_empty(&g));
    process_group_close(&g);
}

TEST(nothing_leaves_the_group)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* what is left behind becomes ours */
    for (size_t i = 0; i < LEAVERS; i++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        end_of_leaver(i, ends[1], ends[0]);
        if (!nothing_is_left())
            fail_msg("left behind: %s", leavers[i]);
        close(ends[0]);
        close(ends[1]);
    }
    knock("programs that leave their group, session or parent", LEAVERS, LEAVERS,
          "ended with the rest");
}

static void start_leaver(int told, size_t which)
{
    struct process_group g;
    struct error err;
    char line[256];

    snprintf(line, sizeof(line), leavers[which], told);
    if (process_group_start(&g, 0, run_line, line, &err) == 0)
        for (;;)
            pause();
}

/* The process that guards them is not there to do it. */
TEST(nothing_outlives_who_started_it)
{
    for (size_t i = 0; i < LEAVERS; i++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        pid_t pid = fork();
        if (pid == 0) {
            start_leaver(ends[1], i);
            _exit(9);
        }
        wait_for_byte(ends[0]);
        kill(pid, SIGKILL);
        if (!nothing_is_left())
            fail_msg("left behind: %s", leavers[i]);
        close(ends[0]);
        close(ends[1]);
    }
    knock("kill -9 beside programs that leave their group", LEAVERS, LEAVERS, "none is left");
}

/* Where the kernel lists no children, all of /proc tells the same. */
TEST(a_tree_is_found_both_ways)
{
    struct process_group g;
    struct error err;
    pid_t listed[64], searched[64];
    char line[256];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    snprintf(line, sizeof(line),
             "i=0; while [ $i -lt 40 ]; do i=$((i + 1)); setsid sleep 1000 & done; echo + >&%d; "
             "while :; do sleep 1000; done",
             ends[1]);
    assert_ok(process_group_start(&g, 0, run_line, line, &err), &err);
    wait_for_byte(ends[0]);
    while (process_tree_list(g.guard, listed, 64) < 42) /* with the shell and its last one */
        poll(NULL, 0, 5);
    size_t nr = process_tree_list(g.guard, listed, 64);
    assert_int_equal(nr, process_tree_search(g.guard, searched, 64));
    process_group_kill(&g);
    process_group_close(&g);
    close(ends[0]);
    close(ends[1]);
    assert_true(nothing_is_left());
}

/* ---- at random moments ---- */

/* Programs that leave children behind, one after the other, as fast as it goes. */
static void run_many(int told)
{
    tell(told);
    for (size_t i = 0;; i++) {
        struct process_group g;
        struct error err;
        if (process_group_start(&g, 0, run_line,
                                i % 2 ? "setsid sleep 1000 & (setsid sleep 1000 &) ; exit 0"
                                      : "sleep 1000 & sleep 1000 & exit 0",
                                &err))
            _exit(6);
        while (!process_group_ended(&g))
            poll(&(struct pollfd) { .fd = g.news, .events = POLLIN }, 1, -1);
        process_group_kill(&g);
        process_group_close(&g);
    }
}

TEST(nothing_is_left_at_any_moment)
{
    uint64_t seed = knock_seed();
    struct random r;
    long held = 0;
    random_seed(&r, seed);
    for (int i = 0; i < KILLS; i++) {
        int began;
        pid_t pid = start(run_many, &began);
        wait_for_byte(began);
        usleep((useconds_t)random_below(&r, 20000));
        kill(pid, SIGKILL);
        held += nothing_is_left();
        close(began);
    }
    assert_int_equal(held, KILLS);
    knock("kill -9 of who starts programs", held, KILLS,
          "none is left, nor what they started (seed %" PRIu64 ")", seed);
}

RUN_TESTS(NULL, NULL)
