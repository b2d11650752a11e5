/* SPDX-License-Identifier: MIT */
/*
 * One history out of many: of shards, machines, nights.
 *
 * A run is known by its uuid, so merging twice changes nothing, and any number of files may hold
 * the same run. Shards of a sweep stay runs of their own, because each has a machine, an
 * environment and a time of its own; what makes them one sweep is run.shard.sweep, which a REF
 * follows (store/store.h).
 *
 *   - runs: a new one is copied with launches and measurements, byte for byte; one that is there is
 *     left alone; one that is further in the other file (it was running when ours was copied) is
 *     brought up to date; one with other content is a conflict, and ours stays
 *   - baselines: new ones; of the same name with other runs: a conflict, and ours stays
 *   - comparisons: by their uuid, as runs
 *   - roofs, acceptances, self-tests, annotations: what is not there yet
 *
 * Each run and each comparison is one transaction, the rest of a file another: a merge that is
 * killed leaves a sound history, and the same command once more does what is left.
 */
#ifndef HARNESS_HISTORY_MERGE_H
#define HARNESS_HISTORY_MERGE_H

#include "base/options.h"
#include "store/store.h"

struct store_merged {
    int64_t files;
    int64_t runs_new, runs_known, runs_grown; /* grown: brought up to date */
    int64_t measurements;                     /* of the new and grown ones */
    int64_t baselines, comparisons, roofs, acceptances, selftests, annotations,
        tuned;                    /* new ones */
    struct string_list conflicts; /* a line each, for people; owned */
};

/* Refuses what cannot be merged into the history at the path `to`, which need not be there yet:
 * files that store_open() refuses, and the same file. Only looks. */
int store_merge_check(const char *to, const char *path, struct error *err);
/* Adds the file's content to `to` (STORE_WRITE) and to the counts. The file stays as it is; it may
 * be in use, and of an older version. Who is told of the place of `to` is told of the file's, too.
 * Conflicts are no error. */
int store_merge(struct store *to, const char *path, struct store_merged *merged, struct error *err);
void store_merged_release(struct store_merged *merged);

#endif
