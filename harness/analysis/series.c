/* SPDX-License-Identifier: MIT */
#include "analysis/series.h"

#include "analysis/epoch.h"
#include "analysis/summary.h"
#include "base/array.h"

#include <stdlib.h>

/* The records from items[at] on that belong to one run. */
static size_t run_length(const struct group *g, size_t at)
{
    size_t end = at + 1;

    while (end < g->nr && g->items[end]->run == g->items[at]->run)
        end++;
    return end - at;
}

static void add_point(struct series *series, const struct records *records,
                      const struct record *const *items, size_t nr)
{
    struct summary s;
    const struct run *run = &records->runs[items[0]->run];

    summary_init(&s, items, nr);
    if (s.n > 0)
        *array_push(series) = (struct series_point) {
            .run = items[0]->run,
            .time_ms = run->started_ms,
            .commit = run->build.commit,
            .dirty = run->build.dirty,
            .launches = s.nr_launches,
            .median = stats_median(s.medians, s.nr_launches),
            .p5 = stats_quantile(s.sorted, s.n, 0.05),
            .p95 = stats_quantile(s.sorted, s.n, 0.95),
        };
    summary_release(&s);
}

static int order_points(const void *x, const void *y)
{
    const struct series_point *a = x, *b = y;
    int order = (a->time_ms > b->time_ms) - (a->time_ms < b->time_ms);

    return order ? order : a->run - b->run;
}

static struct series make_series(const struct group *g, const struct records *records,
                                 const uint64_t *epochs)
{
    struct series series = { .bench = g->bench, .machine = g->machine };

    for (size_t i = 0, length; i < g->nr; i += length) {
        length = run_length(g, i);
        add_point(&series, records, g->items + i, length);
    }
    for (size_t i = 0; i < series.nr; i++)
        series.items[i].epoch = epochs[series.items[i].run];
    if (series.nr > 1)
        qsort(series.items, series.nr, sizeof(*series.items), order_points);
    return series;
}

void series_list_init(struct series_list *list, const struct records *records)
{
    struct groups g;
    uint64_t *epochs = memory_zeroed(records->nr_runs ? records->nr_runs : 1, sizeof(*epochs));

    *list = (struct series_list) { 0 };
    for (size_t i = 0; i < records->nr_runs; i++)
        epochs[i] = epoch_id(&records->runs[i]);
    groups_init(&g, records, false);
    for (size_t i = 0; i < g.nr; i++) {
        struct series series = make_series(&g.items[i], records, epochs);
        if (series.nr > 0)
            *array_push(list) = series;
    }
    groups_release(&g);
    free(epochs);
}

void series_list_release(struct series_list *list)
{
    for (size_t i = 0; i < list->nr; i++)
        free(list->items[i].items);
    free(list->items);
    *list = (struct series_list) { 0 };
}
