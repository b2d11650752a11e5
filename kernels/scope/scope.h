/* SPDX-License-Identifier: MIT */
/* The cost of scopes (profile/profile.h) as kernels, so that it has a history and a gate as other
 * times have. */
#ifndef HARNESS_KERNELS_SCOPE_H
#define HARNESS_KERNELS_SCOPE_H

#include "core/kernel.h"

/* How the profiler is set while a launch records. */
struct scope_setting {
    bool on, memory; /* memory: followed, and unchanged meanwhile */
    double rate;     /* of outermost scopes that are recorded */
};

/* Dims. Each thread of the device records `calls` outermost scopes, with `depth` - 1 more inside
 * each. */
enum { SCOPE_CALLS, SCOPE_DEPTH };

/* The columns of y, one row: what the profiler says of the launch. A thread's share: all of them
 * do the same. */
enum {
    SCOPE_ACCOUNTED, /* outermost scopes, recorded or skipped */
    SCOPE_AS_SET,    /* 1: as many were recorded as the rate says */
    SCOPE_DROPPED,
    SCOPE_DEEPEST, /* how deep the innermost scope knew itself to be */
    SCOPE_COLUMNS,
};

extern const struct kernel scope_on_kernel, scope_memory_kernel, scope_sampled_kernel,
    scope_off_kernel;

#endif
