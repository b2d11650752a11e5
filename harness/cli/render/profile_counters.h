/* SPDX-License-Identifier: MIT */
/* What hardware counters say of a profiled benchmark, against its work model. */
#ifndef HARNESS_CLI_RENDER_PROFILE_COUNTERS_H
#define HARNESS_CLI_RENDER_PROFILE_COUNTERS_H

#include "base/strbuf.h"
#include "core/record.h"
#include "gputrace/kernel_totals.h"
#include "gputrace/work_check.h"

struct profile_counters {
    struct error reason; /* why there are none; "": there are */
    struct kernel_totals totals;
    struct work_check check; /* an iteration's counts, by the model */
};

/* Reads the measuring process's file (measure/profiling_counters.h) in `folder`, and removes it.
 * `m` has the work model. -1: it is not there, or not to be understood. Release the counters
 * whatever the result. */
int profile_counters_take(const char *folder, const struct benchmark_name *name,
                          const struct measurement *m, struct profile_counters *counters,
                          struct error *err);
void profile_counters_release(struct profile_counters *counters);

/* The `top` kernels by bytes, and both judgements; nothing where there are no counters. */
void profile_counters_print(const struct profile_counters *counters, size_t top,
                            struct strbuf *out);
/* docs/formats/profile.md, `counters`. */
struct cJSON *profile_counters_to_json(const struct profile_counters *counters);

#endif
