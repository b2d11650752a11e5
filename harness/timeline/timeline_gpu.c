/* SPDX-License-Identifier: MIT */
#include "timeline/timeline_gpu.h"

#include "base/array.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "profile/name_map.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct adding {
    struct prof_trace *trace;
    const struct activity_list *list;
    int *slice_of; /* by activity; -1: none */
    struct activity_calls calls;
    struct prof_map ranks;     /* by device and process, in the order they come */
    struct prof_map processes; /* by device: how many work on it */
};

/* Each process has streams of its own, whose numbers are alike. -1: no memory. */
static int rank_processes(struct adding *add)
{
    for (size_t i = 0; i < add->list->nr; i++) {
        const struct activity *a = &add->list->items[i];
        if (!activity_on_device(a))
            continue;
        int *nr = prof_map_at(&add->processes, (uint64_t)a->device, 0, 0);
        const int *rank =
            nr ? prof_map_at(&add->ranks, (uint64_t)a->device, a->process, *nr) : NULL;
        if (!rank)
            return -1;
        *nr += *rank == *nr;
    }
    return 0;
}

static int stream_track(const struct adding *add, const struct activity *a)
{
    char owner[32], name[64];
    int gpu = a->device >= 0 && a->device < PROF_DEVICES - PROF_GPU ? a->device : 0;
    int64_t rank = *prof_map_find(&add->ranks, (uint64_t)a->device, a->process);

    snprintf(owner, sizeof(owner), "GPU %" PRId32, a->device);
    if (*prof_map_find(&add->processes, (uint64_t)a->device, 0) > 1)
        snprintf(name, sizeof(name), "stream %" PRIu32 " of process %" PRIu32, a->stream,
                 a->process);
    else
        snprintf(name, sizeof(name), "stream %" PRIu32, a->stream);
    return prof_trace_track(add->trace, &(struct prof_track) { .kind = PROF_TRACK_STREAM,
                                                               .device = PROF_GPU_AT(gpu),
                                                               .process = a->device,
                                                               .thread = rank << 32 | a->stream,
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

static int64_t on_our_clock(const struct adding *add, int64_t time)
{
    return add->list->has_clock ? activity_host_time(add->list, time) : time;
}

/* Its slice, or -1 without memory. */
static int add_activity(const struct adding *add, const struct activity *a)
{
    char buffer[ACTIVITY_NAME_SIZE];
    bool on_device = activity_on_device(a);
    int track = on_device ? stream_track(add, a) : thread_track(add->trace, a);

    if (track < 0)
        return -1;
    return prof_trace_slice(add->trace,
                            &(struct prof_slice) { .track = track,
                                                   .parent = PROF_FIND_PARENT,
                                                   .start = on_our_clock(add, a->start),
                                                   .duration = a->end - a->start,
                                                   .name = activity_work_name(a, buffer),
                                                   .category = categories[a->kind],
                                                   .device = add->trace->tracks[track].device,
                                                   .bytes = a->bytes > 0 ? a->bytes : 0,
                                                   .memory_live = -1,
                                                   .memory_peak = -1,
                                                   .correlation = a->correlation });
}

static int add_activities(struct adding *add)
{
    for (size_t i = 0; i < add->list->nr; i++) {
        const struct activity *a = &add->list->items[i];
        add->slice_of[i] = -1;
        if (!categories[a->kind])
            continue;
        add->slice_of[i] = add_activity(add, a);
        if (add->slice_of[i] < 0)
            return -1;
    }
    return 0;
}

static int slice_of(const struct adding *add, const struct activity *a)
{
    return a ? add->slice_of[a - add->list->items] : -1;
}

/* Clocks of CPU and GPU differ by a little: work that seems to begin before its launch has no flow,
 * as a trace must not go back in time. */
static int add_launch_flows(const struct adding *add)
{
    for (size_t i = 0; i < add->list->nr; i++) {
        const struct activity *a = &add->list->items[i];
        int to = add->slice_of[i];
        int from = activity_on_device(a) ? slice_of(add, activity_launch(&add->calls, a)) : -1;
        if (from < 0 || to < 0 || add->trace->slices[to].start < add->trace->slices[from].start)
            continue;
        if (prof_trace_flow(add->trace, from, to) < 0)
            return -1;
    }
    return 0;
}

static void set_activity_times(struct adding *add)
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
}

/* Into the scope around its middle, where it sticks out of that by no more than `error`. `scopes`
 * are those of the trace before, sorted; the first `nr` slices. */
static void nudge_into_scope(struct prof_trace *trace, size_t nr, int64_t error,
                             struct prof_slice *call)
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
    for (size_t i = 0; i < add->calls.nr && add->list->has_clock; i++)
        nudge_into_scope(add->trace, nr_before, add->list->clock_error,
                         &add->trace->slices[slice_of(add, add->calls.items[i])]);
}

/* ---- how fast copies go ---- */

/* A copy begins (rate > 0) or ends. */
struct rate_change {
    int counter;
    int64_t time;
    double rate;
};

struct rate_changes {
    struct rate_change *items;
    size_t nr, capacity;
};

static int by_counter_and_time(const void *a_, const void *b_)
{
    const struct rate_change *a = a_, *b = b_;

    if (a->counter != b->counter)
        return a->counter < b->counter ? -1 : 1;
    return (a->time > b->time) - (a->time < b->time);
}

static int gather_rate_changes(struct prof_trace *trace, size_t first, struct rate_changes *changes)
{
    for (size_t i = first; i < trace->nr_slices; i++) {
        const struct prof_slice *s = &trace->slices[i];
        enum memcpy_kind kind = memcpy_kind_of(s->name);
        if (strcmp(s->category, PROF_MEMCPY) != 0 || !kind || s->duration <= 0 || s->bytes <= 0)
            continue;
        int counter = prof_trace_counter(
            trace, &(struct prof_counter) { .process = trace->tracks[s->track].process,
                                            .name = memcpy_kind_name((int)kind),
                                            .unit = "GB/s",
                                            .kind = PROF_TRACK_STREAM });
        if (counter < 0)
            return -1;
        double rate = (double)s->bytes / (double)s->duration; /* bytes a ns are GB/s */
        *array_push(changes) = (struct rate_change) { counter, s->start, rate };
        *array_push(changes) = (struct rate_change) { counter, s->start + s->duration, -rate };
    }
    return 0;
}

/* From the copies among the slices from `first` on: a counter per device and direction, in GB/s,
 * the sum over copies under way. Copies without a length in time or bytes are left out. -1: no
 * memory. */
static int add_copy_rates(struct prof_trace *trace, size_t first)
{
    struct rate_changes changes = ARRAY_EMPTY;
    int rc = gather_rate_changes(trace, first, &changes), under_way = 0;
    double rate = 0;

    if (changes.nr)
        qsort(changes.items, changes.nr, sizeof(*changes.items), by_counter_and_time);
    for (size_t i = 0; i < changes.nr && rc == 0; i++) {
        const struct rate_change *c = &changes.items[i], *next = c + 1;
        bool is_new = i == 0 || c[-1].counter != c->counter;
        under_way = (is_new ? 0 : under_way) + (c->rate > 0 ? 1 : -1);
        rate = (is_new ? 0 : rate) + c->rate;
        rate = under_way ? rate : 0; /* without what sums of doubles leave */
        if (i + 1 < changes.nr && next->counter == c->counter && next->time == c->time)
            continue;
        rc = prof_trace_sample(trace, c->counter, c->time, rate) < 0 ? -1 : 0;
    }
    array_release(&changes);
    return rc;
}

/* ---- scopes as their stream saw them ---- */

/* Of the work that was launched inside a slice. */
struct launched {
    int64_t start, end;
    int track; /* the stream's; -1: none, -2: several */
};

static void add_launched(struct launched *to, const struct launched *more)
{
    if (more->track == -1)
        return;
    *to = to->track == -1 ? *more
                          : (struct launched) { more->start < to->start ? more->start : to->start,
                                                more->end > to->end ? more->end : to->end,
                                                more->track == to->track ? to->track : -2 };
}

/* Parents come first in a sorted trace, so sums go upwards from the end. */
static struct launched *find_launched(const struct prof_trace *trace)
{
    struct launched *all = memory_zeroed(trace->nr_slices + 1, sizeof(*all));

    for (size_t i = 0; i < trace->nr_slices; i++)
        all[i].track = -1;
    for (size_t i = 0; i < trace->nr_flows; i++) {
        const struct prof_slice *to = &trace->slices[trace->flows[i].to];
        const struct launched one = { to->start, to->start + to->duration, to->track };
        if (trace->tracks[to->track].kind == PROF_TRACK_STREAM)
            add_launched(&all[trace->flows[i].from], &one);
    }
    for (size_t i = trace->nr_slices; i-- > 0;)
        if (trace->slices[i].parent >= 0)
            add_launched(&all[trace->slices[i].parent], &all[i]);
    return all;
}

static bool is_unseen_scope(const struct prof_trace *trace, const struct prof_slice *s)
{
    return trace->tracks[s->track].kind == PROF_TRACK_THREAD && s->device >= PROF_GPU &&
           s->gpu == 0 && strcmp(s->category, PROF_SCOPES) == 0;
}

/* Of a sorted trace, which is unsorted then. -1: no memory. */
static int add_stream_scopes(struct prof_trace *trace)
{
    struct launched *all = find_launched(trace);
    size_t nr = trace->nr_slices;
    int rc = 0;

    for (size_t i = 0; i < nr && rc == 0; i++) {
        struct prof_slice s = trace->slices[i];
        if (all[i].track < 0 || !is_unseen_scope(trace, &s))
            continue;
        s.track = all[i].track;
        s.parent = PROF_FIND_PARENT;
        s.start = all[i].start;
        s.duration = all[i].end - all[i].start;
        s.category = PROF_GPU_SCOPES;
        s.memory_live = s.memory_peak = -1;
        int to = prof_trace_slice(trace, &s);
        bool goes_back = s.start < trace->slices[i].start; /* by the error of the clocks */
        rc = to < 0 || (!goes_back && prof_trace_flow(trace, (int)i, to) < 0) ? -1 : 0;
    }
    free(all);
    return rc;
}

/* A kernel that waited begins when it no longer does. -1: no memory. */
static int begin_behind_waiting(struct prof_trace *trace)
{
    int64_t *busy = memory_zeroed(trace->nr_slices + 1, sizeof(*busy));

    prof_trace_busy(trace, busy);
    for (size_t i = 0; i < trace->nr_slices; i++) {
        struct prof_slice *s = &trace->slices[i];
        if (busy[i] <= 0 || strcmp(s->category, PROF_KERNELS) != 0)
            continue;
        s->start += s->duration - busy[i];
        s->duration = busy[i];
    }
    free(busy);
    return prof_trace_sort(trace, NULL);
}

/* Kernels and copies on a stream are inside the scopes that they get. */
static int sort_with_stream_scopes(struct prof_trace *trace)
{
    if (prof_trace_sort(trace, NULL) || begin_behind_waiting(trace) || add_stream_scopes(trace))
        return -1;
    for (size_t i = 0; i < trace->nr_slices; i++)
        if (trace->tracks[trace->slices[i].track].kind == PROF_TRACK_STREAM)
            trace->slices[i].parent = PROF_FIND_PARENT;
    return prof_trace_sort(trace, NULL);
}

/* ---- what is missing ---- */

void timeline_note(struct prof_trace *trace, const char *words)
{
    struct strbuf note;

    strbuf_init(&note);
    if (trace->meta.note)
        strbuf_addf(&note, "%s; ", trace->meta.note);
    strbuf_adds(&note, words);
    trace->meta.note = prof_trace_text(trace, note.data);
    strbuf_release(&note);
}

void timeline_note_losses(struct prof_trace *trace, const struct activity_list *list)
{
    char words[160];

    if (list->dropped + list->untimed + list->unread == 0)
        return;
    snprintf(words, sizeof(words),
             "of the GPU's records %" PRIu64 " found no room, %" PRIu64 " have no time and %" PRIu64
             " could not be read",
             list->dropped, list->untimed, list->unread);
    timeline_note(trace, words);
    trace->meta.dropped += list->dropped + list->untimed + list->unread;
}

/* ---- there and back ---- */

int timeline_add_gpu(struct prof_trace *trace, const struct activity_list *list, struct error *err)
{
    struct adding add = { .trace = trace, .list = list };
    size_t nr_before = trace->nr_slices;
    int rc = -1;

    if (nr_before && !list->has_clock)
        return error_set(err,
                         "these activities have a clock of their own, so they cannot be put "
                         "beside what is in the trace");
    add.slice_of = memory_zeroed(list->nr + 1, sizeof(*add.slice_of));
    activity_calls_of(list, &add.calls);
    if (rank_processes(&add) == 0 && add_activities(&add) == 0) {
        if (nr_before)
            nudge_calls(&add, nr_before);
        else
            set_activity_times(&add);
        if (add_launch_flows(&add) == 0 && add_copy_rates(trace, nr_before) == 0)
            rc = sort_with_stream_scopes(trace);
    }
    if (rc == 0)
        timeline_note_losses(trace, list);
    else
        error_set(err, "no memory for the timeline of %zu activities", list->nr);
    free(add.slice_of);
    prof_map_release(&add.ranks);
    prof_map_release(&add.processes);
    activity_calls_release(&add.calls);
    return rc;
}

static const struct {
    const char *category;
    enum activity_kind kind;
} device_kinds[] = {
    { PROF_KERNELS, ACTIVITY_KERNEL },      { PROF_MEMCPY, ACTIVITY_MEMCPY },
    { PROF_MEMSET, ACTIVITY_MEMSET },       { PROF_RUNTIME_CALLS, ACTIVITY_RUNTIME },
    { PROF_DRIVER_CALLS, ACTIVITY_DRIVER },
};

/* What it becomes; ACTIVITY_KIND_NR: nothing. */
static enum activity_kind activity_kind_of(const struct prof_trace *trace, size_t i)
{
    const struct prof_slice *s = &trace->slices[i];
    bool is_stream = trace->tracks[s->track].kind == PROF_TRACK_STREAM;

    for (size_t k = 0; k < sizeof(device_kinds) / sizeof(*device_kinds); k++) {
        bool is_call =
            device_kinds[k].kind == ACTIVITY_RUNTIME || device_kinds[k].kind == ACTIVITY_DRIVER;
        if (!strcmp(s->category, device_kinds[k].category) && is_call != is_stream)
            return device_kinds[k].kind;
    }
    return ACTIVITY_KIND_NR;
}

static void add_back(struct activity_list *list, const struct prof_trace *trace, size_t i,
                     uint32_t correlation)
{
    const struct prof_slice *s = &trace->slices[i];
    const struct prof_track *track = &trace->tracks[s->track];
    enum activity_kind kind = activity_kind_of(trace, i);

    if (kind == ACTIVITY_KIND_NR)
        return;
    struct activity *a = activity_add(list, kind);
    a->start = s->start;
    a->end = s->start + s->duration;
    a->correlation = correlation;
    a->bytes = s->bytes;
    if (track->kind == PROF_TRACK_STREAM) {
        a->device = (int32_t)track->process;
        a->stream = (uint32_t)track->thread;
        a->copy = kind == ACTIVITY_MEMCPY ? memcpy_kind_of(s->name) : MEMCPY_UNKNOWN;
    } else {
        a->process = (uint32_t)track->process;
        a->thread = (uint32_t)track->thread;
    }
    a->name = activity_name(list, s->name);
}

/* Work has the number of its launch. A process of a device is no process of the host, so it stays
 * 0, which goes with any. */
void timeline_to_activity(const struct prof_trace *trace, struct activity_list *list)
{
    uint32_t *correlations = memory_zeroed(trace->nr_slices + 1, sizeof(*correlations));

    activity_list_init(list);
    for (size_t i = 0; i < trace->nr_flows; i++) {
        const struct prof_flow *f = &trace->flows[i];
        if (activity_kind_of(trace, (size_t)f->from) == ACTIVITY_KIND_NR ||
            activity_kind_of(trace, (size_t)f->to) == ACTIVITY_KIND_NR)
            continue;
        correlations[f->from] = correlations[f->to] = (uint32_t)f->from + 1;
    }
    for (size_t i = 0; i < trace->nr_slices; i++)
        add_back(list, trace, i, correlations[i]);
    list->has_clock = true;
    activity_sort(list);
    free(correlations);
}
