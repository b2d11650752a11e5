/* SPDX-License-Identifier: MIT */
/*
 * Parts of a trace: the main one, and as much as a file holds that is read again. In a team of
 * threads each records the same scopes, so sums over all tracks count CPU time; what a user waits
 * for is the time of one thread, the main one.
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

/* ---- files ---- */

/* How large the file of a trace is, as its reader counts: lines of events, and bytes. */
struct timeline_size {
    size_t events, bytes;
};

/* Of the file that prof_write_trace() makes of a sorted trace. -1: no memory. */
int timeline_size(const struct prof_trace *trace, struct timeline_size *size);

/* prof_write_trace() of a sorted trace, so that the file has no more than `most`; NULL: than
 * timeline_read() takes. Where all is more, the shortest slices are left out, and counters with
 * very many points; the file's note says so. Returns how many slices and points are left out, or
 * -1: the file cannot be written, or there is no memory. */
int timeline_write(FILE *file, const struct prof_trace *trace, const struct timeline_size *most);

#endif
