/* SPDX-License-Identifier: MIT */
/* A trace's device work as activities again. */
#include "base/memory.h"
#include "timeline/copy_rates.h"
#include "timeline/timeline_activity.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *category;
    enum activity_kind kind;
} kinds[] = {
    { PROF_KERNELS, ACTIVITY_KERNEL },      { PROF_MEMCPY, ACTIVITY_MEMCPY },
    { PROF_MEMSET, ACTIVITY_MEMSET },       { PROF_RUNTIME_CALLS, ACTIVITY_RUNTIME },
    { PROF_DRIVER_CALLS, ACTIVITY_DRIVER },
};

/* What it becomes; ACTIVITY_KIND_NR: nothing. */
static enum activity_kind kind_of(const struct prof_trace *trace, size_t i)
{
    const struct prof_slice *s = &trace->slices[i];
    bool is_stream = trace->tracks[s->track].kind == PROF_TRACK_STREAM;

    for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
        bool is_call = kinds[k].kind == ACTIVITY_RUNTIME || kinds[k].kind == ACTIVITY_DRIVER;
        if (!strcmp(s->category, kinds[k].category) && is_call != is_stream)
            return kinds[k].kind;
    }
    return ACTIVITY_KIND_NR;
}

static void add(struct activity_list *list, const struct prof_trace *trace, size_t i,
                uint32_t correlation)
{
    const struct prof_slice *s = &trace->slices[i];
    const struct prof_track *track = &trace->tracks[s->track];
    enum activity_kind kind = kind_of(trace, i);

    if (kind == ACTIVITY_KIND_NR)
        return;
    struct activity *a = activity_add(list, kind);
    a->start = s->start;
    a->end = s->start + s->duration;
    a->correlation = correlation;
    a->bytes = s->bytes;
    if (track->kind == PROF_TRACK_STREAM) {
        a->device = (int32_t)track->process;
        a->stream = (uint32_t)track->thread;
        a->copy = kind == ACTIVITY_MEMCPY ? timeline_copy_kind(s->name) : MEMCPY_UNKNOWN;
    } else {
        a->process = (uint32_t)track->process;
        a->thread = (uint32_t)track->thread;
    }
    a->name = activity_name(list, s->name);
}

/* Work has the number of its launch. A process of a device is no process of the host, so it stays
 * 0, which goes with any. */
void timeline_to_activity(const struct prof_trace *trace, struct activity_list *list)
{
    uint32_t *correlations = memory_zeroed(trace->nr_slices + 1, sizeof(*correlations));

    activity_list_init(list);
    for (size_t i = 0; i < trace->nr_flows; i++) {
        const struct prof_flow *f = &trace->flows[i];
        if (kind_of(trace, (size_t)f->from) == ACTIVITY_KIND_NR ||
            kind_of(trace, (size_t)f->to) == ACTIVITY_KIND_NR)
            continue;
        correlations[f->from] = correlations[f->to] = (uint32_t)f->from + 1;
    }
    for (size_t i = 0; i < trace->nr_slices; i++)
        add(list, trace, i, correlations[i]);
    list->has_clock = true;
    activity_sort(list);
    free(correlations);
}
