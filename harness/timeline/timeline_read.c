/* SPDX-License-Identifier: MIT */
#include "timeline/timeline_read.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/pack.h"
#include "base/strbuf.h"
#include "timeline/timeline_backward.h"
#include "timeline/timeline_entries.h"
#include "timeline/timeline_gpu.h"
#include "timeline/trace_reader.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- flows: points in time on a lane, to be bound to slices ---- */

/* Slices of the lanes, by lane and then as the trace has them: by start, the longer first. */
struct laned_slice {
    int lane, slice;
    int64_t start;
};

struct binding {
    const struct prof_trace *trace;
    struct laned_slice *slices;
    size_t nr;
};

static int by_lane(const void *a_, const void *b_)
{
    const struct laned_slice *a = a_, *b = b_;

    if (a->lane != b->lane)
        return a->lane < b->lane ? -1 : 1;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->slice > b->slice) - (a->slice < b->slice);
}

static int by_key_and_time(const void *a_, const void *b_)
{
    const struct flow_point *a = a_, *b = b_;

    if (a->key != b->key)
        return (uintptr_t)a->key < (uintptr_t)b->key ? -1 : 1;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

/* How many slices are on earlier lanes, or on this one and begin before `time` (or at it). */
static size_t rank_on_lanes(const struct binding *b, int lane, int64_t time, bool inclusive)
{
    size_t low = 0, high = b->nr;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct laned_slice *l = &b->slices[middle];
        if (l->lane < lane ||
            (l->lane == lane && (l->start < time || (inclusive && l->start == time))))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The slice that a point is about; -1: none. */
static int bound_slice(const struct binding *b, const struct flow_point *p)
{
    size_t at = rank_on_lanes(b, p->lane, p->time, p->is_enclosing);
    const struct prof_slice *slices = b->trace->slices;

    if (!p->is_enclosing) /* the next one to begin */
        return at < b->nr && b->slices[at].lane == p->lane ? b->slices[at].slice : -1;
    if (at == 0 || b->slices[at - 1].lane != p->lane)
        return -1;
    int slice = b->slices[at - 1].slice;
    while (slice >= 0 && slices[slice].start + slices[slice].duration < p->time)
        slice = slices[slice].parent;
    return slice;
}

/* Where a call lies in a call that began in the same ns, the launch is the one with the number of
 * what was launched. */
static int launch_by_correlation(const struct prof_trace *trace, int from, int to)
{
    const struct prof_slice *slices = trace->slices;

    for (int s = from; slices[to].correlation && s >= 0; s = slices[s].parent) {
        if (slices[s].start != slices[from].start)
            break;
        if (slices[s].correlation == slices[to].correlation)
            return s;
    }
    return from;
}

/* A scope's flow ends at the scope as its stream saw it, though work begins with that in the same
 * ns, and comes from the scope, though one in it may begin with it. False: it is no such flow. */
static bool bind_scope(const struct prof_trace *trace, int *from, int *to)
{
    const struct prof_slice *slices = trace->slices;

    for (int t = *to; t >= 0 && slices[t].start == slices[*to].start; t = slices[t].parent) {
        if (strcmp(slices[t].category, PROF_GPU_SCOPES) != 0)
            continue;
        for (int f = *from; f >= 0 && slices[f].start == slices[*from].start; f = slices[f].parent)
            if (slices[f].name == slices[t].name) {
                *from = f;
                *to = t;
                return true;
            }
    }
    return false;
}

static int add_bound_flow(struct trace_reader *r, const struct flow_point *p, int from, int to)
{
    const struct prof_slice *slices = r->trace->slices;

    if (from < 0 || to < 0 || to == from || slices[to].start < slices[from].start)
        return 0;
    /* Older files name all flows alike: those of calls begin at what has a correlation. */
    if (!(p->is_of_scope || !slices[from].correlation) || !bind_scope(r->trace, &from, &to))
        from = launch_by_correlation(r->trace, from, to);
    /* A wait is a slice nowhere (trace_reader.c): its flow ends in what runs then, and starts it
     * not. */
    if (slices[from].correlation && slices[to].correlation &&
        slices[from].correlation != slices[to].correlation)
        return 0;
    return prof_trace_flow(r->trace, from, to) < 0 ? -1 : 0;
}

/* PyTorch ends the flow of a graph's launch at each of its kernels: all come from where it began.
 */
static int add_bound_flows(struct trace_reader *r, const struct binding *b)
{
    const char *key = NULL;
    int before = -1;

    for (size_t i = 0; i < r->points.nr; i++) {
        const struct flow_point *p = &r->points.items[i];
        int here = bound_slice(b, p);
        int from = p->key == key && p->phase != 's' ? before : -1;
        if (add_bound_flow(r, p, from, here))
            return -1;
        if (p->phase != 'f')
            before = here;
        else if (p->key != key)
            before = -1;
        key = p->key;
    }
    return 0;
}

static int by_ends(const void *a_, const void *b_)
{
    const struct prof_flow *a = a_, *b = b_;

    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->to > b->to) - (a->to < b->to);
}

/* Of a sorted trace: finds the slices of the flow points. `lane_of` is by slice. -1: no memory. */
static int bind_flows(struct trace_reader *r, const int *lane_of)
{
    struct binding b = { .trace = r->trace };

    b.slices = memory_zeroed(r->trace->nr_slices + 1, sizeof(*b.slices));
    for (size_t i = 0; i < r->trace->nr_slices; i++) {
        const struct prof_slice *s = &r->trace->slices[i];
        if (!(s->flags & PROF_INSTANT_POINT))
            b.slices[b.nr++] = (struct laned_slice) { lane_of[i], (int)i, s->start };
    }
    qsort(b.slices, b.nr, sizeof(*b.slices), by_lane);
    if (r->points.nr)
        qsort(r->points.items, r->points.nr, sizeof(*r->points.items), by_key_and_time);
    int rc = add_bound_flows(r, &b);
    if (r->trace->nr_flows)
        qsort(r->trace->flows, r->trace->nr_flows, sizeof(*r->trace->flows), by_ends);
    free(b.slices);
    return rc;
}

/* ---- what can be said only after the last event ---- */

static void set_track_names(struct trace_reader *r)
{
    for (size_t i = 0; i < r->trace->nr_tracks; i++) {
        struct prof_track *track = &r->trace->tracks[i];
        const struct lane *lane = &r->lanes.items[r->first_lane.items[i]];
        track->name = lane->name ? lane->name : track->name;
        const int *named = prof_map_at(&r->process_places, (uint64_t)lane->process, 0, -1);
        if (named && *named >= 0)
            track->owner = r->processes.items[*named];
        /* A process that is called by a text needs no other name. */
        const char *process = trace_reader_text_id(r, lane->process);
        const char *thread = trace_reader_text_id(r, lane->thread);
        track->owner = !track->owner[0] && process ? process : track->owner;
        track->name = !track->name[0] && thread ? thread : track->name;
    }
}

/* XLA's profiler (JAX, TensorFlow) has a process for each GPU, with a line for each stream, and
 * says no category of what is there. -1: none of these. */
static int xla_gpu(const struct prof_track *track)
{
    static const char of_gpu[] = "/device:GPU:";
    int device = -1;

    if (track->kind != PROF_TRACK_THREAD ||
        strncmp(track->owner, of_gpu, sizeof(of_gpu) - 1) != 0 ||
        sscanf(track->owner + sizeof(of_gpu) - 1, "%2d", &device) != 1)
        return -1;
    return device >= 0 && device < PROF_DEVICES - PROF_GPU ? device : -1;
}

/* Lines beside those of streams ("XLA Ops", "Steps") show the same time once more. */
static const char *xla_category(const struct prof_track *track, const char *name)
{
    if (strncmp(track->name, "Stream", 6) != 0)
        return PROF_GPU_SCOPES;
    if (strncasecmp(name, "memcpy", 6) == 0)
        return PROF_MEMCPY;
    return strncasecmp(name, "memset", 6) == 0 ? PROF_MEMSET : PROF_KERNELS;
}

/* By track, or NULL where there is none. */
static bool *adopt_xla_streams(struct prof_trace *trace)
{
    bool *is_adopted = memory_zeroed(trace->nr_tracks + 1, sizeof(*is_adopted)), any = false;

    for (size_t i = 0; i < trace->nr_tracks; i++) {
        struct prof_track *track = &trace->tracks[i];
        int device = xla_gpu(track);
        if (device < 0)
            continue;
        is_adopted[i] = any = true;
        track->kind = PROF_TRACK_STREAM;
        track->process = device;
        track->device = PROF_GPU_AT(device);
    }
    for (size_t i = 0; i < trace->nr_slices; i++) {
        struct prof_slice *s = &trace->slices[i];
        if (!is_adopted[s->track])
            continue;
        s->device = trace->tracks[s->track].device;
        s->category = *s->category ? s->category : xla_category(&trace->tracks[s->track], s->name);
    }
    if (any)
        return is_adopted;
    free(is_adopted);
    return NULL;
}

/* A call on the host, by the number of what it launched. */
struct xla_call {
    uint64_t correlation;
    int slice;
};

static int by_correlation(const void *a_, const void *b_)
{
    const struct xla_call *a = a_, *b = b_;

    if (a->correlation != b->correlation)
        return a->correlation < b->correlation ? -1 : 1;
    return (a->slice > b->slice) - (a->slice < b->slice);
}

static size_t take_xla_calls(struct prof_trace *trace, struct xla_call *calls)
{
    size_t nr = 0;

    for (size_t i = 0; i < trace->nr_slices; i++) {
        struct prof_slice *s = &trace->slices[i];
        if (!s->correlation || *s->category || trace->tracks[s->track].kind != PROF_TRACK_THREAD)
            continue;
        s->category = PROF_DRIVER_CALLS;
        calls[nr++] = (struct xla_call) { s->correlation, (int)i };
    }
    qsort(calls, nr, sizeof(*calls), by_correlation);
    return nr;
}

/* The only one of this number; -1: there is none, or more than one. */
static int xla_call_of(const struct xla_call *calls, size_t nr, uint64_t correlation)
{
    size_t low = 0, high = nr;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (calls[middle].correlation < correlation)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == nr || calls[low].correlation != correlation)
        return -1;
    return low + 1 < nr && calls[low + 1].correlation == correlation ? -1 : calls[low].slice;
}

