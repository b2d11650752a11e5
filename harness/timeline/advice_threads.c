/* SPDX-License-Identifier: MIT */
/* Advice on teams whose threads share the work unevenly. */
#include "timeline/advice_rules.h"

#include "base/memory.h"
#include "timeline/timeline_main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Share of the main thread's time that threads wait for the slowest, from which it is worth a line.
 */
static const double wait_share = 0.02;

/* An operation on a track: self time. */
struct part {
    const char *name;
    int track;
    int64_t self;
};

static int by_name_and_track(const void *a_, const void *b_)
{
    const struct part *a = a_, *b = b_;

    if (a->name != b->name)
        return (uintptr_t)a->name < (uintptr_t)b->name ? -1 : 1;
    return (a->track > b->track) - (a->track < b->track);
}

/* A part an operation and track, of threads of the main thread's process; sorted. Their number. */
static size_t gather(const struct prof_trace *trace, int main, struct part *parts)
{
    int64_t *self = memory_zeroed(trace->nr_slices + 1, sizeof(*self));
    size_t nr = 0, merged = 0;

    prof_trace_self(trace, self);
    for (size_t i = 0; i < trace->nr_slices; i++) {
        const struct prof_slice *s = &trace->slices[i];
        const struct prof_track *t = &trace->tracks[s->track];
        if (t->kind == PROF_TRACK_THREAD && t->process == trace->tracks[main].process &&
            !(s->flags & PROF_INSTANT_POINT))
            parts[nr++] = (struct part) { s->name, s->track, self[i] };
    }
    qsort(parts, nr, sizeof(*parts), by_name_and_track);
    for (size_t i = 0; i < nr; i++) {
        if (merged && by_name_and_track(&parts[merged - 1], &parts[i]) == 0)
            parts[merged - 1].self += parts[i].self;
        else
            parts[merged++] = parts[i];
    }
    free(self);
    return merged;
}

/* The parts of one operation, on `nr` threads, the main one among them. */
static void judge(const struct advice_rule *rule, const struct prof_trace *trace,
                  const struct part *parts, size_t nr, double whole, struct advice_list *list)
{
    char share[ADVICE_SHARE_SIZE];
    const struct part *slowest = parts;
    double sum = 0;

    for (size_t i = 0; i < nr; i++) {
        sum += (double)parts[i].self;
        slowest = parts[i].self > slowest->self ? &parts[i] : slowest;
    }
    double mean = sum / (double)nr, value = mean > 0 ? (double)slowest->self / mean : 0;
    double wait = ((double)slowest->self - mean) / whole;
    if (nr < 2 || value < rule->threshold || wait < wait_share)
        return;
    snprintf(advice_add(rule, parts->name, value, wait, list)->text, ADVICE_TEXT_SIZE,
             "%s: imbalance between threads: of %zu, %s takes %.2f times the mean; an even share "
             "would save up to %s of the time",
             parts->name, nr, trace->tracks[slowest->track].name, value, advice_share(wait, share));
}

void advice_imbalance(const struct advice_rule *rule, const struct advice_evidence *e,
                      struct advice_list *list)
{
    const struct prof_trace *trace = e->trace;
    int main = timeline_main_track(trace);
    double whole = 0;

    if (main < 0)
        return;
    for (size_t i = 0; i < trace->nr_slices; i++) {
        const struct prof_slice *s = &trace->slices[i];
        whole += s->track == main && s->parent == PROF_ROOT ? (double)s->duration : 0;
    }
    struct part *parts = memory_zeroed(trace->nr_slices + 1, sizeof(*parts));
    size_t nr = gather(trace, main, parts);
    for (size_t i = 0, next = 0; i < nr && whole > 0; i = next) {
        bool has_main = false;
        for (next = i; next < nr && parts[next].name == parts[i].name; next++)
            has_main |= parts[next].track == main;
        if (has_main)
            judge(rule, trace, &parts[i], next - i, whole, list);
    }
    free(parts);
}
