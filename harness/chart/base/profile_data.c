/* SPDX-License-Identifier: MIT */
#include "chart/base/profile_data.h"

#include "base/memory.h"
#include "timeline/timeline_main.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool profile_on_device(const struct prof_trace *trace, const struct prof_slice *slice)
{
    return trace->tracks[slice->track].kind == PROF_TRACK_STREAM;
}

bool profile_is_transfer(const struct prof_slice *slice)
{
    return !strcmp(slice->category, PROF_MEMCPY) || !strcmp(slice->category, PROF_MEMSET);
}

bool profile_is_call(const struct prof_slice *slice)
{
    return !strcmp(slice->category, PROF_RUNTIME_CALLS) ||
           !strcmp(slice->category, PROF_DRIVER_CALLS);
}

int profile_scope_of(const struct prof_trace *trace, int slice)
{
    while (slice >= 0 && profile_is_call(&trace->slices[slice]))
        slice = trace->slices[slice].parent;
    return slice;
}

void profile_launches(const struct prof_trace *trace, int *launches)
{
    for (size_t i = 0; i < trace->nr_slices; i++)
        launches[i] = -1;
    for (size_t i = 0; i < trace->nr_flows; i++)
        launches[trace->flows[i].to] = trace->flows[i].from;
}

int *profile_depths(const struct prof_trace *trace)
{
    int *depths = memory_zeroed(trace->nr_slices + 1, sizeof(*depths));

    for (size_t i = 0; i < trace->nr_slices; i++) { /* parents come first */
        int parent = trace->slices[i].parent;
        depths[i] = parent < 0 ? 0 : depths[parent] + 1;
    }
    return depths;
}

static size_t thread_slices(const struct prof_trace *trace)
{
    int track = timeline_main_track(trace);
    size_t nr = 0;

    for (size_t i = 0; i < trace->nr_slices; i++)
        nr += trace->slices[i].track == track;
    return nr;
}

int profile_data_init(struct profile_data *data, struct prof_trace *trace, const char *name,
                      const struct profile_facts *facts, struct error *err)
{
    *data = (struct profile_data) { .trace = *trace, .track = -1, .name = memory_string(name) };
    prof_trace_init(trace);
    prof_trace_init(&data->main);
    if (facts)
        data->facts = *facts;
    data->self = memory_zeroed(data->trace.nr_slices + 1, sizeof(*data->self));
    if (timeline_main(&data->trace, &data->main, err))
        return -1;
    if (prof_summarise(&data->main, &data->rows) || prof_trace_self(&data->main, data->self))
        return error_set(err, "%.200s: %s", name, strerror(errno));
    data->track = timeline_main_track(&data->main);
    for (size_t i = 0; i < data->trace.nr_tracks; i++)
        data->other_threads += data->trace.tracks[i].kind == PROF_TRACK_THREAD;
    data->other_threads -= data->track >= 0;
    data->helped = thread_slices(&data->main) > thread_slices(&data->trace);
    for (size_t i = 0; i < data->main.nr_slices; i++) {
        const struct prof_slice *s = &data->main.slices[i];
        data->outer += s->track == data->track && s->parent < 0 && !(s->flags & PROF_INSTANT_POINT);
    }
    const struct advice_evidence known = { .trace = &data->trace,
                                           .summary = &data->rows,
                                           .roofs = &data->facts.roofs,
                                           .cost = &data->facts.cost,
                                           .gap_ns = data->facts.gap_ns };
    return timeline_find(&data->main, &known, &data->found, err);
}

