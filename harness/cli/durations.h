/* SPDX-License-Identifier: MIT */
/*
 * How long benchmarks last: wall time of one in a launch, checks and warm-up included, as the last
 * run that has it measured it.
 *
 * From a history, the runs of an unfinished set of shards do not count: while shards of one plan
 * write into one history, each must see what the first one saw, or a benchmark would be in two of
 * them or in none. The k-th runs of all N shards of a plan make a set.
 */
#ifndef HARNESS_CLI_DURATIONS_H
#define HARNESS_CLI_DURATIONS_H

#include "store/store.h"

/* seconds[i] of keys[i] where it is found; the rest stays as it is. */
int durations_of_store(struct store *store, const char *const *keys, size_t nr, double *seconds,
                       struct error *err);
/* The same from a file: a history, the JSON of runs (`run --json`, a saved baseline), or
 * {"schema_version": 1, "seconds": {"KEY": SECONDS}}. */
int durations_of_file(const char *path, const char *const *keys, size_t nr, double *seconds,
                      struct error *err);

#endif
