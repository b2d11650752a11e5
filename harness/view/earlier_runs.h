/* SPDX-License-Identifier: MIT */
/*
 * Runs of a machine before a comparison's base: they show what two runs differ by where nothing was
 * changed, which one run a side cannot tell by itself (verdict/compare.h).
 *
 * Taken are finished runs of the base's machine class and branch, before it, whose environment
 * (metrics/epoch.h) are those of the base, that make points of a series and were not measured in
 * turn with others; of these the newest COMPARE_EARLIER_MAX that lie as far apart in time as head
 * and base do, at least ten minutes and at most most of a day: what changes overnight is not seen
 * from minute to minute.
 */
#ifndef HARNESS_VIEW_EARLIER_RUNS_H
#define HARNESS_VIEW_EARLIER_RUNS_H

#include "store/store.h"

/* Fills `out`, oldest first; nothing where a side is not one run, or where a run has so many
 * benchmarks that they tell it themselves. Release it whatever the result. */
int earlier_runs_load(struct store *store, const struct records *base, const struct records *head,
                      struct records *out, struct error *err);

#endif
