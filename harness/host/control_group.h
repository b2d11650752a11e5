/* SPDX-License-Identifier: MIT */
/*
 * The control group of this process in a hierarchy, and those above it: what limits one of them
 * limits the process. Version 2 has one hierarchy, version 1 one for each controller.
 *
 *     struct control_group g;
 *     control_group_begin(&g, root, "cpu", "/sys/fs/cgroup/cpu");
 *     do
 *         ... files of g.folder ...
 *     while (control_group_up(&g));
 */
#ifndef HARNESS_HOST_CONTROL_GROUP_H
#define HARNESS_HOST_CONTROL_GROUP_H

#include <stdbool.h>
#include <stddef.h>

enum { CONTROL_GROUP_SIZE = 1024 };

struct control_group {
    char folder[CONTROL_GROUP_SIZE];
    size_t top; /* where the path below the hierarchy begins */
};

/*
 * The group of this process by /proc/self/cgroup, or the top of the hierarchy where that tells
 * none. `controller` "" is version 2; the hierarchy lies in `top`. `root` stands before /proc and
 * /sys, for tests; "" otherwise. In a container the folder may be one that only the host has: then
 * the top is the container's.
 */
void control_group_begin(struct control_group *g, const char *root, const char *controller,
                         const char *top);
/* The one above; false where this was the top. */
bool control_group_up(struct control_group *g);

#endif
