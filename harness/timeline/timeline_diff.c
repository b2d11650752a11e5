/* SPDX-License-Identifier: MIT */
#include "timeline/timeline_diff.h"

#include "base/array.h"
#include "base/memory.h"
#include "profile/export.h"
#include "profile/json_text.h"
#include "profile/name_map.h"
#include "profile/nesting.h"
#include "timeline/timeline_layers.h"
#include "timeline/timeline_main.h"
#include "timeline/timeline_typical.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct diff_rows {
    struct diff_row *items;
    size_t nr, capacity;
    struct prof_map places; /* by name and side */
};

/* `name` is the diff's own. NULL: no memory. */
static struct diff_row *diff_row_of(struct diff_rows *rows, const char *name, enum prof_side side)
{
    int *at = prof_map_name(&rows->places, name, side, -1);

    if (!at || *at >= 0)
        return at ? &rows->items[*at] : NULL;
    *at = (int)rows->nr;
    struct diff_row *row = array_push(rows);
    row->name = name;
    row->side = side;
    row->median[0] = row->median[1] = row->change_of[0] = row->change_of[1] = NAN;
    return row;
}

static int add_diff_rows(struct timeline_diff *diff, const struct prof_trace *main, int which,
                         struct diff_rows *rows)
{
    struct prof_summary summary;
    double iterations = diff->iterations[which];
    int rc = prof_summarise(main, &summary);

    for (size_t i = 0; i < summary.nr_rows && rc == 0; i++) {
        const struct prof_row *from = &summary.rows[i];
        const char *name = prof_trace_text(&diff->names, from->name);
        struct diff_row *row = name ? diff_row_of(rows, name, from->side) : NULL;
        rc = row ? 0 : -1;
        if (rc)
            break;
        row->calls[which] = (double)from->calls / iterations;
        row->self[which] = (double)from->self / iterations;
        row->total[which] = (double)from->total / iterations;
        diff->total[from->side][which] += row->self[which];
    }
    prof_summary_release(&summary);
    return rc;
}

