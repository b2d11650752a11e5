/* SPDX-License-Identifier: MIT */
/* Time to wait by: of no day, and never set back. What is measured is timed by core/clock.h. */
#ifndef HARNESS_BASE_MONOTONIC_H
#define HARNESS_BASE_MONOTONIC_H

#include <stdint.h>
#include <time.h>

static inline uint64_t monotonic_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static inline int64_t monotonic_ms(void)
{
    return (int64_t)(monotonic_ns() / 1000000U);
}

#endif
