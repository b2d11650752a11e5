/* SPDX-License-Identifier: MIT */
/* Slices to rows. */
#include "profile/summary.h"
#include "profile/name_map.h"
#include "profile/nesting.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A row per (side, name), while it is filled. Arrays are by slice. */
struct building {
    const struct prof_trace *trace;
    struct prof_summary *summary;
    int64_t *self;
    int *parent, *row_of;  /* row -1: none (an instant) */
    unsigned char *inside; /* whether a slice around it is of the same row */
    struct prof_map rows;
};

static enum prof_side side_of(const struct prof_trace *trace, const struct prof_slice *s)
{
    return trace->tracks[s->track].kind == PROF_TRACK_STREAM ? PROF_DEVICE : PROF_HOST;
}

static int is_any(const char *category, const char *a, const char *b)
{
    return !strcmp(category, a) || !strcmp(category, b);
}

static void add_summary_row(struct building *b, const struct prof_slice *s, enum prof_side side)
{
    b->summary->rows[b->summary->nr_rows++] = (struct prof_row) {
        .name = s->name,
        .side = side,
        .device = s->device,
        .category = s->category,
        .min = INT64_MAX,
        .memory_peak = -1,
    };
}

static void add_summary_slice(const struct building *b, size_t i, struct prof_row *row)
{
    const struct prof_slice *s = &b->trace->slices[i];

    row->calls++;
    row->total += b->inside[i] ? 0 : s->duration;
    row->self += b->self[i];
    row->min = s->duration < row->min ? s->duration : row->min;
    row->max = s->duration > row->max ? s->duration : row->max;
    row->bytes += s->bytes;
    row->flops += s->flops;
    row->backend = row->backend ? row->backend : s->backend;
    row->memory_peak = s->memory_peak > row->memory_peak ? s->memory_peak : row->memory_peak;
}

/* The row of each slice, made with its first. -1: no memory. */
static int find_rows(struct building *b)
{
    for (size_t i = 0; i < b->trace->nr_slices; i++) {
        const struct prof_slice *s = &b->trace->slices[i];
        enum prof_side side = side_of(b->trace, s);
        b->row_of[i] = -1;
        b->parent[i] = s->parent;
        if (s->flags & PROF_INSTANT_POINT)
            continue;
        int *row = prof_map_name(&b->rows, s->name, side, -1);
        if (!row)
            return -1;
        if (*row < 0) {
            *row = (int)b->summary->nr_rows;
            add_summary_row(b, s, side);
        }
        b->row_of[i] = *row;
    }
    return prof_nested_alike(b->parent, b->row_of, b->trace->nr_slices, b->inside);
}

static void fill_rows(const struct building *b)
{
    for (size_t i = 0; i < b->trace->nr_slices; i++) {
        enum prof_side side = side_of(b->trace, &b->trace->slices[i]);
        if (b->row_of[i] < 0)
            continue;
        add_summary_slice(b, i, &b->summary->rows[b->row_of[i]]);
        b->summary->total[side] += b->self[i];
        b->summary->calls[side]++;
    }
}

/* Adds to a member of the rows what `ns` has for the slices and for all inside them, once for each
 * row. Children come after their parents. */
static void add_upwards(const struct building *b, int64_t *ns, size_t member)
{
    for (size_t i = b->trace->nr_slices; i-- > 0;) {
        if (b->parent[i] >= 0)
            ns[b->parent[i]] += ns[i];
        if (b->row_of[i] < 0 || b->inside[i])
            continue;
        char *row = (char *)&b->summary->rows[b->row_of[i]];
        *(int64_t *)(void *)(row + member) += ns[i];
    }
}

static int is_call(const struct prof_slice *s)
{
    return is_any(s->category, PROF_RUNTIME_CALLS, PROF_DRIVER_CALLS);
}

static void add_launches(const struct building *b, int64_t *ns)
{
    const struct prof_slice *slices = b->trace->slices;

    memset(ns, 0, b->trace->nr_slices * sizeof(*ns));
    for (size_t i = 0; i < b->trace->nr_slices; i++) {
        /* not the driver's call inside the runtime's */
        if (is_call(&slices[i]) && !(slices[i].parent >= 0 && is_call(&slices[slices[i].parent])))
            ns[i] = slices[i].duration;
    }
    add_upwards(b, ns, offsetof(struct prof_row, launch));
}

static int is_copy(const struct prof_slice *s)
{
    return is_any(s->category, PROF_MEMCPY, PROF_MEMSET);
}

static void add_flown(const struct building *b, int64_t *ns, int copies)
{
    memset(ns, 0, b->trace->nr_slices * sizeof(*ns));
    for (size_t i = 0; i < b->trace->nr_flows; i++) {
        const struct prof_flow *f = &b->trace->flows[i];
        const struct prof_slice *to = &b->trace->slices[f->to];
        if (copies ? is_copy(to) : is_any(to->category, PROF_KERNELS, PROF_KERNELS))
            ns[f->from] += to->duration;
    }
    add_upwards(b, ns,
                copies ? offsetof(struct prof_row, transfer) : offsetof(struct prof_row, gpu));
}

