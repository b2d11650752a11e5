/* SPDX-License-Identifier: MIT */
/*
 * Threads that meet, whoever is late; when a team parts and tries again; and that bound threads
 * change places, so that who works alone is not the one without a processor. Features: U-03
 * (kernels).
 */
#include "testing.h"

#include "host/thread_pinning.h"
#include "kernels/team.h"

#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_THREADS = 4, NR_MEETINGS = 60 };

static void be_late(int64_t us)
{
    const struct timespec t = { .tv_nsec = us * 1000 };

    if (us > 0)
        nanosleep(&t, NULL);
}

/* Work in which thread `late` sleeps; counts the threads that came. */
struct slow {
    int late;
    atomic_int came;
};

static void slow(const void *operation)
{
    struct slow *s = *(struct slow *const *)operation;

    if (omp_get_thread_num() == s->late && omp_get_num_threads() > 1)
        be_late(70000);
    atomic_fetch_add(&s->came, 1);
    team_meet();
}

static int came(int late, struct team_record *record)
{
    struct slow s = { .late = late }, *operation = &s;

    team_run(slow, &operation, 2, record);
    return atomic_load(&s.came);
}

/* Whether a team with such a thread parts. On a busy machine the other one may be late now and
 * then, too. */
static bool parts(int late)
{
    struct team_record record = { .took = 0 };

    for (int i = 0; i < 20; i++)
        if (came(late, &record) == 1)
            return true;
    return false;
}

static int processor_of_caller(void)
{
    cpu_set_t own;

    if (sched_getaffinity(0, sizeof(own), &own) != 0 || CPU_COUNT(&own) != 1)
        return -1;
    return sched_getcpu();
}

/* Where the two threads of a team are bound to. */
static void find_places(int at[2])
{
#pragma omp parallel num_threads(2)
    at[omp_get_thread_num()] = processor_of_caller();
}

/* In a child, because binding stays: whether thread `late`'s lateness has the two change places. */
static bool changed_in_child(int late)
{
    int before[2], after[2], status = 0;
    pid_t child = fork();

    if (child == 0) {
        if (!pin_threads(2))
            _exit(2);
        find_places(before);
        bool alone = parts(late);
        find_places(after);
        bool kept = before[0] == after[0] && before[1] == after[1];
        bool changed = before[0] == after[1] && before[1] == after[0];
        _exit(!alone ? 3 : changed ? 1 : kept ? 0 : 4);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_in_range(WEXITSTATUS(status), 0, 1);
    return WEXITSTATUS(status) == 1;
}

/* The first of the tests: libgomp's threads do not survive a fork. With one processor there are no
 * places to change. */
TEST(test_places)
{
    cpu_set_t all;

    assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
    if (CPU_COUNT(&all) < 2)
        return;
    unsetenv("OMP_PLACES");
    unsetenv("OMP_PROC_BIND");
    unsetenv("GOMP_CPU_AFFINITY");
    assert_true(changed_in_child(0));
    assert_false(changed_in_child(1));
}

/* Each thread says how far it is, and looks at the others once all have met. */
struct walk {
    int late;
    int64_t us; /* by which the late one is, at every tenth meeting */
    int at[MOST_THREADS];
    atomic_int wrong, walkers;
};

static void walk(const void *operation)
{
    struct walk *w = *(struct walk *const *)operation;
    const int self = omp_get_thread_num();

    atomic_fetch_add(&w->walkers, 1);
    for (int i = 1; i <= NR_MEETINGS; i++) {
        if (self == w->late && i % 10 == 0)
            be_late(w->us);
        w->at[self] = i;
        team_meet();
        for (int t = 0; t < omp_get_num_threads(); t++)
            if (w->at[t] != i)
                atomic_fetch_add(&w->wrong, 1);
        team_meet();
    }
}

/* Late by less than a spin, by less than it takes to sleep, and by more. */
TEST(test_meetings)
{
    static const int64_t late_us[] = { 0, 5, 100, 2000 };

    omp_set_dynamic(0);
    team_work(TEAM_TOGETHER);
    for (int threads = 1; threads <= MOST_THREADS; threads++)
        for (int late = 0; late < threads; late++)
            for (size_t i = 0; i < sizeof(late_us) / sizeof(late_us[0]); i++) {
                struct walk w = { .late = late, .us = late_us[i] }, *operation = &w;
                team_run(walk, &operation, threads, NULL);
                assert_int_equal(atomic_load(&w.walkers), threads);
                if (atomic_load(&w.wrong) != 0)
                    fail_msg("%d threads, %d late by %lld us: %d went on too early", threads, late,
                             (long long)late_us[i], atomic_load(&w.wrong));
            }
    team_work(TEAM_JUDGED);
}

/* Outside of a team nobody is waited for, also not by several threads of somebody else's. */
TEST(test_no_team)
{
    team_meet();
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0)
        team_meet();
}

