/* SPDX-License-Identifier: MIT */
/* What can be said of a trace file only after its last event. */
#include "base/memory.h"
#include "timeline/trace_reader.h"

#include <stdlib.h>

static void set_names(struct trace_reader *r)
{
    for (size_t i = 0; i < r->trace->nr_tracks; i++) {
        struct prof_track *track = &r->trace->tracks[i];
        const struct lane *lane = &r->lanes.items[r->first_lane.items[i]];
        track->name = lane->name ? lane->name : track->name;
        for (size_t k = 0; k < r->processes.nr; k++) {
            if (r->processes.items[k].process == lane->process)
                track->owner = r->processes.items[k].name;
        }
        /* A process that is called by a text needs no other name. */
        if (!track->owner[0] && lane->process < 0 && (size_t)~lane->process < r->numbered.nr)
            track->owner = r->numbered.items[~lane->process];
        if (!track->name[0] && lane->thread < 0 && (size_t)~lane->thread < r->numbered.nr)
            track->name = r->numbered.items[~lane->thread];
    }
}

static void set_times(struct trace_reader *r)
{
    struct prof_trace *trace = r->trace;
    int64_t start = INT64_MAX, end = INT64_MIN;

    for (size_t i = 0; i < trace->nr_slices; i++) {
        const struct prof_slice *s = &trace->slices[i];
        start = s->start < start ? s->start : start;
        end = s->start + s->duration > end ? s->start + s->duration : end;
    }
    for (size_t i = 0; i < trace->nr_samples; i++) {
        start = trace->samples[i].time < start ? trace->samples[i].time : start;
        end = trace->samples[i].time > end ? trace->samples[i].time : end;
    }
    if (start > end)
        start = end = 0;
    trace->meta.start = r->has_base ? 0 : start;
    trace->meta.end = end;
}

/* What began and never ended ends where the trace does. */
static void close_open(struct trace_reader *r)
{
    for (size_t i = 0; i < r->lanes.nr; i++) {
        const struct lane *lane = &r->lanes.items[i];
        for (size_t k = 0; k < lane->open.nr; k++) {
            struct prof_slice *s = &r->trace->slices[lane->open.items[k]];
            s->duration = r->trace->meta.end - s->start;
            s->flags |= PROF_OPEN;
        }
    }
}

int trace_reader_finish(struct trace_reader *r, const char *what, struct error *err)
{
    size_t nr = r->trace->nr_slices;
    int *moved = memory_zeroed(nr + 1, sizeof(*moved));
    int *lane_of = memory_zeroed(nr + 1, sizeof(*lane_of));
    char why[256];
    int rc;

    set_names(r);
    set_times(r);
    close_open(r);
    rc = prof_trace_sort(r->trace, moved);
    for (size_t i = 0; i < nr && rc == 0; i++)
        lane_of[moved[i]] = r->lane_of.items[i];
    if (rc == 0)
        rc = trace_reader_flows(r, lane_of);
    if (rc)
        error_set(err, "%s: no memory for the trace", what);
    else if (prof_trace_check(r->trace, why, sizeof(why)))
        rc = error_set(err, "%s: %s", what, why);
    free(moved);
    free(lane_of);
    return rc;
}

void trace_reader_release(struct trace_reader *r)
{
    for (size_t i = 0; i < r->lanes.nr; i++)
        array_release(&r->lanes.items[i].open);
    array_release(&r->lanes);
    array_release(&r->processes);
    array_release(&r->points);
    array_release(&r->lane_of);
    array_release(&r->first_lane);
    array_release(&r->numbered);
}