/* XLA writes no flows: that a call launched a kernel stands in the number that both have. Of a
 * sorted trace the calls become calls of the driver. A number that two calls have tells nothing.
 * -1: no memory. */
static int bind_xla(struct prof_trace *trace, const bool *is_xla)
{
    if (!is_xla)
        return 0;
    struct xla_call *calls = memory_zeroed(trace->nr_slices + 1, sizeof(*calls));
    size_t nr = take_xla_calls(trace, calls);
    int rc = 0;

    for (size_t i = 0; i < trace->nr_slices && rc == 0 && nr > 0; i++) {
        const struct prof_slice *s = &trace->slices[i];
        int call = s->correlation && is_xla[s->track] ? xla_call_of(calls, nr, s->correlation) : -1;
        if (call >= 0 && trace->slices[call].start <= s->start &&
            prof_trace_flow(trace, call, (int)i) < 0)
            rc = -1;
    }
    free(calls);
    return rc;
}

/* The base of others may be months before: Kineto's is the beginning of a quarter or so. Then the
 * trace starts with what is first in it. */
static void set_trace_times(struct trace_reader *r)
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
    trace->meta.start = r->has_base && r->is_ours ? 0 : start;
    trace->meta.end = end;
    if (r->has_base &&
        __builtin_add_overflow(trace->meta.epoch_ns, trace->meta.start, &trace->meta.epoch_ns))
        trace->meta.epoch_ns = 0;
}

