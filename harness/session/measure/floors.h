/* SPDX-License-Identifier: MIT */
/* What --delta says: the floor of a comparison, and those of some metrics or benchmarks. */
#ifndef HARNESS_SESSION_MEASURE_FLOORS_H
#define HARNESS_SESSION_MEASURE_FLOORS_H

#include "base/options.h"
#include "session/measure/measuring.h"
#include "session/measure/workload.h"
#include "verdict/compare.h"

struct floors {
    struct compare_floor *items;
    size_t nr, capacity;
};

/* Each text is "3%", or "PATTERN=5%" with a metric's id or a filter on keys. Sets delta and floors
 * in `settings`, which then borrows from `floors` and `texts`. The texts are cut at their last
 * equals sign. */
int floors_parse(struct string_list *texts, struct floors *floors,
                 struct compare_settings *settings, struct error *err);
/* A note for each floor that fits none of the metrics or benchmarks that are to
 * be measured. */
void floors_warn(const struct compare_settings *settings, const struct workload *workload,
                 const struct session_sink *sink);
void floors_release(struct floors *floors);

#endif
