/* SPDX-License-Identifier: MIT */
/* Slices to rows; the worst of these, and what they cover together. */
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
    int64_t *self, *busy;
    int *parent, *row_of;  /* row -1: none (an instant) */
    unsigned char *inside; /* whether a slice around it is of the same row */
    struct prof_map rows;
    double *memory; /* by row: sum of what its calls saw at most */
    size_t *followed;
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
        .memory_mean = -1,
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
    row->transfer += b->inside[i] ? 0 : s->transfer;
    row->launch += b->inside[i] ? 0 : s->launch;
    if (s->memory_peak >= 0) {
        b->memory[b->row_of[i]] += (double)s->memory_peak;
        b->followed[b->row_of[i]]++;
    }
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
    for (size_t r = 0; r < b->summary->nr_rows; r++)
        if (b->followed[r])
            b->summary->rows[r].memory_mean =
                (int64_t)(b->memory[r] / (double)b->followed[r] + 0.5);
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

/* By what kept a stream busy: the device's own time. */
static void add_flown(const struct building *b, int64_t *ns, int copies)
{
    memset(ns, 0, b->trace->nr_slices * sizeof(*ns));
    for (size_t i = 0; i < b->trace->nr_flows; i++) {
        const struct prof_flow *f = &b->trace->flows[i];
        const struct prof_slice *to = &b->trace->slices[f->to];
        if (copies ? is_copy(to) : is_any(to->category, PROF_KERNELS, PROF_KERNELS))
            ns[f->from] += b->busy[f->to];
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

/* The name last, so that equal rows stand the same way each time. */
static int by_side_and_self(const void *a_, const void *b_)
{
    const struct prof_row *a = a_, *b = b_;

    if (a->side != b->side)
        return a->side < b->side ? -1 : 1;
    if (a->self != b->self)
        return a->self > b->self ? -1 : 1;
    return strcmp(a->name, b->name);
}

void prof_summary_sort(struct prof_summary *summary)
{
    qsort(summary->rows, summary->nr_rows, sizeof(*summary->rows), by_side_and_self);
}

static int build_summary(struct building *b)
{
    int64_t *numbers = malloc((b->trace->nr_slices + 1) * sizeof(*numbers));
    size_t *next = NULL;
    int rc = numbers ? find_rows(b) : -1;

    if (rc == 0) {
        size_t nr = b->summary->nr_rows + 1;
        next = malloc(nr * sizeof(*next));
        b->memory = calloc(nr, sizeof(*b->memory));
        b->followed = calloc(nr, sizeof(*b->followed));
        rc = next && b->memory && b->followed ? prof_trace_self(b->trace, b->self) : -1;
    }
    if (rc == 0) {
        prof_trace_busy(b->trace, b->busy);
        fill_rows(b);
        add_launches(b, numbers);
        add_flown(b, numbers, 0);
        add_flown(b, numbers, 1);
        add_marked(b, numbers);
        set_spreads(b, numbers, next);
        prof_summary_sort(b->summary);
    }
    free(numbers);
    free(next);
    free(b->memory);
    free(b->followed);
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
    b.busy = malloc(nr * sizeof(*b.busy));
    b.parent = malloc(nr * sizeof(*b.parent));
    b.row_of = malloc(nr * sizeof(*b.row_of));
    b.inside = calloc(nr, sizeof(*b.inside));
    if (summary->rows && b.self && b.busy && b.parent && b.row_of && b.inside)
        rc = build_summary(&b);
    free(b.self);
    free(b.busy);
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

size_t prof_summary_scopes(const struct prof_summary *summary)
{
    size_t scopes = summary->calls[PROF_HOST];

    for (size_t i = 0; i < summary->nr_rows; i++) {
        const struct prof_row *row = &summary->rows[i];
        if (row->side == PROF_HOST && is_any(row->category, PROF_RUNTIME_CALLS, PROF_DRIVER_CALLS))
            scopes -= row->calls;
    }
    return scopes;
}

double prof_row_utilisation(const struct prof_row *row)
{
    if (row->side != PROF_HOST || row->gpu <= 0 || row->total <= 0)
        return 0;
    return row->gpu < row->total ? (double)row->gpu / (double)row->total : 1;
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

/* ---- the worst of them ---- */

/* A row that is to be ranked. */
struct ranked {
    const struct prof_row *row;
    double ns;
};

static int by_time(const void *a_, const void *b_)
{
    const struct ranked *a = a_, *b = b_;

    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    if (a->row->self != b->row->self)
        return a->row->self > b->row->self ? -1 : 1;
    return strcmp(a->row->name, b->row->name);
}

static double row_weight(const struct prof_summary *summary, const double *weights,
                         const struct prof_row *row)
{
    return weights ? weights[row - summary->rows] : 1;
}

/* The slices of one side and what each weighs. */
struct weighing {
    const struct prof_trace *trace;
    int64_t *self;
    double *own, *all;     /* by slice: its own time, weighed; with all inside it */
    int *row_of, *parent;  /* row -1: none */
    unsigned char *inside; /* whether a slice around it is of the same row */
    int *first;            /* of its row and those around it, the first in the list */
};

static void weighing_release(struct weighing *w)
{
    free(w->self);
    free(w->own);
    free(w->all);
    free(w->row_of);
    free(w->parent);
    free(w->inside);
    free(w->first);
}

/* -1: no memory. */
static int find_rows_again(struct weighing *w, const struct prof_summary *summary,
                           enum prof_side side)
{
    struct prof_map places = { 0 };
    int rc = 0;

    for (size_t r = 0; rc == 0 && r < summary->nr_rows; r++)
        if (summary->rows[r].side == side)
            rc = prof_map_name(&places, summary->rows[r].name, 0, (int)r) ? 0 : -1;
    for (size_t i = 0; rc == 0 && i < w->trace->nr_slices; i++) {
        const struct prof_slice *s = &w->trace->slices[i];
        int skip = side_of(w->trace, s) != side || (s->flags & PROF_INSTANT_POINT);
        const int *row = skip ? NULL : prof_map_find(&places, (uint64_t)(uintptr_t)s->name, 0);
        w->row_of[i] = row ? *row : -1;
        w->parent[i] = s->parent;
    }
    prof_map_release(&places);
    return rc ? rc : prof_nested_alike(w->parent, w->row_of, w->trace->nr_slices, w->inside);
}

/* -1: no memory; to be released even so. */
static int weighing_init(struct weighing *w, const struct prof_trace *trace,
                         const struct prof_summary *summary, enum prof_side side,
                         const double *weights)
{
    size_t nr = trace->nr_slices + 1;

    *w = (struct weighing) { .trace = trace };
    w->self = malloc(nr * sizeof(*w->self));
    w->own = malloc(nr * sizeof(*w->own));
    w->all = malloc(nr * sizeof(*w->all));
    w->row_of = malloc(nr * sizeof(*w->row_of));
    w->parent = malloc(nr * sizeof(*w->parent));
    w->inside = calloc(nr, sizeof(*w->inside));
    w->first = malloc(nr * sizeof(*w->first));
    if (!w->self || !w->own || !w->all || !w->row_of || !w->parent || !w->inside || !w->first ||
        find_rows_again(w, summary, side) != 0 || prof_trace_self(trace, w->self) != 0)
        return -1;
    for (size_t i = 0; i < trace->nr_slices; i++) {
        int row = w->row_of[i];
        w->own[i] = row < 0 ? 0 : (double)w->self[i] * (weights ? weights[row] : 1);
        w->all[i] = w->own[i];
    }
    return 0;
}

/* By row; those inside one of the same row do not count twice. */
static void weigh_totals(struct weighing *w, double *totals)
{
    for (size_t i = w->trace->nr_slices; i-- > 0;) {
        if (w->parent[i] >= 0)
            w->all[w->parent[i]] += w->all[i];
        if (w->row_of[i] >= 0 && !w->inside[i])
            totals[w->row_of[i]] += w->all[i];
    }
}

/* A slice's own time goes to the first in the list of its row and those around it: added up to an
 * entry that is what the entries so far cover, nothing counted twice. `rank`: by row. */
static void cover_slices(struct weighing *w, const int *rank, int nr, double *covered)
{
    for (size_t i = 0; i < w->trace->nr_slices; i++) {
        w->first[i] = w->row_of[i] < 0 ? nr : rank[w->row_of[i]];
        if (w->parent[i] >= 0 && w->first[w->parent[i]] < w->first[i])
            w->first[i] = w->first[w->parent[i]];
        if (w->first[i] < nr)
            covered[w->first[i]] += w->own[i];
    }
}

/* What a ranking works on: a place a row in each. */
struct ranking {
    struct ranked *list;
    double *ns, *covered;
    int *rank;
    size_t nr;  /* in the list: those of the side */
    double sum; /* of their own times */
};

static void rank_rows(struct ranking *r, const struct prof_summary *summary, enum prof_side side,
                      const double *weights)
{
    for (size_t i = 0; i < summary->nr_rows; i++) {
        const struct prof_row *row = &summary->rows[i];
        if (row->side != side)
            continue;
        r->sum += (double)row->self * row_weight(summary, weights, row);
        r->list[r->nr++] = (struct ranked) { row, r->ns[i] };
    }
    qsort(r->list, r->nr, sizeof(*r->list), by_time);
}

static void rank_by_self(struct ranking *r, const struct prof_summary *summary, enum prof_side side,
                         const double *weights)
{
    for (size_t i = 0; i < summary->nr_rows; i++)
        r->ns[i] = (double)summary->rows[i].self * row_weight(summary, weights, &summary->rows[i]);
    rank_rows(r, summary, side, weights);
    for (size_t i = 0; i < r->nr; i++)
        r->covered[i] = r->list[i].ns; /* each slice's own time is in one row */
}

/* `n` are listed. */
static int rank_by_total(struct ranking *r, const struct prof_trace *trace,
                         const struct prof_summary *summary, enum prof_side side,
                         const double *weights, size_t n)
{
    struct weighing w;
    int rc = weighing_init(&w, trace, summary, side, weights);

    if (rc == 0) {
        weigh_totals(&w, r->ns);
        rank_rows(r, summary, side, weights);
        n = r->nr < n ? r->nr : n;
        for (size_t i = 0; i < summary->nr_rows; i++)
            r->rank[i] = (int)n;
        for (size_t i = 0; i < n; i++)
            r->rank[r->list[i].row - summary->rows] = (int)i;
        cover_slices(&w, r->rank, (int)n, r->covered);
    }
    weighing_release(&w);
    return rc;
}

static size_t take_ranked(const struct ranking *r, size_t n, struct prof_bottleneck *out)
{
    double so_far = 0;

    n = r->nr < n ? r->nr : n;
    for (size_t i = 0; i < n; i++) {
        so_far += r->covered[i];
        out[i] = (struct prof_bottleneck) { .row = r->list[i].row,
                                            .share = r->sum > 0 ? r->list[i].ns / r->sum : 0,
                                            .cumulative = r->sum > 0 ? so_far / r->sum : 0 };
    }
    return n;
}

int prof_bottlenecks_weighed(const struct prof_trace *trace, const struct prof_summary *summary,
                             enum prof_side side, enum prof_by by, const double *weights,
                             struct prof_bottleneck *out, size_t n)
{
    size_t room = summary->nr_rows + 1;
    struct ranking r = { .list = calloc(room, sizeof(*r.list)),
                         .ns = calloc(room, sizeof(*r.ns)),
                         .covered = calloc(room, sizeof(*r.covered)),
                         .rank = calloc(room, sizeof(*r.rank)) };
    int rc = r.list && r.ns && r.covered && r.rank ? 0 : -1;

    if (rc == 0 && by == PROF_BY_SELF)
        rank_by_self(&r, summary, side, weights);
    else if (rc == 0)
        rc = rank_by_total(&r, trace, summary, side, weights, n);
    if (rc == 0)
        rc = (int)take_ranked(&r, n, out);
    free(r.list);
    free(r.ns);
    free(r.covered);
    free(r.rank);
    return rc;
}

int prof_bottlenecks(const struct prof_trace *trace, const struct prof_summary *summary,
                     enum prof_side side, enum prof_by by, struct prof_bottleneck *out, size_t n)
{
    return prof_bottlenecks_weighed(trace, summary, side, by, NULL, out, n);
}
