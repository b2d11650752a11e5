/* SPDX-License-Identifier: MIT */
/* The benchmarks of one run, launches pooled: what tables, exports and figures go through. */
#ifndef HARNESS_METRICS_RUN_ROWS_H
#define HARNESS_METRICS_RUN_ROWS_H

#include "core/record.h"
#include "metrics/group.h"
#include "metrics/metric.h"
#include "metrics/summary.h"

#include <stddef.h>

struct run_row {
    const struct benchmark_name *bench; /* borrowed from the records */
    struct summary summary;             /* n is 0 without a time */
    enum outcome outcome;               /* the worst of the launches */
    const char *message;                /* of the first that is not OK; borrowed, may be NULL */
    size_t launches, failures;          /* all, and those that are not OK */
};

struct run_rows {
    struct run_row *items; /* in reading order */
    size_t nr, capacity;
    char **labels; /* short, unique; one each; NULL until run_rows_name() */
    struct metric_context context;
    struct groups groups;
};

/* The newest run that has a record, or -1. */
int run_newest(const struct records *records);
/* The same of the runs on that machine class; "" fits any. */
int run_newest_on(const struct records *records, const char *machine);
bool run_is_on(const struct run *run, const char *machine);
/* `run` -1 gives no rows. `records` must outlive the rows. */
void run_rows_init(struct run_rows *rows, const struct records *records, int run);
/* The benchmarks of all runs on the machine class of `run`, which must be there, launches pooled;
 * the context is that of `run`. */
void run_rows_init_all(struct run_rows *rows, const struct records *records, int run);
/* Apart from the rest: of tens of thousands of benchmarks it takes as long again. */
void run_rows_name(struct run_rows *rows);
void run_rows_release(struct run_rows *rows);

#endif
