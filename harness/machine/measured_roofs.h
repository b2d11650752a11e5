/* SPDX-License-Identifier: MIT */
/*
 * The measured roofs of a device, in the manner of the Empirical Roofline Toolkit (Lo et al.,
 * 2014): small loops that do nothing but move bytes or multiply and add, for each memory level
 * and for the device's number of threads.
 *
 *   bandwidth.L1 .L2 .L3 .dram   B/s    the better of reading and copying
 *   read.L1 .L2 .L3 .dram        B/s    reading alone: one core often reads memory slower than it
 *                                       reads and writes at once
 *   copy.L1 .L2 .L3 .dram        B/s    copying alone, read + written bytes; the better of plain
 *                                       stores and of those that go past the caches
 *   flops.fp32                   FLOP/s fused multiply-adds in registers, widest vectors
 *   dot.bf16, dot.int8           FLOP/s products of bfloat16 pairs, of four bytes or of pairs that
 *                                       were bytes, in registers, where there are any
 *   flops.bf16, flops.int8       FLOP/s the better of that and fp32's: both can be widened
 *   capacity.L1 .L2              B      of all caches of the level that the threads lie on at most,
 *                                       by who shares one: not every thread has its own
 *   overhead.launch              ns     an empty parallel region
 *
 * machine/measured_roofs_cuda.h has those of a GPU.
 *
 * A measured roof is a lower bound of the true one, and whatever else the machine does only lowers
 * it: so `value` is the upper quartile of the repetitions, `low` and `high` are their extremes.
 * The data sheet's value, where known, stands beside it.
 */
#ifndef HARNESS_MACHINE_MEASURED_ROOFS_H
#define HARNESS_MACHINE_MEASURED_ROOFS_H

#include "core/record.h"

enum { ROOFS_MAX = 24 };

/* Measures all of a device; some seconds, and for a CPU a tenth of that with HARNESS_ROOFS=quick.
 * Returns their number, or -1. The fake device has none. */
int roofs_measure(struct device *device, const struct machine *machine, struct roof *out,
                  struct error *err);

/* Bytes through which `threads` threads together walk for bandwidth.dram: several times what the
 * caches hold that they may lie on, at most a quarter of the memory, and half of the `room` that
 * there is (host_memory_available()). 0: that is less than the caches hold. */
size_t roofs_walk_bytes(const struct machine *machine, int threads, int64_t room);
/* Whether there is so much memory now. Without it the device gets no bandwidth.dram. */
bool roofs_have_room(const struct device *device, const struct machine *machine);
/* What each of them reads again and again for bandwidth.L1 and .L2: half of its part of a cache of
 * so many bytes that `sharing` processors have together (0: unknown, so it is its own). */
size_t roofs_level_bytes(int64_t cache, int sharing, int threads);
/* What each of them reads again and again for bandwidth.L3; 0: nothing lies in its share of that
 * cache and not in its L2. */
size_t roofs_l3_bytes(const struct machine *machine, int threads);

#endif
