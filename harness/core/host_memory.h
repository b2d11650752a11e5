/* SPDX-License-Identifier: MIT */
/* How much memory a process may take here before others suffer. */
#ifndef HARNESS_CORE_HOST_MEMORY_H
#define HARNESS_CORE_HOST_MEMORY_H

#include <stdint.h>

/* Of what is free, this share is for measuring; the rest is for all others. */
#define HOST_MEMORY_SHARE 0.9

/*
 * Bytes: HOST_MEMORY_SHARE of the least of what the system calls available (MemAvailable) and what
 * the memory cgroups of this process have left, version 1 or 2, with those above them. INT64_MAX
 * where nothing tells. `root` stands before /proc and /sys, for tests; "" otherwise.
 */
int64_t host_memory_available(const char *root);

#endif
