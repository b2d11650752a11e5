/* SPDX-License-Identifier: MIT */
#include "timeline/timeline_layers.h"

#include "base/memory.h"
#include "profile/name_map.h"
#include "profile/nesting.h"
#include "timeline/timeline_main.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A slice on the track. */
struct node {
    int iteration; /* -1: in none that counts */
    int layer;     /* -1: no operation; also of the iteration's own scope */
    int above;     /* the operation or iteration around it, over calls; -1 */
    int depth;     /* operations around it */
    bool is_inner; /* inside an operation of the same name */
    int64_t until; /* how far those in it have got: overlaps take from it once */
    int64_t gpu;
    double flops, bytes; /* its own, or of what is nested in it */
    int64_t gpu_below;   /* of the operations directly in it */
};

struct layering {
    const struct prof_trace *trace;
    struct timeline_layers *out;
    struct node *nodes;   /* by slice */
    struct prof_map kept; /* by name: time, then the number of its layer */
    bool has_flows;       /* to device work */
    bool *is_in_step;     /* by slice */
};

static bool is_any_category(const char *category, const char *const *list, size_t nr)
{
    for (size_t i = 0; i < nr; i++) {
        if (!strcmp(category, list[i]))
            return true;
    }
    return false;
}

static bool is_call(const struct prof_slice *s)
{
    return is_any_category(s->category,
                           (const char *const[]) { PROF_RUNTIME_CALLS, PROF_DRIVER_CALLS }, 2);
}

static bool is_device_work(const struct prof_slice *s)
{
    return is_any_category(s->category,
                           (const char *const[]) { PROF_KERNELS, PROF_MEMCPY, PROF_MEMSET }, 3);
}

static bool is_step(const struct prof_slice *s)
{
    return !strcmp(s->category, PROF_STEPS);
}

/* Parents come first. */
static void find_steps(struct layering *l)
{
    const struct prof_slice *slices = l->trace->slices;

    l->is_in_step = memory_zeroed(l->trace->nr_slices + 1, sizeof(*l->is_in_step));
    for (size_t i = 0; i < l->trace->nr_slices; i++) {
        int parent = slices[i].parent;
        l->is_in_step[i] = parent >= 0 && (l->is_in_step[parent] || is_step(&slices[parent]));
    }
}

/* Steps lie in the frames of the program that were open when the recording began, where stacks are
 * recorded. */
static bool is_outermost(const struct layering *l, const struct prof_slice *s)
{
    bool is_top = s->parent == PROF_ROOT || (is_step(s) && !l->is_in_step[s - l->trace->slices]);

    return s->track == l->out->track && is_top && !is_call(s) && !(s->flags & PROF_INSTANT_POINT);
}

static bool is_iteration(const struct layering *l, const struct prof_slice *s)
{
    return is_outermost(l, s) && !strcmp(s->name, l->out->iteration) && !(s->flags & PROF_OPEN);
}

struct name_time {
    const char *name;
    int64_t ns;
    size_t order; /* of its first appearance */
    bool is_step;
};

struct name_times {
    struct name_time *items;
    size_t nr;
    struct prof_map places;
};

/* Bookkeeping memory is there, or the process ends with a message. */
static int *place_in(struct prof_map *map, const char *name, int fresh)
{
    int *place = prof_map_name(map, name, 0, fresh);

    return place ? place : memory_zeroed(SIZE_MAX, sizeof(*place));
}

static void name_times_add(struct name_times *times, const struct prof_slice *s)
{
    int *at = place_in(&times->places, s->name, (int)times->nr);

    if ((size_t)*at == times->nr)
        times->items[times->nr++] = (struct name_time) { s->name, 0, times->nr, false };
    times->items[*at].ns += s->duration;
    times->items[*at].is_step |= is_step(s);
}

static bool is_better(const struct name_time *a, const struct name_time *b)
{
    return a->is_step != b->is_step ? a->is_step : a->ns > b->ns;
}

/* The outermost name with the most time, steps before all others; NULL: there is none. */
static const char *find_iteration(const struct layering *l)
{
    struct name_times times = { memory_zeroed(l->trace->nr_texts + 1, sizeof(*times.items)),
                                0,
                                { 0 } };
    struct name_time best = { NULL, -1, 0, false };

    for (size_t i = 0; i < l->trace->nr_slices; i++) {
        if (is_outermost(l, &l->trace->slices[i]))
            name_times_add(&times, &l->trace->slices[i]);
    }
    for (size_t k = 0; k < times.nr; k++)
        best = is_better(&times.items[k], &best) ? times.items[k] : best;
    free(times.items);
    prof_map_release(&times.places);
    return best.name;
}

