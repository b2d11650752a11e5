/* SPDX-License-Identifier: MIT */
/*
 * Which measured roof binds a benchmark, and how near it comes.
 * Model: Williams, Waterman, Patterson, "Roofline", CACM 52(4), 2009, with one memory roof per
 * cache level (Ilic, Pratas, Sousa, "Cache-aware roofline model", IEEE CAL 13(1), 2014).
 *
 *     memory time  = compulsory bytes / bandwidth of the level that holds the working set
 *     compute time = FLOPs / FLOP rate of the math mode
 *     roof time    = the longer of the two;  fraction of roof = roof time / median time
 *
 * Level. Cold: DRAM. Warm: the fastest level whose aggregate capacity over the threads in use holds
 * the working set: the bytes that a launch touches (an embedding touches few rows of its table).
 * When the working set is larger than a level, the part that fits may still come from it, so that
 * share of the bytes is charged at that level's speed: the roof stays an upper bound while the
 * working set outgrows a cache. Where the roof of a cache was not measured (the threads'
 * shares of an L3 may be no larger than their L2), the next faster one stands for it, which is an
 * upper bound, too, or else the next slower one.
 *
 * Latency. Where the roof time is below ROOF_LATENCY_FACTOR x the measured cost of an empty launch,
 * the launch itself sets the time, and the bound is latency.
 *
 * Roofs are looked up by name and by the device label of the benchmark; another thread count
 * has other roofs and is never borrowed. A GPU in graph mode has the roofs of the GPU; there an
 * empty graph node is the empty launch.
 */
#ifndef HARNESS_METRICS_ROOFLINE_H
#define HARNESS_METRICS_ROOFLINE_H

#include "core/record.h"
#include "metrics/metric.h"

#include <stdbool.h>
#include <stddef.h>

#define ROOF_LATENCY_FACTOR 2.0

enum memory_level { LEVEL_L1, LEVEL_L2, LEVEL_L3, LEVEL_DRAM, LEVEL_NR };
enum bound { BOUND_UNKNOWN, BOUND_MEMORY, BOUND_COMPUTE, BOUND_LATENCY };

struct binding_roof {
    enum bound bound;
    enum memory_level level;                   /* the slowest level that the bytes must come from */
    double intensity;                          /* FLOP/byte; NaN if there are no bytes */
    double memory_ns, compute_ns, overhead_ns; /* 0 where there is no such work or roof */
    double roof_ns;                            /* longer of memory and compute; NaN if unknown */
    double attainable; /* FLOP/s at the roof time; NaN if unknown or without FLOPs */
    double fraction;   /* roof_ns / median; NaN if unknown */
    bool above_roof;   /* faster than the highest repetition of the roofs allows */
    char words[192];   /* "memory: 51.5 MB over DRAM at 21.0 GB/s = 2.45 ms", or why not */
};

/* `median_ns` may be NaN (nothing was measured): then the roof is given without a fraction. */
void binding_roof_of(const struct measurement *m, double median_ns,
                     const struct metric_context *context, struct binding_roof *binding);

const char *bound_name(enum bound bound);               /* "memory"; "" if unknown */
const char *memory_level_name(enum memory_level level); /* "L1", ..., "DRAM" */
/* Roof names: "bandwidth.L1", ..., "bandwidth.dram". */
const char *memory_level_roof(enum memory_level level);

/* Bytes that the caches of one level of the host hold together for `threads` threads, each of which
 * is taken to have an L1 and an L2 of its own; 0 if unknown, INFINITY for DRAM. */
double memory_level_capacity(const struct machine *machine, enum memory_level level, int threads);
/* The same of the device of this label, by its roofs where these tell (capacity.L1, capacity.L2): a
 * machine in a history does not say who shares an L1 or L2, and of a GPU nothing else is known. */
double roof_capacity(const struct metric_context *context, enum memory_level level,
                     const char *device);

/* The roof of this name for the hardware of this device label, or NULL. */
const struct roof *roof_find(const struct metric_context *context, const char *name,
                             const char *device);

#endif
