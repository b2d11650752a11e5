/* SPDX-License-Identifier: MIT */
/* The entries of a folder of /proc whose names are numbers: processes, threads, descriptors. Like
 * opendir(), but takes no memory: also for a child that fork() has just made. */
#ifndef HARNESS_PROCESS_PROC_NUMBERS_H
#define HARNESS_PROCESS_PROC_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

struct proc_numbers {
    int folder; /* its descriptor */
    long length, at;
    _Alignas(uint64_t) char block[4096];
};

bool proc_numbers_open(struct proc_numbers *n, const char *folder);
/* The next number; -1: there is none, and the folder is closed. */
long proc_numbers_next(struct proc_numbers *n);

#endif