static int by_side_and_change(const void *a_, const void *b_)
{
    const struct diff_row *a = a_, *b = b_;
    double x = fabs(a->change), y = fabs(b->change);

    if (a->side != b->side)
        return a->side < b->side ? -1 : 1;
    if (x < y || x > y)
        return x > y ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* ---- medians over iterations ---- */

/* Of a difference, from the intervals of both (Zou and Donner 2008, "Construction of confidence
 * limits about effect measures": the method of variance estimates recovery). */
static void set_change_interval(struct diff_row *row, const struct timeline_middle *before,
                                const struct timeline_middle *after)
{
    double change = after->median - before->median;

    row->change_of[0] = change - hypot(after->median - after->low, before->high - before->median);
    row->change_of[1] = change + hypot(after->high - after->median, before->median - before->low);
}

/* The middles of rows, by row; of the host where iterations are known. */
struct diff_middles {
    struct timeline_middle *items[2];
    size_t nr;
};

static void take_middle(struct timeline_diff *diff, struct diff_rows *rows,
                        struct diff_middles *middles, const char *name, int which,
                        const int64_t *ns, const int64_t *launch, size_t nr)
{
    const char *own = prof_trace_text(&diff->names, name);
    const struct diff_row *row = own ? diff_row_of(rows, own, PROF_HOST) : NULL;

    if (row && (size_t)(row - rows->items) < middles->nr)
        middles->items[which][row - rows->items] = timeline_middle_without(ns, launch, nr);
}

static void take_middles(struct timeline_diff *diff, struct diff_rows *rows,
                         struct diff_middles *middles, const struct timeline_layers layers[2])
{
    for (int which = 0; which < 2; which++) {
        const struct timeline_layers *l = &layers[which];
        middles->items[which] = memory_zeroed(middles->nr + 1, sizeof(struct timeline_middle));
        for (size_t i = 0; i < middles->nr; i++)
            middles->items[which][i] =
                (struct timeline_middle) { 0, 0, 0, 0 }; /* not there: no time */
        for (size_t i = 0; i < l->nr; i++)
            take_middle(diff, rows, middles, l->items[i].name, which, l->items[i].self_ns,
                        l->items[i].launch_ns, l->nr_iterations);
        take_middle(diff, rows, middles, l->iteration, which, l->rest_ns, l->rest_launch_ns,
                    l->nr_iterations);
        diff->iteration[which] = timeline_middle_of(l->ns, l->nr_iterations).median;
    }
}

/* Where an operation is in no iteration (or there was no room for it) its mean is all there is. */
static void set_middles(struct diff_rows *rows, const struct diff_middles *middles)
{
    for (size_t i = 0; i < middles->nr; i++) {
        struct diff_row *row = &rows->items[i];
        const struct timeline_middle *before = &middles->items[0][i],
                                     *after = &middles->items[1][i];
        bool is_left_out = (before->median <= 0 && row->self[0] > 0 && after->median <= 0) ||
                           (after->median <= 0 && row->self[1] > 0 && before->median <= 0);
        if (row->side != PROF_HOST || is_left_out)
            continue;
        row->median[0] = before->median;
        row->median[1] = after->median;
        set_change_interval(row, before, after);
    }
}

/* What is compared: the same iterations on both sides, several of each. */
static void add_middles(struct timeline_diff *diff, struct diff_rows *rows,
                        const struct timeline_layers layers[2])
{
    struct diff_middles middles = { .nr = rows->nr };

    for (int which = 0; which < 2; which++)
        if (layers[which].nr_iterations < 2)
            return;
    if (strcmp(layers[0].iteration, layers[1].iteration) != 0)
        return;
    take_middles(diff, rows, &middles, layers);
    set_middles(rows, &middles);
    free(middles.items[0]);
    free(middles.items[1]);
}

static void set_changes(struct diff_rows *rows)
{
    double all[2] = { 0 };

    for (size_t i = 0; i < rows->nr; i++) {
        struct diff_row *row = &rows->items[i];
        row->change =
            isnan(row->median[0]) ? row->self[1] - row->self[0] : row->median[1] - row->median[0];
        all[row->side] += fabs(row->change);
    }
    for (size_t i = 0; i < rows->nr; i++) {
        struct diff_row *row = &rows->items[i];
        row->share = all[row->side] > 0 ? row->change / all[row->side] : 0;
    }
    if (rows->nr)
        qsort(rows->items, rows->nr, sizeof(*rows->items), by_side_and_change);
}

/* ---- stacks as one tree of names ---- */

/* All 0 is an empty one. */
struct diff_frames {
    struct diff_frame *items;
    size_t nr, capacity;
    struct prof_map places; /* by name and parent */
};

/* The frame of that name above `parent` (-1: outermost), made if need be. -1: no memory. */
static int frame_of(struct diff_frames *f, int parent, const char *name)
{
    int *at = prof_map_name(&f->places, name, (uint64_t)parent, -1);

    if (!at || *at >= 0)
        return at ? *at : -1;
    f->items = array_grow(f->items, f->nr, &f->capacity, sizeof(*f->items));
    *at = (int)f->nr++;
    f->items[*at] = (struct diff_frame) { .name = name,
                                          .parent = parent,
                                          .depth = parent < 0 ? 0 : f->items[parent].depth + 1 };
    return *at;
}

/* Adds self times of a sorted trace, over `iterations`, to the frames of the host and the device,
 * as [which]. -1: no memory. */
static int add_frames(struct diff_frames frames[2], const struct prof_trace *trace, int which,
                      double iterations, struct prof_trace *names)
{
    int64_t *self = memory_zeroed(trace->nr_slices + 1, sizeof(*self));
    int *frame = memory_zeroed(trace->nr_slices + 1, sizeof(*frame));
    int rc = prof_trace_self(trace, self);

    for (size_t i = 0; i < trace->nr_slices && rc == 0; i++) {
        const struct prof_slice *s = &trace->slices[i];
        const char *name = prof_trace_text(names, s->name);
        bool is_stream = trace->tracks[s->track].kind == PROF_TRACK_STREAM;
        struct diff_frames *f = &frames[is_stream ? PROF_DEVICE : PROF_HOST];
        rc = name ? 0 : -1;
        if (rc || (s->flags & PROF_INSTANT_POINT))
            continue;
        frame[i] = frame_of(f, s->parent >= 0 ? frame[s->parent] : -1, name);
        rc = frame[i] < 0 ? -1 : 0;
        if (rc)
            break;
        f->items[frame[i]].self[which] += self[i] > 0 ? (double)self[i] / iterations : 0;
    }
    free(self);
    free(frame);
    return rc;
}

/* Sums up totals and hands over the frames; the rest is released. */
static struct diff_frame *take_frames(struct diff_frames *f, size_t *nr)
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
    prof_map_release(&f->places);
    *f = (struct diff_frames) { 0 };
    return items;
}

/* ---- both ---- */

/* Of each side; one iteration, without any operations, where there are none. */
static void find_layers(const struct prof_trace mains[2], struct timeline_layers layers[2],
                        double iterations[2])
{
    struct error none;

    for (int which = 0; which < 2; which++) {
        if (timeline_layers(&mains[which], -1, NULL, &layers[which], &none))
            layers[which] = (struct timeline_layers) { .nr_iterations = 0 };
        iterations[which] = layers[which].nr_iterations ? (double)layers[which].nr_iterations : 1;
    }
}

/* Medians are of what the rows are made of: of the main parts, in which a backward pass is the main
 * thread's. -1: no memory. */
static int fill_diff(struct timeline_diff *diff, const struct prof_trace mains[2],
                     const double iterations[2], struct diff_rows *rows,
                     struct diff_frames frames[2])
{
    struct timeline_layers layers[2];
    int rc = 0;

