/* SPDX-License-Identifier: MIT */
/* Changes that are meant to be: `harness baseline accept`. */
#ifndef HARNESS_SESSION_ACCEPT_H
#define HARNESS_SESSION_ACCEPT_H

#include "base/array.h"
#include "base/error.h"
#include "store/verdicts.h"

#include <stdbool.h>

struct accept_request {
    const char *key;    /* or a filter (base/text.h) */
    const char *metric; /* NULL: every one that was compared */
    const char *reason;
    const char *change; /* "+8%": instead of what was seen; may be NULL */
    const char *author; /* NULL: what git calls the user, else $USER */
};

/* What was accepted, and what was seen of each. */
struct accepting {
    ARRAY(struct acceptance) items; /* borrow all their texts */
    ARRAY(double) seen;
    size_t again; /* left out, because an equal one is there */
    size_t of;    /* verdicts that fit */
    struct store_acceptances earlier;
    struct store_comparisons found;
    char *author, *reason;
};

/* Accepts the newest recorded verdict of each benchmark that fits, if it is regressed or broken:
 * all of them or, on an error, none. What was accepted already, with the same change and commit, is
 * left out. -1 where there is nothing to accept, with the reason. `batch` is zeroed; release it
 * whatever the result. */
int accept_run(struct store *store, const struct accept_request *request, struct accepting *batch,
               struct error *err);
void accepting_release(struct accepting *batch);

#endif
