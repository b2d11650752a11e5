/* SPDX-License-Identifier: MIT */
/*
 * What a GPU did (gputrace/activity.h), put into a trace: a track a stream, calls of the CUDA
 * runtime and driver and NVTX ranges on the track of their thread, a flow from a call to each piece
 * of work it started.
 *
 *     prof_snapshot(prof, &trace);                    // or prof_trace_init(&trace)
 *     timeline_add_gpu(&trace, &list, &err);     // live CUPTI, or an import
 *
 * The process of a stream's track is the number of its device, as in a snapshot, and a thread that
 * is in the snapshot already is the same track: so calls lie inside the scopes that made them.
 * Slices: kernels by their name, copies as "memcpy HtoD" with their bytes, "memset", whole graphs
 * as "graph 3". Waits (ACTIVITY_SYNC) are left out: the call that waited is there. Each direction
 * of copying has a counter of its rate in GB/s on its device ("HtoD"), the sum of copies under way.
 *
 * A kernel that began under other work of its stream, and waited for that (prof_trace_busy()),
 * begins where it no longer waits: kernels lie side by side, as their work was done.
 *
 * Scopes of a GPU that their stream did not see (PROF_GPU_SCOPES) get that from the work that was
 * launched inside: from the start of the first to the end of the last, where all is on one stream.
 *
 * A call's clock is known to list->clock_error only, a scope's exactly. So a call that sticks out
 * of the innermost scope around its middle by no more than that is moved into it where it fits.
 */
#ifndef HARNESS_TIMELINE_TIMELINE_GPU_H
#define HARNESS_TIMELINE_TIMELINE_GPU_H

#include "base/error.h"
#include "gputrace/activity.h"
#include "profile/trace.h"

/* Adds, and sorts the trace. Into a trace without slices anything goes, and meta.start and end
 * become those of the list; into one that has some the list must have a clock. On -1 (no clock, no
 * memory) the trace may hold a part, unsorted: release it. What the list lacks is noted. */
int timeline_add_gpu(struct prof_trace *trace, const struct activity_list *list, struct error *err);

/* What a trace lacks, in words, behind a note that is there already. */
void timeline_note(struct prof_trace *trace, const char *words);
/* Records of a list that found no room, have no time or are not understood: none of them is in a
 * slice, so they are noted, and counted in meta.dropped. */
void timeline_note_losses(struct prof_trace *trace, const struct activity_list *list);

/* The way back, for what works on activities: device slices, calls and the flows between them, with
 * the trace's times. Kinds of copies are read from names ("memcpy HtoD", "Memcpy DtoH (...)"). The
 * list is initialised here; release it. */
void timeline_to_activity(const struct prof_trace *trace, struct activity_list *list);

#endif
