/* SPDX-License-Identifier: MIT */
#include "core/thread_pinning.h"

#include "stats/random.h"

#include <omp.h>
#include <sched.h>
#include <stdlib.h>

/* What the process may use, from when its threads were bound; a process does that once. */
static cpu_set_t whole;
static bool is_pinned;

static bool placed_by_user(void)
{
    return getenv("OMP_PROC_BIND") || getenv("OMP_PLACES") || getenv("GOMP_CPU_AFFINITY");
}

/* The n-th processor of a set, counted from 0, that has more than n. */
static size_t nth_processor(const cpu_set_t *set, int n)
{
    size_t cpu = 0;

    while (!CPU_ISSET(cpu, set) || n-- > 0)
        cpu++;
    return cpu;
}

static void bind_caller(size_t cpu)
{
    cpu_set_t own;

    CPU_ZERO(&own);
    CPU_SET(cpu, &own);
    sched_setaffinity(0, sizeof(own), &own); /* 0: the calling thread */
}

bool pin_threads(int threads)
{
    cpu_set_t allowed;

    if (threads < 1 || placed_by_user() || sched_getaffinity(0, sizeof(allowed), &allowed) ||
        CPU_COUNT(&allowed) < threads)
        return false;
    int first = CPU_COUNT(&allowed) - threads;
    if (threads < 2) {
        struct random r;
        random_seed(&r, random_fresh_seed());
        bind_caller(nth_processor(&allowed, (int)random_below(&r, (uint64_t)CPU_COUNT(&allowed))));
        sched_setaffinity(0, sizeof(allowed), &allowed);
        return false;
    }
    whole = allowed;
    is_pinned = true;
#pragma omp parallel num_threads(threads)
    bind_caller(nth_processor(&allowed, first + omp_get_thread_num()));
    return true;
}

void pinning_pause(struct pinning_pause *pause)
{
    pause->bound = is_pinned && sched_getaffinity(0, sizeof(pause->own), &pause->own) == 0;
    if (pause->bound)
        sched_setaffinity(0, sizeof(whole), &whole);
}

void pinning_resume(const struct pinning_pause *pause)
{
    if (pause->bound)
        sched_setaffinity(0, sizeof(pause->own), &pause->own);
}
