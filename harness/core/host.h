/* SPDX-License-Identifier: MIT */
/* Facts of the host that several layers need. */
#ifndef HARNESS_CORE_HOST_H
#define HARNESS_CORE_HOST_H

#include <stdint.h>

/* Bytes of one data or unified cache of a level (1 to 3), as the first core sees it; 0 if the
 * system does not tell. */
int64_t host_cache_bytes(int level);
/* Cores that share that cache with the first core; 0 if unknown. */
int host_cache_sharers(int level);

#endif