/* What began and never ended ends where the trace does. */
static void end_open_slices(struct trace_reader *r)
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

/* After the last event: names, times, order, flows, and the check. */
static int finish_trace(struct trace_reader *r, const char *what, struct error *err)
{
    size_t nr = r->trace->nr_slices;
    int *moved = memory_zeroed(nr + 1, sizeof(*moved));
    int *lane_of = memory_zeroed(nr + 1, sizeof(*lane_of));
    char why[256];
    int rc;

    set_track_names(r);
    bool *is_xla = adopt_xla_streams(r->trace);
    set_trace_times(r);
    end_open_slices(r);
    rc = prof_trace_sort(r->trace, moved);
    for (size_t i = 0; i < nr && rc == 0; i++)
        lane_of[moved[i]] = r->lane_of.items[i];
    if (rc == 0)
        rc = bind_flows(r, lane_of);
    if (rc == 0)
        rc = bind_xla(r->trace, is_xla);
    if (rc == 0)
        rc = timeline_name_backward(r->trace);
    timeline_note_losses(r->trace, &(struct activity_list) { .untimed = r->nr_untimed });
    if (rc)
        error_set(err, "%s: no memory for the trace", what);
    else if (prof_trace_check(r->trace, why, sizeof(why)))
        rc = error_set(err, "%s: %s", what, why);
    free(moved);
    free(lane_of);
    free(is_xla);
    return rc;
}

