/* SPDX-License-Identifier: MIT */
#include "timeline/timeline_main.h"

#include "base/memory.h"
#include "timeline/timeline_backward.h"

#include <stdbool.h>
#include <stdlib.h>

int timeline_main_track(const struct prof_trace *trace)
{
    int64_t *covered = memory_zeroed(trace->nr_tracks + 1, sizeof(*covered));
    bool *is_used = memory_zeroed(trace->nr_tracks + 1, sizeof(*is_used));
    int longest = -1, first = -1;

    for (size_t i = 0; i < trace->nr_slices; i++) {
        const struct prof_slice *s = &trace->slices[i];
        covered[s->track] += s->parent == PROF_ROOT ? s->duration : 0;
        is_used[s->track] |= !(s->flags & PROF_INSTANT_POINT);
    }
    for (int i = 0; i < (int)trace->nr_tracks; i++) {
        const struct prof_track *t = &trace->tracks[i];
        if (t->kind != PROF_TRACK_THREAD || !is_used[i])
            continue;
        longest = longest < 0 || covered[i] > covered[longest] ? i : longest;
        first = t->thread == t->process && (first < 0 || covered[i] > covered[first]) ? i : first;
    }
    if (first >= 0 && covered[first] >= covered[longest] - covered[first])
        longest = first;
    free(covered);
    free(is_used);
    return longest;
}

/* ---- what the main thread waits for ---- */

static int64_t main_end(const struct prof_slice *s)
{
    return s->start + s->duration;
}

/* Slices of a track, which lie side by side in a sorted trace. */
struct main_slices {
    const struct prof_slice *slices; /* of the trace */
    size_t first, end;
};

static struct main_slices main_slices_of(const struct prof_trace *trace, int track)
{
    struct main_slices m = { trace->slices, 0, 0 };

    while (m.first < trace->nr_slices && trace->slices[m.first].track != track)
        m.first++;
    for (m.end = m.first; m.end < trace->nr_slices && trace->slices[m.end].track == track; m.end++)
        ;
    return m;
}

/* Whether one of these is under way all the time, and begins and ends nothing in it. */
static bool is_waited_for(const struct main_slices *m, const struct prof_slice *s)
{
    size_t low = m->first, high = m->end;

    while (low < high) { /* the first that begins behind the start of s */
        size_t middle = low + (high - low) / 2;
        if (m->slices[middle].start <= s->start)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < m->end && m->slices[low].start < main_end(s))
        return false;
    int around = low > m->first ? (int)low - 1 : PROF_ROOT;
    while (around >= 0 && main_end(&m->slices[around]) <= s->start)
        around = m->slices[around].parent;
    return around >= 0 && main_end(&m->slices[around]) >= main_end(s);
}

/* By track: whether a scope of the main thread has a flow to another thread's. */
static bool *find_helpers(const struct prof_trace *trace, int thread)
{
    bool *helps = memory_zeroed(trace->nr_tracks + 1, sizeof(*helps));

    for (size_t i = 0; i < trace->nr_flows; i++) {
        int from = trace->slices[trace->flows[i].from].track;
        int to = trace->slices[trace->flows[i].to].track;
        if (from == thread && to != thread && trace->tracks[to].kind == PROF_TRACK_THREAD)
            helps[to] = true;
    }
    return helps;
}

/* By slice, or NULL where there is none. */
static bool *find_joined(const struct prof_trace *trace, int thread)
{
    bool *helps = find_helpers(trace, thread), any = false;
    bool *joined = memory_zeroed(trace->nr_slices + 1, sizeof(*joined));
    const struct main_slices main = main_slices_of(trace, thread);

    for (size_t i = 0; i < trace->nr_slices; i++) {
        const struct prof_slice *s = &trace->slices[i];
        if (!helps[s->track])
            continue;
        joined[i] = s->parent >= 0 ? joined[s->parent]
                                   : timeline_says_backward(s->name) && is_waited_for(&main, s);
        any |= joined[i];
    }
    free(helps);
    if (any)
        return joined;
    free(joined);
    return NULL;
}

/* ---- a part of a trace ---- */

struct copying {
    const struct prof_trace *from;
    struct prof_trace *to;
    int thread;    /* the main one; streams are kept, too */
    bool *joined;  /* by slice: of another thread, and put on the main one; NULL: none is */
    int *track_of; /* -1: not kept */
    int *slice_of;
};

static int copy_track_slices(const struct copying *c)
{
    const struct prof_trace *from = c->from;

    for (size_t i = 0; i < from->nr_slices; i++) {
        struct prof_slice s = from->slices[i];
        bool joins = c->joined && c->joined[i];
        c->slice_of[i] = -1;
        if (c->track_of[s.track] < 0 && !joins)
            continue;
        s.track = joins ? c->track_of[c->thread] : c->track_of[s.track];
        if (joins && s.parent == PROF_ROOT)
            s.parent = PROF_FIND_PARENT;
        s.parent = s.parent >= 0 ? c->slice_of[s.parent] : s.parent;
        c->slice_of[i] = prof_trace_slice(c->to, &s);
        if (c->slice_of[i] < 0)
            return -1;
    }
    for (size_t i = 0; i < from->nr_flows; i++) {
        int a = c->slice_of[from->flows[i].from], b = c->slice_of[from->flows[i].to];
        if (a >= 0 && b >= 0 && prof_trace_flow(c->to, a, b) < 0)
            return -1;
    }
    return 0;
}

static int copy_trace_counters(const struct copying *c)
{
    const struct prof_trace *from = c->from;

    for (size_t i = 0; i < from->nr_counters; i++) {
        if (prof_trace_counter(c->to, &from->counters[i]) < 0)
            return -1;
    }
    for (size_t i = 0; i < from->nr_samples; i++) {
        const struct prof_sample *s = &from->samples[i];
        if (prof_trace_sample(c->to, s->counter, s->time, s->value) < 0)
            return -1;
    }
    return 0;
}

static int copy_tracks(const struct copying *c)
{
    const char *clock = prof_trace_text(c->to, c->from->meta.clock);

    if (c->from->meta.clock && !clock)
        return -1;
    c->to->meta = c->from->meta;
    c->to->meta.clock = clock;
    c->to->meta.note = prof_trace_text(c->to, c->from->meta.note);
    for (size_t i = 0; i < c->from->nr_tracks; i++) {
        const struct prof_track *track = &c->from->tracks[i];
        bool is_kept = (int)i == c->thread || track->kind == PROF_TRACK_STREAM;
        c->track_of[i] = is_kept ? prof_trace_track(c->to, track) : -1;
        if (is_kept && c->track_of[i] < 0)
            return -1;
    }
    return copy_track_slices(c) || copy_trace_counters(c) ? -1 : 0;
}

int timeline_main(const struct prof_trace *trace, struct prof_trace *main, struct error *err)
{
    struct copying c = { .from = trace, .to = main, .thread = timeline_main_track(trace) };

    prof_trace_init(main);
    c.joined = c.thread >= 0 ? find_joined(trace, c.thread) : NULL;
    c.track_of = memory_zeroed(trace->nr_tracks + 1, sizeof(*c.track_of));
    c.slice_of = memory_zeroed(trace->nr_slices + 1, sizeof(*c.slice_of));
    int rc = copy_tracks(&c);
    if (rc == 0 && c.joined)
        rc = prof_trace_sort(main, NULL);
    free(c.joined);
    free(c.track_of);
    free(c.slice_of);
    if (rc == 0)
        return 0;
    prof_trace_release(main);
    return error_set(err, "no memory for a part of a trace with %zu slices", trace->nr_slices);
}
