/* SPDX-License-Identifier: MIT */
/* Whole runs from elsewhere, in one transaction. */
#include "base/memory.h"
#include "store/write.h"

#include <stdlib.h>

static int by_launch(const void *x, const void *y)
{
    const struct record *const *a = x, *const *b = y;
    int order = ((*a)->launch_seq > (*b)->launch_seq) - ((*a)->launch_seq < (*b)->launch_seq);

    /* They lie in one array: their addresses keep the order of insertion. */
    return order ? order : (*a > *b) - (*a < *b);
}

static const struct record **sort(const struct records *records, int run, size_t *nr)
{
    const struct record **sorted =
        memory_zeroed(records->nr + 1, sizeof(*sorted)); /* NOLINT(bugprone-sizeof-expression) */

    *nr = 0;
    for (size_t i = 0; i < records->nr; i++)
        if (records->items[i].run == run)
            sorted[(*nr)++] = &records->items[i];
    qsort(sorted, *nr, sizeof(*sorted), by_launch);
    return sorted;
}

static int begin_launch(struct store *s, const struct run *run, const struct record *first,
                        int64_t *id, struct error *err)
{
    const struct launch launch = {
        .seq = first->launch_seq,
        .started_ms = first->m.started_ms ? first->m.started_ms : run->started_ms,
        .ended_ms = run->ended_ms,
    };

    return write_launch(s, run->id, &launch, id, err);
}

static int write_all(struct store *s, struct run *run, const struct record *const *sorted,
                     size_t nr, struct error *err)
{
    int64_t launch = 0;

    if (write_run(s, run, err))
        return -1;
    for (size_t i = 0; i < nr; i++) {
        bool next = i == 0 || sorted[i]->launch_seq != sorted[i - 1]->launch_seq;
        if ((next && begin_launch(s, run, sorted[i], &launch, err)) ||
            write_measurement(s, launch, &sorted[i]->m, err))
            return -1;
    }
    return 0;
}

int store_add_run(struct store *s, struct records *records, int run, bool *added, struct error *err)
{
    struct run *r = &records->runs[run];
    size_t nr;

    *added = false;
    if (sql_begin_lasting(s, err))
        return -1;
    const struct record **sorted = sort(records, run, &nr);
    int rc = find_run(s, r->uuid, &r->id, err);
    bool is_new = rc == 0;
    if (is_new)
        rc = write_all(s, r, sorted, nr, err);
    free(sorted);
    rc = sql_end(s, rc < 0 ? -1 : 0, err);
    *added = rc == 0 && is_new;
    return rc;
}
