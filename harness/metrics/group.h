/* SPDX-License-Identifier: MIT */
/*
 * Records put together by benchmark: one group for each key on each machine class, in reading
 * order (kernel, dims by value, variant, math, device, cache, fill). Inside a group the records are
 * ordered by run, then launch.
 *
 * Different machine classes never share a group: pooling them would hide what each one says.
 */
#ifndef HARNESS_METRICS_GROUP_H
#define HARNESS_METRICS_GROUP_H

#include "core/record.h"

#include <stdbool.h>
#include <stddef.h>

struct group {
    const struct benchmark_name *bench; /* borrowed from the records */
    const char *machine;                /* class name; borrowed; "" if the classes were ignored */
    const struct record **items;        /* nr of them; a part of groups.order */
    size_t nr;
};

struct groups {
    struct group *items;
    size_t nr;
    const struct record **order; /* owned */
};

/* Groups every record. The result borrows from `records`, which must outlive it. With
 * `ignore_machine`, records of all machine classes share the groups. */
void groups_init(struct groups *g, const struct records *records, bool ignore_machine);
/* The records of one run alone. */
void groups_init_run(struct groups *g, const struct records *records, int run);
void groups_release(struct groups *g);

/* The number of records from items[at] on that belong to one launch of one run. */
size_t group_launch_length(const struct group *g, size_t at);

/* Reading order; 0 only for equal keys. */
int benchmark_order(const struct benchmark_name *a, const struct benchmark_name *b);

#endif
