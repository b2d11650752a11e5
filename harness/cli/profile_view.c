/* SPDX-License-Identifier: MIT */
#include "cli/profile_view.h"

#include "activity/time_split.h"

#include <stdio.h>

static int derive(struct profile_view *v, struct error *err)
{
    struct error ignored; /* a trace without iterations has no layers, and is fine */

    if (timeline_main(&v->trace, &v->main, err))
        return -1;
    if (prof_summarise(&v->main, &v->summary))
        return error_set(err, "no memory for a summary");
    if (timeline_layers(&v->main, -1, NULL, &v->layers, &ignored))
        v->layers = (struct timeline_layers) { .nr_iterations = 0 };
    v->split = timeline_split_of(&v->trace, -1, TIME_SPLIT_GAP_NS);
    const struct advice_evidence evidence = { .trace = &v->trace,
                                              .summary = &v->summary,
                                              .split = &v->split,
                                              .roofs = &v->roofs,
                                              .cost = v->cost.on > 0 ? &v->cost : NULL };
    return timeline_advice(&evidence, &v->advice, err);
}

int profile_view_init(struct profile_view *v, const char *title, struct prof_trace *trace,
                      const struct timeline_roofs *roofs, const struct prof_cost *cost,
                      struct error *err)
{
    *v = (struct profile_view) { .trace = *trace };
    prof_trace_init(trace);
    prof_trace_init(&v->main);
    snprintf(v->title, sizeof(v->title), "%s", title);
    if (roofs)
        v->roofs = *roofs;
    if (cost)
        v->cost = *cost;
    return derive(v, err);
}

void profile_view_release(struct profile_view *v)
{
    timeline_advice_release(&v->advice);
    timeline_layers_release(&v->layers);
    prof_summary_release(&v->summary);
    prof_trace_release(&v->main);
    prof_trace_release(&v->trace);
}

double profile_row_ns(const struct prof_row *row)
{
    return (double)(row->gpu > 0 ? row->gpu : row->total);
}

struct timeline_roof profile_row_roof(const struct profile_view *view, const struct prof_row *row)
{
    return timeline_roof_of(&view->roofs, row->flops, (double)row->bytes, profile_row_ns(row));
}
