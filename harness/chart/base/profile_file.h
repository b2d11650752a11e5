/* SPDX-License-Identifier: MIT */
/*
 * A profile by its path, whatever of it is there:
 *
 *     profile-nano/                what `harness profile` wrote: trace.json, profile.json or both
 *     profile-nano/trace.json      the same
 *     profile-nano/profile.json    the same; without the trace beside it, or where that is larger
 *                                  than what is read, the tables alone
 *     any.json                     a trace, or a summary of the scopes library (profile/export.h)
 *     entries.json                 a list of calls with operation, start and duration
 *                                  (timeline/timeline_entries.h)
 */
#ifndef HARNESS_CHART_BASE_PROFILE_FILE_H
#define HARNESS_CHART_BASE_PROFILE_FILE_H

#include "base/error.h"
#include "chart/base/profile_data.h"

/* -1: it cannot be read, or is none of these. Release the data whatever the result. */
int profile_file_read(const char *path, struct profile_data *data, struct error *err);

#endif
