/* SPDX-License-Identifier: MIT */
/*
 * Every metric of every benchmark of a run: what the page's table needs of it, some hundred bytes a
 * benchmark instead of its samples. The values of a finished run do not change, so they can be kept
 * while the run's records are gone.
 */
#ifndef HARNESS_PAGE_RUN_VALUES_H
#define HARNESS_PAGE_RUN_VALUES_H

#include "core/record.h"
#include "metrics/metric.h"

#include <stdbool.h>
#include <stddef.h>

struct run_value {
    char *key; /* owned */
    bool vendor;
    enum outcome outcome; /* the worst of the launches */
    size_t launches;      /* that were tried */
    size_t n;             /* samples; 0 without a time */
    double *values;       /* metric_value() of each metric, by metric_at(); NaN: none. Owned */
    size_t nr_values;     /* metrics that there were: programs bring more */
};

struct run_values {
    struct run_value *items; /* in reading order */
    size_t nr, capacity;
};

/* Rows of the metric table, at this moment. */
size_t run_values_metrics(void);
/* The value of metric_at(metric), NaN: none. */
double run_value_of(const struct run_value *value, size_t metric);
/* Of records->runs[run]. */
void run_values_init(struct run_values *values, const struct records *records, int run);
void run_values_release(struct run_values *values);

#endif
