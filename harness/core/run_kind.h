/* SPDX-License-Identifier: MIT */
/* What kind of run it was, as its label and settings (core/record.h) tell. */
#ifndef HARNESS_CORE_RUN_KIND_H
#define HARNESS_CORE_RUN_KIND_H

#include <stdbool.h>

/* Was it measured for one comparison's sake, as half of an A/B comparison (a step of a bisection,
 * too), or by a self-test? Such a run is no part of the history of the code: nothing that looks for
 * "the newest" or makes series takes it. By label and settings (JSON, may be NULL). */
bool run_is_trial(const char *label, const char *settings);
/* Was it measured with scopes on? Its benchmarks have names of their own ("kernel:operation"), so
 * it may stand beside others, but "the newest run" is not meant to be it. */
bool run_is_profile(const char *settings);
/* The sweep that the run is one shard of (settings.sweep; JSON, may be NULL), and which
 * (settings.shard, "2/4"; may be NULL). NULL: it is no shard of a named sweep. free() both. */
char *run_sweep(const char *settings, char **shard);

#endif
