/* SPDX-License-Identifier: MIT */
/*
 * The times of one benchmark, ready for metrics: one measurement, one launch, or several
 * launches. Latency is in ns for one launch of the kernel (a sample divided by its batch).
 *
 * Pooled samples show the distribution (percentiles). They never give the error of a comparison:
 * samples of one process share its luck, so the unit of evidence is the launch.
 */
#ifndef HARNESS_METRICS_SUMMARY_H
#define HARNESS_METRICS_SUMMARY_H

#include "core/record.h"
#include "metrics/group.h"
#include "stats/stats.h"

#include <stddef.h>

enum { SUMMARY_LAUNCHES_MIN = 3 }; /* fewer say nothing about the spread between launches */

/* One of the measurements that are in a summary. */
struct summary_of {
    const struct measurement *m; /* borrowed */
    size_t launch;               /* from 0, ascending */
};

struct summary {
    const struct measurement
        *m;         /* the first that is OK and has samples, else the first; borrowed */
    double *sorted; /* pooled samples in ns, ascending; owned */
    size_t n;
    double *medians; /* of each launch, in ns, in launch order; owned */
    double *means;   /* of each launch, in ns; owned */
    size_t nr_launches;
    struct summary_of *of; /* all that are OK, launch by launch, with samples or without; owned */
    size_t nr_of;
    double mean, sd; /* of the pooled samples; NaN where there are too few */
};

/* Pools the measurements that are OK and have samples; n is 0 if there is none. `records` must be
 * ordered by run and launch, as in a group, and nr > 0. */
void summary_init(struct summary *s, const struct record *const *records, size_t nr);
/* One measurement alone. */
void summary_init_one(struct summary *s, const struct measurement *m);
void summary_release(struct summary *s);

/* Interval, by Student's t over the logs of launch values (which must be positive), for their
 * geometric mean. NaN limits below SUMMARY_LAUNCHES_MIN. */
struct interval summary_launch_interval(const double *launch_values, size_t nr, double confidence);

#endif
