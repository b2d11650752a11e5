/* SPDX-License-Identifier: MIT */
/* What `harness history` does to a history, beside showing it. Inside cli/ only. */
#ifndef HARNESS_CLI_COMMANDS_HISTORY_CHANGE_H
#define HARNESS_CLI_COMMANDS_HISTORY_CHANGE_H

#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct history_options {
    const char *db;
    bool json;
    int64_t limit;
    int64_t keep_days, keep_runs;
    double samples_older_than; /* s */
    bool dry_run, trust_clock, vacuum;
};

/* argv[0] is the action's name. They return the exit status, or -1 with an error. */
typedef int history_action_fn(struct store *store, const struct history_options *o, int argc,
                              char **argv, struct error *err);

history_action_fn history_merge;    /* merge FILE...: 1 if there were conflicts */
history_action_fn history_prune;    /* prune, with at least one rule or --vacuum */
history_action_fn history_annotate; /* annotate REF TEXT */
history_action_fn history_restore;  /* restore BACKUP; without a store */
history_action_fn history_move;     /* move NEW; without a store */
history_action_fn history_salvage;  /* salvage FROM TO; without a store */

#endif