static void release_reader(struct trace_reader *r)
{
    for (size_t i = 0; i < r->lanes.nr; i++)
        array_release(&r->lanes.items[i].open);
    array_release(&r->lanes);
    array_release(&r->processes);
    array_release(&r->points);
    array_release(&r->lane_of);
    array_release(&r->first_lane);
    array_release(&r->numbered);
    prof_map_release(&r->lane_places);
    prof_map_release(&r->process_places);
    prof_map_release(&r->numbered_places);
}

/* ---- texts and files ---- */

/* Before any work is done. 0, or TIMELINE_TOO_LARGE. */
static int check_budget(const char *text, size_t length, const char *what, struct error *err)
{
    size_t nr = length > TIMELINE_BYTES_MOST ? 0 : event_text_count(text, length);

    if (length <= TIMELINE_BYTES_MOST && nr <= TIMELINE_EVENTS_MOST)
        return 0;
    if (nr == 0)
        error_set(err,
                  "%s: %zu MiB of trace; up to %zu are read: record fewer iterations, or cut it",
                  what, (length >> 20) + 1, TIMELINE_BYTES_MOST >> 20);
    else
        error_set(err, "%s: %zu events; up to %d are read: record fewer iterations, or cut it",
                  what, nr, TIMELINE_EVENTS_MOST);
    return TIMELINE_TOO_LARGE;
}

int timeline_parse(const char *text, size_t length, const char *what, struct prof_trace *trace,
                   struct error *err)
{
    struct trace_reader r = { .trace = trace };
    struct event_text t = { .what = what, .text = text, .end = text + length };

    prof_trace_init(trace);
    int rc = check_budget(text, length, what, err);
    if (rc)
        return rc;
    if (timeline_entries_is(text, length))
        return timeline_entries_parse(text, length, what, trace, err);
    rc = event_text_walk(&t, trace_reader_use, &r, err);
    if (rc == 0)
        rc = finish_trace(&r, what, err);
    release_reader(&r);
    if (rc)
        prof_trace_release(trace);
    return rc;
}

static int parse_packed_trace(const char *bytes, size_t length, const char *path,
                              struct prof_trace *trace, struct error *err)
{
    struct strbuf text;

    strbuf_init(&text);
    int rc = gzip_undo(&text, bytes, length, TIMELINE_BYTES_MOST, err);
    rc = rc ? error_prefix(err, "%s", path)
            : timeline_parse(text.data, text.length, path, trace, err);
    strbuf_release(&text);
    return rc;
}

static int read_trace_file(const char *path, struct prof_trace *trace, struct error *err)
{
    struct stat status;
    size_t length;
    char *bytes = file_read(path, TIMELINE_BYTES_MOST, &length, err);

    if (!bytes)
        return stat(path, &status) == 0 && (uintmax_t)status.st_size > TIMELINE_BYTES_MOST
                   ? TIMELINE_TOO_LARGE
                   : -1;
    bool is_packed = length > 2 && !memcmp(bytes, "\x1f\x8b", 2);
    int rc = is_packed ? parse_packed_trace(bytes, length, path, trace, err)
                       : timeline_parse(bytes, length, path, trace, err);
    free(bytes);
    return rc;
}

int timeline_read(const char *path, struct prof_trace *trace, struct error *err)
{
    struct strbuf file;

    prof_trace_init(trace);
    if (!file_is_folder(path))
        return read_trace_file(path, trace, err);
    strbuf_init(&file);
    strbuf_addf(&file, "%s/trace.json", path);
    int rc = read_trace_file(file.data, trace, err);
    strbuf_release(&file);
    return rc;
}
