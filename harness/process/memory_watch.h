/* SPDX-License-Identifier: MIT */
/*
 * What a measuring process holds, looked at from outside: its own memory and that of all that it
 * started, wherever that went (process/process_tree.h), without what the system can read again from
 * files, but with files that are memory and have no name (process/memory_files.h), each once, and
 * with what was swapped out.
 *
 * Not by setrlimit(): a limit of address space would refuse what CUDA and the sanitizers only
 * reserve, would be each process's own, and what runs into it dies of something else, a null
 * pointer or an exception of its own. A cgroup says it best, but few may make one. So one looks,
 * the sooner the less there is left; docs/decisions/0019-memory-limit.md.
 */
#ifndef HARNESS_PROCESS_MEMORY_WATCH_H
#define HARNESS_PROCESS_MEMORY_WATCH_H

#include "process/memory_files.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Looks are this far apart at most, ms. */
enum { MEMORY_WATCH_MS = 100 };

struct memory_watch {
    int64_t limit;    /* bytes */
    int64_t held;     /* bytes, when it was last looked at */
    uint64_t next_ns; /* when to look again, see base/monotonic.h */
    int64_t too_much; /* bytes: by how much a quick look was mistaken, when last it was checked */
    struct memory_files files; /* of the last look */
    uint64_t maps_ns;          /* when to read mappings again, though nothing asks for it */
};

/* Looks if it is time; true where more than the limit is held by what is below `guard`, which does
 * not count: all that has been stopped then. */
bool memory_watch_over(struct memory_watch *w, pid_t guard);
void memory_watch_release(struct memory_watch *w);
/* ms until it is time, rounded up. */
int memory_watch_wait(const struct memory_watch *w);

/* Bytes of one process, by its folder in /proc: quickly, and too much (with the pages of files, and
 * those that processes share several times); and its part of them, without files. */
int64_t memory_watch_quick(const char *folder);
int64_t memory_watch_exact(const char *folder);

#endif
