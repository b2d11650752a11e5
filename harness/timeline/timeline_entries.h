/* SPDX-License-Identifier: MIT */
/*
 * A profile as a list of calls, as small profilers of scripts write it, into a trace:
 *
 *     [{"operation": "matmul", "start_time": 100.0, "end_time": 100.02, "duration_ms": 20,
 *       "device": "gpu", "backend": "cupy", "gpu_time_ms": 15, "memory_peak_mb": 80}, ...]
 *
 * alone, or as the member "entries", "profile_entries", "profile" or "operations" of an object.
 * Times are in s ("start", "start_time"), ms ("..._ms") or ns ("..._ns"), memory in MB or bytes
 * ("..._mb", "..._bytes"), the page reads the same (plots/web/src/profile_data.js). Calls without a
 * start stand one behind the other. All are on one track, those inside others by their times.
 */
#ifndef HARNESS_TIMELINE_TIMELINE_ENTRIES_H
#define HARNESS_TIMELINE_TIMELINE_ENTRIES_H

#include "base/error.h"
#include "profile/trace.h"

#include <stdbool.h>

/* By its beginning: calls that say an operation, and no events of a trace. */
bool timeline_entries_is(const char *text, size_t length);
/* -1: an entry has no operation, or no duration; the message names it. The trace is initialised
 * here and sorted; release it. `what` stands in messages. */
int timeline_entries_parse(const char *text, size_t length, const char *what,
                           struct prof_trace *trace, struct error *err);

#endif
