/* SPDX-License-Identifier: MIT */
/*
 * The measured roofs of the host, in the manner of the Empirical Roofline Toolkit (Lo et al.,
 * 2014): small loops that do nothing but move bytes or multiply and add, for each memory level
 * and for the device's number of threads.
 *
 *   bandwidth.L1 .L2 .L3 .dram   B/s    the better of reading and copying
 *   copy.L1 .L2 .L3 .dram        B/s    copying alone, read + written bytes
 *   flops.fp32                   FLOP/s fused multiply-adds in registers, widest vectors
 *   overhead.launch              ns     an empty parallel region
 *
 * A measured roof is a lower bound of the true one, and whatever else the machine does only lowers
 * it: so `value` is the upper quartile of the repetitions, `low` and `high` are their extremes.
 * The data sheet's value, where known, stands beside it.
 */
#ifndef HARNESS_MEASURE_CEILINGS_H
#define HARNESS_MEASURE_CEILINGS_H

#include "core/record.h"

enum { CEILINGS_MAX = 16 };

/* Measures all for a CPU device; about a second. Returns their number. */
int ceilings_measure(struct device *device, const struct machine *machine, struct ceiling *out);

#endif
