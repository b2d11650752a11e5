/* SPDX-License-Identifier: MIT */
/* Time to wait by: of no day, and never set back. What is measured is timed by core/clock.h. */
#ifndef HARNESS_BASE_MONOTONIC_H
#define HARNESS_BASE_MONOTONIC_H

#include <stdint.h>
#include <time.h>

static inline int64_t monotonic_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

#endif
