/* SPDX-License-Identifier: MIT */
/* The clock of scopes: the processor's counter where it runs at one rate on all cores, else
 * CLOCK_MONOTONIC. Not installed. */
#ifndef HARNESS_PROFILE_CLOCK_H
#define HARNESS_PROFILE_CLOCK_H

#include <stdint.h>

/* Both clocks at one moment, to some 30 ns. */
struct prof_anchor {
    uint64_t ticks;
    int64_t ns; /* CLOCK_MONOTONIC */
};

extern int
    prof_clock_has_counter; /* set by prof_clock_init(), once, before any other thread asks */

void prof_clock_init(void);
const char *prof_clock_name(void);
uint64_t prof_clock_monotonic(void);
struct prof_anchor prof_clock_anchor(void);
/* By the straight line through two anchors, which makes an error of either at most the same error
 * of the result between them: no rate has to be known. */
int64_t prof_clock_ns(struct prof_anchor a, struct prof_anchor b, uint64_t ticks);

/* Never 0, which stands for "not yet". */
static inline uint64_t prof_clock_ticks(void)
{
#if defined(__x86_64__)
    if (__builtin_expect(prof_clock_has_counter, 1))
        return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#endif
    return prof_clock_monotonic();
}

#endif
