/* SPDX-License-Identifier: MIT */
/* A run as `harness run` makes it, for commands that measure first and then do something else. */
#ifndef HARNESS_SESSION_MEASURE_FRESH_RUN_H
#define HARNESS_SESSION_MEASURE_FRESH_RUN_H

#include "session/measure/measuring.h"
#include "session/measure/workload.h"
#include "store/store.h"

struct fresh_run {
    const struct workload_options *what; /* nothing said: suite `otherwise` */
    char **filters;
    size_t nr_filters;
    const char *otherwise;
    const char *label; /* NULL: none */
    const struct measuring *how;
};

/* 0 and its id. -1, too, where it was interrupted: what was finished is kept as an unfinished run.
 */
int fresh_run(struct store *store, const struct fresh_run *request, int64_t *id, struct error *err);

#endif
