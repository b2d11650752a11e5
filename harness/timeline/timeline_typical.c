/* SPDX-License-Identifier: MIT */
#include "timeline/timeline_typical.h"

#include "base/memory.h"
#include "profile/name_map.h"
#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct timeline_middle no_middle = { NAN, NAN, NAN, NAN };

struct timeline_middle timeline_middle_of(const int64_t *values, size_t nr)
{
    struct timeline_middle m = no_middle;
    double *sorted = memory_zeroed(nr + 1, sizeof(*sorted)), sum = 0;
    size_t k = 0;

    for (size_t i = 0; i < nr; i++) {
        sorted[i] = (double)values[i];
        sum += sorted[i];
    }
    if (nr > 0) {
        m.median = stats_median(sorted, nr);
        m.mean = sum / (double)nr;
    }
    while (k < nr / 2 && stats_binomial_cdf(k, nr, 0.5) <= 0.025)
        k++;
    if (k > 0) {
        m.low = sorted[k - 1];
        m.high = sorted[nr - k];
    }
    free(sorted);
    return m;
}

struct timeline_middle timeline_middle_without(const int64_t *values, const int64_t *taken,
                                               size_t nr)
{
    int64_t *rest = memory_zeroed(nr + 1, sizeof(*rest));

    for (size_t i = 0; i < nr; i++)
        rest[i] = values[i] - taken[i];
    struct timeline_middle m = timeline_middle_of(rest, nr);
    free(rest);
    return m;
}

double timeline_typical_own(const struct timeline_layers *layers, const struct layer_samples *layer,
                            bool gpu)
{
    bool works_there = false;

    for (size_t i = 0; gpu && i < layers->nr_iterations && !works_there; i++)
        works_there = layer->gpu_ns[i] > 0;
    return timeline_middle_of(works_there ? layer->gpu_self_ns : layer->self_ns,
                              layers->nr_iterations)
        .median;
}

/* Of an operation that most iterations lack, the median is 0 and says nothing. */
static struct timeline_middle typical_or_none(struct timeline_middle m)
{
    return m.median > 0 ? m : no_middle;
}

static struct timeline_middle typical_middle(const int64_t *values, size_t nr)
{
    return typical_or_none(timeline_middle_of(values, nr));
}

/* As a row has it: calls of the CUDA runtime have rows of their own. */
static struct timeline_middle typical_self(const int64_t *self, const int64_t *launch, size_t nr)
{
    return typical_or_none(timeline_middle_without(self, launch, nr));
}

static void typical_from_layer(const struct timeline_layers *layers,
                               const struct layer_samples *layer, struct typical_row *to)
{
    to->self = typical_self(layer->self_ns, layer->launch_ns, layers->nr_iterations);
    to->total = typical_middle(layer->total_ns, layers->nr_iterations);
    to->gpu = typical_middle(layer->gpu_ns, layers->nr_iterations);
}

/* Where each operation of the iterations is, by name. */
static void typical_find_places(const struct timeline_layers *layers, struct prof_map *places)
{
    for (size_t i = 0; i < layers->nr; i++) {
        int *at = prof_map_name(places, layers->items[i].name, 0, -1);
        at = at ? at : memory_zeroed(SIZE_MAX, sizeof(*at)); /* no memory: ends it */
        *at = (int)i;
    }
}

/* -1: it is no operation of the iterations. */
static int typical_layer_of(const struct prof_map *places, const char *name)
{
    const int *at = prof_map_find(places, (uint64_t)(uintptr_t)name, 0);

    return at ? *at : -1;
}

static void typical_fill_row(const struct timeline_layers *layers, const struct prof_map *places,
                             const struct prof_row *row, struct typical_row *to)
{
    int at = row->side == PROF_HOST ? typical_layer_of(places, row->name) : -1;

    if (at >= 0 && layers->items[at].calls == row->calls) {
        typical_from_layer(layers, &layers->items[at], to);
    } else if (at < 0 && row->side == PROF_HOST && strcmp(row->name, layers->iteration) == 0 &&
               row->calls == layers->nr_iterations) {
        to->self = typical_self(layers->rest_ns, layers->rest_launch_ns, layers->nr_iterations);
        to->total = typical_middle(layers->ns, layers->nr_iterations);
        to->gpu = typical_middle(layers->gpu_ns, layers->nr_iterations);
    }
}

void timeline_typical(const struct timeline_layers *layers, const struct prof_summary *summary,
                      struct timeline_typical *typical)
{
    struct prof_map places = { 0 };

    *typical =
        (struct timeline_typical) { .summary = summary, .nr_iterations = layers->nr_iterations };
    typical->rows = memory_zeroed(summary->nr_rows + 1, sizeof(*typical->rows));
    typical_find_places(layers, &places);
    for (size_t i = 0; i < summary->nr_rows; i++) {
        typical->rows[i] = (struct typical_row) { no_middle, no_middle, no_middle };
        if (layers->nr_iterations > 1)
            typical_fill_row(layers, &places, &summary->rows[i], &typical->rows[i]);
        if (summary->rows[i].side == PROF_HOST)
            typical->host_ns += timeline_typical_self(typical, &summary->rows[i]);
    }
    prof_map_release(&places);
}

void timeline_typical_release(struct timeline_typical *typical)
{
    free(typical->rows);
    *typical = (struct timeline_typical) { .nr_iterations = 0 };
}

const struct typical_row *timeline_typical_row(const struct timeline_typical *typical,
                                               const struct prof_row *row)
{
    return &typical->rows[row - typical->summary->rows];
}

static double typical_or_sum(const struct timeline_typical *typical,
                             const struct timeline_middle *middle, double sum)
{
    return isnan(middle->median) ? sum : middle->median * (double)typical->nr_iterations;
}

double timeline_typical_self(const struct timeline_typical *typical, const struct prof_row *row)
{
    return typical_or_sum(typical, &timeline_typical_row(typical, row)->self, (double)row->self);
}

double timeline_typical_gpu(const struct timeline_typical *typical, const struct prof_row *row)
{
    return typical_or_sum(typical, &timeline_typical_row(typical, row)->gpu,
                          (double)(row->gpu + row->transfer));
}

double timeline_typical_work(const struct timeline_typical *typical, const struct prof_row *row)
{
    const struct typical_row *t = timeline_typical_row(typical, row);

    /* The medians on the GPU have copies in them, which do not compute. */
    if (row->gpu > 0)
        return row->transfer > 0 ? (double)row->gpu
                                 : typical_or_sum(typical, &t->gpu, (double)row->gpu);
    return typical_or_sum(typical, &t->total, (double)row->total);
}

size_t timeline_typical_bottlenecks(const struct timeline_typical *typical,
                                    const struct prof_trace *trace, enum prof_side side,
                                    enum prof_by by, struct prof_bottleneck *out, size_t n)
{
    const struct prof_summary *summary = typical->summary;
    double *weights = memory_zeroed(summary->nr_rows + 1, sizeof(*weights));

    for (size_t i = 0; i < summary->nr_rows; i++) {
        const struct prof_row *row = &summary->rows[i];
        weights[i] = row->self > 0 ? timeline_typical_self(typical, row) / (double)row->self : 1;
    }
    int nr = prof_bottlenecks_weighed(trace, summary, side, by, weights, out, n);
    free(weights);
    if (nr < 0)
        (void)memory_zeroed(SIZE_MAX, 1); /* there is none: ends the process */
    return (size_t)nr;
}
