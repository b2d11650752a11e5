/* SPDX-License-Identifier: MIT */
/* Time to wait by: of no day, and never set back. What is measured is timed by core/clock.h. */
#ifndef HARNESS_BASE_MONOTONIC_H
#define HARNESS_BASE_MONOTONIC_H

#include <pthread.h>
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

/* So many ms from now, for pthread_cond_timedwait() on a condition of the next function. */
static inline struct timespec monotonic_until(int ms)
{
    uint64_t at = monotonic_ns() + (uint64_t)ms * 1000000U;

    return (struct timespec) { .tv_sec = (time_t)(at / 1000000000U),
                               .tv_nsec = (long)(at % 1000000000U) };
}

/* A condition whose times are those of this clock. */
static inline void monotonic_condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

#endif
