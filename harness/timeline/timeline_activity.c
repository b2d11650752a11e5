/* SPDX-License-Identifier: MIT */
#include "timeline/timeline_activity.h"

#include "base/memory.h"
#include "timeline/copy_rates.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A call, by its correlation, and its slice. */
struct call {
    uint32_t correlation, process;
    int64_t start;
    int slice;
};

struct adding {
    struct prof_trace *trace;
    const struct activity_list *list;
    int *slice_of; /* by activity; -1: none */
    struct call *calls;
    size_t nr_calls;
};

static int by_correlation(const void *a_, const void *b_)
{
    const struct call *a = a_, *b = b_;

    if (a->correlation != b->correlation)
        return a->correlation < b->correlation ? -1 : 1;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->slice > b->slice) - (a->slice < b->slice);
}

static int stream_track(struct prof_trace *trace, const struct activity *a)
{
    char owner[32], name[32];
    int gpu = a->device >= 0 && a->device < PROF_DEVICES - PROF_GPU ? a->device : 0;

    snprintf(owner, sizeof(owner), "GPU %" PRId32, a->device);
    snprintf(name, sizeof(name), "stream %" PRIu32, a->stream);
    return prof_trace_track(trace, &(struct prof_track) { .kind = PROF_TRACK_STREAM,
                                                          .device = PROF_GPU_AT(gpu),
                                                          .process = a->device,
                                                          .thread = a->stream,
                                                          .owner = owner,
                                                          .name = name });
}

static int thread_track(struct prof_trace *trace, const struct activity *a)
{
    char owner[32], name[32];

    snprintf(owner, sizeof(owner), "process %" PRIu32, a->process);
    snprintf(name, sizeof(name), "thread %" PRIu32, a->thread);
    return prof_trace_track(
        trace, &(struct prof_track) {
                   .process = a->process, .thread = a->thread, .owner = owner, .name = name });
}

static const char *const categories[ACTIVITY_KIND_NR] = {
    [ACTIVITY_KERNEL] = PROF_KERNELS,        [ACTIVITY_MEMCPY] = PROF_MEMCPY,
    [ACTIVITY_MEMSET] = PROF_MEMSET,         [ACTIVITY_GRAPH] = PROF_KERNELS,
    [ACTIVITY_RUNTIME] = PROF_RUNTIME_CALLS, [ACTIVITY_DRIVER] = PROF_DRIVER_CALLS,
    [ACTIVITY_RANGE] = PROF_SCOPES,
};

static const char *name_of(const struct activity *a, char *buffer, size_t size)
{
    if (a->kind == ACTIVITY_MEMCPY)
        snprintf(buffer, size, "memcpy %s", memcpy_kind_name((int)a->copy));
    else if (a->kind == ACTIVITY_GRAPH)
        snprintf(buffer, size, "graph %" PRIu32, a->graph);
    else if (a->kind == ACTIVITY_MEMSET)
        return "memset";
    else
        return a->name ? a->name : "";
    return buffer;
}

static int64_t on_our_clock(const struct adding *add, int64_t time)
{
    return add->list->has_clock ? activity_host_time(add->list, time) : time;
}

/* Its slice, or -1 without memory. */
static int add_slice(const struct adding *add, const struct activity *a)
{
    char buffer[64];
    bool on_device = activity_on_device(a);
    int track = on_device ? stream_track(add->trace, a) : thread_track(add->trace, a);

    if (track < 0)
        return -1;
    return prof_trace_slice(add->trace,
                            &(struct prof_slice) { .track = track,
                                                   .parent = PROF_FIND_PARENT,
                                                   .start = on_our_clock(add, a->start),
                                                   .duration = a->end - a->start,
                                                   .name = name_of(a, buffer, sizeof(buffer)),
                                                   .category = categories[a->kind],
                                                   .device = add->trace->tracks[track].device,
                                                   .bytes = a->bytes > 0 ? a->bytes : 0,
                                                   .memory_live = -1,
                                                   .memory_peak = -1,
                                                   .correlation = a->correlation });
}

static int add_slices(struct adding *add)
{
    for (size_t i = 0; i < add->list->nr; i++) {
        const struct activity *a = &add->list->items[i];
        add->slice_of[i] = -1;
        if (!categories[a->kind])
            continue;
        int slice = add->slice_of[i] = add_slice(add, a);
        if (slice < 0)
            return -1;
        if (a->correlation && (a->kind == ACTIVITY_RUNTIME || a->kind == ACTIVITY_DRIVER))
            add->calls[add->nr_calls++] =
                (struct call) { a->correlation, a->process, a->start, slice };
    }
    qsort(add->calls, add->nr_calls, sizeof(*add->calls), by_correlation);
    return 0;
}

