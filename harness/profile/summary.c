/* SPDX-License-Identifier: MIT */
/* Slices to rows. */
#include "profile/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A row per (side, name), while it is filled. */
struct building {
    const struct prof_trace *trace;
    struct prof_summary *summary;
    int64_t *self;
    int *row_of; /* by slice; -1: none (an instant) */
    int *slots;  /* hash of (side, name) to row + 1 */
    size_t nr_slots;
};

static enum prof_side side_of(const struct prof_trace *trace, const struct prof_slice *s)
{
    return trace->tracks[s->track].kind == PROF_TRACK_STREAM ? PROF_DEVICE : PROF_HOST;
}

static int is_any(const char *category, const char *a, const char *b)
{
    return !strcmp(category, a) || !strcmp(category, b);
}

/* Equal names are the same pointer. */
static int *slot_of(const struct building *b, enum prof_side side, const char *name)
{
    size_t i = (((uintptr_t)name >> 4) * 0x9e3779b97f4a7c15U >> 20 ^ (size_t)side);

    for (i &= b->nr_slots - 1; b->slots[i]; i = (i + 1) & (b->nr_slots - 1)) {
        const struct prof_row *row = &b->summary->rows[b->slots[i] - 1];
        if (row->name == name && row->side == side)
            break;
    }
    return &b->slots[i];
}

static void add_summary_row(struct building *b, const struct prof_slice *s, enum prof_side side)
{
    b->summary->rows[b->summary->nr_rows++] = (struct prof_row) {
        .name = s->name,
        .side = side,
        .device = s->device,
        .min = INT64_MAX,
        .memory_peak = -1,
    };
}

/* Whether a slice around it has the same name. */
static int is_recursive(const struct building *b, size_t i)
{
    const struct prof_slice *slices = b->trace->slices;

    for (int p = slices[i].parent; p >= 0; p = slices[p].parent) {
        if (slices[p].name == slices[i].name)
            return 1;
    }
    return 0;
}

static void add_summary_slice(const struct building *b, size_t i, struct prof_row *row)
{
    const struct prof_slice *s = &b->trace->slices[i];

    row->calls++;
    row->total += is_recursive(b, i) ? 0 : s->duration;
    row->self += b->self[i];
    row->min = s->duration < row->min ? s->duration : row->min;
    row->max = s->duration > row->max ? s->duration : row->max;
    row->bytes += s->bytes;
    row->flops += s->flops;
    row->backend = row->backend ? row->backend : s->backend;
    row->memory_peak = s->memory_peak > row->memory_peak ? s->memory_peak : row->memory_peak;
}

static void fill_rows(struct building *b)
{
    for (size_t i = 0; i < b->trace->nr_slices; i++) {
        const struct prof_slice *s = &b->trace->slices[i];
        enum prof_side side = side_of(b->trace, s);
        b->row_of[i] = -1;
        if (s->flags & PROF_INSTANT_POINT)
            continue;
        int *slot = slot_of(b, side, s->name);
        if (!*slot) {
            add_summary_row(b, s, side);
            *slot = (int)b->summary->nr_rows;
        }
        b->row_of[i] = *slot - 1;
        add_summary_slice(b, i, &b->summary->rows[*slot - 1]);
        b->summary->total[side] += b->self[i];
        b->summary->calls[side]++;
    }
}

/* Adds `ns` to a member of the rows of the slice and of those around it, once for each row. */
static void add_upwards(const struct building *b, int slice, size_t member, int64_t ns)
{
    const struct prof_slice *slices = b->trace->slices;

    for (int i = slice; i >= 0; i = slices[i].parent) {
        if (b->row_of[i] < 0 || is_recursive(b, (size_t)i))
            continue;
        char *row = (char *)&b->summary->rows[b->row_of[i]];
        *(int64_t *)(void *)(row + member) += ns;
    }
}

static void add_launches(const struct building *b)
{
    for (size_t i = 0; i < b->trace->nr_slices; i++) {
        const struct prof_slice *s = &b->trace->slices[i], *slices = b->trace->slices;
        if (!is_any(s->category, PROF_RUNTIME_CALLS, PROF_DRIVER_CALLS))
            continue;
        if (s->parent >= 0 &&
            is_any(slices[s->parent].category, PROF_RUNTIME_CALLS, PROF_DRIVER_CALLS))
            continue; /* the driver's call inside the runtime's */
        add_upwards(b, (int)i, offsetof(struct prof_row, launch), s->duration);
    }
}

static void add_device_time(const struct building *b, int *flown)
{
    const struct prof_slice *slices = b->trace->slices;

    for (size_t i = 0; i < b->trace->nr_flows; i++) {
        const struct prof_flow *f = &b->trace->flows[i];
        const struct prof_slice *to = &slices[f->to];
        size_t member = is_any(to->category, PROF_MEMCPY, PROF_MEMSET)
                            ? offsetof(struct prof_row, transfer)
                            : offsetof(struct prof_row, gpu);
        if (!is_any(to->category, PROF_KERNELS, PROF_MEMCPY) &&
            !is_any(to->category, PROF_MEMSET, PROF_MEMSET))
            continue;
        add_upwards(b, f->from, member, to->duration);
        for (int p = f->from; p >= 0; p = slices[p].parent)
            flown[p] = 1;
    }
    for (size_t i = 0; i < b->trace->nr_slices; i++) {
        if (b->row_of[i] >= 0 && !flown[i] && !is_recursive(b, i) &&
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
    size_t nr = b->trace->nr_slices + 1;
    int64_t *durations = malloc(nr * sizeof(*durations));
    size_t *next = malloc(nr * sizeof(*next));
    int *flown = calloc(nr, sizeof(*flown));
    int rc = -1;

    if (durations && next && flown) {
        prof_trace_self(b->trace, b->self);
        fill_rows(b);
        add_launches(b);
        add_device_time(b, flown);
        set_spreads(b, durations, next);
        qsort(b->summary->rows, b->summary->nr_rows, sizeof(struct prof_row), by_side_and_self);
        rc = 0;
    }
    free(durations);
    free(next);
    free(flown);
    return rc;
}

int prof_summarise(const struct prof_trace *trace, struct prof_summary *summary)
{
    struct building b = { .trace = trace, .summary = summary, .nr_slots = 64 };
    size_t most = 2 * trace->nr_texts + 1; /* rows: two sides of each name */
    int rc = -1;

    most = most < trace->nr_slices + 1 ? most : trace->nr_slices + 1;
    while (b.nr_slots < 2 * most)
        b.nr_slots *= 2;
    *summary = (struct prof_summary) { .meta = trace->meta };
    summary->rows = calloc(most, sizeof(*summary->rows));
    b.self = malloc((trace->nr_slices + 1) * sizeof(*b.self));
    b.row_of = malloc((trace->nr_slices + 1) * sizeof(*b.row_of));
    b.slots = calloc(b.nr_slots, sizeof(*b.slots));
    if (summary->rows && b.self && b.row_of && b.slots)
        rc = build_summary(&b);
    free(b.self);
    free(b.row_of);
    free(b.slots);
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
