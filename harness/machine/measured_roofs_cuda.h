/* SPDX-License-Identifier: MIT */
/*
 * The measured roofs of a GPU, timed by the device's own timer like any benchmark (so with the host
 * ahead of it, see docs/measuring/gpu.md).
 *
 *   bandwidth.dram         B/s     the better of reading and copying 32 times the L2
 *   copy.dram              B/s     copying alone, read + written bytes; the better of a loop and
 *                                  the runtime's own copy
 *   bandwidth.L2           B/s     reading a quarter of the L2 again and again, past the L1
 *   capacity.L2            B       as the driver tells
 *   flops.fp32             FLOP/s  fused multiply-adds in registers
 *   mma.tf32, mma.bf16     FLOP/s  mma.sync from registers, random operands
 *   wgmma.tf32, .bf16, .fp8 FLOP/s wgmma m64n256 from shared memory: compute capability 9.0 alone
 *   flops.tf32, .bf16      FLOP/s  the best of the two: the roof
 *   flops.fp8              FLOP/s  of e4m3, by wgmma alone
 *   overhead.launch        ns      an empty kernel on the stream, enqueued ahead
 *   overhead.graph_node    ns      an empty kernel in a CUDA graph of 256
 *   overhead.graph_launch  ns      a CUDA graph of one empty kernel
 *   event.resolution       ns      smallest difference between two event intervals
 *   flush.cold_over_warm   x       latency of reads after a flush over that of warm ones: near 1
 *                                  means that the flush does not flush
 *
 * Matrix products of zeros draw less power and run faster than those of real data, so the operands
 * are random.
 */
#ifndef HARNESS_MACHINE_MEASURED_ROOFS_CUDA_H
#define HARNESS_MACHINE_MEASURED_ROOFS_CUDA_H

#include "core/record.h"

/* Of the GPU of `device`, in either of its modes. Returns their number, or -1. */
int roofs_cuda(struct device *device, struct roof *out, struct error *err);

#endif
