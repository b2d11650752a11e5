/* SPDX-License-Identifier: MIT */
/* Inside store/ only: going on where the file is no longer the one that was opened. */
#ifndef HARNESS_STORE_ELSEWHERE_H
#define HARNESS_STORE_ELSEWHERE_H

#include "store/sql.h"

/* After a write was refused: where the file is no longer the one that was opened, or somebody has
 * kept it locked for too long, and there is something to keep, the handle goes on in a new file
 * beside it, which then has all of it under the same numbers; 0, and the write is to be done again.
 * Else -1, with `err` as it was, or the reason why nothing can be kept. */
int store_go_elsewhere(struct store *s, struct error *err);

#endif
