/* SPDX-License-Identifier: MIT */
/* Where the history lies, and what a REF on the command line means. */
#ifndef HARNESS_CLI_HISTORY_FILE_H
#define HARNESS_CLI_HISTORY_FILE_H

#include "base/strbuf.h"
#include "store/store.h"

#include <stdbool.h>

/* `given` (--db), else $HARNESS_DB, else .harness/history.db at the top of the project: the
 * nearest folder upwards that has .harness or .git, or the current one. */
void history_path(const char *given, struct strbuf *path);
int history_open(struct store **store, const char *given, enum store_mode mode, struct error *err);

/* One side of a comparison or the subject of a plot. */
struct history_side {
    struct records records;
    struct store_runs runs; /* empty where the REF is a file */
    char what[256];         /* for people */
    bool nothing;           /* on -1: nothing to compare with, rather than an error */
};

/* REF is a file of records (a path with '/' or ending in .json), or what store_resolve() takes;
 * a name that is no baseline of the history may be a file baselines/<machine class>/<REF>.json,
 * before it is a branch or commit. `scope` may be NULL. Release whatever the result. */
int history_load_side(struct store *store, const char *ref, const struct store_scope *scope,
                      const struct store_filter *filter, struct history_side *side,
                      struct error *err);
void history_side_release(struct history_side *side);

/* baselines/<machine class>/<name>.json at the top of the project. */
void history_baseline_file(const char *machine_class, const char *name, struct strbuf *path);

/* A folder beside the history file, such as "plots". */
void history_sibling(const char *history, const char *name, struct strbuf *path);

#endif
