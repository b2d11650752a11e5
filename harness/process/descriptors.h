/* SPDX-License-Identifier: MIT */
/*
 * File descriptors that a child must not have, or is to have. For a child that fork() has just
 * made: only async-signal-safe calls, no memory is taken. close_range() where the kernel has it
 * (5.9, its flag 5.11), else a walk through /proc/self/fd, else through all numbers that are
 * allowed.
 */
#ifndef HARNESS_PROCESS_DESCRIPTORS_H
#define HARNESS_PROCESS_DESCRIPTORS_H

#include <stddef.h>

/* Closes all from `lowest` on but `kept`; -1: keeps none. */
void descriptors_close(int lowest, int kept);
/* They are closed when another program is executed. */
void descriptors_close_on_exec(int lowest);
/* Puts /dev/null in its place, above 2 closed on exec. */
void descriptors_empty(int fd);
/* For a child before it executes a program that will hide one: makes the table of descriptors large
 * enough. The kernel lets one that threads share grow only after many milliseconds. */
void descriptors_make_room(void);
/* Moves one to a number from a large range that nobody can guess, closed on exec, and leaves
 * /dev/null in its place. Returns the new number, or -1 with errno. */
int descriptors_hide(int fd);
/* A new file without a name that holds these bytes, to be read from its beginning, closed on exec;
 * `name` is for who looks into /proc. -1 with errno. */
int descriptors_of_bytes(const char *name, const void *bytes, size_t length);

#endif
