/* SPDX-License-Identifier: MIT */
/*
 * Trace Event JSON into a trace: the files of prof_write_trace() without loss, those of other tools
 * (Kineto and so PyTorch, Chrome, Perfetto's converters) as far as their events mean the same.
 * A list of calls is read, too (timeline_entries.h).
 * Format: "Trace Event Format" of the Chromium project, object and array form; gzip is undone.
 *
 *   X, B and E   slices; what was begun and never ended is cut at the end of the trace and
 * PROF_OPEN i, I         points; category, backend, bytes, correlation and so on from args C
 * counters: a series of args is one, its key is the unit where it stands alone s, t, f      flows,
 * from the slice around one to the slice around the next M            names of processes and
 * threads, wherever in the file they stand
 *
 * All else (async events, memory dumps) is left out, as are ends without a beginning and flows that
 * would go back in time. Slices of a category of GPUs, or with a device and a stream in their args,
 * are on a stream; two lines of a stream (and of a thread, by
 * "of_thread" in our files) are one track again. Processes and threads that are called
 * by a text have negative numbers. PyTorch's steps ("ProfilerStep#7") are iterations of one name;
 * what is inside "backward" is named so (timeline_backward.h).
 *
 * Times are read digit by digit, because a double has not enough of them: us with decimals become
 * ns, halves away from 0. meta.start is 0 where the file names its base time (ours and Kineto's
 * do) and the first event otherwise; meta.end is the end of the last slice. meta.clock is "" for
 * files of others; seed and lost_samples are in no file.
 */
#ifndef HARNESS_TIMELINE_TIMELINE_READ_H
#define HARNESS_TIMELINE_TIMELINE_READ_H

#include "base/error.h"
#include "profile/trace.h"

#include <stddef.h>

/* What is read at most, so that the largest trace takes less than 60 s and 2 GB: bytes of its text,
 * unpacked, and events in it. A text beyond is refused before it is parsed. */
#define TIMELINE_BYTES_MOST ((size_t)256 << 20)
enum { TIMELINE_EVENTS_MOST = 3000000 };
enum { TIMELINE_TOO_LARGE = -2 };

/* A file, or a folder with a trace.json. The trace is initialised here, sorted, and passes
 * prof_trace_check(); release it. On -1 it is empty, and the message names line and column; so it
 * is on TIMELINE_TOO_LARGE, which says that nothing else may be wrong. */
int timeline_read(const char *path, struct prof_trace *trace, struct error *err);
/* The same of a text in memory; `what` stands in messages. */
int timeline_parse(const char *text, size_t length, const char *what, struct prof_trace *trace,
                   struct error *err);

#endif
