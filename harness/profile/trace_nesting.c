/* SPDX-License-Identifier: MIT */
/* The order of a trace, and what follows from it: parents, self times, lanes. */
#include "profile/nesting.h"
#include "profile/trace.h"

#include <stdlib.h>
#include <string.h>

/* A slice's place before and its keys; equal keys keep their order. */
struct place {
    int64_t start, duration;
    int track, old;
    int is_held; /* work on a stream: behind a scope that is as long */
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
    if (a->is_held != b->is_held)
        return a->is_held - b->is_held;
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

static int is_stream_work(const struct prof_trace *trace, const struct prof_slice *s)
{
    return trace->tracks[s->track].kind == PROF_TRACK_STREAM && !(s->flags & PROF_INSTANT_POINT) &&
           strcmp(s->category, PROF_GPU_SCOPES) != 0;
}

/* On a stream kernels run side by side, whatever their times look like: only scopes hold others. */
static int can_hold(const struct prof_trace *trace, const struct prof_slice *s)
{
    if (s->flags & PROF_INSTANT_POINT)
        return 0;
    return trace->tracks[s->track].kind == PROF_TRACK_THREAD ||
           !strcmp(s->category, PROF_GPU_SCOPES);
}

/* The innermost open slice that holds `s`. `open` are those that can: each ends before the one
 * under it does, since a later one that ends no earlier hides what is under it. */
static int find_innermost(const struct prof_trace *trace, const int *open, size_t nr,
                          const struct prof_slice *s)
{
    size_t low = 0;

    while (low < nr) {
        size_t middle = low + (nr - low) / 2;
        if (end_of(&trace->slices[open[middle]]) >= end_of(s))
            low = middle + 1;
        else
            nr = middle;
    }
    return low ? open[low - 1] : PROF_ROOT;
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
            s->parent = find_innermost(trace, open, nr, s);
        if (!can_hold(trace, s))
            continue;
        while (nr && end_of(&trace->slices[open[nr - 1]]) <= end_of(s))
            nr--;
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
        places[i] =
            (struct place) { s->start, s->duration, s->track, (int)i, is_stream_work(trace, s) };
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

/* By device: whether its work was recorded, not only scopes as streams saw them. */
static void find_device_work(const struct prof_trace *trace, unsigned char has_work[PROF_DEVICES])
{
    memset(has_work, 0, PROF_DEVICES);
    for (size_t i = 0; i < trace->nr_slices; i++) {
        const struct prof_slice *s = &trace->slices[i];
        const struct prof_track *track = &trace->tracks[s->track];
        if (track->kind == PROF_TRACK_STREAM && track->device >= 0 &&
            track->device < PROF_DEVICES && strcmp(s->category, PROF_GPU_SCOPES) != 0)
            has_work[track->device] = 1;
    }
}

static void take_work_from_scopes(const struct prof_trace *trace, int64_t *self)
{
    unsigned char has_work[PROF_DEVICES];

    find_device_work(trace, has_work);
    for (size_t i = 0; i < trace->nr_slices; i++) {
        const struct prof_slice *s = &trace->slices[i];
        const struct prof_track *track = &trace->tracks[s->track];
        if (track->kind == PROF_TRACK_STREAM && track->device >= 0 &&
            track->device < PROF_DEVICES && has_work[track->device] &&
            !strcmp(s->category, PROF_GPU_SCOPES))
            self[i] = 0;
    }
}

/* How far a stream's work has got, slice by slice. */
struct stream_work {
    int track;
    int64_t until;
};

/* Without the time in which it waited for the work in front of it. */
static int64_t busy_time(struct stream_work *w, const struct prof_slice *s)
{
    if (s->track != w->track)
        *w = (struct stream_work) { s->track, INT64_MIN };
    if (end_of(s) <= w->until) /* nobody waited here: they ran side by side */
        return s->duration;
    int64_t start = s->start > w->until ? s->start : w->until;
    w->until = end_of(s);
    return w->until - start;
}

void prof_trace_busy(const struct prof_trace *trace, int64_t *ns)
{
    struct stream_work w = { -1, INT64_MIN };

    for (size_t i = 0; i < trace->nr_slices; i++)
        ns[i] = is_stream_work(trace, &trace->slices[i]) ? busy_time(&w, &trace->slices[i]) : 0;
}

/* Of a slice within the one that holds it: what no earlier one there has covered. `until` is by
 * slice how far those in it have got. */
static int64_t fresh_time(const struct prof_slice *s, int64_t *until)
{
    int64_t *to = &until[s->parent], end = end_of(s);
    int64_t from = s->start > *to ? s->start : *to;
    *to = end > *to ? end : *to;
    return end > from ? end - from : 0;
}

/* -1: no memory. */
static int take_children(const struct prof_trace *trace, int64_t *self)
{
    int64_t *until = malloc((trace->nr_slices + 1) * sizeof(*until));

    if (!until)
        return -1;
    for (size_t i = 0; i < trace->nr_slices; i++)
        until[i] = INT64_MIN;
    for (size_t i = 0; i < trace->nr_slices; i++)
        if (trace->slices[i].parent >= 0)
            self[trace->slices[i].parent] -= fresh_time(&trace->slices[i], until);
    free(until);
    return 0;
}

int prof_trace_self(const struct prof_trace *trace, int64_t *self)
{
    struct stream_work w = { -1, INT64_MIN };

    for (size_t i = 0; i < trace->nr_slices; i++)
        self[i] = is_stream_work(trace, &trace->slices[i]) ? busy_time(&w, &trace->slices[i])
                                                           : trace->slices[i].duration;
    if (take_children(trace, self))
        return -1;
    take_work_from_scopes(trace, self);
    return 0;
}

/* ---- lanes ---- */

/* Lanes as a heap, the least key on top. */
struct lane_heap {
    struct lane_key {
        int64_t key;
        int lane;
    } * items;
    size_t nr;
};

static void lane_heap_add(struct lane_heap *heap, int64_t key, int lane)
{
    size_t i = heap->nr++;

    for (; i && heap->items[(i - 1) / 2].key > key; i = (i - 1) / 2)
        heap->items[i] = heap->items[(i - 1) / 2];
    heap->items[i] = (struct lane_key) { key, lane };
}

static struct lane_key lane_heap_take(struct lane_heap *heap)
{
    struct lane_key top = heap->items[0], last = heap->items[--heap->nr];
    size_t i = 0;

    for (size_t k = 1; k < heap->nr; k = 2 * i + 1) {
        k += k + 1 < heap->nr && heap->items[k + 1].key < heap->items[k].key;
        if (heap->items[k].key >= last.key)
            break;
        heap->items[i] = heap->items[k];
        i = k;
    }
    if (heap->nr)
        heap->items[i] = last;
    return top;
}

/* Lanes of the track in hand. Each is in one of the heaps: `busy` by when its outermost slice ends,
 * `idle` by number. */
struct laning {
    const struct prof_slice *slices;
    int *tops;  /* by lane: the innermost open slice; PROF_ROOT */
    int *below; /* by slice: what is open around it on its lane */
    int nr;
    struct lane_heap busy, idle;
};

/* Whether it can go on its parent's lane, once what has ended there is gone. */
static int fits_on_lane(const struct laning *l, int *top, const struct prof_slice *s)
{
    while (*top >= 0 && *top != s->parent && end_of(&l->slices[*top]) <= s->start)
        *top = l->below[*top];
    return *top == s->parent;
}

/* The lane of the parent where there is room, else the first that is idle. */
static int lane_of(struct laning *l, const int *lanes, const struct prof_slice *s)
{
    if (s->parent >= 0 && fits_on_lane(l, &l->tops[lanes[s->parent]], s))
        return lanes[s->parent];
    while (l->busy.nr && l->busy.items[0].key <= s->start) {
        int lane = lane_heap_take(&l->busy).lane;
        lane_heap_add(&l->idle, lane, lane);
    }
    int lane = l->idle.nr ? lane_heap_take(&l->idle).lane : l->nr++;
    l->tops[lane] = PROF_ROOT;
    lane_heap_add(&l->busy, end_of(s), lane);
    return lane;
}

static void lay_slices(struct laning *l, size_t nr, int *lanes)
{
    for (size_t i = 0; i < nr; i++) {
        const struct prof_slice *s = &l->slices[i];
        if (i == 0 || s->track != l->slices[i - 1].track)
            l->nr = (int)(l->busy.nr = l->idle.nr = 0);
        /* What has no length takes no room: where a clock is coarse, it begins with others. */
        if (s->duration == 0) {
            lanes[i] = s->parent >= 0 ? lanes[s->parent] : 0;
            continue;
        }
        lanes[i] = lane_of(l, lanes, s);
        l->below[i] = l->tops[lanes[i]];
        l->tops[lanes[i]] = (int)i;
    }
}

int prof_trace_lanes(const struct prof_trace *trace, int *lanes)
{
    size_t nr = trace->nr_slices + 1;
    struct laning l = { .slices = trace->slices,
                        .tops = calloc(nr, sizeof(int)),
                        .below = calloc(nr, sizeof(int)),
                        .busy = { calloc(nr, sizeof(struct lane_key)), 0 },
                        .idle = { calloc(nr, sizeof(struct lane_key)), 0 } };
    int rc = l.tops && l.below && l.busy.items && l.idle.items ? 0 : -1;

    if (rc == 0)
        lay_slices(&l, trace->nr_slices, lanes);
    free(l.tops);
    free(l.below);
    free(l.busy.items);
    free(l.idle.items);
    return rc;
}

/* ---- trees that need not be traces (nesting.h) ---- */

/* Children of each as lists; child[nr] is the first of the outermost. */
static void list_children(const int *parent, size_t nr, int *child, int *sibling)
{
    for (size_t k = 0; k <= nr; k++)
        child[k] = -1;
    for (size_t k = nr; k-- > 0;) {
        int *first = &child[parent[k] >= 0 ? (size_t)parent[k] : nr];
        sibling[k] = *first;
        *first = (int)k;
    }
}

/* Down and up again; `open` are those of each group on the way from the outermost to `i`. */
static void walk_down(const int *parent, const int *group, size_t nr, const int *child,
                      const int *sibling, unsigned *open, unsigned char *alike)
{
    for (int i = child[nr]; i >= 0;) {
        alike[i] = group[i] >= 0 && open[group[i]] > 0;
        if (group[i] >= 0)
            open[group[i]]++;
        if (child[i] >= 0) {
            i = child[i];
            continue;
        }
        for (;; i = parent[i]) {
            if (group[i] >= 0)
                open[group[i]]--;
            if (sibling[i] >= 0 || parent[i] < 0)
                break;
        }
        i = sibling[i];
    }
}

int prof_nested_alike(const int *parent, const int *group, size_t nr, unsigned char *alike)
{
    int *child = malloc((nr + 1) * sizeof(*child)), *sibling = malloc((nr + 1) * sizeof(*sibling));
    unsigned *open = calloc(nr + 1, sizeof(*open));
    int rc = child && sibling && open ? 0 : -1;

    if (rc == 0) {
        list_children(parent, nr, child, sibling);
        walk_down(parent, group, nr, child, sibling, open, alike);
    }
    free(child);
    free(sibling);
    free(open);
    return rc;
}

int prof_stacks_depth(const struct prof_stack *stacks, size_t nr, size_t bytes, int least)
{
    size_t *length = calloc(nr + 1, sizeof(*length)); /* of the line */
    size_t *at_depth = calloc(nr + 1, sizeof(*at_depth)), sum = 0;
    int depth = -1;

    for (size_t i = 0; length && at_depth && i < nr; i++) {
        const struct prof_stack *s = &stacks[i];
        length[i] = (s->parent >= 0 ? length[s->parent] : 0) + s->length + 1;
        at_depth[s->depth] += length[i];
    }
    for (depth = length && at_depth ? 0 : -1; depth >= 0 && (size_t)depth < nr; depth++) {
        sum += at_depth[depth];
        if (sum > bytes && depth > least)
            break;
    }
    free(length);
    free(at_depth);
    return depth;
}