/* The call that started the work: of several with its correlation the first, which holds the
 * others. -1: none. */
static int launch_of(const struct adding *add, const struct activity *work)
{
    size_t low = 0, high = add->nr_calls;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (add->calls[middle].correlation < work->correlation)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < add->nr_calls && add->calls[low].correlation == work->correlation; low++) {
        const struct call *call = &add->calls[low];
        if (!work->process || !call->process || work->process == call->process)
            return call->slice;
    }
    return -1;
}

/* Clocks of CPU and GPU differ by a little: work that seems to begin before its launch has no flow,
 * as a trace must not go back in time. */
static int add_flows(const struct adding *add)
{
    for (size_t i = 0; i < add->list->nr; i++) {
        const struct activity *a = &add->list->items[i];
        int to = add->slice_of[i];
        int from = activity_on_device(a) && a->correlation ? launch_of(add, a) : -1;
        if (from < 0 || to < 0 || add->trace->slices[to].start < add->trace->slices[from].start)
            continue;
        if (prof_trace_flow(add->trace, from, to) < 0)
            return -1;
    }
    return 0;
}

static void set_times(struct adding *add)
{
    struct prof_meta *meta = &add->trace->meta;
    int64_t start = INT64_MAX, end = INT64_MIN;

    for (size_t i = 0; i < add->trace->nr_slices; i++) {
        const struct prof_slice *s = &add->trace->slices[i];
        start = s->start < start ? s->start : start;
        end = s->start + s->duration > end ? s->start + s->duration : end;
    }
    if (start <= end) {
        meta->start = start;
        meta->end = end;
    }
    meta->dropped = add->list->dropped;
}

/* Into the scope around its middle, where it sticks out of that by no more than `error`. `scopes`
 * are those of the trace before, sorted; the first `nr` slices. */
static void nudge(struct prof_trace *trace, size_t nr, int64_t error, struct prof_slice *call)
{
    int64_t middle = call->start + call->duration / 2;
    size_t low = 0, high = nr;

    while (low < high) {
        size_t at = low + (high - low) / 2;
        const struct prof_slice *s = &trace->slices[at];
        if (s->track < call->track || (s->track == call->track && s->start <= middle))
            low = at + 1;
        else
            high = at;
    }
    int scope = low && trace->slices[low - 1].track == call->track ? (int)low - 1 : PROF_ROOT;
    while (scope >= 0 && trace->slices[scope].start + trace->slices[scope].duration < middle)
        scope = trace->slices[scope].parent;
    if (scope < 0 || call->duration > trace->slices[scope].duration)
        return;
    int64_t early = trace->slices[scope].start - call->start;
    int64_t late =
        call->start + call->duration - trace->slices[scope].start - trace->slices[scope].duration;
    if (early > 0 && early <= error)
        call->start += early;
    else if (late > 0 && late <= error)
        call->start -= late;
}

static void nudge_calls(const struct adding *add, size_t nr_before)
{
    for (size_t i = 0; i < add->nr_calls && add->list->has_clock; i++)
        nudge(add->trace, nr_before, add->list->clock_error,
              &add->trace->slices[add->calls[i].slice]);
}

int timeline_add_activity(struct prof_trace *trace, const struct activity_list *list,
                          struct error *err)
{
    struct adding add = { .trace = trace, .list = list };
    size_t nr_before = trace->nr_slices;
    int rc = -1;

    if (nr_before && !list->has_clock)
        return error_set(err,
                         "these activities have a clock of their own, so they cannot be put "
                         "beside what is in the trace");
    add.slice_of = memory_zeroed(list->nr + 1, sizeof(*add.slice_of));
    add.calls = memory_zeroed(list->nr + 1, sizeof(*add.calls));
    if (add_slices(&add) == 0) {
        if (nr_before)
            nudge_calls(&add, nr_before);
        else
            set_times(&add);
        if (add_flows(&add) == 0 && timeline_add_copy_rates(trace, nr_before) == 0)
            rc = prof_trace_sort(trace, NULL);
    }
    if (rc)
        error_set(err, "no memory for the timeline of %zu activities", list->nr);
    free(add.slice_of);
    free(add.calls);
    return rc;
}
