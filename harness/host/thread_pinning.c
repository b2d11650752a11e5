/* SPDX-License-Identifier: MIT */
#include "host/thread_pinning.h"

#include "stats/random.h"

#include <omp.h>
#include <stdlib.h>

/* What the process may use, from when its threads were bound; a process does that once. */
static struct processors whole;
static bool is_pinned;

static bool placed_by_user(void)
{
    return getenv("OMP_PROC_BIND") || getenv("OMP_PLACES") || getenv("GOMP_CPU_AFFINITY");
}

/* The n-th processor of a set, counted from 0, that has more than n. */
static size_t nth_processor(const struct processors *set, int n)
{
    size_t cpu = 0;

    while (!processors_have(set, cpu) || n-- > 0)
        cpu++;
    return cpu;
}

static void bind_caller(size_t cpu)
{
    struct processors own = { { 0 } };

    processors_add(&own, cpu);
    processors_bind(0, &own);
}

bool pin_threads(int threads)
{
    struct processors allowed;

    if (threads < 1 || placed_by_user() || !processors_of(0, &allowed) ||
        processors_count(&allowed) < threads)
        return false;
    int all = processors_count(&allowed), first = all - threads;
    if (threads < 2) {
        struct random r;
        random_seed(&r, random_fresh_seed());
        bind_caller(nth_processor(&allowed, (int)random_below(&r, (uint64_t)all)));
        processors_bind(0, &allowed);
        return false;
    }
    whole = allowed;
    is_pinned = true;
    omp_set_num_threads(threads); /* more than that would begin where the caller is bound */
#pragma omp parallel num_threads(threads)
    bind_caller(nth_processor(&allowed, first + omp_get_thread_num()));
    return true;
}

void pinning_pause(struct pinning_pause *pause)
{
    pause->bound = is_pinned && processors_of(0, &pause->own);
    if (pause->bound)
        processors_bind(0, &whole);
}

void pinning_resume(const struct pinning_pause *pause)
{
    if (pause->bound)
        processors_bind(0, &pause->own);
}
