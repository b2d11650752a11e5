/* SPDX-License-Identifier: MIT */
/* Changes that are meant to be: `harness baseline accept`, `accepted` and `unaccept`. */
#ifndef HARNESS_CLI_ACCEPT_H
#define HARNESS_CLI_ACCEPT_H

#include "base/error.h"
#include "store/store.h"

#include <stdbool.h>

struct accept_request {
    const char *key;    /* or a filter (base/text.h) */
    const char *metric; /* NULL: every one that was compared */
    const char *reason;
    const char *change; /* "+8%": instead of what was seen; may be NULL */
    const char *author; /* NULL: what git calls the user, else $USER */
};

/* Accepts the newest recorded verdict of each benchmark that fits, if it is regressed or broken,
 * and prints what it accepted: all of them or, on an error, none. What was accepted already, with
 * the same change and commit, is left out. -1 where there is nothing to accept, with the reason. */
int accept_run(struct store *store, const struct accept_request *request, struct error *err);
int accept_list(struct store *store, bool json, struct error *err);
int accept_remove(struct store *store, const char *id, struct error *err);

#endif
