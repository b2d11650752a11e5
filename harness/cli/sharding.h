/* SPDX-License-Identifier: MIT */
/* `harness run --shard I/N`: which of the chosen benchmarks this process measures. */
#ifndef HARNESS_CLI_SHARDING_H
#define HARNESS_CLI_SHARDING_H

#include "cli/choice.h"
#include "store/store.h"

struct sharding {
    size_t index, count; /* of --shard; index from 1; count 0: all is measured */
    uint64_t plan;       /* equal in all parts that were divided alike */
    size_t whole;        /* benchmarks of all parts */
    double seconds, all; /* that a launch of this part should last, and of all; 0: not known */
};

/* "2/4"; NULL: all. */
int sharding_parse(const char *text, struct sharding *s, struct error *err);
/* An error where nothing would be left of `nr` benchmarks, or `durations` say nothing. */
int sharding_check(const struct sharding *s, size_t nr, const char *durations, struct error *err);
/* Keeps what is of this part, by the durations of the file, or where that is NULL, of the history,
 * which is not asked otherwise; NULL, too: nothing is known. */
int sharding_keep(struct sharding *s, struct choice *choice, const char *durations,
                  struct store *store, struct error *err);
/* For the run's settings. */
void sharding_describe(const struct sharding *s, cJSON *settings);
/* One line on standard error; nothing where all is measured. */
void sharding_tell(const struct sharding *s, size_t kept);

#endif
