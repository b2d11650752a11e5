/* SPDX-License-Identifier: MIT */
/*
 * Data-sheet roofs of processors and GPUs that we know, to stand beside the measured ones. What is
 * not in the table has none; `harness roofline --spec` sets them by hand.
 */
#ifndef HARNESS_MACHINE_DATASHEET_H
#define HARNESS_MACHINE_DATASHEET_H

#include "core/tensor.h"

/* For `threads` cores of the processor whose name (/proc/cpuinfo) holds a known model:
 *   *flops      fp32 FLOP/s at the highest boost clock, all FMA pipes busy
 *   *bandwidth  B/s of one socket's memory channels at the fastest supported memory
 * 0 where unknown. */
void datasheet_find(const char *cpu, int threads, double *flops, double *bandwidth);

struct datasheet_gpu {
    double bandwidth;      /* B/s of its memory */
    double flops[MATH_NR]; /* FLOP/s at boost clock, matrices dense (not "with sparsity") */
};

/* Of the GPU whose name is as the driver tells it; all 0 where it is unknown. */
struct datasheet_gpu datasheet_find_gpu(const char *name);

#endif
