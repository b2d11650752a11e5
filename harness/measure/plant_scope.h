/* SPDX-License-Identifier: MIT */
/*
 * A slow-down of known size in one operation of a profiled benchmark: `harness profile --plant`
 * plants one, to see whether `compare` finds it and blames nothing else. At the end of each scope
 * of that name, and before that end is timed, its thread does the arithmetic of measure/plant.h, so
 * many steps as last the wanted share of the median scope of that name. So it is real time, of that
 * operation and of those around it.
 *
 * Uses the hooks of the global profiler.
 */
#ifndef HARNESS_MEASURE_PLANT_SCOPE_H
#define HARNESS_MEASURE_PLANT_SCOPE_H

#include "base/error.h"
#include "profile/profile.h"

#include <stdint.h>

struct plant_scope {
    const char *operation; /* a scope's name; borrowed */
    double share;          /* 0.5: 50 % */
    uint64_t steps;        /* 0 until plant_scope_grow() */
    struct prof_hooks hooks;
};

/* Nothing is added before plant_scope_grow(). Keep `plant` where it is until plant_scope_remove().
 */
int plant_scope_init(struct plant_scope *plant, const char *operation, double share,
                     struct error *err);
/* From what the profiler has recorded so far. -1 where it has no such operation, or one so short
 * that the share cannot be had within PLANT_ERROR_MAX of itself. */
int plant_scope_grow(struct plant_scope *plant, struct error *err);
/* While no scope is open. Does nothing for a plant that was never put in. */
void plant_scope_remove(struct plant_scope *plant);

#endif