    find_layers(mains, layers, diff->iterations);
    if (iterations)
        memcpy(diff->iterations, iterations, sizeof(diff->iterations));
    for (int which = 0; which < 2 && rc == 0; which++) {
        rc = add_diff_rows(diff, &mains[which], which, rows);
        if (rc == 0)
            rc = add_frames(frames, &mains[which], which, diff->iterations[which], &diff->names);
    }
    if (rc == 0 && !iterations)
        add_middles(diff, rows, layers);
    for (int which = 0; which < 2; which++)
        timeline_layers_release(&layers[which]);
    return rc;
}

int timeline_diff(const struct prof_trace *before, const struct prof_trace *after,
                  const double iterations[2], struct timeline_diff *diff, struct error *err)
{
    const struct prof_trace *const traces[2] = { before, after };
    struct prof_trace mains[2];
    struct diff_rows rows = { .nr = 0 };
    struct diff_frames frames[2] = { 0 };
    int rc = 0;

    *diff = (struct timeline_diff) { .iteration = { NAN, NAN } };
    prof_trace_init(&diff->names);
    for (int which = 0; which < 2; which++)
        prof_trace_init(&mains[which]);
    for (int which = 0; which < 2 && rc == 0; which++)
        rc = timeline_main(traces[which], &mains[which], err);
    if (rc == 0 && fill_diff(diff, mains, iterations, &rows, frames))
        rc = error_set(err, "no memory for the difference of two traces");
    set_changes(&rows);
    prof_map_release(&rows.places);
    diff->rows = rows.items;
    diff->nr_rows = rows.nr;
    for (int side = 0; side < 2; side++) {
        diff->frames[side] = take_frames(&frames[side], &diff->nr_frames[side]);
        prof_trace_release(&mains[side]);
    }
    if (rc)
        timeline_diff_release(diff);
    return rc;
}

void timeline_diff_release(struct timeline_diff *diff)
{
    free(diff->rows);
    free(diff->frames[PROF_HOST]);
    free(diff->frames[PROF_DEVICE]);
    prof_trace_release(&diff->names);
    *diff = (struct timeline_diff) { 0 };
    prof_trace_init(&diff->names);
}

static void add_frame_name(struct strbuf *out, const char *name)
{
    while (*name) {
        size_t nr;
        const char *character = prof_folded_character(&name, &nr);
        strbuf_add(out, character, nr);
    }
}

static void add_frame_stack(struct strbuf *out, const struct diff_frame *frames, int n, int *path)
{
    int nr = 0;

    for (; n >= 0; n = frames[n].parent)
        path[nr++] = n;
    while (nr-- > 0) {
        add_frame_name(out, frames[path[nr]].name);
        if (nr)
            strbuf_addc(out, ';');
    }
}

/* Self times that a line tells. */
struct folded_self {
    double before, after;
};

static void add_folded_line(struct strbuf *out, const struct diff_frame *frames, int n, int *path,
                            const char *behind, const struct folded_self *self)
{
    double before = round(self->before), after = round(self->after);

    if (before <= 0 && after <= 0)
        return;
    add_frame_stack(out, frames, n, path);
    strbuf_addf(out, "%s %.0f %.0f\n", behind, before, after);
}

/* Depth of the deepest stacks that are written. */
static int folded_depth(const struct diff_frame *frames, size_t nr)
{
    struct prof_stack *stacks = memory_zeroed(nr + 1, sizeof(*stacks));

    for (size_t i = 0; i < nr; i++)
        stacks[i] =
            (struct prof_stack) { frames[i].parent, frames[i].depth, strlen(frames[i].name) };
    int from = prof_stacks_depth(stacks, nr, PROF_FOLDED_BYTES, 1);
    free(stacks);
    return from < 1 ? 0 : from - 1;
}

void timeline_diff_folded(const struct timeline_diff *diff, enum prof_side side, struct strbuf *out)
{
    const struct diff_frame *frames = diff->frames[side];
    size_t nr = diff->nr_frames[side];
    int depth = folded_depth(frames, nr);
    int *around = memory_zeroed(nr + 1, sizeof(*around)); /* itself, or what it is cut at */
    int *path = memory_zeroed(nr + 1, sizeof(*path));
    struct folded_self *deeper = memory_zeroed(nr + 1, sizeof(*deeper));

    for (size_t i = 0; i < nr; i++) {
        const struct diff_frame *f = &frames[i];
        around[i] = f->depth > depth ? around[f->parent] : (int)i;
        if (f->depth <= depth)
            continue;
        deeper[around[i]].before += f->self[0];
        deeper[around[i]].after += f->self[1];
    }
    for (size_t i = 0; i < nr; i++) {
        const struct folded_self own = { frames[i].self[0], frames[i].self[1] };
        if (frames[i].depth > depth)
            continue;
        add_folded_line(out, frames, (int)i, path, "", &own);
        add_folded_line(out, frames, (int)i, path, ";[deeper]", &deeper[i]);
    }
    free(around);
    free(path);
    free(deeper);
}
