/* SPDX-License-Identifier: MIT */
/* Slices of traces that are made up. For C alone. */
#ifndef HARNESS_TESTS_PROFILE_SLICE_H
#define HARNESS_TESTS_PROFILE_SLICE_H

#include "profile_testing.h"

/* A slice of a track, inside what holds it. Returns its index. */
static inline int add_slice(struct prof_trace *trace, int track, int64_t from, int64_t to,
                            const char *name, const char *category)
{
    int slice = prof_trace_slice(trace, &(struct prof_slice) { .track = track,
                                                               .parent = PROF_FIND_PARENT,
                                                               .start = from,
                                                               .duration = to - from,
                                                               .name = name,
                                                               .category = category,
                                                               .memory_live = -1,
                                                               .memory_peak = -1 });

    assert_true(slice >= 0);
    return slice;
}

#endif
