/* SPDX-License-Identifier: MIT */
/* How much memory a process may take here before others suffer. */
#ifndef HARNESS_CORE_HOST_MEMORY_H
#define HARNESS_CORE_HOST_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Of what is free, this share is for measuring; the rest is for all others. */
#define HOST_MEMORY_SHARE 0.9

/*
 * Bytes: HOST_MEMORY_SHARE of the least of what the system calls available (MemAvailable) and what
 * the memory cgroups of this process have left, version 1 or 2, with those above them. INT64_MAX
 * where nothing tells. `root` stands before /proc and /sys, for tests; "" otherwise.
 */
int64_t host_memory_available(const char *root);

/*
 * Memory on pages of its own, for what is timed: NULL where there is none; free() it.
 *
 * It must not matter which pages the system has at hand. A cache of the second level finds its
 * lines by the physical address: of small pages some processes get many that fall on the same
 * lines, and then the cache holds less. So from HOST_MEMORY_HUGE bytes on it lies in huge pages,
 * wholly, whatever it needs of them, where the system gives any: within one, addresses are
 * physical.
 */
enum { HOST_MEMORY_PAGE = 4096, HOST_MEMORY_HUGE = 64 << 10 };
void *host_memory_pages(size_t bytes);

#endif
