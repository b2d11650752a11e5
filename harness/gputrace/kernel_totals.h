/* SPDX-License-Identifier: MIT */
/*
 * Counters added up by kernel: what one iteration of a program launches, reads, writes and
 * computes. Pure. As JSON (docs/formats/profile.md) it goes from the process that counted to
 * the one that shows it.
 */
#ifndef HARNESS_GPUTRACE_KERNEL_TOTALS_H
#define HARNESS_GPUTRACE_KERNEL_TOTALS_H

#include "base/error.h"
#include "core/kernel.h"
#include "gputrace/counter_list.h"
#include "gputrace/kernel_sequence.h"

struct cJSON;

struct kernel_total {
    char *name;       /* owned; "" where it is not known which kernels these are */
    double launches;  /* of an iteration */
    struct work work; /* of an iteration: FLOPs, and bytes of DRAM; NaN where not counted */
};

struct kernel_totals {
    struct kernel_total *items; /* in the order of their first launches */
    size_t nr, capacity;
    int iterations;   /* over which the mean is taken */
    uint64_t dropped; /* launches without counters; then nothing is complete */
};

/* `list` holds `iterations` (at least 1) iterations. Kernels have names where each iteration has as
 * many launches as the sequence, else all are in one row. Release it. */
void kernel_totals_of(const struct counter_list *list, int iterations,
                      const struct kernel_sequence *names, struct kernel_totals *totals);
void kernel_totals_release(struct kernel_totals *totals);
/* Of all kernels of an iteration; NaN where a kernel lacks it or launches were dropped. */
struct work kernel_totals_work(const struct kernel_totals *totals);

struct cJSON *kernel_totals_to_json(const struct kernel_totals *totals);
/* Release the totals whatever the result. */
int kernel_totals_from_json(const struct cJSON *json, struct kernel_totals *totals,
                            struct error *err);

#endif
