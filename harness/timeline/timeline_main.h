/* SPDX-License-Identifier: MIT */
/*
 * The main part of a trace. In a team of threads each records the same scopes, so sums over all
 * tracks count CPU time; what a user waits for is the time of one thread, the main one.
 */
#ifndef HARNESS_TIMELINE_TIMELINE_MAIN_H
#define HARNESS_TIMELINE_TIMELINE_MAIN_H

#include "base/error.h"
#include "profile/trace.h"

/* The thread whose outermost slices cover the most time; the one that a process began with (its
 * number is the process') where it has at least half of that. -1: no thread has a slice. */
int timeline_main_track(const struct prof_trace *trace);

/* Of a sorted trace the main thread, all streams, flows between those, all counters: what
 * summaries, splits and figures of a program are made of. A trace without threads keeps its
 * streams. PyTorch runs a backward pass on a GPU by a thread of its own, which the main one waits
 * for: scopes there that say "backward" (timeline_backward.h) are the main thread's, where a flow
 * of one of its scopes leads to that thread and it does nothing else meanwhile. `main` is sorted,
 * has the same meta and is the caller's to release; on -1 (no memory) it is empty. */
int timeline_main(const struct prof_trace *trace, struct prof_trace *main, struct error *err);

#endif
