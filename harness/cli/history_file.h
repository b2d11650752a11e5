/* SPDX-License-Identifier: MIT */
/* Where the history lies, and what a REF on the command line means. */
#ifndef HARNESS_CLI_HISTORY_FILE_H
#define HARNESS_CLI_HISTORY_FILE_H

#include "base/strbuf.h"
#include "store/store.h"
#include "view/history_side.h"

#include <stdbool.h>

/* `given` (--db), else $HARNESS_DB, else .harness/history.db at the top of the project: the
 * nearest folder upwards that has .harness or .git, or the current one. */
void history_path(const char *given, struct strbuf *path);
/* What there is to say of its place is printed, see history_tell(). */
int history_open(struct store **store, const char *given, enum store_mode mode, struct error *err);
/* Prints to stderr that the log of another file was put aside, or that a run is kept elsewhere;
 * each once. */
void history_tell(struct store *store);

/* history_side_load() with the reviewed baselines of this machine's class. */
int history_load_side(struct store *store, const char *ref, const struct store_scope *scope,
                      const struct store_filter *filter, struct history_side *side,
                      struct error *err);

/* The nearest folder upwards that holds .harness or .git; "." if there is none. */
void history_project_top(struct strbuf *top);
/* baselines/<class of this machine> at the top of the project. */
void history_baseline_folder(struct strbuf *path);
/* baselines/<machine class>/<name>.json at the top of the project. */
void history_baseline_file(const char *machine_class, const char *name, struct strbuf *path);

/* A folder beside the history file, such as "plots". */
void history_sibling(const char *history, const char *name, struct strbuf *path);

#endif
