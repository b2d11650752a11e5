/* SPDX-License-Identifier: MIT */
#ifndef HARNESS_SERVE_HISTORY_FIGURE_H
#define HARNESS_SERVE_HISTORY_FIGURE_H

#include "figure/figure.h"
#include "metrics/metric.h"
#include "serve/live_view.h"

/* A metric of one benchmark over all finished runs of the history, a point a run, on an axis of
 * dates. Its marks are about the benchmark and their run. One run is held at a time, however long
 * the history; of more than PAGE_POINTS runs the extremes are shown. Free with figure_free(). NULL
 * and a failure where the history cannot be read. */
struct figure *history_figure(struct store *store, const char *key, const struct metric *metric,
                              struct failure *failure);

#endif
