/* SPDX-License-Identifier: MIT */
/*
 * A profile as its figures read it. In a team every thread records the same scopes, so times are
 * those of the main thread: the one whose outermost slices last longest. Streams of GPUs belong to
 * it, whichever thread launched on them.
 *
 *     profile_data_init(&data, &trace, "profile-nano", NULL, err); takes the trace
 *     chart.profile = &data;
 *     profile_data_release(&data);
 *
 * Times are ns of the trace's clock.
 */
#ifndef HARNESS_CHART_BASE_PROFILE_DATA_H
#define HARNESS_CHART_BASE_PROFILE_DATA_H

#include "base/error.h"
#include "chart/base/profile_facts.h"
#include "profile/summary.h"
#include "timeline/timeline_findings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile_data {
    char *name;               /* what it is called: its file or folder */
    char *note;               /* what of it could not be read, and why; NULL: nothing */
    struct prof_trace trace;  /* all of it */
    struct prof_trace main;   /* the main thread and the streams; sorted */
    int track;                /* the main thread in `main`; -1: there is no thread */
    struct prof_summary rows; /* of `main` */
    int64_t *self;            /* of each slice of `main` */
    size_t other_threads;     /* left out of `main` */
    bool helped;  /* but for backward passes of theirs, which are in it (timeline_main.h) */
    size_t outer; /* outermost slices of the main thread: iterations of a benchmark */
    struct profile_facts facts; /* beside the trace */
    struct timeline_findings found;
};

/* Takes a sorted trace, whatever the result; `facts` may be NULL. Release in any case. */
int profile_data_init(struct profile_data *data, struct prof_trace *trace, const char *name,
                      const struct profile_facts *facts, struct error *err);
/* The same of tables without a trace, which it takes: nothing has a place in time then, and figures
 * of slices say that they are absent. */
int profile_data_init_tables(struct profile_data *data, struct timeline_tables *tables,
                             const char *name, const struct profile_facts *facts,
                             struct error *err);
void profile_data_release(struct profile_data *data);

/* Is it on a stream? */
bool profile_on_device(const struct prof_trace *trace, const struct prof_slice *slice);
/* A copy or fill of the GPU. */
bool profile_is_transfer(const struct prof_slice *slice);
/* A call of the runtime or driver. */
bool profile_is_call(const struct prof_slice *slice);
/* The innermost scope of the host that holds this slice, itself too; -1: none. */
int profile_scope_of(const struct prof_trace *trace, int slice);
/* What the slice `i` was launched by; -1: not known. `launches` has one entry a slice. */
void profile_launches(const struct prof_trace *trace, int *launches);
/* Of each slice of a sorted trace how many are above it on its track; free() it. */
int *profile_depths(const struct prof_trace *trace);

/* From `low` to `high`, ns: as many whole outermost slices of the main thread as hold about `most`
 * slices, but no more than `calls`, around the one of median duration, with what they launched; or
 * all of it. */
struct profile_window {
    int64_t low, high;
    size_t outer; /* in it */
    bool whole;
};
struct profile_window profile_window_of(const struct profile_data *data, size_t most, size_t calls);

#endif
