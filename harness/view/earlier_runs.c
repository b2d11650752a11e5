/* SPDX-License-Identifier: MIT */
#include "view/earlier_runs.h"

#include "metrics/epoch.h"
#include "trend/mainline.h"
#include "verdict/compare.h"

#include <stdlib.h>
#include <string.h>

/* Beyond so many benchmarks earlier runs would hardly add to what these tell. */
enum { BENCHMARKS_MOST = 100 };

/* Most of a day: what two days differ by is taken for what any two runs do. What runs of the same
 * minutes share is not known. */
static const int64_t apart_least_ms = (int64_t)10 * 60 * 1000,
                     apart_most_ms = (int64_t)20 * 3600 * 1000;

static size_t earlier_benchmarks(const struct records *records)
{
    size_t nr = 0;

    while (nr < records->nr && records->items[nr].launch_seq == records->items[0].launch_seq)
        nr++;
    return nr;
}

static bool earlier_is_same(const struct run *a, const struct run *b)
{
    return strcmp(a->uuid, b->uuid) == 0;
}

/* May the run tell of the base's machine? */
static bool earlier_fits(const struct run *run, const struct run *base, const struct run *head)
{
    const char *branch = base->build.branch[0] ? base->build.branch : NULL;

    return !earlier_is_same(run, base) && !earlier_is_same(run, head) && series_takes(run) &&
           mainline_has(branch, run) && !compare_in_turn(run) && epoch_id(run) == epoch_id(base);
}

/* Ids of the runs in order of time, from the end of `ids`; returns how many. */
static size_t earlier_choose(const struct records *finished, const struct run *base,
                             const struct run *head, int64_t ids[COMPARE_EARLIER_MAX])
{
    int64_t apart = llabs(head->started_ms - base->started_ms), before = base->started_ms;
    size_t nr = 0;

    if (apart < apart_least_ms)
        apart = apart_least_ms;
    if (apart > apart_most_ms)
        apart = apart_most_ms;
    for (size_t i = finished->nr_runs; i-- > 0 && nr < COMPARE_EARLIER_MAX;) {
        const struct run *run = &finished->runs[i];
        if (run->started_ms > before - apart || !earlier_fits(run, base, head))
            continue;
        ids[COMPARE_EARLIER_MAX - ++nr] = run->id;
        before = run->started_ms;
    }
    return nr;
}

int earlier_runs_load(struct store *store, const struct records *base, const struct records *head,
                      struct records *out, struct error *err)
{
    struct records finished = { 0 };
    int64_t ids[COMPARE_EARLIER_MAX];
    size_t nr = 0;

    *out = (struct records) { 0 };
    if (base->nr_runs != 1 || head->nr_runs != 1 || earlier_benchmarks(head) > BENCHMARKS_MOST)
        return 0;
    int rc = store_finished_runs(store, base->runs[0].machine.class_name, &finished, err);
    if (rc == 0)
        nr = earlier_choose(&finished, &base->runs[0], &head->runs[0], ids);
    if (rc == 0 && nr > 1) /* one is no difference */
        rc = store_load(store, ids + COMPARE_EARLIER_MAX - nr, nr, NULL, out, err);
    records_release(&finished);
    return rc;
}
