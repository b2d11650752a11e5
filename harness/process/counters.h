/* SPDX-License-Identifier: MIT */
/*
 * What the processor counts while code runs: instructions, cycles, cache and branch misses, in user
 * space alone. By perf_event_open(2): one group, so that all of them count at the same times;
 * scaled where the kernel had to take turns with others' groups, by the time that it was enabled
 * over the time that it counted. Not so on processors with cores of several kinds: the kernel
 * counts on one kind alone, and what did not count all the time is absent there. What the
 * processor, the kernel or a virtual machine does not offer is absent, never 0.
 *
 *     struct counters *c = counters_open(COUNT_THREADS, NULL, &why);     before threads are started
 *     counters_begin(c); ... counters_end(c, counts);
 */
#ifndef HARNESS_PROCESS_COUNTERS_H
#define HARNESS_PROCESS_COUNTERS_H

#include "base/error.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum counter {
    COUNTER_INSTRUCTIONS,
    COUNTER_CYCLES,
    COUNTER_CACHE_MISSES,
    COUNTER_BRANCH_MISSES,
    COUNTER_NR
};

const char *counter_name(enum counter counter); /* "instructions", "cache_misses" */

enum count_of {
    COUNT_THREADS,  /* this thread and those that it starts from now on, between begin and end */
    COUNT_PROGRAMS, /* the programs that this thread starts, with all that they start */
};

/* The calls to the kernel; tests put their own in their place. Each as of open, ioctl, read and
 * close, with errno. `root` stands before /sys; "" otherwise. */
struct counter_calls {
    int (*open)(struct perf_event_attr *attr, int group);
    int (*control)(int fd, unsigned long request);
    ssize_t (*read)(int fd, void *to, size_t nr);
    int (*close)(int fd);
    const char *root;
};

/* An event of the kernel's; what is counted by each member of enum counter. */
struct counter_event {
    uint32_t type;
    uint64_t config;
};

/* Whether the processor has cores of several kinds, each with counters of its own: two units or
 * more of /sys/bus/event_source/devices with a file "cpus" (cpu_core and cpu_atom; several of
 * armv8_*), by which perf(1) knows those of cores. */
bool counters_of_kinds(const char *root);

struct counters;

/* NULL where nothing can be counted, and why, in words for people. `calls` NULL: the kernel. */
struct counters *counters_open(enum count_of of, const struct counter_calls *calls,
                               struct error *why);
/* The same of COUNTER_NR other events, such as those that the kernel counts itself. */
struct counters *counters_open_events(const struct counter_event *events, enum count_of of,
                                      const struct counter_calls *calls, struct error *why);
void counters_close(struct counters *c); /* NULL is fine */

/* `c` NULL: nothing happens, and all are absent. */
void counters_begin(struct counters *c);
/* What was counted since; NaN: not known. */
void counters_end(struct counters *c, double counts[COUNTER_NR]);

#endif
