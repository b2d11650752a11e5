/* SPDX-License-Identifier: MIT */
/*
 * A process that ends, with all that it started, when this process does, however that ends: also by
 * SIGKILL, of which nothing can tell it.
 *
 * Between the two stands a guard, a child that does nothing but wait: for the end of the process,
 * which it tells, and for that of its own parent, after which it kills all that is left. It is a
 * subreaper, so what the process starts stays below it, whether it leaves its process group or its
 * session or outlives its parent (process/process_tree.h). Who kills the guard ends the process,
 * too. Stopped, it wakes when it is needed. It keeps out signals and holds no file open.
 */
#ifndef HARNESS_PROCESS_PROCESS_GROUP_H
#define HARNESS_PROCESS_PROCESS_GROUP_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

struct process_group {
    pid_t guard; /* of whom all that counts is a descendant, and the number of the group; 0: none */
    pid_t pid;   /* the process; its number may pass to another once it has ended */
    int news;    /* from the guard: readable when there is some; -1: none */
    bool ended;  /* the process, or the guard, of whom one cannot learn any more */
    int status;  /* then: as of waitpid() */
    int not_run; /* errno, where `life` came back */
    bool deserted; /* nobody says how the process did: the guard has ended, or cannot */
    int unheard;   /* then: errno, where it was this process that could not hear it; else 0 */
};

extern const struct process_group process_group_none;

/* Starts guard and process. `life` is what the process does: it has just been forked, with the
 * signal mask of this process, and may make only async-signal-safe calls; it executes a program, or
 * _exit()s, or returns errno. Where it exits before it could say that it began, it was not started.
 * With `grace_ms`, when this process is gone the others are asked by SIGTERM first and killed so
 * much later: for programs that would leave a lock behind. */
int process_group_start(struct process_group *g, int grace_ms, int (*life)(const void *context),
                        const void *context, struct error *err);
/* Takes the news, without waiting; true once the process has ended. */
bool process_group_ended(struct process_group *g);
/* Waits for that, at most so long; false: it is still running. */
bool process_group_wait(struct process_group *g, double seconds);
/* Asks all of them. */
void process_group_signal(const struct process_group *g, int number);
/* Is nobody left? The guard does not count. */
bool process_group_is_empty(const struct process_group *g);
/* Kills all of them, and waits for what the guard says of it. */
void process_group_kill(struct process_group *g);
/* Ends the guard alone: of what is left nobody takes care any more. It may be called twice, and for
 * none. */
void process_group_close(struct process_group *g);

#endif
