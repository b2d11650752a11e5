/* SPDX-License-Identifier: MIT */
/* `harness compare --replay`: recorded comparisons decided again by the rule of this harness, from
 * the evidence that was kept with them. */
#ifndef HARNESS_CLI_REPLAY_H
#define HARNESS_CLI_REPLAY_H

#include "base/error.h"
#include "store/store.h"

#include <stdbool.h>

/* `ids`: numbers of comparisons, or "all"; none is all. Prints what differs, to `output` unless it
 * is NULL. Returns the exit status: 0 if every verdict is as it was, 1 if any is not, 77 if there
 * is nothing to replay, 2 if a record cannot be decided again (told on standard error). */
int replay_run(struct store *store, char **ids, int nr, bool json, const char *output,
               struct error *err);

#endif
