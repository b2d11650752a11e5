/* SPDX-License-Identifier: MIT */
/* The most memory that this process has held since it last asked. */
#ifndef HARNESS_PROCESS_PEAK_MEMORY_H
#define HARNESS_PROCESS_PEAK_MEMORY_H

#include <stdbool.h>

/* From here on. False where the kernel does not let the peak be forgotten (Linux 4.0). */
bool peak_memory_begin(void);
/* Bytes of resident memory; NaN: not known. */
double peak_memory_bytes(void);

#endif
