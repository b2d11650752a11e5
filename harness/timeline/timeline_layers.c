/* SPDX-License-Identifier: MIT */
#include "timeline/timeline_layers.h"

#include "base/memory.h"
#include "timeline/timeline_main.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A slice on the track. */
struct node {
    int iteration; /* -1: in none that counts */
    int layer;     /* -1: no operation; also of the iteration's own scope */
    int above;     /* the operation or iteration around it, over calls; -1 */
    int64_t gpu;
    double flops, bytes; /* its own, or of what is nested in it */
};

struct layering {
    const struct prof_trace *trace;
    struct timeline_layers *out;
    struct node *nodes; /* by slice */
    bool has_flows;     /* to device work */
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

static bool is_outermost(const struct layering *l, const struct prof_slice *s)
{
    return s->track == l->out->track && s->parent == PROF_ROOT && !is_call(s) &&
           !(s->flags & PROF_INSTANT_POINT);
}

static bool is_iteration(const struct layering *l, const struct prof_slice *s)
{
    return is_outermost(l, s) && !strcmp(s->name, l->out->iteration) && !(s->flags & PROF_OPEN);
}

struct name_time {
    const char *name;
    int64_t ns;
};

/* The outermost name with the most time; NULL: there is none. */
static const char *find_iteration(const struct layering *l)
{
    struct name_time *names = memory_zeroed(l->trace->nr_texts + 1, sizeof(*names));
    struct name_time best = { NULL, -1 };
    size_t nr = 0;

    for (size_t i = 0; i < l->trace->nr_slices; i++) {
        const struct prof_slice *s = &l->trace->slices[i];
        size_t k = 0;
        if (!is_outermost(l, s))
            continue;
        while (k < nr && names[k].name != s->name)
            k++;
        nr += k == nr;
        names[k].name = s->name;
        names[k].ns += s->duration;
    }
    for (size_t k = 0; k < nr; k++)
        best = names[k].ns > best.ns ? names[k] : best;
    free(names);
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
    l->out->gpu_ns = memory_zeroed(nr + 1, sizeof(int64_t));
    return nr > 0 ? 0 : -1;
}

/* Equal names are the same pointer. */
static int layer_of(struct layering *l, const struct prof_slice *s, int depth)
{
    struct timeline_layers *out = l->out;
    size_t i = 0;

    while (i < out->nr && out->items[i].name != s->name)
        i++;
    if (i < out->nr)
        return (int)i;
    out->items = memory_resize(out->items, out->nr + 1, sizeof(*out->items));
    out->items[out->nr++] = (struct layer_samples) {
        .name = s->name,
        .depth = depth,
        .total_ns = memory_zeroed(out->nr_iterations, sizeof(int64_t)),
        .self_ns = memory_zeroed(out->nr_iterations, sizeof(int64_t)),
        .gpu_ns = memory_zeroed(out->nr_iterations, sizeof(int64_t)),
    };
    return (int)i;
}

static int depth_of(const struct layering *l, int above)
{
    int depth = 0;

    for (int n = above; n >= 0 && l->nodes[n].layer >= 0; n = l->nodes[n].above)
        depth++;
    return depth;
}

/* Parents come first. */
static void place_nodes(struct layering *l)
{
    int next = 0;

    for (size_t i = 0; i < l->trace->nr_slices; i++) {
        const struct prof_slice *s = &l->trace->slices[i];
        struct node *n = &l->nodes[i];
        *n = (struct node) { -1, -1, -1, s->gpu, s->flops, (double)s->bytes };
        if (is_iteration(l, s)) {
            n->iteration = next++;
            continue;
        }
        if (s->parent < 0 || l->nodes[s->parent].iteration < 0)
            continue;
        const struct node *parent = &l->nodes[s->parent];
        bool is_between = parent->layer < 0 && parent->above >= 0; /* a call or a point */
        n->iteration = parent->iteration;
        n->above = is_between ? parent->above : s->parent;
        if (!is_call(s) && !(s->flags & PROF_INSTANT_POINT))
            n->layer = layer_of(l, s, depth_of(l, n->above));
    }
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
        to->flops += above->flops > 0 ? 0 : n->flops;
        to->bytes += above->bytes ? 0 : n->bytes;
    }
}

