/* SPDX-License-Identifier: MIT */
/* Traces: their texts, and adding to them. */
#include "profile/trace.h"
#include "profile/name_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { TRACKS, SLICES, COUNTERS, SAMPLES, FLOWS };

/* Where tracks and counters stand. */
struct prof_trace_index {
    struct prof_map tracks, counters;
};

void prof_trace_init(struct prof_trace *trace)
{
    memset(trace, 0, sizeof(*trace));
    trace->meta.rate = 1;
    trace->meta.clock = "";
}

void prof_trace_release(struct prof_trace *trace)
{
    for (size_t i = 0; i < trace->size_texts; i++)
        free(trace->texts[i]);
    free(trace->texts);
    free(trace->tracks);
    free(trace->slices);
    free(trace->counters);
    free(trace->samples);
    free(trace->flows);
    if (trace->index) {
        prof_map_release(&trace->index->tracks);
        prof_map_release(&trace->index->counters);
    }
    free(trace->index);
    prof_trace_init(trace);
}

static char **text_slot(char **texts, size_t size, const char *text)
{
    size_t i = prof_text_hash(text) & (size - 1);

    while (texts[i] && strcmp(texts[i], text) != 0)
        i = (i + 1) & (size - 1);
    return &texts[i];
}

static int texts_grow(struct prof_trace *trace)
{
    size_t size = trace->size_texts ? trace->size_texts * 2 : 64;
    char **texts = calloc(size, sizeof(*texts));

    if (!texts)
        return -1;
    for (size_t i = 0; i < trace->size_texts; i++) {
        if (trace->texts[i])
            *text_slot(texts, size, trace->texts[i]) = trace->texts[i];
    }
    free(trace->texts);
    trace->texts = texts;
    trace->size_texts = size;
    return 0;
}

const char *prof_trace_text(struct prof_trace *trace, const char *text)
{
    if (!text)
        return NULL;
    if (trace->nr_texts * 2 >= trace->size_texts && texts_grow(trace) != 0)
        return NULL;
    char **slot = text_slot(trace->texts, trace->size_texts, text);
    if (!*slot) {
        size_t size = strlen(text) + 1;
        char *copy = malloc(size);
        if (!copy)
            return NULL;
        *slot = memcpy(copy, text, size);
        trace->nr_texts++;
        /* cppcheck-suppress memleak ; the table has it */
    }
    return *slot;
}

/* `*kept` = the trace's own copy; false: no memory. */
static int keep_text(struct prof_trace *trace, const char **kept, const char *text)
{
    *kept = prof_trace_text(trace, text); /* analyzer: the trace owns it */
    return !text || *kept;
}

/* A place behind the last one; NULL: no memory. */
static void *add_place(struct prof_trace *trace, int what, void *items_, size_t *nr, size_t size)
{
    void **items = items_;

    if (*nr == trace->capacity[what]) {
        size_t capacity = *nr ? *nr * 2 : 64;
        void *more = capacity > INT32_MAX ? NULL : realloc(*items, capacity * size);
        if (!more) {
            errno = ENOMEM;
            return NULL;
        }
        *items = more;
        trace->capacity[what] = capacity;
    }
    return (char *)*items + (*nr)++ * size;
}

static int invalid_argument(void)
{
    errno = EINVAL;
    return -1;
}

static int is_same_track(const struct prof_track *a, const struct prof_track *b)
{
    return a->kind == b->kind && a->device == b->device && a->process == b->process &&
           a->thread == b->thread;
}

static struct prof_trace_index *index_of(struct prof_trace *trace)
{
    if (!trace->index)
        trace->index = calloc(1, sizeof(*trace->index));
    return trace->index;
}

static uint64_t track_tag(const struct prof_track *t)
{
    uint64_t tag = prof_map_mixed((uint64_t)t->kind << 32 | (uint32_t)t->device);

    return prof_map_mixed(prof_map_mixed(tag + (uint64_t)t->process) + (uint64_t)t->thread);
}

/* Two tracks may have one tag: then all are looked through. -1: there is none. */
static int find_track(const struct prof_trace *trace, const struct prof_track *track, int known)
{
    if (known < 0 || is_same_track(&trace->tracks[known], track))
        return known;
    for (size_t i = 0; i < trace->nr_tracks; i++) {
        if (is_same_track(&trace->tracks[i], track))
            return (int)i;
    }
    return -1;
}

int prof_trace_track(struct prof_trace *trace, const struct prof_track *track)
{
    struct prof_track copy = *track;
    struct prof_trace_index *index = index_of(trace);
    int *known = index ? prof_map_at(&index->tracks, track_tag(track), 0, -1) : NULL;

    if (!known)
        return -1;
    int found = find_track(trace, track, *known);
    if (found >= 0)
        return found;
    if (!keep_text(trace, &copy.owner, track->owner ? track->owner : "") ||
        !keep_text(trace, &copy.name, track->name ? track->name : ""))
        return -1;
    struct prof_track *t =
        add_place(trace, TRACKS, &trace->tracks, &trace->nr_tracks, sizeof(*trace->tracks));
    if (!t)
        return -1;
    *t = copy;
    *known = *known < 0 ? (int)trace->nr_tracks - 1 : *known;
    return (int)trace->nr_tracks - 1;
}

