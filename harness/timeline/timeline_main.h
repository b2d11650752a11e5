/* SPDX-License-Identifier: MIT */
/*
 * Parts of a trace. In a team of threads each records the same scopes, so sums over all tracks
 * count CPU time; what a user waits for is the time of one thread, the main one.
 *
 * All take a sorted trace; what they make is sorted, has the same meta and is the caller's to
 * release. On -1 (no memory, no such track) it is empty.
 */
#ifndef HARNESS_TIMELINE_MAIN_H
#define HARNESS_TIMELINE_MAIN_H

#include "base/error.h"
#include "profile/trace.h"

#include <stdbool.h>

/* The thread whose outermost slices cover the most time; the one that a process began with (its
 * number is the process') where it has at least half of that. -1: no thread has a slice. */
int timeline_main_track(const struct prof_trace *trace);

/* One track alone, as track 0. No counters; flows where both ends are on it. */
int timeline_track(const struct prof_trace *trace, int track, struct prof_trace *one,
                   struct error *err);
/* The main thread, all streams, flows between those, all counters: what summaries, splits and
 * figures of a program are made of. A trace without threads keeps its streams. */
int timeline_main(const struct prof_trace *trace, struct prof_trace *main, struct error *err);
/* Tracks i where keep[i]; counters or not. */
int timeline_tracks(const struct prof_trace *trace, const bool *keep, bool counters,
                    struct prof_trace *some, struct error *err);

#endif
