/* SPDX-License-Identifier: MIT */
/* The worst rows of a summary, and what they cover together. */
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

/* The place of a name in the list; `nr` if it is not there. */
static size_t rank_of_row(const struct prof_bottleneck *list, size_t nr, const char *name)
{
    size_t i = 0;

    while (i < nr && list[i].row->name != name)
        i++;
    return i;
}

/* Self time goes to the first in the list of the slice's own row and, by total, of those around it:
 * summed up to an entry that is what the entries so far cover, nothing counted twice. */
static int cover_rows(const struct prof_trace *trace, enum prof_side side, enum prof_by by,
                      const struct prof_bottleneck *list, size_t nr, int64_t *covered)
{
    size_t *first = malloc((trace->nr_slices + 1) * sizeof(*first));
    int64_t *self = malloc((trace->nr_slices + 1) * sizeof(*self));

    if (first && self)
        prof_trace_self(trace, self);
    for (size_t i = 0; first && self && i < trace->nr_slices; i++) {
        const struct prof_slice *s = &trace->slices[i];
        int is_device = trace->tracks[s->track].kind == PROF_TRACK_STREAM;
        first[i] = rank_of_row(list, nr, s->name);
        if (by == PROF_BY_TOTAL && s->parent >= 0 && first[s->parent] < first[i])
            first[i] = first[s->parent];
        if (first[i] < nr && is_device == (side == PROF_DEVICE))
            covered[first[i]] += self[i];
    }
    int rc = first && self ? 0 : -1;
    free(first);
    free(self);
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
    if (cover_rows(trace, side, by, all, nr, covered) != 0)
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
