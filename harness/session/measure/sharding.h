/* SPDX-License-Identifier: MIT */
/*
 * `harness run --shard I/N`: which of the chosen benchmarks this process measures, by how long each
 * lasts: the wall time of one in a launch, checks and warm-up included, as the last run that has it
 * measured it.
 *
 * While shards of one sweep write into one history, each must see what the first one saw, or a
 * benchmark would be in two of them or in none. So what has come into it, or ended, since the first
 * shard of a sweep with that name began does not count; not for one that is measured again either.
 * And the runs of an unfinished set of shards do not, which is all that can be told of sweeps
 * without a name: the k-th runs of all N shards of a plan make a set.
 */
#ifndef HARNESS_SESSION_MEASURE_SHARDING_H
#define HARNESS_SESSION_MEASURE_SHARDING_H

#include "session/measure/measuring.h"
#include "session/measure/workload.h"
#include "store/store.h"

struct sharding {
    const char *sweep;   /* its name, borrowed; NULL or "": nobody said */
    size_t index, count; /* of --shard; index from 1; count 0: all is measured */
    uint64_t plan;       /* equal in all parts that were divided alike */
    size_t whole;        /* benchmarks of all parts */
    double seconds, all; /* that a launch of this part should last, and of all; 0: not known */
};

/* "2/4"; NULL: all. The sweep is the caller's. */
int sharding_parse(const char *text, struct sharding *s, struct error *err);
/* An error where nothing would be left of `nr` benchmarks, or `durations` say nothing. */
int sharding_check(const struct sharding *s, size_t nr, const char *durations, struct error *err);
/* Keeps what is of this part, by the durations of the file, or where that is NULL, of the history,
 * which is not asked otherwise; NULL, too: nothing is known. */
int sharding_keep(struct sharding *s, struct workload *workload, const char *durations,
                  struct store *store, struct error *err);
/* Which part it is, for the run; the sweep's name is the caller's. */
void sharding_describe(const struct sharding *s, struct run_shard *shard);
/* One line; nothing where all is measured. */
void sharding_note(const struct sharding *s, size_t kept, const struct session_sink *sink);

/* seconds[i] of keys[i] where it is found, for a shard of `sweep` (NULL or "": of none with a
 * name); the rest stays as it is. */
int durations_of_store(struct store *store, const char *sweep, const char *const *keys, size_t nr,
                       double *seconds, struct error *err);
/* The same from a file: a history, the JSON of runs (`run --json`, a saved baseline), or
 * {"schema_version": 1, "seconds": {"KEY": SECONDS}}. */
int durations_of_file(const char *path, const char *const *keys, size_t nr, double *seconds,
                      struct error *err);

#endif
