/* SPDX-License-Identifier: MIT */
/*
 * Where things lie in a measuring process, anew in each launch: the length of its environment moves
 * the stack, a first piece of the heap all that comes behind it, and the system places the address
 * space. So the luck of one layout, that of a build with a longer path, say, is noise among
 * launches and no difference between two programs. Programs that are measured (harness run --
 * PROGRAM) keep the environment as it is; their address spaces are the system's to place.
 *
 * What stays where it is: code and data within their pages, which the linker chose, and the buffers
 * of a case (device/device_host.c).
 */
#ifndef HARNESS_DEVICE_MEMORY_PLACEMENT_H
#define HARNESS_DEVICE_MEMORY_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>

/* _HARNESS_PLACEMENT=<bytes of heap>.<as many characters as the stack is moved by> */
#define PLACEMENT_VARIABLE "_HARNESS_PLACEMENT"

enum { PLACEMENT_PAGE = 4096, PLACEMENT_STEP = 16, PLACEMENT_SIZE = PLACEMENT_PAGE + 64 };

/* A setting for the environment of the next launch, by chance. */
void placement_draw(char text[PLACEMENT_SIZE]);
/* Whether this process was placed anew. */
bool placement_is_fresh(void);
/* In the launch: takes the piece of the heap; NULL where the environment says nothing. free() it at
 * the end. */
void *placement_take(void);
/* In the child, between fork() and exec(): the address space is to be where it always is. */
void placement_fix(void);

#endif
