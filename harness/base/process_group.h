/* SPDX-License-Identifier: MIT */
/*
 * A process group that ends with this process, however that ends: also by SIGKILL, of which nothing
 * can tell it. Its leader is a guard, a child that does nothing but wait for the death of its
 * parent, and kills the group then. What leaves the group (setsid) it does not find.
 */
#ifndef HARNESS_BASE_PROCESS_GROUP_H
#define HARNESS_BASE_PROCESS_GROUP_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

struct process_group {
    pid_t id; /* for kill(-id, ...), and of the guard; 0: none */
};

/* Starts the guard. With `grace_ms` it asks by SIGTERM first, and kills so much later: for programs
 * that would leave a lock behind. The guard keeps out signals, and holds no file open. */
int process_group_open(struct process_group *g, int grace_ms, struct error *err);
/* Ends the guard alone: of what is still in the group nobody takes care any more. It may be called
 * twice, and for none. */
void process_group_close(struct process_group *g);
/* Is nobody left in it? A program that has ended is, until it is waited for. The guard is moved out
 * to be able to tell, so none may join from here on. */
bool process_group_is_empty(const struct process_group *g);

/* For a child that fork() has just made, only async-signal-safe calls. false: `parent`, who made
 * it, is gone, and it should _exit(). */
bool process_end_with(pid_t parent);
/* The same, and it joins the group. */
bool process_group_join(const struct process_group *g, pid_t parent);

#endif
