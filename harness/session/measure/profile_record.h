/* SPDX-License-Identifier: MIT */
/* Profiling benchmarks of this program: launches with scopes on, into the history. */
#ifndef HARNESS_SESSION_MEASURE_PROFILE_RECORD_H
#define HARNESS_SESSION_MEASURE_PROFILE_RECORD_H

#include "measure/profiling.h"
#include "profile/summary.h"
#include "session/measure/measuring.h"
#include "session/measure/workload.h"
#include "store/store.h"
#include "timeline/timeline_roof.h"

struct profile_request {
    struct workload workload;
    struct profiling profiling; /* its folder exists */
    struct store *store;        /* STORE_WRITE: roofs, and what is measured */
    const char *label;          /* may be NULL */
    char *planted;              /* what profiling.plant points to; owned, free() it */
    bool unkept;                /* no statistics of the operations go into the history */
    const struct measuring *measuring;
};

struct profile_result {
    struct records records; /* of all launches, as run 0 */
    struct prof_cost cost;
    int64_t run; /* in the history; 0: not kept */
    bool interrupted;
};

/* Leaves plain and vendor variants out where another one of the same kernel is there, and those of
 * a CPU in narrower types than fp32 where one of fp32 is. */
void profile_choose(struct benchmark_list *list);

/* What the kernels of a list have in common, for the name of a folder: "gpt/tile-large" of its
 * prefill and decode; "several" where they share nothing. */
void profile_name(const struct benchmark_list *list, struct strbuf *name);

/* "head=50%": the operation to make slower, and by how much. NULL: none. */
int profile_set_plant(struct profile_request *request, const char *text, struct error *err);

/* Measures, with roofs where the machine has none yet. The traces of the last launch are in the
 * folder (profiling_file()). Release the result whatever comes. */
int profile_record(const struct profile_request *request, struct profile_result *result,
                   struct error *err);
void profile_result_release(struct profile_result *result);

/* The roofs of a benchmark among what was measured. */
struct timeline_roofs profile_roofs(const struct profile_result *result,
                                    const struct benchmark *bench, const struct device *device);

#endif
