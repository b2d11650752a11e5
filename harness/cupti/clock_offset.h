/* SPDX-License-Identifier: MIT */
/*
 * How far two clocks are apart, by bracketing: read ours, the other, ours again. The other was read
 * somewhere in between, so ours minus the other is known to half the bracket's width (Cristian
 * 1989, "Probabilistic clock synchronization"). Of many brackets the narrowest counts: a wide one
 * was interrupted.
 */
#ifndef HARNESS_CUPTI_CLOCK_OFFSET_H
#define HARNESS_CUPTI_CLOCK_OFFSET_H

#include <stddef.h>
#include <stdint.h>

struct clock_bracket {
    int64_t before, other, after; /* ns; before and after on our clock */
};

struct clock_offset {
    int64_t offset; /* our clock minus the other, ns */
    int64_t error;  /* the offset is right within this many ns; -1: nothing is known */
    int64_t at;     /* when it was measured, on the other clock */
};

/* Brackets whose ends are in the wrong order are left out. */
struct clock_offset clock_offset_of(const struct clock_bracket *brackets, size_t nr);

/* Reads the other clock: 0, or not 0 where it cannot be read. */
typedef int clock_read_fn(void *ctx, int64_t *ns);
/* Ours is CLOCK_MONOTONIC. A few dozen readings. */
struct clock_offset clock_offset_measure(clock_read_fn *read, void *ctx);

#endif
