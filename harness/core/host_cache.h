/* SPDX-License-Identifier: MIT */
/* Sizes of the host's caches, as this process sees them. The machine as a whole, with its class, is
 * machine/environment.h. */
#ifndef HARNESS_CORE_HOST_CACHE_H
#define HARNESS_CORE_HOST_CACHE_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of one data or unified cache of a level (1 to 3), as the first core sees it; 0 if the
 * system does not tell. */
int64_t host_cache_bytes(int level);
/* Cores that share that cache with the first core; 0 if unknown. */
int host_cache_sharers(int level);

/* What has to be read and written before a sample with cold caches: twice the last-level cache, 64
 * MiB where the system does not tell. */
size_t host_cache_flush_bytes(void);

#endif
