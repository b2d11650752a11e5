/* SPDX-License-Identifier: MIT */
#include "cli/history_series.h"

#include "base/memory.h"

#include <stdlib.h>

int64_t history_first_start(const struct records *runs)
{
    int64_t first = INT64_MAX;

    for (size_t i = 0; i < runs->nr_runs; i++)
        if (runs->runs[i].started_ms < first)
            first = runs->runs[i].started_ms;
    return first;
}

void history_keep_runs(struct records *runs, const bool *keep)
{
    size_t nr = 0;

    for (size_t i = 0; i < runs->nr_runs; i++) {
        if (keep[i])
            runs->runs[nr++] = runs->runs[i];
        else
            run_release(&runs->runs[i]);
    }
    runs->nr_runs = nr;
}

static int add_measurement(void *context, size_t run, int launch_seq, struct measurement *m,
                           struct error *err)
{
    (void)err;
    series_builder_add(context, run, launch_seq, m);
    return 0;
}

int history_series(struct store *store, const struct records *runs, const struct metric *metric,
                   const struct store_filter *filter, struct series_list *out, struct error *err)
{
    struct series_builder *builder = series_builder_create(metric, runs);
    struct store_sink sink = { builder, add_measurement };
    int64_t *ids = memory_zeroed(runs->nr_runs + 1, sizeof(*ids));

    for (size_t i = 0; i < runs->nr_runs; i++)
        ids[i] = runs->runs[i].id;
    int rc = store_scan(store, ids, runs->nr_runs, filter, &sink, err);
    if (rc == 0)
        series_builder_finish(builder, out);
    series_builder_free(builder);
    free(ids);
    return rc;
}
