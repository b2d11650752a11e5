/* SPDX-License-Identifier: MIT */
/*
 * Time of each operation in each iteration: what boxes are drawn of and what a history keeps.
 *
 * Iterations are the outermost scopes of one name on one track. Operations are the names of the
 * scopes inside them, in the order of their first appearance. In an iteration
 *
 *     total  sum over its scopes of that name, those inside one of the same name not twice
 *     self   the same without the scopes nested in them: self times and the iteration's own
 *            (`rest_ns`) add up to the iteration, exactly
 *     gpu    work on a GPU that was started inside, each piece as long as it kept its stream busy
 *            (prof_trace_busy()), streams side by side or not: by the flows where the trace has any
 *            to device work, else the scopes' own marks. It may end after the iteration.
 *     gpu_self  the same without the work of the scopes nested in them
 *     launch of the self time, what went into calls of the CUDA runtime and driver: these are no
 *            operations
 *
 * A scope that says nothing of its FLOPs (bytes, marks) has those of the scopes nested in it.
 *
 * Operations times iterations are numbers to keep. Where they come to more than there is room for
 * (names with a number in them: each iteration has its own), the operations with the most time are
 * kept, and the time of the others is their scope's own, too.
 */
#ifndef HARNESS_TIMELINE_TIMELINE_LAYERS_H
#define HARNESS_TIMELINE_TIMELINE_LAYERS_H

#include "base/error.h"
#include "profile/trace.h"

#include <stdint.h>

enum { TIMELINE_LAYER_VALUES = 1 << 20, TIMELINE_LAYERS_LEAST = 8 };

struct layer_samples {
    const char *name;    /* belongs to the trace, as the next one */
    const char *backend; /* of the first scope that has any; NULL */
    int depth;           /* of its first scope: 0 directly in the iteration */
    size_t calls;        /* scopes in all iterations */
    int64_t *total_ns, *self_ns, *gpu_ns, *launch_ns; /* one an iteration; 0 where it has none */
    int64_t *gpu_self_ns; /* likewise; NULL where tables were read (timeline_tables.h) */
    double flops, bytes;  /* per iteration: the mean over iterations, counted like total */
};

struct timeline_layers {
    const char *iteration; /* name of the iterations; belongs to the trace */
    int track;
    size_t nr_iterations;
    int64_t *start, *ns, *gpu_ns;      /* one an iteration */
    int64_t *rest_ns, *rest_launch_ns; /* self and launch of the iteration's own scope */
    double flops, bytes;               /* per iteration */
    struct layer_samples *items;
    size_t nr, nr_left_out; /* left out: for want of room */
};

/* Of a sorted trace. `track` -1: the main one; `iteration` NULL: of the outermost names on it the
 * one with the most time, steps (PROF_STEPS) before all others. Iterations that were cut
 * (PROF_OPEN) are left out; -1 where none is left. The result is empty on -1; release it before the
 * trace. */
int timeline_layers(const struct prof_trace *trace, int track, const char *iteration,
                    struct timeline_layers *layers, struct error *err);
void timeline_layers_release(struct timeline_layers *layers);
/* NULL: no such operation. */
const struct layer_samples *timeline_layer(const struct timeline_layers *layers, const char *name);

#endif
