/* SPDX-License-Identifier: MIT */
#include "timeline/copy_rates.h"

#include "base/array.h"

#include <string.h>
#include <strings.h>

/* A copy begins (rate > 0) or ends. */
struct change {
    int counter;
    int64_t time;
    double rate;
};

struct changes {
    struct change *items;
    size_t nr, capacity;
};

enum memcpy_kind timeline_copy_kind(const char *name)
{
    if (strncasecmp(name, "memcpy ", 7) != 0)
        return MEMCPY_UNKNOWN;
    size_t length = strcspn(name + 7, " ");
    for (int kind = 1; kind < MEMCPY_KIND_NR; kind++) {
        const char *known = memcpy_kind_name(kind);
        if (strlen(known) == length && !strncmp(known, name + 7, length))
            return (enum memcpy_kind)kind;
    }
    return MEMCPY_UNKNOWN;
}

static int by_counter_and_time(const void *a_, const void *b_)
{
    const struct change *a = a_, *b = b_;

    if (a->counter != b->counter)
        return a->counter < b->counter ? -1 : 1;
    return (a->time > b->time) - (a->time < b->time);
}

static int gather(struct prof_trace *trace, size_t first, struct changes *changes)
{
    for (size_t i = first; i < trace->nr_slices; i++) {
        const struct prof_slice *s = &trace->slices[i];
        enum memcpy_kind kind = timeline_copy_kind(s->name);
        if (strcmp(s->category, PROF_MEMCPY) != 0 || !kind || s->duration <= 0 || s->bytes <= 0)
            continue;
        int counter = prof_trace_counter(
            trace, &(struct prof_counter) { .process = trace->tracks[s->track].process,
                                            .name = memcpy_kind_name((int)kind),
                                            .unit = "GB/s" });
        if (counter < 0)
            return -1;
        double rate = (double)s->bytes / (double)s->duration; /* bytes a ns are GB/s */
        *array_push(changes) = (struct change) { counter, s->start, rate };
        *array_push(changes) = (struct change) { counter, s->start + s->duration, -rate };
    }
    return 0;
}

int timeline_add_copy_rates(struct prof_trace *trace, size_t first)
{
    struct changes changes = ARRAY_EMPTY;
    int rc = gather(trace, first, &changes), under_way = 0;
    double rate = 0;

    if (changes.nr)
        qsort(changes.items, changes.nr, sizeof(*changes.items), by_counter_and_time);
    for (size_t i = 0; i < changes.nr && rc == 0; i++) {
        const struct change *c = &changes.items[i], *next = c + 1;
        bool is_new = i == 0 || c[-1].counter != c->counter;
        under_way = (is_new ? 0 : under_way) + (c->rate > 0 ? 1 : -1);
        rate = (is_new ? 0 : rate) + c->rate;
        rate = under_way ? rate : 0; /* without what sums of doubles leave */
        if (i + 1 < changes.nr && next->counter == c->counter && next->time == c->time)
            continue;
        rc = prof_trace_sample(trace, c->counter, c->time, rate) < 0 ? -1 : 0;
    }
    array_release(&changes);
    return rc;
}