/* One region after the other, in ms; times go on from row to row. `alone`: until when, 0 for who
 * stays together. */
struct judgement {
    const char *what;
    int threads;
    int64_t now, took, waited, alone;
};

static void judge_all(const struct judgement *rows, size_t nr)
{
    const int64_t ms = 1000000;
    struct team_record r = { .took = 0 };

    for (size_t i = 0; i < nr; i++) {
        const struct judgement *j = &rows[i];
        bool alone = team_judge(&r, j->threads, j->now * ms, j->took * ms, j->waited * ms);
        if (alone != (j->alone > 0) || (alone && r.until != j->alone * ms))
            fail_msg("%s: %s until %lld ms, expected until %lld", j->what,
                     alone ? "alone" : "together", (long long)(r.until / ms), (long long)j->alone);
    }
}

TEST(test_judgement)
{
    static const struct judgement two[] = {
        { "a short region is not judged", 2, 10, 10, 9, 0 },
        { "nor a second", 2, 30, 20, 19, 0 },
        { "60 ms of them are: half as fast as one thread", 2, 60, 30, 17, 300 },
        { "tried for 20 ms: slower again", 2, 320, 20, 11, 480 },
        { "and again", 2, 500, 20, 11, 820 },
        { "as fast as one thread is fast enough", 2, 840, 20, 10, 0 },
        { "but what was before is not forgotten at once", 2, 860, 20, 11, 1180 },
        { "half of it each time", 2, 1200, 20, 0, 0 },
        { "until it is", 2, 1220, 20, 0, 0 },
        { "", 2, 1240, 20, 0, 0 },
        { "", 2, 1260, 20, 0, 0 },
        { "", 2, 1280, 20, 0, 0 },
        { "then 60 ms count again", 2, 1300, 20, 20, 0 },
    };
    static const struct judgement most[] = {
        { "one long region is enough", 2, 100, 100, 60, 500 },
        { "8", 2, 520, 20, 12, 680 },
        { "16", 2, 700, 20, 12, 1020 },
        { "32", 2, 1040, 20, 12, 1680 },
        { "64", 2, 1700, 20, 12, 2980 },
        { "and no more", 2, 3000, 20, 12, 4280 },
        { "not 64 hours for who was stopped for one", 2, 3604300, 3600000, 3600000, 3606300 },
    };
    static const struct judgement many[] = {
        { "16 threads and 3 parts: 13 have nothing to do", 16, 100, 100, 1300, 0 },
        { "2 parts", 16, 200, 100, 1400, 0 },
        { "1 part: one thread does as well", 16, 300, 100, 1500, 700 },
        { "3 threads, one late by half of the region", 3, 800, 100, 100, 0 },
        { "by three quarters", 3, 900, 100, 150, 1300 },
    };

    judge_all(two, sizeof(two) / sizeof(two[0]));
    judge_all(most, sizeof(most) / sizeof(most[0]));
    judge_all(many, sizeof(many) / sizeof(many[0]));
}

TEST(test_parting)
{
    struct team_record record = { .took = 0 }, another = record;

    omp_set_dynamic(0);
    team_work(TEAM_TOGETHER);
    assert_int_equal(came(1, &record), 2);
    assert_int_equal(came(1, &record), 2);
    team_work(TEAM_JUDGED);
    assert_int_equal(came(1, &record), 2);
    assert_true(parts(1));
    assert_int_equal(came(-1, &another), 2); /* each work has a record of its own */
    for (int i = 0; i < 5; i++)
        assert_int_equal(came(1, NULL), 2); /* single operations stay together */
}

RUN_TESTS(NULL, NULL)
