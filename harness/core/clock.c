/* SPDX-License-Identifier: MIT */
#include "core/clock.h"

#include <time.h>

uint64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

int64_t clock_epoch_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

double clock_step_ns(void)
{
    uint64_t best = UINT64_MAX;

    for (int i = 0; i < 1000; i++) {
        uint64_t start = clock_ns(), now = start;
        while (now == start)
            now = clock_ns();
        best = now - start < best ? now - start : best;
    }
    return (double)best;
}
