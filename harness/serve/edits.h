/* SPDX-License-Identifier: MIT */
/*
 * What a reader of the page writes into the history, where the server was started for that: that a
 * step or drift is meant to be, and annotations of the run that has it. Who may:
 * docs/decisions/0015.
 */
#ifndef HARNESS_SERVE_EDITS_H
#define HARNESS_SERVE_EDITS_H

#include "serve/serve_base.h"

/* Can it be written to? Upgrades a history of an older version. */
int edits_check(const char *path, const struct store_teller *tell, struct error *err);

/*
 * Any POST. /api/accept and /api/annotate take {"machine", "key", "kind": "step" or "drift", "run",
 * "text"}: the card of that kind whose change was whole in that run (its "bad"), and why, or what
 * to say. What is written of the change is what the history says, nothing of it comes from the
 * reader. Answers {"saved": true} when the page would show it, after some seconds at most in any
 * case.
 */
struct http_answer edits_answer(struct serve *serve, const struct http_request *request);

#endif
