/* SPDX-License-Identifier: MIT */
#include "cli/profile_view.h"

#include <stdio.h>

static int derive(struct profile_view *v, struct error *err)
{
    const struct advice_evidence known = {
        .trace = &v->trace, .summary = &v->summary, .roofs = &v->roofs, .cost = &v->cost
    };

    if (timeline_main(&v->trace, &v->main, err))
        return -1;
    if (prof_summarise(&v->main, &v->summary))
        return error_set(err, "no memory for a summary");
    return timeline_find(&v->main, &known, &v->found, err);
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
    timeline_findings_release(&v->found);
    prof_summary_release(&v->summary);
    prof_trace_release(&v->main);
    prof_trace_release(&v->trace);
}
