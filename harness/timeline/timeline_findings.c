/* SPDX-License-Identifier: MIT */
#include "timeline/timeline_findings.h"

#include "base/memory.h"
#include "gputrace/time_split.h"
#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>

/* With layers and split as they are. */
static int find_rest(const struct advice_evidence *known, struct timeline_findings *found,
                     struct error *err)
{
    struct advice_evidence evidence = *known;

    timeline_typical(&found->layers, known->summary, &found->typical);
    evidence.split = &found->split;
    evidence.typical = &found->typical;
    if (evidence.cost && !(evidence.cost->on > 0))
        evidence.cost = NULL;
    return timeline_advice(&evidence, &found->advice, err);
}

int timeline_find(const struct prof_trace *main, const struct advice_evidence *known,
                  struct timeline_findings *found, struct error *err)
{
    int64_t gap = known->gap_ns > 0 ? known->gap_ns : TIME_SPLIT_GAP_NS;
    struct error ignored; /* a trace without iterations has no layers, and is fine */

    *found = (struct timeline_findings) { .split = { .device = -1 } };
    if (timeline_layers(main, -1, NULL, &found->layers, &ignored))
        found->layers = (struct timeline_layers) { .nr_iterations = 0 };
    found->split = timeline_split_of(known->trace, -1, gap);
    return find_rest(known, found, err);
}

int timeline_find_in_tables(struct timeline_tables *tables, const struct advice_evidence *known,
                            struct timeline_findings *found, struct error *err)
{
    *found = (struct timeline_findings) { .split = tables->split, .layers = tables->layers };
    tables->layers = (struct timeline_layers) { .track = -1 };
    return find_rest(known, found, err);
}

void timeline_findings_release(struct timeline_findings *found)
{
    timeline_advice_release(&found->advice);
    timeline_typical_release(&found->typical);
    timeline_layers_release(&found->layers);
    *found = (struct timeline_findings) { .split = { .device = -1 } };
}

double timeline_iteration_median(const struct timeline_layers *layers)
{
    double *values = memory_zeroed(layers->nr_iterations + 1, sizeof(*values));

    for (size_t i = 0; i < layers->nr_iterations; i++)
        values[i] = (double)layers->ns[i];
    double median = layers->nr_iterations ? stats_median(values, layers->nr_iterations) : NAN;
    free(values);
    return median;
}

double timeline_covered(const struct timeline_layers *layers)
{
    double all = 0, rest = 0;

    for (size_t i = 0; i < layers->nr_iterations; i++) {
        all += (double)layers->ns[i];
        rest += (double)layers->rest_ns[i];
    }
    return layers->nr > 0 && all > 0 ? 1 - rest / all : NAN;
}

double timeline_row_ns(const struct timeline_findings *found, const struct prof_row *row)
{
    return timeline_typical_work(&found->typical, row);
}

struct timeline_roof timeline_row_roof(const struct timeline_findings *found,
                                       const struct timeline_roofs *roofs,
                                       const struct prof_row *row)
{
    return timeline_roof_of(roofs, row->flops, (double)row->bytes, timeline_row_ns(found, row));
}

bool timeline_row_works(const struct prof_row *row)
{
    return row->self > 0 && 2 * row->self >= row->total;
}
