/* SPDX-License-Identifier: MIT */
/* The worst rows of a summary, and what they cover together. */
#include "profile/name_map.h"
#include "profile/summary.h"

#include <stdlib.h>
#include <string.h>

static int64_t row_time(const struct prof_row *row, enum prof_by by)
{
    return by == PROF_BY_SELF ? row->self : row->total;
}

static int by_self(const void *a_, const void *b_)
{
    const struct prof_bottleneck *a = a_, *b = b_;

    if (a->row->self != b->row->self)
        return a->row->self > b->row->self ? -1 : 1;
    return strcmp(a->row->name, b->row->name);
}

static int by_total(const void *a_, const void *b_)
{
    const struct prof_bottleneck *a = a_, *b = b_;

    if (a->row->total != b->row->total)
        return a->row->total > b->row->total ? -1 : 1;
    return by_self(a_, b_);
}

/* The place of each name in the list. -1: no memory. */
static int rank_rows(struct prof_map *ranks, const struct prof_bottleneck *list, size_t nr)
{
    for (size_t i = 0; i < nr; i++) {
        if (!prof_map_name(ranks, list[i].row->name, 0, (int)i))
            return -1;
    }
    return 0;
}

/* What rows are to be covered with. */
struct covering {
    const struct prof_trace *trace;
    enum prof_side side;
    enum prof_by by;
    struct prof_map ranks;
    int nr;
    int64_t *self;
    int *first; /* by slice: the first in the list of its row and those around it */
};

static int cover_slice(struct covering *c, size_t i, int64_t *covered)
{
    const struct prof_slice *s = &c->trace->slices[i];
    int is_device = c->trace->tracks[s->track].kind == PROF_TRACK_STREAM;
    const int *rank = prof_map_name(&c->ranks, s->name, 0, c->nr);

    if (!rank)
        return -1;
    c->first[i] = *rank;
    if (c->by == PROF_BY_TOTAL && s->parent >= 0 && c->first[s->parent] < c->first[i])
        c->first[i] = c->first[s->parent];
    if (c->first[i] < c->nr && is_device == (c->side == PROF_DEVICE))
        covered[c->first[i]] += c->self[i];
    return 0;
}

/* Self time goes to the first in the list of the slice's own row and, by total, of those around it:
 * summed up to an entry that is what the entries so far cover, nothing counted twice. */
static int cover_rows(struct covering *c, const struct prof_bottleneck *list, int64_t *covered)
{
    size_t nr = c->trace->nr_slices;

    c->first = malloc((nr + 1) * sizeof(*c->first));
    c->self = malloc((nr + 1) * sizeof(*c->self));
    int rc = c->first && c->self ? rank_rows(&c->ranks, list, (size_t)c->nr) : -1;
    if (rc == 0)
        prof_trace_self(c->trace, c->self);
    for (size_t i = 0; i < nr && rc == 0; i++)
        rc = cover_slice(c, i, covered);
    free(c->first);
    free(c->self);
    prof_map_release(&c->ranks);
    return rc;
}

static void set_shares(struct prof_bottleneck *list, size_t nr, enum prof_by by, int64_t total,
                       const int64_t *covered)
{
    int64_t so_far = 0;

    for (size_t i = 0; i < nr; i++) {
        so_far += covered[i];
        list[i].share = total ? (double)row_time(list[i].row, by) / (double)total : 0;
        list[i].cumulative = total ? (double)so_far / (double)total : 0;
    }
}

int prof_bottlenecks(const struct prof_trace *trace, const struct prof_summary *summary,
                     enum prof_side side, enum prof_by by, struct prof_bottleneck *out, size_t n)
{
    struct prof_bottleneck *all = calloc(summary->nr_rows + 1, sizeof(*all));
    int64_t *covered = calloc(summary->nr_rows + 1, sizeof(*covered));
    size_t nr = 0;
    int rc = -1;

    if (!all || !covered)
        goto out;
    for (size_t i = 0; i < summary->nr_rows; i++) {
        if (summary->rows[i].side == side)
            all[nr++].row = &summary->rows[i];
    }
    qsort(all, nr, sizeof(*all), by == PROF_BY_SELF ? by_self : by_total);
    nr = nr < n ? nr : n;
    struct covering covering = { .trace = trace, .side = side, .by = by, .nr = (int)nr };
    if (cover_rows(&covering, all, covered) != 0)
        goto out;
    set_shares(all, nr, by, summary->total[side], covered);
    if (nr)
        memcpy(out, all, nr * sizeof(*out));
    rc = (int)nr;
out:
    free(all);
    free(covered);
    return rc;
}