int prof_trace_slice(struct prof_trace *trace, const struct prof_slice *slice)
{
    struct prof_slice copy = *slice;

    if (slice->track < 0 || (size_t)slice->track >= trace->nr_tracks || slice->duration < 0 ||
        slice->parent < PROF_FIND_PARENT || !slice->name)
        return invalid_argument();
    if (!keep_text(trace, &copy.name, slice->name) ||
        !keep_text(trace, &copy.backend, slice->backend) ||
        !keep_text(trace, &copy.function, slice->function) ||
        !keep_text(trace, &copy.file, slice->file) ||
        !keep_text(trace, &copy.category, slice->category ? slice->category : ""))
        return -1;
    struct prof_slice *s =
        add_place(trace, SLICES, &trace->slices, &trace->nr_slices, sizeof(*trace->slices));
    if (!s)
        return -1;
    *s = copy;
    return (int)trace->nr_slices - 1;
}

int prof_trace_counter(struct prof_trace *trace, const struct prof_counter *counter)
{
    struct prof_counter copy = *counter;

    if (!counter->name)
        return invalid_argument();
    if (!keep_text(trace, &copy.name, counter->name) ||
        !keep_text(trace, &copy.unit, counter->unit ? counter->unit : ""))
        return -1;
    struct prof_trace_index *index = index_of(trace);
    uint64_t of = (uint64_t)copy.process << 1 | (copy.kind == PROF_TRACK_STREAM);
    int *known = index ? prof_map_name(&index->counters, copy.name, of, -1) : NULL;
    if (!known)
        return -1;
    if (*known >= 0)
        return *known;
    struct prof_counter *c =
        add_place(trace, COUNTERS, &trace->counters, &trace->nr_counters, sizeof(*trace->counters));
    if (!c)
        return -1;
    *c = copy;
    *known = (int)trace->nr_counters - 1;
    return *known;
}

int prof_trace_sample(struct prof_trace *trace, int counter, int64_t time, double value)
{
    if (counter < 0 || (size_t)counter >= trace->nr_counters)
        return invalid_argument();
    struct prof_sample *s =
        add_place(trace, SAMPLES, &trace->samples, &trace->nr_samples, sizeof(*trace->samples));
    if (!s)
        return -1;
    *s = (struct prof_sample) { counter, time, value };
    return (int)trace->nr_samples - 1;
}

int prof_trace_flow(struct prof_trace *trace, int from, int to)
{
    int nr = (int)trace->nr_slices;

    if (from < 0 || from >= nr || to < 0 || to >= nr)
        return invalid_argument();
    struct prof_flow *f =
        add_place(trace, FLOWS, &trace->flows, &trace->nr_flows, sizeof(*trace->flows));
    if (!f)
        return -1;
    *f = (struct prof_flow) { from, to };
    return (int)trace->nr_flows - 1;
}

/* ---- whether it is what trace.h promises ---- */

/* -1, with the line. */
#define trace_wrong(why, size, ...) (snprintf((why), (size), __VA_ARGS__), -1)

static int64_t slice_end(const struct prof_slice *s)
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
        return trace_wrong(why, size, "slice %zu (%s) is out of order", i, s->name);
    return 0;
}

static int check_parent(const struct prof_trace *trace, size_t i, char *why, size_t size)
{
    const struct prof_slice *s = &trace->slices[i];

    if (s->parent == PROF_ROOT)
        return 0;
    if (s->parent < 0 || (size_t)s->parent >= i)
        return trace_wrong(why, size, "slice %zu (%s) has parent %d", i, s->name, s->parent);
    const struct prof_slice *parent = &trace->slices[s->parent];
    if (parent->track != s->track || parent->start > s->start || slice_end(parent) < slice_end(s))
        return trace_wrong(why, size, "slice %zu (%s) is not inside its parent (%s)", i, s->name,
                           parent->name);
    return 0;
}

static int check_slice(const struct prof_trace *trace, size_t i, char *why, size_t size)
{
    const struct prof_slice *s = &trace->slices[i];

    if (s->track < 0 || (size_t)s->track >= trace->nr_tracks)
        return trace_wrong(why, size, "slice %zu (%s) has track %d", i, s->name, s->track);
    if (s->duration < 0)
        return trace_wrong(why, size, "slice %zu (%s) ends before it begins", i, s->name);
    if (check_order(trace, i, why, size) != 0)
        return -1;
    return check_parent(trace, i, why, size);
}

static int check_flow(const struct prof_trace *trace, size_t i, char *why, size_t size)
{
    const struct prof_flow *f = &trace->flows[i];
    int nr = (int)trace->nr_slices;

    if (f->from < 0 || f->from >= nr || f->to < 0 || f->to >= nr)
        return trace_wrong(why, size, "flow %zu goes from %d to %d of %d slices", i, f->from, f->to,
                           nr);
    const struct prof_slice *from = &trace->slices[f->from], *to = &trace->slices[f->to];
    if (to->start < from->start)
        return trace_wrong(why, size, "flow %zu goes back in time, from %s to %s", i, from->name,
                           to->name);
    return 0;
}

static int check_sample(const struct prof_trace *trace, size_t i, char *why, size_t size)
{
    const struct prof_sample *s = &trace->samples[i], *before = s - 1;

    if (s->counter < 0 || (size_t)s->counter >= trace->nr_counters)
        return trace_wrong(why, size, "sample %zu has counter %d", i, s->counter);
    if (i &&
        (before->counter > s->counter || (before->counter == s->counter && before->time > s->time)))
        return trace_wrong(why, size, "sample %zu of %s is out of order", i,
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
