/* SPDX-License-Identifier: MIT */
/* The order of a trace, and what follows from it: parents, self times, lanes. */
#include "profile/trace.h"

#include <stdlib.h>
#include <string.h>

/* A slice's place before and its keys; equal keys keep their order. */
struct place {
    int64_t start, duration;
    int track, old;
};

static int by_place(const void *a_, const void *b_)
{
    const struct place *a = a_, *b = b_;

    if (a->track != b->track)
        return a->track < b->track ? -1 : 1;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->duration != b->duration)
        return a->duration > b->duration ? -1 : 1;
    return (a->old > b->old) - (a->old < b->old);
}

static int by_time(const void *a_, const void *b_)
{
    const struct prof_sample *a = a_, *b = b_;

    if (a->counter != b->counter)
        return a->counter < b->counter ? -1 : 1;
    return (a->time > b->time) - (a->time < b->time);
}

static int64_t end_of(const struct prof_slice *s)
{
    return s->start + s->duration;
}

/* On a stream kernels run side by side, whatever their times look like: only scopes hold others. */
static int can_hold(const struct prof_trace *trace, const struct prof_slice *s)
{
    if (s->flags & PROF_INSTANT_POINT)
        return 0;
    return trace->tracks[s->track].kind == PROF_TRACK_THREAD ||
           !strcmp(s->category, PROF_GPU_SCOPES);
}

static int slice_holds(const struct prof_trace *trace, const struct prof_slice *outer,
                       const struct prof_slice *inner)
{
    return outer->start <= inner->start && end_of(outer) >= end_of(inner) && can_hold(trace, outer);
}

/* The innermost open slice that holds `s`; `open` are those that had not ended, outermost first. */
static int innermost(const struct prof_trace *trace, const int *open, size_t nr,
                     const struct prof_slice *s)
{
    while (nr && !slice_holds(trace, &trace->slices[open[nr - 1]], s))
        nr--;
    return nr ? open[nr - 1] : PROF_ROOT;
}

/* `open` has room for all slices. */
static void find_parents(struct prof_trace *trace, int *open)
{
    size_t nr = 0;

    for (size_t i = 0; i < trace->nr_slices; i++) {
        struct prof_slice *s = &trace->slices[i];
        while (nr && (trace->slices[open[nr - 1]].track != s->track ||
                      end_of(&trace->slices[open[nr - 1]]) < s->start))
            nr--;
        if (s->parent == PROF_FIND_PARENT)
            s->parent = innermost(trace, open, nr, s);
        open[nr++] = (int)i;
    }
}

/* Puts the slices at their places and fills now[old] = new. */
static void move_slices(struct prof_trace *trace, const struct place *places,
                        struct prof_slice *sorted, int *now)
{
    size_t nr = trace->nr_slices;

    for (size_t i = 0; i < nr; i++) {
        sorted[i] = trace->slices[places[i].old];
        now[places[i].old] = (int)i;
    }
    if (nr)
        memcpy(trace->slices, sorted, nr * sizeof(*sorted));
    for (size_t i = 0; i < nr; i++) {
        struct prof_slice *s = &trace->slices[i];
        if (s->parent >= 0)
            s->parent = now[s->parent];
    }
    for (size_t i = 0; i < trace->nr_flows; i++) {
        trace->flows[i].from = now[trace->flows[i].from];
        trace->flows[i].to = now[trace->flows[i].to];
    }
}

int prof_trace_sort(struct prof_trace *trace, int *moved)
{
    size_t nr = trace->nr_slices;
    struct place *places = calloc(nr + 1, sizeof(*places));
    struct prof_slice *sorted = malloc((nr + 1) * sizeof(*sorted));
    int *now = calloc(nr + 1, sizeof(*now));
    int rc = -1;

    if (!places || !sorted || !now)
        goto out;
    for (size_t i = 0; i < nr; i++) {
        const struct prof_slice *s = &trace->slices[i];
        places[i] = (struct place) { s->start, s->duration, s->track, (int)i };
    }
    qsort(places, nr, sizeof(*places), by_place);
    move_slices(trace, places, sorted, now);
    if (moved)
        memcpy(moved, now, nr * sizeof(*now));
    find_parents(trace, now);
    if (trace->nr_samples)
        qsort(trace->samples, trace->nr_samples, sizeof(*trace->samples), by_time);
    rc = 0;
out:
    free(places);
    free(sorted);
    free(now);
    return rc;
}

void prof_trace_self(const struct prof_trace *trace, int64_t *self)
{
    for (size_t i = 0; i < trace->nr_slices; i++)
        self[i] = trace->slices[i].duration;
    for (size_t i = 0; i < trace->nr_slices; i++) {
        const struct prof_slice *s = &trace->slices[i];
        if (s->parent >= 0)
            self[s->parent] -= s->duration;
    }
}

/* Whether `s` can go on a lane whose innermost open slice is *top, once what has ended is gone. */
static int fits_on_lane(const struct prof_slice *slices, int *top, const int *below,
                        const struct prof_slice *s)
{
    while (*top >= 0 && *top != s->parent && end_of(&slices[*top]) <= s->start)
        *top = below[*top];
    return *top < 0 || *top == s->parent;
}

/* The lane of the parent where there is room, else the first that has. `tops` are those of the
 * lanes of the track in hand. */
static size_t lane_of(const struct prof_slice *slices, int *tops, size_t nr, const int *below,
                      const int *lanes, const struct prof_slice *s)
{
    size_t lane = s->parent >= 0 ? (size_t)lanes[s->parent] : 0;

    if (s->parent >= 0 && fits_on_lane(slices, &tops[lane], below, s))
        return lane;
    for (lane = 0; lane < nr; lane++) {
        if (fits_on_lane(slices, &tops[lane], below, s) && tops[lane] < 0)
            return lane;
    }
    return nr;
}

int prof_trace_lanes(const struct prof_trace *trace, int *lanes)
{
    int *below = calloc(trace->nr_slices + 1, sizeof(*below));
    int *tops = calloc(trace->nr_slices + 1, sizeof(*tops));
    size_t nr = 0;
    int rc = -1;

    if (!below || !tops)
        goto out;
    for (size_t i = 0; i < trace->nr_slices; i++) {
        const struct prof_slice *s = &trace->slices[i];
        if (i == 0 || s->track != trace->slices[i - 1].track)
            nr = 0;
        if (nr == 0)
            tops[nr++] = PROF_ROOT;
        /* What has no length takes no room: where a clock is coarse, it begins with others. */
        if (s->duration == 0) {
            lanes[i] = s->parent >= 0 ? lanes[s->parent] : 0;
            continue;
        }
        size_t lane = lane_of(trace->slices, tops, nr, below, lanes, s);
        if (lane == nr)
            tops[nr++] = PROF_ROOT;
        below[i] = tops[lane];
        tops[lane] = (int)i;
        lanes[i] = (int)lane;
    }
    rc = 0;
out:
    free(below);
    free(tops);
    return rc;
}