int profile_data_init_tables(struct profile_data *data, struct timeline_tables *tables,
                             const char *name, const struct profile_facts *facts, struct error *err)
{
    *data = (struct profile_data) { .trace = tables->texts, .track = -1 };
    prof_trace_init(&tables->texts);
    prof_trace_init(&data->main);
    data->main.meta = data->trace.meta;
    data->name = memory_string(name);
    data->rows = tables->summary;
    tables->summary = (struct prof_summary) { .nr_rows = 0 };
    data->self = memory_zeroed(1, sizeof(*data->self));
    data->outer = tables->layers.nr_iterations;
    if (facts)
        data->facts = *facts;
    const struct advice_evidence known = { .trace = &data->trace,
                                           .summary = &data->rows,
                                           .roofs = &data->facts.roofs,
                                           .cost = &data->facts.cost };
    return timeline_find_in_tables(tables, &known, &data->found, err);
}

void profile_data_release(struct profile_data *data)
{
    timeline_findings_release(&data->found);
    prof_summary_release(&data->rows);
    prof_trace_release(&data->main);
    prof_trace_release(&data->trace);
    free(data->self);
    free(data->name);
    free(data->note);
    *data = (struct profile_data) { .track = -1 };
}

/* ---- windows ---- */

struct outer {
    int64_t start, end;
};

static int profile_data_by_length(const void *x, const void *y)
{
    const struct outer *a = x, *b = y;
    int64_t one = a->end - a->start, other = b->end - b->start;

    return one != other ? (one > other) - (one < other)
                        : (a->start > b->start) - (a->start < b->start);
}

static struct outer *outer_slices(const struct profile_data *data)
{
    struct outer *list = memory_zeroed(data->outer + 1, sizeof(*list));
    size_t nr = 0;

    for (size_t i = 0; i < data->main.nr_slices; i++) {
        const struct prof_slice *s = &data->main.slices[i];
        if (s->track == data->track && s->parent < 0 && !(s->flags & PROF_INSTANT_POINT))
            list[nr++] = (struct outer) { s->start, s->start + s->duration };
    }
    return list;
}

/* Where the one of median duration is in the order of time. */
static size_t median_place(const struct outer *list, size_t nr)
{
    struct outer *sorted = memory_zeroed(nr + 1, sizeof(*sorted));
    size_t place = 0;

    memcpy(sorted, list, nr * sizeof(*sorted));
    qsort(sorted, nr, sizeof(*sorted), profile_data_by_length);
    while (list[place].start != sorted[nr / 2].start)
        place++;
    free(sorted);
    return place;
}

static struct profile_window profile_data_whole_of(const struct profile_data *data)
{
    struct profile_window w = { .low = INT64_MAX, .outer = data->outer, .whole = true };

    for (size_t i = 0; i < data->trace.nr_slices; i++) {
        const struct prof_slice *s = &data->trace.slices[i];
        w.low = s->start < w.low ? s->start : w.low;
        w.high = s->start + s->duration > w.high ? s->start + s->duration : w.high;
    }
    return w;
}

struct profile_window profile_window_of(const struct profile_data *data, size_t most, size_t calls)
{
    size_t nr = data->trace.nr_slices;

    if (nr == 0 || (nr <= most && data->outer <= calls) || data->outer < 2)
        return profile_data_whole_of(data);
    size_t each = nr / data->outer + 1, keep = most / each > 0 ? most / each : 1;
    keep = keep < calls ? keep : calls;
    struct outer *list = outer_slices(data);
    size_t at = median_place(list, data->outer), first = at > keep / 2 ? at - keep / 2 : 0;
    if (first + keep > data->outer)
        first = data->outer > keep ? data->outer - keep : 0;
    size_t last = first + keep < data->outer ? first + keep - 1 : data->outer - 1;
    struct profile_window w = { list[first].start, list[last].end, last - first + 1, false };
    free(list);
    /* What was launched in the window ends in it. */
    int64_t high = w.high;
    for (size_t i = 0; i < data->main.nr_flows; i++) {
        const struct prof_slice *from = &data->main.slices[data->main.flows[i].from];
        const struct prof_slice *to = &data->main.slices[data->main.flows[i].to];
        if (from->start >= w.low && from->start < high && to->start + to->duration > w.high)
            w.high = to->start + to->duration;
    }
    return w;
}
