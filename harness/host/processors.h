/* SPDX-License-Identifier: MIT */
/*
 * Sets of the host's processors, and which of them a thread may use. The C library's own set,
 * cpu_set_t, has room for 1024: where the kernel may have more, nothing is read into it, and what
 * follows would be that this process has one processor.
 */
#ifndef HARNESS_HOST_PROCESSORS_H
#define HARNESS_HOST_PROCESSORS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* As many as Linux can be built for (NR_CPUS), so that a set is a value without memory of its own:
 * some are used between fork and exec. */
enum { PROCESSORS_MAX = 8192, PROCESSORS_OF_WORD = CHAR_BIT * sizeof(unsigned long) };

/* All zero: none. */
struct processors {
    unsigned long words[PROCESSORS_MAX / PROCESSORS_OF_WORD];
};

bool processors_have(const struct processors *p, size_t number);
/* A number beyond the largest adds none. */
void processors_add(struct processors *p, size_t number);
void processors_remove(struct processors *p, size_t number);
/* Adds all that `others` has. */
void processors_join(struct processors *p, const struct processors *others);
int processors_count(const struct processors *p);

/* Those that a thread may use; 0: the calling one. False, and none, where the kernel does not tell.
 */
bool processors_of(pid_t thread, struct processors *p);
/* From now on it may use these alone. False where that is not allowed. */
bool processors_bind(pid_t thread, const struct processors *p);

#endif
