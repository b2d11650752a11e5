/* SPDX-License-Identifier: MIT */
/* Sizes of the host's caches, as this process sees them. The machine as a whole, with its class, is
 * machine/environment.h. */
#ifndef HARNESS_HOST_HOST_CACHE_H
#define HARNESS_HOST_HOST_CACHE_H

#include <stddef.h>
#include <stdint.h>

struct error;

/* Bytes of one data or unified cache of a level (1 to 3), as the first core sees it; 0 if the
 * system does not tell. */
int64_t host_cache_bytes(int level);
/* Cores that share that cache with the first core; 0 if unknown. */
int host_cache_sharers(int level);

/* The same for who needs to be sure: -1 where a file that tells it is there and cannot be read now,
 * so that another time it would be another number. `root` stands before /sys, for tests; ""
 * otherwise. */
int host_cache_find_bytes(const char *root, int level, int64_t *bytes, struct error *err);
int host_cache_find_sharers(const char *root, int level, int *nr, struct error *err);

/* How many caches `threads` threads lie on at most, where `sharers` of `cores` cores have one: a
 * thread each, where there are so many. `sharers` 0: unknown, so all of them. */
int host_cache_instances(int sharers, int cores, int threads);

struct host_caches {
    int64_t l2, l3;   /* bytes of one; 0: unknown */
    int l3_shared_by; /* cores that share an L3; 0: unknown, so all of them */
    int cores;
};

/* What all caches hold together that so many threads may lie on: an L2 each, and one of the L3s
 * each, where there are so many. 32 MiB stand for an L3 that the system does not tell. */
size_t host_caches_bytes(const struct host_caches *c, int threads);
/* What has to be read and written before a sample with cold caches: twice those of this machine. */
size_t host_cache_flush_bytes(int threads);

#endif
