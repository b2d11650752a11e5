/* SPDX-License-Identifier: MIT */
#include "profile/clock.h"

#include <time.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

int prof_clock_has_counter;

/* Intel SDM volume 3, "Invariant TSC", and AMD APM volume 3: one rate in all states of the
 * processor. Across sockets the system keeps the counters equal or does not say so here; a machine
 * where they differ shows as slices that end before they begin, which a snapshot sets to nothing.
 */
static int has_invariant_counter(void)
{
#if defined(__x86_64__)
    unsigned a, b, c, d;

    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1U << 8));
#elif defined(__aarch64__)
    return 1; /* the generic timer is, by architecture */
#else
    return 0;
#endif
}

void prof_clock_init(void)
{
    prof_clock_has_counter = has_invariant_counter();
}

const char *prof_clock_name(void)
{
    if (!prof_clock_has_counter)
        return "monotonic";
#if defined(__aarch64__)
    return "cntvct";
#else
    return "tsc";
#endif
}

uint64_t prof_clock_monotonic(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

/* The counter before and after a reading of the clock; of several tries the tightest one. */
struct prof_anchor prof_clock_anchor(void)
{
    struct prof_anchor anchor = { 0, 0 };
    uint64_t width = UINT64_MAX;

    for (int i = 0; i < 16; i++) {
        uint64_t before = prof_clock_ticks();
        uint64_t ns = prof_clock_monotonic();
        uint64_t after = prof_clock_ticks();

        if (after - before >= width)
            continue;
        width = after - before;
        anchor = (struct prof_anchor) { before + width / 2, (int64_t)ns };
    }
    return anchor;
}

int64_t prof_clock_ns(struct prof_anchor a, struct prof_anchor b, uint64_t ticks)
{
    double slope = b.ticks == a.ticks ? 0 : (double)(b.ns - a.ns) / (double)(b.ticks - a.ticks);
    double since = ticks >= a.ticks ? (double)(ticks - a.ticks) : -(double)(a.ticks - ticks);

    return a.ns + (int64_t)(since * slope);
}