static int count_iterations(struct layering *l)
{
    size_t nr = 0;

    for (size_t i = 0; i < l->trace->nr_slices; i++)
        nr += is_iteration(l, &l->trace->slices[i]);
    l->out->nr_iterations = nr;
    l->out->start = memory_zeroed(nr + 1, sizeof(int64_t));
    l->out->ns = memory_zeroed(nr + 1, sizeof(int64_t));
    l->out->rest_ns = memory_zeroed(nr + 1, sizeof(int64_t));
    l->out->rest_launch_ns = memory_zeroed(nr + 1, sizeof(int64_t));
    l->out->gpu_ns = memory_zeroed(nr + 1, sizeof(int64_t));
    return nr > 0 ? 0 : -1;
}

/* ---- which operations there is room for ---- */

static int by_name_time(const void *a_, const void *b_)
{
    const struct name_time *a = a_, *b = b_;

    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static int by_order(const void *a_, const void *b_)
{
    const struct name_time *a = a_, *b = b_;

    return (a->order > b->order) - (a->order < b->order);
}

/* Operations and their times, in the order of their first appearance. */
static void gather_operations(const struct layering *l, bool *is_inside, struct name_times *times)
{
    for (size_t i = 0; i < l->trace->nr_slices; i++) {
        const struct prof_slice *s = &l->trace->slices[i];
        bool is_whole = is_iteration(l, s);
        is_inside[i] = is_whole || (s->parent >= 0 && is_inside[s->parent]);
        if (is_inside[i] && !is_whole && !is_call(s) && !(s->flags & PROF_INSTANT_POINT))
            name_times_add(times, s);
    }
}

static void make_layers(struct layering *l, const struct name_times *times)
{
    struct timeline_layers *out = l->out;

    out->items = memory_zeroed(times->nr + 1, sizeof(*out->items));
    for (size_t i = 0; i < times->nr; i++) {
        int *place = place_in(&l->kept, times->items[i].name, -1);
        *place = (int)out->nr;
        out->items[out->nr++] = (struct layer_samples) {
            .name = times->items[i].name,
            .total_ns = memory_zeroed(out->nr_iterations, sizeof(int64_t)),
            .self_ns = memory_zeroed(out->nr_iterations, sizeof(int64_t)),
            .gpu_ns = memory_zeroed(out->nr_iterations, sizeof(int64_t)),
            .gpu_self_ns = memory_zeroed(out->nr_iterations, sizeof(int64_t)),
            .launch_ns = memory_zeroed(out->nr_iterations, sizeof(int64_t)),
        };
    }
}

/* A layer for each operation, or for those with the most time. */
static void choose_layers(struct layering *l)
{
    size_t most = TIMELINE_LAYER_VALUES / l->out->nr_iterations;
    bool *is_inside = memory_zeroed(l->trace->nr_slices + 1, sizeof(*is_inside));
    struct name_times times = { memory_zeroed(l->trace->nr_texts + 1, sizeof(*times.items)),
                                0,
                                { 0 } };

    most = most > TIMELINE_LAYERS_LEAST ? most : TIMELINE_LAYERS_LEAST;
    gather_operations(l, is_inside, &times);
    if (times.nr > most) {
        qsort(times.items, times.nr, sizeof(*times.items), by_name_time);
        l->out->nr_left_out = times.nr - most;
        times.nr = most;
        qsort(times.items, times.nr, sizeof(*times.items), by_order);
    }
    make_layers(l, &times);
    free(is_inside);
    free(times.items);
    prof_map_release(&times.places);
}

/* -1: none of those that are kept. */
static int layer_of(struct layering *l, const struct prof_slice *s)
{
    return *place_in(&l->kept, s->name, -1);
}

static void place_node(struct layering *l, size_t i)
{
    const struct prof_slice *s = &l->trace->slices[i];
    const struct node *parent = &l->nodes[s->parent];
    struct node *n = &l->nodes[i];
    /* a call, a point, or what there is no room for */
    bool is_between = parent->layer < 0 && parent->above >= 0;

    n->iteration = parent->iteration;
    n->above = is_between ? parent->above : s->parent;
    n->depth = l->nodes[n->above].layer >= 0 ? l->nodes[n->above].depth + 1 : 0;
    if (is_call(s) || (s->flags & PROF_INSTANT_POINT))
        return;
    n->layer = layer_of(l, s);
    if (n->layer >= 0 && l->out->items[n->layer].calls++ == 0)
        l->out->items[n->layer].depth = n->depth;
}

/* Which are inside an operation of the same name. */
static void find_inner(struct layering *l)
{
    size_t nr = l->trace->nr_slices;
    int *above = memory_zeroed(nr + 1, sizeof(*above));
    int *layer = memory_zeroed(nr + 1, sizeof(*layer));
    unsigned char *inner = memory_zeroed(nr + 1, sizeof(*inner));

    for (size_t i = 0; i < nr; i++) {
        above[i] = l->nodes[i].above;
        layer[i] = l->nodes[i].layer;
    }
    if (prof_nested_alike(above, layer, nr, inner))
        (void)memory_zeroed(SIZE_MAX, 1); /* there is none: ends the process */
    for (size_t i = 0; i < nr; i++)
        l->nodes[i].is_inner = inner[i];
    free(above);
    free(layer);
    free(inner);
}

/* Parents come first. */
static void place_nodes(struct layering *l)
{
    int next = 0;

    for (size_t i = 0; i < l->trace->nr_slices; i++) {
        const struct prof_slice *s = &l->trace->slices[i];
        struct node *n = &l->nodes[i];
        *n =
            (struct node) { -1, -1, -1, 0, false, s->start, s->gpu, s->flops, (double)s->bytes, 0 };
        if (is_iteration(l, s))
            n->iteration = next++;
        else if (s->parent >= 0 && l->nodes[s->parent].iteration >= 0)
            place_node(l, i);
    }
    find_inner(l);
}

/* Work that a scope does not tell is that of what is in it. Children come last. */
static void lift_work(struct layering *l)
{
    for (size_t i = l->trace->nr_slices; i-- > 0;) {
        const struct node *n = &l->nodes[i];
        if (n->above < 0)
            continue;
        const struct prof_slice *above = &l->trace->slices[n->above];
        struct node *to = &l->nodes[n->above];
        to->gpu += above->gpu ? 0 : n->gpu;
        to->gpu_below += n->layer >= 0 ? n->gpu : 0;
        to->flops += above->flops > 0 ? 0 : n->flops;
        to->bytes += above->bytes ? 0 : n->bytes;
    }
}

/* Time of an operation is none of the one around it. */
static void take_from_above(struct layering *l, const struct node *n, const struct prof_slice *s)
{
    struct node *above = &l->nodes[n->above];
    int64_t *self = above->layer >= 0 ? l->out->items[above->layer].self_ns : l->out->rest_ns;
    int64_t end = s->start + s->duration, from = s->start > above->until ? s->start : above->until;

    self[n->iteration] -= end > from ? end - from : 0;
    above->until = end > above->until ? end : above->until;
}

static void add_operation(struct layering *l, const struct prof_slice *s, const struct node *n)
{
    struct layer_samples *layer = &l->out->items[n->layer];

    layer->backend = layer->backend ? layer->backend : s->backend;
    layer->self_ns[n->iteration] += s->duration;
    take_from_above(l, n, s);
    if (!l->has_flows && n->gpu > n->gpu_below)
        layer->gpu_self_ns[n->iteration] += n->gpu - n->gpu_below;
    if (n->is_inner)
        return;
    layer->total_ns[n->iteration] += s->duration;
    layer->flops += n->flops / (double)l->out->nr_iterations;
    layer->bytes += n->bytes / (double)l->out->nr_iterations;
    layer->gpu_ns[n->iteration] += l->has_flows ? 0 : n->gpu;
}

static void add_iteration(struct layering *l, const struct prof_slice *s, const struct node *n)
{
    struct timeline_layers *out = l->out;

    out->start[n->iteration] = s->start;
    out->ns[n->iteration] = s->duration;
    out->rest_ns[n->iteration] += s->duration;
    out->flops += n->flops / (double)out->nr_iterations;
    out->bytes += n->bytes / (double)out->nr_iterations;
    out->gpu_ns[n->iteration] += l->has_flows ? 0 : n->gpu;
}

/* Not the driver's call inside the runtime's. */
static bool is_outer_call(const struct layering *l, const struct prof_slice *s)
{
    return is_call(s) && !(s->parent >= 0 && is_call(&l->trace->slices[s->parent]));
}

static void add_call(struct layering *l, const struct prof_slice *s, const struct node *n)
{
    const struct node *above = &l->nodes[n->above];
    int64_t *launch =
        above->layer >= 0 ? l->out->items[above->layer].launch_ns : l->out->rest_launch_ns;

    launch[n->iteration] += s->duration;
}

static void add_slices(struct layering *l)
{
    for (size_t i = 0; i < l->trace->nr_slices; i++) {
        const struct node *n = &l->nodes[i];
        if (n->layer >= 0)
            add_operation(l, &l->trace->slices[i], n);
        else if (n->iteration >= 0 && n->above >= 0 && is_outer_call(l, &l->trace->slices[i]))
            add_call(l, &l->trace->slices[i], n);
        else if (n->iteration >= 0 && n->above < 0)
            add_iteration(l, &l->trace->slices[i], n);
    }
}

/* Work of an iteration goes to all operations that its launch is in, and as their own to the
 * innermost. Children come last. */
static void add_device_work(struct layering *l)
{
    int64_t *ns = memory_zeroed(l->trace->nr_slices + 1, sizeof(*ns));
    int64_t *own = memory_zeroed(l->trace->nr_slices + 1, sizeof(*own));
    int64_t *busy = memory_zeroed(l->trace->nr_slices + 1, sizeof(*busy));

    prof_trace_busy(l->trace, busy);
    for (size_t i = 0; i < l->trace->nr_flows; i++) {
        const struct prof_flow *f = &l->trace->flows[i];
        const struct prof_slice *to = &l->trace->slices[f->to];
        int iteration = l->nodes[f->from].iteration;
        if (!is_device_work(to) || iteration < 0)
            continue;
        l->out->gpu_ns[iteration] += busy[f->to];
        ns[f->from] += busy[f->to];
        own[f->from] += busy[f->to];
    }
    for (size_t i = l->trace->nr_slices; i-- > 0;) {
        const struct node *n = &l->nodes[i];
        if (n->above >= 0)
            ns[n->above] += ns[i];
        if (n->layer >= 0)
            l->out->items[n->layer].gpu_self_ns[n->iteration] += own[i];
        else if (n->above >= 0)
            own[n->above] += own[i];
        if (n->layer >= 0 && !n->is_inner)
            l->out->items[n->layer].gpu_ns[n->iteration] += ns[i];
    }
    free(ns);
    free(own);
    free(busy);
}

static void fill_layers(struct layering *l)
{
    l->nodes = memory_zeroed(l->trace->nr_slices + 1, sizeof(*l->nodes));
    for (size_t i = 0; i < l->trace->nr_flows && !l->has_flows; i++)
        l->has_flows = is_device_work(&l->trace->slices[l->trace->flows[i].to]);
    choose_layers(l);
    place_nodes(l);
    lift_work(l);
    add_slices(l);
    if (l->has_flows)
        add_device_work(l);
    free(l->nodes);
    prof_map_release(&l->kept);
}

/* `where` the track was sought, for the message. */
static int find_layers(struct layering *l, const char *iteration, const char *where,
                       struct error *err)
{
    struct timeline_layers *layers = l->out;

    layers->iteration = iteration ? iteration : find_iteration(l);
    if (!layers->iteration)
        return error_set(err, "there are no scopes on the trace's %s", where);
    if (count_iterations(l))
        return error_set(err, "no outermost scope \"%s\" that has ended is in the trace",
                         layers->iteration);
    for (size_t i = 0; i < l->trace->nr_slices; i++) { /* the trace's own text */
        if (is_iteration(l, &l->trace->slices[i]))
            layers->iteration = l->trace->slices[i].name;
    }
    fill_layers(l);
    return 0;
}

int timeline_layers(const struct prof_trace *trace, int track, const char *iteration,
                    struct timeline_layers *layers, struct error *err)
{
    struct layering l = { .trace = trace, .out = layers };

    *layers = (struct timeline_layers) { .track = track < 0 ? timeline_main_track(trace) : track };
    find_steps(&l);
    int rc = find_layers(&l, iteration, track < 0 ? "threads" : "track", err);
    if (rc)
        timeline_layers_release(layers);
    free(l.is_in_step);
    return rc;
}

void timeline_layers_release(struct timeline_layers *layers)
{
    for (size_t i = 0; i < layers->nr; i++) {
        free(layers->items[i].total_ns);
        free(layers->items[i].self_ns);
        free(layers->items[i].gpu_ns);
        free(layers->items[i].gpu_self_ns);
        free(layers->items[i].launch_ns);
    }
    free(layers->items);
    free(layers->start);
    free(layers->ns);
    free(layers->rest_ns);
    free(layers->rest_launch_ns);
    free(layers->gpu_ns);
    *layers = (struct timeline_layers) { .track = -1 };
}

const struct layer_samples *timeline_layer(const struct timeline_layers *layers, const char *name)
{
    for (size_t i = 0; i < layers->nr; i++) {
        if (!strcmp(layers->items[i].name, name))
            return &layers->items[i];
    }
    return NULL;
}
