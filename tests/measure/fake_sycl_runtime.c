/* SPDX-License-Identifier: MIT */
/*
 * What is a driver and a device elsewhere. Memory is System V's: a block that is marked for removal
 * as it is made is still opened by its number, and is gone with the last process that has it,
 * however that ends.
 *
 * Where memory of another process was opened, work is done by a process beside this one, in the
 * same memory: SIGSTOP to this one does not reach it. It calls nothing of the C library that would
 * touch what a thread has of its own, since it shares that with the thread that made it.
 */
#include "fake_sycl.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* ---- memory ---- */

enum { PAGE = 4096 }; /* in front of a block: its number */

static void *attach(int number)
{
    char *at = shmat(number, NULL, 0);

    return (intptr_t)at == -1 ? NULL : at + PAGE + FAKE_SYCL_APART;
}

static int *number_of(const void *memory)
{
    return (int *)(void *)((char *)fake_sycl_memory(memory) - PAGE);
}

void *fake_sycl_alloc(size_t bytes)
{
    int number = shmget(IPC_PRIVATE, PAGE + (bytes ? bytes : 1), IPC_CREAT | 0600);
    void *memory = number < 0 ? NULL : attach(number);
    int kept = errno;

    if (number >= 0)
        shmctl(number, IPC_RMID, NULL);
    if (memory)
        *number_of(memory) = number;
    errno = kept;
    return memory;
}

void fake_sycl_free(void *memory)
{
    shmdt(number_of(memory));
}

int fake_sycl_share(const void *memory)
{
    return *number_of(memory);
}

/* ---- queues ---- */

enum { PLACES = 256, ASIDE = 2, RINGS };

struct ring {
    struct fake_sycl_queue queue; /* what others have of it */
    struct {
        void (*work)(const void *);
        unsigned char what[FAKE_SYCL_WHAT] __attribute__((aligned(16)));
    } places[PLACES];
    uint64_t submitted, done; /* atomic */
};

static void submit(struct fake_sycl_queue *queue, void (*work)(const void *), const void *what,
                   size_t bytes);
static void join(struct fake_sycl_queue *queue);

static struct ring rings[RINGS] = {
    { .queue = { submit, join, &rings[ASIDE].queue } },
    { .queue = { submit, join, &rings[ASIDE].queue } },
    { .queue = { submit, join, &rings[ASIDE].queue } },
};

static pthread_mutex_t submitting = PTHREAD_MUTEX_INITIALIZER;
static const char *refused;
static bool beside;  /* a process works them off */
static bool awaited; /* atomic: somebody waits for all of them */

static bool has_work(struct ring *r)
{
    return __atomic_load_n(&r->done, __ATOMIC_ACQUIRE) !=
           __atomic_load_n(&r->submitted, __ATOMIC_ACQUIRE);
}

/* The next piece; false: there is none. */
static bool work_off(struct ring *r)
{
    const uint64_t done = r->done;

    if (!has_work(r))
        return false;
    r->places[done % PLACES].work(r->places[done % PLACES].what);
    __atomic_store_n(&r->done, done + 1, __ATOMIC_RELEASE);
    return true;
}

static void rest(void)
{
    const struct timespec a_little = { 0, 20000 };

    syscall(SYS_nanosleep, &a_little, NULL);
}

/* What a launch costs the host, where that has a device beside it. */
static void pay_for_launch(void)
{
    enum { LAUNCH_NS = 20000 };
    struct timespec from, now;

    clock_gettime(CLOCK_MONOTONIC, &from);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - from.tv_sec) * 1000000000 + now.tv_nsec - from.tv_nsec < LAUNCH_NS);
}

static void put_work(struct ring *r, void (*work)(const void *), const void *what, size_t bytes)
{
    const uint64_t at = r->submitted;

    while (at - __atomic_load_n(&r->done, __ATOMIC_ACQUIRE) == PLACES)
        if (beside)
            rest();
        else
            work_off(r);
    r->places[at % PLACES].work = work;
    memcpy(r->places[at % PLACES].what, what, bytes);
    __atomic_store_n(&r->submitted, at + 1, __ATOMIC_RELEASE);
    while (!beside && r != &rings[ASIDE] && work_off(r))
        continue;
}

static void submit(struct fake_sycl_queue *queue, void (*work)(const void *), const void *what,
                   size_t bytes)
{
    pthread_mutex_lock(&submitting);
    if (bytes > FAKE_SYCL_WHAT)
        refused = "submit(): more than 128 bytes of arguments";
    else
        put_work((struct ring *)queue, work, what, bytes);
    pthread_mutex_unlock(&submitting);
    if (beside)
        pay_for_launch();
}

/* On the device. */
static void work_off_aside(const void *nothing)
{
    (void)nothing;
    while (work_off(&rings[ASIDE]))
        continue;
}

static void join(struct fake_sycl_queue *queue)
{
    submit(queue, work_off_aside, "", 0);
}

struct fake_sycl_queue *fake_sycl_queue(int device)
{
    return &rings[device].queue;
}

unsigned fake_sycl_submitted(void)
{
    return (unsigned)rings[1].submitted;
}

const char *fake_sycl_wait(void)
{
    __atomic_store_n(&awaited, true, __ATOMIC_RELEASE);
    for (int i = 0; i < RINGS; i++)
        while (has_work(&rings[i]))
            if (beside)
                rest();
            else
                work_off(&rings[i]);
    __atomic_store_n(&awaited, false, __ATOMIC_RELEASE);
    const char *words = refused;
    refused = NULL;
    return words;
}

/* ---- a device that goes on ---- */

static int work_beside(void *host)
{
    syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (syscall(SYS_getppid) != *(const pid_t *)host)
        return 0; /* it is gone already */
    for (;;) {
        bool worked = work_off(&rings[0]);

        worked |= work_off(&rings[1]);
        if (!worked && __atomic_load_n(&awaited, __ATOMIC_ACQUIRE))
            worked = work_off(&rings[ASIDE]);
        if (!worked)
            rest();
    }
}

void *fake_sycl_open(int number)
{
    static char stack[1 << 18] __attribute__((aligned(16)));
    static pid_t host;
    void *memory = attach(number);

    if (!memory || beside)
        return memory;
    host = getpid();
    pid_t device =
        clone(work_beside, stack + sizeof(stack), CLONE_VM | CLONE_FS | CLONE_FILES, &host);
    beside = device > 0;
    if (beside)
        setpriority(PRIO_PROCESS, (id_t)device, -10); /* where it may: none waits for a processor */
    return beside ? memory : NULL;
}
