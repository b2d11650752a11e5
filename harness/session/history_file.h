/* SPDX-License-Identifier: MIT */
/* Where the history lies, what a REF on the command line means, and series over many runs. */
#ifndef HARNESS_SESSION_HISTORY_FILE_H
#define HARNESS_SESSION_HISTORY_FILE_H

#include "base/strbuf.h"
#include "query/ref.h"
#include "store/store.h"
#include "trend/series.h"
#include "view/history_side.h"

#include <stdbool.h>

struct session_sink;

/* `given` (--db), else $HARNESS_DB, else .harness/history.db at the top of the project: the
 * nearest folder upwards that has .harness or .git, or the current one. */
void history_path(const char *given, struct strbuf *path);
/* For store_open_telling(): notes to that sink, which must live as long as the handle; NULL: nobody
 * is told. */
struct store_teller history_teller(const struct session_sink *sink);
/* history_side_load() with the reviewed baselines of this machine's class. */
int history_load_side(struct store *store, const char *ref, const struct ref_scope *scope,
                      const struct store_filter *filter, struct history_side *side,
                      struct error *err);

/* Tells what of a folder was left out, since it could not be read: side.notes. */
void history_note_left_out(const struct string_list *files, const struct session_sink *sink);

/* What a comparison of runs of this machine's class would take for the baseline `name`, without
 * samples. On -1 side->nothing: there is none for it, and err says what there is. */
int history_load_baseline_here(struct store *store, const char *name, struct history_side *side,
                               struct error *err);

/* The nearest folder upwards that holds .harness or .git; "." if there is none. */
void history_project_top(struct strbuf *top);
/* Meets the metrics of programs that this history has (metrics/metric.h), so that presets and
 * options may name them. `given` as for history_path(). Nothing happens where there is none, or it
 * cannot be read: whoever needs it says so, and is told of what lies beside it. */
void history_meet_metrics(const char *given);
/* baselines/<class of this machine> at the top of the project. */
int history_baseline_folder(struct strbuf *path, struct error *err);
/* baselines/<machine class>/<name>.json at the top of the project. */
void history_baseline_file(const char *machine_class, const char *name, struct strbuf *path);

/* A folder beside the history file, such as "plots". */
void history_sibling(const char *history, const char *name, struct strbuf *path);
/* The folder of builds beside the history that `given` means; it is path->data. */
const char *history_builds(const char *given, struct strbuf *path);

/* When the first of them began, ms since the epoch; INT64_MAX where there is none. Of a machine
 * class; "": of any. */
int64_t history_first_start(const struct records *runs, const char *class_name);

/* Drops the runs of which `keep` says false; nr_runs members. */
void history_keep_runs(struct records *runs, const bool *keep);

/* Series of the metric over these runs of the history, from the measurements that `filter` takes
 * (NULL: all). `runs` needs no measurements, and must outlive the list. */
int history_series(struct store *store, const struct records *runs, const struct metric *metric,
                   const struct store_filter *filter, struct series_list *out, struct error *err);

#endif
