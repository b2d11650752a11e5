/* SPDX-License-Identifier: MIT */
#include "trend/series_parts.h"

#include "base/array.h"
#include "metrics/epoch.h"
#include "metrics/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool series_takes(const struct run *run)
{
    return run_kind_is_history(run->kind);
}

struct series_run *series_runs(const struct records *records)
{
    struct series_run *runs = memory_zeroed(records->nr_runs + 1, sizeof(*runs));

    for (size_t i = 0; i < records->nr_runs; i++) {
        runs[i].taken = series_takes(&records->runs[i]);
        runs[i].epoch = runs[i].taken ? epoch_id(&records->runs[i]) : 0;
    }
    return runs;
}

struct series_point series_point_of(const struct records *records, const struct series_run *runs,
                                    int run)
{
    const struct run *r = &records->runs[run];

    return (struct series_point) {
        .run = run,
        .time_ms = r->started_ms,
        .commit = r->build.commit,
        .dirty = r->build.dirty,
        .epoch = runs[run].epoch,
        .value = NAN,
        .p5 = NAN,
        .p95 = NAN,
    };
}

static int order_points(const void *x, const void *y)
{
    const struct series_point *a = x, *b = y;
    int order = (a->time_ms > b->time_ms) - (a->time_ms < b->time_ms);

    return order ? order : a->run - b->run;
}

void series_list_add(struct series_list *list, struct series *series)
{
    if (series->nr == 0) {
        array_release(series);
        return;
    }
    qsort(series->items, series->nr, sizeof(*series->items), order_points);
    *array_push(list) = *series;
}

/* The records from items[at] on that belong to one run. */
static size_t run_length(const struct group *g, size_t at)
{
    size_t end = at + 1;

    while (end < g->nr && g->items[end]->run == g->items[at]->run)
        end++;
    return end - at;
}

static void add_point(struct series *series, struct series_point point,
                      const struct record *const *items, size_t nr)
{
    struct summary s;

    summary_init(&s, items, nr);
    if (s.n > 0)
        point.value = stats_median(s.medians, s.nr_launches);
    if (point.value > 0) {
        point.launches = s.nr_launches;
        point.p5 = stats_quantile(s.sorted, s.n, 0.05);
        point.p95 = stats_quantile(s.sorted, s.n, 0.95);
        *array_push(series) = point;
    }
    summary_release(&s);
}

static struct series make_series(const struct group *g, const struct records *records,
                                 const struct series_run *runs)
{
    struct series series = { .bench = g->bench, .machine = g->machine };

    for (size_t i = 0, length; i < g->nr; i += length) {
        int run = g->items[i]->run;
        length = run_length(g, i);
        if (runs[run].taken)
            add_point(&series, series_point_of(records, runs, run), g->items + i, length);
    }
    return series;
}

void series_list_init(struct series_list *list, const struct records *records)
{
    struct series_run *runs = series_runs(records);
    struct groups g;

    *list = (struct series_list) { 0 };
    groups_init(&g, records, false);
    for (size_t i = 0; i < g.nr; i++) {
        struct series series = make_series(&g.items[i], records, runs);
        series_list_add(list, &series);
    }
    groups_release(&g);
    free(runs);
}

void series_list_release(struct series_list *list)
{
    for (size_t i = 0; i < list->nr; i++)
        free(list->items[i].items);
    free(list->items);
    free(list->names);
    *list = (struct series_list) { 0 };
}
