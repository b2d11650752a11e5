/* SPDX-License-Identifier: MIT */
/*
 * Who gets what is measured: one sink for a sweep (launch/sweep.h), one for each side of an A/B
 * comparison (launch/ab.h). It is the only table of callbacks for measurements that anybody outside
 * launch/ fills in; what steers a measurement, or shows how far it is, is part of struct sweep and
 * struct ab.
 */
#ifndef HARNESS_LAUNCH_SINK_H
#define HARNESS_LAUNCH_SINK_H

#include "base/error.h"
#include "core/record.h"

struct measurement_sink {
    void *context;
    /* Around each launch; may be NULL. */
    int (*launch_begin)(void *context, const struct launch *l, struct error *err);
    int (*launch_end)(void *context, const struct launch *l, struct error *err);
    /* Owned by who measures: copy what is to be kept. Of a profiled benchmark (settings.profiling)
     * the whole comes first, then its operations. What was made again comes behind the end of its
     * launch, of which `l` has the number alone. */
    int (*measurement)(void *context, const struct launch *l, const struct measurement *m,
                       struct error *err);
};

#endif
