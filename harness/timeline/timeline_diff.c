/* SPDX-License-Identifier: MIT */
#include "timeline/timeline_diff.h"

#include "base/array.h"
#include "timeline/diff_frames.h"
#include "timeline/timeline_layers.h"
#include "timeline/timeline_main.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct rows {
    struct diff_row *items;
    size_t nr, capacity;
};

static double iterations_of(const struct prof_trace *trace)
{
    struct timeline_layers layers;
    struct error none;
    double nr = 1;

    if (timeline_layers(trace, -1, NULL, &layers, &none) == 0) {
        nr = (double)layers.nr_iterations;
        timeline_layers_release(&layers);
    }
    return nr;
}

/* `name` is the diff's own. */
static struct diff_row *row_of(struct rows *rows, const char *name, enum prof_side side)
{
    for (size_t i = 0; i < rows->nr; i++) {
        if (rows->items[i].name == name && rows->items[i].side == side)
            return &rows->items[i];
    }
    struct diff_row *row = array_push(rows);
    row->name = name;
    row->side = side;
    return row;
}

static int add_rows(struct timeline_diff *diff, const struct prof_trace *main, int which,
                    struct rows *rows)
{
    struct prof_summary summary;
    double iterations = diff->iterations[which];
    int rc = prof_summarise(main, &summary);

    for (size_t i = 0; i < summary.nr_rows && rc == 0; i++) {
        const struct prof_row *from = &summary.rows[i];
        const char *name = prof_trace_text(&diff->names, from->name);
        rc = name ? 0 : -1;
        if (rc)
            break;
        struct diff_row *row = row_of(rows, name, from->side);
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

static void set_changes(struct rows *rows)
{
    double all[2] = { 0 };

    for (size_t i = 0; i < rows->nr; i++) {
        struct diff_row *row = &rows->items[i];
        row->change = row->self[1] - row->self[0];
        all[row->side] += fabs(row->change);
    }
    for (size_t i = 0; i < rows->nr; i++) {
        struct diff_row *row = &rows->items[i];
        row->share = all[row->side] > 0 ? row->change / all[row->side] : 0;
    }
    if (rows->nr)
        qsort(rows->items, rows->nr, sizeof(*rows->items), by_side_and_change);
}

static int add_trace(struct timeline_diff *diff, const struct prof_trace *trace, int which,
                     struct rows *rows, struct frames frames[2], struct error *err)
{
    struct prof_trace main;

    if (timeline_main(trace, &main, err))
        return -1;
    int rc = add_rows(diff, &main, which, rows);
    if (rc == 0)
        rc = diff_frames_add(frames, &main, which, diff->iterations[which], &diff->names);
    prof_trace_release(&main);
    return rc ? error_set(err, "no memory for the difference of two traces") : 0;
}

int timeline_diff(const struct prof_trace *before, const struct prof_trace *after,
                  const double iterations[2], struct timeline_diff *diff, struct error *err)
{
    struct rows rows = ARRAY_EMPTY;
    struct frames frames[2] = { 0 };

    *diff = (struct timeline_diff) { 0 };
    prof_trace_init(&diff->names);
    diff->iterations[0] = iterations ? iterations[0] : iterations_of(before);
    diff->iterations[1] = iterations ? iterations[1] : iterations_of(after);
    int rc = add_trace(diff, before, 0, &rows, frames, err);
    if (rc == 0)
        rc = add_trace(diff, after, 1, &rows, frames, err);
    set_changes(&rows);
    diff->rows = rows.items;
    diff->nr_rows = rows.nr;
    for (int side = 0; side < 2; side++)
        diff->frames[side] = diff_frames_take(&frames[side], &diff->nr_frames[side]);
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
