/* SPDX-License-Identifier: MIT */
/* What a REF brings: runs of the history, a reviewed baseline file, a file of records, or a folder
 * of such files. One side of a comparison, or the subject of a plot. */
#ifndef HARNESS_VIEW_HISTORY_SIDE_H
#define HARNESS_VIEW_HISTORY_SIDE_H

#include "base/options.h"
#include "query/ref.h"
#include "store/store.h"

#include <stdbool.h>

struct history_side {
    struct records records;
    struct ref_runs runs;     /* empty where the REF is a file */
    char what[256];           /* for people */
    bool nothing;             /* on -1: nothing to compare with, rather than an error */
    struct string_list notes; /* what of a folder cannot be read, each with its reason */
};

struct history_source {
    struct store *store; /* NULL: files alone */
    const char
        *baselines; /* folder of the reviewed baselines of this machine's class; NULL: none */
    const struct store_filter *filter; /* may be NULL */
};

/* Is it a path for sure: "/...", "./...", "../...", ".", "..", "...json", ".../"? Other words are
 * REFs first, and folders where they name nothing. */
bool history_is_path(const char *ref);

/* In this order: a path; <baselines>/<REF>.json, unless the history has a baseline of that name;
 * what ref_resolve() takes; a folder of that name. `scope` may be NULL. Release whatever the
 * result. */
int history_side_load(const struct history_source *source, const char *ref,
                      const struct ref_scope *scope, struct history_side *side, struct error *err);
void history_side_release(struct history_side *side);

#endif
