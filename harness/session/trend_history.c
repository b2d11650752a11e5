/* SPDX-License-Identifier: MIT */
#include "session/trend_history.h"

#include "base/array.h"
#include "base/memory.h"
#include "session/history_file.h"

#include <stdlib.h>
#include <string.h>

static void keep_since(struct records *runs, int64_t since)
{
    bool *keep = memory_zeroed(runs->nr_runs + 1, sizeof(*keep));

    for (size_t i = 0; i < runs->nr_runs; i++)
        keep[i] = runs->runs[i].started_ms >= since && series_takes(&runs->runs[i]);
    history_keep_runs(runs, keep);
    free(keep);
}

struct machine_count {
    const char *machine;
    int64_t runs;
};

/* The newest `last` of each machine class. */
static void keep_last(struct records *runs, int64_t last)
{
    bool *keep = memory_zeroed(runs->nr_runs + 1, sizeof(*keep));
    ARRAY(struct machine_count) counts = ARRAY_EMPTY;

    for (size_t i = runs->nr_runs; i-- > 0;) {
        const char *machine = runs->runs[i].machine.class_name;
        size_t k = 0;
        while (k < counts.nr && strcmp(counts.items[k].machine, machine) != 0)
            k++;
        if (k == counts.nr)
            *array_push(&counts) = (struct machine_count) { machine, 0 };
        keep[i] = counts.items[k].runs++ < last;
    }
    history_keep_runs(runs, keep);
    array_release(&counts);
    free(keep);
}

static int load_runs(struct store *store, const struct trend_scope *scope, struct records *runs,
                     struct error *err)
{
    if (store_finished_runs(store, scope->machine, runs, err))
        return -1;
    keep_since(runs, scope->since);
    if (scope->last)
        keep_last(runs, scope->last);
    if (runs->nr_runs == 0)
        return 0;
    const struct run *newest = &runs->runs[runs->nr_runs - 1];
    return store_load_ceilings(store, newest->machine.id, NULL, NULL, runs, err);
}

int trend_history_load(struct store *store, const struct trend_scope *scope,
                       const struct trend_settings *settings, struct trend_history *out,
                       struct error *err)
{
    struct store_filter facts = { .without_telemetry = !metric_needs_telemetry(settings->metric) };

    if (scope->alone) {
        facts.filters = settings->filters;
        facts.nr_filters = settings->nr_filters;
    }
    if (load_runs(store, scope, &out->runs, err))
        return -1;
    return history_series(store, &out->runs, settings->metric, &facts, &out->series, err);
}

int trend_history_find(struct trend_history *h, const struct trend_settings *settings,
                       struct error *err)
{
    return trends_find(&h->series, &h->runs, settings, &h->trends, err);
}

void trend_history_release(struct trend_history *h)
{
    trends_release(&h->trends);
    series_list_release(&h->series);
    records_release(&h->runs);
}
