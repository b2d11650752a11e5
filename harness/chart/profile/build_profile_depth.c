/* SPDX-License-Identifier: MIT */
/* How deep the scopes are nested over time, with what ran on the device below. */
#include "chart/profile/profile_base.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1500, CALLS = 2 };

struct edges {
    const struct prof_trace *trace;
    const int *depths; /* by slice */
    struct layer *steps;
    int depth; /* of the last step */
    int deepest;
};

static void profile_depth_step(struct edges *e, double at, int depth)
{
    if (depth == e->depth)
        return;
    e->depth = depth;
    e->deepest = depth > e->deepest ? depth : e->deepest;
    layer_add(e->steps, at, depth);
}

/* Slices that hold others come before them, so the open ones are a stack: the ancestors. */
static void close_until(struct edges *e, const struct profile_window *w, int *open, int64_t time)
{
    while (*open >= 0) {
        const struct prof_slice *s = &e->trace->slices[*open];
        if (s->start + s->duration > time)
            return;
        *open = s->parent;
        /* where the next one begins at once the line goes up again: no step down and up */
        if (s->start + s->duration < time || *open < 0)
            profile_depth_step(e, profile_at(w, s->start + s->duration),
                               *open < 0 ? 0 : e->depths[*open] + 1);
    }
}

/* Below the line: the device has no depth. A scope of a stream spans its kernels, and is none. */
static size_t profile_depth_add_device(struct panel *p, const struct profile_data *data,
                                       const struct profile_window *w)
{
    struct layer *kernels = panel_bars(p, "kernel", INK_VERMILLION);
    struct layer *copies = panel_bars(p, "copy or fill", INK_GREEN);
    bool *holds = profile_holders(&data->main);
    size_t nr = 0;

    kernels->thickness = copies->thickness = 0.5;
    for (size_t i = 0; i < data->main.nr_slices; i++) {
        const struct prof_slice *s = &data->main.slices[i];
        if (!profile_on_device(&data->main, s) || s->start < w->low || s->start >= w->high)
            continue;
        if (holds[i] && profile_kind_of(&data->main, s) == PROFILE_SCOPE)
            continue;
        bool copy = profile_is_transfer(s);
        struct datum *d = layer_add(copy ? copies : kernels, profile_at(w, s->start + s->duration),
                                    copy ? -1.1 : -0.5);
        d->low = profile_at(w, s->start);
        d->text = memory_string(s->name);
        nr++;
    }
    free(holds);
    return nr;
}

static int deepest_at_all(const struct profile_data *data, const int *depths)
{
    int deepest = 0;

    for (size_t i = 0; i < data->main.nr_slices; i++) {
        int depth = data->main.slices[i].track == data->track ? depths[i] + 1 : 0;
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest;
}

void build_profile_depth(const struct chart *chart, struct figure *f)
{
    const struct profile_data *data = chart->profile;
    char words[PROFILE_WORDS_SIZE];

    if (!profile_has_slices(f, chart))
        return;
    if (data->track < 0) {
        chart_absent(f, "no thread was recorded, only streams");
        return;
    }
    struct profile_window w = profile_window_of(data, MOST, CALLS);
    struct panel *p = figure_panel(f);
    int *depths = profile_depths(&data->main);
    struct edges e = { .trace = &data->main,
                       .depths = depths,
                       .steps = panel_layer(p, MARK_STEPS, NULL) };
    e.steps->style.ink = INK_BLUE;
    p->plot_height = 280;
    profile_time_axis(&p->x);
    axis_set(&p->y, "scopes within each other", QUANTITY_PLAIN, "", AXIS_LINEAR);
    p->y.whole = true;
    layer_add(e.steps, 0, 0);
    int open = -1;
    for (size_t i = 0; i < data->main.nr_slices; i++) {
        const struct prof_slice *s = &data->main.slices[i];
        if (s->track != data->track || s->start < w.low || s->start >= w.high ||
            s->flags & PROF_INSTANT_POINT)
            continue;
        close_until(&e, &w, &open, s->start);
        profile_depth_step(&e, profile_at(&w, s->start), depths[i] + 1);
        open = (int)i;
    }
    close_until(&e, &w, &open, INT64_MAX);
    profile_depth_step(&e, profile_at(&w, w.high), 0);
    size_t device = profile_depth_add_device(p, data, &w);
    p->y.low = device ? -1.5 : 0;
    p->y.high = deepest_at_all(data, depths) + 0.5;
    if (device)
        e.steps->label = memory_string("scopes of the host");
    profile_caption(f, chart, "How many scopes and runtime calls the main thread is in.%s%s",
                    device ? " Below zero, what runs on the device meanwhile." : "",
                    profile_window_words(data, &w, words));
    figure_set(&f->alt, "Step line of the nesting of scopes over time, at most %d deep%s.",
               e.deepest, device ? ", with the kernels of the device below" : "");
    free(depths);
}
