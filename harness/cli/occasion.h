/* SPDX-License-Identifier: MIT */
/* One run of this program over a choice, for commands that need several: measured in fresh
 * processes, kept in a history, and handed back as records. */
#ifndef HARNESS_CLI_OCCASION_H
#define HARNESS_CLI_OCCASION_H

#include "cli/choice.h"
#include "cli/progress.h"
#include "store/store.h"

#include <signal.h>

struct occasion {
    const struct choice *choice; /* what, how long, how many launches */
    struct store *store;         /* STORE_WRITE */
    const char *label;
    const double *plant;  /* of each benchmark, see measure/launch.h; NULL: none */
    double case_timeout;  /* s */
    int64_t memory_limit; /* bytes; 0: the usual */
    bool once;            /* nothing that was disturbed is made again */
    uint64_t seed;        /* 0: fresh */
    struct progress *progress;
    const volatile sig_atomic_t *interrupted;
};

/* Fills `out` with one run. -1 where it failed or was interrupted: what was finished stays in the
 * history as an unfinished run. Release `out` whatever the result. */
int occasion_run(const struct occasion *o, struct records *out, struct error *err);

#endif
