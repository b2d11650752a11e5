/* SPDX-License-Identifier: MIT */
/* What the starting of other programs has in common. */
#ifndef HARNESS_BASE_PROCESS_H
#define HARNESS_BASE_PROCESS_H

/* This process's environment with one "NAME=value" set or replaced; NULL changes nothing. The
 * array is for execve() and its like; free() it. The strings stay where they are. */
char **process_environment(const char *setting);

#endif
