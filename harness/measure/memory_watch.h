/* SPDX-License-Identifier: MIT */
/*
 * What a measuring process holds, looked at from outside: its own memory and that of all that it
 * started, wherever that went (base/process_tree.h), without what the system can read again from
 * files, but with files that are memory and that nothing but open descriptors keeps: those of
 * memfd_create(), and deleted ones of a tmpfs, each once.
 *
 * Not by setrlimit(): a limit of address space would refuse what CUDA and the sanitizers only
 * reserve, would be each process's own, and what runs into it dies of something else, a null
 * pointer or an exception of its own. A cgroup says it best, but few may make one. So one looks,
 * the sooner the less there is left; docs/decisions/0019-memory-limit.md.
 */
#ifndef HARNESS_MEASURE_MEMORY_WATCH_H
#define HARNESS_MEASURE_MEMORY_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Looks are this far apart at most, ms. */
enum { MEMORY_WATCH_MS = 100 };

struct memory_watch {
    int64_t limit;    /* bytes */
    int64_t held;     /* bytes, when it was last looked at */
    uint64_t next_ns; /* when to look again, see core/clock.h */
    int64_t too_much; /* bytes: by how much a quick look was mistaken, when last it was checked */
};

/* Looks if it is time; true where more than the limit is held by what is below `guard`, which does
 * not count: all that has been stopped then. */
bool memory_watch_over(struct memory_watch *w, pid_t guard);
/* ms until it is time, rounded up. */
int memory_watch_wait(const struct memory_watch *w);

#endif
