/* SPDX-License-Identifier: MIT */
/*
 * Small bookkeeping allocations: they succeed or the process ends with a message and the status
 * MEMORY_EXIT, because no caller could do anything sensible. Tensors, whose size comes from the
 * user, never come from here: core/device.h refuses those with an error.
 */
#ifndef HARNESS_BASE_MEMORY_H
#define HARNESS_BASE_MEMORY_H

#include <stddef.h>

enum { MEMORY_EXIT = 2 }; /* as every failure of the program */

void *memory_zeroed(size_t nr, size_t size);            /* like calloc */
void *memory_resize(void *old, size_t nr, size_t size); /* like reallocarray */
char *memory_string(const char *text);                  /* like strdup; NULL gives NULL */

#endif
