/* SPDX-License-Identifier: MIT */
/*
 * A process and all that it started, found through /proc by who is whose child: what leaves its
 * process group or session is still in it. What outlives its parent becomes a child of the nearest
 * ancestor that is a subreaper (PR_SET_CHILD_SUBREAPER): under one, nothing gets out.
 *
 * Who calls is found, too, if it is below `root`, but neither counted nor signalled below.
 *
 * No memory is taken and only async-signal-safe calls are made, so that a child that fork() has
 * just made may use it.
 */
#ifndef HARNESS_PROCESS_PROCESS_TREE_H
#define HARNESS_PROCESS_PROCESS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { PROCESS_TREE_MAX = 4096 };

/* The descendants of `root`, without itself, parents before children, zombies among them; at most
 * `most`. The second reads all of /proc, which the first does where the kernel tells no children
 * (CONFIG_PROC_CHILDREN). */
size_t process_tree_list(pid_t root, pid_t *pids, size_t most);
size_t process_tree_search(pid_t root, pid_t *pids, size_t most);

/* The children of this process alone. */
size_t process_tree_children(pid_t *pids, size_t most);

/* Does any descendant still run? Zombies do not. */
bool process_tree_is_empty(pid_t root);
/* Sends all of them a signal. */
void process_tree_signal(pid_t root, int number);
/* Stops all of them, and lets them go on. Of a root that leads a process group the whole group is
 * stopped first, with the root, by one call: looked for one by one, many could start others faster
 * than they are found, or leave no processor to look. Who calls must not be in that group. */
void process_tree_stop(pid_t root);
void process_tree_continue(pid_t root);
/* Ends all of them by SIGKILL. They are stopped first, parents before children, so that none can
 * start another meanwhile, nor a number pass to a stranger. false: some do not end within five
 * seconds (a system call that hangs, or a user that we must not signal). */
bool process_tree_kill(pid_t root);

#endif
