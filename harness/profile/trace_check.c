/* SPDX-License-Identifier: MIT */
/* Whether a trace is what trace.h promises. */
#include "profile/trace.h"

/* -1, with the line. */
#define wrong(why, size, ...) (snprintf((why), (size), __VA_ARGS__), -1)

static int64_t end_of(const struct prof_slice *s)
{
    return s->start + s->duration;
}

static int check_order(const struct prof_trace *trace, size_t i, char *why, size_t size)
{
    const struct prof_slice *s = &trace->slices[i], *before = s - 1;

    if (i == 0 || before->track < s->track)
        return 0;
    if (before->track > s->track || before->start > s->start ||
        (before->start == s->start && before->duration < s->duration))
        return wrong(why, size, "slice %zu (%s) is out of order", i, s->name);
    return 0;
}

static int check_parent(const struct prof_trace *trace, size_t i, char *why, size_t size)
{
    const struct prof_slice *s = &trace->slices[i];

    if (s->parent == PROF_ROOT)
        return 0;
    if (s->parent < 0 || (size_t)s->parent >= i)
        return wrong(why, size, "slice %zu (%s) has parent %d", i, s->name, s->parent);
    const struct prof_slice *parent = &trace->slices[s->parent];
    if (parent->track != s->track || parent->start > s->start || end_of(parent) < end_of(s))
        return wrong(why, size, "slice %zu (%s) is not inside its parent (%s)", i, s->name,
                     parent->name);
    return 0;
}

static int check_slice(const struct prof_trace *trace, size_t i, char *why, size_t size)
{
    const struct prof_slice *s = &trace->slices[i];

    if (s->track < 0 || (size_t)s->track >= trace->nr_tracks)
        return wrong(why, size, "slice %zu (%s) has track %d", i, s->name, s->track);
    if (s->duration < 0)
        return wrong(why, size, "slice %zu (%s) ends before it begins", i, s->name);
    if (check_order(trace, i, why, size) != 0)
        return -1;
    return check_parent(trace, i, why, size);
}

static int check_flow(const struct prof_trace *trace, size_t i, char *why, size_t size)
{
    const struct prof_flow *f = &trace->flows[i];
    int nr = (int)trace->nr_slices;

    if (f->from < 0 || f->from >= nr || f->to < 0 || f->to >= nr)
        return wrong(why, size, "flow %zu goes from %d to %d of %d slices", i, f->from, f->to, nr);
    const struct prof_slice *from = &trace->slices[f->from], *to = &trace->slices[f->to];
    if (to->start < from->start)
        return wrong(why, size, "flow %zu goes back in time, from %s to %s", i, from->name,
                     to->name);
    return 0;
}

static int check_sample(const struct prof_trace *trace, size_t i, char *why, size_t size)
{
    const struct prof_sample *s = &trace->samples[i], *before = s - 1;

    if (s->counter < 0 || (size_t)s->counter >= trace->nr_counters)
        return wrong(why, size, "sample %zu has counter %d", i, s->counter);
    if (i &&
        (before->counter > s->counter || (before->counter == s->counter && before->time > s->time)))
        return wrong(why, size, "sample %zu of %s is out of order", i,
                     trace->counters[s->counter].name);
    return 0;
}

int prof_trace_check(const struct prof_trace *trace, char *why, size_t size)
{
    for (size_t i = 0; i < trace->nr_slices; i++) {
        if (check_slice(trace, i, why, size) != 0)
            return -1;
    }
    for (size_t i = 0; i < trace->nr_flows; i++) {
        if (check_flow(trace, i, why, size) != 0)
            return -1;
    }
    for (size_t i = 0; i < trace->nr_samples; i++) {
        if (check_sample(trace, i, why, size) != 0)
            return -1;
    }
    return 0;
}
