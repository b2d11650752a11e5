/* SPDX-License-Identifier: MIT */
/*
 * Parts of a sweep for several machines or processes: which benchmark belongs to which. A pure
 * function of what it is given, so that all parts, wherever they are decided, agree; every
 * benchmark is in exactly one.
 *
 * By the durations known, the longest first, each to the part that has least to do so far (LPT:
 * R. L. Graham, Bounds on Multiprocessing Timing Anomalies, SIAM J. Appl. Math. 17, 1969: the
 * fullest part is at most 4/3 of what the best division has). So no two parts differ by more than
 * the longest benchmark. Where no duration is known at all: every N-th.
 */
#ifndef HARNESS_LAUNCH_SHARD_H
#define HARNESS_LAUNCH_SHARD_H

#include <stddef.h>
#include <stdint.h>

struct shard_item {
    const char *key, *kernel; /* no key twice */
    double seconds;           /* NaN or 0: not known */
};

/* Fills owner[i] with the part, 0 to count - 1, of items[i]. What is not known gets the mean of its
 * kernel, or else of all. seconds[i], if not NULL, is what it was taken to last, 0 where nothing is
 * known. `count` is 1 or more. */
void shard_assign(const struct shard_item *items, size_t nr, size_t count, size_t *owner,
                  double *seconds);

/* Tells one division from another: of the keys, and the part of each. */
uint64_t shard_digest(const struct shard_item *items, size_t nr, size_t count, const size_t *owner);

#endif
