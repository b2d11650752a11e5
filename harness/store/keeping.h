/* SPDX-License-Identifier: MIT */
/*
 * Inside store/ only: what a handle has written of runs that have not ended, so that a file that is
 * moved, replaced, removed or kept locked costs none of it. It costs memory: that of the runs,
 * once.
 */
#ifndef HARNESS_STORE_KEEPING_H
#define HARNESS_STORE_KEEPING_H

#include "store/sql.h"

void keeping_run(struct store *s, const struct run *run);
void keeping_launch(struct store *s, int64_t run, int64_t id, const struct launch *launch);
void keeping_launch_end(struct store *s, int64_t id, const struct launch *launch);
void keeping_measurement(struct store *s, int64_t launch, const struct measurement *m);
void keeping_ceilings(struct store *s, const struct machine *machine, const char *epoch,
                      const struct ceiling *ceilings, size_t nr);
bool keeping_has_run(const struct store *s);
/* It has ended and is safe. */
void keeping_forget(struct store *s, int64_t run);
void keeping_free(struct store *s);

/* After a write was refused: where the file is no longer the one that was opened, or somebody has
 * kept it locked for too long, and there is something to keep, the handle goes on in a new file
 * beside it, which then has all of it under the same numbers; 0, and the write is to be done again.
 * Else -1, with `err` as it was, or the reason why nothing can be kept. */
int keeping_go_elsewhere(struct store *s, struct error *err);

#endif
