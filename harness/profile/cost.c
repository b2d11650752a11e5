/* SPDX-License-Identifier: MIT */
/* What recording costs, measured on the machine and in the build at hand. */
#include "profile/clock.h"
#include "profile/summary.h"

#include <stdlib.h>

enum { ROUNDS = 31, SCOPES = 4096 };

static double per_scope(uint64_t start)
{
    return (double)(prof_clock_monotonic() - start) / SCOPES;
}

/* On: into memory that was never touched, as in a program that records all the time. */
static double time_scopes(struct prof *prof)
{
    uint64_t start = prof_clock_monotonic();

    for (int i = 0; i < SCOPES; i++) {
        PROF_SCOPE_IN(prof, "empty");
    }
    return per_scope(start);
}

static double time_clock(void)
{
    uint64_t start = prof_clock_monotonic(), sum = 0;

    for (int i = 0; i < SCOPES; i++)
        sum += prof_clock_ticks();
    __asm__ volatile("" : : "r"(sum));
    return per_scope(start);
}

static int by_size(const void *a_, const void *b_)
{
    const double *a = a_, *b = b_;

    return (*a > *b) - (*a < *b);
}

static double median(double rounds[ROUNDS])
{
    qsort(rounds, ROUNDS, sizeof(*rounds), by_size);
    return rounds[ROUNDS / 2];
}

int prof_overhead(struct prof_cost *cost)
{
    double on[ROUNDS], off[ROUNDS], clock[ROUNDS];
    struct prof *prof = prof_create(&(struct prof_options) { .records = 2 * ROUNDS * SCOPES });

    if (!prof || prof_set_on(prof, 1) != 0) {
        prof_free(prof);
        return -1;
    }
    for (int i = 0; i < ROUNDS; i++) {
        prof_set_on(prof, 1);
        on[i] = time_scopes(prof);
        prof_set_on(prof, 0);
        off[i] = time_scopes(prof);
        clock[i] = time_clock();
    }
    prof_free(prof);
    *cost = (struct prof_cost) { median(on), median(off), median(clock), prof_clock_name() };
    return 0;
}
