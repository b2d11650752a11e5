/* SPDX-License-Identifier: MIT */
/*
 * Hardware counters of kernels, one set a launch, whether collected here (cupti/counters.h) or
 * read from Nsight Compute's file (gputrace/import.h): names and values as the tool gives them, and
 * the few quantities that the harness asks for, whatever the metrics they are made of.
 *
 * A list belongs to one thread at a time.
 */
#ifndef HARNESS_GPUTRACE_COUNTER_LIST_H
#define HARNESS_GPUTRACE_COUNTER_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct activity_names;

struct kernel_counter {
    const char *metric; /* "dram__bytes_read.sum"; owned by the list */
    const char *unit;   /* "ns", "byte", "byte/s", "Hz", "%", ... without prefixes; "" if none */
    double value;
};

struct kernel_counters {
    const char *name;                  /* demangled; "" where the collector does not know it */
    int64_t id;                        /* as the source counts launches, from 0 */
    int32_t device, grid[3], block[3]; /* device -1, extents 0: not known */
    uint32_t context, stream;
    struct kernel_counter *items;
    size_t nr, capacity;
};

struct counter_list {
    struct kernel_counters *items;
    size_t nr, capacity;
    struct activity_names *names;
    uint64_t dropped; /* launches without counters, for lack of room */
};

void counter_list_init(struct counter_list *list);
void counter_list_release(struct counter_list *list);
/* Both are valid until the next one of their kind. */
struct kernel_counters *counter_list_add(struct counter_list *list, const char *name, int64_t id);
struct kernel_counter *kernel_counters_add(struct counter_list *list, struct kernel_counters *k,
                                           const char *metric, const char *unit, double value);

/* NaN where the metric is not there. */
double kernel_counters_value(const struct kernel_counters *k, const char *metric);

enum counter_quantity {
    COUNTER_DURATION,     /* ns */
    COUNTER_DRAM_BYTES,   /* read and written in the GPU's memory */
    COUNTER_FP32_FLOPS,   /* of the plain FP32 units: fused multiply-add counts 2 */
    COUNTER_TENSOR_FLOPS, /* of the tensor cores, as their "ops" metrics count */
    COUNTER_QUANTITY_NR
};

/* From the metrics that are there; NaN where they do not suffice. */
double kernel_counters_quantity(const struct kernel_counters *k, enum counter_quantity quantity);
/* The metrics to collect for a set of quantities (bits 1u << COUNTER_...), at most `most`. */
size_t counter_quantity_metrics(unsigned quantities, const char **metrics, size_t most);

#endif
