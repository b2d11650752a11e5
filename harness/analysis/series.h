/* SPDX-License-Identifier: MIT */
/*
 * History as series for trend plots: one series for each benchmark on each machine class, one
 * point for each run that has a time for it, in order of time.
 */
#ifndef HARNESS_ANALYSIS_SERIES_H
#define HARNESS_ANALYSIS_SERIES_H

#include "core/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct series_point {
    int run;            /* index into records.runs */
    int64_t time_ms;    /* start of the run, ms since the epoch */
    const char *commit; /* borrowed; "" if unknown */
    bool dirty;         /* measured from a tree with uncommitted changes */
    uint64_t epoch;     /* see analysis/epoch.h */
    size_t launches;    /* fresh processes behind the point */
    double median;      /* ns: median of the launch medians */
    double p5, p95;     /* ns: of the run's pooled samples */
};

struct series {
    const struct benchmark_name *bench; /* borrowed from the records */
    const char *machine;                /* class name; borrowed */
    struct series_point *items;         /* owned */
    size_t nr, capacity;
};

struct series_list {
    struct series *items; /* in reading order */
    size_t nr, capacity;
};

/* Benchmarks without any time make no series. `records` must outlive the list. */
void series_list_init(struct series_list *list, const struct records *records);
void series_list_release(struct series_list *list);

#endif
