/* SPDX-License-Identifier: MIT */
/*
 * History as series: one series for each benchmark on each machine class, one point for each run
 * that has a time for it, in order of time. Several runs of one commit are points of their own.
 *
 * Runs that are no part of the history of the code make no points: those of an A/B comparison and
 * those of a self-test (RUN_TRIAL in core/run_kind.h).
 */
#ifndef HARNESS_TREND_SERIES_H
#define HARNESS_TREND_SERIES_H

#include "core/run_kind.h"
#include "metrics/metric.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct series_point {
    int run;            /* index into records.runs */
    int64_t time_ms;    /* start of the run, ms since the epoch */
    const char *commit; /* borrowed; "" if unknown */
    bool dirty;         /* measured from a tree with uncommitted changes */
    uint64_t epoch;     /* see metrics/epoch.h */
    size_t launches;    /* fresh processes behind the point */
    double value;       /* of the metric: median over the launches */
    double p5, p95;     /* ns: of the run's pooled samples; NaN from a builder */
};

struct series {
    const struct benchmark_name *bench; /* borrowed from the records, or owned by the list */
    const char *machine;                /* class name; borrowed */
    struct series_point *items;         /* owned */
    size_t nr, capacity;
};

struct series_list {
    struct series *items; /* in reading order */
    size_t nr, capacity;
    struct benchmark_name *names; /* owned; NULL where the records have them */
};

/* False for the runs that make no points. */
bool series_takes(const struct run *run);

/* Series of the median latency, above 0. Benchmarks without any time make no series (0 ns is none).
 * `records` must outlive the list. */
void series_list_init(struct series_list *list, const struct records *records);
void series_list_release(struct series_list *list);

/*
 * The same for histories that are too long to be held: measurements come one at a time, in any
 * order, and are gone after each call. What stays of one is a number.
 *
 *     struct series_builder *b = series_builder_create(metric, &runs);
 *     ... series_builder_add(b, run, launch_seq, &m) ...
 *     series_builder_finish(b, &list);
 *     series_builder_free(b);
 */
struct series_builder;

/* `runs` has the runs; its measurements are not looked at, and it must outlive the list. */
struct series_builder *series_builder_create(const struct metric *metric,
                                             const struct records *runs);
/* What is not OK, or has no such metric, makes no point; 0 and what is below are values of it, as
 * of allocations or scores. */
void series_builder_add(struct series_builder *b, size_t run, int launch_seq,
                        const struct measurement *m);
/* Release the list as ever; the builder is empty then. */
void series_builder_finish(struct series_builder *b, struct series_list *list);
void series_builder_free(struct series_builder *b); /* NULL is fine */

#endif
