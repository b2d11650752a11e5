/* SPDX-License-Identifier: MIT */
/* Series over many runs of the history, without holding what was measured. */
#ifndef HARNESS_CLI_HISTORY_SERIES_H
#define HARNESS_CLI_HISTORY_SERIES_H

#include "analysis/series.h"
#include "store/store.h"

/* When the first of them began, ms since the epoch; INT64_MAX where there is none. */
int64_t history_first_start(const struct records *runs);

/* Drops the runs of which `keep` says false; nr_runs members. */
void history_keep_runs(struct records *runs, const bool *keep);

/* Series of the metric over these runs of the history, from the measurements that `filter` takes
 * (NULL: all). `runs` needs no measurements, and must outlive the list. */
int history_series(struct store *store, const struct records *runs, const struct metric *metric,
                   const struct store_filter *filter, struct series_list *out, struct error *err);

#endif
