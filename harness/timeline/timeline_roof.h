/* SPDX-License-Identifier: MIT */
/*
 * How near an operation comes to what the machine can do: the roofline of its FLOPs and bytes
 * (Williams, Waterman, Patterson 2009), as metrics/roofline.h has it for benchmarks.
 *
 * Here nobody knows where the operands lie before the operation begins: its predecessor may have
 * left them in a cache. So the memory roof is that of the slowest level that the measured time does
 * not contradict: DRAM, unless the bytes moved faster than DRAM can, then L3, and so on.
 */
#ifndef HARNESS_TIMELINE_TIMELINE_ROOF_H
#define HARNESS_TIMELINE_TIMELINE_ROOF_H

#include "core/record.h"

#include <stddef.h>

enum { TIMELINE_LEVELS = 4 }; /* DRAM, L3, L2, L1 */

struct timeline_roofs {
    double flops;                      /* per second; 0: not known */
    const char *math;                  /* "fp32" */
    double bandwidth[TIMELINE_LEVELS]; /* bytes per second, the slowest first; 0: not known */
};

enum timeline_bound { TIMELINE_UNBOUND, TIMELINE_MEMORY, TIMELINE_COMPUTE };

struct timeline_roof {
    enum timeline_bound bound; /* TIMELINE_UNBOUND: no work given, or no roof for it */
    double fraction;  /* time at the roof over the measured time; NaN if unbound. Above 1.05
                       * the FLOPs, the time or the roof is wrong */
    const char *name; /* "FMA roof", "bf16 roof", "bandwidth of DRAM"; "" */
    double roof_ns;
};

/* "DRAM", "L3", "L2", "L1" of a place in `bandwidth`. */
const char *timeline_level_name(int level);

/* From the measured roofs of a machine ("flops.<math>", "bandwidth.dram", ...) for the device
 * label `device` ("cpu-2t", "gpu-0"). `math` must outlive the result. */
struct timeline_roofs timeline_roofs_of(const struct roof *roofs, size_t nr, const char *device,
                                        const char *math);
struct timeline_roof timeline_roof_of(const struct timeline_roofs *roofs, double flops,
                                      double bytes, double ns);

#endif
