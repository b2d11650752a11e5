/* SPDX-License-Identifier: MIT */
/* Flows of a trace file: points in time on a lane, to be bound to slices. */
#include "base/memory.h"
#include "timeline/trace_reader.h"

#include <stdlib.h>

/* Slices of the lanes, by lane and then as the trace has them: by start, the longer first. */
struct laned {
    int lane, slice;
    int64_t start;
};

struct binding {
    const struct prof_trace *trace;
    struct laned *slices;
    size_t nr;
};

static int by_lane(const void *a_, const void *b_)
{
    const struct laned *a = a_, *b = b_;

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
static size_t rank_of(const struct binding *b, int lane, int64_t time, bool inclusive)
{
    size_t low = 0, high = b->nr;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct laned *l = &b->slices[middle];
        if (l->lane < lane ||
            (l->lane == lane && (l->start < time || (inclusive && l->start == time))))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The slice that a point is about; -1: none. */
static int bind(const struct binding *b, const struct flow_point *p)
{
    size_t at = rank_of(b, p->lane, p->time, p->is_enclosing);
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
static int by_correlation(const struct prof_trace *trace, int from, int to)
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

static int add_flows(struct trace_reader *r, const struct binding *b)
{
    const struct prof_slice *slices = r->trace->slices;
    const char *key = NULL;
    int before = -1;

    for (size_t i = 0; i < r->points.nr; i++) {
        const struct flow_point *p = &r->points.items[i];
        int here = bind(b, p);
        int from = p->key == key && p->phase != 's' ? before : -1;
        if (from >= 0 && here >= 0 && here != from && slices[here].start >= slices[from].start &&
            prof_trace_flow(r->trace, by_correlation(r->trace, from, here), here) < 0)
            return -1;
        key = p->key;
        before = p->phase == 'f' ? -1 : here;
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

int trace_reader_flows(struct trace_reader *r, const int *lane_of)
{
    struct binding b = { .trace = r->trace };

    b.slices = memory_zeroed(r->trace->nr_slices + 1, sizeof(*b.slices));
    for (size_t i = 0; i < r->trace->nr_slices; i++) {
        const struct prof_slice *s = &r->trace->slices[i];
        if (!(s->flags & PROF_INSTANT_POINT))
            b.slices[b.nr++] = (struct laned) { lane_of[i], (int)i, s->start };
    }
    qsort(b.slices, b.nr, sizeof(*b.slices), by_lane);
    if (r->points.nr)
        qsort(r->points.items, r->points.nr, sizeof(*r->points.items), by_key_and_time);
    int rc = add_flows(r, &b);
    if (r->trace->nr_flows)
        qsort(r->trace->flows, r->trace->nr_flows, sizeof(*r->trace->flows), by_ends);
    free(b.slices);
    return rc;
}