/* What started work has its time from there; of the rest the marks tell. */
static void add_marked(const struct building *b, int64_t *flown)
{
    const struct prof_slice *slices = b->trace->slices;

    memset(flown, 0, b->trace->nr_slices * sizeof(*flown));
    for (size_t i = 0; i < b->trace->nr_flows; i++) {
        const struct prof_slice *to = &slices[b->trace->flows[i].to];
        if (is_copy(to) || is_any(to->category, PROF_KERNELS, PROF_KERNELS))
            flown[b->trace->flows[i].from] = 1;
    }
    for (size_t i = b->trace->nr_slices; i-- > 0;) {
        if (b->parent[i] >= 0)
            flown[b->parent[i]] |= flown[i];
        if (b->row_of[i] >= 0 && !flown[i] && !b->inside[i] &&
            side_of(b->trace, &slices[i]) == PROF_HOST)
            b->summary->rows[b->row_of[i]].gpu += slices[i].gpu;
    }
}

static int by_size(const void *a_, const void *b_)
{
    const int64_t *a = a_, *b = b_;

    return (*a > *b) - (*a < *b);
}

/* Nearest rank: the smallest that p % of them are at or below. */
static int64_t nth_percentile(const int64_t *sorted, size_t n, unsigned p)
{
    return sorted[(n * p + 99) / 100 - 1];
}

static void set_spread(struct prof_row *row, int64_t *durations)
{
    size_t n = row->calls;
    double sum = 0, squares = 0;

    qsort(durations, n, sizeof(*durations), by_size);
    for (size_t i = 0; i < n; i++)
        sum += (double)durations[i];
    row->mean = sum / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += ((double)durations[i] - row->mean) * ((double)durations[i] - row->mean);
    row->sd = n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
    row->p50 = nth_percentile(durations, n, 50);
    row->p95 = nth_percentile(durations, n, 95);
    row->p99 = nth_percentile(durations, n, 99);
    row->cpu = row->side == PROF_HOST ? row->total - row->launch : 0;
}

/* `durations`: room for one a slice. They are laid out row by row. */
static void set_spreads(const struct building *b, int64_t *durations, size_t *next)
{
    size_t offset = 0;

    for (size_t r = 0; r < b->summary->nr_rows; r++) {
        next[r] = offset;
        offset += b->summary->rows[r].calls;
    }
    for (size_t i = 0; i < b->trace->nr_slices; i++) {
        if (b->row_of[i] >= 0)
            durations[next[b->row_of[i]]++] = b->trace->slices[i].duration;
    }
    for (size_t r = 0; r < b->summary->nr_rows; r++) {
        struct prof_row *row = &b->summary->rows[r];
        set_spread(row, durations + next[r] - row->calls);
    }
}

static int by_side_and_self(const void *a_, const void *b_)
{
    const struct prof_row *a = a_, *b = b_;

    if (a->side != b->side)
        return a->side < b->side ? -1 : 1;
    if (a->self != b->self)
        return a->self > b->self ? -1 : 1;
    return strcmp(a->name, b->name);
}

static int build_summary(struct building *b)
{
    int64_t *numbers = malloc((b->trace->nr_slices + 1) * sizeof(*numbers));
    size_t *next = NULL;
    int rc = numbers ? find_rows(b) : -1;

    if (rc == 0) {
        next = malloc((b->summary->nr_rows + 1) * sizeof(*next));
        rc = next ? 0 : -1;
    }
    if (rc == 0) {
        prof_trace_self(b->trace, b->self);
        fill_rows(b);
        add_launches(b, numbers);
        add_flown(b, numbers, 0);
        add_flown(b, numbers, 1);
        add_marked(b, numbers);
        set_spreads(b, numbers, next);
        qsort(b->summary->rows, b->summary->nr_rows, sizeof(struct prof_row), by_side_and_self);
    }
    free(numbers);
    free(next);
    return rc;
}

int prof_summarise(const struct prof_trace *trace, struct prof_summary *summary)
{
    struct building b = { .trace = trace, .summary = summary };
    size_t nr = trace->nr_slices + 1, most = 2 * trace->nr_texts + 1; /* two sides of each name */
    int rc = -1;

    *summary = (struct prof_summary) { .meta = trace->meta };
    summary->rows = calloc(most < nr ? most : nr, sizeof(*summary->rows));
    b.self = malloc(nr * sizeof(*b.self));
    b.parent = malloc(nr * sizeof(*b.parent));
    b.row_of = malloc(nr * sizeof(*b.row_of));
    b.inside = calloc(nr, sizeof(*b.inside));
    if (summary->rows && b.self && b.parent && b.row_of && b.inside)
        rc = build_summary(&b);
    free(b.self);
    free(b.parent);
    free(b.row_of);
    free(b.inside);
    prof_map_release(&b.rows);
    if (rc != 0)
        prof_summary_release(summary);
    return rc;
}

void prof_summary_release(struct prof_summary *summary)
{
    free(summary->rows);
    *summary = (struct prof_summary) { 0 };
}

const struct prof_row *prof_summary_row(const struct prof_summary *summary, enum prof_side side,
                                        const char *name)
{
    for (size_t i = 0; i < summary->nr_rows; i++) {
        if (summary->rows[i].side == side && !strcmp(summary->rows[i].name, name))
            return &summary->rows[i];
    }
    return NULL;
}
