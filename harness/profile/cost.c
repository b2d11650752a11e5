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

static double median_round(double rounds[ROUNDS])
{
    qsort(rounds, ROUNDS, sizeof(*rounds), by_size);
    return rounds[ROUNDS / 2];
}

enum { ON, OFF, MEMORY, CLOCK, NR };

/* A profiler of its own each, whose buffers the other does not touch. */
static void time_all(struct prof *plain, struct prof *followed, double rounds[NR][ROUNDS])
{
    prof_memory(followed, PROF_CPU, 1);
    for (int i = 0; i < ROUNDS; i++) {
        prof_set_on(plain, 1);
        rounds[ON][i] = time_scopes(plain);
        rounds[MEMORY][i] = time_scopes(followed);
        prof_set_on(plain, 0);
        rounds[OFF][i] = time_scopes(plain);
        rounds[CLOCK][i] = time_clock();
    }
}

int prof_overhead(struct prof_cost *cost)
{
    const struct prof_options options = { .records = 2 * ROUNDS * SCOPES };
    struct prof *plain = prof_create(&options), *followed = prof_create(&options);
    double rounds[NR][ROUNDS];
    int rc = plain && followed && prof_set_on(followed, 1) == 0 ? 0 : -1;

    if (rc == 0) {
        time_all(plain, followed, rounds);
        *cost = (struct prof_cost) { .on = median_round(rounds[ON]),
                                     .off = median_round(rounds[OFF]),
                                     .memory = median_round(rounds[MEMORY]),
                                     .clock = median_round(rounds[CLOCK]),
                                     .clock_name = prof_clock_name() };
    }
    prof_free(plain);
    prof_free(followed);
    return rc;
}

/* Fewer and shorter rounds: a mark is a call of a driver, and waits in its stream. */
enum { HOOKED_ROUNDS = 11, HOOKED_SCOPES = 128 };

static double time_hooked(struct prof *prof, int device, void *stream)
{
    static const struct prof_site site = { "empty", __func__, __FILE__, __LINE__ };
    const struct prof_work work = { .device = device, .stream = stream };
    uint64_t start = prof_clock_monotonic();

    for (int i = 0; i < HOOKED_SCOPES; i++) {
        struct prof_scope scope = prof_begin(prof, &site, &work);
        prof_end(&scope);
    }
    return (double)(prof_clock_monotonic() - start) / HOOKED_SCOPES;
}

int prof_overhead_hooked(const struct prof_hooks *hooks, int device, void *stream, double *ns)
{
    struct prof *prof = prof_create(NULL);
    double rounds[HOOKED_ROUNDS];
    int rc = prof && prof_set_hooks(prof, hooks) == 0 && prof_set_on(prof, 1) == 0 ? 0 : -1;

    for (int i = 0; i < HOOKED_ROUNDS && rc == 0; i++) {
        rounds[i] = time_hooked(prof, device, stream);
        prof_clear(prof); /* the next scope gives the marks back */
    }
    if (rc == 0) {
        qsort(rounds, HOOKED_ROUNDS, sizeof(*rounds), by_size);
        *ns = rounds[HOOKED_ROUNDS / 2];
    }
    prof_free(prof);
    return rc;
}
