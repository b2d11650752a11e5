/* SPDX-License-Identifier: MIT */
/*
 * The branch that a history is of. Runs of other branches, the heads of pull requests above all,
 * may never become part of it: figures show them beside it, and no step is searched in them. What
 * they are compared with is said by `compare`.
 *
 * It is the branch of more than half of a machine class's runs; where none has so many, "main",
 * else "master", if there are runs of it. A run that does not know its branch belongs to any.
 */
#ifndef HARNESS_TREND_MAINLINE_H
#define HARNESS_TREND_MAINLINE_H

#include "core/record.h"
#include "trend/series.h"

#include <stdbool.h>

/* Of the runs of a machine class that series take; borrowed from the records. NULL: none stands
 * out, and every run belongs to the history. */
const char *mainline_branch(const struct records *records, const char *machine);
/* `branch` may be NULL. */
bool mainline_has(const char *branch, const struct run *run);

/* One for each run of the records: is it of its machine class's branch? free(). */
bool *mainline_runs(const struct records *records);
/* The points of such runs, and of runs that the records do not have. free() its items. */
struct series mainline_points(const struct series *all, const struct records *records,
                              const bool *has);

#endif
