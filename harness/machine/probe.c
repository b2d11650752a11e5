/* SPDX-License-Identifier: MIT */
#include "machine/probe.h"

#include "core/clock.h"
#include "machine/roof_loops.h"
#include "stats/stats.h"

#include <math.h>
#include <omp.h>
#include <string.h>

/* What the probe of the fake device takes. */
enum { QUIET_FAKE = 100000 }; /* ns */

/* A round takes about 0.3 ms, half of it arithmetic and half of it memory. */
enum { ROUNDS = 9, FMA_ROUNDS = 16384, READ_BYTES = 4 << 20 };
/* Of the time of a round a good quarter is hand-overs. Few are made and count often, because a team
 * that sleeps while it waits takes tens of microseconds for each. */
enum { HANDOVERS = 16, HANDOVERS_COUNT = 4 };

static double work_ns(const struct device *d, const char *buffer)
{
    uint64_t start = clock_ns();

#pragma omp parallel num_threads(d->threads)
    {
        roof_fma(FMA_ROUNDS);
        roof_read(buffer + (size_t)omp_get_thread_num() * READ_BYTES, READ_BYTES);
    }
    return (double)(clock_ns() - start);
}

/* The team is called, has nothing to do, and is waited for. */
static double handovers_ns(const struct device *d)
{
    uint64_t start = clock_ns();

    if (d->threads < 2)
        return 0;
    for (int i = 0; i < HANDOVERS; i++) {
#pragma omp parallel num_threads(d->threads)
        __asm__ volatile("" ::: "memory");
    }
    return (double)(clock_ns() - start);
}

static double one_round(const struct device *d, const char *buffer)
{
    return work_ns(d, buffer) + HANDOVERS_COUNT * handovers_ns(d);
}

double probe_ns(struct device *d)
{
    double times[ROUNDS];
    size_t bytes = (size_t)d->threads * READ_BYTES;
    struct error ignored;
    bool host = d->kind == DEVICE_CPU || d->kind == DEVICE_PROCESS;
    char *buffer = host ? device_alloc(d, bytes, &ignored) : NULL;

    if (d->kind == DEVICE_FAKE && d->probed)
        return QUIET_FAKE * (1 + d->disturbed);
    if (!buffer)
        return NAN;
    memset(buffer, 1, bytes);
    one_round(d, buffer); /* wakes the threads */
    for (int i = 0; i < ROUNDS; i++)
        times[i] = one_round(d, buffer);
    device_free(d, buffer);
    return stats_median(times, ROUNDS);
}
