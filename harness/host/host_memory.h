/* SPDX-License-Identifier: MIT */
/* How much memory a process may take here before others suffer. */
#ifndef HARNESS_HOST_HOST_MEMORY_H
#define HARNESS_HOST_HOST_MEMORY_H

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

/* Of those memory cgroups the one that has the least left; bytes, INT64_MAX where none has a limit.
 */
struct host_memory_group {
    int64_t left, limit;
};
struct host_memory_group host_memory_group(const char *root);

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

/* The same as a file without a name, which another process that has the descriptor can map: NULL
 * with errno. */
void *host_memory_shared(size_t bytes, int *fd);
void host_memory_unshare(void *memory, size_t bytes, int fd);

/*
 * Where a buffer comes to lie must not follow from what was allocated before it: a job's text of
 * another length would move it, and two buffers with the same place in their pages hinder each
 * other (a load waits for an earlier store whose address has the same low 12 bits). So each has
 * pages of its own, and begins in them at a line of its own that its number among the live buffers
 * tells. Bytes, less than a page; 64 buffers differ.
 */
size_t host_memory_stagger(size_t number);

#endif