/* Whether it is inside an operation of the same name. */
static bool is_recursive(const struct layering *l, const struct node *node)
{
    for (int n = node->above; n >= 0 && l->nodes[n].layer >= 0; n = l->nodes[n].above) {
        if (l->nodes[n].layer == node->layer)
            return true;
    }
    return false;
}

/* Time of an operation, which its own time was taken from. */
static void take_from_above(struct layering *l, const struct node *n, int64_t ns)
{
    const struct node *above = &l->nodes[n->above];
    int64_t *self = above->layer >= 0 ? l->out->items[above->layer].self_ns : l->out->rest_ns;

    self[n->iteration] -= ns;
}

static void add_operation(struct layering *l, const struct prof_slice *s, const struct node *n)
{
    struct layer_samples *layer = &l->out->items[n->layer];

    layer->calls++;
    layer->backend = layer->backend ? layer->backend : s->backend;
    layer->self_ns[n->iteration] += s->duration;
    take_from_above(l, n, s->duration);
    if (is_recursive(l, n))
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

static void add_slices(struct layering *l)
{
    for (size_t i = 0; i < l->trace->nr_slices; i++) {
        const struct node *n = &l->nodes[i];
        if (n->layer >= 0)
            add_operation(l, &l->trace->slices[i], n);
        else if (n->iteration >= 0 && n->above < 0)
            add_iteration(l, &l->trace->slices[i], n);
    }
}

static void add_device_work(struct layering *l)
{
    for (size_t i = 0; i < l->trace->nr_flows; i++) {
        const struct prof_flow *f = &l->trace->flows[i];
        const struct prof_slice *to = &l->trace->slices[f->to];
        int iteration = l->nodes[f->from].iteration;
        if (!is_device_work(to) || iteration < 0)
            continue;
        l->out->gpu_ns[iteration] += to->duration;
        for (int n = f->from; n >= 0; n = l->nodes[n].above) {
            const struct node *node = &l->nodes[n];
            if (node->layer >= 0 && !is_recursive(l, node))
                l->out->items[node->layer].gpu_ns[iteration] += to->duration;
        }
    }
}

static void fill_layers(struct layering *l)
{
    l->nodes = memory_zeroed(l->trace->nr_slices + 1, sizeof(*l->nodes));
    for (size_t i = 0; i < l->trace->nr_flows && !l->has_flows; i++)
        l->has_flows = is_device_work(&l->trace->slices[l->trace->flows[i].to]);
    place_nodes(l);
    lift_work(l);
    add_slices(l);
    if (l->has_flows)
        add_device_work(l);
    free(l->nodes);
}

int timeline_layers(const struct prof_trace *trace, int track, const char *iteration,
                    struct timeline_layers *layers, struct error *err)
{
    struct layering l = { .trace = trace, .out = layers };

    *layers = (struct timeline_layers) { .track = track < 0 ? timeline_main_track(trace) : track };
    layers->iteration = iteration ? iteration : find_iteration(&l);
    if (!layers->iteration)
        return error_set(err, "there are no scopes on the trace's %s",
                         track < 0 ? "threads" : "track");
    if (count_iterations(&l)) {
        error_set(err, "no outermost scope \"%s\" that has ended is in the trace",
                  layers->iteration);
        timeline_layers_release(layers);
        return -1;
    }
    for (size_t i = 0; i < trace->nr_slices; i++) { /* the trace's own text */
        if (is_iteration(&l, &trace->slices[i]))
            layers->iteration = trace->slices[i].name;
    }
    fill_layers(&l);
    return 0;
}

void timeline_layers_release(struct timeline_layers *layers)
{
    for (size_t i = 0; i < layers->nr; i++) {
        free(layers->items[i].total_ns);
        free(layers->items[i].self_ns);
        free(layers->items[i].gpu_ns);
    }
    free(layers->items);
    free(layers->start);
    free(layers->ns);
    free(layers->rest_ns);
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
