/* SPDX-License-Identifier: MIT */
#include "kernels/team.h"

#include "host/processors.h"

#include <limits.h>
#include <linux/futex.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    LOOKS = 1000,       /* before the clock is read: some 30 us, more than even parts differ by */
    LOOKS_MOST = 10000, /* before the thread sleeps, as in a launch's libgomp: some 0.3 ms */
    TID_BITS = 22,
    PAUSE_LEAST = 4, /* times what was judged */
    PAUSE_MOST = 64
};

/* Less than that is not judged: a processor is taken for a few ms at a time, now and then also
 * where it is quiet. A team that was slower before is tried for a shorter time. */
static const int64_t window_ns = 60000000, trial_ns = 20000000;
/* However long a region took: a process may have been stopped in it. */
static const int64_t pause_ns = 2000000000;

/* One region's. */
struct team {
    _Alignas(64) atomic_int arrived;
    _Alignas(64) _Atomic uint32_t meetings; /* that are over */
    atomic_int sleepers;
    int size;                 /* of threads: it may be fewer than were asked for */
    _Atomic int64_t waited;   /* by all together */
    _Atomic int64_t quickest; /* the longest that a thread waited, in us, and its number */
};

/* What one thread is in. */
struct seat {
    struct team *team; /* NULL: in none, or alone */
    int size;          /* of the team that the thread is in, or works for; 0: of none */
    int64_t waited;
};

static _Thread_local struct seat seat;
static _Thread_local enum team_way way;

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield" ::: "memory");
#endif
}

/* ---- meeting ---- */

static bool is_over(const struct team *t, uint32_t meeting)
{
    return atomic_load_explicit(&t->meetings, memory_order_acquire) != meeting;
}

static void futex(struct team *t, int what, uint32_t value)
{
    syscall(SYS_futex, (void *)&t->meetings, what, value, NULL, NULL, 0);
}

/* Whoever ends the meeting sees a sleeper, or the sleeper sees its end: both are in one order. */
static void sleep_until(struct team *t, uint32_t meeting)
{
    atomic_fetch_add(&t->sleepers, 1);
    while (atomic_load(&t->meetings) == meeting)
        futex(t, FUTEX_WAIT_PRIVATE, meeting);
    atomic_fetch_sub(&t->sleepers, 1);
}

/* The thread that waited longest is the one that had a processor all the time. */
static void note_wait(struct team *t, int64_t waited)
{
    int64_t known = atomic_load_explicit(&t->quickest, memory_order_relaxed), mine;

    atomic_fetch_add_explicit(&t->waited, waited, memory_order_relaxed);
    seat.waited += waited;
    mine = seat.waited / 1000 << TID_BITS | syscall(SYS_gettid);
    while (known < mine && !atomic_compare_exchange_weak(&t->quickest, &known, mine))
        continue;
}

/* As long as the user has libgomp's threads spin: not at all where more threads than processors
 * wait, as in an emulator. "30k" and "infinite" are more than the most. */
static int looks_of_user(void)
{
    const char *policy = getenv("OMP_WAIT_POLICY"), *count = getenv("GOMP_SPINCOUNT");
    char *end = NULL;
    long looks = count != NULL ? strtol(count, &end, 10) : LOOKS_MOST;

    if (count == NULL && policy != NULL && strcasecmp(policy, "passive") == 0)
        return 0;
    if (end != NULL && *end != '\0')
        return LOOKS_MOST;
    return looks < 0 ? 0 : looks < LOOKS_MOST ? (int)looks : LOOKS_MOST;
}

static int looks_most(void)
{
    static atomic_int known = -1; /* a cache of a constant */
    int looks = atomic_load_explicit(&known, memory_order_relaxed);

    if (looks < 0) {
        looks = looks_of_user();
        atomic_store_explicit(&known, looks, memory_order_relaxed);
    }
    return looks;
}

static bool spin(const struct team *t, uint32_t meeting, int looks)
{
    for (int i = 0; i < looks; i++) {
        if (is_over(t, meeting))
            return true;
        relax();
    }
    return false;
}

static void wait_for_others(struct team *t, uint32_t meeting)
{
    const int most = looks_most(), first = most < LOOKS ? most : LOOKS;

    if (spin(t, meeting, first))
        return;
    const int64_t start = now_ns();
    if (!spin(t, meeting, most - first))
        sleep_until(t, meeting);
    note_wait(t, now_ns() - start);
}

int team_parts(void)
{
    return seat.size > 1 ? seat.size : 1;
}

void team_meet(void)
{
    struct team *t = seat.team;

    if (t == NULL)
        return;
    const uint32_t meeting = atomic_load_explicit(&t->meetings, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&t->arrived, 1, memory_order_acq_rel) + 1 < seat.size) {
        wait_for_others(t, meeting);
        return;
    }
    atomic_store_explicit(&t->arrived, 0, memory_order_relaxed);
    atomic_store(&t->meetings, meeting + 1);
    if (atomic_load(&t->sleepers) > 0)
        futex(t, FUTEX_WAKE_PRIVATE, INT_MAX);
}

/* ---- whether to work together ---- */

bool team_judge(struct team_record *r, int threads, int64_t now, int64_t took, int64_t waited)
{
    const int64_t n = threads;

    r->took += took;
    r->waited += waited;
    if (r->took < (r->factor > 0 ? trial_ns : window_ns))
        return false;
    const bool late = n * r->waited > (n - 1) * (n - 1) * r->took;
    if (!late)
        r->factor /= 2;
    else if (r->factor < PAUSE_LEAST)
        r->factor = PAUSE_LEAST;
    else if (r->factor < PAUSE_MOST)
        r->factor *= 2;
    if (late) {
        const int64_t pause = r->factor * r->took;
        r->until = now + (pause < pause_ns ? pause : pause_ns);
    }
    r->took = r->waited = 0;
    return late;
}

/* Two threads that are bound to a processor each change places; where that is not allowed they
 * stay. Threads that are not bound are moved by the system. */
static void change_places(pid_t with)
{
    struct processors own, other;

    if (with == 0 || with == (pid_t)syscall(SYS_gettid) || !processors_of(0, &own) ||
        !processors_of(with, &other) || processors_count(&own) != 1 ||
        processors_count(&other) != 1)
        return;
    if (processors_bind(0, &other) && !processors_bind(with, &own))
        processors_bind(0, &own);
}

static void together(team_work_fn *work, const void *operation, struct team *t, int threads)
{
#pragma omp parallel num_threads(threads)
    {
        seat = (struct seat) { .team = t, .size = omp_get_num_threads() };
        if (omp_get_thread_num() == 0)
            t->size = seat.size;
        work(operation);
        seat = (struct seat) { .team = NULL };
    }
}

static void alone(team_work_fn *work, const void *operation, int threads)
{
    seat.size = threads;
    work(operation);
    seat.size = 0;
}

void team_run(team_work_fn *work, const void *operation, int threads, struct team_record *record)
{
    struct team t = { .size = 0 };
    const bool judged = threads > 1 && record != NULL && way == TEAM_JUDGED;
    const int64_t start = judged ? now_ns() : 0;

    if (threads < 2 || way == TEAM_ALONE || (judged && start < record->until)) {
        alone(work, operation, threads);
        return;
    }
    together(work, operation, &t, threads);
    if (!judged || t.size < 2)
        return;
    const int64_t end = now_ns(), quickest = atomic_load(&t.quickest);
    if (team_judge(record, t.size, end, end - start, atomic_load(&t.waited)))
        change_places((pid_t)(quickest & ((1 << TID_BITS) - 1)));
}

void team_work(enum team_way next)
{
    way = next;
}
