/* SPDX-License-Identifier: MIT */
#include "timeline/diff_frames.h"

#include "base/array.h"
#include "base/memory.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* The frame of that name above `parent` (-1: outermost), made if need be. */
static int frame_of(struct frames *f, int parent, const char *name)
{
    int n = parent < 0 ? f->first - 1 : f->links[parent].child;

    while (n >= 0 && f->items[n].name != name)
        n = f->links[n].sibling;
    if (n >= 0)
        return n;
    f->links = array_grow(f->links, f->nr, &f->links_capacity, sizeof(*f->links));
    f->items = array_grow(f->items, f->nr, &f->capacity, sizeof(*f->items));
    n = (int)f->nr++;
    f->items[n] = (struct diff_frame) { .name = name,
                                        .parent = parent,
                                        .depth = parent < 0 ? 0 : f->items[parent].depth + 1 };
    f->links[n] = (struct frame_links) { -1, parent < 0 ? f->first - 1 : f->links[parent].child };
    if (parent < 0)
        f->first = n + 1;
    else
        f->links[parent].child = n;
    return n;
}

int diff_frames_add(struct frames frames[2], const struct prof_trace *trace, int which,
                    double iterations, struct prof_trace *names)
{
    int64_t *self = memory_zeroed(trace->nr_slices + 1, sizeof(*self));
    int *frame = memory_zeroed(trace->nr_slices + 1, sizeof(*frame));
    int rc = 0;

    prof_trace_self(trace, self);
    for (size_t i = 0; i < trace->nr_slices && rc == 0; i++) {
        const struct prof_slice *s = &trace->slices[i];
        const char *name = prof_trace_text(names, s->name);
        bool is_stream = trace->tracks[s->track].kind == PROF_TRACK_STREAM;
        struct frames *f = &frames[is_stream ? PROF_DEVICE : PROF_HOST];
        rc = name ? 0 : -1;
        if (rc || (s->flags & PROF_INSTANT_POINT))
            continue;
        frame[i] = frame_of(f, s->parent >= 0 ? frame[s->parent] : -1, name);
        f->items[frame[i]].self[which] += self[i] > 0 ? (double)self[i] / iterations : 0;
    }
    free(self);
    free(frame);
    return rc;
}

struct diff_frame *diff_frames_take(struct frames *f, size_t *nr)
{
    struct diff_frame *items = f->items;

    *nr = f->nr;
    for (size_t i = f->nr; i-- > 0;) {
        for (int which = 0; which < 2; which++) {
            items[i].total[which] += items[i].self[which];
            if (items[i].parent >= 0)
                items[items[i].parent].total[which] += items[i].total[which];
        }
    }
    free(f->links);
    *f = (struct frames) { 0 };
    return items;
}

static void add_name(struct strbuf *out, const char *name)
{
    for (; *name; name++)
        strbuf_addc(out, *name == ';' || (unsigned char)*name <= ' ' ? '_' : *name);
}

static void add_stack(struct strbuf *out, const struct diff_frame *frames, int n)
{
    if (frames[n].parent >= 0) {
        add_stack(out, frames, frames[n].parent);
        strbuf_addc(out, ';');
    }
    add_name(out, frames[n].name);
}

void timeline_diff_folded(const struct timeline_diff *diff, enum prof_side side, struct strbuf *out)
{
    for (size_t i = 0; i < diff->nr_frames[side]; i++) {
        const struct diff_frame *f = &diff->frames[side][i];
        double before = round(f->self[0]), after = round(f->self[1]);
        if (before <= 0 && after <= 0)
            continue;
        add_stack(out, diff->frames[side], (int)i);
        strbuf_addf(out, " %.0f %.0f\n", before, after);
    }
}
