/* SPDX-License-Identifier: MIT */
/* The history of a command, with what there is to say of its place on standard error. */
#ifndef HARNESS_CLI_HISTORY_OPEN_H
#define HARNESS_CLI_HISTORY_OPEN_H

#include "session/history_file.h"
#include "session/tune/tuned_workload.h"

/* `given` is --db, see history_path(). */
int history_open(struct store **store, const char *given, enum store_mode mode, struct error *err);
/* The same of one that is there: nothing is made, so that a mistyped --db is told. */
int history_open_there(struct store **store, const char *given, enum store_mode mode,
                       struct error *err);
/* Prints that a run is kept elsewhere, once. */
void history_tell(struct store *store);
/* --tuned: tuned_open() with what that history keeps, and with notes on standard error. */
int history_tuned(struct tuned *t, const char *given, struct workload_options *o,
                  struct error *err);

#endif
