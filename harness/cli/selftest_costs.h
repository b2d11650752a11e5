/* SPDX-License-Identifier: MIT */
/*
 * What decisions cost here (analysis/selftest_cost.h): for each benchmark of a choice, alone,
 * blocks of this program against itself, then for each size one real comparison with the size
 * planted. Tells on standard error how far it is.
 */
#ifndef HARNESS_CLI_SELFTEST_COSTS_H
#define HARNESS_CLI_SELFTEST_COSTS_H

#include "analysis/selftest_cost.h"
#include "base/strbuf.h"
#include "cli/selftest_trials.h"

enum { COSTS_BLOCKS = 40, COSTS_TRIALS = 200 };
#define COSTS_BUDGET 60 /* s, of one comparison where --budget says nothing */

/* `t` as for trials_power(), with its sizes; all goes to its store. `out` has room for one of each
 * benchmark of the choice. */
int costs_measure(const struct trials *t, struct selftest_cost *out, struct error *err);
/* A table a benchmark. */
void costs_report(const struct selftest_cost *costs, size_t nr, size_t width, bool colour,
                  struct strbuf *out);
/* Whether each size of each benchmark is called within COST_BLOCKS_MAX, with no more alarms than
 * there may be. */
bool costs_fine(const struct selftest_cost *costs, size_t nr);

#endif
